// Volume delta, its sum and the footprint, against sums over the shorter bars made here.

import { describe, expect, test } from 'bun:test'
import { LIBRARY } from '../../src/dashboard/studies/library.ts'
import { seededRandom } from '../../src/lib/seeded-random.ts'
import { emptyBars, sliceBars, type Bars } from '../../src/market/bars.ts'
import type { RunEnvironment } from '../../src/language/environment.ts'
import { plotted, runScript, SYMBOL } from '../language/run-script.ts'

const SEED = Number(process.env['SEED'] ?? 7)
console.log(`SEED=${SEED}`)
const MINUTE = 60_000
const WITHIN = 15
const COUNT = 40 * WITHIN
const START = Date.UTC(2024, 0, 1, 20)

/** Minutes of a random walk, some of which close where they opened. */
function minutes(): Bars {
  const random = seededRandom(SEED)
  const bars = emptyBars(COUNT)
  let price = 100
  for (let i = 0; i < COUNT; i++) {
    const open = price
    price += Math.round((random.uniform() - 0.5) * 8) / 4
    bars.time[i] = START + i * MINUTE
    bars.open[i] = open
    bars.close[i] = price
    bars.high[i] = Math.max(open, price)
    bars.low[i] = Math.min(open, price)
    bars.volume[i] = Math.floor(random.uniform() * 100)
  }
  return bars
}

function quarters(of: Bars): Bars {
  const bars = emptyBars(of.length / WITHIN)
  for (let i = 0; i < bars.length; i++) {
    const part = sliceBars(of, i * WITHIN, (i + 1) * WITHIN)
    bars.time[i] = part.time[0]!
    bars.open[i] = part.open[0]!
    bars.close[i] = part.close.at(-1)!
    bars.high[i] = Math.max(...part.high)
    bars.low[i] = Math.min(...part.low)
    bars.volume[i] = part.volume.reduce((sum, volume) => sum + volume, 0)
  }
  return bars
}

const short = minutes()
const chart = quarters(short)
/** What each minute adds: its volume with the sign of its move. */
const signed = Array.from(short.volume, (volume, i) => volume * Math.sign(short.close[i]! - short.open[i]!))
const deltas = Array.from({ length: chart.length }, (_, i) =>
  signed.slice(i * WITHIN, (i + 1) * WITHIN).reduce((sum, one) => sum + one, 0),
)

const series: RunEnvironment['series'] = (_exchange, _symbol, interval) =>
  interval === '1m' ? { bars: short, symbol: SYMBOL, interval } : null

/** The values of an expression behind the indicator's own lines. */
function valuesOf(id: string, expression: string, more: Partial<RunEnvironment> = {}): number[] {
  const { source = '' } = LIBRARY.find((one) => one.id === id) ?? {}
  const run = runScript(`${source}\nplot(${expression}, "asked")\n`, chart, { series, ...more })
  return plotted(run, run.plots.length - 1)
}

describe('volume delta', () => {
  test('is what shorter bars that rose traded, less those that fell', () => {
    expect(valuesOf('volume-delta', 'delta')).toEqual(deltas)
  })
  test('ends between the extremes that it had within the bar', () => {
    const running = (pick: (...all: number[]) => number) =>
      deltas.map((_, i) => {
        let sum = 0
        let found = 0
        for (const one of signed.slice(i * WITHIN, (i + 1) * WITHIN)) found = pick(found, (sum += one))
        return found
      })
    expect(valuesOf('volume-delta', 'highest')).toEqual(running(Math.max))
    expect(valuesOf('volume-delta', 'lowest')).toEqual(running(Math.min))
  })
  test('is the bar’s own volume with its own direction where there are no shorter bars', () => {
    const own = Array.from(chart.volume, (volume, i) => volume * Math.sign(chart.close[i]! - chart.open[i]!))
    const got = valuesOf('volume-delta', 'delta', { series: () => null })
    for (const [i, value] of own.entries()) if (value !== 0) expect(got[i]).toBe(value)
  })
})

test('cumulative volume delta begins again with the day', () => {
  let sum = 0
  const daily = deltas.map((delta, i) => {
    const isNewDay =
      i > 0 && new Date(chart.time[i]!).getUTCDate() !== new Date(chart.time[i - 1]!).getUTCDate()
    return (sum = (isNewDay ? 0 : sum) + delta)
  })
  expect(valuesOf('cumulative-volume-delta', 'now')).toEqual(daily)
  let whole = 0
  const never = deltas.map((delta) => (whole += delta))
  expect(valuesOf('cumulative-volume-delta', 'now', { inputs: { 'Begins again each': 'Never' } })).toEqual(
    never,
  )
})

