// The figures the engine is held to, in one table:
// `bun run bench engine [--bars N] [--probes DIR] [--only A,B] [--against DIR]`.
//
//   run      SMA(10) and SMA(30) reversals, whole: compile, generated code, orders, fills, trades, equity, report. Beside
//            it the same by hand over typed arrays, as fast as we can write it: averages as running sums, fills at the
//            next open, trades in columns with their excursions, equity a bar. Rounds alternate, so that a busy machine
//            is busy for both.
//   rows     the run with the report's rows, one a trade and one an order, read as objects besides
//   few      53,929 bars; text: the same with a text never seen before, in a warm process
//   memory   peak of a run in a process of its own, above what the process with the bars held before
//   flat     10,000 runs in a row in a process of its own: memory after 3,000 and after all
//   kinds    scripts of the kinds that cost most a bar (slow-kinds.ts), in nanoseconds a bar
//   linear   each ta.* over N bars against N / 20: how much longer than 20 times
//   probes   every DIR/validation/<name>/strategy.pine on its bars
//
// Kinds and probes beside those of another commit, `--against` a folder that it is checked out in: in the same process, by
// turns. All kinds come by before one is measured, as in a worker that many users share.
//
// Figures are medians of the time that this thread had a processor. Wanted values are those of the issue; they are printed, never asserted: a busy machine is no bug.

import { heapStats } from 'bun:jsc'
import { join, resolve } from 'node:path'
import { CompiledScripts } from '../../src/broker/compiled-scripts.ts'
import type { BacktestRequest } from '../../src/broker/backtest.ts'
import { runBacktest } from '../../src/broker/run.ts'
import { ownThreadMs } from '../../src/work/workers/thread-time.ts'
import { type Bars, emptyBars, sliceBars } from '../../src/market/bars.ts'
import { DEFAULT_LIMITS } from '../../src/language/runtime/limits.ts'
import { parityCases } from '../../src/cli/parity/cases.ts'
import { noteRow } from '../bench-rows.ts'
import { SYMBOL } from './run-script.ts'
import { SLOW_KINDS } from './slow-kinds.ts'
import { SERIES_SCRIPTS } from './ta/scripts.ts'

const {
  bars: LENGTH,
  probes: PROBES,
  only: ONLY,
  child: CHILD,
  against: AGAINST,
} = options(process.argv.slice(2))
const ROUNDS = 11
const WARM = 3
/** There are a hundred of them. */
const PROBE_ROUNDS = 7
const LONG_ENOUGH_MS = 20
const REPEATS_MAX = 10
const FEW_BARS = 53_929
const KIND_BARS = 50_000
const RUNS = 10_000
const RUNS_BEFORE = 3_000
const RUNS_BARS = 1_000

function options(args: readonly string[]) {
  const named = (name: string) => {
    const at = args.indexOf(`--${name}`)
    return at < 0 ? undefined : args[at + 1]
  }
  return {
    bars: Number(named('bars') ?? 1_000_000),
    probes: named('probes'),
    only: named('only')?.split(','),
    child: named('child'),
    against: named('against'),
  }
}

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

/**
 * The same by hand: the least that has to be done, as flat as it can be written. Typed arrays are read once into locals,
 * trades are columns, excursions grow with the bars, and the equity's peak is carried along: 1.8 times as fast as
 * destructured swaps and columns of drawdown were.
 */
