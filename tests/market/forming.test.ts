import { expect, test } from 'bun:test'
import { type Bars, emptyBars, selectBars } from '../../src/market/bars.ts'
import { calendarOf } from '../../src/market/calendar.ts'
import { parseInterval } from '../../src/market/interval.ts'
import { withLive } from '../../src/market/live/forming-bars.ts'
import { defaultSymbol } from '../../src/market/symbols.ts'
import { withForming } from '../../src/market/forming.ts'

const MINUTE = 60_000
const ALWAYS_OPEN = calendarOf(defaultSymbol('BINANCE', 'BTCUSDT'))

function stored() {
  const bars = emptyBars(2)
  bars.time.set([0, MINUTE])
  bars.close.set([1, 2])
  return bars
}
const barAt = (time: number) => ({ time, open: 5, high: 9, low: 4, close: 7, volume: 1 })
const shown = (time: number | null) => {
  const bars = withForming(stored(), time === null ? null : barAt(time))
  return [[...bars.time], [...bars.close]]
}

test('the bar that is not over stands behind the stored ones', () => {
  expect(shown(2 * MINUTE)).toEqual([
    [0, MINUTE, 2 * MINUTE],
    [1, 2, 7],
  ])
})

test('where a part of it is stored it takes its place, and an older one is not shown', () => {
  expect(shown(MINUTE)).toEqual([
    [0, MINUTE],
    [1, 7],
  ])
  for (const time of [0, null])
    expect(shown(time)).toEqual([
      [0, MINUTE],
      [1, 2],
    ])
  expect([...withForming(emptyBars(0), barAt(MINUTE)).close]).toEqual([7])
})

test('what of it was bought is known beside bars of which it is not', () => {
  const { bought } = withForming(stored(), { ...barAt(2 * MINUTE), bought: 0.5 })
  expect([...(bought ?? [])]).toEqual([NaN, NaN, 0.5])
  expect(withForming(stored(), barAt(2 * MINUTE)).bought).toBeUndefined()
})

test('a forming bar with stored parts knows what was bought if all parts do', () => {
  const parts = stored()
  const row = [2 * MINUTE, 5, 9, 4, 7, 1, 0.5] as const
  const interval = parseInterval('5m')!
  const five = (bars: Bars) =>
    withLive(selectBars(bars, { first: 1 }), row, interval, { isOwn: false, calendar: ALWAYS_OPEN }).bought
  expect(five({ ...parts, bought: Float64Array.of(2, NaN) })?.[0]).toBe(2.5)
  expect(five(parts)?.[0] ?? NaN).toBeNaN()
})
