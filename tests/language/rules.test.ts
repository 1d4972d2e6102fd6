// The language's rules, an example each, worked out by hand. Letters are those of src/language/RULES.md.
//
// Bars are of 15 minutes from midnight UTC; each opens at the close before and reaches half a point beyond both.

import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { barsOf, plotted, runScript, SYMBOL } from './run-script.ts'

const NA = Number.NaN
const START = Date.UTC(2024, 0, 1)
const at = (minutes: number) => START + minutes * 60_000
const UP = [1, 2, 3, 4, 5, 6, 7, 8]

interface RuleCase {
  readonly rule: string
  readonly setup?: string
  readonly closes: readonly number[]
  readonly version?: number
  /** Expressions, and what each is on every bar; true and false as 1 and 0. */
  readonly plots: Readonly<Record<string, readonly number[]>>
}

const CASES: readonly RuleCase[] = [
  {
    rule: 'K1: floats that differ by less than 1e-10 are equal, crossovers and extremes exact',
    setup: 'near = 1 + bar_index * 0.5e-10\nfar = 1 + bar_index * 2e-10',
    closes: [1, 1],
    plots: {
      'near > 1 ? 1 : 0': [0, 0],
      'near == 1 ? 1 : 0': [1, 1],
      'near >= 1 and near <= 1 ? 1 : 0': [1, 1],
      'near != 1 ? 1 : 0': [0, 0],
      'far > 1 ? 1 : 0': [0, 1],
      'ta.rising(near, 1) ? 1 : 0': [0, 0],
      'ta.rising(far, 1) ? 1 : 0': [0, 1],
      'ta.falling(-near, 1) ? 1 : 0': [0, 0],
      'ta.crossover(near, 1.0) ? 1 : 0': [0, 1],
      '(ta.highest(near, 2) - 1) * 1e11 > 4 ? 1 : 0': [0, 1],
      '(math.max(near, 1.0) - 1) * 1e11 > 4 ? 1 : 0': [0, 1],
      'bar_index == 9007199254740992 ? 1 : 0': [0, 0],
    },
  },
  {
    rule: 'K2: a crossover compares with the last bar on which both were defined',
    setup: 'x = bar_index == 1 ? na : close',
    closes: [1, 9, 3],
    plots: { 'ta.crossover(x, 2.0) ? 1 : 0': [0, 0, 1] },
  },
  {
    rule: 'K2: a cross remembers the side that was last clearly above, and is silent until one was',
    closes: [2, 2, 3, 2, 1, 2, 2, 3],
    plots: {
      'ta.crossover(close, 2.0) ? 1 : 0': [0, 0, 1, 0, 0, 0, 0, 1],
      'ta.crossunder(close, 2.0) ? 1 : 0': [0, 0, 0, 0, 1, 0, 0, 0],
      'ta.cross(close, 2.0) ? 1 : 0': [0, 0, 0, 0, 1, 0, 0, 1],
    },
  },
  {
    rule: 'K3: what a running sum has lost comes back',
    // Next to 1e16 a 1 is lost, so that a naive running sum has 0 or 1 left when 1e16 goes.
    closes: [1e16, 1, 1, 1],
    plots: { 'math.sum(close, 2)': [NA, 1e16, 2, 2], 'ta.sma(close, 2)': [NA, 5e15, 1, 1] },
  },
  {
    rule: 'K4: ema and rma start from the sma; stoch is not held between 0 and 100',
    closes: [1, 2, 3, 4, 9],
    plots: {
      'ta.ema(close, 3)': [NA, NA, 2, 3, 6],
      'ta.rma(close, 3)': [NA, NA, 2, (2 * 2 + 4) / 3, ((2 * 2 + 4) / 3 / 3) * 2 + 3],
      'ta.stoch(close * 10, high, low, 1)': [950, 975, 1425, 1875, 86.5 / 0.06],
      'ta.correlation(close, 7.0, 3)': [NA, NA, 0, 0, 0],
    },
  },
  {
    rule: 'K5: percentiles and ranks',
    // Sorted: 1 2 3 5, places 4 · 50 / 100 + 0.5 = 2.5 and 4 · 30 / 100 + 0.5 = 1.7; then 2 3 4 5.
    closes: [1, 5, 3, 2, 4],
    plots: {
      'ta.percentile_linear_interpolation(close, 4, 50)': [NA, NA, NA, 2.5, 3.5],
      'ta.percentile_linear_interpolation(close, 4, 30)': [NA, NA, NA, 1.7, 2.7],
      'ta.percentile_nearest_rank(close, 4, 50)': [NA, NA, NA, 2, 3],
      'ta.percentile_nearest_rank(close, 4, 51)': [NA, NA, NA, 3, 4],
      // Of 1, 5, 3 and 2, three are at most 4.
      'ta.percentrank(close, 4)': [NA, NA, NA, NA, 75],
    },
  },
  {
    rule: 'K6: ranks tie within 1e-10, and an na is a source like any other',
    setup: 'near = close + (bar_index == 2 ? 5e-11 : 0)',
    closes: [1, 2, 2, 3, 4, 5],
    plots: {
      'ta.rci(near, 3) - ta.rci(close, 3)': [NA, NA, NA, 0, 0, 0],
      'ta.valuewhen(bar_index < 4, bar_index == 2 ? na : close, 0)': [1, 2, NA, 3, 3, 3],
    },
  },
  {
    rule: 'K7: an average of three is compensated, and a half is rounded away from zero',
    setup: 'zero = close - 1e16',
    closes: [1e16],
    plots: {
      'math.avg(close, 1, 1)': [10_000_000_000_000_002 / 3],
      'math.avg(close, 1)': [5e15],
      'math.round(zero + 2.5)': [3],
      'math.round(zero - 2.5)': [-3],
      'math.round(zero + 2.5 - 5e-11)': [3],
      'math.round(zero + 2.5 - 2e-10)': [2],
    },
  },
  {
    rule: 'K8: a quotient of ints keeps its fraction; lengths and offsets are cut off',
    closes: [1, 2, 3, 4],
    plots: {
      '(bar_index + 7) / 2': [3.5, 4, 4.5, 5],
      '7 / 2': [3.5, 3.5, 3.5, 3.5],
      'ta.sma(close, 5 / 2)': [NA, 1.5, 2.5, 3.5],
      'close[3 / 2]': [NA, 1, 2, 3],
    },
  },
  {
    rule: 'K8: before version 6 the quotient of two constants is whole',
    closes: [1, 2],
    version: 5,
    plots: { '7 / 2': [3, 3], '(bar_index + 7) / 2': [3.5, 4] },
  },
  {
    rule: 'K9: state of a call moves on when it is called, a variable’s on every bar',
    setup:
      'float count = na\nfloat range = na\nfloat sar = na\nif bar_index % 2 == 0\n    count := ta.cum(1)\n    range := ta.tr\n    sar := ta.sar(0.02, 0.02, 0.2)',
    closes: [1, 2, 4, 8, 16],
    plots: {
      count: [1, NA, 2, NA, 3],
      'ta.cum(1)': [1, 2, 3, 4, 5],
      // From 1.5 to 4.5 over the close of 2 on the bar before, not over the 1 of the last call.
      range: [NA, NA, 3, NA, 9],
      sar: [NA, NA, NA, NA, NA],
      // Volumes are 101, 102 …
      'ta.obv': [NA, 101, 203, 306, 410],
    },
  },
  {
    rule: 'K10: an na length is na where it does not end the script, and an na index passes',
    setup: 'int n = na\na = array.from(1.0, 2.0)\na.set(n, 5.0)',
    closes: [1],
    plots: {
      'ta.median(close, n)': [NA],
      'ta.mode(close, n)': [NA],
      'ta.percentile_nearest_rank(close, n, 50)': [NA],
      'ta.percentile_linear_interpolation(close, n, 50)': [NA],
      'a.get(n)': [NA],
      'a.get(0)': [1],
    },
  },
  {
    rule: 'L1: a session has the bars that open in it, and its periods are counted from its open',
    closes: UP,
    plots: {
      'time("15", "0030-0100")': [NA, NA, at(30), at(45), NA, NA, NA, NA],
      'time("60", "0030-0145")': [NA, NA, at(30), at(30), at(30), at(30), at(90), NA],
      'time("15", "0015-0030,0100-0115")': [NA, at(15), NA, NA, at(60), NA, NA, NA],
      // The first of January 2024 is a Monday, 2.
      'time("15", "0015-0030:3")': [NA, NA, NA, NA, NA, NA, NA, NA],
      'time("15", "0015-0030:2")': [NA, at(15), NA, NA, NA, NA, NA, NA],
    },
  },
  {
    rule: 'L2: of coarser bars the last that has closed, or the one that is the future',
    closes: UP,
    plots: {
      'request.security("", "60", close)': [NA, NA, NA, 4, 4, 4, 4, 8],
      'request.security("", "60", close, lookahead = barmerge.lookahead_on)': [4, 4, 4, 4, 8, 8, 8, 8],
    },
  },
  {
    rule: 'L4: a coarser bar is put together from the chart’s',
    closes: UP,
    plots: {
      'request.security("", "60", open)': [NA, NA, NA, 1, 1, 1, 1, 4],
      'request.security("", "60", high)': [NA, NA, NA, 4.5, 4.5, 4.5, 4.5, 8.5],
      'request.security("", "60", low)': [NA, NA, NA, 0.5, 0.5, 0.5, 0.5, 3.5],
      'request.security("", "60", volume)': [NA, NA, NA, 406, 406, 406, 406, 422],
    },
  },
  {
    rule: 'L5: Heikin-Ashi is not rounded to ticks',
    closes: [1, 2.03],
    plots: {
      // (1 + 2.53 + 0.5 + 2.03) / 4, where a tick is 0.01.
      'request.security(ticker.heikinashi(syminfo.tickerid), "", close)': [1, 1.515],
    },
  },
  {
    rule: 'L6: no timeframe is the chart’s own',
    closes: [1, 2, 3, 4, 5, 6],
    plots: {
      'timeframe.change("") ? 1 : 0': [0, 1, 1, 1, 1, 1],
      'timeframe.change("60") ? 1 : 0': [0, 0, 0, 0, 1, 0],
    },
  },
]