function loop({ open, high, low, close, length }: Bars): number {
  const room = length >> 2
  const equity = new Float64Array(length)
  const entryBar = new Int32Array(room)
  const exitBar = new Int32Array(room)
  const side = new Int8Array(room)
  const entryPrice = new Float64Array(room)
  const exitPrice = new Float64Array(room)
  const profit = new Float64Array(room)
  const favourable = new Float64Array(room)
  const adverse = new Float64Array(room)
  let trades = 0
  let position = 0
  let wanted = 0
  let entry = 0
  let entered = 0
  let best = 0
  let worst = 0
  let net = 0
  let peak = 1_000_000
  let drawdownMax = 0
  let sumFast = 0
  let sumSlow = 0
  let fastBefore = Number.NaN
  let slowBefore = Number.NaN
  for (let i = 0; i < length; i++) {
    if (wanted !== 0 && wanted !== position) {
      const price = open[i]!
      if (position !== 0) {
        const made = (price - entry) * position
        net += made
        entryBar[trades] = entered
        exitBar[trades] = i
        side[trades] = position
        entryPrice[trades] = entry
        exitPrice[trades] = price
        profit[trades] = made
        favourable[trades] = best
        adverse[trades] = worst
        trades++
      }
      position = wanted
      entry = price
      entered = i
      best = 0
      worst = 0
    }
    wanted = 0
    if (position !== 0) {
      const atHigh = (high[i]! - entry) * position
      const atLow = (low[i]! - entry) * position
      const upper = atHigh > atLow ? atHigh : atLow
      const lower = atHigh > atLow ? atLow : atHigh
      if (upper > best) best = upper
      if (lower < worst) worst = lower
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
    const now = 1_000_000 + net + (position === 0 ? 0 : (price - entry) * position)
    equity[i] = now
    if (now > peak) peak = now
    else if (peak - now > drawdownMax) drawdownMax = peak - now
  }
  return trades
}

const none = () => null
const scripts = new CompiledScripts()
const requestOf = (bars: Bars, text: string): BacktestRequest => ({
  source: text,
  inputs: {},
  bars,
  symbol: SYMBOL,
  interval: '1m',
  limits: DEFAULT_LIMITS,
  series: none,
  scripts,
})

function run(bars: Bars, text: string) {
  return runBacktest(requestOf(bars, text))
}

/** What another commit runs a backtest with; its compiled scripts are its own. */
async function runnerOf(root: string): Promise<typeof runBacktest> {
  const other = (await import(join(resolve(root), 'src/broker/run.ts'))) as {
    runBacktest: typeof runBacktest
  }
  const path = join(resolve(root), 'src/broker/compiled-scripts.ts')
  // Before there was such a file a run remembered scripts by itself.
  const known = (await Bun.file(path).exists())
    ? new ((await import(path)) as { CompiledScripts: typeof CompiledScripts }).CompiledScripts()
    : undefined
  return (request) => other.runBacktest(known ? { ...request, scripts: known } : request)
}

// ——— the table ———

const speed = (bars: number, ms: number) => `${(bars / ms / 1000).toFixed(1)} M bars/s`
const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(0)} MB`

function row(figure: string, measured: string, wanted = ''): void {
  console.log(`${figure.padEnd(62)}${measured.padEnd(46)}${wanted}`)
}

function timed(work: () => unknown): number {
  Bun.gc(true)
  const from = ownThreadMs()
  work()
  return ownThreadMs() - from
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0
}

/** For what is over before the clock of a processor's time moves. */
function tenTimes(work: () => unknown): void {
  for (let i = 0; i < 10; i++) work()
}

/** Medians of alternated rounds. */
function rounds<Name extends string>(works: Readonly<Record<Name, (round: number) => unknown>>) {
  const times = Object.fromEntries(Object.keys(works).map((name) => [name, []])) as unknown as Record<
    Name,
    number[]
  >
  for (let round = -WARM; round < ROUNDS; round++)
    for (const name in works) {
      const taken = timed(() => works[name](round))
      if (round >= 0) times[name].push(taken)
    }
  return (name: Name) => median(times[name])
}

// ——— the figures ———

const bars = randomBars(LENGTH)
const size = LENGTH.toLocaleString('en')

function wholeRun(): void {
  const few = sliceBars(bars, 0, Math.min(FEW_BARS, LENGTH))
  const trades = run(bars, source('count')).report.trades.length
  const time = rounds({
    loop: () => loop(bars),
    run: () => run(bars, source('run')),
    rows: () => {
      const { report } = run(bars, source('run'))
      return report.trades.length + report.orders.length
    },
    few: () => tenTimes(() => run(few, source('run'))),
    fewLoop: () => tenTimes(() => loop(few)),
    text: (round) => run(few, source(`text ${round}`)),
  })
  row(
    `loop by hand, ${size} bars, ${loop(bars)} closed`,
    `${time('loop').toFixed(1)} ms  ${speed(LENGTH, time('loop'))}`,
  )
  row(
    `run, ${size} bars, ${trades} trades`,
    `${time('run').toFixed(1)} ms  ${speed(LENGTH, time('run'))}`,
    '≥ 20 M bars/s',
  )
  row('run to loop', (time('loop') / time('run')).toFixed(2), '≥ 0.40')
  row('with rows', `${time('rows').toFixed(1)} ms  ${speed(LENGTH, time('rows'))}`)
  noteRow(`run of ${size} bars`, time('run'), 'ms', { limit: time('loop'), wanted: '≥ 0.4 of the limit' })
  noteRow(`run of ${size} bars with rows`, time('rows'), 'ms')
  row('with rows to loop', (time('loop') / time('rows')).toFixed(2))
  const fewer = few.length.toLocaleString('en')
  row(`${fewer} bars`, `${(time('few') / 10).toFixed(1)} ms  ${speed(10 * few.length, time('few'))}`)
  row(`${fewer} bars to loop`, (time('fewLoop') / time('few')).toFixed(2), '≥ 0.30')
  const limit = time('fewLoop') / 10
  noteRow(`run of ${fewer} bars`, time('few') / 10, 'ms', { limit, wanted: '≥ 0.3 of the limit' })
  noteRow(`run of ${fewer} bars, a text never seen before`, time('text'), 'ms', {
    limit,
    wanted: `≤ ${(FEW_BARS / 10_000).toFixed(1)} ms`,
  })
  row(
    `${fewer} bars, a text never seen before`,
    `${time('text').toFixed(1)} ms  ${speed(few.length, time('text'))}`,
    '≥ 10 M bars/s',
  )
}

function linear(): void {
  const few = sliceBars(bars, 0, LENGTH / 20)
  let worst = { name: '', times: 0 }
  for (const [name, text] of Object.entries(SERIES_SCRIPTS)) {
    for (let i = 0; i < 5; i++) run(few, text)
    const shorts: number[] = []
    const longs: number[] = []
    for (let round = 0; round < 3; round++) {
      for (let i = 0; i < 5; i++) shorts.push(timed(() => run(few, text)))
      longs.push(timed(() => run(bars, text)))
    }
    const long = median(longs)
    const times = long / median(shorts)
    if (times > worst.times) worst = { name, times }
    if (ONLY?.includes('linear'))
      row(`  ${name}`, `${((long / LENGTH) * 1e6).toFixed(0)} ns a bar  ${times.toFixed(1)} times`)
  }
  const count = Object.keys(SERIES_SCRIPTS).length
  noteRow('linear, the steepest', worst.times, 'times')
  row(`linear, the steepest of ${count} ta.*: ${worst.name}`, `${worst.times.toFixed(1)} times`, '≤ 26')
}

/** Times wanted of the first ones, against the commit in which these were looked at first. */
const KINDS_WANTED = [5, 5, 5, 5, 5, 2.5, 2.5, 2.5]

async function kinds(): Promise<void> {
  const some = sliceBars(bars, 0, Math.min(KIND_BARS, LENGTH))
  const runs = Object.entries(SLOW_KINDS).map(([name, text]) => [name, requestOf(some, text)] as const)
  const { now, before } = await beside(runs)
  const aBar = (ms: number) => (ms / some.length) * 1e6
  const byHand = rounds({ zones: () => tenTimes(() => zonesByHand(some)) })('zones') / 10
  for (const [i, [name]] of runs.entries()) {
    const factor = KINDS_WANTED[i] ?? 2
    const limit = name === 'zones in arrays' ? { limit: aBar(byHand) } : {}
    const wanted = before ? { wanted: wantedOf(aBar(before[i]!), factor) } : {}
    noteRow(`kind: ${name}`, aBar(now[i]!), 'ns a bar', { ...limit, ...wanted })
    const times = before ? `  ${(before[i]! / now[i]!).toFixed(2)} times` : ''
    const hand = 'limit' in limit ? `, by hand ${limit.limit.toFixed(0)}` : ''
    row(name, `${aBar(now[i]!).toFixed(0)} ns a bar${hand}${times}`, before ? `≥ ${factor} times` : '')
  }
}

function wantedOf(before: number, factor: number): string {
  return `≤ ${(before / factor).toFixed(0)} ns a bar: ${factor} times as fast as before`
}

/** The least that zones in arrays can cost: the same by hand, with a list of objects. */
function zonesByHand({ high, low, close, length }: Bars): number {
  const zones: { readonly top: number; readonly bottom: number; readonly from: number; broken: boolean }[] =
    []
  let total = 0
  for (let i = 0; i < length; i++) {
    if (i % 7 === 0) zones.push({ top: high[i]!, bottom: low[i]!, from: i, broken: false })
    if (zones.length > 40) zones.shift()
    const price = close[i]!
    for (const zone of zones) {
      if (zone.broken) continue
      if (price - zone.top * 1.01 > 1e-10 || price - zone.bottom * 0.99 < -1e-10) zone.broken = true
      else if (price - zone.top < -1e-10 && price - zone.bottom > 1e-10) total++
    }
    for (let at = zones.length - 1; at >= 0; at--)
      if (zones[at]!.broken && i - zones[at]!.from > 100) zones.splice(at, 1)
  }
  return total
}

/**
 * Medians of each request, here and in the commit that `--against` names, after all have been run a few times. Both runs of
 * a request follow one clean-up, in turns first and second: a clean-up for each took most of the time with a hundred probes.
 * The rounds of one request follow each other, since machine code that nobody has run for some seconds is thrown away: on a
 * busy machine, rounds of all requests measured the compiler instead. What takes a few milliseconds is run several times, for
 * the clock of a processor's time moves about once a millisecond.
 */
async function beside(runs: readonly (readonly [string, BacktestRequest])[], count = ROUNDS) {
  const runners = [runBacktest]
  if (AGAINST !== undefined) runners.push(await runnerOf(AGAINST))
  for (let round = 0; round < WARM; round++)
    for (const [, request] of runs) for (const runner of runners) runner(request)
  const medians = runs.map(([, request]) => {
    const times = runners.map((): number[] => [])
    const began = performance.now()
    runBacktest(request)
    const repeats = Math.min(REPEATS_MAX, Math.ceil(LONG_ENOUGH_MS / (performance.now() - began)))
    for (let round = -WARM; round < count; round++) {
      Bun.gc(true)
      for (let turn = 0; turn < runners.length; turn++) {
        const which = (turn + Math.abs(round)) % runners.length
        const from = ownThreadMs()
        for (let i = 0; i < repeats; i++) runners[which]!(request)
        if (round >= 0) times[which]!.push((ownThreadMs() - from) / repeats)
      }
    }
    return times.map(median)
  })
  const of = (which: number) => medians.map((each) => each[which]!)
  return { now: of(0), before: AGAINST === undefined ? undefined : of(1) }
}

function memory(): void {
  Bun.gc(true)
  const before = process.memoryUsage.rss()
  const { report } = run(bars, source('memory'))
  const peak = process.resourceUsage().maxRSS * 1024
  noteRow(`memory of a run of ${size} bars`, (peak - before) / 1e6, 'MB')
  row(
    `memory, ${size} bars, ${report.trades.length} trades`,
    `${megabytes(peak - before)} beyond the bars`,
    '≤ 300 MB',
  )
}

function flat(): void {
  const short = sliceBars(bars, 0, RUNS_BARS)
  let before = settledMemory()
  for (let i = 0; i < RUNS; i++) {
    if (i === RUNS_BEFORE) before = settledMemory()
    run(short, source(`text ${i}`))
  }
  const after = settledMemory()
  noteRow(`heap after ${RUNS.toLocaleString('en')} runs`, after.heap / 1e6, 'MB')
  row(
    `flat, ${RUNS.toLocaleString('en')} runs of ${RUNS_BARS.toLocaleString('en')} bars, each its own text`,
    `heap ${megabytes(before.heap)} to ${megabytes(after.heap)}, process ${megabytes(before.rss)} to ${megabytes(after.rss)}`,
    `flat after ${RUNS_BEFORE.toLocaleString('en')}`,
  )
}

function settledMemory() {
  Bun.gc(true)
  Bun.gc(true)
  return { heap: heapStats().heapSize, rss: process.memoryUsage.rss() }
}

async function probes(folder: string): Promise<void> {
  const cases = parityCases(folder)
  const runs = cases.map(({ id, request }) => [id, { ...request, scripts }] as const)
  const { now, before } = await beside(runs, PROBE_ROUNDS)
  const speeds = (times: readonly number[]) =>
    runs
      .map(([id, { bars: own }], i) => ({ id, speed: own.length / times[i]! / 1000 }))
      .toSorted((a, b) => a.speed - b.speed)
  const fast = speeds(now)
  const slow = before && speeds(before)
  const at = (share: number) => Math.floor(share * (fast.length - 1))
  for (const [name, share, factor] of [
    ['median', 0.5, 1.6],
    ['tenth percentile', 0.1, 2],
    ['slowest', 0, null],
  ] as const) {
    const one = fast[at(share)]!
    const was = slow?.[at(share)]?.speed
    const times = was === undefined ? '' : `, ${(one.speed / was).toFixed(2)} times`
    const wanted =
      factor === null ? '≤ 1,000 ns a bar' : was === undefined ? '' : wantedOf(1000 / was, factor)
    noteRow(`probes, ${name}`, 1000 / one.speed, 'ns a bar', wanted === '' ? {} : { wanted })
    row(
      `probes, ${name} of ${fast.length}`,
      `${one.speed.toFixed(2)} M bars/s${times}`,
      factor === null ? '≥ 1 M bars/s' : `≥ ${factor} times`,
    )
  }
  if (!ONLY?.includes('probes')) return
  const earlier = new Map(slow?.map((one) => [one.id, one.speed]))
  for (const { id, speed } of fast) {
    const was = earlier.get(id)
    row(
      `  ${id}`,
      `${speed.toFixed(2)} M bars/s${was === undefined ? '' : `, ${(speed / was).toFixed(2)} times`}`,
    )
  }
}

/** A process of its own, whose memory nothing else has been in. */
async function apart(figure: string): Promise<void> {
  const command = [process.execPath, import.meta.path, '--bars', String(LENGTH), '--child', figure]
  await Bun.spawn(command, { stdout: 'inherit', stderr: 'inherit' }).exited
}

const FIGURES: Readonly<Record<string, () => void | Promise<void>>> = {
  run: wholeRun,
  memory: () => apart('memory'),
  flat: () => apart('flat'),
  kinds,
  linear,
  probes: () => (PROBES === undefined ? row('probes', 'give their folder: --probes DIR') : probes(PROBES)),
}

if (CHILD === 'memory') memory()
else if (CHILD === 'flat') flat()
else for (const name in FIGURES) if (!ONLY || ONLY.includes(name)) await FIGURES[name]!()
