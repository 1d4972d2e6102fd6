// Orders that rest: limits, stops and trailing stops while they wait, so that a replay can show them as dashed lines.
//
// A watched broker notes before and after each bar's fills what waits at which price. The run calls onBar() only while
// something waits; so what is gone when it is called again went on the bar of the last call. Only changes are kept: an order
// that waits a thousand bars is one row. So is one that the script places again on every bar at the same price, since rows
// are told apart by what can be seen of them.

import { BrokerEmulator } from './broker.ts'
import { UNIT } from './numbers.ts'
import { isMarket, type Trail } from './orders.ts'

export const RESTING_TYPES = ['limit', 'stop', 'trail'] as const
export type RestingType = (typeof RESTING_TYPES)[number]

/** Seen at the close of bars `from` to `to` - 1; `to` -1 = to the end. */
export interface RestingOrder {
  readonly id: string
  readonly type: RestingType
  /** Contracts, negative to sell. */
  readonly qty: number
  readonly price: number
  readonly from: number
  to: number
}

interface Waiting {
  readonly id: string
  readonly type: RestingType
  readonly units: number
  readonly ticks: number
  readonly from: number
  /** Of the note it was last seen in. */
  seen: number
}

/** A script that moves stops of many trades on every bar would keep more than anybody looks at. */
const KEPT_MAX = 200_000

export class WatchedBroker extends BrokerEmulator {
  private over: RestingOrder[] = []
  private waiting: Waiting[] = []
  private notes = 0
  /** Bar of the last call. */
  private last = -1

  override onBar(bar: number, rerun: () => void): void {
    // Nothing waits and nothing did: most bars of most runs, on which noting cost 4 ns of 17.
    if (!this.active && this.waiting.length === 0) {
      this.last = bar
      super.onBar(bar, rerun)
      return
    }
    this.note(bar - 1, this.last)
    super.onBar(bar, rerun)
    this.note(bar, bar)
    this.last = bar
  }

  /** By the bar they came. */
  restingOrders(): readonly RestingOrder[] {
    this.note(this.bar, this.last)
    return [...this.over, ...this.waiting.map((one) => this.row(one, -1))].sort((a, b) => a.from - b.from)
  }

  protected override state() {
    const { over, waiting, notes, last } = this
    return { ...super.state(), over, waiting, notes, last }
  }

  /** What is new came on `bar`, what is gone went on `gone`. */
  private note(bar: number, gone: number): void {
    const { orders, legs, waiting } = this
    if (waiting.length === 0 && legs.length === 0 && orders.every(isMarket)) return
    this.notes++
    for (const { id, direction, units, limit, stop, triggered } of orders) {
      // A stop-limit order waits for its stop first.
      if (!Number.isNaN(stop) && !triggered) this.see(id, 'stop', direction * units, stop, bar)
      else if (!Number.isNaN(limit)) this.see(id, 'limit', direction * units, limit, bar)
    }
    for (const leg of legs) {
      if (leg.done) continue
      const units = -leg.entry.direction * (leg.reserved - leg.filled)
      if (!Number.isNaN(leg.limit)) this.see(leg.id, 'limit', units, leg.limit, bar)
      if (!Number.isNaN(leg.stop)) this.see(leg.id, 'stop', units, leg.stop, bar)
      if (leg.trail) this.see(leg.id, 'trail', units, trailLevel(leg.trail, leg.entry.direction), bar)
    }
    let left = 0
    for (const one of waiting) {
      if (one.seen === this.notes) waiting[left++] = one
      // What came and went within one bar was never there at a close.
      else if (one.from < gone && this.over.length < KEPT_MAX) this.over.push(this.row(one, gone))
    }
    waiting.length = left
  }

  private see(id: string, type: RestingType, units: number, ticks: number, bar: number): void {
    const { waiting, notes } = this
    for (const one of waiting)
      if (
        one.seen !== notes &&
        one.ticks === ticks &&
        one.units === units &&
        one.type === type &&
        one.id === id
      ) {
        one.seen = notes
        return
      }
    waiting.push({ id, type, units, ticks, from: bar, seen: notes })
  }

  private row({ id, type, units, ticks, from }: Waiting, to: number): RestingOrder {
    // A tick of 0.1 taken 23 times is 2.3000000000000003: nobody wants to read that, nor to send it.
    const price = Number((ticks * this.mintick).toPrecision(12))
    return { id, type, qty: units / UNIT, price, from, to }
  }
}

/** Where it would sell or buy now; before it is armed, where it would arm. */
function trailLevel({ armed, activation, mark, offset }: Trail, side: 1 | -1): number {
  return armed ? mark - side * (Number.isNaN(offset) ? 0 : offset) : activation
}
