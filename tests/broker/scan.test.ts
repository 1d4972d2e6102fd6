// What a script says of a market on its last bar.

import { expect, test } from 'bun:test'
import { scanMarket } from '../../src/broker/scan.ts'
import { market, requestOn } from './exported-lists.ts'

const { bars } = market(100)
const scanned = (source: string) => scanMarket(requestOn(bars, source))

test('conditions that hold on the last bar are named by their places, and plots by their titles', () => {
  const { columns, found, tried } = scanned(`//@version=6
indicator("I")
plot(bar_index, "Bar")
plot(close > 0 ? na : close)
plot(7)
alertcondition(bar_index == 99, "last")
alertcondition(bar_index == 98, "before")
alertcondition(true, "always")
plotshape(bar_index == 99, "shape")
plotchar(bar_index == 50, "char")`)
  expect(columns).toEqual({
    kind: 'indicator',
    values: ['Bar', 'Plot', 'Plot 2'],
    conditions: ['last', 'before', 'always', 'shape', 'char'],
  })
  expect(found).toMatchObject({
    bars: 100,
    values: [99, null, 7],
    holds: [0, 2, 3],
    summary: null,
    position: null,
  })
  expect(found.time).toBe(bars.time[99]!)
  expect(found.change).toBeCloseTo(bars.close[99]! / bars.close[98]! - 1, 12)
  expect(tried).toBeNull()
})

test('a strategy has its report and what it holds, and alert() fires', () => {
  const { columns, found } = scanned(`//@version=6
strategy("S", default_qty_value = 3)
if bar_index == 90
    strategy.entry("S", strategy.short)
if bar_index >= 99
    alert("now")`)
  expect(columns).toMatchObject({ kind: 'strategy', conditions: ['alert()'] })
  expect(found).toMatchObject({ position: -3, holds: [0], summary: { trades: expect.any(Number) } })
})
