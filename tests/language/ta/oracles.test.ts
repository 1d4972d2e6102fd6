// Every function with a window against its definition, written as slowly and plainly as it can be, on random series and on
// the ones that break things, with lengths that stay and lengths that move.

import { describe, expect, test } from 'bun:test'
import { BoolChange, Change, Cum, Falling, Rising, Roc } from '../../../src/language/builtins/ta/changes.ts'
import * as crosses from '../../../src/language/builtins/ta/crosses.ts'
import * as extremes from '../../../src/language/builtins/ta/extremes.ts'
import * as averages from '../../../src/language/builtins/ta/moving-averages.ts'
import * as oscillators from '../../../src/language/builtins/ta/oscillators.ts'
import { PivotHigh, PivotLow } from '../../../src/language/builtins/ta/pivots.ts'
import * as ranks from '../../../src/language/builtins/ta/ranks.ts'
import { Cog, Linreg } from '../../../src/language/builtins/ta/regression.ts'
import { RollingSum } from '../../../src/language/builtins/ta/rolling-sum.ts'
import { Correlation, Dev, Stdev, Variance } from '../../../src/language/builtins/ta/spread.ts'
import { GraphReader, GraphWriter } from '../../../src/lib/graph-bytes.ts'
import { SEED, lengthsOf, seriesOf } from './series.ts'

const BARS = 450

/** What was seen so far, this bar last, and this bar's length. */
type Oracle = (seen: readonly number[], length: number, index: number) => number

interface Check {
  readonly make: () => { next(...args: never[]): number | boolean }
  readonly args?: (x: number, n: number, bar: number) => number[]
  readonly oracle: Oracle
  /** Allowed error as a fraction of the largest value of the window (numbers are added in another order). */
  readonly slack?: number
  readonly skip?: (series: string, lengths: string) => boolean
}

const defined = (values: readonly number[]) => values.filter((x) => !Number.isNaN(x))
const lastOf = (values: readonly number[], n: number) => (values.length < n ? null : values.slice(-n))
/** Kahan–Babuška–Neumaier: the sum to the last digit. */
function exactSum(values: readonly number[]): number {
  let sum = 0
  let rest = 0
  for (const x of values) {
    const next = sum + x
    rest += Math.abs(sum) >= Math.abs(x) ? sum - next + x : x - next + sum
    sum = next
  }
  return sum + rest
}
const mean = (values: readonly number[]) => exactSum(values) / values.length
const now = (seen: readonly number[]) => seen.at(-1) ?? NaN

/** A function of the last n values that are not na; on an na bar what it was, unless `naOnNa`. */
function onDefined(compute: (window: number[], n: number) => number, { naOnNa = false } = {}): Oracle {
  return (seen, n) => {
    if (naOnNa && Number.isNaN(now(seen))) return NaN
    const window = lastOf(defined(seen), n)
    return window === null ? NaN : compute(window, n)
  }
}

/** A function of the last n bars, na ones among them. */
function onBars(compute: (window: number[], n: number) => number): Oracle {
  return (seen, n) => {
    const window = lastOf(seen, n)
    return window === null ? NaN : compute(window, n)
  }
}

const withBar = (x: number, n: number, bar: number) => [x, n, bar]

