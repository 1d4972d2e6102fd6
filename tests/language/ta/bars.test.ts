// What reads whole bars: vwap, pivot levels, channels, dmi, sar, supertrend.

import { expect, test } from 'bun:test'
import { Budget } from '../../../src/language/runtime/budget.ts'
import { DEFAULT_LIMITS } from '../../../src/language/runtime/limits.ts'
import type { Runtime } from '../../../src/language/runtime/runtime.ts'
import { Bb, Bbw, Kc, Kcw } from '../../../src/language/builtins/ta/bands.ts'
import { PivotLevels } from '../../../src/language/builtins/ta/pivot-levels.ts'
import { Cmo, Mfi, Tsi } from '../../../src/language/builtins/ta/oscillators.ts'
import { Dmi, Sar } from '../../../src/language/builtins/ta/trend.ts'
import { SessionVwap, Vwap, VwapBands } from '../../../src/language/builtins/ta/vwap.ts'
import { Grids } from '../../../src/language/runtime/grids.ts'
import { SEED, seriesOf } from './series.ts'

const runtime = (timezone: string, session: string, interval: string) =>
  ({
    symbol: { timezone, session },
    grids: new Grids({ timezone, session }),
    interval,
    budget: new Budget(DEFAULT_LIMITS),
  }) as unknown as Runtime

const HOUR = 3_600_000

test('ta.vwap starts with the trading day, in the time zone of the exchange', () => {
  const vwap = new SessionVwap(runtime('America/New_York', '0930-1600', '1h'))
  const monday = Date.UTC(2024, 0, 8, 14, 30)
  const at = (day: number, hour: number, price: number, volume: number) =>
    vwap.next(price, price, price, volume, monday + day * 24 * HOUR + hour * HOUR)
  expect([at(0, 0, 10, 1), at(0, 1, 20, 1), at(0, 2, 40, 2)]).toEqual([10, 15, 27.5])
  expect([at(1, 0, 8, 5), at(1, 6, 10, 5)]).toEqual([8, 9])
})

test('ta.vwap of a market open overnight turns with its session, not at midnight', () => {
  const vwap = new SessionVwap(runtime('America/New_York', '1700-1700', '1h'))
  const start = Date.UTC(2024, 0, 8, 20)
  const values = [0, 1, 2, 3, 9].map((hour) => vwap.next(hour, hour, hour, 1, start + hour * HOUR))
  expect(values).toEqual([0, 0.5, 2, 2.5, 14 / 3])
})

test('ta.vwap on daily bars is hlc3', () => {
  const vwap = new SessionVwap(runtime('UTC', '24x7', '1d'))
  expect([0, 1, 2].map((day) => vwap.next(day + 3, day, day, 10, day * 24 * HOUR))).toEqual([1, 2, 3])
})

test('a vwap is na until its anchor was true, and its bands are deviations of the prices paid', () => {
  const vwap = new Vwap()
  const anchors = [false, true, false, true]
  expect(anchors.map((anchor, i) => vwap.next(i + 1, anchor, i + 1))).toEqual([NaN, 2, 13 / 5, 4])
  const bands = new VwapBands()
  bands.next(10, true, 2, 1)
  expect([...bands.next(14, false, 2, 1)]).toEqual([12, 16, 8])
})

