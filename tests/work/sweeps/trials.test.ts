// A trial is a run of which only numbers are kept: they are those of the run itself, whatever it had in common with others.

import { describe, expect, test } from 'bun:test'
import { figureNamed } from '../../../src/broker/figures.ts'
import type { BacktestRequest } from '../../../src/broker/backtest.ts'
import { openBacktest, runBacktest } from '../../../src/broker/run.ts'
import { TrialColumns, variedAmong } from '../../../src/broker/trial-columns.ts'
import { rowLayout, wholeRun, type TrialInputs } from '../../../src/broker/measured.ts'
import { runTrials } from '../../../src/broker/trial.ts'
import { seededRandom } from '../../../src/lib/seeded-random.ts'
import { emptyBars } from '../../../src/market/bars.ts'
import type { SharedColumn } from '../../../src/language/environment.ts'
import type { ColumnShare } from '../../../src/language/runtime/executable.ts'
import type { InputSpec } from '../../../src/language/runtime/inputs.ts'
import { DEFAULT_LIMITS } from '../../../src/language/runtime/limits.ts'
import { TEST_SYMBOL } from '../../broker/drive.ts'

const BARS = 6000
const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31))
console.log(`SEED=${seed}`)
const random = seededRandom(seed)

const bars = emptyBars(BARS)
let price = 100
for (let i = 0; i < BARS; i++) {
  const open = price
  price = Math.max(5, price + random.normal())
  bars.time[i] = 1.6e12 + i * 3_600_000
  bars.open[i] = open
  bars.close[i] = price
  bars.high[i] = Math.max(open, price) + random.uniform()
  bars.low[i] = Math.min(open, price) - random.uniform()
  bars.volume[i] = 100 * random.uniform()
}

const STRATEGIES: Readonly<Record<string, string>> = {
  'two averages': `//@version=6
strategy("x", margin_short = 20, margin_long = 20)
fast = input.int(5)
slow = input.int(20)
if ta.crossover(ta.sma(close, fast), ta.sma(close, slow))
    strategy.entry("L", strategy.long, qty = 150)
if ta.crossunder(ta.sma(close, fast), ta.sma(close, slow))
    strategy.entry("S", strategy.short, qty = 150)
`,
  'plots that are read by nobody, and one whose function trades': `//@version=6
strategy("x")
fast = input.int(5)
slow = input.int(20)
traded(float level) =>
    if close > level and strategy.position_size == 0
        strategy.entry("L", strategy.long)
    level
a = plot(ta.ema(close, fast), "a")
b = plot(traded(ta.ema(close, slow)), "b")
fill(a, b, color.new(color.red, 50))
c = plot(ta.rsi(close, fast), "c")
d = plot(ta.rsi(close, slow), "d")
fill(c, d, color.new(color.red, int(nz(traded(1e9)))))
bgcolor(close > open ? color.green : na)
if close < ta.ema(close, slow)
    strategy.close("L")
`,
  'a series, a switch, and values of the past': `//@version=6
strategy("x", process_orders_on_close = true, commission_type = strategy.commission.percent, commission_value = 0.1)
fast = input.int(5)
slow = input.int(20)
from = input.source(close)
isLong = input.bool(true)
average = ta.wma(from, slow)
[middle, upper, lower] = ta.bb(from, fast, 2)
up = average > average[1] and from > middle[2]
if up and isLong
    strategy.entry("L", strategy.long, stop = high)
if not up or from < lower
    strategy.close("L")
strategy.exit("X", "L", stop = strategy.position_avg_price * 0.97, limit = upper)
`,
  'a state of its own, orders on fills, an old version': `//@version=5
strategy("x", calc_on_order_fills = true, pyramiding = 3)
fast = input.int(5)
slow = input.int(20)
var count = 0
count += ta.crossover(close, ta.ema(close, fast)) ? 1 : 0
if count % 3 == 1 and ta.highest(slow)[1] < close
    strategy.entry("L" + str.tostring(count), strategy.long)
if ta.lowest(slow)[1] > close
    strategy.close_all()
`,
}
const SUMMARY = [
  'trades',
  'netProfit',
  'netProfitPct',
  'winRate',
  'profitFactor',
  'maxDrawdownPct',
  'sharpe',
] as const
const FIGURES = [
  'trades',
  'netProfit',
  'maxDrawdown',
  'sharpe',
  'equity.cagr',
  'equity.openProfit',
  'equity.maxRunup',
  'all.averageRunup',
  'all.marginCalls',
  'long.winRate',
  'short.netProfit',
]

const request = (source: string): BacktestRequest => ({
  source,
  inputs: {},
  bars,
  symbol: TEST_SYMBOL,
  interval: '1h',
  limits: DEFAULT_LIMITS,
  series: () => null,
})

