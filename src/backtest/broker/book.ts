// The order book: what waits, and whether anything does. The desk puts orders in, the floor takes them out.

import { ScriptError } from '../../pine/runtime/runtime.ts'
import { removeAt, type ExitTemplate, type Leg, type Order } from './orders.ts'
import type { Watch } from './watch.ts'

/** TradingView keeps 9,000 trades; a script with more orders open at once is making them in a loop. */
const ORDERS_MAX = 10_000

export class Book {
  dirty = false
  /** Anything waits or watches, so the bar has to be walked. */
  active = false
  /** In the order of arrival, never of level. */
  orders: Order[] = []
  templates: ExitTemplate[] = []
  legs: Leg[] = []
  /** Exits without from_entry: they cover what is opened after the call too, until the position closes. */
  standing: ExitTemplate[] = []
  /** Immediate closes, settled after the script (B9). */
  immediates: Order[] = []
  private sequence = 0
  /** Orders numbered up to here were placed in an earlier run of the script on this bar (A10). */
  private placedBefore = 0
  private readonly watch: Watch
  private readonly processOrdersOnClose: boolean

  constructor(watch: Watch, processOrdersOnClose: boolean) {
    this.watch = watch
    this.processOrdersOnClose = processOrdersOnClose
  }

  /** Orders, templates and legs are numbered in the order of the calls that made them. */
  nextSequence(): number {
    return ++this.sequence
  }

  /** Whether the run of the script that is under way placed it. */
  isOfThisRun({ bar, sequence }: Order, now: number): boolean {
    return bar === now && sequence > this.placedBefore
  }

  beginRun(): void {
    this.placedBefore = this.sequence
  }

  get waiting(): number {
    return this.orders.length + this.legs.length + this.immediates.length
  }

  /** C2: an order with the id of one that waits takes its place. */
  place(order: Order): void {
    const { orders } = this
    let index = 0
    while (index < orders.length && (orders[index]!.id !== order.id || orders[index]!.kind === 'close'))
      index++
    if (index < orders.length) orders[index] = order
    else queue(orders, order)
    this.touched()
  }

  placeClose(order: Order): void {
    queue(this.orders, order)
    this.touched()
  }

  placeImmediate(order: Order): void {
    queue(this.immediates, order)
    this.dirty = true
    this.touched()
  }

  /** Removes an order from those that wait; false when something else removed it before. */
  take(order: Order): boolean {
    const index = this.orders.indexOf(order)
    if (index < 0) return false
    removeAt(this.orders, index)
    return true
  }

  addLeg(leg: Leg): void {
    this.legs.push(leg)
    if (leg.entry.legs) leg.entry.legs.push(leg)
    else leg.entry.legs = [leg]
  }

  /** Legs of entries that are gone go with them. */
  dropOrphans(): void {
    if (this.legs.length > 0 && this.legs.some((leg) => leg.entry.bound <= 0))
      this.legs = this.legs.filter((leg) => leg.entry.bound > 0)
  }

  /** C10: entries by their id, exits by theirs; nothing cascades. Closing cancels nothing at all (C11). */
  cancel(id: string): void {
    // Scripts cancel on every bar what is mostly not there.
    if (this.orders.length > 0)
      this.orders = this.orders.filter((order) => order.kind === 'close' || order.id !== id)
    if (this.templates.length > 0) this.templates = this.templates.filter((template) => template.id !== id)
    if (this.standing.length > 0) this.standing = this.standing.filter((template) => template.id !== id)
    this.cancelLegs((leg) => leg.id === id)
    this.settle()
  }

  cancelAll(): void {
    this.orders = []
    this.templates = []
    this.standing = []
    this.cancelLegs(() => true)
    this.settle()
  }

  /** What has fired stays with its entry, for it must not come back (D3). */
  private cancelLegs(which: (leg: Leg) => boolean): void {
    if (this.legs.length === 0) return
    const cancelled = (leg: Leg) => leg.filled === 0 && which(leg)
    for (const { entry } of this.legs.filter(cancelled))
      entry.legs = entry.legs?.filter((leg) => !cancelled(leg)) ?? null
    this.legs = this.legs.filter((leg) => !cancelled(leg))
  }

  /** Trading was stopped: nothing that waited is left, fired exits neither. */
  clear(): void {
    this.orders = []
    this.templates = []
    this.standing = []
    this.legs = []
  }

  touched(): void {
    this.active = true
    if (this.processOrdersOnClose) this.dirty = true
  }

  /** After anything changed: is there something to look at on the next bar? */
  settle(): void {
    this.active =
      this.orders.length > 0 ||
      (this.legs.length > 0 && this.legs.some((leg) => !leg.done)) ||
      this.watch.looksAlways
  }

  // ——— snapshots ———

  state() {
    const { dirty, active, orders, templates, legs, standing, immediates, sequence } = this
    return { dirty, active, orders, templates, legs, standing, immediates, sequence }
  }

  restore(state: ReturnType<Book['state']>): void {
    Object.assign(this, state)
  }
}

function queue(orders: Order[], order: Order): void {
  if (orders.length >= ORDERS_MAX)
    throw new ScriptError(
      `More than ${ORDERS_MAX.toLocaleString('en')} orders wait at once. Cancel old ones, or place fewer on a bar.`,
      'script_limit_exceeded',
    )
  orders.push(order)
}
