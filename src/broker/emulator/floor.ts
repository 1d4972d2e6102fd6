// The floor, where orders trade: it decides what fills, how much of it, and what follows. It is given the price; walk.ts
// decides which order's turn it is.

import type { Account } from './account.ts'
import type { Book } from './book.ts'
import { commissionOf } from './commission.ts'
import { exitLevels, noLevels, reservation, textsOf } from './exits.ts'
import { MARGIN_CALL } from './margin.ts'
import { contracts } from './numbers.ts'
import {
  HAS_LIMIT,
  HAS_STOP,
  HAS_TRAIL,
  isMarket,
  overCap,
  type Direction,
  type Entry,
  type ExitTemplate,
  type Leg,
  type Order,
} from './orders.ts'
import type { Execution } from './position.ts'
import { LIMIT, TRAIL, passed } from './reach.ts'
import { RISK_COMMENTS } from './risk.ts'
import { unitsFor } from './sizing.ts'
import { freshTrail } from './trailing.ts'
import type { Watch } from './watch.ts'

/** What the lists of orders and trades show about a fill. Every order is one. */
interface Label {
  readonly id: string
  readonly comment: string | null
  readonly alertMessage: string | null
  /** Only of orders: see `Execution`. */
  readonly paired?: boolean
}

const MARGIN_LABEL: Label = { id: MARGIN_CALL, comment: MARGIN_CALL, alertMessage: null }
const RISK_ID = 'Risk management close'

export class Floor {
  private readonly account: Account
  private readonly book: Book
  private readonly watch: Watch
  private readonly execution: Execution = {
    direction: 1,
    closing: 0,
    opening: 0,
    price: NaN,
    money: NaN,
    fee: NaN,
    rate: NaN,
    bar: 0,
    point: 0,
    id: '',
    comment: null,
    alertMessage: null,
    paired: false,
  }

  /** Written anew for each exit. */
  private readonly levels = noLevels()

  constructor(account: Account, book: Book, watch: Watch) {
    this.account = account
    this.book = book
    this.watch = watch
  }

  // ——— orders ———

  /** Fills an order that is no longer in the book. `slips`: it takes the market's price, which limits do not. */
  fill(order: Order, ticks: number, slips: boolean): void {
    if (this.watch.halted && order.kind !== 'close') return
    const at = slips ? ticks + order.direction * this.account.settings.slippage : ticks
    if (order.kind === 'close') {
      this.fillClose(order, at)
      return
    }
    const units = this.unitsAtFill(order, at)
    if (units <= 0) return
    if (order.kind === 'entry' && !order.reduceOnly && !this.accepts(order, units, at)) return
    if (order.kind === 'order' && !this.affordable(order, units, at)) return
    if (order.reduceOnly) this.reduce(order, order.direction, units, at)
    else this.trade(order, order.direction, units, at)
    if (order.ocaName !== null && order.ocaType !== 'none') this.settleOca(order, units, ticks)
  }

  private fillClose(order: Order, ticks: number): void {
    const units = Math.min(order.units, this.account.position.boundTo(order.target))
    this.reduce(order, order.direction, units, ticks, this.targetsOf(order))
  }

  /** B9: the list shows the raw close, but the money includes slippage. */
  fillImmediate(order: Order, close: number): void {
    const { position, settings, mintick } = this.account
    const direction: Direction = position.units > 0 ? -1 : 1
    const units = Math.min(order.units, position.boundTo(order.target))
    const ticks = close + direction * settings.slippage
    this.reduce(order, direction, units, ticks, this.targetsOf(order), close * mintick)
  }

  private targetsOf({ target }: Order): Entry[] | null {
    const { entries } = this.account.position
    if (target === null || (this.holdsOne && entries[0]!.id === target)) return null
    return entries.filter((one) => one.id === target)
  }

  /** Of one trade there is nothing to choose, and `Position.closeOnly` need not look. */
  private get holdsOne(): boolean {
    const { entries, open } = this.account.position
    return entries.length === 1 && open.length === 1
  }

