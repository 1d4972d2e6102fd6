// Makes the bars of a file fit the interval of their series, where the file counts otherwise: finer bars are made into bars of
// it, or they would stand between two of it; weeks and months that are dated by their end, as pandas and many spreadsheets date
// them, are moved to their beginning.

import { Problem } from '../../lib/problem.ts'
import type { Bars } from '../bars.ts'
import type { Calendar } from '../calendar.ts'
import { formatInterval, type Interval, intervalMs, isIntraday } from '../interval.ts'
import { resample } from '../resample.ts'
import { type Finding, findingOf } from './quality.ts'

interface Fitted {
  readonly bars: Bars
  readonly findings: readonly Finding[]
}

/** Fewer dates tell nothing. */
const LEAST = 3

/** Whether most of the bars stand between those of the series. A single one of a time may be a mistake, which is told. */
export function areFiner({ time, length }: Bars, of: Interval): boolean {
  // Days are dated by midnight or by their session, so that two of them may lie closer together.
  if (!isIntraday(of) && length < LEAST) return false
  const least = intervalMs(of) * 0.9
  let closer = 0
  for (let i = 1; i < length; i++) if (time[i]! - time[i - 1]! < least) closer++
  return closer * 2 > length - 1
}

export interface FitOptions {
  readonly of: Interval | null
  /** How far the bars are apart. */
  readonly found: Interval | null
  readonly calendar: Calendar
  /** What the user says that bars are dated by; undefined where the bars are to tell. */
  readonly dated: 'start' | 'end' | undefined
}

/** Throws Problem 422 where bars of the series cannot be made of them. */
export function fittedBars(bars: Bars, { of, found, calendar, dated }: FitOptions): Fitted {
  if (of !== null && found !== null && areFiner(bars, of)) {
    if (isIntraday(of) && intervalMs(of) % intervalMs(found) !== 0) throw standBetween(found, of)
    const made = resample(bars, found, of, calendar)
    const finding = findingOf('finer_bars', bars.length)
    const message = `${finding.message} of ${formatInterval(found)}`
    const done = `made into ${made.length.toLocaleString('en')} of ${formatInterval(of)}`
    return { bars: made, findings: [{ ...finding, message, done }] }
  }
  const step = of ?? found
  if (dated === 'start' || step === null) return { bars, findings: [] }
  if (step.unit === 'd' && step.count === 1) return fromLastMinutes(bars, calendar)
  return step.unit === 'w' || step.unit === 'M'
    ? fromBeginnings(bars, step, calendar, dated === 'end')
    : { bars, findings: [] }
}

/** Days that are dated by their last minute or second, as CoinMarketCap dates them. */
function fromLastMinutes(bars: Bars, calendar: Calendar): Fitted {
  const isLast = (time: number) => {
    const local = time + calendar.zone.offsetAt(time)
    return local - Math.floor(local / DAY) * DAY >= DAY - 60_000
  }
  const last = bars.time.filter(isLast).length
  if (last < LEAST || last < bars.length * MOST) return { bars, findings: [] }
  const time = bars.time.map((one) => (isLast(one) ? calendar.open(calendar.tradingDay(one)) : one))
  if (time.some((one, i) => i > 0 && one <= time[i - 1]!)) return { bars, findings: [] }
  const done = 'each was moved to the beginning of its day'
  return { bars: { ...bars, time }, findings: [{ ...findingOf('period_end', last), done }] }
}

const HALF_HOUR = 1_800_000
const HOUR = 2 * HALF_HOUR

/**
 * Whether bars of minutes are dated by their end: sessions begin and end with an hour or its half, and the first bar of nearly
 * all of them stands one bar behind such a time and the last one on it. Of half hours and hours nobody can know.
 */
export function areDatedByEnd({ time, length }: Bars, found: Interval): boolean {
  const step = intervalMs(found)
  if (!isIntraday(found) || step < 60_000 || step >= HALF_HOUR || HALF_HOUR % step !== 0) return false
  let sessions = 0
  let byEnd = 0
  // The first and the last session may be a part of one.
  let first = Number.NaN
  for (let i = 1; i < length; i++) {
    if (time[i]! - time[i - 1]! <= HOUR) continue
    if (first % HALF_HOUR === step && time[i - 1]! % HALF_HOUR === 0) byEnd++
    if (!Number.isNaN(first)) sessions++
    first = time[i]!
  }
  return sessions >= LEAST && byEnd >= sessions * MOST
}

/** Every time that much earlier. */
export function earlier(bars: Bars, found: Interval): Bars {
  const step = intervalMs(found)
  return { ...bars, time: bars.time.map((time) => time - step) }
}

export function datedByEnd(count: number, found: Interval): Finding {
  const finding = findingOf('period_end', count)
  const done = `each was moved to its beginning, ${formatInterval(found)} earlier; if these were beginnings say dated=start (--dated start)`
  return { ...finding, done }
}

