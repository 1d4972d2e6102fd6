import { describe, expect, test } from 'bun:test'
import * as fc from 'fast-check'
import type { Track } from '../../src/wire/track.ts'
import { barAt, endOfBar, heikinAshi, lastOver, placeOf } from '../../src/dashboard/chart/bars.ts'
import { contrast, legible, PAGE } from '../../src/dashboard/chart/paint.ts'
import { marksOf, colorAt, groundAt, rangeOf, type PlotMark } from '../../src/dashboard/chart/marks.ts'
import { offsetsOf, toUtc } from '../../src/dashboard/chart/zone.ts'
import { envelope, lineThrough, longestUnderWater, yearsOf } from '../../src/dashboard/report/figures.ts'
import { priceTicks } from '../../src/market/picture/ticks.ts'
import { neighbour, ticksUntil } from '../../src/dashboard/replay/replay-model.ts'
import { tradeLines } from '../../src/dashboard/chart/trades.ts'
import type { ReportTrade } from '../../src/wire/report.ts'
import { emptyBars } from '../../src/market/bars.ts'

const DAY = 86_400_000
function days(count: number) {
  const bars = emptyBars(count)
  for (let i = 0; i < count; i++) {
    bars.time[i] = i * DAY
    bars.open[i] = bars.high[i] = bars.low[i] = bars.close[i] = 100 + i
  }
  return bars
}

describe('what is over when a bar is over', () => {
  const at = (...dates: readonly string[]) => {
    const bars = emptyBars(dates.length)
    for (const [i, date] of dates.entries()) bars.time[i] = Date.parse(date)
    return bars
  }
  const months = at('2021-01-01', '2021-02-01', '2021-03-01')

  test('a bar of a month ends with its month, however long that is', () => {
    expect(endOfBar(months, 1, '1M')).toBe(Date.parse('2021-03-01'))
    expect(lastOver(months, '1M', Date.parse('2021-01-31T23:00Z'))).toBe(-1)
    expect(lastOver(months, '1M', Date.parse('2021-02-01'))).toBe(0)
    const march = at('2021-02-26', '2021-03-01', '2021-03-02')
    expect(lastOver(march, '1d', endOfBar(months, 1, '1M'))).toBe(0)
  })

  test('a week that begins on a Tuesday ends before the next Monday, and a Friday before the weekend', () => {
    const weeks = at('2021-01-19', '2021-01-25')
    expect(endOfBar(weeks, 0, '1w')).toBe(Date.parse('2021-01-25'))
    const friday = at('2021-01-22', '2021-01-25')
    expect(endOfBar(friday, 0, '1d')).toBe(Date.parse('2021-01-23'))
    expect(lastOver(friday, '1d', Date.parse('2021-01-22T23:00Z'))).toBe(-1)
    expect(lastOver(friday, '1d', Date.parse('2021-01-23'))).toBe(0)
    expect(lastOver(friday, '1d', Date.parse('2021-02-01'))).toBe(1)
    expect(lastOver(emptyBars(0), '1d', 0)).toBe(-1)
  })
})

