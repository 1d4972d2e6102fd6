// Volume delta, its sum and the footprint, against sums over the shorter bars made here.

import { describe, expect, test } from 'bun:test'
import { LIBRARY } from '../../src/dashboard/studies/library.ts'
import { seededRandom } from '../../src/lib/seeded-random.ts'
import { emptyBars, sliceBars, type Bars } from '../../src/market/bars.ts'
import type { RunEnvironment } from '../../src/pine/environment.ts'
import { plotted, runScript, SYMBOL } from '../pine/run-script.ts'

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
