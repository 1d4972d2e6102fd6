// Where a segment of the path meets a level, in ticks: the geometry of fills, without order book or money.

import { HAS_LIMIT, HAS_STOP, type Direction, type Leg, type Order } from './orders.ts'
import { trailAtOpen, trailOnSegment } from './trailing.ts'

/** Ranks of what is reached at the same price (A16). */
export const STOP = 0
export const TRAIL = 1
export const LIMIT = 2

/** Where the way from `at` to `to` meets a level that is triggered from below (`up`) or from above; NaN = nowhere. */
export function reach(level: number, at: number, to: number, up: boolean): number {
  if (up) return level <= at ? at : level <= to ? level : NaN
  return level >= at ? at : level >= to ? level : NaN
}

/** B10: a limit fills only once the price went `beyond` ticks past it. */
export function reachLimit(
  limit: number,
  at: number,
  to: number,
  direction: Direction,
  beyond: number,
): number {
  if (beyond === 0) return reach(limit, at, to, direction === -1)
  const level = reach(limit - direction * beyond, at, to, direction === -1)
  if (Number.isNaN(level)) return NaN
  return direction === 1 ? Math.min(limit, at) : Math.max(limit, at)
}

/**
 * Whether the open is at or past the order's level. For a stop-limit order that only triggers it, unless its limit holds
 * too.
 */
export function passed(order: Order, open: number, beyond: number): boolean {
  const { levels } = order
  if ((levels & HAS_STOP) !== 0 && !order.triggered) {
    if (order.direction === 1 ? order.stop > open : order.stop < open) return false
    if ((levels & HAS_LIMIT) === 0) return true
    order.triggered = true
  }
  return (
    (levels & HAS_LIMIT) !== 0 && !Number.isNaN(reachLimit(order.limit, open, open, order.direction, beyond))
  )
}

/** `direction` of the segment: 1 up, -1 down; null = the open, where a trail checks where the bar opened. */
export function reachLeg(
  leg: Leg,
  at: number,
  to: number,
  direction: number | null,
  beyond: number,
): { ticks: number; rank: number } | null {
  const side = leg.entry.direction
  let ticks = NaN
  let rank = STOP
  if ((leg.levels & HAS_STOP) !== 0) ticks = reach(leg.stop, at, to, side === -1)
  if (leg.trail) {
    const trail =
      direction === null
        ? trailAtOpen(leg.trail, at, side)
        : trailOnSegment(leg.trail, at, to, direction * side > 0, side)
    if (!Number.isNaN(trail) && !(Math.abs(ticks - at) <= Math.abs(trail - at))) {
      ticks = trail
      rank = TRAIL
    }
  }
  if ((leg.levels & HAS_LIMIT) !== 0) {
    const limit = reachLimit(leg.limit, at, to, side === 1 ? -1 : 1, beyond)
    if (!Number.isNaN(limit) && !(Math.abs(ticks - at) <= Math.abs(limit - at))) {
      ticks = limit
      rank = LIMIT
    }
  }
  return Number.isNaN(ticks) ? null : { ticks, rank }
}