describe('the marks of a run', () => {
  const time: Track = { id: 'time', kind: 'time', data: [3 * DAY, 4 * DAY, 5 * DAY] }
  const plot = (more: object): Track => ({
    id: 'P',
    kind: 'plot',
    title: 'P',
    pane: 'price',
    overlay: true,
    zorder: 1,
    data: [1, null, 3],
    ...more,
  })

  test('a run of fewer bars than the chart stands where its bars are, an offset further on', () => {
    const all = marksOf('S', [time, plot({ offset: 2, color: '#FF0000FF' })], days(10))
    const mark = all.panes[0]!.marks[0] as PlotMark
    expect({ base: all.base, length: all.length, start: mark.start }).toEqual({
      base: 3,
      length: 3,
      start: 5,
    })
    expect([...mark.values]).toEqual([1, Number.NaN, 3])
    expect(colorAt(mark.colors, 1)).toBe('#FF0000FF')
  })

  test('a run that began before the bars on the chart stands where its later bars are', () => {
    const bars = days(10)
    const shown = { ...bars, length: 6, time: bars.time.subarray(4) }
    const mark = marksOf('S', [time, plot({})], shown).panes[0]!.marks[0] as PlotMark
    expect(mark.start).toBe(-1)
    expect(marksOf('S', [time, plot({})], { ...bars, length: 0, time: new Float64Array(0) }).base).toBe(0)
  })

  test('colours a bar come from the palette, -1 is none', () => {
    const colors = { palette: ['#00FF00FF'], index: [0, -1, 0] }
    const mark = marksOf('S', [time, plot({ colors })], days(10)).panes[0]!.marks[0] as PlotMark
    expect([0, 1, 2, 3].map((i) => colorAt(mark.colors, i))).toEqual(['#00FF00FF', null, '#00FF00FF', null])
  })

  test('a fill finds its plots by id; one whose plots are missing is left out', () => {
    const fill: Track = {
      id: 'F',
      kind: 'fill',
      title: '',
      pane: 'price',
      overlay: true,
      zorder: 2,
      between: ['P', 'Q'],
      color: '#0000FF33',
    }
    const marks = marksOf('S', [time, plot({}), plot({ id: 'Q', title: 'Q' }), fill], days(10)).panes[0]!
      .marks
    expect(marks.map((mark) => mark.kind)).toEqual(['plot', 'plot', 'fill'])
    expect(marksOf('S', [time, plot({}), fill], days(10)).panes[0]!.marks).toHaveLength(1)
  })

  test('the scale knows no more than a replay does', () => {
    const { marks } = marksOf('S', [time, plot({ data: [1, 2, 300] })], days(10)).panes[0]!
    expect(rangeOf(marks, 0, 9)).toEqual({ low: 1, high: 300 })
    // The run began at the chart's bar 3; of another script's run it may be any other.
    expect(rangeOf(marks, 0, 9, 4)).toEqual({ low: 1, high: 2 })
    expect(rangeOf(marks, 0, 2)).toEqual({ low: Infinity, high: -Infinity })
  })

  test('a background colour kept as stretches is the one that a plain array has', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(null, 0, 1), { minLength: 1, maxLength: 40 }), (plain) => {
        const runs: [number, number, number][] = []
        for (const [i, color] of plain.entries()) {
          const last = runs.at(-1)
          if (color === null) continue
          if (last && last[2] === color && last[0] + last[1] === i) last[1]++
          else runs.push([i, 1, color])
        }
        const shown = { id: 'b', title: '', pane: 'price', overlay: true, zorder: 1 }
        const track: Track = { ...shown, kind: 'bgcolor', palette: ['a', 'b'], runs }
        const mark = marksOf('S', [time, track], days(10)).panes[0]!.marks[0]!
        if (mark.kind !== 'bgcolor') throw new Error('not a ground')
        const found = plain.map((_, i) => groundAt(mark, i + 3))
        expect(found).toEqual(plain.map((color) => (color === null ? null : ['a', 'b'][color]!)))
      }),
    )
  })
})

describe('bars', () => {
  test('a time lies in the bar that began last', () => {
    const bars = days(5)
    expect([-1, 0, DAY - 1, DAY, 99 * DAY].map((time) => barAt(bars, time))).toEqual([0, 0, 0, 1, 4])
  })
  test('places go on beyond both ends', () => {
    const bars = days(5)
    expect([-DAY, 0.5 * DAY, 6 * DAY].map((time) => placeOf(bars, time, DAY))).toEqual([-1, 0.5, 6])
  })
  test('Heikin-Ashi opens in the middle of the bar before', () => {
    const made = heikinAshi(days(3))
    expect([...made.open]).toEqual([100, 100, 100.5])
    expect([...made.close]).toEqual([100, 101, 102])
  })
})

test('offsets of a zone are Temporal’s, on every hour of a year with two changes', () => {
  for (const zone of ['America/New_York', 'Asia/Kolkata', 'Australia/Lord_Howe']) {
    const offsetAt = offsetsOf(zone)
    for (let hour = 0; hour < 8784; hour += 1) {
      const time = Date.UTC(2024, 0, 1) + hour * 3_600_000
      const expected =
        Temporal.Instant.fromEpochMilliseconds(time).toZonedDateTimeISO(zone).offsetNanoseconds / 1e6
      if (offsetAt(time) !== expected) throw new Error(`${zone} ${new Date(time).toISOString()}`)
    }
  }
  expect(toUtc(Date.UTC(2024, 6, 1, 9, 30), 'America/New_York')).toBe(Date.UTC(2024, 6, 1, 13, 30))
})

