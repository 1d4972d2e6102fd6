// How a file writes its times, found in a sample of them, and a reader for exactly that.
//
// Nearly all files write every time in the same number of letters. So a format is a mask, the places of year, month, day
// and clock in a cell, and reading one is a handful of digits at known places; the instant of a day is worked out once a
// day. A cell that does not fit the mask is left to `parseTimeText`, which knows more and takes longer.

import { epochMs } from '../bar-time.ts'
import type { Calendar } from '../calendar.ts'
import type { Zone } from '../zone.ts'

export const TIME_UNITS = ['s', 'ms', 'us', 'ns'] as const
export type TimeUnit = (typeof TIME_UNITS)[number]
export const DATE_ORDERS = ['ymd', 'dmy', 'mdy'] as const
export type DateOrder = (typeof DATE_ORDERS)[number]

/** What a time of a file means. */
export interface TimeMeaning {
  /** Of numbers; null = each number's size tells. */
  readonly unit: TimeUnit | null
  readonly order: DateOrder
  /** The zone of times that do not state an offset. */
  readonly zone: Zone
  /** A bare date means this calendar's session; null = midnight in the zone. */
  readonly calendar: Calendar | null
}

const UNIT_PER_MS: Readonly<Record<TimeUnit, number>> = { s: 1e-3, ms: 1, us: 1e3, ns: 1e6 }
const DAY = 86_400_000
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']

/** UTC ms of an epoch number. */
export function epochIn(value: number, unit: TimeUnit | null): number {
  if (unit === null) return epochMs(value)
  return unit === 's' ? value * 1000 : Math.floor(value / UNIT_PER_MS[unit])
}

/** The unit that an epoch number's size tells. */
export function unitOf(value: number): TimeUnit {
  const size = Math.abs(value)
  if (size < 1e11) return 's'
  if (size < 1e14) return 'ms'
  return size < 1e17 ? 'us' : 'ns'
}

/**
 * A date as Excel counts it, with the time of day as a fraction: 45658.5 is noon of 2025-01-01. As seconds these would all be
 * of the first day of 1970.
 */
const EXCEL_DAY = /^([1-9]\d{4})(?:[.,](\d+))?$/
/** The day number of 1970-01-01. */
const EXCEL_1970 = 25_569

const DATE = /^(\d{1,4})[-./](\d{1,2})[-./](\d{1,4})(?:$|[T ,;\t|]+)/
const COMPACT = /^((?:18|19|20|21)\d\d)([01]\d)([0-3]\d)(?:$|[T ]+(?=\d))/
const NAMED =
  /^(?:(\d{1,2})[- ]([a-z]{3})[a-z]*[- ,]+(\d{4}|\d\d(?!\d))|([a-z]{3})[a-z]*\.? (\d{1,2}),? (\d{4}))(?:$|[T ,]+)/i
