// The order desk: takes a script's commands and keeps what waits. Nothing trades here; broker.ts walks the bars.
//
// Commands settle at once what does not depend on the fill: sizes (F1), the flip against a position (C1, C2, C7),
// which closes are already spoken for (D9, D12), and what may not be placed at all (F12, G1, H).

import type { ExitOrder, OcaType } from '../../pine/broker.ts'
import { ScriptError } from '../../pine/runtime/runtime.ts'
import { Account, type BrokerOptions } from './account.ts'
import { exitLevels, hasTrigger, reservation } from './exits.ts'
import { floorToLot, tickAbove, tickBelow, tickOf, unitsOf } from './numbers.ts'
import { isMarket, type Direction, type Entry, type ExitTemplate, type Leg, type Order } from './orders.ts'
import { calmRisk, watches, type RiskState } from './risk.ts'
import { budgetOf, unitsFor } from './sizing.ts'
import { issueTrail } from './trailing.ts'

/** TradingView keeps 9,000 trades; a script with more orders open at once is making them in a loop. */
const ORDERS_MAX = 10_000

export class OrderDesk extends Account {
  busy = false
  dirty = false
  /** In the order of arrival, never of level. */
  protected orders: Order[] = []
  protected templates: ExitTemplate[] = []
  protected legs: Leg[] = []
  /** Exits without from_entry: they cover what is opened after the call too, until the position closes. */
  protected standing: ExitTemplate[] = []
  /** Immediate closes, settled after the script (B9). */
  protected immediates: Order[] = []
  protected risk: RiskState
  protected sequence = 0
  /** Anything waits or watches, so the bar has to be walked. */
  protected active = false
  /** Prices at or beyond which the position would be called for margin. */
  protected callBelow = -Infinity
  protected callAbove = Infinity

  constructor(options: BrokerOptions) {
    super(options)
    this.risk = calmRisk(options.settings.initialCapital)
  }

  entry(
    id: string,
    direction: Direction,
    qty: number,
    limit: number,
    stop: number,
    ocaName: string | null,
    ocaType: OcaType,
    comment: string | null,
    alertMessage: string | null,
    disableAlert: boolean,
    site: number,
  ): void {
    const alert = disableAlert ? null : alertMessage
    const order = this.newOrder(
      'entry',
      id,
      direction,
      qty,
      limit,
      stop,
      ocaName,
      ocaType,
      comment,
      alert,
      site,
    )
    if (order) this.place(order)
  }

  order(
    id: string,
    direction: Direction,
    qty: number,
    limit: number,
    stop: number,
    ocaName: string | null,
    ocaType: OcaType,
    comment: string | null,
    alertMessage: string | null,
    disableAlert: boolean,
    site: number,
  ): void {
    const alert = disableAlert ? null : alertMessage
    const order = this.newOrder(
      'order',
      id,
      direction,
      qty,
      limit,
      stop,
      ocaName,
      ocaType,
      comment,
      alert,
      site,
    )
    if (order) this.place(order)
  }