  /** F2, C1, C9: the quantity of the order at this price, including its flip. */
  private unitsAtFill(order: Order, ticks: number): number {
    const { position, settings, mintick, pointValue, lot } = this.account
    const held = position.units
    // F2: a stop is sized at its level, also where the open has gone past it.
    const sizedAt = (order.levels & (HAS_STOP | HAS_LIMIT)) === HAS_STOP ? order.stop : ticks
    const wanted =
      order.budget === 0
        ? order.units
        : unitsFor(settings, order.budget, sizedAt * mintick, pointValue, this.account.rate(), lot)
    if (order.kind === 'order') return wanted
    const raw = Math.min(wanted, this.watch.roomFor(order.direction))
    if (order.reduceOnly) return held * order.direction < 0 ? Math.min(order.flip, Math.abs(held)) : 0
    // C9: a priced order keeps the quantity that it was to close even if the position is gone by now.
    return held * order.direction < 0 || !isMarket(order) ? raw + order.flip : raw
  }

  /** C3, C5, G2: pyramiding and margin are judged when the order is processed. */
  private accepts(order: Order, units: number, ticks: number): boolean {
    return this.account.position.units * order.direction > 0
      ? !this.refuses(order)
      : this.affordable(order, units, ticks)
  }

  /**
   * C3: pyramiding only matters while an order is new. One that has rested longer fills however many entries there are by
   * then (probe order-dual-stop-both-touch-priority-01: two resting stops fill on one bar with pyramiding 1).
   */
  refuses(order: Order): boolean {
    const { bar, position, settings } = this.account
    return order.bar >= bar - 1 && overCap(order, position, settings)
  }

  private affordable(order: Order, units: number, ticks: number): boolean {
    const { account } = this
    const held = account.position.units
    // C8, D13: these orders fill, and a margin call trims them.
    if (order.afterClose || held * order.direction > 0) return true
    const opening = units - Math.abs(held)
    if (opening <= 0) return true
    const price = ticks * account.mintick
    const value = price * account.pointValue * account.rate()
    let required = contracts(opening) * value * account.margin(order.direction)
    // C5: what it flips was opened a moment ago and still needs its own margin; an older position frees its margin first
    // (C6).
    if (order.paired) required += contracts(Math.abs(held)) * value * account.margin(held > 0 ? 1 : -1)
    return account.pays(required, price)
  }

  /**
   * D16. An order that executes on the same tick can be neither cancelled nor reduced (TradingView's reference,
   * strategy.oca).
   */
  private settleOca(filled: Order, units: number, ticks: number): void {
    const { book } = this
    const beyond = this.account.settings.fillLimitsAssumption
    for (const other of book.orders.filter((one) => one.ocaName === filled.ocaName)) {
      if (isMarket(other) || passed(other, ticks, beyond)) continue
      if (filled.ocaType === 'cancel') book.take(other)
      else {
        other.units -= units
        if (other.units <= 0) book.take(other)
      }
    }
  }

  // ——— exits ———

  fillLeg(leg: Leg, ticks: number, rank: number): void {
    const direction: Direction = leg.entry.direction === 1 ? -1 : 1
    const units = Math.min(leg.reserved - leg.filled, leg.entry.bound)
    leg.done = true
    leg.filled += units
    const at = rank === LIMIT ? ticks : ticks + direction * this.account.settings.slippage
    this.reduce(labelOfLeg(leg, rank), direction, units, at, this.holdsOne ? null : [leg.entry])
    // D16: other exits with the same OCA name shrink by what this one closed.
    const { ocaName } = leg.exit
    if (ocaName !== null && ocaName !== '')
      for (const other of this.book.legs)
        if (other !== leg && !other.done && other.exit.ocaName === ocaName && other.entry === leg.entry)
          other.reserved = Math.max(other.filled, other.reserved - units)
  }

  /**
   * D14: if a stop entry reversed the position through the same gap, the position's exit fills too and opens under its own
   * id.
   */
  fillOrphan(leg: Leg, ticks: number): void {
    leg.done = true
    const units = leg.reserved - leg.filled
    const { comment, alertMessage } = leg.exit
    const label = { id: leg.id, comment, alertMessage }
    this.trade(label, leg.entry.direction === 1 ? -1 : 1, units, ticks, true)
  }

  /** D1, D3: binds the exits that waited for this entry, which may fill at the same open (D18). */
  private bindTemplates(entry: Entry): void {
    const { book } = this
    for (let one = book.takeAwaiting(entry.id); one !== undefined; one = book.takeAwaiting(entry.id))
      this.bindTemplate(one, entry)
    for (const template of book.standing)
      if (!entry.legs?.some((leg) => leg.id === template.id)) this.bindTemplate(template, entry)
  }

