// The whole engine against a hand-written loop: `bun run bench engine [bars]`.
//
// The strategy reverses on crosses of SMA(10) and SMA(30), the first thing everybody tries. The loop beside it does the
// same by hand over typed arrays: averages as running sums, fills at the next open, trades in columns, equity and its
// drawdown by bar. Rounds alternate, so that a busy machine is busy for both; figures are medians.
//
//   run     compile, run, report: what an API call does
//   script  the script alone, with a broker that only listens
//   cold    23,000 bars with a text never seen before, in a warm process
//   linear  time of a bar at 1,000,000 bars over that at 50,000

import { openBacktest } from '../../src/backtest/run.ts'
import { type Bars, emptyBars, sliceBars } from '../../src/market/bars.ts'
import { compile } from '../../src/pine/compile.ts'
import { DEFAULT_LIMITS } from '../../src/pine/runtime/runtime.ts'
import type { Broker } from '../../src/pine/broker.ts'
import { environment, SYMBOL } from './run-script.ts'

/** Takes orders and forgets them. */
const LISTENER = { busy: false, dirty: false, bar: 0, entry: () => {} } as unknown as Broker

const LENGTH = Number(process.argv[2] ?? 1_000_000)
const ROUNDS = 9

const source = (note: string) => `//@version=6
strategy("Averages ${note}", overlay = true)
fast = ta.sma(close, 10)
slow = ta.sma(close, 30)
if ta.crossover(fast, slow)
    strategy.entry("Long", strategy.long)
if ta.crossunder(fast, slow)
    strategy.entry("Short", strategy.short)
`

function randomBars(length: number): Bars {
  const bars = emptyBars(length)
  let state = 42
  let price = 30_000
  const random = () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
    return state / 0x7fffffff
  }
  const cents = (value: number) => Math.round(value * 100) / 100
  for (let i = 0; i < length; i++) {
    const open = price
    price = Math.max(100, price * (1 + (random() - 0.5) * 0.004))
    bars.time[i] = 1_600_000_000_000 + i * 60_000
    bars.open[i] = cents(open)
    bars.close[i] = cents(price)
    bars.high[i] = cents(Math.max(open, price) + random() * 10)
    bars.low[i] = cents(Math.min(open, price) - random() * 10)
    bars.volume[i] = 100
  }
  return bars
}

/** The same by hand. */
function loop({ open, close, length }: Bars): number {
  const equity = new Float64Array(length)
  const drawdown = new Float64Array(length)
  const entryBar = new Int32Array(length)
  const exitBar = new Int32Array(length)
  const profit = new Float64Array(length)
  let [trades, position, wanted, entry, net, peak] = [0, 0, 0, 0, 1_000_000, 1_000_000]
  let [sumFast, sumSlow, fastBefore, slowBefore] = [0, 0, Number.NaN, Number.NaN]
  for (let i = 0; i < length; i++) {
    if (wanted !== 0 && wanted !== position) {
      if (position !== 0) {
        exitBar[trades] = i
        profit[trades] = position * (open[i]! - entry)
        net += profit[trades]!
        trades++
      }
      position = wanted
      entry = open[i]!
      entryBar[trades] = i
    }
    const price = close[i]!
    sumFast += price
    sumSlow += price
    if (i >= 10) sumFast -= close[i - 10]!
    if (i >= 30) sumSlow -= close[i - 30]!
    const fast = i >= 9 ? sumFast / 10 : Number.NaN
    const slow = i >= 29 ? sumSlow / 30 : Number.NaN
    if (fast > slow && fastBefore <= slowBefore) wanted = 1
    else if (fast < slow && fastBefore >= slowBefore) wanted = -1
    fastBefore = fast
    slowBefore = slow
    const now = net + position * (price - entry)
    equity[i] = now
    if (now > peak) peak = now
    drawdown[i] = peak - now
  }
  return trades
}

const none = () => null
function run(bars: Bars, note: string): number {
  const backtest = openBacktest({
    source: source(note),
    inputs: {},
    bars,
    symbol: SYMBOL,
    interval: '1m',
    limits: DEFAULT_LIMITS,
    series: none,
  })
  backtest.advance(bars.length)
  return backtest.result().report.trades?.length ?? 0
}

function timed(work: () => unknown): number {
  Bun.gc(true)
  const from = performance.now()
  work()
  return performance.now() - from
}
function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0
}

const bars = randomBars(LENGTH)
const few = sliceBars(bars, 0, 50_000)
const cold = sliceBars(bars, 0, 23_000)
const { script } = compile(source('script'))
if (!script) throw new Error('the script compiles')

const times: Record<'loop' | 'run' | 'script' | 'cold' | 'few', number[]> = {
  loop: [],
  run: [],
  script: [],
  cold: [],
  few: [],
}
for (let round = -2; round < ROUNDS; round++) {
  const taken = {
    loop: timed(() => loop(bars)),
    run: timed(() => run(bars, 'run')),
    script: timed(() =>
      script.instantiate(environment(bars, { interval: '1m', broker: LISTENER })).advance(LENGTH),
    ),
    cold: timed(() => run(cold, `cold ${round}`)),
    few: timed(() => run(few, 'few')),
  }
  // The first rounds warm up.
  if (round >= 0)
    for (const name of ['loop', 'run', 'script', 'cold', 'few'] as const) times[name].push(taken[name])
}

const speed = (ms: number) => `${(LENGTH / ms / 1000).toFixed(1)} M bars/s`
const [byHand, whole, alone] = [median(times.loop), median(times.run), median(times.script)]
console.log(`${LENGTH.toLocaleString('en')} bars, ${run(bars, 'count')} trades (loop: ${loop(bars)} closed)`)
console.log(`loop    ${byHand.toFixed(1)} ms  ${speed(byHand)}`)
console.log(`run     ${whole.toFixed(1)} ms  ${speed(whole)}  ${(byHand / whole).toFixed(2)} of the loop`)
console.log(`script  ${alone.toFixed(1)} ms  ${speed(alone)}  ${(byHand / alone).toFixed(2)} of the loop`)
console.log(`cold    ${median(times.cold).toFixed(1)} ms for 23,000 bars`)
console.log(`linear  ${(whole / LENGTH / (median(times.few) / few.length)).toFixed(2)}`)
const before = process.memoryUsage.rss()
for (let i = 0; i < 200; i++) run(cold, 'again')
console.log(`200 runs of 23,000 bars more: ${((process.memoryUsage.rss() - before) / 1e6).toFixed(0)} MB`)