  /** Sizes and checks an order; null = it is not placed (F12, G1, H). */
  private newOrder(
    kind: 'entry' | 'order',
    id: string,
    direction: Direction,
    qty: number,
    limit: number,
    stop: number,
    ocaName: string | null,
    ocaType: OcaType,
    comment: string | null,
    alertMessage: string | null,
    site: number,
  ): Order | null {
    if (this.risk.halted !== 'no') return null
    const { position, settings } = this
    const price = this.nowPrice()
    const limitTicks = direction === 1 ? tickBelow(limit / this.mintick) : tickAbove(limit / this.mintick)
    const stopTicks = direction === 1 ? tickAbove(stop / this.mintick) : tickBelow(stop / this.mintick)
    const priced = !Number.isNaN(limitTicks) || !Number.isNaN(stopTicks)
    const projected = kind === 'entry' ? this.projected(direction) : position.units
    const forbidden =
      this.risk.allow === 'long' ? direction === -1 : this.risk.allow === 'short' && direction === 1
    const claimed = kind === 'entry' && position.units * direction < 0 ? this.claimedByCloses() : 0
    let flip = kind === 'entry' && projected * direction < 0 ? Math.abs(projected) : 0
    let units: number
    let budget = NaN
    if (Number.isNaN(qty)) {
      if (settings.defaultQtyType !== 'fixed') budget = budgetOf(settings, this.equityAt(price))
      if (Number.isNaN(budget)) units = unitsOf(settings.defaultQtyValue, this.lot)
      else {
        // F1: market orders are priced with slippage; F2: priced ones at their own level, for the margin check.
        const at = !priced
          ? price + direction * settings.slippage * this.mintick
          : (Number.isNaN(limitTicks) ? stopTicks : limitTicks) * this.mintick
        units = unitsFor(settings, budget, at, this.pointValue, this.rate(), this.lot)
        if (!priced) budget = NaN
      }
    } else units = unitsOf(qty, this.lot)
    if (!(units > 0)) return null
    // C12: the disallowed side only closes.
    const reduceOnly = kind === 'entry' && forbidden
    if (reduceOnly && flip === 0) return null
    if (kind === 'entry' && !reduceOnly) units = Math.min(units, this.roomFor(direction))
    if (units <= 0) return null
    if (!reduceOnly && !this.withinMargin(direction, units, price)) return null
    if (kind === 'entry' && flip > 0) flip = this.settleFlip(id, direction, flip, priced)
    return {
      kind,
      id,
      direction,
      units,
      flip,
      budget,
      limit: limitTicks,
      stop: stopTicks,
      triggered: false,
      ocaName,
      ocaType,
      comment,
      alertMessage,
      bar: this.bar,
      sequence: ++this.sequence,
      afterClose: claimed > 0,
      paired: !priced && flip > 0 && position.units * direction >= 0,
      target: null,
      reduceOnly,
      site,
    }
  }

  /**
   * C1, C5, C9: the position an entry will meet, as far as this script run has settled it: closes are taken off, and
   * market entries the other way that were placed before it are reckoned with (not those over the pyramiding cap). So a
   * stop that is placed behind a market entry from flat, and fires bars later, reverses what that entry opened.
   */
  private projected(direction: Direction): number {
    let units = this.position.units
    if (this.orders.length === 0 && this.immediates.length === 0) return units
    let count = this.position.entries.length
    for (const order of this.immediates.concat(this.orders)) {
      if (order.kind === 'close') units -= Math.sign(units) * Math.min(Math.abs(units), order.units)
      else if (order.kind === 'entry' && order.direction !== direction && isMarket(order)) {
        if (units * order.direction > 0 && count >= Math.max(1, this.settings.pyramiding)) continue
        count = units * order.direction > 0 ? count + 1 : 1
        units += order.direction * (order.units + order.flip)
      }
    }
    return units
  }

  /** C2, C7: of several calls on one bar only one carries the flip. */
  private settleFlip(id: string, direction: Direction, flip: number, priced: boolean): number {
    for (const other of this.orders) {
      if (other.kind !== 'entry' || other.direction !== direction || other.bar !== this.bar) continue
      // C2: re-issued on the same bar, the order keeps only its own quantity.
      if (other.id === id) return 0
      // C7: with different ids the flip belongs to the last.
      if (!priced && isMarket(other)) other.flip = 0
    }
    return flip
  }

  /** C2: an order with the id of one that waits takes its place. */
  private place(order: Order): void {
    const index =
      this.orders.length === 0
        ? -1
        : this.orders.findIndex((other) => other.id === order.id && other.kind !== 'close')
    if (index >= 0) this.orders[index] = order
    else this.queue(this.orders, order)
    this.touched()
  }

  private queue(orders: Order[], order: Order): void {
    if (orders.length >= ORDERS_MAX)
      throw new ScriptError(
        `More than ${ORDERS_MAX.toLocaleString('en')} orders wait at once. Cancel old ones, or place fewer on a bar.`,
        'script_limit_exceeded',
      )
    orders.push(order)
  }

  /** Units that close() calls of this script run will take off the position. */
  private claimedByCloses(): number {
    let sum = 0
    for (const order of this.orders) if (order.kind === 'close') sum += order.units
    for (const order of this.immediates) sum += order.units
    return sum
  }

  /** D12: units a reversing market entry of this script run takes off the position. */
  private claimedByEntries(): number {
    let sum = 0
    for (const order of this.orders)
      if (order.kind === 'entry' && isMarket(order) && order.direction * this.position.units < 0)
        sum += order.units + order.flip
    return sum
  }

  /** What strategy.risk.max_position_size leaves an entry of this direction. */
  protected roomFor(direction: Direction): number {
    const held = this.position.units * direction > 0 ? Math.abs(this.position.units) : 0
    return Math.max(0, this.risk.positionMax - held)
  }