describe('where the shorter bars were made of trades that have a side', () => {
  // Of what fell a quarter was bought all the same; of every fifth minute nobody knows.
  const bought = short.volume.map((volume, i) => (i % 5 === 4 ? Number.NaN : volume / 4))
  const known = Array.from(short.volume, (volume, i) => (i % 5 === 4 ? signed[i]! : -volume / 2))
  const sums = (of: (i: number) => number) =>
    Array.from({ length: chart.length }, (_, bar) => {
      let sum = 0
      for (let i = bar * WITHIN; i < (bar + 1) * WITHIN; i++) sum += of(i)
      return sum
    })
  const more: Partial<RunEnvironment> = {
    series: (_exchange, _symbol, interval) =>
      interval === '1m' ? { bars: { ...short, bought }, symbol: SYMBOL, interval } : null,
  }

  test('delta and its sum are of the sides, and of the moves where nobody knows', () => {
    const expected = sums((i) => known[i]!)
    expect(valuesOf('volume-delta', 'delta', more)).toEqual(expected)
    const never = { ...more, inputs: { 'Begins again each': 'Never' } }
    expect(valuesOf('cumulative-volume-delta', 'now', never).at(-1)).toBeCloseTo(
      expected.reduce((sum, one) => sum + one, 0),
      6,
    )
    expect(valuesOf('footprint', 'delta', more).at(-1)).toBeCloseTo(expected.at(-1)!, 6)
  })
  test('each says of how much it knows the sides', () => {
    for (const id of ['volume-delta', 'cumulative-volume-delta', 'footprint']) {
      const shares = (of: Partial<RunEnvironment>) => {
        const { source = '' } = LIBRARY.find((one) => one.id === id) ?? {}
        const { plots } = runScript(source, chart, { series, ...of })
        const place = plots.findIndex(({ title }) => title === 'Known sides, %')
        return [...plots[place]!.columns['series']!]
      }
      expect(shares(more).at(-1)).toBeCloseTo(80, 6)
      expect(shares({}).at(-1)).toBe(0)
    }
  })
  test('the footprint has at each price what was bought and sold of it', () => {
    // Three traded in one second at 100, five in the next at 101.
    const seconds = emptyBars(2)
    for (const [i, price] of [100, 101].entries()) {
      seconds.time[i] = START + i * 1000
      for (const field of ['open', 'high', 'low', 'close'] as const) seconds[field][i] = price
    }
    seconds.volume.set([3, 5])
    const minute = emptyBars(1)
    minute.time[0] = START
    minute.open[0] = minute.low[0] = 100
    minute.close[0] = minute.high[0] = 101
    minute.volume[0] = 8
    const { source = '' } = LIBRARY.find((one) => one.id === 'footprint') ?? {}
    const textsFor = (bars: Bars) =>
      runScript(source, minute, {
        interval: '1m',
        series: (_exchange, _symbol, interval) =>
          interval === '1s' ? { bars, symbol: SYMBOL, interval } : null,
      }).drawings.alive.box.map((one) => ('text' in one ? one.text : null))
    // The first second rose, by sides, and the second fell: the other way round than by moves.
    expect(textsFor({ ...seconds, bought: Float64Array.of(2, 1) })).toEqual(['1.0 × 2.0', '4.0 × 1.0'])
    expect(textsFor(seconds)).toEqual(['0.0 × 5.0'])
  })
})

describe('the footprint', () => {
  test('of the last bars has the delta of its rows together', () => {
    const got = valuesOf('footprint', 'delta')
    for (const [i, delta] of deltas.entries())
      expect(got[i]).toBeCloseTo(i < deltas.length - 12 ? 0 : delta, 6)
  })
  test('has a row for each step of price at which something traded, and marks the busiest', () => {
    expect(valuesOf('footprint', 'box.all.size()').at(-1)).toBeGreaterThan(12)
    for (const [i, point] of valuesOf('footprint', 'point').slice(-12).entries()) {
      const bar = chart.length - 12 + i
      expect(point).toBeGreaterThan(chart.low[bar]! - 1)
      expect(point).toBeLessThan(chart.high[bar]! + 1)
    }
  })
  test('says which bars it lacks', () => {
    expect(valuesOf('footprint', 'label.all.size()', { series: () => null }).at(-1)).toBe(1)
  })
})
