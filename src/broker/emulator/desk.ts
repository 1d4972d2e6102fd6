// The order desk takes a script's commands and puts the resulting orders into the book. Nothing trades here.
//
// A command settles at once everything that does not depend on the fill: sizes (F1), the flip against a position (C1, C2,
// C7), which parts of the position other closes have claimed (D9, D12), and what may not be placed at all (F12, G1, H).

import {
  ORDER_GIVEN,
  type BrokerDesk,
  type CloseAllRequest,
  type CloseRequest,
  type ExitRequest,
  type OrderRequest,
} from '../../language/broker.ts'
import type { Account } from './account.ts'
import type { Book } from './book.ts'
import {
  exitLevels,
  hasTrigger,
  keptExit,
  noLevels,
  noteTexts,
  reservation,
  shareOf,
  textsOf,
} from './exits.ts'
import { tickOf, toTick, unitsOf } from './numbers.ts'
import {
  HAS_LIMIT,
  HAS_STOP,
  HAS_TRAIL,
  NO_LEVEL,
  blankOrder,
  isMarket,
  overCap,
  type Direction,
  type Entry,
  type Leg,
  type Order,
} from './orders.ts'
import type { RiskLimit } from './risk.ts'
import { budgetOf, unitsFor } from './sizing.ts'
import { issueTrail } from './trailing.ts'
import type { Watch } from './watch.ts'

export class Desk implements BrokerDesk {
  private readonly account: Account
  private readonly book: Book
  private readonly watch: Watch
  /** The default size in units, for settings with a fixed quantity. */
  private readonly defaultUnits: number
  /** What a close of `target` is called in the list, as said last: a text of its own for each was compared letter by letter. */
  private signal = { target: '', text: closeSignal('') }
  /** Written by each call of strategy.exit. */
  private readonly levels = noLevels()

  constructor(account: Account, book: Book, watch: Watch) {
    this.account = account
    this.book = book
    this.watch = watch
    this.defaultUnits = unitsOf(account.settings.defaultQtyValue, account.lot)
  }

  /** Sizes and checks an order, and places it unless it may not be (F12, G1, H). */
  place(kind: 'entry' | 'order', request: OrderRequest): void {
    const { account, watch } = this
    if (watch.halted) return
    const { given } = request
    const id = request.id ?? ''
    const direction = request.direction === 'long' ? 1 : -1
    const { position, settings, mintick, lot } = account
    const price = account.nowPrice()
    let limit = 0
    let stop = 0
    let levels = NO_LEVEL
    if ((given & ORDER_GIVEN.limit) !== 0 && !Number.isNaN(request.limit)) {
      limit = toTick(request.limit / mintick, direction === -1)
      levels |= HAS_LIMIT
    }
    if ((given & ORDER_GIVEN.stop) !== 0 && !Number.isNaN(request.stop)) {
      stop = toTick(request.stop / mintick, direction === 1)
      levels |= HAS_STOP
    }
    const priced = levels !== NO_LEVEL
    const projected = kind === 'entry' ? this.projected(direction) : position.units
    const claimed = kind === 'entry' && position.units * direction < 0 ? this.claimedByCloses() : 0
    let flip = kind === 'entry' && projected * direction < 0 ? Math.abs(projected) : 0
    const isSized = (given & ORDER_GIVEN.qty) !== 0 && Number.isFinite(request.qty)
    const budget =
      isSized || settings.defaultQtyType === 'fixed' ? NaN : budgetOf(settings, account.equityAt(price))
    let units = isSized ? unitsOf(request.qty, lot) : this.defaultUnits
    if (!Number.isNaN(budget)) {
      // F1: market orders are priced with slippage. F2: for the margin check, priced orders are priced at their own level.
      const level = (levels & HAS_LIMIT) === 0 ? stop : limit
      const at = priced ? level * mintick : price + direction * settings.slippage * mintick
      units = unitsFor(settings, budget, at, account.pointValue, account.rate(), lot)
    }
    if (!(units > 0)) {
      if ((isSized ? request.qty : settings.defaultQtyValue) > 0) account.refused.tooSmall++
      return this.withdraw(id)
    }
    // C12: an order to the forbidden side only closes.
    let reduceOnly = kind === 'entry' && this.forbids(direction)
    if (reduceOnly && flip === 0) return
    if (kind === 'entry' && !reduceOnly) units = Math.min(units, watch.roomFor(direction))
    if (units <= 0) return
    if (!reduceOnly && !watch.affords(direction, units, price)) {
      // G1: so does a market reversal that cannot be paid.
      reduceOnly = kind === 'entry' && !priced && flip > 0
      if (!reduceOnly) return
    }
    if (kind === 'entry' && flip > 0) flip = this.settleFlip(id, direction, flip, priced)
    const paired = !priced && flip > 0 && position.units * direction >= 0
    const sequence = this.book.nextSequence()
    // C2: it takes the place of one that waits. Its object serves again, or that of one that has filled, since a new one for
    // each bar of a stop that moves was a third of the time.
    const waiting = this.book.waitingOrder(id)
    if (waiting === undefined) this.book.dropUnopened(id, account.bar)
    const order = waiting ?? this.book.takeSpare() ?? blankOrder()
    requestInto(order, request)
    order.id = id
    order.kind = kind
    order.direction = direction
    order.units = units
    order.flip = flip
    order.budget = priced && !Number.isNaN(budget) ? budget : 0
    order.levels = levels
    order.limit = limit
    order.stop = stop
    order.bar = account.bar
    order.sequence = sequence
    order.afterClose = claimed > 0
    order.paired = paired
    order.reduceOnly = reduceOnly
    if (waiting === undefined) this.book.place(order)
    else {
      this.book.change()
      this.book.touched()
    }
  }