test('pivot levels are those of the period before, by their formulas', () => {
  const levels = (type: string) => {
    const state = new PivotLevels(runtime('UTC', '24x7', '1h'))
    const first = state.next(type, false, false, 10, 12, 9, 11)
    expect([...first.values()]).toEqual(Array.from({ length: 11 }, () => NaN))
    state.next(type, true, false, 11, 13, 10, 12)
    state.next(type, false, false, 12, 16, 11, 15)
    // The period before: open 11, high 16, low 10, close 15. The new one opens at 14.
    return [...state.next(type, true, false, 14, 15, 13, 14).values()].map((x) => Math.round(x * 1e6) / 1e6)
  }
  const p = 41 / 3
  const round = (x: number) => Math.round(x * 1e6) / 1e6
  const na = (count: number) => Array.from({ length: count }, () => NaN)
  expect(levels('Traditional')).toEqual(
    [
      p,
      2 * p - 10,
      2 * p - 16,
      p + 6,
      p - 6,
      2 * p - 4,
      2 * p - 22,
      3 * p - 14,
      3 * p - 38,
      4 * p - 24,
      4 * p - 54,
    ].map(round),
  )
  expect(levels('Classic')).toEqual([
    ...[p, 2 * p - 10, 2 * p - 16, p + 6, p - 6, p + 12, p - 12, p + 18, p - 18].map(round),
    ...na(2),
  ])
  expect(levels('Fibonacci')).toEqual([
    ...[p, p + 2.292, p - 2.292, p + 3.708, p - 3.708, p + 6, p - 6].map(round),
    ...na(4),
  ])
  expect(levels('Woodie')).toEqual([13.5, 17, 11, 19.5, 7.5, 23, 5, 29, -1, ...na(2)])
  expect(levels('DM')).toEqual([14.25, 18.5, 12.5, ...na(8)])
  expect(levels('Camarilla').slice(1, 9)).toEqual([15.55, 14.45, 16.1, 13.9, 16.65, 13.35, 18.3, 11.7])
  expect(() => levels('Pivot')).toThrow('got "Pivot" as its `type`; it must be one of Traditional')
})

test('widths of bands follow from the bands', () => {
  const walk = seriesOf(SEED, 60)['walk'] ?? []
  const [bb, bbw, kc, kcw] = [new Bb(), new Bbw(), new Kc(), new Kcw()]
  for (const [i, x] of walk.entries()) {
    const before = walk[i - 1] ?? NaN
    const [middle, upper, lower] = bb.next(x, 10, 2) as [number, number, number]
    const width = bbw.next(x, 10, 2)
    const [kcMiddle, kcUpper, kcLower] = kc.next(x, 10, 2, true, x + 1, x - 1, before) as [
      number,
      number,
      number,
    ]
    const kcWidth = kcw.next(x, 10, 2, true, x + 1, x - 1, before)
    if (i < 9) expect(middle).toBeNaN()
    else expect(width).toBeCloseTo((100 * (upper - lower)) / middle, 9)
    if (i > 10) expect(kcWidth).toBeCloseTo((kcUpper - kcLower) / kcMiddle, 9)
    if (i < 9) expect(kcMiddle).toBeNaN()
    // The true range begins a bar later than the series.
    if (i === 9) expect(kcUpper).toBeNaN()
  }
})

test('a steady rise has no negative directional movement', () => {
  const dmi = new Dmi()
  let last = [NaN, NaN, NaN]
  for (let i = 0; i < 60; i++)
    last = [...dmi.next(14, 14, i + 1, i, i > 0 ? i : NaN, i > 0 ? i - 1 : NaN, i > 0 ? i - 0.5 : NaN)]
  expect(last[1]).toBe(0)
  expect(last[2]).toBeCloseTo(100, 9)
})

test('oscillators stay na or at their ends where nothing moves', () => {
  const [cmo, mfi, tsi] = [new Cmo(), new Mfi(), new Tsi()]
  for (let i = 0; i < 40; i++) {
    const last = [cmo.next(5, 10), mfi.next(5, 10, 100), tsi.next(5, 5, 10)]
    if (i > 30) expect(last).toEqual([NaN, 100, NaN])
  }
})

test('a sar that misses the second bar is na for ever', () => {
  const sar = new Sar()
  for (let bar = 0; bar < 50; bar++)
    if (bar !== 1) expect(sar.next(0.02, 0.02, 0.2, bar, bar + 1, bar, bar + 0.5)).toBeNaN()
})