const CHECKS: Readonly<Record<string, Check>> = {
  'math.sum': {
    make: () => new RollingSum(),
    oracle: (seen, n) => {
      if (n === 1) return now(seen)
      return onDefined(exactSum)(seen, n, 0)
    },
    slack: 1e-13,
  },
  sma: {
    make: () => new averages.Sma(),
    oracle: (seen, n) => (n === 1 ? now(seen) : onDefined(mean)(seen, n, 0)),
    slack: 1e-13,
  },
  wma: {
    make: () => new averages.Wma(),
    oracle: (seen, n) => {
      if (Number.isNaN(now(seen)) || defined(seen).length < n) return NaN
      const filled: number[] = []
      for (const x of seen) filled.push(Number.isNaN(x) ? (filled.at(-1) ?? NaN) : x)
      const window = filled.slice(-n)
      return exactSum(window.map((x, k) => x * (k + 1))) / ((n * (n + 1)) / 2)
    },
    slack: 1e-13,
  },
  alma: {
    make: () => new averages.Alma(),
    args: (x, n) => [x, n, 0.85, 6, 0],
    oracle: onBars((window, n) => {
      const weights = window.map((_, k) => Math.exp(-((k - 0.85 * (n - 1)) ** 2) / (2 * (n / 6) ** 2)))
      return exactSum(window.map((x, k) => x * (weights[k] ?? NaN))) / exactSum(weights)
    }),
    slack: 1e-12,
  },
  highest: {
    make: () => new extremes.Highest(),
    args: withBar,
    oracle: onBars((window) => (defined(window).length > 0 ? Math.max(...defined(window)) : NaN)),
  },
  lowest: {
    make: () => new extremes.Lowest(),
    args: withBar,
    oracle: onBars((window) => (defined(window).length > 0 ? Math.min(...defined(window)) : NaN)),
  },
  highestbars: {
    make: () => new extremes.HighestBars(),
    args: withBar,
    oracle: onBars((window, n) =>
      defined(window).length > 0 ? window.indexOf(Math.max(...defined(window))) - n + 1 : NaN,
    ),
  },
  lowestbars: {
    make: () => new extremes.LowestBars(),
    args: withBar,
    oracle: onBars((window, n) =>
      defined(window).length > 0 ? window.indexOf(Math.min(...defined(window))) - n + 1 : NaN,
    ),
  },
  range: {
    make: () => new extremes.Range(),
    args: withBar,
    oracle: (seen, n) =>
      Number.isNaN(now(seen))
        ? NaN
        : onBars((window) => Math.max(...defined(window)) - Math.min(...defined(window)))(seen, n, 0),
    skip: (series) => series.startsWith('na'),
  },
  pivothigh: {
    make: () => new PivotHigh(),
    args: (x, n, bar) => [x, n, Math.trunc(n / 2), bar],
    oracle: (seen, n) => {
      const right = Math.trunc(n / 2)
      const window = lastOf(seen, n + right + 1)
      if (window === null) return NaN
      const pivot = window[n] ?? NaN
      const beaten = window.some((x, k) => k !== n && (k < n ? x > pivot : x >= pivot))
      return beaten ? NaN : pivot
    },
  },
  pivotlow: {
    make: () => new PivotLow(),
    args: (x, n, bar) => [x, n, Math.trunc(n / 2), bar],
    oracle: (seen, n) => {
      const right = Math.trunc(n / 2)
      const window = lastOf(seen, n + right + 1)
      if (window === null) return NaN
      const pivot = window[n] ?? NaN
      const beaten = window.some((x, k) => k !== n && (k < n ? x < pivot : x <= pivot))
      return beaten ? NaN : pivot
    },
  },
  change: {
    make: () => new Change(),
    args: (x, n, bar) => [x, n, bar],
    oracle: (seen, n) => now(seen) - (seen.at(-1 - n) ?? NaN),
  },
  roc: {
    make: () => new Roc(),
    args: (x, n, bar) => [x, n, bar],
    oracle: (seen, n) => {
      const before = seen.at(-1 - n) ?? NaN
      return (100 * (now(seen) - before)) / before
    },
  },
  rising: {
    make: () => new Rising(),
    oracle: (seen, n) => {
      const window = lastOf(seen, n + 1)
      if (window === null) return 0
      return window.every((x, k) => k === 0 || x - (window[k - 1] ?? NaN) > 1e-10) ? 1 : 0
    },
  },
  falling: {
    make: () => new Falling(),
    oracle: (seen, n) => {
      const window = lastOf(seen, n + 1)
      if (window === null) return 0
      return window.every((x, k) => k === 0 || (window[k - 1] ?? NaN) - x > 1e-10) ? 1 : 0
    },
  },
  median: {
    make: () => new ranks.Median(),
    oracle: onDefined(
      (window, n) => {
        const sorted = window.toSorted((a, b) => a - b)
        const upper = sorted[n >> 1] ?? NaN
        return n % 2 === 1 ? upper : ((sorted[n / 2 - 1] ?? NaN) + upper) / 2
      },
      { naOnNa: true },
    ),
  },
  mode: {
    make: () => new ranks.Mode(),
    oracle: onBars((window) => {
      if (Number.isNaN(window.at(-1) ?? NaN)) return NaN
      const times = new Map<number, number>()
      for (const x of defined(window)) times.set(x, (times.get(x) ?? 0) + 1)
      const best = Math.max(...times.values())
      return Math.min(...[...times].filter(([, count]) => count === best).map(([x]) => x))
    }),
  },
  percentile_nearest_rank: {
    make: () => new ranks.PercentileNearestRank(),
    args: (x, n, bar) => [x, n, 30, bar],
    // What is na before the first value stands first.
    oracle: (seen, n) => {
      const window = lastOf(seen, n)
      if (window === null) return NaN
      const first = seen.findIndex((x) => !Number.isNaN(x))
      const leading = first < 0 ? n : Math.max(0, n - (seen.length - first))
      const place = Math.max(1, Math.ceil((30 * n) / 100)) - 1 - leading
      return defined(window).toSorted((a, b) => a - b)[place] ?? NaN
    },
  },
  percentile_linear_interpolation: {
    make: () => new ranks.PercentileLinearInterpolation(),
    args: (x, n, bar) => [x, n, 30, bar],
    oracle: onBars((window, n) => {
      const sorted = window.toSorted((a, b) => a - b)
      const position = Math.min(Math.max((n * 30) / 100 - 0.5, 0), n - 1)
      const below = sorted[Math.floor(position)] ?? NaN
      const above = sorted[Math.ceil(position)] ?? NaN
      return below + (above - below) * (position - Math.floor(position))
    }),
    slack: 1e-12,
    skip: (series) => series.startsWith('na'),
  },
  percentrank: {
    make: () => new ranks.PercentRank(),
    oracle: (seen, n) => {
      const window = lastOf(seen, n + 1)
      if (window === null) return NaN
      // Nothing compares with na: a bar that has none itself counts none.
      return (100 * window.slice(0, -1).filter((x) => x - now(seen) <= 1e-10).length) / n
    },
  },
  rci: {
    make: () => new ranks.Rci(),
    oracle: (seen, n) => {
      const window = lastOf(seen, n)
      if (window === null || seen.length <= n || defined(window).length < n) return NaN
      const rankOf = (values: readonly number[]) =>
        values.map((x) => values.filter((y) => y < x).length + (values.filter((y) => y === x).length - 1) / 2)
      const y = rankOf(window)
      const x = window.map((_, k) => k)
      const [mx, my] = [mean(x), mean(y)]
      const cov = exactSum(x.map((v, k) => (v - mx) * ((y[k] ?? NaN) - my)))
      const vx = exactSum(x.map((v) => (v - mx) ** 2))
      const vy = exactSum(y.map((v) => (v - my) ** 2))
      return (100 * cov) / Math.sqrt(vx * vy)
    },
    slack: 1e-9,
    skip: (_, lengths) => ['100', '300', 'all so far', 'long or short'].includes(lengths),
  },
  variance: {
    make: () => new Variance(),
    args: (x, n) => [x, n, 1],
    oracle: (seen, n) => {
      if (n === 1 && Number.isNaN(now(seen))) return NaN
      return onDefined((window) => {
        const m = mean(window)
        return exactSum(window.map((x) => (x - m) ** 2)) / n
      })(seen, n, 0)
    },
    slack: 1e-12,
  },
  dev: {
    make: () => new Dev(),
    oracle: onDefined((window) => {
      const m = mean(window)
      return mean(window.map((x) => Math.abs(x - m)))
    }),
    slack: 1e-12,
    skip: (series) => series.startsWith('na'),
  },
  linreg: {
    make: () => new Linreg(),
    args: (x, n) => [x, n, 2],
    oracle: (seen, n) =>
      n === 1
        ? now(seen)
        : onBars((window) => {
            const mx = (n - 1) / 2
            const my = mean(window)
            const slope =
              exactSum(window.map((y, k) => (k - mx) * (y - my))) /
              exactSum(window.map((_, k) => (k - mx) ** 2))
            return my + slope * (n - 1 - 2 - mx)
          })(seen, n, 0),
    slack: 1e-11,
  },
  cog: {
    make: () => new Cog(),
    oracle: onDefined((window, n) => -exactSum(window.map((x, k) => x * (n - k))) / exactSum(window)),
    slack: 1e-9,
    skip: (series) => series === 'sign changes',
  },
  cci: {
    make: () => new oscillators.Cci(),
    oracle: onDefined((window) => {
      const m = mean(window)
      return ((window.at(-1) ?? NaN) - m) / (0.015 * mean(window.map((x) => Math.abs(x - m))))
    }),
    slack: 1e-7,
    skip: (series, lengths) =>
      lengths === '1' || !['walk', 'ticks', 'sawtooth', 'rising ramp'].includes(series),
  },
  stoch: {
    make: () => new oscillators.Stoch(),
    args: (x, n, bar) => [x, x + 1, x - 2, n, bar],
    oracle: onBars((window) => {
      const low = Math.min(...window) - 2
      return (100 * ((window.at(-1) ?? NaN) - low)) / (Math.max(...window) + 1 - low)
    }),
    slack: 1e-10,
    skip: (series) => series.startsWith('na'),
  },
}