  /** F12: an order for nothing takes back the one of its id. */
  private withdraw(id: string): void {
    const waiting = this.book.waitingOrder(id)
    if (waiting) this.book.take(waiting)
  }

  private forbids(direction: Direction): boolean {
    const { allow } = this.watch.risk
    return allow === 'long' ? direction === -1 : allow === 'short' && direction === 1
  }

  /**
   * C1, C5, C9: the position that an entry will meet, as far as this run of the script has settled it. Closes are
   * subtracted, and earlier market entries to the other side are taken into account (except those beyond the pyramiding
   * limit). So a stop that is placed behind a market entry from flat, and fires bars later, reverses what that entry
   * opened.
   */
  private projected(direction: Direction): number {
    const { position, settings } = this.account
    const { orders, immediates } = this.book
    let units = position.units
    if (orders.length === 0 && immediates.length === 0) return units
    for (const order of immediates) units = closed(units, order)
    let count = position.entries.length
    for (const order of orders) {
      if (order.kind === 'close') units = closed(units, order)
      else if (order.kind === 'entry' && order.direction !== direction && isMarket(order)) {
        if (units * order.direction > 0 && count >= Math.max(1, settings.pyramiding)) continue
        count = units * order.direction > 0 ? count + 1 : 1
        units += order.direction * (order.units + order.flip)
      }
    }
    return units
  }

  /** C2, C7: of several calls on one bar, only one carries the flip. */
  private settleFlip(id: string, direction: Direction, flip: number, priced: boolean): number {
    const { orders } = this.book
    for (let i = 0; i < orders.length; i++) {
      const other = orders[i]!
      if (other.kind !== 'entry' || other.direction !== direction) continue
      if (!this.book.isOfThisRun(other, this.account.bar)) continue
      // C2: an order issued again on the same bar keeps only its own quantity.
      if (other.id === id) return 0
      // C7: with different ids, the last one carries the flip.
      if (!priced && isMarket(other)) other.flip = 0
    }
    return flip
  }

  /** Units that the close() calls of this run of the script will take off the position. */
  private claimedByCloses(): number {
    const { orders, immediates } = this.book
    if (orders.length === 0 && immediates.length === 0) return 0
    let sum = 0
    for (const order of orders) if (order.kind === 'close') sum += order.units
    for (const order of immediates) sum += order.units
    return sum
  }

