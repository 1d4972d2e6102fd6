// One chart of the page while it is there: its bars, its view, and what the pointer is on. What it shows is in `charts.ts`.

import { computed, signal } from '@preact/signals'
import type { Bars } from '../../market/bars.ts'
import type { SymbolFacts } from '../../wire/bars.ts'
import { call } from '../api-client.ts'
import { fieldOf, type Market } from '../charts.ts'
import { timezone } from '../settings.ts'
import type { ChartView, Hover, PaneBox } from './view.ts'

/** What is known of symbols; null = not loaded yet. */
export const symbols = signal<readonly SymbolFacts[] | null>(null)
export async function loadSymbols(): Promise<void> {
  symbols.value = (await call('GET /api/platform/symbols')).symbols
}

/** Bars and the market they are of. */
export interface ShownBars {
  readonly market: Market
  readonly bars: Bars
}

export class Cell {
  readonly id: string
  readonly market
  readonly type
  readonly scale
  readonly volume
  readonly trades
  readonly studies
  readonly showScript = signal(true)
  /** null until the first bars have arrived. */
  readonly shown = signal<ShownBars | null>(null)
  readonly problem = signal<unknown>(null)
  readonly hover = signal<Hover | null>(null)
  readonly paneBoxes = signal<readonly PaneBox[]>([])
  /** null while it is not on the screen. */
  readonly view = signal<ChartView | null>(null)
  readonly symbol = computed(() => {
    const { exchange, symbol } = this.market.value
    return symbols.value?.find((one) => one.exchange === exchange && one.symbol === symbol) ?? null
  })
  readonly zone = computed(() => timezone.value || this.symbol.value?.timezone || 'UTC')
  readonly mintick = computed(() => this.symbol.value?.mintick ?? 0.01)

  constructor(id: string) {
    this.id = id
    this.market = fieldOf('market', id)
    this.type = fieldOf('type', id)
    this.scale = fieldOf('scale', id)
    this.volume = fieldOf('volume', id)
    this.trades = fieldOf('trades', id)
    this.studies = fieldOf('studies', id)
  }
}

/** Those of the page. A chart that goes and comes back, as on a phone, has its bars still. */
export class Cells {
  readonly #made = new Map<string, Cell>()

  of(id: string): Cell {
    const known = this.#made.get(id)
    if (known) return known
    const cell = new Cell(id)
    this.#made.set(id, cell)
    return cell
  }
}
