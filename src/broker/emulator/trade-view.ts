// A trade as strategy.opentrades.* and strategy.closedtrades.* read it, and its excursions.
//
// Excursions are computed from the bar columns on request. On the entry bar only the path after the fill counts, and on the
// exit bar only the path before it; after a fill at the open the whole entry bar counts, and of an exit bar nothing.

import type { Bars } from '../../market/bars.ts'
import type { TradeView } from '../../language/broker.ts'
import { contracts } from './numbers.ts'
import { closedTradeAt, directionOf, labelOf, openTradeAt, type Trade } from './ledger.ts'
import { goesHighFirst } from './path.ts'
import type { Position } from './position.ts'

/** The lowest and the highest price while a trade was open; its direction tells which of them was favourable. */
export interface Excursion {
  readonly low: number
  readonly high: number
}

/** `low` and `high` already cover the bars before `scanFrom` that the trade lasted through as a whole. */
export function excursionOf(
  trade: Trade,
  bars: Bars,
  lastBar: number,
  low = trade.entryPrice,
  high = trade.entryPrice,
  scanFrom = 0,
): Excursion {
  const open = Number.isNaN(trade.exitBar)
  const end = open ? lastBar : trade.exitBar
  if (!open) {
    high = Math.max(high, trade.exitPrice)
    low = Math.min(low, trade.exitPrice)
  }
  // The bars that it lasted through as a whole.
  const from = trade.entryPoint === 0 ? trade.entryBar : trade.entryBar + 1
  const to = open || trade.exitPoint === 4 ? end : end - 1
  const highs = bars.high
  const lows = bars.low
  for (let bar = Math.max(from, scanFrom); bar <= to; bar++) {
    if (highs[bar]! > high) high = highs[bar]!
    if (lows[bar]! < low) low = lows[bar]!
  }
  // Of the other bars, the points of the path between the two fills count: point n is the end of segment n.
  for (let bar = trade.entryBar; bar <= end; bar = bar === end ? end + 1 : end) {
    if (bar >= from && bar <= to) continue
    const after = bar === trade.entryBar ? trade.entryPoint : 0
    const before = !open && bar === end ? trade.exitPoint : 4
    if (before === 0) continue
    const highFirst = goesHighFirst(bars.open[bar]!, highs[bar]!, lows[bar]!)
    for (let point = Math.max(1, after); point <= 3 && point < before; point++) {
      const price = point === 3 ? bars.close[bar]! : (point === 1) === highFirst ? highs[bar]! : lows[bar]!
      if (price > high) high = price
      if (price < low) low = price
    }
  }
  return { low, high }
}

/** The part of the account that is needed to look at trades. */
interface Marked {
  readonly bar: number
  readonly bars: Bars
  readonly position: Position
  readonly pointValue: number
  /** Marks open trades. */
  nowPrice(): number
  rate(): number
}

/**
 * A position in the ledger that reads as a trade and moves from one to the next. A script that sums ten trades on every bar
 * asks for so many that an object for each took nine tenths of its time. It is valid until it is moved again.
 */
export class TradeCursor implements TradeView {
  private readonly account: Marked
  /** Numbers of its fills; -1 = no exit. */
  private entry = -1
  private exit = -1
  private row = -1
  private units = 0
  private entryFee = 0
  /** The excursions of closed trades by row, which never change again. */
  private readonly seen = new Map<number, Excursion>()
  /** The excursion, up to a bar, of the open trade that was asked about last: the fill that entered it, and that bar. */
  private runningEntry = -1
  private runningBar = -1
  private runningLow = NaN
  private runningHigh = NaN

  constructor(account: Marked) {
    this.account = account
  }

  /** Answers itself; null if there is no such trade. */
  toClosed(row: number): this | null {
    const { closed } = this.account.position
    if (!(row >= 0 && row < closed.count)) return null
    this.row = row
    this.entry = closed.entry[row]!
    this.exit = closed.exit[row]!
    this.units = closed.units[row]!
    this.entryFee = closed.entryFee[row]!
    return this
  }

  toOpen(row: number): this | null {
    const trade = this.account.position.open[row]
    if (trade === undefined) return null
    this.row = row
    this.entry = trade.fill
    this.exit = -1
    this.units = trade.units
    this.entryFee = trade.entryFee
    return this
  }

