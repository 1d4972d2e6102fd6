// Bars made of trades or quotes as they are read: of seconds or of days, whatever the series' interval is, or of so much volume
// each.
//
// Trades of one file come in the order of time, oldest or newest first; only the bar under way is kept. A trade in the
// middle of nowhere would need all trades in memory, so it is refused with its row.
//
// Files come in any order, and each runs its own way. A bar that one of them begins or ends within is made of the pieces that
// all of them have of it: two bars a file are kept to the end, with the times between which each file told of them. Where two
// files tell of the same time nobody knows which trades they share, so that the later one is refused.

import { timeMistakeOf } from '../bar-stage.ts'
import { type Calendar, periodFinder } from '../calendar.ts'
import type { Interval } from '../interval.ts'
import type { RowSink } from './csv.ts'
import { DecimalSum } from './decimal-sum.ts'

/** Takes the bars. */
export interface BarTaker {
  readonly full: boolean
  /** A row's number through all files: a bar of volume may be handed on when its file is over. */
  numberOf(row: number): number
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
  /** Of a bar that the ends of files cut: called again, it replaces what the bar was. Another row of its time is a mistake. */
  addCut(...bar: Parameters<BarTaker['add']>): void
  fail(row: number, message: string): void
}

interface TradeBar {
  /** Of its first trade; negative if an earlier file has that. */
  readonly row: number
  readonly start: number
  readonly open: number
  readonly high: number
  readonly low: number
  readonly close: number
  readonly volume: number
  readonly bought: number
}

/** Takes trades, counts them, and hands on the bar under way, which those that say where a bar ends begin and extend. */
abstract class BarsOfTrades implements RowSink {
  protected readonly bars: BarTaker
  #trades = 0
  #skipped = 0
  #number = 0
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
    this.bars = bars
  }

  get full(): boolean {
    return this.bars.full
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
    this.bars.fail(row, message)
  }

  skip(): void {
    this.#skipped++
  }

  /** The rows from here on are of another file. */
  leave(): void {}

  /** There are no more files. */
  end(): void {}

  protected get volume(): number {
    return this.#volume.value
  }

  /** `side` is 1 of what was bought, -1 of what was sold, and 0 where nobody knows. */
  protected begin(row: number, start: number, price: number, amount: number, side: number): void {
    this.#trades++
    this.#number = this.bars.numberOf(row)
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

  protected get made(): TradeBar {
    const volume = this.#volume.value
    return {
      row: this.#number - this.bars.numberOf(0),
      start: this.#start,
      open: this.#open,
      high: this.#high,
      low: this.#low,
      close: this.#close,
      volume,
      // A sum of very many decimals may end a hair above that of more of them.
      bought: this.#knowsSides ? Math.min(volume, this.#bought.value) : Number.NaN,
    }
  }

  protected handOn(): void {
    const { row, start, open, high, low, close, volume, bought } = this.made
    this.bars.add(row, start, open, high, low, close, volume, bought)
  }
}

/** What one file has of a bar that it may have begun or ended within. */
interface Piece {
  /** The times of its first and last trade; endless where the file goes on with other bars. */
  readonly from: number
  readonly to: number
  readonly open: number
  readonly close: number
}

interface CutBar {
  /** By time. None lies within another; only at an instant may one end and the next begin. */
  readonly pieces: Piece[]
  high: number
  low: number
  readonly volume: DecimalSum
  readonly bought: DecimalSum
}

export class TradeBars extends BarsOfTrades {
  readonly #period: (time: number) => { readonly start: number; readonly end: number }
  /** Quotes have no quantity: their number is the volume, as forex counts it. */
  readonly #hasQuantity: boolean
  /** NaN: no bar is under way. */
  #start = Number.NaN
  /** Between these a trade is known to be of the bar under way, which also has what is traded before or behind its session. */
  #from = Number.NaN
  #to = Number.NaN
  /** 1: oldest first, -1: newest first, 0: not known yet. */
  #direction = 0
  #last = Number.NaN
  /** The times of the trades that open and close the bar under way. */
  #opened = 0
  #closed = 0
  /** The bar under way is the first of its file. */
  #isFirst = true
  /** By their times, the bars that files begin or end within. */
  readonly #cuts = new Map<number, CutBar>()

  constructor(bars: BarTaker, calendar: Calendar, interval: Interval, kind: 'trades' | 'quotes') {
    super(bars)
    this.#period = periodFinder(calendar, interval)
    this.#hasQuantity = kind === 'trades'
  }