test.each(CASES.map((one) => [one.rule, one] as const))(
  '%s',
  (_, { setup = '', closes, version = 6, plots }) => {
    const lines = Object.keys(plots).map((expression) => `plot(${expression})`)
    const source = `//@version=${version}\nindicator("x")\n${setup}\n${lines.join('\n')}\n`
    const run = runScript(source, barsOf(closes))
    for (const [i, [expression, expected]] of Object.entries(plots).entries()) {
      const found = plotted(run, i)
      expect([expression, found.length]).toEqual([expression, expected.length])
      for (const [bar, value] of expected.entries())
        if (Number.isInteger(value) || Number.isNaN(value))
          expect([expression, bar, found[bar]]).toEqual([expression, bar, value])
        else expect([expression, bar, found[bar]! / value]).toEqual([expression, bar, expect.closeTo(1, 12)])
    }
  },
)

test('K4: ema and rma are computed by these very forms, to the last bit', () => {
  const closes = Array.from({ length: 60 }, (_, i) => 100 + Math.sin(i) * 7 + i / 9)
  const run = runScript(
    '//@version=6\nindicator("x")\nplot(ta.ema(close, 7))\nplot(ta.rma(close, 7))\n',
    barsOf(closes),
  )
  const start = plotted(run, 0)[6]!
  let [ema, rma] = [start, plotted(run, 1)[6]!]
  let differs = false
  for (let bar = 7; bar < 60; bar++) {
    const [x, alpha, before] = [closes[bar]!, 2 / 8, ema]
    ema = before + alpha * (x - before)
    if (ema !== alpha * x + (1 - alpha) * before) differs = true
    rma = (rma * 6 + x) / 7
    expect([bar, plotted(run, 0)[bar], plotted(run, 1)[bar]]).toEqual([bar, ema, rma])
  }
  expect(differs).toBe(true)
})

