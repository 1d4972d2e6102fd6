// Which period of any timeframe a bar belongs to, for time(), time_close(), timeframe.change() and session.*.
//
// The grid is `market/calendar.ts`. A session given to time() replaces the symbol's own: a bar is in it if its opening
// time is, and the periods are counted from the session's open and cut at its close.

import { Calendar, calendarOf } from '../../market/calendar.ts'
import type { Period } from '../../market/calendar.ts'
import { isIntraday, parseInterval } from '../../market/interval.ts'
import type { Interval } from '../../market/interval.ts'
import { EVERY_DAY, parseSession } from '../../market/session.ts'
import type { SymbolInfo } from '../../market/symbol.ts'
import { zoneNamed } from './date-parts.ts'
import { ScriptError } from './runtime.ts'
import type { Runtime } from './runtime.ts'

const DAY = 86_400_000

/** Calendars answer fastest when asked in time's order by one run; a symbol object is one run's. */
const CALENDARS = new WeakMap<SymbolInfo, Calendar>()
/** By `session|zone`. */
const SESSION_CALENDARS = new Map<string, Calendar>()
const INTERVALS = new Map<string, Interval>()

export function symbolCalendar(runtime: Runtime): Calendar {
  let calendar = CALENDARS.get(runtime.symbol)
  if (calendar === undefined) {
    calendar = calendarOf(runtime.symbol)
    CALENDARS.set(runtime.symbol, calendar)
  }
  return calendar
}

export function chartInterval(runtime: Runtime): Interval {
  return intervalNamed(runtime.interval)
}

/** `''` is the chart's. */
export function intervalOf(runtime: Runtime, timeframe: string | null): Interval {
  return intervalNamed(timeframe === null || timeframe === '' ? runtime.interval : timeframe)
}

export function intervalNamed(text: string): Interval {
  let interval = INTERVALS.get(text)
  if (interval === undefined) {
    const parsed = parseInterval(text)
    if (parsed === null)
      throw new ScriptError(
        `Unknown timeframe '${text}'. Use minutes ("60"), or a number and S, D, W or M ("15S", "1D", "1W", "1M").`,
      )
    interval = parsed
    if (INTERVALS.size > 1000) INTERVALS.clear()
    INTERVALS.set(text, interval)
  }
  return interval
}

/** An instant inside the session of a bar: daily bars may be dated midnight UTC, which in New York is the day before. */
export function instantOf(runtime: Runtime, bar: number): number {
  const time = runtime.bars.time[bar]
  if (time === undefined) return Number.NaN
  if (time % DAY !== 0 || isIntraday(chartInterval(runtime))) return time
  return symbolCalendar(runtime).open(time / DAY)
}

/** The period of `timeframe` a bar is in; null where it is out of the session. */
export function periodOf(
  runtime: Runtime,
  bar: number,
  timeframe: string | null,
  session: string | null,
  zone: string | null,
): Period | null {
  const time = instantOf(runtime, bar)
  if (Number.isNaN(time)) return null
  const interval = intervalOf(runtime, timeframe)
  if (session !== null && session !== '' && session !== 'regular' && session !== 'extended') {
    const calendar = sessionCalendar(session, zone ?? runtime.timezone)
    return calendar.isOpen(time) ? calendar.period(time, interval) : null
  }
  const own = chartInterval(runtime)
  if (own.unit === interval.unit && own.count === interval.count)
    return { start: runtime.bars.time[bar]!, end: runtime.timeClose[bar]! }
  return symbolCalendar(runtime).period(time, interval)
}

function sessionCalendar(session: string, zone: string): Calendar {
  const key = `${session}|${zone}`
  let calendar = SESSION_CALENDARS.get(key)
  if (calendar === undefined) {
    const parsed = parseSession(session, EVERY_DAY)
    if (parsed === null)
      throw new ScriptError(
        `Cannot read the session '${session}'. Write it as "0930-1600" or, with days from 1 (Sunday) to 7, "0930-1600:23456".`,
      )
    calendar = new Calendar(zoneNamed(zone), parsed)
    if (SESSION_CALENDARS.size > 500) SESSION_CALENDARS.clear()
    SESSION_CALENDARS.set(key, calendar)
  }
  return calendar
}
