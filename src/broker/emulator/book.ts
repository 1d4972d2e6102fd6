// The order book: what waits, and whether anything does. The desk adds orders, the floor removes them.

import { tooManyOrders } from '../../language/messages/failing.ts'
import { removeAt, shorten, type ExitTemplate, type Leg, type Order } from './orders.ts'
import type { QuietRange, Watch } from './watch.ts'

/** TradingView keeps 9,000 trades; a script with more open orders than this makes them in a loop. */
const ORDERS_MAX = 10_000

export class Book {
  dirty = false
  /** Something may wait that did not, or otherwise than at the last note of what rests (resting.ts). */
  changed = true
  /** Something waits or watches, so the bar has to be walked. */
  active = false
  /** Sorted by arrival, never by level. */
  orders: Order[] = []
  templates: ExitTemplate[] = []
  legs: Leg[] = []
  /** Exits without from_entry also cover entries that open after the call, until the position closes. */
  standing: ExitTemplate[] = []
  /** Immediate closes, settled after the script (B9). */
  immediates: Order[] = []
  private spare: Order | null = null
  private sequence = 0
  /** Orders up to this number were placed in an earlier run of the script on this bar (A10). */
  private placedBefore = 0
  private readonly watch: Watch
  private readonly processOrdersOnClose: boolean
  /** While the script leaves what waits as it is, bars between these prices need no look. */
  quiet: QuietRange | null = null
  private readonly quietEnds: () => void

  constructor(watch: Watch, processOrdersOnClose: boolean, quietEnds: () => void) {
    this.watch = watch
    this.processOrdersOnClose = processOrdersOnClose
    this.quietEnds = quietEnds
  }

  change(): void {
    this.changed = true
    if (this.quiet !== null) this.endQuiet()
  }

  /** Something changes, or is looked at. */
  endQuiet(): void {
    this.quiet = null
    this.quietEnds()
  }

  /** The number of the next order, template or leg, which are numbered in the order of the calls that made them. */
  nextSequence(): number {
    return ++this.sequence
  }

  /** Whether the present run of the script placed the order. */
  isOfThisRun({ bar, sequence }: Order, now: number): boolean {
    return bar === now && sequence > this.placedBefore
  }

  beginRun(): void {
    this.placedBefore = this.sequence
  }

  get waiting(): number {
    return this.orders.length + this.legs.length + this.immediates.length
  }

  /** C2: the one that an order of this id replaces. */
  waitingOrder(id: string): Order | undefined {
    const { orders } = this
    for (let i = 0; i < orders.length; i++) {
      const order = orders[i]!
      if (order.kind !== 'close' && order.id === id) return order
    }
    return undefined
  }

  /** An order that waits no more: its object serves for the next one. Nobody may have kept it. */
  free(order: Order): void {
    this.spare = order
  }

  takeSpare(): Order | null {
    const { spare } = this
    this.spare = null
    return spare
  }

  place(order: Order): void {
    queue(this.orders, order)
    this.change()
    this.touched()
  }

  placeImmediate(order: Order): void {
    queue(this.immediates, order)
    this.dirty = true
    this.touched()
  }

  /** An exit without from_entry; one that is issued again goes behind the others. */
  stand(template: ExitTemplate): void {
    const { standing } = this
    const at = standing.findIndex((one) => one.id === template.id)
    if (at >= 0) standing.splice(at, 1)
    standing.push(template)
  }

  /** Removes a waiting order. */
  take(order: Order): void {
    removeAt(this.orders, this.orders.indexOf(order))
    this.change()
  }

  /** Removes the only one that waits. It is good until the next one is placed. */
  dropOnly(): Order {
    const order = this.orders.pop()!
    this.spare = order
    this.changed = false
    this.active = false
    return order
  }

  addLeg(leg: Leg): void {
    this.legs.push(leg)
    this.change()
    if (leg.entry.legs) leg.entry.legs.push(leg)
    else leg.entry.legs = [leg]
  }

