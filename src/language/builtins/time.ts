// Time: the parts of a date as variables and functions, time(), time_close() and timestamp().

import { unknownDate } from '../messages/failing.ts'
import type { Zone } from '../../market/zone.ts'
import type { Calendar, Period } from '../../market/calendar.ts'
import { parseDate } from '../runtime/date-format.ts'
import * as dates from '../runtime/date-parts.ts'
import { type Interval, isIntraday } from '../../market/interval.ts'
import { goesFromSessionToSession } from '../runtime/grids.ts'
import {
  chartInterval,
  instantOf,
  intervalOf,
  periodOf,
  sessionGrid,
  symbolCalendar,
} from '../runtime/periods.ts'
import type { Runtime } from '../runtime/runtime.ts'
import type { BarsFill, LengthColumns, LengthFill, StateClass } from '../runtime/state-class.ts'
import { fn, variable } from './define.ts'
import type { BuiltinEntry } from './registry.ts'

type Text = string | null

/** A part of a time that stays the same all day. */
type DayPart = (time: number, zone: Zone) => number

const PARTS: readonly (readonly [name: string, doc: string, part: dates.ClockPart | DayPart])[] = [
  ['year', 'Year', dates.yearOf],
  ['month', 'Month, 1 to 12', dates.monthOf],
  ['weekofyear', 'Week of the year (ISO)', dates.weekOfYearOf],
  ['dayofmonth', 'Day of the month, 1 to 31', dates.dayOfMonthOf],
  ['dayofweek', 'Day of the week, 1 (Sunday) to 7', dates.dayOfWeekOf],
  ['hour', 'Hour, 0 to 23', dates.CLOCK.hour],
  ['minute', 'Minute, 0 to 59', dates.CLOCK.minute],
  ['second', 'Second, 0 to 59', dates.CLOCK.second],
]

const DATE = 'int year, int month, int day'

export const TIME: readonly BuiltinEntry[] = [
  ...PARTS.flatMap(([name, doc, part]) => [
    variable(name, `${doc}, of the bar, in the time zone of the exchange.`, 'series int', {
      state: partOfBar(part),
      implicit: ['time'],
    }),
    fn(
      name,
      `${doc}, of a time, in a time zone (the exchange's by default).`,
      '(int time, string timezone = na) int',
      { state: partOfTime(part), timeless: true },
    ),
  ]),

  variable('time', 'Time the bar opened at, in ms since 1970 UTC.', 'series int', { column: 'time' }),
  variable('last_bar_time', 'Time the last bar opened at.', 'series int', {
    get: (runtime) => runtime.bars.time[runtime.lastBar] ?? Number.NaN,
  }),
  variable('time_close', 'Time the bar closes at, in ms since 1970 UTC.', 'series int', {
    get: (runtime) => runtime.timeClose[runtime.bar] ?? Number.NaN,
  }),
  variable('time_tradingday', "Midnight UTC of the bar's trading day.", 'series int', {
    get: (runtime) => {
      const { unit, count } = chartInterval(runtime)
      // For bars longer than a day, the last day counts.
      const isLong = unit === 'w' || unit === 'M' || (unit === 'd' && count > 1)
      const time = isLong
        ? (runtime.timeClose[runtime.bar] ?? Number.NaN) - 1
        : instantOf(runtime, runtime.bar)
      return symbolCalendar(runtime).tradingDay(time) * 86_400_000
    },
  }),
  variable(
    'timenow',
    'The current time: here the close of the last bar, so that a run can be repeated.',
    'series int',
    {
      get: (runtime) => runtime.now,
    },
  ),

  ...(['time', 'time_close'] as const).map((name) =>
    fn(
      name,
      `${name === 'time' ? 'Opening' : 'Closing'} time of the timeframe's bar the current bar is in; na out of the session.`,
      [
        '(string timeframe, string session = na, string timezone = na, int bars_back = 0, int timeframe_bars_back = 0) series int',
        '(string timeframe, string session, int bars_back, int timeframe_bars_back = 0) series int',
        '(string timeframe, int bars_back, int timeframe_bars_back = 0) series int',
      ],
      [
        {
          state: edgeOf(
            name,
            (runtime, timeframe: Text, session: Text, zone: Text, back: number, periods: number) =>
              periodBack(runtime, timeframe, session, zone, back, periods),
          ),
          timeless: true,
        },
        {
          state: edgeOf(name, (runtime, timeframe: Text, session: Text, back: number, periods: number) =>
            periodBack(runtime, timeframe, session, null, back, periods),
          ),
          timeless: true,
        },
        {
          state: edgeOf(name, (runtime, timeframe: Text, back: number, periods: number) =>
            periodBack(runtime, timeframe, null, null, back, periods),
          ),
          timeless: true,
        },
      ],
    ),
  ),

  fn(
    'timestamp',
    "A date as ms since 1970 UTC: of text, or of numbers in a time zone (the exchange's by default).",
    [
      '(const string dateString) const int',
      `(${DATE}, int hour = 0, int minute = 0, int second = 0) int`,
      `(string timezone, ${DATE}, int hour = 0, int minute = 0, int second = 0) int`,
    ],
    [
      { fn: timeOfText, pure: true },
      {
        fn: (runtime: Runtime, ...parts: number[]) => timeOfParts(dates.zoneNamed(runtime.timezone), parts),
        runtime: true,
        pure: true,
      },
      {
        fn: (zone: Text, ...parts: number[]) => timeOfParts(dates.zoneNamed(zone ?? ''), parts),
        pure: true,
      },
    ],
  ),
]

