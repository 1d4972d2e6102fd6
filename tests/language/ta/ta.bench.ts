// What a bar costs, in nanoseconds, of each ta.* function at lengths of 14 and 500: `bun tests/language/ta/ta.bench.ts [bars]`.
// The series is a random walk in ticks of a quarter, so that there are ties. The last column is the cost of a bar at 500
// over its cost in a run a twentieth as long: about 1 (or less, while code warms up) is linear.

import * as changes from '../../../src/language/builtins/ta/changes.ts'
import * as crosses from '../../../src/language/builtins/ta/crosses.ts'
import * as bands from '../../../src/language/builtins/ta/bands.ts'
import * as extremes from '../../../src/language/builtins/ta/extremes.ts'
import * as averages from '../../../src/language/builtins/ta/moving-averages.ts'
import * as oscillators from '../../../src/language/builtins/ta/oscillators.ts'
import * as pivots from '../../../src/language/builtins/ta/pivots.ts'
import * as ranks from '../../../src/language/builtins/ta/ranks.ts'
import * as regression from '../../../src/language/builtins/ta/regression.ts'
import { RollingSum } from '../../../src/language/builtins/ta/rolling-sum.ts'
import * as spread from '../../../src/language/builtins/ta/spread.ts'
import * as trend from '../../../src/language/builtins/ta/trend.ts'
import { Vwap } from '../../../src/language/builtins/ta/vwap.ts'
import { randomOf } from './series.ts'

type Step = (close: number, bar: number, length: number, before: number) => unknown