  /** Removes the legs of entries that no longer exist. */
  dropOrphans(): void {
    const { legs } = this
    // Asked after every fill, and mostly in vain: a closure for it is a tenth of the fill.
    let left = 0
    for (let i = 0; i < legs.length; i++) {
      const leg = legs[i]!
      if (leg.entry.bound <= 0) continue
      if (left < i) legs[left] = leg
      left++
    }
    shorten(legs, left)
  }

  /** D1: an exit of this id that waits for the entry takes the place of the one before. */
  awaitEntry(template: ExitTemplate): void {
    const { templates } = this
    let at = 0
    for (; at < templates.length; at++)
      if (templates[at]!.id === template.id && templates[at]!.entryId === template.entryId) break
    templates[at] = template
  }

  /** The first exit that waits for the entry, which it does no more. */
  takeAwaiting(entryId: string): ExitTemplate | undefined {
    const { templates } = this
    for (let i = 0; i < templates.length; i++) {
      const template = templates[i]!
      if (template.entryId !== entryId) continue
      removeAt(templates, i)
      return template
    }
    return undefined
  }

  /** D1: exits of earlier bars whose entry has neither filled nor waits any more are not for a new order of its id. */
  dropUnopened(id: string, bar: number): void {
    const { templates } = this
    for (let i = templates.length - 1; i >= 0; i--)
      if (templates[i]!.entryId === id && templates[i]!.bar < bar) removeAt(templates, i)
  }

  /** C10: cancels entries by their id and exits by theirs, without cascading. Closing cancels nothing at all (C11). */
  cancel(id: string): void {
    // Scripts call cancel on every bar, mostly for orders that do not exist.
    const { orders } = this
    let found = this.templates.length > 0 || this.standing.length > 0 || this.legs.length > 0
    for (let i = orders.length - 1; i >= 0; i--) {
      const order = orders[i]!
      if (order.kind === 'close' || order.id !== id) continue
      removeAt(orders, i)
      this.spare = order
      this.change()
      found = true
    }
    if (!found) return
    if (this.templates.length > 0) this.templates = this.templates.filter((template) => template.id !== id)
    if (this.standing.length > 0) this.standing = this.standing.filter((template) => template.id !== id)
    this.cancelLegs(id)
    this.settle()
  }

  cancelAll(): void {
    this.orders = []
    this.templates = []
    this.standing = []
    this.change()
    this.cancelLegs(null)
    this.settle()
  }

  /** Of an id, null = all. A fired leg stays with its entry, because it must not come back (D3). */
  private cancelLegs(id: string | null): void {
    if (this.legs.length === 0) return
    const cancelled = (leg: Leg) => leg.filled === 0 && (id === null || leg.id === id)
    if (!this.legs.some(cancelled)) return
    this.change()
    for (const { entry } of this.legs.filter(cancelled))
      entry.legs = entry.legs?.filter((leg) => !cancelled(leg)) ?? null
    this.legs = this.legs.filter((leg) => !cancelled(leg))
  }

  /** Trading was stopped: removes everything that waits, and fired exits too. */
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

  /** Call it after any change: decides whether the next bar needs a look. */
  settle(): void {
    this.active = this.orders.length > 0 || this.hasLegs() || this.watch.looksAlways
  }

  /** Legs that have not fired. */
  private hasLegs(): boolean {
    const { legs } = this
    for (let i = 0; i < legs.length; i++) if (!legs[i]!.done) return true
    return false
  }

  // ——— snapshots ———

  state() {
    const { dirty, active, orders, templates, legs, standing, immediates, sequence } = this
    return { dirty, active, orders, templates, legs, standing, immediates, sequence }
  }

  restore(state: ReturnType<Book['state']>): void {
    Object.assign(this, state)
    this.changed = true
  }
}

function queue(orders: Order[], order: Order): void {
  if (orders.length >= ORDERS_MAX) throw tooManyOrders(ORDERS_MAX)
  orders.push(order)
}
