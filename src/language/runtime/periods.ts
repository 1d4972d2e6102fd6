// Which period of any timeframe a bar belongs to, for time(), time_close(), timeframe.change() and session.*.
//
// The grid is `market/calendar.ts`. A session given to time() replaces the symbol's own: a bar is in it if its opening
// time is, and the periods are counted from the session's open and cut at its close (L1).

import type { Calendar, Period } from '../../market/calendar.ts'
import { isIntraday } from '../../market/interval.ts'
import type { Interval } from '../../market/interval.ts'
import { notASession } from '../messages/running.ts'
import { type Grid, intervalNamed } from './grids.ts'
import type { Runtime } from './runtime.ts'

const DAY = 86_400_000

export function symbolCalendar(runtime: Runtime): Calendar {
  return runtime.grids.own.calendar
}

export function chartInterval(runtime: Runtime): Interval {
  return intervalNamed(runtime.interval)
}

/** `''` is the chart's. */
export function intervalOf(runtime: Runtime, timeframe: string | null): Interval {
  return intervalNamed(timeframe === null || timeframe === '' ? runtime.interval : timeframe)
}

/** An instant inside the session of a bar: daily bars may be dated midnight UTC, which in New York is the day before. */
export function instantOf(runtime: Runtime, bar: number): number {
  const time = runtime.bars.time[bar]
  if (time === undefined) return Number.NaN
  if (time % DAY !== 0 || isIntraday(chartInterval(runtime))) return time
  return symbolCalendar(runtime).open(time / DAY)
}

/** The period of `timeframe` that a bar belongs to; null outside the session. */
export function periodOf(
  runtime: Runtime,
  bar: number,
  timeframe: string | null,
  session: string | null,
  zone: string | null,
): Period | null {
  const time = instantOf(runtime, bar)
  if (Number.isNaN(time)) return null
  const name = timeframe === null || timeframe === '' ? runtime.interval : timeframe
  const grid = sessionGrid(runtime, session, zone)
  if (grid !== null) return grid.sessionPeriod(time, name)
  const own = chartInterval(runtime)
  const interval = intervalNamed(name)
  if (own.unit === interval.unit && own.count === interval.count)
    return { start: runtime.bars.time[bar]!, end: runtime.timeClose[bar]! }
  return runtime.grids.own.period(time, name)
}

/** The grid of a session that a script names; null where that is the symbol's own. */
export function sessionGrid(runtime: Runtime, session: string | null, zone: string | null): Grid | null {
  if (session === null) return null
  const where = zone ?? runtime.timezone
  const grid = runtime.grids.lastSession(session, where)
  return grid ?? (namesHours(runtime, session) ? runtime.grids.session(session, where) : null)
}

/**
 * A text without a digit leaves the symbol's own session as it is. Published scripts live on that: a time zone in the
 * place of the session is a common slip.
 */
function namesHours(runtime: Runtime, session: string): boolean {
  if (/\d/.test(session)) return true
  if (session !== '' && session !== 'regular' && session !== 'extended') runtime.warn(notASession(session))
  return false
}