const STEPS: Readonly<Record<string, () => Step>> = {
  'math.sum': () =>
    (
      (s) => (x, _, n) =>
        s.next(x, n)
    )(new RollingSum()),
  sma: () =>
    (
      (s) => (x, _, n) =>
        s.next(x, n)
    )(new averages.Sma()),
  ema: () =>
    (
      (s) => (x, _, n) =>
        s.next(x, n)
    )(new averages.Ema()),
  rma: () =>
    (
      (s) => (x, _, n) =>
        s.next(x, n)
    )(new averages.Rma()),
  wma: () =>
    (
      (s) => (x, _, n) =>
        s.next(x, n)
    )(new averages.Wma()),
  hma: () =>
    (
      (s) => (x, _, n) =>
        s.next(x, n)
    )(new averages.Hma()),
  vwma: () =>
    (
      (s) => (x, _, n) =>
        s.next(x, n, 100 + x)
    )(new averages.Vwma()),
  alma: () =>
    (
      (s) => (x, _, n) =>
        s.next(x, n, 0.85, 6, false)
    )(new averages.Alma()),
  swma: () =>
    (
      (s) => (x) =>
        s.next(x)
    )(new averages.Swma()),
  highest: () =>
    (
      (s) => (x, i, n) =>
        s.next(x, n, i)
    )(new extremes.Highest()),
  lowestbars: () =>
    (
      (s) => (x, i, n) =>
        s.next(x, n, i)
    )(new extremes.LowestBars()),
  range: () =>
    (
      (s) => (x, i, n) =>
        s.next(x, n, i)
    )(new extremes.Range()),
  pivothigh: () =>
    (
      (s) => (x, i, n) =>
        s.next(x, n, n, i)
    )(new pivots.PivotHigh()),
  change: () =>
    (
      (s) => (x, i, n) =>
        s.next(x, n, i)
    )(new changes.Change()),
  rising: () =>
    (
      (s) => (x, _, n) =>
        s.next(x, n)
    )(new changes.Rising()),
  cross: () =>
    (
      (s) => (x, _, __, y) =>
        s.next(x, y)
    )(new crosses.Cross()),
  crossover: () =>
    (
      (s) => (x, _, __, y) =>
        s.next(x, y)
    )(new crosses.Crossover()),
  valuewhen: () =>
    (
      (s) => (x, _, n, y) =>
        s.next(x > y, x, n)
    )(new crosses.ValueWhen()),
  rsi: () =>
    (
      (s) => (x, _, n) =>
        s.next(x, n)
    )(new oscillators.Rsi()),
  macd: () =>
    (
      (s) => (x, _, n) =>
        s.next(x, n, 2 * n, 9)
    )(new oscillators.Macd()),
  stoch: () =>
    (
      (s) => (x, i, n) =>
        s.next(x, x + 1, x - 1, n, i)
    )(new oscillators.Stoch()),
  cci: () =>
    (
      (s) => (x, _, n) =>
        s.next(x, n)
    )(new oscillators.Cci()),
  cmo: () =>
    (
      (s) => (x, _, n) =>
        s.next(x, n)
    )(new oscillators.Cmo()),
  mfi: () =>
    (
      (s) => (x, _, n) =>
        s.next(x, n, 100 + x)
    )(new oscillators.Mfi()),
  tsi: () =>
    (
      (s) => (x, _, n) =>
        s.next(x, n, 2 * n)
    )(new oscillators.Tsi()),
  bb: () =>
    (
      (s) => (x, _, n) =>
        s.next(x, n, 2)
    )(new bands.Bb()),
  kc: () =>
    (
      (s) => (x, _, n, y) =>
        s.next(x, n, 2, true, x + 1, x - 1, y)
    )(new bands.Kc()),
  atr: () =>
    (
      (s) => (x, _, n, y) =>
        s.next(n, x + 1, x - 1, y)
    )(new trend.Atr()),
  dmi: () =>
    (
      (s) => (x, _, n, y) =>
        s.next(n, n, x + 1, x - 1, y + 1, y - 1, y)
    )(new trend.Dmi()),
  sar: () =>
    (
      (s) => (x, i) =>
        s.next(0.02, 0.02, 0.2, i, x + 1, x - 1, x)
    )(new trend.Sar()),
  supertrend: () =>
    (
      (s) => (x, _, n, y) =>
        s.next(3, n, x + 1, x - 1, x, y)
    )(new trend.Supertrend()),
  stdev: () =>
    (
      (s) => (x, _, n) =>
        s.next(x, n, true)
    )(new spread.Stdev()),
  dev: () =>
    (
      (s) => (x, _, n) =>
        s.next(x, n)
    )(new spread.Dev()),
  correlation: () =>
    (
      (s) => (x, _, n, y) =>
        s.next(x, y, n)
    )(new spread.Correlation()),
  linreg: () =>
    (
      (s) => (x, _, n) =>
        s.next(x, n, 0)
    )(new regression.Linreg()),
  cog: () =>
    (
      (s) => (x, _, n) =>
        s.next(x, n)
    )(new regression.Cog()),
  median: () =>
    (
      (s) => (x, _, n) =>
        s.next(x, n)
    )(new ranks.Median()),
  mode: () =>
    (
      (s) => (x, _, n) =>
        s.next(x, n)
    )(new ranks.Mode()),
  percentile: () =>
    (
      (s, bar) => (x, _, n) =>
        s.next(x, n, 30, bar++)
    )(new ranks.PercentileLinearInterpolation(), 0),
  percentrank: () =>
    (
      (s) => (x, _, n) =>
        s.next(x, n)
    )(new ranks.PercentRank()),
  rci: () =>
    (
      (s) => (x, _, n) =>
        s.next(x, n)
    )(new ranks.Rci()),
  vwap: () =>
    (
      (s) => (x, i, n) =>
        s.next(x, i % n === 0, 100)
    )(new Vwap()),
}

const BARS = Number(process.argv[2] ?? 200_000)
const random = randomOf(1)
let price = 1000
const closes = Float64Array.from({ length: BARS }, () => {
  price = Math.max(10, price + Math.round((random() - 0.5) * 20) / 4)
  return price
})

function cost(make: () => Step, length: number, bars: number): number {
  const step = make()
  const start = Bun.nanoseconds()
  for (let i = 0, before = NaN; i < bars; i++) {
    const close = closes[i]!
    step(close, i, length, before)
    before = close
  }
  return (Bun.nanoseconds() - start) / bars
}

console.log(`${BARS} bars; ns a bar`.padEnd(24), '14'.padStart(8), '500'.padStart(8), 'linear'.padStart(8))
for (const [name, make] of Object.entries(STEPS)) {
  cost(make, 14, Math.min(BARS, 20_000))
  const short = cost(make, 14, BARS)
  const long = cost(make, 500, BARS)
  const linear = long / cost(make, 500, BARS / 20)
  console.log(
    name.padEnd(24),
    ...[short, long].map((x) => x.toFixed(1).padStart(8)),
    linear.toFixed(2).padStart(8),
  )
}
