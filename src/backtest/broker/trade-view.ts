// A trade as strategy.opentrades.* and strategy.closedtrades.* read it, and its excursions.
//
// Excursions are scanned from the bar columns when asked for. On the entry bar only what the path does after the fill
// counts, on the exit bar what it did before; an order filled at the open has seen the whole bar, or nothing of it.

import type { Bars } from '../../market/bars.ts'
import type { TradeView } from '../../pine/broker.ts'
import { contracts } from './numbers.ts'
import { closedTradeAt, directionOf, labelOf, openTradeAt, type Trade } from './ledger.ts'
import { goesHighFirst } from './path.ts'
import type { Position } from './position.ts'

/** The lowest and the highest price while a trade was open; its direction tells which of them was the favourable one. */
export interface Excursion {
  readonly low: number
  readonly high: number
}

/** `low` and `high` are known of the bars before `scanFrom` that the trade saw the whole of. */
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
  // Bars it saw the whole of.
  const from = trade.entryPoint === 0 ? trade.entryBar : trade.entryBar + 1
  const to = open || trade.exitPoint === 4 ? end : end - 1
  const highs = bars.high
  const lows = bars.low
  for (let bar = Math.max(from, scanFrom); bar <= to; bar++) {
    if (highs[bar]! > high) high = highs[bar]!
    if (lows[bar]! < low) low = lows[bar]!
  }
  // And of the others the points of the path between the two fills: point n is the end of segment n.
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

/** What trades are looked at in: the account, of which this is all that is needed. */
interface Marked {
  readonly bar: number
  readonly bars: Bars
  readonly position: Position
  readonly pointValue: number
  /** These mark open trades. */
  nowPrice(): number
  rate(): number
}

/**
 * A place in the ledger that reads as a trade, moved from one to the next: a script that sums ten trades on every bar
 * asks for so many that an object each was nine tenths of its time. Good until it is moved again.
 */
export class TradeCursor implements TradeView {
  private readonly account: Marked
  /** Numbers of its fills; no exit: -1. */
  private entry = -1
  private exit = -1
  private row = -1
  private units = 0
  private entryFee = 0
  /** What closed trades, by row, went through does not change any more. */
  private readonly seen = new Map<number, Excursion>()

  constructor(account: Marked) {
    this.account = account
  }

  /** Answers itself, null where there is no such trade. */
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

  /** After a step back the rows are others. */
  forget(): void {
    this.seen.clear()
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
  get exitId(): string | null {
    return this.exit < 0 ? null : labelOf(this.account.position.fills, this.exit).id
  }
  get exitComment(): string | null {
    return this.exit < 0 ? null : labelOf(this.account.position.fills, this.exit).comment
  }
  get exitBar(): number {
    return this.exit < 0 ? NaN : this.account.position.fills.bar[this.exit]!
  }
  get exitTime(): number {
    return this.exit < 0 ? NaN : this.account.bars.time[this.exitBar]!
  }
  get exitPrice(): number {
    return this.exit < 0 ? NaN : this.account.position.fills.price[this.exit]!
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

  private excursion(): Excursion {
    const { row, account } = this
    const { position, bars, bar } = account
    if (this.exit < 0)
      return excursionOf(openTradeAt(position.fills, this.entry, this.units, this.entryFee), bars, bar)
    let range = this.seen.get(row)
    if (range === undefined) {
      range = excursionOf(closedTradeAt(position.fills, position.closed, row), bars, bar)
      this.seen.set(row, range)
    }
    return range
  }
}
