// Drawdowns of a run whose open profit is lost again: TradingView's, and that of the curve which is drawn.

import { expect, test } from 'bun:test'
import { runBacktest } from '../../src/broker/run.ts'
import { SpanFigures } from '../../src/broker/span-figures.ts'
import { CURVE_FALL, FIGURES } from '../../src/dashboard/report/figure-text.ts'
import { fallOf, shareOf } from '../../src/dashboard/report/figures.ts'
import { drawdownName, trialFigure } from '../../src/wire/sweep-figures.ts'
import { DEFAULT_LIMITS } from '../../src/language/runtime/limits.ts'
import { ofKind } from '../../src/lib/of-kind.ts'
import { emptyBars } from '../../src/market/bars.ts'
import { TEST_SYMBOL } from '../broker/drive.ts'

test('the graph, its figure, and a sweep of some of the bars count the same fall, which TradingView does not', () => {
  // Ten contracts from bar 1 on, never sold: equity is 1,000, goes up to 2,000, and back to 1,200.
  const closes = [100, 100, 150, 200, 120, 140, 160]
  const bars = emptyBars(closes.length)
  for (const [i, close] of closes.entries()) {
    bars.time[i] = i * 3_600_000
    for (const price of [bars.open, bars.high, bars.low, bars.close]) price[i] = close
  }
  const { report, tracks } = runBacktest({
    source:
      '//@version=6\nstrategy("Hold", initial_capital=1000)\nif bar_index == 0\n    strategy.entry("L", strategy.long, qty=10)\n',
    inputs: {},
    bars,
    symbol: TEST_SYMBOL,
    interval: '1h',
    limits: DEFAULT_LIMITS,
    series: () => null,
  })
  const curve = (kind: 'equity' | 'drawdown') => ofKind(tracks, kind)!.data as (number | null)[]
  const [equity, drawdown] = [curve('equity'), curve('drawdown')]
  expect(fallOf(equity, drawdown)).toEqual({ curveFall: 800, curveFallPct: 0.4 })
  expect(report.equity.drawdowns[0]).toMatchObject({ depth: 800, depthPct: 0.4 })
  const none = { fills: { bar: [] }, closed: { count: 0 } } as unknown as ConstructorParameters<
    typeof SpanFigures
  >[0]
  const trial = new SpanFigures(none, Float64Array.from(equity as number[]), new Float64Array(7), 1000)
  expect(trial.of({ from: 0, to: 5 })).toMatchObject({ maxDrawdown: 800, maxDrawdownPct: 0.4 })
  expect(report.equity).toMatchObject({ maxDrawdown: 0, maxDrawdownPct: 0, maxDrawdownClose: 0 })
  expect(equity.map((_, i) => shareOf(equity, drawdown, i)).slice(3)).toEqual([0, -0.4, -0.3, -0.2])
})

test('each drawdown is called by what it counts', () => {
  expect([FIGURES.equity.maxDrawdown.title, FIGURES.equity.maxDrawdownPct.title]).toEqual(
    Array(2).fill('Max drawdown (TradingView)'),
  )
  expect(CURVE_FALL.title).toBe('Max drawdown (curve)')
  const named = (kind: string) => drawdownName({ windows: { kind } })
  expect(['none', 'holdout', 'rolling'].map(named)).toEqual([
    'Max drawdown (TradingView)',
    'Max drawdown (curve)',
    'Max drawdown (TradingView)',
  ])
  const profit = (kind: string) => trialFigure('Net profit', { windows: { kind } })
  expect(['none', 'holdout'].map(profit)).toEqual(['Net profit', 'Net profit (curve)'])
})