  add(row: number, { 0: time = NaN, 1: price = NaN, 2: quantity = 0, 3: side = 0 }: Float64Array): void {
    const amount = this.#hasQuantity ? quantity : 1
    const mistake = mistakeOf(time, price, amount)
    if (mistake !== null) return this.fail(row, mistake)
    const isOfBar = this.#isOfBar(time)
    const direction = Math.sign(time - this.#last)
    if (direction === 1 || direction === -1) {
      // Trades of one time were taken for the oldest first.
      if (this.#direction === 0 && direction < 0) this.turnRound()
      this.#direction ||= direction
      if (direction !== this.#direction && !isOfBar)
        return this.fail(row, 'is not in the order of time; trades have to be sorted, oldest or newest first')
    }
    this.#last = time
    if (isOfBar) {
      // Within a bar trades may be in any order: their times say which opens and closes it, and rows tell those of one time apart.
      const isNewestFirst = this.#direction < 0
      const opens = time < this.#opened || (isNewestFirst && time === this.#opened)
      const closes = time > this.#closed || (!isNewestFirst && time === this.#closed)
      if (opens) this.#opened = time
      if (closes) this.#closed = time
      return this.extend(price, amount, side, opens, closes)
    }
    if (!Number.isNaN(this.#start)) this.#endBar()
    const { start, end } = this.#period(time)
    this.#start = start
    this.#from = Math.min(start, time)
    this.#to = Math.max(end, Math.floor(time) + 1)
    this.#opened = this.#closed = time
    this.begin(row, start, price, amount, side)
  }

  override leave(): void {
    if (!Number.isNaN(this.#start)) this.#addPiece({ isLast: true })
    this.#start = this.#from = this.#to = this.#last = Number.NaN
    this.#direction = 0
    this.#isFirst = true
  }

  #isOfBar(time: number): boolean {
    if (time >= this.#from && time < this.#to) return true
    if (Number.isNaN(this.#start) || this.#period(time).start !== this.#start) return false
    this.#from = Math.min(this.#from, time)
    this.#to = Math.max(this.#to, Math.floor(time) + 1)
    return true
  }

  #endBar(): void {
    if (!this.#isFirst && !this.#cuts.has(this.#start)) return this.handOn()
    this.#addPiece({ isLast: false })
    this.#isFirst = false
  }

  /** Puts what the file has of the bar under way to what others have of it. */
  #addPiece({ isLast }: { readonly isLast: boolean }): void {
    const { row, start, open, high, low, close, volume, bought } = this.made
    const [isOldest, isNewest] = this.#direction < 0 ? [isLast, this.#isFirst] : [this.#isFirst, isLast]
    const from = isOldest ? this.#opened : -Infinity
    const to = isNewest ? this.#closed : Infinity
    const cut = this.#cuts.get(start) ?? {
      pieces: [],
      high,
      low,
      volume: new DecimalSum(),
      bought: new DecimalSum(),
    }
    this.#cuts.set(start, cut)
    const { pieces } = cut
    const at =
      pieces.findLastIndex((piece) => piece.from < from || (piece.from === from && piece.to <= to)) + 1
    const { [at - 1]: before, [at]: behind } = pieces
    const isSame = before?.from === from && before.to === to
    if (isSame || (before && from < before.to) || (behind && behind.from < to)) return this.fail(row, TOLD)
    pieces.splice(at, 0, { from, to, open, close })
    cut.high = Math.max(cut.high, high)
    cut.low = Math.min(cut.low, low)
    cut.volume.add(volume)
    cut.bought.add(bought)
    const all = cut.volume.value
    const ofAll = Math.min(all, cut.bought.value)
    this.bars.addCut(row, start, pieces[0]!.open, cut.high, cut.low, pieces.at(-1)!.close, all, ofAll)
  }
}

const TOLD = 'is among the trades of another file; a trade may be in one file only'

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

  /** Hands on the bar under way, full or not. */
  override end(): void {
    if (Number.isNaN(this.#start)) return
    this.handOn()
    this.#before = this.#start
    this.#start = Number.NaN
  }
}

function mistakeOf(time: number, price: number, amount: number): string | null {
  const wrong = timeMistakeOf(time)
  if (wrong !== null) return wrong
  if (!Number.isFinite(price)) return 'price is not a number'
  if (!Number.isFinite(amount)) return 'quantity is not a number'
  return amount < 0 ? 'quantity is negative' : null
}
