// The calendar of a symbol: which bar, of any interval, contains an instant.
//
// Bars follow the exchange's wall clock, as TradingView's do:
// - an intraday bar counts from the open of its session range and is cut at that range's close, so four-hour bars
//   of 0930-1600 start at 9:30 and 13:30, and the second lasts until 16:00;
// - a day is a session, not midnight to midnight: 1700-1700 New York opens Monday's bar on Sunday evening;
// - weeks start on Monday, and months with the first session day of the month;
// - bars of several days, weeks or months count from the start of the year. Checked on 20,017 bars of EURUSD
//   (`timeframe.change` of 2D and 3W over a New Year): days count session weekdays from 1 January, holidays
//   included; weeks count from the first Monday of the year, and one that began in December stays with the old year;
// - the half days of the stock exchanges in New York end at 13:00 (half-days.ts).

import { memo } from '../lib/memo.ts'
import { earlyCloseInNewYork } from './half-days.ts'
import { type Interval, intervalMs, isIntraday } from './interval.ts'
import { hasSession, parseSession, type TradingHours, type SessionRange } from './session.ts'
import type { SymbolInfo } from './symbol.ts'
import { type Zone, zoneOf } from './zone.ts'

const MINUTE = 60_000
const DAY = 86_400_000

/** The bar that contains an instant: `start` is its time, `end` its closing time (exclusive). */
export interface Period {
  readonly start: number
  readonly end: number
}

/** A session's date in days since 1970. A plain number is enough, since no expression mixes it with an instant. */
type Day = number

export class Calendar {
  readonly zone: Zone
  readonly session: TradingHours
  // The last answer, kept: any instant in [dayFrom, dayUntil) belongs to `day`.
  #dayFrom = 0
  #dayUntil = 0
  #day = 0
  readonly #earlyClose: ((day: Day) => number | null) | null
  #rangesDay = NaN
  #ranges: readonly SessionRange[] = []
  /** A day with one range, and when that opens and closes: most instants asked about are on the day of the one before. */
  #plainDay = NaN
  #plainOpen = NaN
  #plainClose = NaN

  /** `earlyClose` answers the minute, counted from midnight, at which a half day ends, and null for every other day. */
  constructor(zone: Zone, session: TradingHours, earlyClose: ((day: Day) => number | null) | null = null) {
    this.zone = zone
    this.session = session
    this.#earlyClose = earlyClose
  }

  /** The date (days since 1970) of the session that an instant belongs to, inside or outside trading hours. */
  tradingDay(time: number): Day {
    if (time >= this.#dayFrom && time < this.#dayUntil) return this.#day
    const { dayStart } = this.session
    const nominal = Math.floor((time + this.zone.offsetAt(time) - dayStart * MINUTE) / DAY)
    this.#dayFrom = this.#wall(nominal, dayStart)
    this.#dayUntil = this.#wall(nominal + 1, dayStart)
    // Friday's night session is Monday's: an evening that opens no session belongs to the next one. A market
    // that keeps to one date has no such evenings, and a stray Saturday bar of it stays Saturday's.
    this.#day = dayStart < 0 ? this.#nextSessionDay(nominal) : nominal
    return this.#day
  }

  /** When that day's session opens; midnight if it has none. */
  open(day: Day): number {
    return this.#wall(day, this.#rangesOf(day)[0]?.start ?? this.session.dayStart)
  }

  /** When that day's session closes; the end of the day if it has none. */
  close(day: Day): number {
    return this.#wall(day, this.#rangesOf(day).at(-1)?.end ?? this.session.dayStart + 1440)
  }

  /** Whether the market is open at this instant. Holidays are unknown. */
  isOpen(time: number): boolean {
    const local = time + this.zone.offsetAt(time)
    const today = Math.floor(local / DAY)
    // A range of tomorrow's session may have begun this evening.
    return this.#isWithin(today, local) || this.#isWithin(today + 1, local)
  }

  /** The first instant from `time` on at which the market is open; `time` itself where no session comes within ten days. */
  opensFrom(time: number): number {
    if (this.isOpen(time)) return time
    const today = this.tradingDay(time)
    for (let day = today; day < today + 10; day++) {
      const opens = this.#rangesOf(day).map(({ start }) => this.#wall(day, start))
      const next = opens.find((one) => one > time)
      if (next !== undefined) return next
    }
    return time
  }

  #isWithin(day: Day, local: number): boolean {
    const minute = (local - day * DAY) / MINUTE
    const ranges = this.#rangesOf(day)
    for (let i = 0; i < ranges.length; i++)
      if (minute >= ranges[i]!.start && minute < ranges[i]!.end) return true
    return false
  }

