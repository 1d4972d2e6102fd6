// Trailing stops (rules E1 to E11). Prices in ticks; `side` is the position's: 1 = long.
//
// A trail sleeps until the path touches its activation level. From then on its water mark follows every favourable segment
// of the path, and the stop follows the mark at the given offset. The mark only matters on an adverse segment, so moving it
// at the end of a favourable one is enough.

import type { ExitLevels } from './exits.ts'
import { HAS_OFFSET, type Direction, type Trail } from './orders.ts'

/** E4, E10: a trail that is issued or changed after its entry filled checks the close of the issuing bar. */
export function issueTrail(
  old: Trail | null,
  { levels, activation, offset }: ExitLevels,
  close: number,
  side: Direction,
): Trail {
  const hasOffset = (levels & HAS_OFFSET) !== 0
  if (
    old !== null &&
    old.activation === activation &&
    old.hasOffset === hasOffset &&
    Object.is(old.offset, offset)
  )
    return old
  const beyond = reached(close, activation, side)
  // E4: an armed trail stays armed when it is changed, unless the new level is beyond its mark.
  const stays = old !== null && old.armed && reached(old.mark, activation, side)
  return { activation, offset, hasOffset, armed: beyond || stays, mark: close }
}

/** E8: a bracket that waited for its entry starts at the entry's fill price. */
export function freshTrail({ levels, activation, offset }: ExitLevels, fill: number, side: Direction): Trail {
  const hasOffset = (levels & HAS_OFFSET) !== 0
  return { activation, offset, hasOffset, armed: reached(fill, activation, side), mark: fill }
}

/**
 * The fill price at the open; NaN = it does not fill. An open beyond the stop fills there; one beyond the mark moves the
 * mark, whichever way the path sets out (E3; probes bracket-trail-*: all of the 46 fills that depend on it).
 */
export function trailAtOpen(trail: Trail, open: number, side: Direction): number {
  if (!trail.armed) {
    if (!reached(open, trail.activation, side)) return NaN
    trail.armed = true
    trail.mark = open
    return trail.hasOffset ? NaN : open
  }
  // E5: without an offset it does not follow the price; once it is armed, any open fills it (probe
  // bracket-exit-stop-limit-trail-same-bar-01: 45 of 45).
  if (!trail.hasOffset) return open
  const stop = stopOf(trail, side)
  if (!reached(open, stop, side) || open === stop) return open
  if (reached(open, trail.mark, side)) trail.mark = open
  return NaN
}

/** Where it fills on the way from `at` to `to`; NaN = nowhere. */
export function trailOnSegment(
  trail: Trail,
  at: number,
  to: number,
  favourable: boolean,
  side: Direction,
): number {
  if (favourable) {
    if (trail.armed || trail.hasOffset || !reached(to, trail.activation, side)) return NaN
    return reached(at, trail.activation, side) ? at : trail.activation
  }
  if (!trail.armed) return NaN
  const stop = stopOf(trail, side)
  if (!reached(at, stop, side)) return at
  return reached(to, stop, side) && to !== stop ? NaN : stop
}

/** E1, E2: the end of a favourable segment arms the trail and moves the mark, before an adverse segment tests it. */
export function ratchet(trail: Trail, to: number, side: Direction): void {
  if (trail.armed) {
    if (reached(to, trail.mark, side)) trail.mark = to
  } else if (reached(to, trail.activation, side)) {
    trail.armed = true
    trail.mark = to
  }
}

/** E6: a trail with an explicit offset of 0 has to be armed again on every bar. */
export function endTrailBar(trail: Trail): void {
  if (trail.hasOffset && trail.offset === 0) trail.armed = false
}

/**
 * Whether a bar between the two prices leaves the trail as it is: it neither arms it, moves its mark nor fills it, and its end
 * does not disarm it either.
 */
export function leavesTrail(trail: Trail, low: number, high: number, side: Direction): boolean {
  const best = side === 1 ? high : low
  if (!trail.armed) return !reached(best, trail.activation, side)
  if (!trail.hasOffset || trail.offset === 0) return false
  const worst = side === 1 ? low : high
  const stop = stopOf(trail, side)
  return (
    worst !== stop && reached(worst, stop, side) && (best === trail.mark || !reached(best, trail.mark, side))
  )
}

function stopOf(trail: Trail, side: Direction): number {
  return trail.mark - side * trail.offset
}

/** Whether the price is at the level or past it, in the position's favour. */
function reached(price: number, level: number, side: Direction): boolean {
  return side === 1 ? price >= level : price <= level
}