/**
 * Answers a part of a time in a zone. It remembers the zone, whose name took half of the time to look up, and what it answered
 * last for as long as that holds: an `hour` takes 6 ns instead of 32.
 */
class DatePart {
  #name: string | null = null
  #zone: Zone | null = null
  /** From when until when `value` is the answer. */
  #from = NaN
  #until = NaN
  #value = NaN
  readonly #clock: dates.ClockPart | null
  readonly #ofDay: DayPart

  constructor(part: dates.ClockPart | DayPart) {
    const isOfDay = typeof part === 'function'
    this.#clock = isOfDay ? null : part
    this.#ofDay = isOfDay ? part : () => NaN
  }

  of(time: number, name: string): number {
    if (time >= this.#from && time < this.#until && name === this.#name) return this.#value
    if (this.#zone === null || name !== this.#name) {
      this.#zone = dates.zoneNamed(name)
      this.#name = name
    }
    // A time that is na is in no zone, so it stays na.
    return time === time ? this.#answer(time, this.#zone) : time
  }

  /**
   * The same of a block of bars, a day of them at a time: an `hour` takes 1 ns instead of 6, and half of all strategies ask for
   * one.
   */
  ofBlock(from: number, to: number, [target, mask, source, sourceMask]: Times, name: string): void {
    const clock = this.#clock
    for (let i = from; i < to;) {
      const time = source[i & sourceMask]!
      const value = this.of(time, name)
      const day = time === time && this.#zone !== null ? dayFrom(this.#zone, time) : NaN
      target[i & mask] = value
      for (i++; i < to; i++) {
        const since = source[i & sourceMask]! - day
        if (!(since >= 0 && since < dates.DAY)) break
        target[i & mask] = clock === null ? value : clockPartOfDay(since, clock)
      }
    }
  }

  #answer(time: number, zone: Zone): number {
    const clock = this.#clock
    const offset = zone.offsetAt(time)
    const span = clock?.span ?? dates.DAY
    const from = Math.floor((time + offset) / span) * span - offset
    this.#from = from
    this.#until = keepsOffset(zone, from, from + span, offset) ? from + span : NaN
    return (this.#value = clock === null ? this.#ofDay(time, zone) : dates.clockPart(time + offset, clock))
  }
}

/** When the day of a time begins in the zone; NaN where the clocks are changed on it. */
function dayFrom(zone: Zone, time: number): number {
  const offset = zone.offsetAt(time)
  const from = Math.floor((time + offset) / dates.DAY) * dates.DAY - offset
  return keepsOffset(zone, from, from + dates.DAY, offset) ? from : NaN
}

/** Of whole milliseconds since midnight; half of one more, so that no quotient is rounded down below a whole number. */
function clockPartOfDay(since: number, { span, cycle }: dates.ClockPart): number {
  const count = Math.floor((Math.floor(since) + 0.5) * (1 / span))
  return count - Math.floor((count + 0.5) * (span / cycle)) * (cycle / span)
}

/** The column of the answers and that of the times, each with its mask. */
type Times = readonly [target: Float64Array, targetMask: number, source: Float64Array, sourceMask: number]

/** Whether the clocks are neither put forward nor back between the two, nor at either. Nobody knows of the far future. */
function keepsOffset(zone: Zone, from: number, until: number, offset: number): boolean {
  if (zone.isFixed) return true
  return Math.abs(from) < FAR && zone.offsetAt(from) === offset && zone.offsetAt(until) === offset
}

/** A hundred thousand years: Temporal ends behind 270,000. */
const FAR = 3e15

// Fields that a snapshot must not copy are private: what they remember never changes an answer.

function partOfBar(part: dates.ClockPart | DayPart): StateClass {
  return class implements BarsFill {
    static readonly runtime = true
    static readonly fills = 'bars'
    readonly #runtime: Runtime
    readonly #isIntraday: boolean
    readonly #known = new DatePart(part)

    constructor(runtime: Runtime) {
      this.#runtime = runtime
      this.#isIntraday = isIntraday(chartInterval(runtime))
    }

    next(time: number): number {
      const runtime = this.#runtime
      return this.#known.of(this.#isIntraday ? time : instantOf(runtime, runtime.bar), runtime.timezone)
    }

    fillBlock(from: number, to: number, target: Float64Array, mask: number): void {
      const { bars, timezone } = this.#runtime
      if (this.#isIntraday) this.#known.ofBlock(from, to, [target, mask, bars.time, -1], timezone)
      else
        for (let i = from; i < to; i++)
          target[i & mask] = this.#known.of(instantOf(this.#runtime, i), timezone)
    }
  }
}

function partOfTime(part: dates.ClockPart | DayPart): StateClass {
  return class implements LengthFill {
    static readonly runtime = true
    static readonly fills = 'length'
    readonly #timezone: string
    readonly #known = new DatePart(part)

    constructor({ timezone }: Runtime) {
      this.#timezone = timezone
    }

    next(time: number, zone: Text): number {
      return this.#known.of(time, zone ?? this.#timezone)
    }

    fillBlock(from: number, to: number, columns: LengthColumns<Text>): void {
      const [target, targetMask, source, sourceMask, zone] = columns
      this.#known.ofBlock(from, to, [target, targetMask, source, sourceMask], zone ?? this.#timezone)
    }
  }
}

/** The opening or closing time of a period. */
function edgeOf(
  name: 'time' | 'time_close',
  find: (runtime: Runtime, ...args: never[]) => Period | null,
): StateClass {
  return class {
    static readonly runtime = true
    readonly #runtime: Runtime

    constructor(runtime: Runtime) {
      this.#runtime = runtime
    }

    next(...args: never[]): number {
      const period = find(this.#runtime, ...args)
      return period === null ? Number.NaN : name === 'time' ? period.start : period.end
    }
  }
}

/** `back` counts bars of the chart (negative: bars to come, by the chart's grid), `periods` those of the timeframe. */
function periodBack(
  runtime: Runtime,
  timeframe: Text,
  session: Text,
  zone: Text,
  back: number,
  periods: number,
): Period | null {
  const barsBack = Number.isNaN(back) ? 0 : Math.trunc(back)
  const steps = Number.isNaN(periods) ? 0 : Math.trunc(periods)
  const hours = runtime.version === 4 ? onWeekdays(session) : session
  const grid = steps > 0 && barsBack >= 0 ? sessionGrid(runtime, hours, zone) : null
  if (grid !== null)
    return sessionsBack(
      grid.calendar,
      instantOf(runtime, runtime.bar - barsBack),
      intervalOf(runtime, timeframe),
      steps,
    )
  let period = periodOf(runtime, runtime.bar - Math.max(0, barsBack), timeframe, hours, zone)
  if (barsBack < 0) period = step(runtime, periodOf(runtime, runtime.bar, null, null, null), null, -barsBack)
  if (barsBack < 0 && period !== null)
    period = symbolCalendar(runtime).period(period.start, intervalOf(runtime, timeframe))
  return steps === 0 ? period : step(runtime, period, timeframe, -steps)
}

/** Up to v4 a session that names no days is that of Monday to Friday (L1). */
function onWeekdays(session: Text): Text {
  if (!session) return session
  return session
    .split(',')
    .map((range) => (range.includes(':') ? range : `${range}:23456`))
    .join(',')
}

/**
 * `steps` periods back along the bars of a session, on into the sessions before (L1). Outside of it there is an answer as well:
 * days are counted from the one to come, and shorter periods from the last one that closed, where the session's first one is told.
 */
function sessionsBack(calendar: Calendar, time: number, interval: Interval, steps: number): Period | null {
  if (Number.isNaN(time)) return null
  const bySession = goesFromSessionToSession(interval)
  const isOutside = !bySession && !calendar.isOpen(time)
  const inside = isOutside ? openUntil(calendar, time - 1) : time
  const periodAt = (at: number) =>
    bySession ? calendar.fromSessionToSession(at, interval) : calendar.period(at, interval)
  let period = inside === null ? null : periodAt(inside)
  const left = isOutside && !isIntraday(interval) ? steps - 1 : steps
  for (let step = Math.min(left, STEPS_MAX); step > 0 && period !== null; step--) {
    const before: number | null = bySession ? period.start - 1 : openUntil(calendar, period.start - 1)
    period = before === null ? null : periodAt(before)
  }
  if (!isOutside || !isIntraday(interval) || period === null) return period
  return calendar.period(calendar.period(period.start, DAILY).start, interval)
}
const DAILY: Interval = { count: 1, unit: 'd' }
/** Periods that are walked over at most. */
const STEPS_MAX = 5000

/** Moves along the symbol's grid of a timeframe, `count` periods on (negative: back), over the times the market is closed. */
function step(runtime: Runtime, from: Period | null, timeframe: Text, count: number): Period | null {
  const calendar = symbolCalendar(runtime)
  const interval = intervalOf(runtime, timeframe)
  let period = from
  for (let left = Math.min(Math.abs(count), STEPS_MAX); left > 0 && period !== null; left--) {
    const time: number | null =
      count > 0 ? openFrom(calendar, period.end) : openUntil(calendar, period.start - 1)
    period = time === null ? null : calendar.period(time, interval)
  }
  return period
}

/** The first instant from `time` on at which the market is open; null if that is weeks away. */
function openFrom(calendar: Calendar, time: number): number | null {
  for (let day = calendar.tradingDay(time); day < calendar.tradingDay(time) + 14; day++) {
    const open = calendar.open(day)
    const close = calendar.close(day)
    if (!calendar.isOpen(open)) continue
    for (let at = Math.max(time, open); at < close; at += 60_000) if (calendar.isOpen(at)) return at
  }
  return null
}

/** The last instant up to `time` at which the market is open. */
function openUntil(calendar: Calendar, time: number): number | null {
  for (let day = calendar.tradingDay(time); day > calendar.tradingDay(time) - 14; day--) {
    const open = calendar.open(day)
    if (!calendar.isOpen(open)) continue
    for (let at = Math.min(time, calendar.close(day) - 1); at >= open; at -= 60_000)
      if (calendar.isOpen(at)) return at
  }
  return null
}

function timeOfText(text: Text): number {
  const time = parseDate(text ?? '')
  if (Number.isNaN(time)) throw unknownDate(text)
  return time
}

function timeOfParts(zone: Zone, parts: readonly number[]): number {
  const [year, month, day, hour, minute, second] = parts.map((value) => Math.trunc(value))
  return dates.timeOf(zone, year!, month!, day!, hour, minute, second)
}
