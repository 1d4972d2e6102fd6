// One chart of the page while it is there: its bars, its view, and what the pointer is on. What it shows is in `charts.ts`.

import { computed, signal, type ReadonlySignal } from '@preact/signals'
import type { Bars } from '../../market/bars.ts'
import type { FormingBar, SymbolFacts } from '../../wire/bars.ts'
import { call } from '../api-client.ts'
import { fieldOf, type Market } from '../charts.ts'
import { timezone } from '../settings.ts'
import { factsOf } from './made-markets.ts'
import { drawnOf, NO_SKETCH, type PriceLevel, type ShownBars, type Sketch } from './scene.ts'
import type { ChartView, Hover, PaneBox } from './view.ts'

/** What is known of symbols; null = not loaded yet. */
export const symbols = signal<readonly SymbolFacts[] | null>(null)
export async function loadSymbols(): Promise<void> {
  symbols.value = (await call('GET /api/platform/symbols')).symbols
}

export type Cell = ReturnType<typeof newCell>

/** `replaying`: whether a replay is on, during which the real bars are shown, since it goes by them. */
export function newCell(id: string, replaying: ReadonlySignal<boolean>) {
  const market = fieldOf('market', id)
  const type = fieldOf('type', id)
  const boxes = fieldOf('boxes', id)
  /** null until the first bars have arrived. */
  const shown = signal<ShownBars | null>(null)
  /** The bar that is not over yet, of a market that comes by a stream; null = none is known. */
  const forming = signal<{ readonly market: Market; readonly bar: FormingBar } | null>(null)
  const symbol = computed(() => factsOf(symbols.value ?? [], market.value))
  return {
    id,
    market,
    type,
    scale: fieldOf('scale', id),
    volume: fieldOf('volume', id),
    trades: fieldOf('trades', id),
    studies: fieldOf('studies', id),
    compared: fieldOf('compared', id),
    heights: fieldOf('heights', id),
    /** The bars of the symbols that are drawn over it, or why there are none, by their name. */
    comparedBars: signal<Readonly<Record<string, Bars | Error>>>({}),
    /** The left edge of what is in view, which may lie between bars. */
    leftBar: signal(0),
    showScript: signal(true),
    shown,
    forming,
    /** What the chart draws: the real bars, or those that its type makes of them. */
    drawn: computed(() =>
      drawnOf(
        { market: market.value, type: type.value, boxes: boxes.value },
        shown.value,
        forming.value,
        replaying.value,
      ),
    ),
    /** Lines of alerts, as they are dragged. */
    alerts: signal<readonly PriceLevel[]>([]),
    sketch: signal<Sketch>(NO_SKETCH),
    /** Where the legend of each pane ends, CSS pixels from the pane's corner. */
    legends: signal<Readonly<Record<string, Record<'bottom' | 'right', number>>>>({}),
    problem: signal<unknown>(null),
    hover: signal<Hover | null>(null),
    paneBoxes: signal<readonly PaneBox[]>([]),
    /** null while it is not on the screen. */
    view: signal<ChartView | null>(null),
    symbol,
    zone: computed(() => timezone.value || symbol.value?.timezone || 'UTC'),
    mintick: computed(() => symbol.value?.mintick ?? 0.01),
  }
}

/** The price nearest to another that the symbol can have. */
export const onTick = ({ mintick }: Cell, price: number): number => {
  const tick = mintick.peek()
  return Number((Math.round(price / tick) * tick).toFixed(10))
}
