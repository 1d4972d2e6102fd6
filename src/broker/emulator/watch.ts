// The watch judges whether a position must be called for margin (G), and whether a strategy's own risk rules stop it (H).
// It only judges; the floor (floor.ts) sells.

import type { Account } from './account.ts'
import { NEVER_CALLED, callRange, marginCallUnits } from './margin.ts'
import { contracts, tickOf } from './numbers.ts'
import type { Direction } from './orders.ts'
import { calmRisk, drawdownReached, intradayLossReached, rollDay, watches, type RiskState } from './risk.ts'

const UNASKED = -2
const ASKED = -1

export type QuietRange = Pick<Watch, 'callBelow' | 'callAbove'>

export class Watch {
  risk: RiskState
  marginCalls = 0
  /** Prices at or beyond which the position would be called for margin. */
  callBelow = -Infinity
  callAbove = Infinity
  /** Orders of up to so many units are affordable about this price, until the next fill. 0 = none; below, not known. */
  private ampleUnits = UNASKED
  private amplePrice = 0
  private readonly account: Account
  private readonly dayOf: (bar: number) => number
  private readonly highs: Float64Array
  private readonly lows: Float64Array

  constructor(account: Account, dayOf: (bar: number) => number) {
    this.account = account
    this.dayOf = dayOf
    this.highs = account.bars.high
    this.lows = account.bars.low
    this.risk = calmRisk(account.settings.initialCapital)
  }

  /** A risk rule has stopped the strategy, until the day ends or for good. */
  get halted(): boolean {
    return this.risk.halted !== 'no'
  }

  /** Whether some rule has to check every bar, with or without orders. */
  get looksAlways(): boolean {
    return watches(this.risk)
  }

  /** Whether some rule has to check each price of the path, and not only days, fills and closes. */
  get looksWithin(): boolean {
    return this.risk.intradayLoss !== null
  }

  /** Whether there are prices at which the position would be called. */
  get mayCall(): boolean {
    return this.callBelow !== -Infinity || this.callAbove !== Infinity
  }

  /** Whether no price of the bar calls the position. */
  isSafe(bar: number): boolean {
    return this.highs[bar]! < this.callAbove && this.lows[bar]! > this.callBelow
  }

  isSafeBetween(low: number, high: number): boolean {
    return high < this.callAbove && low > this.callBelow
  }

  // ——— margin ———

  /** F12, G1: whether the position after an order would keep its margin at `price`. */
  affords(direction: Direction, units: number, price: number): boolean {
    const { amplePrice } = this
    if (units <= this.ampleUnits && Math.abs(price - amplePrice) < amplePrice / 4) return true
    const { account } = this
    const margin = account.margin(direction)
    if (margin === 0) return true
    const held = account.position.units
    const total = units + (held * direction > 0 ? Math.abs(held) : 0)
    const required = contracts(total) * price * account.pointValue * account.rate() * margin
    // Many orders are filled before another is asked for.
    if (this.ampleUnits === UNASKED) this.ampleUnits = ASKED
    else if (this.ampleUnits !== 0) this.setAmple(units, price)
    return account.pays(required, price)
  }

  /** The price about which, up to a quarter of it, an order of so many units is affordable until the next fill; NaN = none. */
  ampleFor(units: number): number {
    return units <= this.ampleUnits ? this.amplePrice : NaN
  }

  /**
   * Until the next fill money and margin grow in proportion to the price: who could pay twice the margin, and the loss of all
   * that is held besides, can pay the margin at a price a quarter higher or lower too. Most scripts have that much, and to
   * ask again for each order was an eighth of the time of a stop that is placed on every bar.
   */
  private setAmple(units: number, price: number): void {
    const { account } = this
    const { position, settings, rates, pointValue, pot } = account
    const held = contracts(Math.abs(position.units)) * price * pointValue
    const asked = 2 * contracts(units) * price * pointValue
    const margin = Math.max(settings.marginLong, settings.marginShort)
    const isAmple = 2 * (held + asked) * margin + held < account.freeAt(price)
    this.ampleUnits = isAmple && rates === null && pot === null ? 2 * units : 0
    this.amplePrice = price
  }