  private bindTemplate({ exit, id, bar, sequence }: ExitTemplate, entry: Entry): void {
    const { mintick, settings, lot } = this.account
    const reserved = reservation(exit, entry, id, lot)
    if (reserved <= 0) return
    const set = exitLevels(exit, entry, mintick, settings.nearerLevelWins, this.levels)
    const { limit, stop } = set
    const fill = Math.round(entry.price / mintick)
    this.book.addLeg({
      id,
      entry,
      exit: textsOf(exit),
      reserved,
      filled: 0,
      levels: set.levels & (HAS_LIMIT | HAS_STOP),
      limit,
      stop,
      trail: (set.levels & HAS_TRAIL) === 0 ? null : freshTrail(set, fill, entry.direction),
      bar,
      sequence,
      done: false,
    })
  }

  // ——— what the watch calls for ———

  /** G3. */
  callMargin(ticks: number): void {
    const units = this.watch.unitsCalled(ticks)
    if (units <= 0) return
    this.watch.marginCalls++
    const direction: Direction = this.account.position.units > 0 ? -1 : 1
    this.reduce(MARGIN_LABEL, direction, units, ticks + direction * this.account.settings.slippage)
  }

  checkIntradayLoss(ticks: number): void {
    if (this.watch.intradayLossReached(ticks)) this.stopTrading(ticks, RISK_COMMENTS.intradayLoss, 'day')
  }

  checkDrawdown(ticks: number): void {
    if (this.watch.drawdownReached(ticks)) this.stopTrading(ticks, RISK_COMMENTS.drawdown, 'forever')
  }

  stopTrading(ticks: number, comment: string, until: 'day' | 'forever'): void {
    this.watch.risk.halted = until
    this.book.clear()
    const held = this.account.position.units
    if (held !== 0)
      this.reduce({ id: RISK_ID, comment, alertMessage: null }, held > 0 ? -1 : 1, Math.abs(held), ticks)
    this.book.settle()
  }

  // ——— fills ———

  /** Closes what is against the order, and opens with the rest. `first`: see `Position.execute`. */
  private trade(label: Label, direction: Direction, units: number, ticks: number, first = false): void {
    const closing = this.closable(direction, units)
    const entry = this.execute(label, direction, closing, units - closing, ticks, null, first, NaN)
    if (entry && !first) this.bindTemplates(entry)
  }

  /**
   * Only closes. `targets` are the entries that it is meant for, null = the oldest; `shown` is a price for the list alone.
   */
  private reduce(
    label: Label,
    direction: Direction,
    units: number,
    ticks: number,
    targets: readonly Entry[] | null = null,
    shown = NaN,
  ): void {
    this.execute(label, direction, this.closable(direction, units), 0, ticks, targets, false, shown)
  }

  private closable(direction: Direction, units: number): number {
    const held = this.account.position.units
    return held * direction < 0 ? Math.min(units, Math.abs(held)) : 0
  }

  /** Books a fill at a tick (B1), and does what follows from it. */
  private execute(
    label: Label,
    direction: Direction,
    closing: number,
    opening: number,
    ticks: number,
    targets: readonly Entry[] | null,
    first: boolean,
    shown: number,
  ): Entry | null {
    if (closing + opening <= 0) return null
    const { account, book, execution } = this
    const { position } = account
    const held = position.units
    const price = ticks * account.mintick
    const rate = account.rate()
    execution.direction = direction
    execution.closing = closing
    execution.opening = opening
    execution.price = Number.isNaN(shown) ? price : shown
    execution.money = price
    execution.fee = commissionOf(account.settings, closing + opening, price, account.pointValue, rate)
    execution.rate = rate
    execution.bar = account.bar
    execution.point = account.point
    execution.id = label.id
    execution.comment = label.comment
    execution.alertMessage = label.alertMessage
    execution.paired = label.paired === true
    const entry = position.execute(execution, targets, first)
    if (closing > 0) {
      book.dropOrphans()
      if (position.units * held <= 0 && book.standing.length > 0) book.standing = []
    }
    this.watch.setCallRange()
    const stop = this.watch.countFilled(ticks, entry !== null)
    if (!Number.isNaN(stop)) this.stopTrading(stop, RISK_COMMENTS.filledOrders, 'day')
    return entry
  }
}

function labelOfLeg({ id, exit }: Leg, rank: number): Label {
  const isLimit = rank === LIMIT
  const isTrail = rank === TRAIL
  const comment = isLimit ? exit.commentProfit : isTrail ? exit.commentTrailing : exit.commentLoss
  const alert = isLimit ? exit.alertProfit : isTrail ? exit.alertTrailing : exit.alertLoss
  return { id, comment: comment ?? exit.comment, alertMessage: alert ?? exit.alertMessage }
}