  /** C3: whether the closes of this run of the script end enough entries for one more. */
  private closesMakeRoom(): boolean {
    const { position, settings } = this.account
    const { orders, immediates } = this.book
    const bound = position.entries.map((entry) => entry.bound)
    for (const order of [...orders, ...immediates]) {
      if (order.kind !== 'close') continue
      let left = order.units
      position.entries.forEach(({ id }, at) => {
        if (order.target !== null && order.target !== id) return
        const taken = Math.min(left, bound[at]!)
        bound[at]! -= taken
        left -= taken
      })
    }
    return bound.filter((units) => units > 0).length < Math.max(1, settings.pyramiding)
  }

  /** D12: units that a reversing market entry of this run of the script takes off the position. */
  private claimedByEntries(): number {
    let sum = 0
    for (const order of this.book.orders)
      if (order.kind === 'entry' && isMarket(order) && order.direction * this.account.position.units < 0)
        sum += order.units + order.flip
    return sum
  }

  close(request: CloseRequest): void {
    const target = request.id ?? ''
    const bound = this.account.position.boundTo(target)
    if (bound === 0) return
    if (this.signal.target !== target) this.signal = { target, text: closeSignal(target) }
    this.placeClose(request, this.signal.text, target, bound, request.qty, request.qtyPercent)
  }

  closeAll(request: CloseAllRequest): void {
    const held = Math.abs(this.account.position.units)
    if (held > 0) this.placeClose(request, 'Close position order', null, held, NaN, NaN)
  }

  private placeClose(
    { comment, alertMessage, immediately, disableAlert, site }: CloseAllRequest,
    signal: string,
    target: string | null,
    bound: number,
    qty: number,
    qtyPercent: number,
  ): void {
    const { account, book } = this
    const { settings, bar, lot } = account
    // D11: with processing on close under FIFO, a later call from the same call site replaces the earlier one of the same
    // bar.
    if (settings.processOrdersOnClose && settings.closeEntriesRule === 'FIFO' && target !== null)
      book.orders = book.orders.filter(
        (one) => !(one.kind === 'close' && one.site === site && one.bar === bar && one.target !== null),
      )
    // D9: units claimed by earlier calls cannot be closed again. D12: nor can those that an entry reverses.
    let left = bound - this.claimedByEntries()
    left -= targeted(book.orders, target) + targeted(book.immediates, target)
    const asked = !Number.isNaN(qty)
      ? unitsOf(qty, lot)
      : !Number.isNaN(qtyPercent) && qtyPercent < 100
        ? shareOf(bound, qtyPercent, lot)
        : left
    const units = Math.min(asked, left)
    if (!(units > 0)) return
    const order = blankOrder()
    order.id = signal
    order.direction = account.position.units > 0 ? -1 : 1
    order.units = units
    order.comment = comment
    order.alertMessage = disableAlert ? null : alertMessage
    order.bar = bar
    order.sequence = book.nextSequence()
    order.target = target
    order.site = site
    if (immediately) book.placeImmediate(order)
    else book.place(order)
  }

  exit(request: ExitRequest): void {
    if (this.watch.halted || !hasTrigger(request)) return
    const { account, book } = this
    const { position, settings, bar } = account
    const id = request.id ?? ''
    const from = request.fromEntry === '' ? null : request.fromEntry
    for (const entry of position.entries)
      if (from === null || entry.id === from) this.issueLeg(id, request, entry)
    // D1, D2: an exit also applies to entries that have not filled yet.
    for (const order of book.orders) {
      // D5: an add that pyramiding will refuse gets no exits, since they would outlive the position that they were computed
      // for.
      if (order.kind === 'close' || order.reduceOnly) continue
      if (overCap(order, position, settings) && !this.closesMakeRoom()) continue
      if (from === null ? position.units * order.direction < 0 : order.id !== from) continue
      const exit = keptExit(request)
      book.awaitEntry({ id, entryId: order.id, exit, bar, sequence: book.nextSequence() })
    }
    if (from === null && (position.units !== 0 || book.templates.length > 0))
      book.stand({ id, entryId: '', exit: keptExit(request), bar, sequence: book.nextSequence() })
    if (book.legs.length > 0) book.touched()
  }

