// State that the parts of the chart share: remembered settings, the visible bars, and what is under the pointer.

import { computed, signal } from '@preact/signals'
import type { Bars } from '../../market/bars.ts'
import {
  canBuild,
  compareIntervals,
  normalizeInterval,
  parseInterval,
  type Interval,
} from '../../market/interval.ts'
import type { SymbolFacts } from '../../wire/bars.ts'
import { call } from '../api-client.ts'
import { navigate } from '../router.ts'
import { remembered, timezone } from '../settings.ts'
import { market, type Market } from '../workspace.ts'
import type { ChartType } from './draw-bars.ts'
import type { PriceLevel } from './view-state.ts'
import type { Hover, PaneBox } from './view.ts'

export const chartType = remembered<ChartType>('chart.type', 'candles')
export const priceScale = remembered<'linear' | 'log' | 'percent'>('chart.scale', 'linear')
export const showVolume = remembered('chart.volume', true)
export const showTrades = remembered('chart.trades', true)
export const showScript = signal(true)

export const symbols = signal<readonly SymbolFacts[] | null>(null)
export const symbol = computed(
  () =>
    symbols.value?.find(
      (one) => one.exchange === market.value.exchange && one.symbol === market.value.symbol,
    ) ?? null,
)
export async function loadSymbols(): Promise<void> {
  symbols.value = (await call('GET /api/platform/symbols')).symbols
}

/** The bars on screen and their market; null until the first ones have arrived. */
export const shown = signal<{ readonly market: Market; readonly bars: Bars } | null>(null)
export const chartProblem = signal<unknown>(null)

export const zone = computed(() => timezone.value || symbol.value?.timezone || 'UTC')
export const mintick = computed(() => symbol.value?.mintick ?? 0.01)

export const hover = signal<Hover | null>(null)
export const paneBoxes = signal<readonly PaneBox[]>([])
/** Numbers of trades: the one under the pointer, in the list or on the chart, and the one last clicked. */
export const hoveredTrade = signal<number | null>(null)
export const markedTrade = signal<number | null>(null)
/** The time (UTC ms) that the pointer is on in the equity curve. */
export const litTime = signal<number | null>(null)

/** How a replay cuts the chart; null = no replay. `cut` is the last bar that is shown. */
export interface ReplayOnChart {
  readonly cut: number
  readonly levels: readonly PriceLevel[]
  readonly blind: boolean
  /** Whether a run is replayed, so that its trades are drawn. */
  readonly withTrades: boolean
}
export const replayOnChart = signal<ReplayOnChart | null>(null)

/** The text that the symbol dialog opens with; null = closed. */
export const symbolSearch = signal<string | null>(null)
/** The text that the dialog of indicators opens with; null = closed. */
export const studyDialog = signal<string | null>(null)
/** The text typed into the interval dialog; null = closed. */
export const intervalEntry = signal<string | null>(null)
export const dateDialog = signal(false)

export function showMarket(next: Market): void {
  market.value = next
  const name = encodeURIComponent(`${next.exchange}:${next.symbol}`)
  navigate(`/chart/${name}/${encodeURIComponent(next.interval)}`)
}

const USUAL = ['1m', '3m', '5m', '15m', '30m', '1h', '2h', '4h', '1d', '1w', '1M']

/** Intervals that are cached for the symbol or can be built from cached ones, finest first. */
export function intervalsOf(listed: SymbolFacts | null): readonly string[] {
  if (!listed) return [market.value.interval]
  const cached = listed.series.map((one) => one.interval)
  const fine = cached.map(parseInterval).filter((one): one is Interval => one !== null)
  const made = USUAL.filter((name) => {
    const coarse = parseInterval(name)!
    return fine.some((one) => normalizeInterval(name) !== null && canBuild(coarse, one))
  })
  return [...new Set([...cached, ...made])].sort((a, b) =>
    compareIntervals(
      parseInterval(a) ?? { count: 1, unit: 'M' },
      parseInterval(b) ?? { count: 1, unit: 'M' },
    ),
  )
}

/** An interval as TradingView shows it: 15m, 1h, 1D, 1W, 1M. */
export const intervalText = (interval: string): string =>
  interval.replace(/[dw]$/, (unit) => unit.toUpperCase())

export function stepInterval(by: 1 | -1): void {
  const all = intervalsOf(symbol.value)
  const next = all[all.indexOf(market.value.interval) + by]
  if (next) showMarket({ ...market.value, interval: next })
}