describe('a trial has the figures of the single run with its inputs', () => {
  for (const [name, source] of Object.entries(STRATEGIES))
    test(name, () => {
      const points: TrialInputs[] = Array.from({ length: 12 }, () => ({
        inputs: {
          fast: 2 + Math.floor(4 * random.uniform()),
          slow: 10 + Math.floor(4 * random.uniform()),
          ...(source.includes('isLong') && {
            isLong: random.uniform() < 0.8,
            from: random.uniform() < 0.5 ? 'close' : 'hl2',
          }),
        },
        overrides: { initial_capital: random.uniform() < 0.5 ? 5000 : 50_000 },
      }))
      const measured = { ...wholeRun(BARS), figures: FIGURES }
      const { rows, failures } = runTrials(request(source), points, measured)
      expect(failures).toEqual([])
      const { width, figures } = rowLayout(measured)
      const found = points.map((_, i) =>
        FIGURES.map((_, k) => {
          const value = rows[i * width + figures + k]!
          return Number.isNaN(value) ? null : value
        }),
      )
      const singly = points.map((point) => {
        const backtest = openBacktest({ ...request(source), ...point })
        backtest.advance(BARS)
        const results = backtest.results()
        return FIGURES.map((figure) => figureNamed(results, figure))
      })
      expect(found).toEqual(singly)
      expect(Math.max(...found.map(([trades]) => trades ?? 0))).toBeGreaterThan(10)
      // The summary alone is made by another way, which looks at fewer things.
      const head = { ...wholeRun(BARS), figures: SUMMARY }
      const heads = runTrials(request(source), points, head).rows
      const layout = rowLayout(head)
      for (const [i, point] of points.entries()) {
        const { summary } = runBacktest({ ...request(source), ...point }).report
        const from = i * layout.width + layout.figures
        expect([...heads.subarray(from, from + SUMMARY.length)]).toEqual(SUMMARY.map((name) => summary[name]))
      }
    })
})

describe('columns of a batch', () => {
  const input = (index: number, name: string) => ({ index, name, title: '' }) as InputSpec
  const [fast, slow] = [input(0, 'fast'), input(1, 'slow')]
  const average: ColumnShare = { hoist: 0, inputs: [fast], columns: [0] }
  const crossing: ColumnShare = { hoist: 1, inputs: [fast, slow], columns: [1] }
  const point = (fastLength: number, slowLength: number): TrialInputs => ({
    inputs: { fast: fastLength, slow: slowLength },
    overrides: {},
  })
  const points = [point(5, 20), point(5, 30), point(6, 20)]

  test('what agrees in its inputs is computed once', () => {
    const columns = new TrialColumns(10, variedAmong(points))
    const room = columns.room(0, 'f64')
    expect(columns.find(average, [5, 20])).toBeNull()
    columns.keep(average, [5, 20], [room])
    columns.next()
    expect(columns.find(average, [5, 30])).toEqual([room])
    expect(columns.find(average, [6, 20])).toBeNull()
    // It is not lent out again.
    expect(columns.room(0, 'f64')).not.toBe(room)
  })

  test('a column that depends on every varied input is not kept, and its room is used again', () => {
    const columns = new TrialColumns(10, variedAmong(points))
    const room = columns.room(1, 'u8')
    columns.keep(crossing, [5, 20], [room])
    expect(columns.find(crossing, [5, 20])).toBeNull()
    columns.next()
    expect(columns.room(1, 'u8')).toBe(room)
  })

  test('what a thousand trials did not use makes room, so that a long grid takes no more memory than a short one', () => {
    const columns = new TrialColumns(10, variedAmong(points))
    const rooms = new Set<SharedColumn>()
    for (let trial = 0; trial < 5000; trial++) {
      // Every trial needs the first average, each only once its own.
      for (const length of [5, 1000 + trial]) {
        if (columns.find(average, [length])) continue
        const room = columns.room(0, 'f64')
        rooms.add(room)
        columns.keep(average, [length], [room])
      }
      columns.next()
    }
    expect(columns.find(average, [5])).not.toBeNull()
    expect(columns.find(average, [5999])).not.toBeNull()
    expect(columns.find(average, [1000])).toBeNull()
    expect(rooms.size).toBeLessThan(1010)
  })

  test('a sweep that is over leaves its memory to the next one over as many bars, and nothing else', () => {
    const first = new TrialColumns(10, variedAmong(points))
    const room = first.room(0, 'f64')
    first.keep(average, [5, 20], [room])
    first.next()
    first.leave()
    expect(first.find(average, [5, 20])).toBeNull()
    const next = new TrialColumns(10, variedAmong(points))
    expect(next.find(average, [5, 20])).toBeNull()
    expect(next.room(0, 'f64')).toBe(room)
    expect(new TrialColumns(10, variedAmong(points)).room(0, 'f64')).not.toBe(room)
    next.leave()
    expect(new TrialColumns(11, variedAmong(points)).room(0, 'f64')).toHaveLength(11)
  })

  test('there is room for so many bytes; what was of no use longest goes first', () => {
    const columns = new TrialColumns(10, variedAmong(points), 160)
    for (const length of [5, 6]) columns.keep(average, [length], [columns.room(0, 'f64')])
    expect(columns.find(average, [5])).not.toBeNull()
    columns.keep(average, [7], [columns.room(0, 'f64')])
    expect([5, 6, 7].map((length) => columns.find(average, [length]) !== null)).toEqual([true, false, true])
  })
})
