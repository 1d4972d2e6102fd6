// A bar each for a thousand alerts with different scripts on a thousand series of 5,000 bars, on a real disk and in real
// workers: `bun run bench script-alerts [alerts]`. Half of them fire on every bar, so that half of the looks are a commit.

import process from 'node:process'
import { mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { KeptRuns } from '../../../src/work/workers/kept-runs.ts'
import { JobPool } from '../../../src/work/workers/pool.ts'
import { threadMs } from '../../../src/work/workers/thread-time.ts'
import { sliceBars } from '../../../src/market/bars.ts'
import { DEFAULT_LIMITS } from '../../../src/language/runtime/limits.ts'
import type { Scripts } from '../../../src/people/scripts/scripts.ts'
import { alertScripts } from '../../../src/server/alert-scripts.ts'
import { scriptRequest } from '../../../src/tools/incremental.ts'
import { openAlerts } from './disk-alerts.ts'

const count = Number(process.argv[2] ?? 1000)
const ROUNDS = 5
const path = mkdtempSync(`${tmpdir()}/chartroom-alerts-`)
const clock = { now: () => Date.UTC(2040, 0), sleep: (ms: number) => Bun.sleep(ms) }
const pool = new JobPool({
  threadMs,
  workers: Math.max(2, availableParallelism()),
  clock: { now: () => performance.now(), sleep: clock.sleep },
  spawn: () => new Worker(new URL('../../../src/work/workers/worker.ts', import.meta.url).href),
  memory: () => process.memoryUsage.rss(),
  memoryMax: Infinity,
})
const kept = new KeptRuns(pool)
const source = (n: number) => `//@version=6
indicator("number ${n}")
fast = ta.ema(close, 12)
slow = ta.sma(close, 26)
up = ta.crossover(fast, slow) and ta.rsi(close, 14) > 45
if up${n % 2 ? ' or true' : ' and false'}
    alert("now")
plot(fast)`
const scripts = {
  read: async (id: string) => ({ source: source(Number(id.slice(4))) }),
} as unknown as Scripts
const { kv, cache, alerts, looks, fired } = openAlerts({
  path,
  clock,
  barMs: 900_000,
  runScript: (store, barCache) =>
    alertScripts({ kv: store, bars: barCache, limits: DEFAULT_LIMITS }, scripts, kept),
})
const { bars, interval } = scriptRequest('', 5000 + ROUNDS, 7)
const key = (n: number) => ({ exchange: 'X', symbol: `S${n}`, interval })
const numbers = Array.from({ length: count }, (_, n) => n)

async function timed(name: string, work: () => Promise<unknown>): Promise<void> {
  const before = fired()
  const started = performance.now()
  await work()
  const took = performance.now() - started
  console.log(
    `${name}: ${took.toFixed(0)} ms, ${fired() - before} firings, ${(kept.bytes / 2 ** 20).toFixed(0)} MB kept`,
  )
}

await timed(`${count} series of 5,000 bars`, () =>
  Promise.all(numbers.map((n) => cache.upsert(key(n), sliceBars(bars, 0, 5000)))),
)
await timed(`${count} alerts with different scripts`, async () => {
  for (const n of numbers)
    await alerts.create(`usr_${n % 10}`, {
      ...key(n),
      kind: 'script',
      scriptId: `scr_${n}`,
      channels: ['email'],
      frequency: 'once_per_bar',
    })
  await looks.settle()
})
for (let round = 0; round < ROUNDS; round++)
  await timed('a bar each', async () => {
    const bar = sliceBars(bars, 5000 + round, 5001 + round)
    await Promise.all(numbers.map((n) => cache.upsert(key(n), bar)))
    await looks.settle()
  })
pool.close()
await kv.close()
rmSync(path, { recursive: true })
process.exit(0)
