// Intervals: how long a bar is, written `<number><unit>` with units s m h d w M (`15m`, `4h`, `1d`, `1M`).
//
// TradingView's own spellings (`60`, `240`, `D`, `1W`, `15S`) are read as well, and each interval has exactly one
// normal form, so that `60`, `60m` and `1h` name the same cached bars. Case matters only for m (minutes) and
// M (months).

import { Problem } from '../lib/problem.ts'

type IntervalUnit = 's' | 'm' | 'h' | 'd' | 'w' | 'M'

export interface Interval {
  readonly count: number
  readonly unit: IntervalUnit
}

/** TradingView's value of `timeframe.in_seconds("1M")`: a twelfth of 365.0004 days. */
const MONTH_MS = 2_628_003_000
const UNIT_MS: Readonly<Record<IntervalUnit, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
  M: MONTH_MS,
}
/** The most that TradingView allows of each unit. Seconds and hours are limited by the day that they must fit into. */
const COUNT_MAX: Readonly<Record<IntervalUnit, number>> = { s: 86_400, m: 1440, h: 24, d: 365, w: 52, M: 12 }

/** null if the text is not an interval. `parseInterval('240')` is 4 hours, `parseInterval('D')` one day. */
export function parseInterval(text: string): Interval | null {
  const match = /^(\d{0,6})([smhdwMSHDW]?)$/.exec(text)
  if (!match || text === '') return null
  const [, digits = '', letter = ''] = match
  // TradingView writes a bare `D`, `W` or `M`; nobody writes a bare `m`, `s` or `h`.
  if (digits === '' && !/[dwMDWS]/.test(letter)) return null
  const count = digits === '' ? 1 : Number(digits)
  const unit = (letter === '' ? 'm' : letter === 'M' ? 'M' : letter.toLowerCase()) as IntervalUnit
  if (count < 1 || count > COUNT_MAX[unit]) return null
  return reduce({ count, unit })
}

/** `normalizeInterval('60')` is `'1h'`; null if the text is not an interval. */
export function normalizeInterval(text: string): string | null {
  const interval = parseInterval(text)
  return interval && formatInterval(interval)
}

/** The normal form of an interval that a user sent, or Problem 422 that names `/interval` of the body or the query. */
export function requireInterval(text: string, where: 'body' | 'query' = 'body', path = '/interval'): string {
  const interval = normalizeInterval(text)
  if (interval !== null) return interval
  const message = 'expected an interval such as 15m, 1h or 1d'
  const field = { in: where, path, code: 'interval', message }
  throw new Problem(422, 'validation_failed', `${where} ${path}: ${message}`, { fields: [field] })
}

export function formatInterval({ count, unit }: Interval): string {
  return `${count}${unit}`
}

/** TradingView's spelling: minutes without a unit, hours as minutes, `15S`, `1D`, `1W`, `1M`. */
export function toTimeframe({ count, unit }: Interval): string {
  switch (unit) {
    case 'm':
      return String(count)
    case 'h':
      return String(count * 60)
    default:
      return `${count}${unit.toUpperCase()}`
  }
}

/** The nominal length, which is exact for seconds to hours. A day may have 23 hours, and a month's length is an average. */
export function intervalMs({ count, unit }: Interval): number {
  return count * UNIT_MS[unit]
}

export function isIntraday({ unit }: Interval): boolean {
  return unit === 's' || unit === 'm' || unit === 'h'
}

/** Compares intervals for sorting, finest first. */
export function compareIntervals(a: Interval, b: Interval): number {
  return intervalMs(a) - intervalMs(b)
}

/**
 * Whether bars of `coarse` can be built from whole bars of `fine`. Intraday bars need a whole number of them. Days, weeks
 * and months start at a session's open, so any intraday interval will do. Months cannot be built from weeks.
 */
export function canBuild(coarse: Interval, fine: Interval): boolean {
  const step = intervalMs(fine)
  if (isIntraday(coarse)) return isIntraday(fine) && intervalMs(coarse) % step === 0
  if (isIntraday(fine)) return true
  if (fine.unit === coarse.unit) return coarse.count % fine.count === 0
  return fine.unit === 'd' && fine.count === 1
}

/** 60 seconds become a minute, and 60 minutes an hour. 24 hours stay hours, since a day starts at the session's open. */
function reduce({ count, unit }: Interval): Interval {
  if (unit === 's' && count % 60 === 0) return reduce({ count: count / 60, unit: 'm' })
  if (unit === 'm' && count % 60 === 0) return { count: count / 60, unit: 'h' }
  return { count, unit }
}
