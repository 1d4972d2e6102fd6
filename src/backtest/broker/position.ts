// The position: what is open, what was closed, and the money that came of it.
//
// Two ledgers of one size (see orders.ts): `open` are the rows of the trade list, `entries` what each id still owns.
// Sums over open rows are made anew at each fill, oldest first, because TradingView's average is that sum (F8); net
// profit is gross profit minus gross loss (F9).

import { UNIT, contracts } from './numbers.ts'
import { removeAt, type Direction, type Entry, type Fill, type PathPoint, type Trade } from './orders.ts'
import type { CloseRule } from './settings.ts'

/** What one order does at one price. The broker fills in one and the same again and again; nobody keeps it. */
export interface Execution {
  direction: Direction
  /** Units that close, then units that open. */
  closing: number
  opening: number
  /** What the list shows; money is worked out on `money`, which differs only for immediate closes (B9). */
  price: number
  money: number
  fee: number
  rate: number
  bar: number
  /** The bar's. */
  time: number
  point: PathPoint
  id: string
  comment: string | null
  alertMessage: string | null
}

/** The state after each fill, in growing columns: enough to rebuild equity at every bar (see `equity.ts`). */
export interface FillLedger {
  readonly bar: number[]
  /** Signed contracts. */
  readonly size: number[]
  /** Signed sum of contracts × entry price. */
  readonly value: number[]
  /** Closed profit, account currency. */
  readonly net: number[]
  /** Entry commissions of what is open, account currency. */
  readonly fees: number[]
}

export class Position {
  /** Signed. */
  units = 0
  entries: Entry[] = []
  open: Trade[] = []
  closed: Trade[] = []
  fills: Fill[] = []
  value = 0
  fees = 0
  grossProfit = 0
  grossLoss = 0
  wins = 0
  losses = 0
  evens = 0
  heldAll = 0
  heldLong = 0
  heldShort = 0
  ledger: FillLedger = { bar: [], size: [], value: [], net: [], fees: [] }
  private readonly pointValue: number
  private readonly rule: CloseRule

  constructor(pointValue: number, rule: CloseRule) {
    this.pointValue = pointValue
    this.rule = rule
  }

  get netProfit(): number {
    return this.grossProfit - this.grossLoss
  }

  get averagePrice(): number {
    return this.units === 0 ? NaN : this.value / contracts(this.units)
  }

  /** Profit of what is open at `price`, its entry commissions taken off. */
  openProfit(price: number, rate: number): number {
    if (this.units === 0) return 0
    return (contracts(this.units) * price - this.value) * this.pointValue * rate - this.fees
  }

  /** Units `id`'s entries still own; null = everybody's. */
  boundTo(id: string | null): number {
    if (id === null) return Math.abs(this.units)
    let sum = 0
    for (const entry of this.entries) if (entry.id === id) sum += entry.bound
    return sum
  }

  /**
   * Books one order's fill. `targets` are the entries it was meant for, null = whatever is oldest (D8).
   * Returns the entry it opened.
   */
  execute(execution: Execution, targets: readonly Entry[] | null, first = false): Entry | null {
    const { closing, opening, direction } = execution
    if (closing > 0) this.close(execution, targets)
    const entry = opening > 0 ? this.add(execution, first) : null
    this.resum()
    this.fills.push({
      bar: execution.bar,
      time: execution.time,
      id: execution.id,
      side: direction === 1 ? 'buy' : 'sell',
      qty: (closing + opening) / UNIT,
      price: execution.price,
      comment: execution.comment,
      commission: execution.fee,
      position: this.units / UNIT,
      alertMessage: execution.alertMessage,
    })
    const { bar, size, value, net, fees } = this.ledger
    bar.push(execution.bar)
    size.push(contracts(this.units))
    value.push(this.value)
    net.push(this.grossProfit - this.grossLoss)
    fees.push(this.fees)
    return entry
  }

  private add(execution: Execution, first: boolean): Entry {
    const { opening, closing, direction, bar, price } = execution
    const entry: Entry = {
      id: execution.id,
      direction,
      units: opening,
      bound: opening,
      price: execution.money,
      bar,
      legs: [],
    }
    const trade: Trade = {
      entry,
      entryId: execution.id,
      entryComment: execution.comment,
      entryBar: bar,
      entryPoint: execution.point,
      entryPrice: price,
      direction,
      units: opening,
      entryFee: closing === 0 ? execution.fee : (execution.fee * opening) / (closing + opening),
      exitId: null,
      exitComment: null,
      exitBar: NaN,
      exitPoint: 4,
      exitPrice: NaN,
      exitFee: NaN,
      profit: NaN,
    }
    // D15: what a gapped exit opened is served before the rest, though off the oldest row.
    if (first) this.entries.unshift(entry)
    else this.entries.push(entry)
    this.open.push(trade)
    this.units += direction * opening
    const held = Math.abs(this.units)
    this.heldAll = Math.max(this.heldAll, held)
    if (direction === 1) this.heldLong = Math.max(this.heldLong, held)
    else this.heldShort = Math.max(this.heldShort, held)
    return entry
  }

  private close(execution: Execution, targets: readonly Entry[] | null): void {
    const { closing, opening, direction } = execution
    // Rows: oldest first, or under ANY the targets' own.
    const own = this.rule === 'ANY' && targets !== null
    let left = closing
    for (let i = 0; i < this.open.length && left > 0;) {
      const trade = this.open[i]!
      if (own && !targets.includes(trade.entry)) {
        i++
        continue
      }
      const units = Math.min(left, trade.units)
      const share =
        units === closing + opening ? execution.fee : (execution.fee * units) / (closing + opening)
      left -= units
      if (units === trade.units) {
        removeAt(this.open, i)
        this.book(trade, execution, share)
      } else {
        const part = { ...trade, units, entryFee: (trade.entryFee * units) / trade.units }
        trade.entryFee -= part.entryFee
        trade.units -= units
        this.book(part, execution, share)
        i++
      }
    }
    this.units += direction * (closing - left)
    // Entries: the targets first, then the oldest.
    left = closing - left
    if (targets) for (const entry of targets) left = spend(entry, left)
    for (const entry of this.entries) left = spend(entry, left)
    if (this.units === 0) this.entries.length = 0
    else this.entries = this.entries.filter((entry) => entry.bound > 0)
  }

  private book(trade: Trade, execution: Execution, fee: number): void {
    trade.exitId = execution.id
    trade.exitComment = execution.comment
    trade.exitBar = execution.bar
    trade.exitPoint = execution.point
    trade.exitPrice = execution.price
    trade.exitFee = fee
    const gross =
      trade.direction *
      contracts(trade.units) *
      (execution.money - trade.entryPrice) *
      this.pointValue *
      execution.rate
    const profit = gross - trade.entryFee - fee
    trade.profit = profit
    this.closed.push(trade)
    if (profit > 0) {
      this.grossProfit += profit
      this.wins++
    } else if (profit < 0) {
      this.grossLoss -= profit
      this.losses++
    } else this.evens++
  }

  private resum(): void {
    let value = 0
    let fees = 0
    for (const trade of this.open) {
      value += trade.direction * contracts(trade.units) * trade.entryPrice
      fees += trade.entryFee
    }
    this.value = value
    this.fees = fees
  }
}

function spend(entry: Entry, units: number): number {
  const spent = Math.min(entry.bound, units)
  entry.bound -= spent
  return units - spent
}
