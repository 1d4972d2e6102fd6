// State that the parts of the page share: that of the active chart, and what all charts have in common (replay, dialogs).

import { batch, computed, signal } from '@preact/signals'
import { canBuild, intervalMs, parseInterval, type Interval } from '../../market/interval.ts'
import { onceEach } from '../../lib/memo.ts'
import type { SymbolFacts } from '../../wire/bars.ts'
import { nameOf } from '../format.ts'
import { activeId, charts, fieldOf, market, partOf, scriptId, type Market, type Writable } from '../charts.ts'
import { navigate, path } from '../router.ts'
import { newCell, type Cell } from './cell.ts'
import type { PriceLevel } from './scene.ts'

const replaying = computed(() => replayOnChart.value !== null)
/** A chart of the page, by its id. One that goes and comes back, as on a phone, still has its bars. */
export const cellOf = onceEach((id) => newCell(id, replaying))
export const activeCell = computed(() => cellOf(activeId.value))
export const isActive = (cell: Cell): boolean => activeCell.value === cell
/** Whether the editor's script runs on this chart. */
export const hasScript = (cell: Cell): boolean => scriptId.value === cell.id

const ofActive = <T>(pick: (cell: Cell) => Writable<T>): Writable<T> =>
  partOf(
    () => pick(activeCell.value).value,
    (value) => (pick(activeCell.peek()).value = value),
  )

export const chartType = fieldOf('type')
export const priceScale = fieldOf('scale')
export const turnsScale = (to: 'log' | 'percent') => (): void => {
  priceScale.value = priceScale.value === to ? 'linear' : to
}
export const boxes = fieldOf('boxes')
export const showVolume = fieldOf('volume')
export const showTrades = fieldOf('trades')
export const showScript = ofActive((cell) => cell.showScript)

export const symbol = computed(() => activeCell.value.symbol.value)
export const zone = computed(() => activeCell.value.zone.value)
export const mintick = computed(() => activeCell.value.mintick.value)

/** The bars on the active chart and their market; null until the first ones have arrived. */
export const shown = ofActive((cell) => cell.shown)
export const hover = ofActive((cell) => cell.hover)

/** Numbers of trades: the one under the pointer, in the list or on the chart, and the one last clicked. */
export const hoveredTrade = signal<number | null>(null)
export const markedTrade = signal<number | null>(null)
/** The time (UTC ms) that the pointer is on in the equity curve. */
export const litTime = signal<number | null>(null)

/** Makes a chart the one that keys and dialogs mean. A replay stays on its own. */
export function activate(id: string): void {
  const before = charts.peek()
  if (before.active === id || replayOnChart.peek() !== null) return
  charts.value = { ...before, active: id }
  followAddress()
}

/** The address names the market on the active chart again. */
export function followAddress(): void {
  if (path.peek().startsWith('/chart/')) navigate(addressOf(market.peek()), { replace: true })
}

/** How a replay cuts the chart; null = no replay. `cut` is the last bar that is shown. */
export interface ReplayOnChart {
  readonly cut: number
  readonly levels: readonly PriceLevel[]
  readonly blind: boolean
  /** Whether a run is replayed, so that its trades are drawn. */
  readonly withTrades: boolean
}
export const replayOnChart = signal<ReplayOnChart | null>(null)

/** Only the active chart of several is shown. */
export const maximised = signal(false)

/** The text that the symbol dialog opens with; null = closed. */
export const symbolSearch = signal<string | null>(null)
/** Whether what is chosen in it is put over the chart instead. */
export const comparing = signal(false)
export const compare = (): void =>
  batch(() => {
    comparing.value = true
    symbolSearch.value = ''
  })
/** The text that the dialog of indicators opens with; null = closed. */
export const studyDialog = signal<string | null>(null)
/** The text typed into the interval dialog; null = closed. */
export const intervalEntry = signal<string | null>(null)
/** Enter was pressed before a dialog knew what there is to choose from; it counts once that is known. */
export const entered = signal(false)

const addressOf = (of: Market): string =>
  `/chart/${encodeURIComponent(nameOf(of))}/${encodeURIComponent(of.interval)}`

export function showMarket(next: Market): void {
  market.value = next
  navigate(addressOf(next))
}

const USUAL = ['1m', '3m', '5m', '15m', '30m', '1h', '2h', '4h', '1d', '1w', '1M']

/** Intervals that are cached for the symbol or can be built from cached ones, finest first. */
export function intervalsOf(listed: SymbolFacts | null): readonly string[] {
  if (!listed) return [market.value.interval]
  const cached = listed.series.map((one) => one.interval)
  const fine = cached.map(parseInterval).filter((one): one is Interval => one !== null)
  const made = USUAL.filter((name) => fine.some((one) => canBuild(parseInterval(name)!, one)))
  const length = (name: string) => intervalMs(parseInterval(name) ?? { count: 1, unit: 'M' })
  return [...new Set([...cached, ...made])].sort((a, b) => length(a) - length(b))
}

export function stepInterval(by: 1 | -1): void {
  const all = intervalsOf(symbol.value)
  const next = all[all.indexOf(market.value.interval) + by]
  if (next) showMarket({ ...market.value, interval: next })
}
