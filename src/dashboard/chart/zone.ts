// Time zone offsets for a chart's axis, by Intl, since not every browser has Temporal yet.
//
// Intl takes microseconds per call, and a chart has up to 200,000 bars. Offsets change twice a year, so a week whose two
// ends have the same offset is looked up once; only in a week with a change is each hour looked up.

import { memo } from '../../lib/memo.ts'

const HOUR = 3_600_000
const WEEK = 168 * HOUR

/** Wall clock minus UTC, in ms, at an instant. An unknown zone counts as UTC. */
export type OffsetAt = (time: number) => number

export const offsetsOf = memo(100, (zone): OffsetAt =>
  zone === '' || zone === 'UTC' ? () => 0 : remembering(zone),
)

/** The instant at which the zone's wall clock shows `local`. */
export function toUtc(local: number, zone: string): number {
  const offsetAt = offsetsOf(zone)
  const guess = local - offsetAt(local)
  return local - offsetAt(guess)
}

function remembering(zone: string): OffsetAt {
  let format: Intl.DateTimeFormat
  try {
    format = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' })
  } catch {
    return () => 0
  }
  const ask = (time: number): number => {
    const name = format.formatToParts(time).find((part) => part.type === 'timeZoneName')?.value ?? ''
    const match = /GMT([+-])(\d\d):(\d\d)(?::(\d\d))?/.exec(name)
    if (!match) return 0
    const seconds = Number(match[2]) * 3600 + Number(match[3]) * 60 + Number(match[4] ?? 0)
    return (match[1] === '-' ? -1000 : 1000) * seconds
  }
  const edges = new Map<number, number>()
  const hours = new Map<number, number>()
  const remember = (map: Map<number, number>, at: number, step: number): number => {
    let offset = map.get(at)
    if (offset === undefined) map.set(at, (offset = ask(at * step)))
    return offset
  }
  return (time) => {
    const week = Math.floor(time / WEEK)
    const before = remember(edges, week, WEEK)
    return before === remember(edges, week + 1, WEEK)
      ? before
      : remember(hours, Math.floor(time / HOUR), HOUR)
  }
}