/** So many times as long as the interval, a typing error is likelier than a market that trades so rarely. */
const FAR_COARSER = 10

/**
 * A finding where bars are coarser than those of the series, as days that are called minutes: none is closer to the next, and they
 * are far coarser, or nearly all as far apart.
 */
export function coarserBars({ time, length }: Bars, of: Interval, found: Interval): Finding[] {
  const distance = intervalMs(found)
  const isFar = distance >= FAR_COARSER * intervalMs(of)
  if (length < LEAST || distance < 1.5 * intervalMs(of)) return daysAmong({ time, length }, of)
  let same = 0
  for (let i = 1; i < length; i++) {
    const step = time[i]! - time[i - 1]!
    if (step < distance / 2 || (step < distance * 0.9 && !isFar)) return daysAmong({ time, length }, of)
    if (step <= distance * 1.1) same++
  }
  if (!isFar && (length < MANY || same < MOST * (length - 1))) return []
  const finding = findingOf('coarser_bars', length)
  const [apart, wanted] = [formatInterval(found), formatInterval(of)]
  const message = `${finding.message} that are ${apart} apart, in a series of ${wanted}`
  return [
    { ...finding, message, done: `stored as bars of ${wanted}; if they are of ${apart}, import them so` },
  ]
}

/** So many in a row are no holidays. */
const DAYS_IN_A_ROW = 20
const DAY = 86_400_000

/** A finding where days stand in front of finer bars, as MetaTrader hands out a past that the broker has no hours of. */
function daysAmong({ time, length }: Pick<Bars, 'time' | 'length'>, of: Interval): Finding[] {
  if (!isIntraday(of) || intervalMs(of) * FAR_COARSER > DAY) return []
  let days = 0
  let row = 0
  let from = 0
  for (let i = 1; i <= length; i++) {
    const distance = i < length ? time[i]! - time[i - 1]! : 0
    // A weekend is between two of them, and an hour more or less where clocks change.
    const isDay = distance >= DAY - HOUR && distance % DAY <= HOUR
    if (isDay) row++
    else {
      if (row >= DAYS_IN_A_ROW && days === 0) from = time[i - 1 - row]!
      if (row >= DAYS_IN_A_ROW) days += row
      row = 0
    }
  }
  if (days === 0) return []
  const finding = findingOf('coarser_bars', days, [{ time: from, text: '' }])
  const wanted = formatInterval(of)
  const message = `${finding.message} that are a day apart, among those of ${wanted}`
  return [
    {
      ...finding,
      message,
      done: `stored as bars of ${wanted}; if they are days, take them out and import again`,
    },
  ]
}

export function standBetween(found: Interval, of: Interval): Problem {
  const [finer, coarser] = [formatInterval(found), formatInterval(of)]
  return new Problem(
    422,
    'validation_failed',
    `Nothing was imported: these are bars of ${finer}, which would stand between those of ${coarser}. Import them with the interval ${finer}; bars of ${coarser} are built from them.`,
  )
}

/** So many that are as far apart are no chance. */
const MANY = 10

/** Of so many the others are those before a holiday, or the period under way. */
const MOST = 0.8

function fromBeginnings(bars: Bars, step: Interval, calendar: Calendar, isTold: boolean): Fitted {
  const days = Array.from(bars.time, (time) => new Date(calendar.tradingDay(time) * 86_400_000))
  const share = (holds: (day: Date) => boolean) => days.filter(holds).length / days.length
  if (bars.length < LEAST && !isTold) return { bars, findings: [] }
  if (!isTold && step.unit === 'w' && share((day) => day.getUTCDay() === 0) >= MOST) {
    const finding = findingOf('period_end', bars.length)
    const message = `${finding.message.replace('their end', 'Sundays')}, which may be the first or the last day of a week`
    return {
      bars,
      findings: [
        {
          ...finding,
          message,
          done: 'taken as the first, and stored as they are; if it is the last say dated=end (--dated end)',
        },
      ],
    }
  }
  const isEnd = step.unit === 'w' ? (day: Date) => day.getUTCDay() >= 5 : isEndOfMonth
  if (!isTold && share(isEnd) < MOST) return { bars, findings: [] }
  const time = bars.time.map((one) => calendar.period(one, step).start)
  // Two in one period are no periods.
  if (time.some((one, i) => i > 0 && one <= time[i - 1]!)) return { bars, findings: [] }
  const moved = { ...bars, time }
  return { bars: moved, findings: [findingOf('period_end', bars.length)] }
}

/** The last day of a month, or the last but three, where a weekend or a holiday is behind it. */
function isEndOfMonth(day: Date): boolean {
  const last = new Date(Date.UTC(day.getUTCFullYear(), day.getUTCMonth() + 1, 0)).getUTCDate()
  return day.getUTCDate() >= last - 3
}