  /** The bar of `interval` that contains `time`. */
  period(time: number, interval: Interval): Period {
    return isIntraday(interval) ? this.#intraday(time, intervalMs(interval)) : this.#dated(time, interval)
  }

  #intraday(time: number, step: number): Period {
    const day = this.tradingDay(time)
    let open = this.#plainOpen
    let close = this.#plainClose
    if (day !== this.#plainDay) {
      const ranges = this.#rangesOf(day)
      open = this.open(day)
      close = this.close(day)
      if (ranges.length < 2) {
        this.#plainDay = day
        this.#plainOpen = open
        this.#plainClose = close
      } else
        for (const range of ranges) {
          const start = this.#wall(day, range.start)
          if (start > time) break
          open = start
          close = this.#wall(day, range.end)
        }
    }
    const start = open + Math.floor((time - open) / step) * step
    const end = start + step
    return { start, end: time < close && end > close ? close : end }
  }

  #dated(time: number, interval: Interval): Period {
    const [first, last] = this.#span(this.tradingDay(time), interval)
    const opening = this.#nextSessionDay(first)
    let closing = last
    while (closing > first && !hasSession(this.session, weekdayOf(closing))) closing--
    return { start: this.open(opening <= last ? opening : first), end: this.close(closing) }
  }

  /**
   * The week or month of sessions that contains `time`: from the opening of its first session to that of the next one's, so that no
   * time is outside of all of them.
   */
  fromSessionToSession(time: number, interval: Interval): Period {
    const opening = (day: Day) => this.open(this.#nextSessionDay(day))
    let [first, last] = this.#span(this.tradingDay(time), interval)
    if (time < opening(first)) [first, last] = this.#span(first - 1, interval)
    else if (time >= opening(last + 1)) [first, last] = this.#span(last + 1, interval)
    return { start: opening(first), end: opening(last + 1) }
  }

  /** First and last day (both inclusive) of the bar of days, weeks or months that contains `day`. */
  #span(day: Day, { count, unit }: Interval): readonly [Day, Day] {
    if (unit === 'd') return count === 1 ? [day, day] : this.#daySpan(day, count)
    if (unit === 'w') {
      const week = startOfWeek(day)
      const year = startOfYear(week)
      const firstMonday = startOfWeek(year + 6)
      const first = week - ((week - firstMonday) % (7 * count))
      // The first Monday of the next year cuts the last bar of a year.
      const nextFirstMonday = startOfWeek(startOfYear(year + 366 + 6) + 6)
      return [first, Math.min(first + 7 * count, nextFirstMonday) - 1]
    }
    const [year, month] = civil(day)
    const first = Math.floor((month - 1) / count) * count
    return [dayOf(year, first + 1), Math.min(dayOf(year, first + count + 1), dayOf(year + 1, 1)) - 1]
  }

  #daySpan(day: Day, count: number): readonly [Day, Day] {
    const year = startOfYear(day)
    const yearEnd = dayOf(civil(day)[0] + 1, 1) - 1
    let position = 0
    let first = year
    for (let one = year; one < day; one++) {
      if (!hasSession(this.session, weekdayOf(one))) continue
      if (++position % count === 0) first = one + 1
    }
    let last = first
    for (let left = count; last <= yearEnd; last++) {
      if (hasSession(this.session, weekdayOf(last)) && --left === 0) break
    }
    return [first, Math.min(last, yearEnd)]
  }

  /** A day's ranges, cut at an early close. Bars come day by day, so the last answer is kept. */
  #rangesOf(day: Day): readonly SessionRange[] {
    const whole = this.session.days[weekdayOf(day)] ?? []
    if (this.#earlyClose === null) return whole
    if (day === this.#rangesDay) return this.#ranges
    const until = this.#earlyClose(day) ?? Infinity
    this.#rangesDay = day
    this.#ranges =
      until === Infinity
        ? whole
        : whole.flatMap((range) =>
            range.start < until ? [{ start: range.start, end: Math.min(range.end, until) }] : [],
          )
    return this.#ranges
  }

  #nextSessionDay(day: Day): Day {
    for (let one = day; one < day + 7; one++) if (hasSession(this.session, weekdayOf(one))) return one
    return day
  }

  #wall(day: Day, minutes: number): number {
    return this.zone.toUtc(day * DAY + minutes * MINUTE)
  }
}

