// The position: open entries, closed trades, and the resulting money.
//
// It has two ledgers of equal size (see orders.ts): `open` has the rows of the trade list, `entries` what each id still
// owns. Sums over open rows are added up again at each fill, oldest first, because TradingView's average is that sum (F8);
// net profit is gross profit minus gross loss (F9).

import {
  closedTradeAt,
  labelRow,
  type ClosedTrades,
  type Fills,
  reserveFill,
  reserveTrade,
  takeLedger,
  type Trade,
} from './ledger.ts'
import { contracts } from './numbers.ts'
import { removeAt, shorten, type Direction, type Entry, type OpenTrade, type PathPoint } from './orders.ts'
import type { CloseRule } from './settings.ts'

/** What one order does at one price. The broker reuses a single object for all fills, so nobody may keep it. */
export interface Execution {
  direction: Direction
  /** Units to close, and units to open after that. */
  closing: number
  opening: number
  /** The price that the list shows. Money is computed from `money`, which differs only for immediate closes (B9). */
  price: number
  money: number
  fee: number
  rate: number
  bar: number
  point: PathPoint
  id: string
  comment: string | null
  alertMessage: string | null
  /** It flips what another order of the same run opened at this moment. */
  paired: boolean
}

export class Position {
  /** Signed. */
  units = 0
  entries: Entry[] = []
  open: OpenTrade[] = []
  fills: Fills
  closed: ClosedTrades
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
  private readonly pointValue: number
  private readonly rule: CloseRule

  constructor(pointValue: number, rule: CloseRule) {
    this.pointValue = pointValue
    this.rule = rule
    const { fills, closed } = takeLedger()
    this.fills = fills
    this.closed = closed
  }

  get netProfit(): number {
    return this.grossProfit - this.grossLoss
  }

  get averagePrice(): number {
    return this.units === 0 ? NaN : this.value / contracts(this.units)
  }

  /** Profit of the open trades at `price`, before commission. */
  openGain(price: number, rate: number): number {
    return this.units === 0 ? 0 : (contracts(this.units) * price - this.value) * this.pointValue * rate
  }

  /** The same, minus their entry commissions. */
  openProfit(price: number, rate: number): number {
    return this.units === 0 ? 0 : this.openGain(price, rate) - this.fees
  }

  /** Units that `id`'s entries still own; null = everybody's. */
  boundTo(id: string | null): number {
    if (id === null) return Math.abs(this.units)
    let sum = 0
    for (const entry of this.entries) if (entry.id === id) sum += entry.bound
    return sum
  }

  /**
   * Books the fill of one order. `targets` are the entries that it was meant for, null = the oldest (D8). Answers the entry
   * that it opened.
   */
  execute(execution: Execution, targets: readonly Entry[] | null, first = false): Entry | null {
    const { closing, opening } = execution
    const { fills } = this
    reserveFill(fills)
    const row = fills.count
    fills.bar[row] = execution.bar
    fills.point[row] = execution.point
    fills.units[row] = execution.direction * (closing + opening)
    fills.price[row] = execution.price
    fills.fee[row] = execution.fee
    fills.label[row] = labelRow(fills, execution.id, execution.comment, execution.alertMessage)
    if (closing > 0 && !this.closeOnly(execution, targets)) this.close(execution, targets)
    const entry = opening > 0 ? this.add(execution, first) : null
    this.resum()
    fills.held[row] = this.units
    fills.value[row] = this.value
    fills.net[row] = this.grossProfit - this.grossLoss
    fills.fees[row] = this.fees
    fills.count++
    return entry
  }

  closedTrade(row: number): Trade | null {
    const { fills, closed } = this
    return Number.isInteger(row) && row >= 0 && row < closed.count ? closedTradeAt(fills, closed, row) : null
  }

  private add(execution: Execution, first: boolean): Entry {
    const { opening, closing, direction } = execution
    const entry: Entry = {
      id: execution.id,
      direction,
      units: opening,
      bound: opening,
      price: execution.money,
      bar: execution.bar,
      legs: null,
    }
    const entryFee = closing === 0 ? execution.fee : (execution.fee * opening) / (closing + opening)
    // D15: an entry that a gapped exit opened is closed before the others, though from the oldest row.
    if (first) this.entries.unshift(entry)
    else this.entries.push(entry)
    this.open.push({ entry, fill: this.fills.count, units: opening, entryFee })
    this.units += direction * opening
    const held = Math.abs(this.units)
    if (held > this.heldAll) this.heldAll = held
    if (direction === 1 && held > this.heldLong) this.heldLong = held
    if (direction === -1 && held > this.heldShort) this.heldShort = held
    return entry
  }

  /** A shortcut for the usual case, in which the position is a single trade of one entry and closes completely. */
  private closeOnly(execution: Execution, targets: readonly Entry[] | null): boolean {
    const { open, entries } = this
    const { closing, opening, direction } = execution
    if (targets !== null || open.length !== 1 || entries.length !== 1) return false
    const trade = open[0]!
    const { units, entryFee } = trade
    if (units !== closing) return false
    const fee = opening === 0 ? execution.fee : (execution.fee * units) / (closing + opening)
    open.pop()
    this.book(trade, units, entryFee, execution, fee)
    this.units += direction * closing
    spend(entries[0]!, closing)
    this.dropSpent()
    return true
  }

  private close(execution: Execution, targets: readonly Entry[] | null): void {
    const { closing, opening, direction } = execution
    // Rows: the oldest first, or under ANY the targets' own.
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
        this.book(trade, units, trade.entryFee, execution, share)
      } else {
        const entryFee = (trade.entryFee * units) / trade.units
        trade.entryFee -= entryFee
        trade.units -= units
        this.book(trade, units, entryFee, execution, share)
        i++
      }
    }
    this.units += direction * (closing - left)
    // Entries: the targets first, then the oldest.
    left = closing - left
    if (targets) for (const entry of targets) left = spend(entry, left)
    for (const entry of this.entries) left = spend(entry, left)
    this.dropSpent()
  }

  /** Without a list or a closure for each fill. */
  private dropSpent(): void {
    const { entries } = this
    let left = 0
    if (this.units !== 0)
      for (let i = 0; i < entries.length; i++) if (entries[i]!.bound > 0) entries[left++] = entries[i]!
    shorten(entries, left)
  }

  private book(
    { entry, fill }: OpenTrade,
    units: number,
    entryFee: number,
    execution: Execution,
    exitFee: number,
  ): void {
    const gross =
      entry.direction * contracts(units) * (execution.money - entry.price) * this.pointValue * execution.rate
    const profit = gross - entryFee - exitFee
    const { closed } = this
    reserveTrade(closed)
    const row = closed.count++
    // A18: of two opposite orders of one moment the one that buys is the entry, whichever came first.
    const isTurned = execution.paired && entry.direction === -1
    closed.entry[row] = isTurned ? this.fills.count : fill
    closed.exit[row] = isTurned ? fill : this.fills.count
    closed.units[row] = units
    closed.entryFee[row] = isTurned ? exitFee : entryFee
    closed.exitFee[row] = isTurned ? entryFee : exitFee
    closed.profit[row] = profit
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
    const { open } = this
    for (let i = 0; i < open.length; i++) {
      const trade = open[i]!
      value += trade.entry.direction * contracts(trade.units) * trade.entry.price
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
