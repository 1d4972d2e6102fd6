// Tests that batch equals incremental. Every script of a folder is run at once, and again in slices, with its state written
// to bytes and read into a fresh run at random bars. Reports and tracks must be the same to the byte. So must the answers
// for alerts: those of a run that goes on from kept state as bars come, and those of a run over all bars.
//
//     bun src/tools/incremental.ts DIR [--seed N] [--bars N] [--only A,B]
//
// DIR contains scripts (*.pine, also in subfolders), or cases in a layout of `parity.ts`, which bring their own bars.

import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { advance, type KeptState } from '../broker/advance.ts'
import type { Backtest, BacktestRequest } from '../broker/backtest.ts'
import { openBacktest } from '../broker/run.ts'
import { copyBars, emptyBars, sliceBars, type Bars } from '../market/bars.ts'
import { calendarOf } from '../market/calendar.ts'
import { intervalMs, parseInterval } from '../market/interval.ts'
import { resample } from '../market/resample.ts'
import { defaultSymbol } from '../market/symbols.ts'
import { Problem } from '../lib/problem.ts'
import { seededRandom } from '../lib/seeded-random.ts'
import { DEFAULT_LIMITS } from '../language/runtime/limits.ts'
import { commandLine, refused, wholeNumber } from './command-line.ts'
import { parityCases } from '../cli/parity/cases.ts'

/** Answers numbers in [0, 1). */
type Random = () => number

/** How many times a run is restored, each time into a fresh one. */
const CUTS = 4

/** How the run in slices differs from the one at once; null = they are equal. */
export function incrementalDifference(request: BacktestRequest, random: Random): string | null {
  const whole = outcome(() => {
    const backtest = openBacktest(request)
    backtest.advance(backtest.bars.length)
    return backtest
  })
  const cuts: number[] = []
  const sliced = outcome(() => runInSlices(request, random, cuts))
  return whole === sliced ? null : `cut at ${cuts.join(', ')}: ${firstDifference(whole, sliced)}`
}

function runInSlices(request: BacktestRequest, random: Random, cuts: number[]): Backtest {
  let backtest = openBacktest(request)
  const { length } = backtest.bars
  // One cut is among the first bars, where most state is still empty.
  const wanted = Array.from({ length: CUTS }, (_, i) =>
    Math.floor(random() * (i === 0 ? Math.min(6, length) : length + 1)),
  )
  for (const cut of wanted.toSorted((a, b) => a - b)) {
    slices(backtest, cut, random)
    cuts.push(cut)
    const kept = backtest.snapshot()
    // Going on must not change the kept state, so the run can return to it.
    slices(backtest, Math.min(length, cut + 3), random)
    if (random() < 0.5) backtest = openBacktest(request)
    backtest.restore(kept)
  }
  slices(backtest, length, random)
  return backtest
}

/**
 * How the answers of a run that goes on from kept state differ from those of runs over all bars. Bars come one by one and
 * many at a time, the newest changes while it forms, other series lag behind, and sometimes the kept state is lost.
 */
export function advanceDifference(request: BacktestRequest, random: Random, looks = 6): string | null {
  let kept: KeptState | null = null
  let length = 1 + Math.floor(random() * request.bars.length * 0.7)
  let seen = length - 1
  const there = new Map<string, number>()
  for (let look = 0; look < looks; look++) {
    const live = liveRequest(request, length, look % 2 === 0, Math.floor(random() * 3), there)
    const from = Math.max(0, seen - Math.floor(random() * 3))
    const fresh = answer(live, null, from)
    const went = answer(live, kept, from)
    if (fresh.text !== went.text)
      return `look ${look} at ${length} bars from ${from}, kept ${kept?.position ?? 'none'}: ${firstDifference(fresh.text, went.text)}`
    kept = random() < 0.1 ? null : (went.kept ?? kept)
    seen = length - 1
    const step = random() < 0.3 ? 0 : random() < 0.8 ? 1 : Math.floor(random() * 90)
    length = Math.min(request.bars.length, length + step)
  }
  return null
}

function answer(
  request: BacktestRequest,
  kept: KeptState | null,
  from: number,
): { text: string; kept: KeptState | null } {
  try {
    const { kept: next, plots, ...said } = advance(request, kept, from)
    const numbers = plots.map(([title, values]) => [title, Array.from(values, String)])
    // Cloned, as handing it to another thread would do.
    return { text: JSON.stringify({ ...said, numbers }), kept: structuredClone(next) }
  } catch (error) {
    if (error instanceof Problem) return { text: `${error.code}: ${error.message}`, kept: null }
    throw error
  }
}

/** The first `length` bars, the last of which may be forming, with the bars that other series have by then. */
function liveRequest(
  request: BacktestRequest,
  length: number,
  forming: boolean,
  lag: number,
  there: Map<string, number>,
): BacktestRequest {
  const bars = copyOf(request.bars, length)
  const last = length - 1
  if (forming) {
    const close = (bars.open[last]! + bars.close[last]!) / 2
    bars.close[last] = close
    bars.high[last] = Math.max(bars.open[last]!, close)
    bars.low[last] = Math.min(bars.open[last]!, close)
  }
  const until = bars.time[last]!
  return {
    ...request,
    bars,
    series: (exchange, symbol, interval) => {
      const series = request.series(exchange, symbol, interval)
      if (!series) return series
      const name = `${exchange}:${symbol} ${interval}`
      const count = Math.max(there.get(name) ?? 0, upperBound(series.bars, until) - lag)
      there.set(name, count)
      return { ...series, bars: copyOf(series.bars, count) }
    },
  }
}

function copyOf(bars: Bars, length: number): Bars {
  const copy = emptyBars(length, { sides: bars.bought !== undefined })
  copyBars(copy, 0, sliceBars(bars, 0, length))
  return copy
}