describe(`windows agree with their definitions (seed ${SEED})`, () => {
  for (const [name, check] of Object.entries(CHECKS))
    test(name, () => {
      const wrong: string[] = []
      for (const [kind, series] of Object.entries(seriesOf(SEED, BARS)))
        for (const [which, lengths] of Object.entries(lengthsOf(SEED, BARS))) {
          if (check.skip?.(kind, which)) continue
          const state = check.make()
          const seen: number[] = []
          for (const [bar, x] of series.entries()) {
            const length = lengths[bar] ?? NaN
            seen.push(x)
            const args = check.args?.(x, length, bar) ?? [x, length]
            const value = Number(state.next(...(args as never[])))
            const expected = check.oracle(seen, Math.trunc(length), bar)
            if (!agrees(value, expected, (check.slack ?? 0) * scaleOf(name, seen, length)))
              wrong.push(`${kind}, length ${which}, bar ${bar}: ${value} not ${expected}`)
          }
        }
      expect(wrong.slice(0, 5)).toEqual([])
    })
})

// What a run's snapshot holds: the forming bar is run again from one on each tick.
test('a state that is written and read again goes on as the original does', () => {
  const series = seriesOf(SEED, BARS)['na here and there'] ?? []
  const lengths = lengthsOf(SEED, BARS)['wandering'] ?? []
  for (const [name, { make, args }] of Object.entries(CHECKS)) {
    const step = (state: ReturnType<Check['make']>, bar: number) => {
      const [x, length] = [series[bar] ?? NaN, lengths[bar] ?? NaN]
      return state.next(...((args?.(x, length, bar) ?? [x, length]) as never[]))
    }
    const original = make()
    for (let bar = 0; bar < 300; bar++) step(original, bar)
    const writer = new GraphWriter()
    writer.write(original)
    const reader = new GraphReader(writer.bytes())
    const copy = reader.read(make()) as typeof original
    const rest = Array.from({ length: BARS - 300 }, (_, i) => step(original, 300 + i))
    expect([name, ...rest.keys()].map((_, i) => (i === 0 ? name : step(copy, 299 + i)))).toEqual([
      name,
      ...rest,
    ])
  }
})

