// Parses times as files write them: epoch in seconds, ms, µs or ns, and ISO 8601 with its common variants.

import type { Calendar } from './calendar.ts'

/**
 * UTC ms, or NaN if `value` is not a time. A number's size tells its unit (seconds until the year 5138). Text without an
 * offset is UTC. Given a calendar, a bare date is that day's session open, as TradingView dates daily bars.
 */
export function parseTime(value: unknown, calendar: Calendar | null): number {
  if (typeof value === 'number') return epochMs(value)
  if (typeof value !== 'string') return Number.NaN
  const text = value.trim()
  if (/^-?\d+(?:\.\d+)?$/.test(text)) {
    const compact = /^((?:18|19|20|21)\d\d)([01]\d)([0-3]\d)$/.exec(text)
    return compact ? dateOf(compact, calendar) : epochMs(Number(text))
  }
  const match =
    /^(\d{4})[-./](\d{2})[-./](\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(\.\d{1,9})?)?\s*(Z|UTC|GMT|[+-]\d{2}:?\d{2})?)?$/i.exec(
      text,
    )
  if (!match) return Number.NaN
  if (match[4] === undefined) return dateOf(match, calendar)
  const [hour, minute, second] = [Number(match[4]), Number(match[5]), Number(match[6] ?? 0)]
  if (hour > 23 || minute > 59 || second > 59) return Number.NaN
  const fraction = Math.floor(Number(match[7] ?? 0) * 1000)
  return dayOf(match) + ((hour * 60 + minute) * 60 + second) * 1000 + fraction - offsetMs(match[8])
}

/** Guesses the unit of an epoch number from its size. */
export function epochMs(value: number): number {
  const size = Math.abs(value)
  if (size < 1e11) return value * 1000
  if (size < 1e14) return value
  return Math.floor(size < 1e17 ? value / 1e3 : value / 1e6)
}

function dateOf(match: RegExpExecArray, calendar: Calendar | null): number {
  const midnight = dayOf(match)
  return calendar && Number.isFinite(midnight) ? calendar.open(midnight / 86_400_000) : midnight
}

/** Midnight UTC; NaN for 30 February. */
function dayOf(match: RegExpExecArray): number {
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])]
  const time = Date.UTC(year, month - 1, day)
  return new Date(time).getUTCMonth() === month - 1 && day > 0 ? time : Number.NaN
}

function offsetMs(text: string | undefined): number {
  const match = /^([+-])(\d{2}):?(\d{2})$/.exec(text ?? '')
  if (!match) return 0
  return (match[1] === '-' ? -1 : 1) * (Number(match[2]) * 60 + Number(match[3])) * 60_000
}