describe('figures', () => {
  test('months stand in the row of their year, and compound to it', () => {
    const month = (name: string, profitPct: number) => ({ month: name, profitPct, profit: 0, trades: 1 })
    const [first, second] = yearsOf([month('2019-12', 0.1), month('2020-01', 0.1), month('2020-02', -0.5)])
    expect(first!.months[11]).toBe(0.1)
    expect(first!.months[0]).toBeUndefined()
    expect(second!.total).toBeCloseTo(1.1 * 0.5 - 1, 12)
  })
  test('a drawdown that has not recovered lasts to the end', () => {
    const drawdowns = [
      { start: 0, trough: DAY, end: 3 * DAY, bars: 3, depth: 9, depthPct: 0.1 },
      { start: 4 * DAY, trough: 5 * DAY, end: null, bars: 6, depth: 1, depthPct: 0.01 },
    ]
    const report = { equity: { drawdowns }, range: { from: 0, to: 10 * DAY, bars: 11 } }
    expect(longestUnderWater(report as never)).toEqual({ bars: 6, ms: 6 * DAY })
  })
  test('no spike is lost when points are many', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer(), { minLength: 1, maxLength: 500 }),
        fc.integer({ min: 1, max: 60 }),
        (data, width) => {
          const { low, high, last } = envelope(data, width)
          expect(Math.min(...low)).toBe(Math.min(...data))
          expect(Math.max(...high)).toBe(Math.max(...data))
          expect(last.at(-1)).toBe(data.at(-1))
        },
      ),
    )
  })
  test('one value is a level line over the whole width', () => {
    expect([...lineThrough([7], 50)]).toEqual([
      [0, 7],
      [50, 7],
    ])
    expect([...lineThrough([7, null, 9], 50)]).toEqual([
      [0, 7],
      [50, 9],
    ])
    expect([...lineThrough([], 50)]).toEqual([])
  })
  test('an axis has round steps', () => {
    expect(priceTicks(0, 100, 5)).toEqual([0, 20, 40, 60, 80, 100])
    expect(priceTicks(-3, 7, 4)).toEqual([0, 5])
  })
})

test('the next stop lies behind the cursor, the previous one before it', () => {
  expect([neighbour([2, 5, 9], 5, 1), neighbour([2, 5, 9], 5, -1), neighbour([2], 2, 1)]).toEqual([
    9,
    2,
    null,
  ])
})

test('text in a script’s colour is read in either theme, and keeps its colour where it can', () => {
  for (const color of ['#FF9800', '#FFEB3BFF', '#000000', '#FFFFFF', '#2962FF', '#4CAF50']) {
    expect(contrast(legible(color, 'light'), '#ffffff')).toBeGreaterThanOrEqual(4.5)
    expect(contrast(legible(color, 'dark'), '#0f1216')).toBeGreaterThanOrEqual(4.5)
  }
  expect(legible('#FF9800', 'dark')).toBe('#ff9800')
  expect(legible('#2962FF', 'light')).toBe('#2962ff')
  expect(contrast('#000000', '#ffffff')).toBeCloseTo(21)
  // What is see-through stays so.
  expect(legible('#FFFFFF00', 'light')).toBe('#FFFFFF00')
})

test('text is judged against the page as its stylesheet paints it', async () => {
  const css = await Bun.file(`${import.meta.dir}/../../src/dashboard/style.css`).text()
  for (const theme of ['dark', 'light'] as const) {
    const rules = css.slice(css.indexOf(`[data-theme='${theme}'] {`))
    const token = (name: string) => new RegExp(`--${name}: (#[0-9a-f]{6});`).exec(rules)?.[1]
    expect<object>(PAGE[theme]).toEqual({ ground: token('surface'), ink: token('text') })
  }
})

describe('trades', () => {
  const trade = {
    side: 'short',
    status: 'closed',
    qty: 95,
    profit: -12.5,
    entryBar: 10,
    exitBar: 14,
    entryId: 'Short',
    entryComment: '',
    exitId: 'Close entry(s) order Short',
    exitComment: 'Out',
  } as ReportTrade

  test('have name and size at both ends, and at the exit the profit', () => {
    const { entryLines, exitLines } = tradeLines(trade, 'USD')
    expect(entryLines.map(({ text }) => text)).toEqual(['Short', '−95'])
    expect(exitLines).toEqual([
      { text: 'Out', tone: 'text' },
      { text: '+95', tone: 'muted' },
      { text: '−12.50 USD', tone: 'down' },
    ])
    const sizes = [69.762111, 214.106651, 0.112568, 12345.678, 250_000].map(
      (qty) => tradeLines({ ...trade, qty }, 'USD').exitLines[1]!.text,
    )
    expect(sizes).toEqual(['+69.76', '+214.1', '+0.1126', '+12,346', '+250,000'])
    const { exitLines: closed } = tradeLines({ ...trade, exitComment: '' }, 'USD')
    expect(closed[0]!.text).toBe('Close Short')
    const { exitLines: long } = tradeLines({ ...trade, exitComment: 'Target of the second stage' }, 'USD')
    expect(long[0]!.text).toBe('Target of the sec…')
  })

  test('are on the timeline of a replay as far as it knows of them', () => {
    const until = (bar: number) => ticksUntil([trade], bar).map(({ at, tone }) => `${at} ${tone}`)
    expect(until(9)).toEqual([])
    expect(until(13)).toEqual(['10 muted'])
    expect(until(14)).toEqual(['10 down', '14 down'])
    expect(ticksUntil([{ ...trade, status: 'open' }], 14)).toHaveLength(1)
  })
})
