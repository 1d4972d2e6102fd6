// The rules of time zones by Intl, which every browser and Node has. It tells one offset a question and no transitions, so those
// are searched for: week by week, and then by halves to the second.

import { memo } from '../../lib/memo.ts'
import type { Stretch } from '../../market/zone-rules.ts'

const SECOND = 1000
const WEEK = 604_800 * SECOND
/** A stretch need not reach to the next transition. Clocks that change twice a year do so within this. */
const REACH = 30 * WEEK
/** The first and the last instant of a Date. */
const FOREVER = 8_640_000_000_000_000

const formatOf = memo(
  100,
  (timeZone) => new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' }),
)

export function isZone(name: string): boolean {
  try {
    return formatOf(name) !== null
  } catch {
    return false
  }
}

export function stretchAt(zone: string, time: number): Stretch {
  const at = Math.floor(time)
  const offset = offsetAt(zone, at)
  return { from: edge(zone, at, offset, -1), until: edge(zone, at, offset, 1), offset }
}

/** Until where the offset holds, in one direction. */
function edge(zone: string, at: number, offset: number, direction: 1 | -1): number {
  const last = within(at + direction * REACH)
  for (let near = at; near !== last;) {
    const far = direction > 0 ? Math.min(last, near + WEEK) : Math.max(last, near - WEEK)
    if (offsetAt(zone, far) !== offset) return transition(zone, near, far, offset)
    near = far
  }
  return last
}

/** The first instant of the later of two offsets, one of which holds at `near`, the other at `far`. */
function transition(zone: string, near: number, far: number, offset: number): number {
  let [same, other] = [Math.floor(near / SECOND), Math.floor(far / SECOND)]
  while (Math.abs(other - same) > 1) {
    const middle = Math.floor((same + other) / 2)
    if (offsetAt(zone, middle * SECOND) === offset) same = middle
    else other = middle
  }
  return Math.max(same, other) * SECOND
}

const within = (time: number) => Math.max(-FOREVER, Math.min(FOREVER, time))

/** `GMT-04:56:02`, or `GMT` alone. */
function offsetAt(zone: string, time: number): number {
  const parts = formatOf(zone).formatToParts(time)
  const name = parts.find(({ type }) => type === 'timeZoneName')?.value ?? ''
  const [, sign, hours, minutes, seconds = 0] = /GMT([+-])(\d\d):(\d\d)(?::(\d\d))?/.exec(name) ?? []
  if (sign === undefined) return 0
  return (sign === '-' ? -SECOND : SECOND) * (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds))
}
