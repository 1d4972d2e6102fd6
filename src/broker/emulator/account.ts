// The account: what is held, what it is worth now, and everything that a script reads about it as strategy.*.
//
// "Now" is the close of the bar the script runs on, or, while a bar is walked, the price the path has reached. Only the run
// sets the bar, and only the walk (walk.ts) the place on it.

import type { Bars } from '../../market/bars.ts'
import type { SymbolInfo } from '../../market/symbol.ts'
import type { BrokerAccount, TradeView } from '../../language/broker.ts'
import type { DevelopingBars } from '../developing.ts'
import { EquityWalk } from '../equity.ts'
import { rowsOf } from './ledger.ts'
import { exceeds } from './margin.ts'
import { UNIT, contracts, tickAbove, tickBelow, tickOf, unitsOf } from './numbers.ts'
import type { Direction, PathPoint } from './orders.ts'
import { Position } from './position.ts'
import type { Pot, PotMember } from './pot.ts'
import type { BrokerSettings } from './settings.ts'
import { budgetOf, unitsFor } from './sizing.ts'
import { TradeCursor } from './trade-view.ts'

export interface BrokerOptions {
  readonly bars: Bars
  readonly symbol: SymbolInfo
  readonly settings: BrokerSettings
  /** Rate from symbol currency to account currency for each bar; null = the currencies are equal (I1, I2). */
  readonly rates?: Float64Array | null
  /** Bars for the magnifier (A5). */
  readonly finer?: Bars | null
  /** The forming bars as the script sees them (A10). */
  readonly developing?: DevelopingBars | null
  /** A number that changes whenever a bar belongs to a new trading day (H5). */
  readonly dayOf: (bar: number) => number
  /** Whether to note which orders rest at which price (resting.ts): charts draw them, alerts do not need them. */
  readonly notesResting?: boolean
  /** The money it has in common with others (M1). */
  readonly pot?: Pot | null
}

export class Account implements BrokerAccount, PotMember {
  bar = 0
  /** The place on the bar, which is booked with every fill. */
  point: PathPoint = 0
  /** While a bar is walked, "now" is the price that the path has reached; otherwise it is the close. */
  walking = false
  nowTicks = 0
  readonly settings: BrokerSettings
  readonly position: Position
  /** The bars as the script sees them: the forming one holds what the path has shown so far. */
  readonly bars: Bars
  readonly developing: DevelopingBars | null
  readonly rates: Float64Array | null
  readonly lot: number
  readonly mintick: number
  readonly pointValue: number
  readonly pot: Pot | null
  /** Orders that came to nothing: for less than the smallest quantity, and for more than there was money for. */
  refused = { tooSmall: 0, unpaid: 0 }
  /** The trade that a script asked for last. */
  private readonly trade = new TradeCursor(this)
  /** Maximum drawdown and run-up so far, computed on request. */
  private extremes: EquityWalk

  constructor({
    bars,
    symbol,
    settings,
    rates = null,
    developing = null,
    pot = null,
  }: Omit<BrokerOptions, 'dayOf'>) {
    this.developing = developing
    this.bars = developing?.bars ?? bars
    this.settings = settings
    this.rates = rates
    this.lot = Math.max(1, Math.round(symbol.minQuantity * UNIT))
    this.mintick = symbol.mintick
    this.pointValue = symbol.pointValue
    this.position = new Position(symbol.pointValue, settings.closeEntriesRule)
    this.extremes = this.newExtremes()
    this.pot = pot
    pot?.join(this)
  }

  private newExtremes(): EquityWalk {
    const { bars, position, pointValue, settings, rates } = this
    return new EquityWalk(bars, position.fills, pointValue, settings.initialCapital, rates)
  }

  margin(direction: Direction): number {
    return direction === 1 ? this.settings.marginLong : this.settings.marginShort
  }

  rate(): number {
    return this.rates ? this.rates[this.bar]! : 1
  }

  /** The close, or the price that the path has reached while a bar is walked (A8). */
  nowPrice(): number {
    return this.walking ? this.nowTicks * this.mintick : this.bars.close[this.bar]!
  }

  equityAt(price: number): number {
    const { position, pot } = this
    const own = this.settings.initialCapital + position.netProfit + position.openProfit(price, this.rate())
    return pot === null ? own : own + pot.profitBeside(this)
  }

  /** What new positions can be taken with (M3). */
  freeAt(price: number): number {
    const equity = this.equityAt(price)
    return this.pot === null ? equity : equity - this.pot.marginBeside(this)
  }

  /** Whether that covers the margin of an order. */
  pays(margin: number, price: number): boolean {
    if (!exceeds(margin, this.freeAt(price))) return true
    this.refused.unpaid++
    return false
  }

  /** What the position can be kept with (M5). */
  keptAt(price: number): number {
    const equity = this.equityAt(price)
    return this.pot === null ? equity : equity - this.pot.marginBefore(this)
  }

  /** Initial capital and closed profit: what risk rules are measured by, of the whole pot (M6). */
  get closedEquity(): number {
    const own = this.settings.initialCapital + this.position.netProfit
    return this.pot === null ? own : own + this.pot.closedProfitBeside(this)
  }

  get marginHeld(): number {
    const { units } = this.position
    if (units === 0) return 0
    const value = contracts(Math.abs(units)) * this.nowPrice() * this.pointValue * this.rate()
    return value * this.margin(units > 0 ? 1 : -1)
  }

