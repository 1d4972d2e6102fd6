// Bars made of trades or quotes as they are read: of seconds or of days, whatever the series' interval is, or of so much volume
// each.
//
// Trades of one file come in the order of time, oldest or newest first; only the bar under way is kept. A trade in the
// middle of nowhere would need all trades in memory, so it is refused with its row. A bar that the end of a file cuts goes on
// with the next file, which therefore has to be the next by time; a bar is never made of a piece of its trades.

import { type Calendar, periodFinder } from '../calendar.ts'
import type { Interval } from '../interval.ts'
import type { RowSink } from './csv.ts'
import { DecimalSum } from './decimal-sum.ts'

/** Takes the bars. */
export interface BarTaker {
  readonly full: boolean
  add(
    row: number,
    time: number,
    o: number,
    h: number,
    l: number,
    c: number,
    volume: number,
    bought: number,
  ): void
  fail(row: number, message: string): void
}

/** Takes trades, counts them, and hands on the bar under way, which those that say where a bar ends begin and extend. */
abstract class BarsOfTrades implements RowSink {
  readonly #bars: BarTaker
  #trades = 0
  #skipped = 0
  #row = 0
  #start = 0
  #open = 0
  #high = 0
  #low = 0
  #close = 0
  readonly #volume = new DecimalSum()
  readonly #bought = new DecimalSum()
  /** Of each trade of the bar it is known who was in a hurry. */
  #knowsSides = false

