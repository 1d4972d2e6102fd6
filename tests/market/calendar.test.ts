import { describe, expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { calendarOf, periodFinder } from '../../src/market/calendar.ts'
import { parseInterval } from '../../src/market/interval.ts'
import { parseSession } from '../../src/market/session.ts'
import { zoneOf } from '../../src/market/zone.ts'

const STOCK = { timezone: 'America/New_York', session: '0930-1600' }
const FOREX = { timezone: 'America/New_York', session: '1700-1700' }
const COIN = { timezone: 'Etc/UTC', session: '24x7' }
const TOKYO = { timezone: 'Asia/Tokyo', session: '0900-1130,1230-1530' }
const SHANGHAI_FUTURES = { timezone: 'Asia/Shanghai', session: '2100-0230,0900-1130,1330-1500' }

function instant(symbol: { timezone: string }, wall: string): number {
  return Temporal.PlainDateTime.from(wall).toZonedDateTime(symbol.timezone).epochMilliseconds
}

function wall(symbol: { timezone: string }, time: number): string {
  const zoned = Temporal.Instant.fromEpochMilliseconds(time).toZonedDateTimeISO(symbol.timezone)
  return zoned.toPlainDateTime().toString({ smallestUnit: 'minute' }).replace('T', ' ')
}

function interval(text: string) {
  const parsed = parseInterval(text)
  if (!parsed) throw new Error(`${text} is no interval`)
  return parsed
}

describe('the bar that contains an instant', () => {
  test.each([
    ['four hours of a stock count from 9:30', STOCK, '4h', '2024-03-05T10:15', '09:30', '13:30'],
    ['… and are cut at the close', STOCK, '4h', '2024-03-05T15:59', '13:30', '16:00'],
    ['before the open the grid goes on backwards', STOCK, '1h', '2024-03-05T08:45', '08:30', '09:30'],
    ['a day is the session', STOCK, '1d', '2024-03-05T12:00', '09:30', '16:00'],
    ['a lunch break restarts the grid', TOKYO, '1h', '2024-03-05T12:45', '12:30', '13:30'],
    ['… and cuts the bar before it', TOKYO, '1h', '2024-03-05T11:15', '11:00', '11:30'],
  ])('%s', (_name, symbol, name, at, start, end) => {
    const period = calendarOf(symbol).period(instant(symbol, at), interval(name))
    expect([wall(symbol, period.start), wall(symbol, period.end)]).toEqual([
      `${at.slice(0, 10)} ${start}`,
      `${at.slice(0, 10)} ${end}`,
    ])
  })

  test.each([
    [
      "Sunday evening is Monday's session",
      FOREX,
      '1d',
      '2024-10-20T17:00',
      '2024-10-20 17:00',
      '2024-10-21 17:00',
    ],
    [
      'a forex week starts on Sunday evening',
      FOREX,
      '1w',
      '2024-10-23T03:00',
      '2024-10-20 17:00',
      '2024-10-25 17:00',
    ],
    [
      'the evening of the 31st is November',
      FOREX,
      '1M',
      '2024-10-31T17:05',
      '2024-10-31 17:00',
      '2024-11-29 17:00',
    ],
    [
      'a month of stocks starts with a weekday',
      STOCK,
      '1M',
      '2024-06-20T12:00',
      '2024-06-03 09:30',
      '2024-06-28 16:00',
    ],
    ['a quarter', STOCK, '3M', '2024-06-20T12:00', '2024-04-01 09:30', '2024-06-28 16:00'],
    [
      'a week of coins is Monday to Monday',
      COIN,
      '1w',
      '2024-10-20T23:59',
      '2024-10-14 00:00',
      '2024-10-21 00:00',
    ],
    [
      'the day the clocks go back has 25 hours',
      FOREX,
      '1d',
      '2024-11-04T12:00',
      '2024-11-03 17:00',
      '2024-11-04 17:00',
    ],
    [
      "Friday's night session is Monday's",
      SHANGHAI_FUTURES,
      '1d',
      '2024-03-08T22:00',
      '2024-03-10 21:00',
      '2024-03-11 15:00',
    ],
    [
      'three weeks are cut at the New Year',
      FOREX,
      '3w',
      '2025-01-02T12:00',
      '2024-12-22 17:00',
      '2025-01-03 17:00',
    ],
  ])('%s', (_name, symbol, name, at, start, end) => {
    const period = calendarOf(symbol).period(instant(symbol, at), interval(name))
    expect([wall(symbol, period.start), wall(symbol, period.end)]).toEqual([start, end])
  })
})

test('days and weeks change where they did on TradingView (EURUSD over a New Year)', () => {
  // The first bar of each session, in New York: weekdays at 17:00 from Sunday 20 October 2024 on; TradingView had
  // no session on 25 December and 1 January.
  const holidays = new Set(['2024-12-24', '2024-12-31'])
  const opens: number[] = []
  for (let day = 0; day < 100; day++) {
    const date = Temporal.PlainDate.from('2024-10-20').add({ days: day })
    if ([5, 6].includes(date.dayOfWeek) || holidays.has(date.toString())) continue
    opens.push(instant(FOREX, `${date.toString()}T17:05`))
  }
  const changes = (name: string) => {
    const find = periodFinder(calendarOf(FOREX), interval(name))
    return opens
      .filter((time, i) => i > 0 && find(time).start !== find(opens[i - 1] ?? 0).start)
      .map((time) => wall(FOREX, time).slice(0, 10))
  }
  expect(changes('3w')).toEqual(['2024-11-10', '2024-12-01', '2024-12-22', '2025-01-05', '2025-01-26'])
  expect(changes('1M')).toEqual(['2024-10-31', '2024-12-01', '2025-01-01'])
  expect(changes('2d').filter((date) => date > '2024-12-14')).toEqual([
    '2024-12-15',
    '2024-12-17',
    '2024-12-19',
    '2024-12-23',
    '2024-12-25',
    '2024-12-29',
    '2025-01-01',
    '2025-01-02',
    '2025-01-06',
    '2025-01-08',
    '2025-01-12',
    '2025-01-14',
    '2025-01-16',
    '2025-01-20',
    '2025-01-22',
    '2025-01-26',
  ])
})

const oracle = ['../shared/parity', '../../shared/parity']
  .map((path) => `${import.meta.dir}/../../${path}/other/timeframe_change.csv`)
  .find((path) => existsSync(path))

if (oracle !== undefined)
  test("timeframe.change on every bar of TradingView's own export", () => {
    const [, ...rows] = readFileSync(oracle ?? '', 'utf8')
      .trim()
      .split('\n')
    const bars = rows.map((row) => row.split(',').map(Number))
    const frames = ['15', '240', 'D', '2D', 'W', '3W', 'M']
    for (const [column, frame] of frames.entries()) {
      const find = periodFinder(calendarOf(FOREX), interval(frame))
      let previous = Number.NaN
      const wrong = bars.flatMap((bar, i) => {
        const start = find(bar[0] ?? 0).start
        const changed = i > 0 && start !== previous
        previous = start
        return i > 0 && changed !== (bar[6 + column] ?? 0) > 0 ? [wall(FOREX, bar[0] ?? 0)] : []
      })
      expect({ frame, wrong }).toEqual({ frame, wrong: [] })
    }
  })

test('daily bars dated midnight UTC belong to that date, wherever the exchange is', () => {
  const find = periodFinder(calendarOf(STOCK), interval('1w'), interval('1d'))
  expect(wall(STOCK, find(Date.UTC(2024, 2, 4)).start)).toBe('2024-03-04 09:30')
  expect(wall(STOCK, find(Date.UTC(2024, 2, 8)).start)).toBe('2024-03-04 09:30')
})

test('isOpen follows the session, holidays not considered', () => {
  const open = (symbol: typeof STOCK, at: string) => calendarOf(symbol).isOpen(instant(symbol, at))
  expect(open(STOCK, '2024-03-05T09:30')).toBe(true)
  expect(open(STOCK, '2024-03-05T16:00')).toBe(false)
  expect(open(STOCK, '2024-03-09T12:00')).toBe(false)
  expect(open(FOREX, '2024-03-08T17:00')).toBe(false)
  expect(open(FOREX, '2024-03-10T17:00')).toBe(true)
  expect(open(COIN, '2024-03-09T12:00')).toBe(true)
})

describe('sessions', () => {
  test.each(['', '930-1600', '0930', '2500-2600', '0930-1660', '0930-1600:8', '0930-1600:', '9x5'])(
    '%p is refused',
    (text) => {
      expect(parseSession(text)).toBeNull()
    },
  )

  test('an overnight range is filed under the weekday of its last minute', () => {
    expect(parseSession('1700-1700:2')?.days[1]).toEqual([{ start: -420, end: 1020 }])
    expect(parseSession('2200-0000:2')?.days[1]).toEqual([{ start: 1320, end: 1440 }])
  })

  test('days behind the last of several ranges count for all of them', () => {
    expect(parseSession('0900-1130,1230-1500:2')?.days.map((ranges) => ranges.length)).toEqual([
      0, 2, 0, 0, 0, 0, 0,
    ])
  })
})

describe('zones', () => {
  test('agree with Temporal at and around every transition of five zones', () => {
    for (const name of [
      'America/New_York',
      'Europe/Budapest',
      'Australia/Lord_Howe',
      'Asia/Kolkata',
      'Africa/Cairo',
    ]) {
      const zone = zoneOf(name)
      let at = Temporal.Instant.from('2005-01-01T00:00Z').toZonedDateTimeISO(name)
      for (;;) {
        const next = at.getTimeZoneTransition('next')
        if (!next || next.year > 2030) break
        for (const step of [-86_400_000, -3_600_000, -1, 0, 1, 1_800_000, 3_600_000]) {
          const time = next.epochMilliseconds + step
          const there = Temporal.Instant.fromEpochMilliseconds(time).toZonedDateTimeISO(name)
          expect(zone?.offsetAt(time)).toBe(there.offsetNanoseconds / 1e6)
          const local = time + there.offsetNanoseconds / 1e6
          expect(zone?.toUtc(local)).toBe(there.toPlainDateTime().toZonedDateTime(name).epochMilliseconds)
          // Skipped and repeated hours too.
          const skipped = there.toPlainDateTime().add({ minutes: 30 })
          expect(zone?.toUtc(local + 1_800_000)).toBe(skipped.toZonedDateTime(name).epochMilliseconds)
        }
        at = next
      }
    }
  })

  test.each([
    ['GMT+6', 360],
    ['UTC-3', -180],
    ['UTC+05:30', 330],
    ['GMT-0330', -210],
    ['UTC', 0],
  ])('%s is %p minutes from UTC', (name, minutes) => {
    expect((zoneOf(name)?.offsetAt(0) ?? Number.NaN) / 60_000).toBe(minutes)
  })

  test('a name nobody knows is null', () => {
    expect(zoneOf('Mars/Olympus')).toBeNull()
    expect(zoneOf('GMT+99')).toBeNull()
  })
})

describe('half days of the stock exchanges in New York', () => {
  const closeOf = (symbol: typeof STOCK, day: string) => {
    const calendar = calendarOf(symbol)
    return wall(symbol, calendar.close(calendar.tradingDay(instant(symbol, `${day}T10:00`)))).slice(11)
  }

  // From the exchanges' published calendars.
  test.each([
    ['2024-07-03', '13:00'],
    ['2023-07-03', '13:00'],
    ['2019-07-03', '13:00'],
    ['2018-07-03', '13:00'],
    ['2024-11-29', '13:00'],
    ['2023-11-24', '13:00'],
    ['2024-12-24', '13:00'],
    ['2020-12-24', '13:00'],
    // A Thursday's holiday gave the Friday behind it the short session until 2012.
    ['2002-07-05', '13:00'],
    ['2002-07-03', '16:00'],
    ['2013-07-03', '13:00'],
    ['2013-07-05', '16:00'],
    // Saturday's holiday closes the Friday before it altogether, so nothing is early.
    ['2021-12-23', '16:00'],
    ['2020-07-02', '16:00'],
    ['2024-07-05', '16:00'],
    ['2024-11-22', '16:00'],
    ['2024-12-23', '16:00'],
    ['1992-12-24', '16:00'],
  ])('%s closes at %s', (day, close) => {
    expect(closeOf(STOCK, day)).toBe(close)
  })

  test('bars are cut there, and the market is shut behind it', () => {
    const calendar = calendarOf(STOCK)
    const at = (clock: string) => instant(STOCK, `2024-11-29T${clock}`)
    const bar = (text: string) => {
      const { start, end } = calendar.period(at('12:59'), interval(text))
      return [wall(STOCK, start).slice(11), wall(STOCK, end).slice(11)]
    }
    expect([bar('4h'), bar('1h'), bar('1d')]).toEqual([
      ['09:30', '13:00'],
      ['12:30', '13:00'],
      ['09:30', '13:00'],
    ])
    expect([calendar.isOpen(at('12:59')), calendar.isOpen(at('13:00'))]).toEqual([true, false])
  })

  test('other markets know none', () => {
    expect(closeOf(FOREX, '2024-11-29')).toBe('17:00')
    expect(closeOf({ timezone: 'America/New_York', session: '0400-2000' }, '2024-11-29')).toBe('20:00')
  })
})
