// Time zones: from UTC to wall clock and back, fast enough to ask for every one of a million bars.
//
// Who knows the rules (`zone-rules.ts`) takes about a microsecond a question. A zone's offset changes twice a year, so a Zone
// remembers the stretch between two transitions that answered last. The next question nearly always falls into the same
// stretch and costs two comparisons.

import { memo } from '../lib/memo.ts'
import { isZone, type Stretch, stretchAt } from './zone-rules.ts'

export interface Zone {
  readonly name: string
  /** The offset never changes. */
  readonly isFixed: boolean
  /** Wall clock minus UTC, in ms, at this instant. */
  offsetAt(time: number): number
  /**
   * The instant at which the wall clock shows `local`. A time that the clock skips moves on; of a time that it shows twice,
   * the first counts.
   */
  toUtc(local: number): number
}

const DAY = 86_400_000

/**
 * Parses IANA names (`America/New_York`) and Pine's offsets (`UTC`, `GMT+3`, `UTC-05:30`); null if the text is neither. The
 * caller has to resolve words such as `Exchange`.
 */
// Names may be spelled in any mix of cases, so there are more spellings than zones.
export const zoneOf = memo(1000, (name): Zone | null => fixedZone(name) ?? ianaZone(name))

/** `GMT+5`, `UTC-3:30`, `+0530`. */
function fixedZone(name: string): Zone | null {
  if (/^(?:UTC0?|GMT0?|Etc\/UTC|Z)$/.test(name))
    return { name, isFixed: true, offsetAt: () => 0, toUtc: (local) => local }
  const match = /^(?:UTC|GMT)?([+-])(\d{1,2})(?::?(\d{2}))?$/.exec(name)
  if (!match) return null
  const minutes = Number(match[2]) * 60 + Number(match[3] ?? 0)
  if (minutes > 18 * 60) return null
  const offset = (match[1] === '-' ? -1 : 1) * minutes * 60_000
  return { name, isFixed: true, offsetAt: () => offset, toUtc: (local) => local - offset }
}

function ianaZone(name: string): Zone | null {
  if (!isZone(name)) return null
  // The stretches seen so far, latest answer first.
  const stretches: Stretch[] = []
  let from = 0
  let until = 0
  let offset = 0

  function offsetAt(time: number): number {
    if (time >= from && time < until) return offset
    let stretch = stretches.find((one) => time >= one.from && time < one.until)
    if (!stretch) {
      stretch = stretchAt(name, time)
      stretches.push(stretch)
    }
    ;({ from, until, offset } = stretch)
    return offset
  }

  function toUtc(local: number): number {
    const before = offsetAt(local - DAY)
    const after = offsetAt(local + DAY)
    if (before === after) return local - before
    if (offsetAt(local - before) === before) return local - before
    if (offsetAt(local - after) === after) return local - after
    return local - before
  }

  return { name, isFixed: false, offsetAt, toUtc }
}