/** How many bars have opened by `until`. */
function upperBound({ time, length }: Bars, until: number): number {
  let count = 0
  while (count < length && time[count]! <= until) count++
  return count
}

function slices(backtest: Backtest, end: number, random: Random): void {
  while (backtest.run.position < end) {
    const step = random() < 0.8 ? 1 + Math.floor(random() * 5) : 1 + Math.floor(random() * 500)
    backtest.advance(Math.min(end, backtest.run.position + step))
  }
}

function outcome(run: () => Backtest): string {
  try {
    const { report, tracks } = run().result()
    return `${JSON.stringify({ ...report, timings: null })}\n${JSON.stringify(tracks)}`
  } catch (error) {
    if (error instanceof Problem) return `${error.code}: ${error.message} ${JSON.stringify(error.details)}`
    throw error
  }
}

function firstDifference(whole: string, sliced: string): string {
  let at = 0
  while (whole[at] === sliced[at]) at++
  const around = (text: string) => text.slice(Math.max(0, at - 120), at + 60)
  return `…${around(whole)}…\n  in slices: …${around(sliced)}…`
}

// ——— scripts with bars of our own ———

const START = Date.UTC(2024, 0, 1)
const INTERVAL = '15m'

export function scriptRequest(source: string, length: number, seed: number): BacktestRequest {
  const symbol = defaultSymbol('BINANCE', 'BTCUSDT')
  const bars = randomBars(length, seededRandom(seed).uniform, 900_000)
  const made = new Map<string, Bars | null>()
  return {
    source,
    inputs: {},
    bars,
    symbol,
    interval: INTERVAL,
    limits: { ...DEFAULT_LIMITS, timeMs: 30_000 },
    series: (exchange, name, interval) => {
      const key = `${exchange}:${name} ${interval}`
      let found = made.get(key)
      if (found === undefined)
        made.set(key, (found = otherBars(bars, name === symbol.symbol ? seed : seed + name.length, interval)))
      return found && { bars: found, symbol: { ...symbol, exchange, symbol: name }, interval }
    },
  }
}

/** Bars over the same time as the chart's. */
function otherBars(chart: Bars, seed: number, interval: string): Bars | null {
  const [from, to] = [parseInterval(INTERVAL), parseInterval(interval)]
  if (!from || !to) return null
  const step = intervalMs(to)
  if (step < 900_000)
    return randomBars(Math.floor((chart.length * 900_000) / step), seededRandom(seed).uniform, step)
  const bars = randomBars(chart.length, seededRandom(seed).uniform, 900_000)
  return step === 900_000 ? bars : resample(bars, from, to, calendarOf(defaultSymbol('', 'X')))
}

function randomBars(length: number, random: Random, step: number): Bars {
  const bars = emptyBars(length)
  let price = 100
  const tick = (value: number) => Math.round(value * 100) / 100
  for (let i = 0; i < length; i++) {
    const open = price
    price = tick(Math.max(1, price * (1 + (random() - 0.5) * 0.02)))
    bars.time[i] = START + i * step
    bars.open[i] = open
    bars.close[i] = price
    bars.high[i] = tick(Math.max(open, price) * (1 + random() * 0.006))
    bars.low[i] = tick(Math.min(open, price) * (1 - random() * 0.006))
    bars.volume[i] = Math.floor(random() * 1000)
  }
  return bars
}

// ——— the command ———

function* requests(dir: string, length: number, seed: number): Generator<[string, BacktestRequest]> {
  if (existsSync(join(dir, 'validation')) || existsSync(join(dir, 'lists.json'))) {
    for (const { id, request } of parityCases(dir)) yield [id, request]
    return
  }
  const files = readdirSync(dir, { recursive: true, encoding: 'utf8' })
  for (const file of files.filter((name) => name.endsWith('.pine')).sort())
    yield [file, scriptRequest(readFileSync(join(dir, file), 'utf8'), length, seed)]
}

const HELP = `bun src/tools/incremental.ts DIR [--seed N] [--bars N] [--only A,B]

Runs the scripts of a folder at once and in slices, and says where the results are not the same.

  DIR           A folder of *.pine, or of cases as parity.ts knows them
  --seed N      The same bars and slices again
  --bars N      Bars a script; 1000
  --only A,B    Scripts whose names hold one of these`

function main(): void {
  const { values, positionals } = commandLine(
    HELP,
    { seed: { type: 'string' }, bars: { type: 'string' }, only: { type: 'string' } },
    { allowPositionals: true },
  )
  const seed = wholeNumber(HELP, 'seed', values.seed) ?? Date.now() % 100_000
  const length = wholeNumber(HELP, 'bars', values.bars) ?? 1000
  const only = values.only?.split(',') ?? null
  const [dir] = positionals
  if (!dir) return refused(HELP, 'Say which folder.')
  if (!existsSync(dir)) return refused(HELP, `There is no folder ${dir}.`)
  console.log(`seed ${seed}`)
  let ran = 0
  let wrong = 0
  for (const [name, request] of requests(dir, length, seed)) {
    if (only && !only.some((one) => name.includes(one))) continue
    let difference: string | null
    try {
      const random = seededRandom(seed + ran).uniform
      difference = incrementalDifference(request, random) ?? advanceDifference(request, random)
    } catch (error) {
      difference = error instanceof Error ? (error.stack ?? error.message) : String(error)
    }
    ran++
    if (difference === null) continue
    wrong++
    console.log(`${name}: ${difference}`)
  }
  console.log(`${ran - wrong} of ${ran} the same`)
  process.exitCode = wrong > 0 ? 1 : 0
}

if (import.meta.main) main()
