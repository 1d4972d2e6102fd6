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

export class Cell {
  readonly id: string
  readonly market
  readonly type
  readonly scale
  readonly volume
  readonly trades
  readonly studies
  readonly compared
  readonly boxes
  readonly heights
  /** The bars of the symbols that are drawn over it, or why there are none, by their name. */
  readonly comparedBars = signal<Readonly<Record<string, Bars | Error>>>({})
  /** The left edge of what is in view, which may lie between bars. */
  readonly leftBar = signal(0)
  readonly showScript = signal(true)
  /** Whether a replay is on, during which the real bars are shown, since it goes by them. */
  readonly replaying
  /** null until the first bars have arrived. */
  readonly shown = signal<ShownBars | null>(null)
  /** The bar that is not over yet, of a market that comes by a stream; null = none is known. */
  readonly forming = signal<{ readonly market: Market; readonly bar: FormingBar } | null>(null)
  /** What the chart draws: the real bars, or those that its type makes of them. */
  readonly drawn = computed(() =>
    drawnOf(
      { market: this.market.value, type: this.type.value, boxes: this.boxes.value },
      this.shown.value,
      this.forming.value,
      this.replaying.value,
    ),
  )
  /** Lines of alerts, as they are dragged. */
  readonly alerts = signal<readonly PriceLevel[]>([])
  readonly sketch = signal<Sketch>(NO_SKETCH)
  /** Where the legend of each pane ends, CSS pixels from the pane's corner. */
  readonly legends = signal<Readonly<Record<string, Record<'bottom' | 'right', number>>>>({})
  readonly problem = signal<unknown>(null)
  readonly hover = signal<Hover | null>(null)
  readonly paneBoxes = signal<readonly PaneBox[]>([])
  /** null while it is not on the screen. */
  readonly view = signal<ChartView | null>(null)
  readonly symbol = computed(() => factsOf(symbols.value ?? [], this.market.value))
  readonly zone = computed(() => timezone.value || this.symbol.value?.timezone || 'UTC')
  readonly mintick = computed(() => this.symbol.value?.mintick ?? 0.01)

  constructor(id: string, replaying: ReadonlySignal<boolean>) {
    this.replaying = replaying
    this.id = id
    this.market = fieldOf('market', id)
    this.type = fieldOf('type', id)
    this.scale = fieldOf('scale', id)
    this.volume = fieldOf('volume', id)
    this.trades = fieldOf('trades', id)
    this.studies = fieldOf('studies', id)
    this.compared = fieldOf('compared', id)
    this.boxes = fieldOf('boxes', id)
    this.heights = fieldOf('heights', id)
  }
}

/** The price nearest to another that the symbol can have. */
export const onTick = ({ mintick }: Cell, price: number): number => {
  const tick = mintick.peek()
  return Number((Math.round(price / tick) * tick).toFixed(10))
}
