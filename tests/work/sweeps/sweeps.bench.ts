// How fast trials are: an SMA crossover over 50,000 bars in process, beside the engine's own rate for the same runs with their
// reports; and the test of overfitting over 2,000 trials with 12,870 splits.
//
//     bun run bench sweeps [--probes DIR]
//
// With probes: each script of DIR/validation with three values of one of its inputs, or of its capital if it has none to vary, as
// trials and as single runs in turns, whose reports are not read, and whose reports are; the figures are the medians of their
// ratios in processor time. 1.2 is wanted of the first.

import { CompiledScripts } from '../../../src/broker/compiled-scripts.ts'
import type { BacktestRequest } from '../../../src/broker/backtest.ts'
import { openBacktest, runBacktest } from '../../../src/broker/run.ts'
import type { Measured, TrialInputs } from '../../../src/broker/measured.ts'
import { TrialColumns, variedAmong } from '../../../src/broker/trial-columns.ts'
import { runTrials } from '../../../src/broker/trial.ts'
import { ownThreadMs } from '../../../src/work/workers/thread-time.ts'
import { emptyBars } from '../../../src/market/bars.ts'
import { DEFAULT_LIMITS } from '../../../src/language/runtime/limits.ts'
import { median } from '../../../src/broker/statistics/moments.ts'
import { overfitting } from '../../../src/broker/statistics/overfitting.ts'
import { snoopingTests } from '../../../src/broker/statistics/reality-check.ts'
import { parityCases } from '../../../src/cli/parity/cases.ts'
import { cellsOf } from '../../../src/work/sweeps/windows.ts'
import { seededRandom } from '../../../src/lib/seeded-random.ts'
import { TEST_SYMBOL } from '../../broker/drive.ts'

const BARS = 50_000
const PROBE_ROUNDS = 5
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

const probesAt = process.argv.indexOf('--probes')
if (probesAt > 0) probes(process.argv[probesAt + 1] ?? '')

/** How many times as fast trials are as single runs, over all scripts of a folder. */
function probes(folder: string): void {
  const ratios: [name: string, ratio: number][] = []
  const withReports: number[] = []
  for (const { id: name, request: probe } of parityCases(folder)) {
    const asked = { ...probe, scripts: new CompiledScripts() }
    const values = variedOf(asked)
    const judge = { ...measured('none'), inside: { from: 0, to: probe.bars.length } }
    const columns = new TrialColumns(probe.bars.length, variedAmong(values))
    const results = () =>
      values.map(({ inputs, overrides }) =>
        runBacktest({
          ...asked,
          inputs: { ...asked.inputs, ...inputs },
          overrides: { ...asked.overrides, ...overrides },
        }),
      )
    const single = () => void results()
    const reported = () => {
      for (const result of results()) for (const _ of result.reportTexts());
    }
    const swept = () => void runTrials(asked, values, judge, { columns })
    const took: number[][] = [[], [], []]
    for (let round = -2; round < PROBE_ROUNDS; round++)
      for (const [way, work] of [single, swept, reported].entries()) {
        const from = ownThreadMs()
        work()
        if (round >= 0) took[way]!.push(ownThreadMs() - from)
      }
    ratios.push([name, median(took[0]!) / median(took[1]!)])
    withReports.push(median(took[2]!) / median(took[1]!))
  }
  ratios.sort((a, b) => a[1] - b[1])
  const text = (at: number) => {
    const [name, ratio] = ratios[Math.floor(at * (ratios.length - 1))]!
    return `${ratio.toFixed(2)} (${name})`
  }
  console.log(
    `probes, trials to single runs    least ${text(0)}, tenth ${text(0.1)}, median ${text(0.5)}, most ${text(1)}`,
  )
  console.log(`… to single runs with their reports   median ${median(withReports).toFixed(2)}`)
}

/** Three values of the first input that takes them, so that a run with each is another one. */
function variedOf(asked: BacktestRequest): TrialInputs[] {
  for (const { kind, name, defval } of openBacktest(asked).program.inputs) {
    if (name === '' || (kind !== 'int' && kind !== 'float') || typeof defval !== 'number' || defval <= 0)
      continue
    const all = [defval, defval + 1, defval + 2].map((value) => ({
      inputs: { [name]: value },
      overrides: {},
    }))
    try {
      for (const { inputs } of all) runBacktest({ ...asked, inputs: { ...asked.inputs, ...inputs } })
      return all
    } catch {
      // It has options or bounds.
    }
  }
  return [1, 2, 3].map((times) => ({ inputs: {}, overrides: { initial_capital: 1e6 * times } }))
}

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
