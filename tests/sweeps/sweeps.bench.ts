// How fast trials are: an SMA crossover over 50,000 bars in process, beside the engine's own rate for the same runs with their
// reports; and the test of overfitting over 2,000 trials with 12,870 splits.
//
//     bun run bench sweeps

import { CompiledScripts } from '../../src/backtest/compiled-scripts.ts'
import { runBacktest } from '../../src/backtest/run.ts'
import type { Measured } from '../../src/backtest/measured.ts'
import { runTrials } from '../../src/backtest/trial.ts'
import { emptyBars } from '../../src/market/bars.ts'
import { DEFAULT_LIMITS } from '../../src/pine/runtime/runtime.ts'
import { median } from '../../src/statistics/moments.ts'
import { overfitting } from '../../src/statistics/overfitting.ts'
import { snoopingTests } from '../../src/statistics/reality-check.ts'
import { cellsOf } from '../../src/sweeps/windows.ts'
import { seededRandom } from '../../src/lib/seeded-random.ts'
import { TEST_SYMBOL } from '../backtest/drive.ts'

const BARS = 50_000
const SOURCE = `//@version=6
strategy("x", initial_capital=1000000)
fast = input.int(10)
slow = input.int(30)
f = ta.sma(close, fast)
s = ta.sma(close, slow)
if ta.crossover(f, s)
    strategy.entry("L", strategy.long)
if ta.crossunder(f, s)
    strategy.entry("S", strategy.short)
`
const bars = emptyBars(BARS)
let [state, price] = [12_345, 100]
for (let i = 0; i < BARS; i++) {
  state = (state * 1_103_515_245 + 12_345) & 0x7fffffff
  const open = Math.round(price * 100) / 100
  price = Math.max(10, price + (state / 0x7fffffff - 0.5) * 0.4)
  const close = Math.round(price * 100) / 100
  bars.time[i] = 1.6e12 + i * 60_000
  bars.open[i] = open
  bars.close[i] = close
  bars.high[i] = Math.max(open, close) + 0.05
  bars.low[i] = Math.min(open, close) - 0.05
}
const request = {
  source: SOURCE,
  inputs: {},
  bars,
  symbol: TEST_SYMBOL,
  interval: '1m',
  limits: DEFAULT_LIMITS,
  series: () => null,
  scripts: new CompiledScripts(),
}
const points = Array.from({ length: 200 }, (_, i) => ({
  inputs: { fast: 5 + (i % 20), slow: 30 + 5 * Math.floor(i / 20) },
  overrides: {},
}))
const measured = (kind: 'none' | 'rolling' | 'matrix'): Measured => ({
  objective: 'netProfit',
  constraints: [],
  figures: ['trades', 'netProfit', 'sharpe'],
  inside: { from: 0, to: BARS },
  outside: null,
  windows: cellsOf({ kind }, BARS).flatMap(({ windows }) => windows),
  blocks: 16,
  pieces: 64,
})

function seconds(work: () => void): number {
  const started = performance.now()
  work()
  return (performance.now() - started) / 1000
}
const rounds: Record<string, number[]> = {}
const WAYS: readonly (readonly [string, () => void])[] = [
  [
    'single runs, with report',
    () => {
      for (const point of points) runBacktest({ ...request, ...point })
    },
  ],
  ['trials', () => void runTrials(request, points, measured('none'))],
  ['trials, walking forward', () => void runTrials(request, points, measured('rolling'))],
  ['trials, matrix of 30', () => void runTrials(request, points, measured('matrix'))],
]
for (let round = 0; round < 5; round++)
  for (const [name, work] of WAYS) (rounds[name] ??= []).push(points.length / seconds(work))
for (const [name, rates] of Object.entries(rounds))
  console.log(`${name.padEnd(28)} ${median(rates).toFixed(0)} a second`)

const random = seededRandom(1)
const [trials, blocks] = [2000, 16]
const sums = Float64Array.from({ length: trials * blocks }, () => random.normal())
const squares = Float64Array.from({ length: trials * blocks }, () => 100 + 10 * random.uniform())
const counts = Array.from({ length: blocks }, () => 100)
console.log(
  `CSCV, 2,000 × 12,870          ${seconds(() => void overfitting({ trials, blocks, sums, squares, counts })).toFixed(2)} s`,
)
const rows = Array.from({ length: trials }, () => Float64Array.from({ length: 64 }, () => random.normal()))
console.log(
  `Reality check and SPA, 2,000  ${seconds(() => void snoopingTests(rows, { seed: 1 })).toFixed(2)} s`,
)
