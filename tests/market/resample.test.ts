import { describe, expect, test } from 'bun:test'
import { type Bars, emptyBars } from '../../src/market/bars.ts'
import { type Calendar, calendarOf } from '../../src/market/calendar.ts'
import { type Interval, parseInterval } from '../../src/market/interval.ts'
import { groupBars, resample, resampleInSteps } from '../../src/market/resample.ts'

const STOCK = calendarOf({ timezone: 'America/New_York', session: '0930-1600' })
const FOREX = calendarOf({ timezone: 'America/New_York', session: '1700-1700' })
const COIN = calendarOf({ timezone: 'UTC', session: '24x7' })

function interval(text: string): Interval {
  const parsed = parseInterval(text)
  if (!parsed) throw new Error(`${text} is no interval`)
  return parsed
}

function barsOf(
  rows: readonly (readonly [time: string, o: number, h: number, l: number, c: number, v: number])[],
) {
  const bars = emptyBars(rows.length)
  for (const [i, [time, open, high, low, close, volume]] of rows.entries()) {
    bars.time[i] = Date.parse(time)
    bars.open[i] = open
    bars.high[i] = high
    bars.low[i] = low
    bars.close[i] = close
    bars.volume[i] = volume
  }
  return bars
}

function show(bars: Bars): string[] {
  return Array.from(bars.time, (time, i) =>
    [
      new Date(time).toISOString().slice(0, 16),
      bars.open[i],
      bars.high[i],
      bars.low[i],
      bars.close[i],
      bars.volume[i],
    ].join(' '),
  )
}

test('four hours of coins out of hours, the last one forming', () => {
  const hours = barsOf([
    ['2024-03-05T03:00Z', 10, 12, 9, 11, 1],
    ['2024-03-05T04:00Z', 11, 15, 11, 14, 2],
    ['2024-03-05T06:00Z', 14, 16, 8, 9, 3],
    ['2024-03-05T08:00Z', 9, 10, 9, 10, 4],
  ])
  expect(show(resample(hours, interval('1h'), interval('4h'), COIN))).toEqual([
    '2024-03-05T00:00 10 12 9 11 1',
    '2024-03-05T04:00 11 16 8 9 5',
    '2024-03-05T08:00 9 10 9 10 4',
  ])
})

test('a week of stocks that begins with a holiday has the time of its first session', () => {
  const days = barsOf([
    ['2024-01-12T14:30Z', 1, 1, 1, 1, 1],
    ['2024-01-16T14:30Z', 2, 5, 2, 3, 1],
    ['2024-01-17T14:30Z', 3, 3, 1, 2, 1],
  ])
  expect(show(resample(days, interval('1d'), interval('1w'), STOCK))).toEqual([
    '2024-01-12T14:30 1 1 1 1 1',
    '2024-01-16T14:30 2 5 1 2 2',
  ])
})

test('daily bars dated midnight UTC make the same weeks', () => {
  const days = barsOf([
    ['2024-01-12T00:00Z', 1, 1, 1, 1, 1],
    ['2024-01-16T00:00Z', 2, 5, 2, 3, 1],
    ['2024-01-17T00:00Z', 3, 3, 1, 2, 1],
  ])
  expect(show(resample(days, interval('1d'), interval('1w'), STOCK))).toEqual([
    '2024-01-12T14:30 1 1 1 1 1',
    '2024-01-16T14:30 2 5 1 2 2',
  ])
})

test('groups say which bar completes a coarser one, and when it closes', () => {
  const hours = barsOf([
    ['2024-03-10T21:00Z', 1, 1, 1, 1, 1],
    ['2024-03-11T20:00Z', 1, 1, 1, 1, 1],
    ['2024-03-11T21:00Z', 1, 1, 1, 1, 1],
  ])
  const groups = groupBars(hours.time, interval('1h'), interval('1d'), FOREX)
  expect([...groups.index]).toEqual([0, 0, 1])
  expect([...groups.first]).toEqual([0, 2, 3])
  expect([...groups.end].map((time) => new Date(time).toISOString())).toEqual([
    '2024-03-11T21:00:00.000Z',
    '2024-03-12T21:00:00.000Z',
  ])
})

describe('resampling in steps is resampling at once', () => {
  const cases: readonly (readonly [string, Calendar])[] = [
    ['24x7', COIN],
    ['1700-1700', FOREX],
  ]
  test.each(cases)('%s', async (_name, calendar) => {
    const seed = Number(Bun.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31))
    let state = seed
    const random = () => (state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff) / 0x7fff_ffff
    const times: number[] = []
    for (let minute = 0; minute < 60 * 24 * 45; minute += 5)
      if (calendar.isOpen(Date.UTC(2024, 9, 20) + minute * 60_000) && random() > 0.1)
        times.push(Date.UTC(2024, 9, 20) + minute * 60_000)
    const bars = emptyBars(times.length)
    for (const [i, time] of times.entries()) {
      const price = 100 + Math.floor(random() * 1000)
      bars.time[i] = time
      bars.open[i] = price
      bars.high[i] = price + 3
      bars.low[i] = price - 3
      bars.close[i] = price + 1
      bars.volume[i] = Math.floor(random() * 100)
    }
    const five = interval('5m')
    for (const [middle, coarse] of [
      ['15m', '1h'],
      ['1h', '1d'],
      ['1d', '1w'],
      ['1d', '1M'],
    ] as const) {
      const direct = resample(bars, five, interval(coarse), calendar)
      const stepped = resample(
        resample(bars, five, interval(middle), calendar),
        interval(middle),
        interval(coarse),
        calendar,
      )
      expect({ seed, coarse, bars: show(stepped) }).toEqual({ seed, coarse, bars: show(direct) })
      // A step may be shorter than a bar, and ends anywhere in one.
      const inTurns = await resampleInSteps(
        bars,
        five,
        interval(coarse),
        calendar,
        1 + Math.floor(random() * 900),
      )
      expect({ seed, coarse, bars: show(inTurns) }).toEqual({ seed, coarse, bars: show(direct) })
    }
  })
})