  /** G3: units that a margin call sells at this price; 0 = margin holds. */
  unitsCalled(ticks: number): number {
    const { account } = this
    const held = account.position.units
    if (held === 0) return 0
    const margin = account.margin(held > 0 ? 1 : -1)
    if (margin === 0) return 0
    const price = ticks * account.mintick
    if (price > this.callBelow && price < this.callAbove) return 0
    const unitValue = price * account.pointValue * account.rate()
    return marginCallUnits(Math.abs(held), account.keptAt(price), unitValue, margin, account.lot)
  }

  /** Call it whenever the position has changed, and before each turn of an account whose pot others share. */
  setCallRange(): void {
    const { position, settings, rates, pointValue, pot } = this.account
    this.ampleUnits = UNASKED
    const held = position.units
    // The others do not change while it is this account's turn.
    const beside =
      held !== 0 && pot?.isShared ? pot.profitBeside(this.account) - pot.marginBefore(this.account) : 0
    const range =
      held === 0
        ? NEVER_CALLED
        : rates
          ? { below: Infinity, above: -Infinity }
          : callRange(
              settings.initialCapital +
                position.netProfit +
                beside -
                position.fees -
                position.value * pointValue,
              contracts(held) * pointValue,
              this.account.margin(held > 0 ? 1 : -1),
            )
    this.callBelow = range.below
    this.callAbove = range.above
  }

  // ——— risk ———

  /** How much strategy.risk.max_position_size still permits an entry of this direction. */
  roomFor(direction: Direction): number {
    if (this.risk.positionMax === Infinity) return Infinity
    const held = this.account.position.units * direction
    return Math.max(0, this.risk.positionMax - Math.max(0, held))
  }

  /** Begins a new trading day if the bar belongs to one. Answers whether there have been too many losing days in a row. */
  losingDaysReached(bar: number): boolean {
    const { account, risk } = this
    const day = this.dayOf(bar)
    if (day === risk.day) return false
    return rollDay(risk, day, account.equityAt(account.nowPrice()), account.closedEquity)
  }

  /**
   * H1: every filled order counts, and a reversal counts once. What is still open when the day's last permitted order has
   * filled is closed at that order's price, or at the bar's extreme if an entry fired inside the bar beyond its open (probe
   * composite-bracket-cap-range-pending-stop-01: 178 of 178). Answers that price in ticks; NaN = this was not the last
   * order.
   */
  countFilled(ticks: number, opened: boolean): number {
    const { risk } = this
    if (risk.filledOrdersMax === Infinity || risk.halted !== 'no') return NaN
    risk.filledToday++
    if (risk.filledToday < risk.filledOrdersMax) return NaN
    const { bar, bars, mintick, point } = this.account
    if (!opened || point === 0 || point === 4) return ticks
    const open = tickOf(bars.open[bar]!, mintick)
    if (ticks > open) return tickOf(bars.high[bar]!, mintick)
    return ticks < open ? tickOf(bars.low[bar]!, mintick) : ticks
  }

  /** H2: checked at the open, which may have gapped, at each adverse extreme, and after losses. */
  intradayLossReached(ticks: number): boolean {
    if (this.risk.intradayLoss === null || this.halted) return false
    return intradayLossReached(this.risk, this.account.equityAt(ticks * this.account.mintick))
  }

  /** H3. */
  drawdownReached(ticks: number): boolean {
    const { risk, account } = this
    if (risk.drawdown === null || this.halted) return false
    const equity = account.equityAt(ticks * account.mintick)
    return drawdownReached(risk, equity, account.closedEquity, account.position.closed.count)
  }

  // ——— snapshots ———

  state() {
    const { risk, marginCalls, callBelow, callAbove } = this
    return { risk, marginCalls, callBelow, callAbove }
  }

  restore(state: ReturnType<Watch['state']>): void {
    Object.assign(this, state)
    this.ampleUnits = UNASKED
  }
}
