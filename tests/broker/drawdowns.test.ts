// The list of drawdowns, where there are more of them than it shows.

import { expect, test } from 'bun:test'
import { runBacktest } from '../../src/broker/run.ts'
import { emptyBars } from '../../src/market/bars.ts'
import { DEFAULT_LIMITS } from '../../src/language/runtime/limits.ts'
import { TEST_SYMBOL } from './drive.ts'

const HOUR = 3_600_000

/** One contract is held from bar 1 on, bought at 100; equity is 1,000 and what the close is above that. */
function drawdownsOf(closes: readonly number[], closeAt = -1) {
  const bars = emptyBars(closes.length)
  for (const [i, close] of closes.entries()) {
    bars.time[i] = i * HOUR
    for (const price of [bars.open, bars.high, bars.low, bars.close]) price[i] = close
  }
  const { report } = runBacktest({
    source:
      '//@version=6\nstrategy("Hold", initial_capital=1000)\nif bar_index == 0\n    strategy.entry("L", strategy.long, qty=1)\n' +
      `if bar_index == ${closeAt}\n    strategy.close_all()\n`,
    inputs: {},
    bars,
    symbol: TEST_SYMBOL,
    interval: '1h',
    limits: DEFAULT_LIMITS,
    series: () => null,
  })
  return report.equity.drawdowns
}

test('of three hundred dips the twenty deepest are kept, wherever they stand', () => {
  // Dip k goes down by a depth of its own and comes back two bars later, far beyond the block that is read at a time.
  const depths = Array.from({ length: 300 }, (_, k) => 1 + ((k * 7919) % 300) / 10)
  const closes = [100, 100, ...depths.flatMap((depth) => [...Array<number>(8).fill(100), 100 - depth, 100])]
  const deepest = depths
    .map((depth, k) => ({ depth, start: 2 + k * 10 + 7 }))
    .sort((a, b) => b.depth - a.depth)
    .slice(0, 20)
  expect(drawdownsOf(closes)).toEqual(
    deepest.map(({ depth, start }) => ({
      start: start * HOUR,
      trough: (start + 1) * HOUR,
      end: (start + 2) * HOUR,
      bars: 2,
      depth: expect.closeTo(depth, 9) as number,
      depthPct: expect.closeTo(depth / 1000, 9) as number,
    })),
  )
})

test('a loss that was taken lasts, though nothing is held for thousands of bars', () => {
  const closes = Array.from({ length: 5000 }, (_, i) => (i < 2100 ? 100 : 90))
  expect(drawdownsOf(closes, 2101)).toEqual([
    {
      start: 2099 * HOUR,
      trough: 2100 * HOUR,
      end: null,
      bars: 2900,
      depth: 10,
      depthPct: 0.01,
    },
  ])
})

test('of two equally deep ones the earlier comes first, and of one its first deepest bar is named', () => {
  const found = drawdownsOf([100, 100, 101, 99, 99, 101, 100, 99, 101, 100.5])
  expect(
    found.map(({ start, trough, end, bars, depth }) => [
      start / HOUR,
      trough / HOUR,
      end && end / HOUR,
      bars,
      depth,
    ]),
  ).toEqual([
    [2, 3, 5, 3, 2],
    [5, 7, 8, 3, 2],
    [8, 9, null, 1, 0.5],
  ])
})