function agrees(value: number, expected: number, slack: number): boolean {
  return Object.is(value, expected) || value === expected || Math.abs(value - expected) <= slack
}

/** The largest value of the window, squared for a variance, and times n for a sum. */
function scaleOf(name: string, seen: readonly number[], length: number): number {
  const n = Math.trunc(length)
  const largest = Math.max(1e-3, ...defined(seen.slice(-4 * n - 60)).map(Math.abs))
  if (name === 'variance') return largest * largest
  if (name === 'math.sum') return largest * n
  if (name === 'rci' || name === 'cog' || name === 'cci' || name === 'stoch') return Math.max(1, n)
  return largest
}

test('stdev is the root of the variance, and of a sample divides by one less', () => {
  const stdev = new Stdev()
  const sample = new Stdev()
  const values = [2, 4, 4, 4, 5, 5, 7, 9]
  const last = values.map((x) => [stdev.next(x, 8, true), sample.next(x, 8, false)] as const).at(-1)
  expect(last?.[0]).toBeCloseTo(2, 12)
  expect(last?.[1]).toBeCloseTo(Math.sqrt(32 / 7), 12)
})

test('correlation of a series with itself is one, with its mirror image minus one', () => {
  const same = new Correlation()
  const mirrored = new Correlation()
  const values = seriesOf(SEED, 100)['walk'] ?? []
  for (const [i, x] of values.entries()) {
    const [one, other] = [same.next(x, x, 20), mirrored.next(x, -x, 20)]
    if (i < 19) expect(one).toBeNaN()
    else {
      expect(one).toBeCloseTo(1, 8)
      expect(other).toBeCloseTo(-1, 8)
    }
  }
})

