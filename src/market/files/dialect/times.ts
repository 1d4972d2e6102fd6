// How the times of a file are written: counted or written out, in which unit, order and zone.

import { Problem } from '../../../lib/problem.ts'
import { type Zone, zoneOf } from '../../zone.ts'
import {
  DATE_ORDERS,
  type DateOrder,
  datePartsOf,
  isExcelTime,
  parseTimeText,
  TIME_UNITS,
  type TimeUnit,
  unitOf,
} from '../time-format.ts'
import { plainName } from './columns.ts'
import type { Dialect, Hints, Shape } from './dialect.ts'
import { badHint } from './refusals.ts'

/** The text of a row's time; date and clock of two cells with what stands between them. */
export function timeText(
  cells: readonly string[],
  { time = -1, clock = -1 }: Dialect['columns'],
  between = ' ',
): string {
  const date = (cells[time] ?? '').trim()
  if (clock < 0) return date
  const rest = (cells[clock] ?? '').trim()
  return rest === '' ? date : `${date}${clock === time + 1 ? between : ' '}${rest}`
}

export function isEpochText(text: string): boolean {
  return /^\d{9,19}(?:\.\d+)?$/.test(text)
}

export function isTimeText(text: string): boolean {
  if (isEpochText(text)) return true
  const utc = zoneOf('UTC')
  return (
    utc !== null &&
    (['dmy', 'mdy'] as const).some((order) =>
      Number.isFinite(parseTimeText(text, { unit: null, order, zone: utc, calendar: null })),
    )
  )
}

function hasClock(text: string): boolean {
  return isExcelTime(text) ? /[.,]/.test(text) : /\d[T ,;\t|]+\d{1,2}:\d|^\d{8}[ ,;\t|]\d{4}/.test(text)
}

export function zoneInName(name: string): Zone | null {
  const match = /^(?:time|date|datetime|timestamp)\(([\w+:/-]+)\)$/.exec(plainName(name))
  return match ? zoneOf((match[1] ?? '').toUpperCase()) : null
}

export function withTimes(shape: Shape, times: readonly string[], hints: Hints) {
  const { zone: known, order: usual, ...rest } = shape
  const [sample = ''] = times
  // Who says the unit says that these are numbers, however short.
  const epoch = hints.unit === undefined ? /^-?\d{9,}(?:\.\d+)?$/ : /^-?\d+(?:\.\d+)?$/
  const isEpoch = times.length > 0 && times.every((text) => epoch.test(text))
  const isExcel = hints.unit === undefined && times.length > 0 && times.every(isExcelTime)
  if (
    hints.unit === undefined &&
    !isExcel &&
    times.length > 0 &&
    times.every((text) => /^-?\d{1,7}(?:\.\d+)?$/.test(text))
  )
    throw new Problem(
      422,
      'validation_failed',
      `Nothing was imported: the times, such as ${sample}, are too short for dates and for seconds since 1970. Say what they count, such as unit=s (--unit), or which column has the times: columns=time=… (--columns).`,
      { fields: [{ in: 'query', path: '/unit', code: 'required', message: 'say what the times count' }] },
    )
  const order = orderOf(hints.dates, times, usual)
  const { zone, zoneBy } = zoneOfTimes(hints.timesIn, known, times, isEpoch, rest.names)
  const unit = isEpoch ? unitNamed(hints.unit, sample) : null
  return {
    ...rest,
    origin: isExcel ? 'Excel' : rest.origin,
    times: isEpoch ? 'epoch' : times.some(hasClock) ? 'date and time' : 'date',
    unit,
    isUnitGiven: hints.unit !== undefined,
    order,
    zone,
    zoneBy,
    sample,
  } as const
}

function unitNamed(given: string | undefined, sample: string): TimeUnit {
  if (given === undefined) return unitOf(Number(sample))
  const unit = TIME_UNITS.find((one) => one === given)
  if (unit) return unit
  throw badHint('unit', `must be one of ${TIME_UNITS.join(', ')}`)
}

/** Which of the three numbers of a date is the day. Throws if the lines allow both. */
function orderOf(given: string | undefined, times: readonly string[], usual: DateOrder | null): DateOrder {
  if (given !== undefined) {
    const order = DATE_ORDERS.find((one) => one === given)
    if (order) return order
    throw badHint('dates', `must be one of ${DATE_ORDERS.join(', ')}`)
  }
  const parts = times.map(datePartsOf).filter((one) => one !== null)
  const [first] = parts
  if (!first || first[0] > 31) return 'ymd'
  if (usual) return usual
  // Nobody writes the month first and puts points behind it.
  if (times.some((text) => /^\d{1,2}\.\d{1,2}\.\d{4}/.test(text))) return 'dmy'
  if (parts.some(([a]) => a > 12)) return 'dmy'
  if (parts.some(([, b]) => b > 12)) return 'mdy'
  const steps = (order: 'dmy' | 'mdy') => {
    const days = parts.map(([a, b, c]) => (order === 'dmy' ? Date.UTC(c, b - 1, a) : Date.UTC(c, a - 1, b)))
    return days.reduce((sum, day, i) => (i === 0 ? 0 : sum + Math.abs(day - (days[i - 1] ?? 0))), 0)
  }
  // Bars come day by day: read the wrong way round, twelve days of a month are a year.
  const [dmy, mdy] = [steps('dmy'), steps('mdy')]
  if (dmy * 4 < mdy) return 'dmy'
  if (mdy * 4 < dmy) return 'mdy'
  throw new Problem(
    422,
    'validation_failed',
    'Nothing was imported: the dates may have the day first or the month first. Say which: dates=dmy or dates=mdy.',
    { fields: [{ in: 'query', path: '/dates', code: 'required', message: 'say dmy or mdy' }] },
  )
}

function zoneOfTimes(
  given: string | undefined,
  known: string | null,
  times: readonly string[],
  isEpoch: boolean,
  names: readonly string[],
): Pick<Dialect, 'zone' | 'zoneBy'> {
  const utc = zoneOf('UTC')
  if (!utc) throw new Error('assertion failed: UTC is always known')
  if (given !== undefined) {
    const zone = zoneOf(given)
    if (!zone) throw badHint('timesIn', 'must be a time zone such as America/New_York or UTC-5')
    if (!isEpoch) return { zone, zoneBy: 'user' }
  }
  const isStated = (text: string) =>
    /(?:Z|UTC|GMT|\d[ ]?(?:GMT|UTC)?[+-]\d{1,2}:?\d{2})$/i.test(text) && hasClock(text)
  if (isEpoch || (times.length > 0 && times.every(isStated))) return { zone: utc, zoneBy: 'offsets' }
  const stated = names.map(zoneInName).find((zone) => zone !== null)
  if (stated) return { zone: stated, zoneBy: 'file' }
  const zone = known === null ? null : zoneOf(known)
  if (zone && times.some(hasClock)) return { zone, zoneBy: 'format' }
  return { zone: utc, zoneBy: 'assumed' }
}
