// Dates as text (Java's SimpleDateFormat patterns) and text as dates (what timestamp("…") reads).

import { unknownDateLetter } from '../messages/failing.ts'
import { zoneOf } from '../../market/zone.ts'
import type { Zone } from '../../market/zone.ts'
import {
  dateCode,
  dayNumber,
  dayNumberOf,
  dayOfCode,
  monthOfCode,
  msOfDay,
  timeOf,
  weekOfYearOf,
  weekday,
  yearOfCode,
} from './date-parts.ts'
import { words } from '../../lib/words.ts'

const MONTHS = words('January February March April May June July August September October November December')
const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'] as const

/** str.format_time's default. */
export const DEFAULT_DATE_PATTERN = "yyyy-MM-dd'T'HH:mm:ssZ"

/** K19: letters stand for parts of the date, repeated for width; text in single quotes and all else stands for itself. */
export function formatDate(time: number, pattern: string, zone: Zone): string {
  let text = ''
  for (let i = 0; i < pattern.length;) {
    const char = pattern[i]!
    if (char === "'") {
      if (pattern[i + 1] === "'") {
        text += "'"
        i += 2
        continue
      }
      // A quote within is written twice.
      const quoted = /^'((?:[^']|'')*)'?/.exec(pattern.slice(i))
      text += (quoted?.[1] ?? '').replaceAll("''", "'")
      i += quoted?.[0].length ?? 1
      continue
    }
    let end = i + 1
    while (pattern[end] === char) end++
    text += /[A-Za-z]/.test(char) ? part(char, end - i, time, zone) : pattern.slice(i, end)
    i = end
  }
  return text
}

function part(letter: string, width: number, time: number, zone: Zone): string {
  const wall = time + zone.offsetAt(time)
  const day = dayNumber(time, zone)
  const code = dateCode(day)
  const inDay = msOfDay(wall)
  const hour = Math.floor(inDay / 3_600_000)
  const pad = (value: number) => String(value).padStart(width, '0')
  switch (letter) {
    case 'G':
      return 'AD'
    case 'y':
    case 'Y':
      return width === 2 ? String(yearOfCode(code) % 100).padStart(2, '0') : pad(yearOfCode(code))
    case 'M':
    case 'L': {
      const name = MONTHS[monthOfCode(code) - 1]!
      return width >= 4 ? name : width === 3 ? name.slice(0, 3) : pad(monthOfCode(code))
    }
    case 'd':
      return pad(dayOfCode(code))
    case 'D':
      return pad(day - dayNumberOf(yearOfCode(code), 1, 1) + 1)
    case 'w':
      return pad(weekOfYearOf(time, zone))
    case 'W':
      return pad(Math.ceil((dayOfCode(code) + weekday(day - dayOfCode(code) + 1)) / 7))
    case 'F':
      return pad(Math.ceil(dayOfCode(code) / 7))
    case 'E': {
      const name = DAYS[weekday(day)]!
      return width >= 4 ? name : name.slice(0, 3)
    }
    case 'u':
      return pad(((weekday(day) + 6) % 7) + 1)
    case 'a':
      return hour < 12 ? 'AM' : 'PM'
    case 'H':
      return pad(hour)
    case 'k':
      return pad(hour === 0 ? 24 : hour)
    case 'K':
      return pad(hour % 12)
    case 'h':
      return pad(hour % 12 === 0 ? 12 : hour % 12)
    case 'm':
      return pad(Math.floor(inDay / 60_000) % 60)
    case 's':
      return pad(Math.floor(inDay / 1000) % 60)
    case 'S':
      return pad(Math.floor(inDay) % 1000)
    case 'Z':
      return offsetText(zone.offsetAt(time), '')
    case 'X':
      if (zone.offsetAt(time) === 0) return 'Z'
      return offsetText(zone.offsetAt(time), width === 3 ? ':' : '').slice(0, width === 1 ? 3 : undefined)
    case 'z':
      return zoneName(time, zone, width)
    default:
      throw unknownDateLetter(letter)
  }
}

function offsetText(offset: number, separator: string): string {
  const minutes = Math.abs(Math.round(offset / 60_000))
  const two = (value: number) => String(value).padStart(2, '0')
  return `${offset < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}${separator}${two(minutes % 60)}`
}

function zoneName(time: number, zone: Zone, width: number): string {
  if (/^(?:UTC|GMT|Z)?(?:[+-]|$)/i.test(zone.name)) {
    const offset = zone.offsetAt(time)
    return offset === 0 ? 'UTC' : `GMT${offsetText(offset, ':')}`
  }
  const parts = new Intl.DateTimeFormat('en-US', {
    timeZone: zone.name,
    timeZoneName: width >= 4 ? 'long' : 'short',
  }).formatToParts(time)
  return parts.find((piece) => piece.type === 'timeZoneName')?.value ?? zone.name
}

/**
 * UTC ms of a date written as ISO 8601 (`2011-10-10T14:48:00`, `2020-02-20 00:00 UTC+3`), as in RFC 2822
 * (`04 Dec 1995 00:12:00 GMT+5`) or with the month first (`Feb 01 2020 22:10:05`, `02/01/2020`). Without a zone it is
 * in GMT+0. As in browsers the zone may also stand in front or between date and time, hours, minutes and seconds may
 * have one digit, the day may touch the month, and a colon may stand between date and time. NaN when it is no date.
 */