const CLOCK =
  /^(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?(?:\s*([ap]m))?\s*(Z|UTC|GMT|(?:GMT|UTC)?\s*[+-]\d{1,2}:?(?:\d{2})?)?$/i
const COMPACT_CLOCK = /^(\d{2})(\d{2})(?:(\d{2})(?: ?(\d{3,7}))?)?$/

/** UTC ms, or NaN if the text is no time. */
export function parseTimeText(value: string, meaning: TimeMeaning): number {
  const text = value.trim()
  const excel = meaning.unit === null ? EXCEL_DAY.exec(text) : null
  if (excel) return excelTime(Number(excel[1]) - EXCEL_1970, excel[2], meaning)
  if (/^-?\d+(?:\.\d+)?$/.test(text) && (meaning.unit !== null || !COMPACT.test(text)))
    return epochIn(Number(text), meaning.unit)
  const date = dateOf(text, meaning.order)
  if (!date) return Number.NaN
  const rest = text.slice(date.length)
  if (rest === '') {
    if (meaning.calendar) return meaning.calendar.open(date.midnight / DAY)
    return meaning.zone.toUtc(date.midnight)
  }
  const clock = clockOf(rest)
  if (!clock) return Number.NaN
  const local = date.midnight + clock.ms
  return clock.offset === null ? meaning.zone.toUtc(local) : local - clock.offset
}

export function isExcelTime(text: string): boolean {
  return EXCEL_DAY.test(text)
}

function excelTime(date: number, fraction: string | undefined, { calendar, zone }: TimeMeaning): number {
  if (fraction === undefined && calendar) return calendar.open(date)
  // Excel keeps some eleven digits behind the point: the second is the finest that comes back as it was.
  const seconds = Math.round(Number(`0.${fraction ?? 0}`) * 86_400)
  return zone.toUtc(date * DAY + seconds * 1000)
}

/** The numbers of a date as they stand in the text, first to third; null if it does not begin with a date of digits. */
export function datePartsOf(text: string): readonly [number, number, number] | null {
  const match = DATE.exec(text.trim())
  return match ? [Number(match[1]), Number(match[2]), Number(match[3])] : null
}

function dateOf(
  text: string,
  order: DateOrder,
): { readonly midnight: number; readonly length: number } | null {
  const compact = COMPACT.exec(text)
  if (compact) return day(compact[0].length, Number(compact[1]), Number(compact[2]), Number(compact[3]))
  const named = NAMED.exec(text)
  if (named) {
    const month = MONTHS.indexOf((named[2] ?? named[4] ?? '').toLowerCase()) + 1
    const year = Number(named[3] ?? named[6])
    return day(named[0].length, year < 100 ? ofCentury(year) : year, month, Number(named[1] ?? named[5]))
  }
  const match = DATE.exec(text)
  if (!match) return null
  const [a, b, c] = [Number(match[1]), Number(match[2]), Number(match[3])]
  const { length } = match[0]
  if ((match[1] ?? '').length === 4) return day(length, a, b, c)
  if ((match[3] ?? '').length !== 4) return null
  // Among dates that begin with the year, this one may mean two days. Points stand behind days alone.
  if (order === 'ymd' && text[(match[1] ?? '').length] !== '.') return null
  return order === 'mdy' ? day(length, c, a, b) : day(length, c, b, a)
}

/** Google and India's NSE write `31-Dec-10`. No market's past has more than sixty years in such files, and none the future. */
function ofCentury(year: number): number {
  return year < 40 ? 2000 + year : 1900 + year
}

function day(length: number, year: number, month: number, date: number) {
  const midnight = midnightOf(year, month, date)
  return Number.isFinite(midnight) ? { midnight, length } : null
}

/** Midnight UTC; NaN for 30 February. */
function midnightOf(year: number, month: number, date: number): number {
  // Date.UTC takes a year of two digits for one of the last century.
  if (year < 100) return Number.NaN
  const time = Date.UTC(year, month - 1, date)
  return month > 0 && date > 0 && new Date(time).getUTCMonth() === month - 1 ? time : Number.NaN
}

function clockOf(text: string): { readonly ms: number; readonly offset: number | null } | null {
  const compact = COMPACT_CLOCK.exec(text)
  const match = compact ?? CLOCK.exec(text)
  if (!match) return null
  const half = compact ? '' : (match[5] ?? '').toLowerCase()
  const written = Number(match[1])
  const hour = half === '' ? written : (written % 12) + (half === 'pm' ? 12 : 0)
  const [minute, second] = [Number(match[2]), Number(match[3] ?? 0)]
  if (hour > 23 || minute > 59 || second > 59) return null
  const fraction = Math.floor(Number(`0.${match[4] ?? 0}`) * 1000 + 1e-9)
  const ms = ((hour * 60 + minute) * 60 + second) * 1000 + fraction
  return { ms, offset: compact ? null : offsetOf(match[6]) }
}

/** ms that a wall clock is ahead of UTC; null if none is stated. */
function offsetOf(text: string | undefined): number | null {
  if (text === undefined) return null
  const match = /([+-])(\d{1,2}):?(\d{2})?$/.exec(text)
  if (!match) return 0
  return (match[1] === '-' ? -1 : 1) * (Number(match[2]) * 60 + Number(match[3] ?? 0)) * 60_000
}

/** The places of a time's parts in its text, each with its number of letters. */
interface Mask {
  readonly length: number
  readonly year: number
  readonly month: number
  readonly date: number
  readonly hour: number
  readonly minute: number
  readonly second: number
  readonly fraction: number
  /** Of `+02:00` and `+0200`: the place of the sign, and those of its hours and minutes. */
  readonly sign: number
  readonly signMinute: number
  readonly isUtc: boolean
  /** Letters between the parts, by place; 0 where a digit or a sign stands. */
  readonly between: Uint8Array
}

const MASK =
  /^(?:(\d{4})([-./])(\d{2})\2(\d{2})|(\d{2})([-./])(\d{2})\6(\d{4})|(\d{4})(\d{2})(\d{2}))(?:([T ,;\t|])(?:(\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{3,9}))?)?|(\d{2})(\d{2})(?:(\d{2})(?: ?(\d{3,7}))?)?)(Z| UTC| GMT)?((?: GMT)?([+-])(\d{2}):?(\d{2}))?)?$/d