  /** After a step back, rows mean other trades. */
  forget(): void {
    this.seen.clear()
    this.runningEntry = -1
  }

  get entryId(): string {
    return labelOf(this.account.position.fills, this.entry).id
  }
  get entryComment(): string | null {
    return labelOf(this.account.position.fills, this.entry).comment
  }
  get entryBar(): number {
    return this.account.position.fills.bar[this.entry]!
  }
  get entryTime(): number {
    return this.account.bars.time[this.entryBar]!
  }
  get entryPrice(): number {
    return this.account.position.fills.price[this.entry]!
  }
  get exitId(): string {
    return labelOf(this.account.position.fills, this.exit).id
  }
  get exitComment(): string | null {
    return labelOf(this.account.position.fills, this.exit).comment
  }
  get exitBar(): number {
    return this.account.position.fills.bar[this.exit]!
  }
  get exitTime(): number {
    return this.account.bars.time[this.exitBar]!
  }
  get exitPrice(): number {
    return this.account.position.fills.price[this.exit]!
  }
  get size(): number {
    return directionOf(this.account.position.fills, this.entry) * contracts(this.units)
  }
  get profit(): number {
    const { account } = this
    if (this.exit >= 0) return account.position.closed.profit[this.row]!
    const gain = account.nowPrice() - this.entryPrice
    return this.size * gain * account.pointValue * account.rate() - this.entryFee
  }
  get profitPercent(): number {
    return (this.profit / this.value) * 100
  }
  get profitPercentOfCost(): number {
    return (this.profit / (this.value + this.entryFee)) * 100
  }
  get commission(): number {
    return this.entryFee + (this.exit < 0 ? 0 : this.account.position.closed.exitFee[this.row]!)
  }
  get maxRunup(): number {
    const { low, high } = this.excursion()
    const { account, size, entryPrice } = this
    const best = size > 0 ? high : low
    return Math.max(0, size * (best - entryPrice) * account.pointValue * account.rate() - this.entryFee)
  }
  get maxRunupPercent(): number {
    return (this.maxRunup / this.value) * 100
  }
  get maxDrawdown(): number {
    const { low, high } = this.excursion()
    const { account, size, entryPrice } = this
    const worst = size > 0 ? low : high
    return Math.max(0, size * (entryPrice - worst) * account.pointValue * account.rate() + this.entryFee)
  }
  get maxDrawdownPercent(): number {
    return (this.maxDrawdown / this.value) * 100
  }

  private get value(): number {
    const { pointValue } = this.account
    return contracts(this.units) * this.entryPrice * pointValue * this.account.rate()
  }

  /** Goes on from the bar before: a script that asks on every bar of a long trade asked for all its bars on each. */
  private runningExcursion(): Excursion {
    const { entry, entryBar } = this
    const { position, bars, bar } = this.account
    if (this.runningEntry !== entry || this.runningBar >= bar) {
      const trade = openTradeAt(position.fills, entry, this.units, this.entryFee)
      const { low, high } = excursionOf(trade, bars, entryBar)
      if (bar <= entryBar) return { low, high }
      this.runningEntry = entry
      this.runningBar = entryBar
      this.runningLow = low
      this.runningHigh = high
    }
    const { high, low } = bars
    // The bar at work may still be forming.
    for (let one = this.runningBar + 1; one < bar; one++) {
      if (high[one]! > this.runningHigh) this.runningHigh = high[one]!
      if (low[one]! < this.runningLow) this.runningLow = low[one]!
    }
    this.runningBar = bar - 1
    return {
      low: low[bar]! < this.runningLow ? low[bar]! : this.runningLow,
      high: high[bar]! > this.runningHigh ? high[bar]! : this.runningHigh,
    }
  }

  private excursion(): Excursion {
    const { row, account } = this
    const { position, bars, bar } = account
    if (this.exit < 0) return this.runningExcursion()
    let range = this.seen.get(row)
    if (range === undefined) {
      range = excursionOf(closedTradeAt(position.fills, position.closed, row), bars, bar)
      this.seen.set(row, range)
    }
    return range
  }
}