test('cross remembers the side through a stretch of equality, crossover looks at the bar before', () => {
  const cross = new crosses.Cross()
  const over = new crosses.Crossover()
  const under = new crosses.Crossunder()
  const a = [1, 1, 2, 2, 3, 2, 1, NaN, 3]
  const b = [1, 1, 1, 2, 2, 2, 2, 2, 2]
  const results = a.map((x, i) => [cross, over, under].map((state) => state.next(x, b[i] ?? NaN)))
  expect(results.map(([each]) => each)).toEqual([false, false, false, false, false, false, true, false, true])
  expect(results.map(([, each]) => each)).toEqual([
    false,
    false,
    true,
    false,
    true,
    false,
    false,
    false,
    true,
  ])
  expect(results.map(([, , each]) => each)).toEqual([
    false,
    false,
    false,
    false,
    false,
    false,
    true,
    false,
    false,
  ])
})

test('valuewhen counts occurrences back, barssince bars', () => {
  const conditions = [false, true, false, true, true, false]
  const values = [1, 2, NaN, 4, NaN, 6]
  const latest = new crosses.ValueWhen()
  const second = new crosses.ValueWhen()
  const bars = new crosses.BarsSince()
  const bools = new crosses.BoolValueWhen()
  expect(conditions.map((c, i) => latest.next(c, values[i] ?? NaN, 0))).toEqual([NaN, 2, 2, 4, NaN, NaN])
  expect(conditions.map((c, i) => second.next(c, values[i] ?? NaN, 1))).toEqual([NaN, NaN, NaN, 2, 4, 4])
  expect(conditions.map((c) => bars.next(c))).toEqual([NaN, 0, 1, 0, 0, 1])
  expect(conditions.map((c, i) => bools.next(c, i > 2, 0))).toEqual([false, false, false, true, true, true])
})

test('change of a bool says whether it is another one', () => {
  const change = new BoolChange()
  expect([true, true, false, null, true].map((x, bar) => change.next(x, 1, bar))).toEqual([
    false,
    false,
    true,
    false,
    false,
  ])
})