export function parseDate(text: string): number {
  // Dates copied from a web page often have its spaces that do not break.
  const plain = zoneLast(text.replaceAll('\u00a0', ' ').trim())
  const parts = isoParts(plain) ?? monthDayParts(plain) ?? namedMonthParts(plain)
  if (parts === null) return Number.NaN
  const { year, month, day, rest } = parts
  if (month < 1 || month > 12 || day < 1 || day > 31) return Number.NaN
  const clock = /^[T ,:]*(\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:[.,](\d{1,9}))?)?\s*([AaPp][Mm])?\s*(.*)$/.exec(
    zoneLast(rest.trim()),
  )
  const zoneText = (clock === null ? rest : clock[6]!).trim()
  if (clock === null && /^\S*\d+:/.test(zoneText)) return Number.NaN
  const zone = dateZone(zoneText)
  if (zone === null) return Number.NaN
  if (clock === null) return timeOf(zone, year, month, day)
  const half = clock[5]?.toLowerCase()
  const read = Number(clock[1])
  const hour = half === undefined ? read : (read % 12) + (half === 'pm' ? 12 : 0)
  const minute = Number(clock[2])
  const second = Number(clock[3] ?? 0)
  if (hour > 24 || minute > 59 || second > 59) return Number.NaN
  const ms = Math.trunc(Number(`0.${clock[4] ?? '0'}`) * 1000)
  return timeOf(zone, year, month, day, hour, minute, second) + ms
}

/** `UTC+3 2020-02-20 10:00` with its zone moved to the end, where every other form has it. */
function zoneLast(text: string): string {
  const match = /^((?:UTC|GMT)(?:[+-]\d{1,2}(?::?\d{2})?)?|Z|[A-Za-z]+\/[A-Za-z_/]+)[ ,]+(.*\d.*)$/.exec(text)
  return match === null ? text : `${match[2]} ${match[1]}`
}

/** Offsets of more than a day are read as they are written, as Java does: `-3000` is 30 hours. */
function dateZone(text: string): Zone | null {
  const offset = /^(?:UTC|GMT)?([+-])(\d{2}):?(\d{2})$/.exec(text)
  if (offset === null) return zoneOf(text === '' ? 'UTC' : text)
  const ms = (Number(offset[2]) * 60 + Number(offset[3])) * (offset[1] === '-' ? -60_000 : 60_000)
  return { name: text, isFixed: true, offsetAt: () => ms, toUtc: (local) => local - ms }
}

interface DateParts {
  readonly year: number
  readonly month: number
  readonly day: number
  readonly rest: string
}

function isoParts(text: string): DateParts | null {
  // What is left out is the first: a year, or a year and month, is its beginning.
  const match =
    /^\s*(\d{4})[-/. ](\d{1,2})(?:[-/. ](\d{1,2}))?(?!\d)(.*)$/.exec(text) ??
    /^\s*(\d{4})()()(\s*)$/.exec(text)
  if (match === null) return null
  return {
    year: Number(match[1]),
    month: Number(match[2] || 1),
    day: Number(match[3] || 1),
    rest: match[4]!,
  }
}

/** `02/20/2020`, as browsers read it. */
function monthDayParts(text: string): DateParts | null {
  const match = /^(\d{1,2})([-/. ])(\d{1,2})\2(\d{4})(?!\d)(.*)$/.exec(text)
  if (match === null) return null
  return { year: Number(match[4]), month: Number(match[1]), day: Number(match[3]), rest: match[5]! }
}

function namedMonthParts(text: string): DateParts | null {
  const bare = text.trim().replace(/^[A-Za-z]{3,9},\s*/, '')
  const match =
    /^(?<day>\d{1,2})[ -]*(?<month>[A-Za-z]{3,9})\.?[ ,-]*(?<year>\d{4}|\d{2})(?!\d)(?<rest>.*)$/.exec(
      bare,
    ) ??
    /^(?<month>[A-Za-z]{3,9})\.? *(?<day>\d{1,2})(?:st|nd|rd|th)?[ ,]+(?<year>\d{4})(?!\d)(?<rest>.*)$/.exec(
      bare,
    ) ??
    /^(?<month>[A-Za-z]{3,9})\.?,? +(?<day>)(?<year>\d{4})(?<rest>\s*)$/.exec(bare)
  if (match === null) return null
  const { day, month, year, rest } = match.groups as Record<'day' | 'month' | 'year' | 'rest', string>
  const index = MONTHS.findIndex((name) => name.toLowerCase().startsWith(month.slice(0, 3).toLowerCase()))
  return index < 0 ? null : { year: fullYear(year), month: index + 1, day: Number(day || 1), rest }
}

/** RFC 2822 reads years of two digits as 1950 to 2049. */
function fullYear(text: string): number {
  const year = Number(text)
  return text.length > 2 ? year : year < 50 ? 2000 + year : 1900 + year
}