  /** D3, D7: a call makes a leg for each filled entry, or changes the leg that it already has. */
  private issueLeg(id: string, exit: ExitRequest, entry: Entry): void {
    const known = legOf(entry, id)
    if (known?.done) return
    const { account, book } = this
    const { mintick, bar } = account
    const reserved = reservation(exit, entry, id, account.lot)
    if (!known && reserved <= 0) return
    const set = exitLevels(exit, entry, mintick, account.settings.nearerLevelWins, this.levels)
    const { limit, stop } = set
    const levels = set.levels & (HAS_LIMIT | HAS_STOP)
    const now = account.walking ? account.nowTicks : tickOf(account.bars.close[bar]!, mintick)
    const trail =
      (set.levels & HAS_TRAIL) === 0 ? null : issueTrail(known?.trail ?? null, set, now, entry.direction)
    if (known) {
      noteTexts(exit, known.exit)
      const kept = Math.max(known.filled, reserved)
      // Most exits are placed again as they are.
      if (
        kept !== known.reserved ||
        levels !== known.levels ||
        limit !== known.limit ||
        stop !== known.stop ||
        trail !== known.trail
      )
        book.change()
      known.reserved = kept
      known.levels = levels
      known.limit = limit
      known.stop = stop
      known.trail = trail
      known.bar = bar
    } else
      book.addLeg({
        id,
        entry,
        exit: textsOf(exit),
        reserved,
        filled: 0,
        levels,
        limit,
        stop,
        trail,
        bar,
        sequence: book.nextSequence(),
        done: false,
      })
  }

  cancel(id: string): void {
    this.book.cancel(id)
  }

  cancelAll(): void {
    this.book.cancelAll()
  }

  // ——— strategy.risk.* ———

  allowEntryIn(direction: 'all' | 'long' | 'short'): void {
    this.watch.risk.allow = direction
  }

  maxConsLossDays(count: number, _alertMessage: string | null): void {
    this.watch.risk.lossDaysMax = count
    this.book.settle()
  }

  maxDrawdown(value: number, type: RiskLimit['type'], alertMessage: string | null): void {
    this.watch.risk.drawdown = { value, type, alertMessage }
    this.book.settle()
  }

  maxIntradayLoss(value: number, type: RiskLimit['type'], alertMessage: string | null): void {
    this.watch.risk.intradayLoss = { value, type, alertMessage }
    this.book.settle()
  }

  maxIntradayFilledOrders(count: number, _alertMessage: string | null): void {
    const { risk } = this.watch
    // Scripts say it on every bar.
    if (risk.filledOrdersMax === count) return
    risk.filledOrdersMax = count
    this.book.settle()
  }

  maxPositionSize(size: number): void {
    this.watch.risk.positionMax = unitsOf(size, this.account.lot)
  }
}

/** D19: the list shows this for a close without a comment. */
function closeSignal(target: string): string {
  return `Close entry(s) order ${target}`
}

/** D9: units of a target that closes have claimed. */
function targeted(orders: readonly Order[], target: string | null): number {
  let sum = 0
  for (let i = 0; i < orders.length; i++) {
    const one = orders[i]!
    if (one.kind === 'close' && (one.target === target || one.target === null || target === null))
      sum += one.units
  }
  return sum
}

function legOf({ legs }: Entry, id: string): Leg | undefined {
  if (legs !== null) for (let i = 0; i < legs.length; i++) if (legs[i]!.id === id) return legs[i]
  return undefined
}

/** The part of a position that a close leaves. */
function closed(units: number, order: Order): number {
  return units - Math.sign(units) * Math.min(Math.abs(units), order.units)
}

/** What of an order is as the script asked for it. */
function requestInto(order: Order, request: OrderRequest): void {
  order.target = null
  order.triggered = false
  order.ocaName = request.ocaName === '' ? null : request.ocaName
  order.ocaType = request.ocaType ?? 'none'
  order.comment = request.comment
  order.alertMessage = request.disableAlert === true ? null : request.alertMessage
  order.site = request.site
}
