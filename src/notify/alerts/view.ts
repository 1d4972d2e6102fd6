// A view: the bars of one look, with as many earlier bars as looking back needs, and the columns that alerts compare.
//
// Columns are made once for all alerts of a series.

import type { Bars } from '../../market/bars.ts'
import type { AlertKind } from '../../wire/alert.ts'
import type { Alert } from './alert.ts'
import type { Thresholds, Values } from './condition.ts'

/** What an alert watches: one value a bar. */
export interface Watched {
  readonly value: Float64Array
  readonly high: Float64Array
  readonly low: Float64Array
}

export interface ViewOptions {
  /** Index of the first bar to look at. */
  readonly start: number
  /** Whether the last bar is over. All others are, since another one follows. */
  readonly lastClosed: boolean
  /** When the bar that opens at this time is over. */
  readonly closesAt: (time: number) => number
  readonly now: number
  /** The plot of the script whose alert this view is for. */
  readonly plot?: Float64Array | null
}

export class View {
  readonly bars: Bars
  readonly start: number
  readonly lastClosed: boolean
  readonly now: number
  readonly #closesAt: (time: number) => number
  readonly #plot: Float64Array | null
  #change: Float64Array | null = null

  constructor(bars: Bars, { start, lastClosed, closesAt, now, plot = null }: ViewOptions) {
    this.bars = bars
    this.start = start
    this.lastClosed = lastClosed
    this.now = now
    this.#closesAt = closesAt
    this.#plot = plot
  }

  get length(): number {
    return this.bars.length
  }

  time(bar: number): number {
    return this.bars.time[bar] ?? Number.NaN
  }

  closed(bar: number): boolean {
    return bar < this.bars.length - 1 || this.lastClosed
  }

  /**
   * The instant that a bar counts for: its end, however late the look is, or the clock's time while it forms. Throttle,
   * cooldown and expiry count from it, so bars that come all at once fire the same as one by one. A clock that jumps never
   * leads out of the bar.
   */
  judgedAt(bar: number): number {
    const opens = this.time(bar)
    const closes = this.#closesAt(opens)
    return this.closed(bar) ? closes : Math.max(opens, Math.min(this.now, closes))
  }

  /** The columns of a kind; null if the script has no such plot. */
  watched(kind: AlertKind): Watched | null {
    switch (kind) {
      case 'volume':
        return flat(this.bars.volume)
      case 'change':
        return flat((this.#change ??= changes(this.bars.close)))
      case 'indicator':
        return this.#plot && flat(this.#plot)
      default:
        return { value: this.bars.close, high: this.bars.high, low: this.bars.low }
    }
  }

  /** The values that an alert compares on a bar; null if there is nothing to compare. */
  values({ kind, bars: lookBack }: Pick<Alert, 'kind' | 'bars'>, bar: number): Values | null {
    const watched = this.watched(kind)
    return watched && valuesAt(watched, bar, lookBack, this.closed(bar))
  }
}

const flat = (value: Float64Array): Watched => ({ value, high: value, low: value })

/** Percentages of the previous close. */
function changes(close: Float64Array): Float64Array {
  return close.map((value, i) => (i === 0 ? Number.NaN : (value / (close[i - 1] ?? Number.NaN) - 1) * 100))
}

function valuesAt({ value, high, low }: Watched, bar: number, lookBack: number, closed: boolean): Values {
  return {
    value: value[bar] ?? Number.NaN,
    high: high[bar] ?? Number.NaN,
    low: low[bar] ?? Number.NaN,
    previous: value[bar - 1] ?? Number.NaN,
    past: value[bar - lookBack] ?? Number.NaN,
    closed,
  }
}

export function thresholds({ op, price, price2, percent }: Alert): Thresholds {
  return {
    op: op ?? 'above',
    price: price ?? Number.NaN,
    price2: price2 ?? price ?? Number.NaN,
    percent: percent ?? Number.NaN,
  }
}
