// What a bar costs a script that goes on from kept state: by the history behind it, and of a thousand scripts of a
// thousand series, in real workers, with the memory that is kept of them.
//
//     bun run bench advance

import { availableParallelism } from 'node:os'
import process from 'node:process'
import { advance, sizeOf, type KeptState } from '../../../src/broker/advance.ts'
import { KeptRuns } from '../../../src/work/workers/kept-runs.ts'
import { JobPool } from '../../../src/work/workers/pool.ts'
import type { JobOptions } from '../../../src/work/workers/task.ts'
import { threadMs } from '../../../src/work/workers/thread-time.ts'
import { copyBars, emptyBars, sliceBars, type Bars } from '../../../src/market/bars.ts'
import { DEFAULT_LIMITS } from '../../../src/language/runtime/limits.ts'
import { scriptRequest } from '../../../src/tools/incremental.ts'

const KINDS: Readonly<Record<string, string>> = {
  indicator: `indicator("x")
fast = ta.ema(close, 12)
slow = ta.sma(close, 26)
r = ta.rsi(close, 14)
up = ta.crossover(fast, slow) and r > 45 and close > close[3]
alertcondition(up, "up", "up")
plot(fast)
plot(slow)
plot(r)`,
  strategy: `strategy("x")
fast = ta.ema(close, 12)
slow = ta.sma(close, 26)
if ta.crossover(fast, slow)
    strategy.entry("L", strategy.long)
if ta.crossunder(fast, slow)
    strategy.close("L")
strategy.exit("e", "L", loss = 300, profit = 600)
plot(strategy.position_size)`,
  request: `indicator("x")
day = request.security("", "D", ta.sma(close, 5))
if ta.crossover(close, day)
    alert("over")
plot(day)`,
}
const source = (kind: string, n = 0) => `//@version=6\n// ${n}\n${KINDS[kind]}\n`

/** As the cache hands them out: shared, and grown at the end without a copy. */
function shared(bars: Bars): Bars {
  const copy = emptyBars(bars.length, { shared: true })
  copyBars(copy, 0, bars)
  return copy
}

function byHistory(kind: string, length: number): void {
  const request = scriptRequest(source(kind), length, 1)
  const { bars } = request
  const rounds = 41
  let kept: KeptState | null = null
  const times: number[] = []
  for (let end = length - rounds; end <= length; end++) {
    const started = performance.now()
    const answer = advance({ ...request, bars: sliceBars(bars, 0, end) }, kept, end - 2, { trusted: true })
    times.push(performance.now() - started)
    kept = answer.kept ?? kept
  }
  const [first = 0, ...rest] = times
  const median = rest.toSorted((a, b) => a - b)[rounds >> 1] ?? 0
  console.log(
    `${kind.padEnd(10)} ${String(length).padStart(7)} bars behind: ${median.toFixed(2).padStart(6)} ms a bar, ${kept ? Math.round(sizeOf(kept) / 1024) : '–'} kB kept, ${first.toFixed(0)} ms from the beginning`,
  )
}

async function thousand(kind: string, different: boolean): Promise<void> {
  const count = 1000
  const base = shared(scriptRequest('', 5002, 7).bars)
  const { symbol, interval } = scriptRequest('', 1, 7)
  const pool = new JobPool({
    threadMs,
    workers: Math.max(2, availableParallelism()),
    clock: { now: () => Date.now(), sleep: () => Promise.resolve() },
    spawn: () => new Worker(new URL('../../../src/work/workers/worker.ts', import.meta.url).href),
    memory: () => process.memoryUsage.rss(),
    memoryMax: Infinity,
  })
  const runs = new KeptRuns(pool)
  const host = { library: () => null, series: () => null, finer: () => null }
  const options: JobOptions = { user: 'u', lane: 'alerts', budget: DEFAULT_LIMITS, host }
  const look = async (length: number) => {
    const bars = sliceBars(base, 0, length)
    const started = performance.now()
    let next = 0
    // Four series are looked at side by side.
    const lane = async () => {
      for (let n = next++; n < count; n = next++) {
        const job = { source: source(kind, different ? n : 0), inputs: {}, overrides: {}, bars }
        await runs.advance(
          `s${n}`,
          { ...job, symbol, interval, limits: DEFAULT_LIMITS, from: length - 2 },
          options,
        )
      }
    }
    await Promise.all([lane(), lane(), lane(), lane()])
    return performance.now() - started
  }
  const rss = process.memoryUsage.rss()
  const first = await look(5000)
  const second = await look(5001)
  const third = await look(5002)
  console.log(
    `${count} ${different ? 'different' : 'equal'} ${kind}s on ${count} series of 5,000 bars: the first look ${first.toFixed(0)} ms, then a bar each ${second.toFixed(0)} and ${third.toFixed(0)} ms; ${runs.count} kept, ${(runs.bytes / 2 ** 20).toFixed(0)} MB, memory of the process +${((process.memoryUsage.rss() - rss) / 2 ** 20).toFixed(0)} MB`,
  )
  pool.close()
}

for (const kind of Object.keys(KINDS)) for (const length of [5000, 50_000, 500_000]) byHistory(kind, length)
for (const kind of ['indicator', 'strategy'])
  for (const different of [false, true]) await thousand(kind, different)
