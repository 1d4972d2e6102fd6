// Session text: when a market is open, as TradingView writes it.
//
//     0930-1600            one range, on the default days
//     1700-1700:23456      overnight, Monday to Friday (1 = Sunday … 7 = Saturday)
//     0900-1130,1230-1500  a lunch break
//     24x7                 always
//
// An overnight range is filed under the weekday of its last minute: 1700-1700:2 opens on Sunday evening and is
// Monday's session. Minutes are therefore counted from midnight of the day it is filed under, and may be negative.

export interface SessionRange {
  /** Minutes from midnight of the session's day; negative = the evening before. */
  readonly start: number
  /** Exclusive; 1440 = midnight at the end of the day. */
  readonly end: number
}

export interface TradingHours {
  /** Ranges by weekday, Sunday first, each sorted by start; an empty list = closed. */
  readonly days: readonly (readonly SessionRange[])[]
  /** When one session's day ends and the next begins: minutes from midnight, 0 or negative. */
  readonly dayStart: number
}

const MINUTES_A_DAY = 1440
const WEEKDAYS_ONLY = '23456'
export const EVERY_DAY = '1234567'

/** null if the text is not a session. `defaultDays` are Monday to Friday for a symbol, and every day for Pine's `time()`. */
export function parseSession(text: string, defaultDays: string = WEEKDAYS_ONLY): TradingHours | null {
  const trimmed = text.trim()
  const source = trimmed.toLowerCase() === '24x7' ? `0000-0000:${EVERY_DAY}` : trimmed
  const days: SessionRange[][] = [[], [], [], [], [], [], []]
  // Days may be written once, behind the last of several ranges: `0900-1130,1230-1500:23456`.
  for (const group of source.split('|')) {
    const ranges = group.split(',').map((part) => /^(\d{4})-(\d{4})(?::([1-7]{1,7}))?$/.exec(part.trim()))
    let inherited = defaultDays
    for (const match of ranges.toReversed()) {
      const range = match && rangeOf(match[1] ?? '', match[2] ?? '')
      if (!match || !range) return null
      inherited = match[3] ?? inherited
      for (const day of new Set(inherited)) days[Number(day) - 1]?.push(range)
    }
  }
  for (const ranges of days) ranges.sort((a, b) => a.start - b.start)
  return { days, dayStart: Math.min(0, ...days.flat().map((range) => range.start)) }
}

/** Whether the market is open on this weekday (0 = Sunday). */
export function hasSession(session: TradingHours, weekday: number): boolean {
  return (session.days[weekday]?.length ?? 0) > 0
}

function rangeOf(from: string, to: string): SessionRange | null {
  const start = minuteOf(from)
  let end = minuteOf(to)
  if (start === null || end === null || start === MINUTES_A_DAY) return null
  if (end <= start) end += MINUTES_A_DAY
  const shift = Math.floor((end - 1) / MINUTES_A_DAY) * MINUTES_A_DAY
  return { start: start - shift, end: end - shift }
}

function minuteOf(clock: string): number | null {
  const hours = Number(clock.slice(0, 2))
  const minutes = Number(clock.slice(2))
  const total = hours * 60 + minutes
  return minutes < 60 && total <= MINUTES_A_DAY ? total : null
}