test('L3: of finer bars the last within the chart’s bar, the first, or all; na before they begin', () => {
  const minutes = barsOf(
    Array.from({ length: 45 }, (_, i) => i),
    60_000,
  )
  // They begin with the second of four quarters.
  for (let i = 0; i < 45; i++) minutes.time[i]! += 15 * 60_000
  const run = runScript(
    `//@version=6
indicator("x")
plot(request.security("", "1", close))
plot(request.security("", "1", close, lookahead = barmerge.lookahead_on))
all = request.security_lower_tf("", "1", close)
plot(all.size() == 0 ? 0 : all.size() * 1000 + all.first() * 10 + all.last())
`,
    barsOf([1, 2, 3, 4]),
    { series: () => ({ bars: minutes, symbol: SYMBOL, interval: '1m' }) },
  )
  expect([0, 1, 2].map((plot) => plotted(run, plot))).toEqual([
    [NA, 14, 29, 44],
    [NA, 0, 15, 30],
    [0, 15_014, 15_179, 15_344],
  ])
})

test.each([
  ['ta.sma(close, n)', /got na/],
  ['ta.highest(close, n)', /got na/],
  ['array.from(1.0, 2.0).get(2)', /out of bounds/],
  ['array.from(1.0, 2.0).get(-3)', /out of bounds/],
])('K10: %s ends the script', (expression, says) => {
  const source = `//@version=6\nindicator("x")\nint n = na\nplot(${expression})\n`
  expect(() => runScript(source, barsOf([1]))).toThrow(says)
})

// A rule that is written down and not shown is one that nobody notices breaking.
test('every rule has an example in a test', () => {
  const root = `${import.meta.dir}/../..`
  const rules = Array.from(
    readFileSync(`${root}/src/language/RULES.md`, 'utf8').matchAll(
      /^- \*\*(\w+)\*\* (?!.*not implemented)/gm,
    ),
    ([, rule = '']) => rule,
  )
  const titles = [...new Bun.Glob('{broker,language}/**/*.test.ts').scanSync(`${root}/tests`)].flatMap(
    (file) =>
      Array.from(
        readFileSync(`${root}/tests/${file}`, 'utf8').matchAll(
          /(?:rule: |test\(\s*|\]\)\(\s*)['`]([KL]\d+):/g,
        ),
        ([, rule = '']) => rule,
      ),
  )
  const facts = [...new Bun.Glob('*.json').scanSync(`${root}/tests/parity/spec`)].flatMap((file) =>
    Array.from(
      readFileSync(`${root}/tests/parity/spec/${file}`, 'utf8').matchAll(/"rule": "([KL]\d+)"/g),
      ([, rule = '']) => rule,
    ),
  )
  expect(rules.length).toBeGreaterThan(15)
  expect(rules.filter((rule) => !titles.includes(rule) && !facts.includes(rule))).toEqual([])
})