test('cum skips na', () => {
  const cum = new Cum()
  expect([1, NaN, 2].map((x) => cum.next(x))).toEqual([1, NaN, 3])
})

test('rsi, ema and rma follow their recursions', () => {
  const values = seriesOf(SEED, 200)['walk'] ?? []
  const ema = new averages.Ema()
  const rma = new averages.Rma()
  let expectedEma = NaN
  let expectedRma = NaN
  for (const [i, x] of values.entries()) {
    if (i === 9) expectedEma = expectedRma = mean(values.slice(0, 10))
    else {
      expectedEma += (2 / 11) * (x - expectedEma)
      expectedRma += (x - expectedRma) / 10
    }
    const [value, wilder] = [ema.next(x, 10), rma.next(x, 10)]
    if (i < 9) expect(value).toBeNaN()
    else {
      expect(value).toBeCloseTo(expectedEma, 9)
      expect(wilder).toBeCloseTo(expectedRma, 9)
    }
  }
  const rsi = new oscillators.Rsi()
  const rising = Array.from({ length: 20 }, (_, i) => rsi.next(i, 14))
  expect(rising.slice(0, 14)).toEqual(Array.from({ length: 14 }, () => NaN))
  expect(rising.at(-1)).toBe(100)
})

test('a length that is na or below one ends the script, but for the functions that answer na', () => {
  expect(() => new averages.Sma().next(1, NaN)).toThrow('`ta.sma` got na as its `length`; it must be above 0')
  expect(() => new averages.Sma().next(1, 0.9)).toThrow('got 0.9')
  expect(() => new extremes.Highest().next(1, -3, 0)).toThrow('got -3')
  expect(new ranks.Median().next(1, NaN)).toBeNaN()
  expect(new ranks.Mode().next(1, NaN)).toBeNaN()
  expect(new ranks.PercentileNearestRank().next(1, NaN, 50, 0)).toBeNaN()
})

// As measured on TradingView with ta.lowest(bar_index + 1000, L): a skipped bar serves the value of L + 1 bars before it.
test.each([3, 5, 10])(
  'a skipped bar of lowest(…, %d) leaves the slot of a turn ago in the window',
  (length) => {
    const lowest = new extremes.Lowest()
    const bars = Array.from({ length: 130 }, (_, bar) => bar).filter((bar) => bar !== 100)
    const values = new Map(bars.map((bar) => [bar, lowest.next(bar + 1000, length, bar)]))
    for (const [bar, value] of values) {
      if (bar < length - 1) expect(value).toBeNaN()
      else if (bar > 100 && bar < 100 + length) expect(value).toBe(1000 + 100 - (length + 1))
      else expect(value).toBe(bar - length + 1 + 1000)
    }
  },
)

test('a second skipped bar in the same slot serves the old value again', () => {
  const lowest = new extremes.Lowest()
  const bars = Array.from({ length: 130 }, (_, bar) => bar).filter((bar) => bar !== 100 && bar !== 106)
  const values = new Map(bars.map((bar) => [bar, lowest.next(bar + 1000, 5, bar)]))
  expect([101, 104, 105, 107, 110, 111].map((bar) => values.get(bar))).toEqual([
    1094, 1094, 1101, 1094, 1094, 1107,
  ])
})

test('a window first called late has its answer as soon as that many bars have passed', () => {
  const highest = new extremes.Highest()
  expect([50, 51, 53].map((bar) => highest.next(100 - bar, 5, bar))).toEqual([50, 50, 50])
})

test('a sum keeps nothing of a huge value that leaves before a less huge one', () => {
  const sum = new RollingSum()
  const values = [844_547_493_493, 272_066_840_344, 541_654_833, 0.08, 0.39, 0.12, 0.59]
  expect(values.map((x) => sum.next(x, 3)).at(-1)).toBeCloseTo(1.1, 12)
})