  /** D5: an add that pyramiding will refuse gets no exits: they would outlive the position they were computed for. */
  protected overCap(order: Order): boolean {
    const { units, entries } = this.position
    return (
      order.kind === 'entry' &&
      units * order.direction > 0 &&
      // An order placed against a position reverses, whatever became of that position since
      // (probe order-opposite-entry-close-same-pass-01: the second short of two fills, and twice its quantity).
      order.flip === 0 &&
      entries.length >= Math.max(1, this.settings.pyramiding)
    )
  }

  close(
    id: string,
    comment: string | null,
    qty: number,
    qtyPercent: number,
    alertMessage: string | null,
    immediately: boolean,
    disableAlert: boolean,
    site: number,
  ): void {
    const bound = this.position.boundTo(id)
    if (bound === 0) return
    // D19: what the list calls a close that has no comment.
    const signal = `Close entry(s) order ${id}`
    this.placeClose(
      signal,
      id,
      bound,
      comment,
      qty,
      qtyPercent,
      disableAlert ? null : alertMessage,
      immediately,
      site,
    )
  }

  closeAll(
    comment: string | null,
    alertMessage: string | null,
    immediately: boolean,
    disableAlert: boolean,
    site: number,
  ): void {
    const held = Math.abs(this.position.units)
    if (held === 0) return
    const alert = disableAlert ? null : alertMessage
    this.placeClose('Close position order', null, held, comment, NaN, NaN, alert, immediately, site)
  }

  private placeClose(
    signal: string,
    target: string | null,
    bound: number,
    comment: string | null,
    qty: number,
    qtyPercent: number,
    alertMessage: string | null,
    immediately: boolean,
    site: number,
  ): void {
    const { settings } = this
    // D11: processed on close under FIFO, a later call of one call site replaces the earlier of the same bar.
    if (settings.processOrdersOnClose && settings.closeEntriesRule === 'FIFO' && target !== null)
      this.orders = this.orders.filter(
        (one) => !(one.kind === 'close' && one.site === site && one.bar === this.bar && one.target !== null),
      )
    // D9: what earlier calls have targeted is not there to be closed again. D12: neither is what an entry reverses.
    let left = bound - this.claimedByEntries()
    for (const one of [...this.orders, ...this.immediates])
      if (one.kind === 'close' && (one.target === target || one.target === null || target === null))
        left -= one.units
    const asked = !Number.isNaN(qty)
      ? unitsOf(qty, this.lot)
      : !Number.isNaN(qtyPercent) && qtyPercent < 100
        ? floorToLot(Math.floor((bound * qtyPercent) / 100 + 1e-6), this.lot)
        : left
    const units = Math.min(asked, left)
    if (!(units > 0)) return
    const order: Order = {
      kind: 'close',
      id: signal,
      direction: this.position.units > 0 ? -1 : 1,
      units,
      flip: 0,
      budget: NaN,
      limit: NaN,
      stop: NaN,
      triggered: false,
      ocaName: null,
      ocaType: 'none',
      comment,
      alertMessage,
      bar: this.bar,
      sequence: ++this.sequence,
      afterClose: false,
      paired: false,
      target,
      reduceOnly: true,
      site,
    }
    if (immediately) {
      this.queue(this.immediates, order)
      this.dirty = true
    } else this.queue(this.orders, order)
    this.touched()
  }

  exit(id: string, exit: ExitOrder, _site: number): void {
    if (this.risk.halted !== 'no' || !hasTrigger(exit)) return
    const { position } = this
    const from = exit.fromEntry === '' ? null : exit.fromEntry
    const alert = exit.disableAlert
      ? { ...exit, alertMessage: null, alertLoss: null, alertProfit: null, alertTrailing: null }
      : exit
    for (const entry of position.entries)
      if (from === null || entry.id === from) this.issueLeg(id, alert, entry)
    // D1, D2: and to entries that have not filled yet.
    for (const order of this.orders) {
      if (order.kind === 'close' || order.reduceOnly || this.overCap(order)) continue
      if (from === null ? position.units * order.direction < 0 : order.id !== from) continue
      const template = { id, entryId: order.id, exit: alert, bar: this.bar, sequence: ++this.sequence }
      const index = this.templates.findIndex((one) => one.id === id && one.entryId === order.id)
      if (index >= 0) this.templates[index] = template
      else this.templates.push(template)
    }
    if (from === null && (position.units !== 0 || this.templates.length > 0)) {
      const template = { id, entryId: '', exit: alert, bar: this.bar, sequence: ++this.sequence }
      this.standing = [...this.standing.filter((one) => one.id !== id), template]
    }
    if (this.legs.length > 0) this.touched()
  }

