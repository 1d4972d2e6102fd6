// Bars of so much volume each, made of trades as they are read: busy hours have many of them, quiet ones few.
//
// A bar ends with the trade that fills it up, which is not cut in two; so a bar may have more than was asked for, by less than
// its last trade. It opens at the time of its first trade, or a millisecond behind the bar before where both have the same: no
// two bars of a series may open at once.

import type { RowSink } from './csv.ts'
import { DecimalSum } from './decimal-sum.ts'
import { type BarTaker, mistakeOf } from './trade-bars.ts'

export class VolumeBars implements RowSink {
  readonly #bars: BarTaker
  readonly #perBar: number
  /** NaN: no bar is under way. */
  #start = Number.NaN
  #before = Number.NEGATIVE_INFINITY
  #row = 0
  #open = 0
  #high = 0
  #low = 0
  #close = 0
  readonly #volume = new DecimalSum()
  #last = Number.NEGATIVE_INFINITY
  #trades = 0
  #skipped = 0

  constructor(bars: BarTaker, perBar: number) {
    this.#bars = bars
    this.#perBar = perBar
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
    const mistake = mistakeOf(time, price, quantity)
    if (mistake !== null) return this.fail(row, mistake)
    // Of the newest first it is known only at the end which trades are together.
    if (time < this.#last)
      return this.fail(
        row,
        'is not in the order of time; for bars of volume trades have to be sorted, oldest first',
      )
    this.#last = time
    this.#trades++
    if (Number.isNaN(this.#start)) {
      this.#start = Math.max(time, this.#before + 1)
      this.#row = row
      this.#open = this.#high = this.#low = price
      this.#volume.begin(0)
    }
    if (price > this.#high) this.#high = price
    if (price < this.#low) this.#low = price
    this.#close = price
    this.#volume.add(quantity)
    // A sum of very many decimals may fall a hair short.
    if (this.#volume.value >= this.#perBar * (1 - 1e-12)) this.end()
  }

  fail(row: number, message: string): void {
    this.#bars.fail(row, message)
  }

  skip(): void {
    this.#skipped++
  }

  /** Hands on the bar under way, full or not. Call it at the end of the file. */
  end(): void {
    if (Number.isNaN(this.#start)) return
    const volume = this.#volume.value
    this.#bars.add(this.#row, this.#start, this.#open, this.#high, this.#low, this.#close, volume)
    this.#before = this.#start
    this.#start = Number.NaN
  }
}