/** The mask of one text; null if only `parseTimeText` can read it. */
function maskOf(text: string, order: DateOrder): Mask | null {
  const match = MASK.exec(text)
  const found = match?.indices
  if (!match || !found) return null
  const at = (...groups: number[]) =>
    found[groups.find((group) => found[group] !== undefined) ?? -1]?.[0] ?? -1
  const swapped = order === 'mdy'
  const between = Uint8Array.from(text, (letter) => (/[\d+-]/.test(letter) ? 0 : letter.charCodeAt(0)))
  // A date's own minus is a letter like others.
  for (let i = 0; i < 10 && i < text.length; i++) if (text[i] === '-') between[i] = 45
  return {
    length: text.length,
    year: at(1, 8, 9),
    month: at(3, swapped ? 5 : 7, 10),
    date: at(4, swapped ? 7 : 5, 11),
    hour: at(13, 17),
    minute: at(14, 18),
    second: at(15, 19),
    fraction: at(16, 20),
    sign: at(23),
    signMinute: at(25),
    isUtc: found[21] !== undefined && found[23] === undefined,
    between,
  }
}

const ZERO = 48

/** Reads the times of one file from its bytes. */
export class TimeReader {
  readonly #meaning: TimeMeaning
  readonly #mask: Mask | null
  // The last date, kept: bars come day by day.
  #date = -1
  #midnight = Number.NaN
  /** The session's open if the cells have no time of day. */
  #opening = Number.NaN

  /** `sample` is one of the file's times; its shape is that of the others. */
  constructor(sample: string, meaning: TimeMeaning) {
    this.#meaning = meaning
    this.#mask = maskOf(sample, meaning.order)
  }

  /** The length of a cell that `read` can read; 0 if it can read none. */
  get length(): number {
    return this.#mask?.length ?? 0
  }

  /** UTC ms of the time at `at`; NaN if the bytes do not have the shape. The caller has seen to it that they are there. */
  read(bytes: Uint8Array, at: number): number {
    const mask = this.#mask
    if (!mask) return Number.NaN
    const { between } = mask
    for (let i = 0; i < between.length; i++) {
      const expected = between[i]!
      const found = bytes[at + i]!
      if (expected === 0 ? !(isDigit(found) || (i === mask.sign && isSign(found))) : found !== expected)
        return Number.NaN
    }
    const year = two(bytes, at + mask.year) * 100 + two(bytes, at + mask.year + 2)
    const date = (year * 100 + two(bytes, at + mask.month)) * 100 + two(bytes, at + mask.date)
    if (date !== this.#date) this.#turnTo(date)
    if (mask.hour < 0) return this.#opening
    const hour = two(bytes, at + mask.hour)
    const minute = two(bytes, at + mask.minute)
    const second = mask.second < 0 ? 0 : two(bytes, at + mask.second)
    if (hour > 23 || minute > 59 || second > 59) return Number.NaN
    let local = this.#midnight + ((hour * 60 + minute) * 60 + second) * 1000
    if (mask.fraction >= 0)
      local += (bytes[at + mask.fraction]! - ZERO) * 100 + two(bytes, at + mask.fraction + 1)
    if (mask.isUtc) return local
    if (mask.sign < 0) return this.#meaning.zone.toUtc(local)
    const offset = two(bytes, at + mask.sign + 1) * 60 + two(bytes, at + mask.signMinute)
    return local + (bytes[at + mask.sign] === 43 ? -offset : offset) * 60_000
  }

  #turnTo(date: number): void {
    this.#date = date
    this.#midnight = midnightOf(Math.floor(date / 10_000), Math.floor(date / 100) % 100, date % 100)
    const { calendar, zone } = this.#meaning
    const isDay = Number.isFinite(this.#midnight)
    this.#opening = !isDay ? NaN : calendar ? calendar.open(this.#midnight / DAY) : zone.toUtc(this.#midnight)
  }
}

function isDigit(code: number): boolean {
  return code >= ZERO && code <= ZERO + 9
}

function isSign(code: number): boolean {
  return code === 43 || code === 45
}

function two(bytes: Uint8Array, at: number): number {
  return (bytes[at]! - ZERO) * 10 + bytes[at + 1]! - ZERO
}