  /** D3, D7: a call makes a leg for each filled entry, or changes the one that is there. */
  private issueLeg(id: string, exit: ExitOrder, entry: Entry): void {
    const known = entry.legs?.find((leg) => leg.id === id)
    if (known?.done) return
    const reserved = reservation(exit, entry, id, this.lot)
    if (!known && reserved <= 0) return
    const { limit, stop, activation, offset } = exitLevels(
      exit,
      entry,
      this.mintick,
      this.settings.nearerLevelWins,
    )
    const now = this.walking ? this.nowTicks : tickOf(this.bars.close[this.bar]!, this.mintick)
    const trail = Number.isNaN(activation)
      ? null
      : issueTrail(known?.trail ?? null, activation, offset, now, entry.direction)
    if (known) {
      known.exit = exit
      known.reserved = Math.max(known.filled, reserved)
      known.limit = limit
      known.stop = stop
      known.trail = trail
      known.bar = this.bar
    } else
      this.addLeg({
        id,
        entry,
        exit,
        reserved,
        filled: 0,
        limit,
        stop,
        trail,
        bar: this.bar,
        sequence: ++this.sequence,
        done: false,
      })
  }

  protected addLeg(leg: Leg): void {
    this.legs.push(leg)
    if (leg.entry.legs) leg.entry.legs.push(leg)
    else leg.entry.legs = [leg]
  }

  /** Cancels exits; what has fired stays, for it must not come back (D3). */
  private dropLegs(which: (leg: Leg) => boolean): void {
    if (this.legs.length === 0) return
    const dropped = (leg: Leg) => leg.filled === 0 && which(leg)
    for (const { entry } of this.legs.filter(dropped))
      entry.legs = entry.legs?.filter((leg) => !dropped(leg)) ?? null
    this.legs = this.legs.filter((leg) => !dropped(leg))
  }

  /** C10: entries by their id, exits by theirs; nothing cascades. Closing cancels nothing at all (C11). */
  cancel(id: string): void {
    // Scripts cancel on every bar what is mostly not there.
    if (this.orders.length > 0)
      this.orders = this.orders.filter((order) => order.kind === 'close' || order.id !== id)
    if (this.templates.length > 0) this.templates = this.templates.filter((template) => template.id !== id)
    if (this.standing.length > 0) this.standing = this.standing.filter((template) => template.id !== id)
    this.dropLegs((leg) => leg.id === id)
    this.settle()
  }

  cancelAll(): void {
    this.orders = []
    this.templates = []
    this.standing = []
    this.dropLegs(() => true)
    this.settle()
  }

  // ——— strategy.risk.* ———

  allowEntryIn(direction: 'all' | 'long' | 'short'): void {
    this.risk.allow = direction
  }

  maxConsLossDays(count: number, _alertMessage: string | null): void {
    this.risk.lossDaysMax = count
    this.settle()
  }

  maxDrawdown(value: number, type: 'percent_of_equity' | 'cash', alertMessage: string | null): void {
    this.risk.drawdown = { value, type, alertMessage }
    this.settle()
  }

  maxIntradayLoss(value: number, type: 'percent_of_equity' | 'cash', alertMessage: string | null): void {
    this.risk.intradayLoss = { value, type, alertMessage }
    this.settle()
  }

  maxIntradayFilledOrders(count: number, _alertMessage: string | null): void {
    this.risk.filledOrdersMax = count
    this.settle()
  }

  maxPositionSize(size: number): void {
    this.risk.positionMax = unitsOf(size, this.lot)
  }

  protected touched(): void {
    this.active = true
    this.busy = true
    if (this.settings.processOrdersOnClose) this.dirty = true
  }

  /** After anything changed: is there something to look at on the next bar? */
  protected settle(): void {
    this.active =
      this.orders.length > 0 ||
      (this.legs.length > 0 && this.legs.some((leg) => !leg.done)) ||
      watches(this.risk)
    this.busy = this.active || this.callBelow !== -Infinity || this.callAbove !== Infinity
  }
}
