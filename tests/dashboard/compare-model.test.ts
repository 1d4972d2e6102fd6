// Curves of several runs: their points, their scales, and which runs can be added.

import { expect, test } from 'bun:test'
import {
  differingInputs,
  idsOf,
  pointsOf,
  RUNS_MAX,
  spanOf,
  toldApart,
  valueAt,
} from '../../src/dashboard/backtests/compare-model.ts'
import { axisOf, heightOf, type CurveScale } from '../../src/dashboard/report/curve-scales.ts'
import { seededRandom } from '../../src/lib/seeded-random.ts'

const curve = (times: (number | null)[], equity: (number | null)[]) => ({ times, equity })

test('runs of other markets and intervals share one axis of time', () => {
  const hours = curve([10, 20, 30], [1, 2, 3])
  const days = curve([5, 25], [1, 1])
  expect(spanOf([hours, days])).toEqual({ from: 5, to: 30 })
  expect(spanOf([curve([], [])])).toBeNull()
  expect(pointsOf(hours, { from: 5, to: 30 }, 25)).toEqual([
    { x: 5, value: 1 },
    { x: 15, value: 2 },
    { x: 25, value: 3 },
  ])
})

test('no spike is lost, and no more than four points a column of pixels are drawn', () => {
  const { uniform } = seededRandom(7)
  const times = Array.from({ length: 20_000 }, (_, i) => i)
  const equity = times.map(() => uniform())
  const points = pointsOf(curve(times, equity), { from: 0, to: 19_999 }, 300)
  expect(points.length).toBeLessThanOrEqual(4 * 301)
  const values = points.map(({ value }) => value)
  expect(Math.min(...values)).toBe(Math.min(...equity))
  expect(Math.max(...values)).toBe(Math.max(...equity))
  expect(values[0]).toBe(equity[0])
  expect(values.at(-1)).toBe(equity.at(-1))
  expect(points.every(({ x }, i) => i === 0 || x >= points[i - 1]!.x)).toBe(true)
})

test('bars without a value are gaps, not zeros', () => {
  expect(pointsOf(curve([0, 1, 2], [null, 5, null]), { from: 0, to: 2 }, 2)).toEqual([{ x: 1, value: 5 }])
  expect(pointsOf(curve([0, 0], [3, 4]), { from: 0, to: 0 }, 10)).toEqual([
    { x: 0, value: 3 },
    { x: 0, value: 4 },
  ])
})

test('a run is worth what its last bar says, and nothing before its first or behind its last', () => {
  const run = curve([10, 20, 30], [1, 2, null])
  expect([9, 10, 19, 20, 29, 30, 31].map((time) => valueAt(run, time))).toEqual([
    null,
    1,
    1,
    2,
    2,
    null,
    null,
  ])
})

test('an address names each run once, and no more than fit', () => {
  expect(idsOf('bt_a,bt_b,bt_a,,<script>')).toEqual(['bt_a', 'bt_b'])
  expect(idsOf(null)).toEqual([])
  const many = Array.from({ length: 40 }, (_, i) => `bt_${i}`).join()
  expect(idsOf(many)).toHaveLength(RUNS_MAX)
})

test('only inputs in which runs differ are told', () => {
  const runs = [
    { inputs: { fast: 10, slow: 20 } },
    { inputs: { fast: 12, slow: 20 } },
    { inputs: { fast: 10 } },
  ]
  expect(differingInputs(runs)).toEqual(['fast', 'slow'])
  expect(differingInputs(runs.slice(0, 2))).toEqual(['fast'])
  expect(differingInputs([])).toEqual([])
})

test('runs of one script are told apart by market, by inputs that differ, and by time where those are the same', () => {
  const run = (name: string, length: number, made: string, market = 'SP:SPX 1D') => ({
    name,
    market,
    inputs: { Length: length, Source: 'close' },
    made,
  })
  const told = (...runs: Parameters<typeof toldApart>[0]) => toldApart(runs, String)
  expect(told(run('RSI', 14, 'at 9'), run('RSI', 21, 'at 10'))).toEqual([
    'SP:SPX 1D · Length 14',
    'SP:SPX 1D · Length 21',
  ])
  expect(told(run('RSI', 14, 'at 9'), run('RSI', 14, 'at 10'), run('MACD', 14, 'at 11'))).toEqual([
    'SP:SPX 1D · at 9',
    'SP:SPX 1D · at 10',
    'SP:SPX 1D',
  ])
  expect(told(run('RSI', 14, 'at 9'), run('RSI', 14, 'at 9', 'SP:SPX 1W'))).toEqual([
    'SP:SPX 1D',
    'SP:SPX 1W',
  ])
})

test('a scale makes amounts comparable, and leaves out what it cannot show', () => {
  const height = (scale: CurveScale, value: number) => heightOf(scale, 100, [50, 100, 150])(value)
  expect(height('money', 150)).toBe(150)
  expect(height('percent', 150)).toBe(0.5)
  expect(height('log', 200)! * 2).toBeCloseTo(height('log', 400)!)
  expect(height('log', 0)).toBeNull()
  expect(height('log', -5)).toBeNull()
  expect([50, 100, 150].map((value) => height('own', value))).toEqual([0, 0.5, 1])
  expect(heightOf('own', 100, [7, 7])(7)).toBe(0)
  expect(heightOf('percent', 0, [])(5)).toBeNull()
})

test('an axis has round marks, those of a logarithm at round growth', () => {
  const texts = (scale: CurveScale, low: number, high: number) =>
    axisOf(scale, low, high, 5).map(({ text }) => text)
  expect(texts('percent', -0.2, 0.62)).toEqual(['−20%', '0%', '+20%', '+40%', '+60%'])
  expect(texts('log', Math.log(0.4), Math.log(30))).toEqual(['−50%', '+100%', '+900%'])
  expect(texts('log', Math.log(0.9), Math.log(1.3))).toEqual(['−10%', '0%', '+10%', '+20%', '+30%'])
  expect(texts('own', 0, 1)).toEqual([])
  expect(texts('money', 0, 4000)).toContain('2K')
  // In short all of them would be 1M.
  expect(texts('money', 1_000_000, 1_000_008)).toContain('1,000,004')
})