  // ——— strategy.* ———

  get positionSize(): number {
    return contracts(this.position.units)
  }
  get positionAvgPrice(): number {
    return this.position.averagePrice
  }

  /** C13: the oldest open entry's id. */
  get positionEntryName(): string | null {
    return this.position.open[0]?.entry.id ?? null
  }
  get initialCapital(): number {
    return this.settings.initialCapital
  }
  get equity(): number {
    return this.equityAt(this.nowPrice())
  }
  get openProfit(): number {
    return this.position.openGain(this.nowPrice(), this.rate())
  }
  get netProfit(): number {
    return this.grossProfit - this.grossLoss
  }
  get closedProfit(): number {
    return this.position.netProfit
  }
  get grossProfit(): number {
    return this.position.grossProfit
  }
  get grossLoss(): number {
    return this.position.grossLoss + this.position.fees
  }
  get closedLoss(): number {
    return this.position.grossLoss
  }
  /** The walk over equity never goes back, so a forming bar is left out until its close. */
  private get walkedTo(): number {
    return this.developing?.isDeveloping ? this.bar - 1 : this.bar
  }
  get maxRunupAmount(): number {
    return this.extremes.to(this.walkedTo).runupMax
  }
  get maxDrawdownAmount(): number {
    return this.extremes.to(this.walkedTo).drawdownMax
  }
  get maxRunupPercent(): number {
    return this.extremes.to(this.walkedTo).runupMaxFraction * 100
  }
  get maxDrawdownPercent(): number {
    return this.extremes.to(this.walkedTo).drawdownMaxFraction * 100
  }
  get maxContractsHeldAll(): number {
    return contracts(this.position.heldAll)
  }
  get maxContractsHeldLong(): number {
    return contracts(this.position.heldLong)
  }
  get maxContractsHeldShort(): number {
    return contracts(this.position.heldShort)
  }
  get winTrades(): number {
    return this.position.wins
  }
  get lossTrades(): number {
    return this.position.losses
  }

  /** J7: trades with a profit of exactly 0. */
  get evenTrades(): number {
    return this.position.evens
  }
  get openTradeCount(): number {
    return this.position.open.length
  }
  get closedTradeCount(): number {
    return this.position.closed.count
  }
  readonly closedTradesFirstIndex = 0

  /** G6: not scaled by margin; na only if neither side keeps any. */
  get capitalHeld(): number {
    if (this.settings.marginLong === 0 && this.settings.marginShort === 0) return NaN
    return Math.abs(this.position.value) * this.pointValue * this.rate()
  }

  /** G5: solves equity(P) = margin(P); long floors to the tick, short ceils. */
  get marginLiquidationPrice(): number {
    const { position, settings } = this
    const held = position.units
    if (held === 0) return NaN
    const margin = this.margin(held > 0 ? 1 : -1)
    if (margin === 0 || (held > 0 && margin === 1)) return NaN
    const size = contracts(held) * this.pointValue * this.rate()
    const own =
      settings.initialCapital +
      position.netProfit -
      position.fees -
      position.value * this.pointValue * this.rate()
    const { pot } = this
    const base = pot === null ? own : own + pot.profitBeside(this) - pot.marginBefore(this)
    const ticks = -base / (size - Math.abs(size) * margin) / this.mintick
    return (held > 0 ? tickBelow(ticks) : tickAbove(ticks)) * this.mintick
  }
  get accountCurrency(): string {
    return this.settings.currency
  }
  openTrade(index: number): TradeView | null {
    return this.trade.toOpen(index)
  }
  closedTrade(index: number): TradeView | null {
    return this.trade.toClosed(index)
  }
  convertToAccount(value: number): number {
    return value * this.rate()
  }

  /** I3: the exact reciprocal. */
  convertToSymbol(value: number): number {
    return value / this.rate()
  }
  /** F15: for the tick nearest to the price. */
  defaultEntryQty(price: number): number {
    const budget = budgetOf(this.settings, this.equityAt(this.nowPrice()))
    return contracts(
      Number.isNaN(budget)
        ? unitsOf(this.settings.defaultQtyValue, this.lot)
        : unitsFor(
            this.settings,
            budget,
            tickOf(price, this.mintick) * this.mintick,
            this.pointValue,
            this.rate(),
            this.lot,
          ),
    )
  }

  // ——— snapshots ———

  state() {
    const { units, entries, open, closed, fills, value, fees, grossProfit, grossLoss } = this.position
    const { wins, losses, evens, heldAll, heldLong, heldShort } = this.position
    const sums = { value, fees, grossProfit, grossLoss, wins, losses, evens, heldAll, heldLong, heldShort }
    const position = { units, entries, open, closed: rowsOf(closed), fills: rowsOf(fills), ...sums }
    return { bar: this.bar, position, extremes: this.extremes.state(), refused: { ...this.refused } }
  }

  restore({ bar, position, extremes, refused }: ReturnType<Account['state']>): void {
    this.bar = bar
    // States of earlier versions have none.
    this.refused = { ...(refused ?? { tooSmall: 0, unpaid: 0 }) }
    Object.assign(this.position, position)
    this.extremes = this.newExtremes()
    this.extremes.goOnFrom(extremes)
    this.trade.forget()
  }
}