/** Remembered: to read it again for every run of the same symbol was a third of what a run takes to begin. */
const hoursOf = memo(100, (session) => parseSession(session) ?? parseSession('24x7'))

/**
 * Unknown zones and sessions become UTC and 24x7. Users' input is validated before it gets here, but a test may write
 * anything.
 */
export function calendarOf(symbol: Pick<SymbolInfo, 'timezone' | 'session'>): Calendar {
  const zone = zoneOf(symbol.timezone) ?? zoneOf('UTC')
  const session = hoursOf(symbol.session)
  if (!zone || !session) throw new Error('assertion failed: UTC and 24x7 are always known')
  return new Calendar(zone, session, keepsHalfDays(symbol) ? earlyCloseInNewYork : null)
}

/** Whether the symbol keeps the regular hours of stocks in the United States, as indexes and funds made of them do. */
function keepsHalfDays({ timezone, session }: Pick<SymbolInfo, 'timezone' | 'session'>): boolean {
  return timezone === 'America/New_York' && /^0930-1600(?::23456)?$/.test(session.trim())
}

/**
 * Like `calendar.period`, for asking bar after bar: an instant inside the last answer costs two comparisons. `source` is
 * the interval of those bars, see `sessionInstant`.
 */
export function periodFinder(
  calendar: Calendar,
  interval: Interval,
  source: Interval | null = null,
): (time: number) => Period {
  let current: Period = { start: 0, end: 0 }
  return (time) => {
    const instant = sessionInstant(calendar, time, source)
    if (instant < current.start || instant >= current.end) current = calendar.period(instant, interval)
    return current
  }
}

/**
 * An instant inside the session that a bar belongs to. That is the bar's time, except for daily and longer bars dated
 * midnight UTC, as many files have them: they mean that date's session, wherever the exchange is.
 */
export function sessionInstant(calendar: Calendar, time: number, source: Interval | null): number {
  return source !== null && !isIntraday(source) && time % DAY === 0 ? calendar.open(time / DAY) : time
}

/** 0 = Sunday. */
function weekdayOf(day: Day): number {
  return (((day + 4) % 7) + 7) % 7
}

function startOfWeek(day: Day): Day {
  return day - ((weekdayOf(day) + 6) % 7)
}

function startOfYear(day: Day): Day {
  return dayOf(civil(day)[0], 1)
}

/** Year and month (1 to 12) of a day in the proleptic Gregorian calendar, which Date uses too. */
function civil(day: Day): readonly [year: number, month: number] {
  const date = new Date(day * DAY)
  return [date.getUTCFullYear(), date.getUTCMonth() + 1]
}

/** The first day of a month; month 13 is January of the next year. */
function dayOf(year: number, month: number): Day {
  return Date.UTC(year, month - 1, 1) / DAY
}

/**
 * When the session opens whose date an exchange's own midnight names, as yfinance dates bars of days; any other time is itself.
 * A file of dates alone gives the same times, so that both are one series.
 */
export function openOfDate(calendar: Calendar, time: number): number {
  const day = Math.floor((time + calendar.zone.offsetAt(time)) / DAY)
  return calendar.zone.toUtc(day * DAY) === time ? calendar.open(day) : time
}
