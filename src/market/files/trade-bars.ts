// Bars made of trades or quotes as they are read: of seconds or of days, whatever the series' interval is.
//
// Trades of one file come in the order of time, oldest or newest first; only the bar under way is kept. A trade in the
// middle of nowhere would need all trades in memory, so it is refused with its row.

import { type Calendar, periodFinder } from '../calendar.ts'
import type { Interval } from '../interval.ts'
import type { RowSink } from './csv.ts'
import { DecimalSum } from './decimal-sum.ts'

/** Takes the bars. */
export interface BarTaker {
  readonly full: boolean
  add(row: number, time: number, o: number, h: number, l: number, c: number, volume: number): void
  fail(row: number, message: string): void
}

export class TradeBars implements RowSink {
  readonly #bars: BarTaker
  readonly #period: (time: number) => { readonly start: number; readonly end: number }
  /** Quotes have no quantity: their number is the volume, as forex counts it. */
  readonly #hasQuantity: boolean
  #start = Number.NaN
  #end = Number.NaN
  #row = 0
  #open = 0
  #high = 0
  #low = 0
  #close = 0
  readonly #volume = new DecimalSum()
  /** 1: oldest first, -1: newest first, 0: not known yet. */
  #direction = 0
  #last = Number.NaN
  #trades = 0
  #skipped = 0

  constructor(bars: BarTaker, calendar: Calendar, interval: Interval, kind: 'trades' | 'quotes') {
    this.#bars = bars
    this.#period = periodFinder(calendar, interval)
    this.#hasQuantity = kind === 'trades'
  }

  get full(): boolean {
    return this.#bars.full
  }

  /** How many trades were read. */
  get count(): number {
    return this.#trades
  }

  /** Rows without a price. */
  get skipped(): number {
    return this.#skipped
  }

  add(row: number, { 0: time = NaN, 1: price = NaN, 2: quantity = 0 }: Float64Array): void {
    const amount = this.#hasQuantity ? quantity : 1
    const mistake = mistakeOf(time, price, amount)
    if (mistake !== null) return this.fail(row, mistake)
    const direction = Math.sign(time - this.#last)
    if (direction === 1 || direction === -1) {
      this.#direction ||= direction
      if (direction !== this.#direction && !(time >= this.#start && time < this.#end))
        return this.fail(row, 'is not in the order of time; trades have to be sorted, oldest or newest first')
    }
    this.#last = time
    this.#trades++
    if (time >= this.#start && time < this.#end) return this.#extend(price, amount)
    this.end()
    const { start, end } = this.#period(time)
    this.#start = start
    this.#end = end
    this.#row = row
    this.#open = this.#high = this.#low = this.#close = price
    this.#volume.begin(amount)
  }

  fail(row: number, message: string): void {
    this.#bars.fail(row, message)
  }

  skip(): void {
    this.#skipped++
  }

  /** Hands on the bar under way. Call it at the end of the file. */
  end(): void {
    if (!(this.#end > this.#start)) return
    const volume = this.#volume.value
    this.#bars.add(this.#row, this.#start, this.#open, this.#high, this.#low, this.#close, volume)
    this.#start = this.#end = Number.NaN
  }

  #extend(price: number, amount: number): void {
    if (price > this.#high) this.#high = price
    if (price < this.#low) this.#low = price
    // The newest first: what is read later opened the bar.
    if (this.#direction < 0) this.#open = price
    else this.#close = price
    this.#volume.add(amount)
  }
}

export function mistakeOf(time: number, price: number, amount: number): string | null {
  if (!Number.isFinite(time)) return 'time is not a date'
  if (!Number.isFinite(price)) return 'price is not a number'
  if (!Number.isFinite(amount)) return 'quantity is not a number'
  return amount < 0 ? 'quantity is negative' : null
}