  constructor(bars: BarTaker) {
    this.#bars = bars
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

  abstract add(row: number, values: Float64Array): void

  fail(row: number, message: string): void {
    this.#bars.fail(row, message)
  }

  skip(): void {
    this.#skipped++
  }

  /** The rows from here on are of another file. */
  abstract enter(): void

  /** The rows of a file are over. */
  abstract leave(): void

  /** Hands on the bar under way. Call it at the end of the last file. */
  abstract end(): void

  protected get volume(): number {
    return this.#volume.value
  }

  /** `side` is 1 of what was bought, -1 of what was sold, and 0 where nobody knows. */
  protected begin(row: number, start: number, price: number, amount: number, side: number): void {
    this.#trades++
    this.#row = row
    this.#start = start
    this.#open = this.#high = this.#low = this.#close = price
    this.#volume.begin(amount)
    this.#knowsSides = side !== 0
    if (this.#knowsSides) this.#bought.begin(side > 0 ? amount : 0)
  }

  /** Where the trade stands in its bar: `opens` is true of one before all that were read, `closes` of one behind them. */
  protected extend(price: number, amount: number, side: number, opens: boolean, closes: boolean): void {
    this.#trades++
    if (price > this.#high) this.#high = price
    if (price < this.#low) this.#low = price
    if (opens) this.#open = price
    if (closes) this.#close = price
    this.#volume.add(amount)
    if (side === 0) this.#knowsSides = false
    else if (side > 0 && this.#knowsSides) this.#bought.add(amount)
  }

  /** What was read from the oldest to the newest was the other way round. */
  protected turnRound(): void {
    const open = this.#open
    this.#open = this.#close
    this.#close = open
  }

  protected handOn(): void {
    const volume = this.#volume.value
    // A sum of very many decimals may end a hair above that of more of them.
    const bought = this.#knowsSides ? Math.min(volume, this.#bought.value) : Number.NaN
    this.#bars.add(this.#row, this.#start, this.#open, this.#high, this.#low, this.#close, volume, bought)
  }
}

export class TradeBars extends BarsOfTrades {
  readonly #period: (time: number) => { readonly start: number; readonly end: number }
  /** Quotes have no quantity: their number is the volume, as forex counts it. */
  readonly #hasQuantity: boolean
  #start = Number.NaN
  #end = Number.NaN
  /** 1: oldest first, -1: newest first, 0: not known yet. */
  #direction = 0
  #last = Number.NaN
  /** The times of the trades that open and close the bar under way. */
  #opened = 0
  #closed = 0
  /** What the files before this one told of the bar under way: no trade of this file lies between, or some came twice. */
  #toldFrom = Number.NaN
  #toldTo = Number.NaN
  /** Where the first and the last bar of each file before this one begin: either may have been cut. */
  readonly #edges = new Set<number>()
  readonly #spans: (readonly [from: number, to: number])[] = []
  /** Where the first bar of this file begins, and its row; NaN: it has none yet. */
  #first = Number.NaN
  #row = 0

  constructor(bars: BarTaker, calendar: Calendar, interval: Interval, kind: 'trades' | 'quotes') {
    super(bars)
    this.#period = periodFinder(calendar, interval)
    this.#hasQuantity = kind === 'trades'
  }

  add(row: number, { 0: time = NaN, 1: price = NaN, 2: quantity = 0, 3: side = 0 }: Float64Array): void {
    const amount = this.#hasQuantity ? quantity : 1
    const mistake = mistakeOf(time, price, amount)
    if (mistake !== null) return this.fail(row, mistake)
    const direction = Math.sign(time - this.#last)
    if (direction === 1 || direction === -1) {
      // Trades of one time were taken for the oldest first.
      if (this.#direction === 0 && direction < 0 && Number.isNaN(this.#toldFrom)) this.turnRound()
      this.#direction ||= direction
      if (direction !== this.#direction && !(time >= this.#start && time < this.#end))
        return this.fail(row, 'is not in the order of time; trades have to be sorted, oldest or newest first')
    }
    this.#last = time
    if (time >= this.#start && time < this.#end) {
      // Within a bar trades may be in any order: their times say which opens and closes it, and rows tell those of one time apart.
      const isNewestFirst = this.#direction < 0
      if (time > this.#toldFrom && time < this.#toldTo)
        return this.fail(row, 'lies between trades of a file before; a trade may be in one file only')
      const opens = time < this.#opened || (isNewestFirst && time === this.#opened)
      const closes = time > this.#closed || (!isNewestFirst && time === this.#closed)
      if (opens) this.#opened = time
      if (closes) this.#closed = time
      return this.extend(price, amount, side, opens, closes)
    }
    this.end()
    const { start, end } = this.#period(time)
    const isFirst = Number.isNaN(this.#first)
    if (this.#edges.has(start) || (isFirst && this.#isWithin(start))) return this.fail(row, CUT)
    if (isFirst) this.#first = start
    this.#row = row
    this.#start = start
    this.#end = end
    this.#opened = this.#closed = time
    this.#toldFrom = this.#toldTo = Number.NaN
    this.begin(row, start, price, amount, side)
  }

  enter(): void {
    this.#direction = 0
    this.#last = Number.NaN
    this.#toldFrom = this.#opened
    this.#toldTo = this.#closed
  }

  end(): void {
    if (!(this.#end > this.#start)) return
    this.handOn()
    this.#start = this.#end = Number.NaN
  }

  leave(): void {
    if (Number.isNaN(this.#first)) return
    const [first, last] = [this.#first, this.#start]
    if (last !== first && this.#isWithin(last)) this.fail(this.#row, CUT)
    this.#edges.add(first).add(last)
    this.#spans.push(first < last ? [first, last] : [last, first])
    this.#first = Number.NaN
  }

  /** Whether a file before has bars before and behind this one, and so may have it as well. */
  #isWithin(start: number): boolean {
    return this.#spans.some(([from, to]) => start > from && start < to)
  }
}

const CUT =
  'is of a bar that a file before has trades of as well; name the files so that they follow each other as their rows do, oldest or newest first, with each trade in one file'

/**
 * Bars of so much volume each: busy hours have many of them, quiet ones few. A bar ends with the trade that fills it up, which
 * is not cut in two; so a bar may have more than was asked for, by less than its last trade. It opens at the time of its first
 * trade, or a millisecond behind the bar before where both have the same: no two bars of a series may open at once.
 */
export class VolumeBars extends BarsOfTrades {
  readonly #perBar: number
  /** NaN: no bar is under way. */
  #start = Number.NaN
  #before = Number.NEGATIVE_INFINITY
  #last = Number.NEGATIVE_INFINITY

  constructor(bars: BarTaker, perBar: number) {
    super(bars)
    this.#perBar = perBar
  }

  add(row: number, { 0: time = NaN, 1: price = NaN, 2: quantity = 0, 3: side = 0 }: Float64Array): void {
    const mistake = mistakeOf(time, price, quantity)
    if (mistake !== null) return this.fail(row, mistake)
    // Of the newest first it is known only at the end which trades are together.
    if (time < this.#last)
      return this.fail(
        row,
        'is not in the order of time; for bars of volume trades have to be sorted, oldest first',
      )
    this.#last = time
    if (Number.isNaN(this.#start)) {
      this.#start = Math.max(time, this.#before + 1)
      this.begin(row, this.#start, price, quantity, side)
    } else this.extend(price, quantity, side, false, true)
    // A sum of very many decimals may fall a hair short.
    if (this.volume >= this.#perBar * (1 - 1e-12)) this.end()
  }

  enter(): void {}

  leave(): void {}

  /** Full or not. */
  end(): void {
    if (Number.isNaN(this.#start)) return
    this.handOn()
    this.#before = this.#start
    this.#start = Number.NaN
  }
}

function mistakeOf(time: number, price: number, amount: number): string | null {
  if (!Number.isFinite(time)) return 'time is not a date'
  if (!Number.isFinite(price)) return 'price is not a number'
  if (!Number.isFinite(amount)) return 'quantity is not a number'
  return amount < 0 ? 'quantity is negative' : null
}
