// How fast forward runs that are far behind catch up, on LMDB or, with `TEST_STORE=postgres`, on PostgreSQL: one, and those of
// eight users side by side; and what a bar takes while it is live.
//
//     bun run bench forward

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import process from 'node:process'
import { JobPool } from '../../../src/work/workers/pool.ts'
import { threadMs } from '../../../src/work/workers/thread-time.ts'
import { ForwardRuns } from '../../../src/work/forward/forward-runs.ts'
import { idSource } from '../../../src/lib/ids.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { BarCache } from '../../../src/market/bar-cache.ts'
import { memoryBars } from '../../../src/market/bar-store.ts'
import { sliceBars } from '../../../src/market/bars.ts'
import { DEFAULT_LIMITS } from '../../../src/language/runtime/limits.ts'
import { hostFor } from '../../../src/work/runs/host.ts'
import { lmdbKv } from '../../../src/store/lmdb.ts'
import { scriptRequest } from '../../../src/tools/incremental.ts'
import { Outbox } from '../../../src/notify/webhooks/deliveries.ts'
import { orderEvent } from '../../../src/server/messages.ts'
import { postgresStores, realClock } from '../../store/postgres-stores.ts'

const BEHIND = 300
const ROUNDS = 3
const LIVE = 40
const MARKET = { exchange: 'HOME', symbol: 'BTCUSDT', interval: '15m' }
const SOURCE = `//@version=6
strategy("averages")
fast = ta.ema(close, 5)
slow = ta.ema(close, 20)
if ta.crossover(fast, slow)
    strategy.entry("L", strategy.long)
strategy.exit("X", "L", limit = strategy.position_avg_price * 1.03, stop = strategy.position_avg_price * 0.98)
if ta.crossunder(fast, slow)
    strategy.close("L")
`

const folder = mkdtempSync(`${tmpdir()}/chartroom-forward-`)
const postgres = process.env['TEST_STORE'] === 'postgres' ? await postgresStores() : null
const kv = postgres ? await postgres.open('forward') : lmdbKv({ path: folder })
const newId = idSource({
  clock: realClock,
  random: { bytes: (count) => crypto.getRandomValues(new Uint8Array(count)) },
})
const pool = new JobPool({
  workers: 1,
  clock: { ...realClock, now: () => performance.now() },
  spawn: () => new Worker(new URL('../../../src/work/workers/worker.ts', import.meta.url).href),
  threadMs,
  memory: () => process.memoryUsage.rss(),
  memoryMax: Infinity,
})
const outbox = new Outbox({ kv, clock: realClock, newId })
let commits = 0
const { commit } = kv
kv.commit = (changes) => {
  commits++
  return commit.call(kv, changes)
}

async function measured(users: number): Promise<void> {
  const all = scriptRequest(SOURCE, 1001 + BEHIND + LIVE + 5, 5).bars
  const cache = new BarCache(memoryBars())
  await cache.upsert(MARKET, sliceBars(all, 0, 1001))
  const runs = new ForwardRuns({
    kv,
    clock: realClock,
    newId,
    log: silentLog,
    bars: cache,
    pool,
    limits: { ...DEFAULT_LIMITS, timeMs: 60_000 },
    hostFor: (seen, _, key, of) => hostFor(seen, async () => null, key, of),
    deliver: (tx, run, events) => {
      const filled = events.map((event, i) => orderEvent(run, event, run.events - events.length + i + 1))
      return outbox.enqueue(tx, run.userId, 'order.filled', filled)
    },
    told: () => {},
  })
  const made = []
  for (let user = 0; user < users; user++)
    made.push(await runs.create(`${users} ${user}`, { name: 'one', ...MARKET, source: SOURCE }))
  await cache.upsert(MARKET, sliceBars(all, 1001, 1001 + BEHIND))
  commits = 0
  const cpu = process.cpuUsage()
  const from = performance.now()
  await runs.advanceAll()
  const seconds = (performance.now() - from) / 1000
  const { user, system } = process.cpuUsage(cpu)
  let bars = 0
  for (const { userId, id } of made) bars += (await runs.get(userId, id)).bars
  const caught = commits
  const latencies: number[] = []
  for (let i = 0; i < LIVE; i++) {
    await cache.upsert(MARKET, sliceBars(all, 1001 + BEHIND + i, 1002 + BEHIND + i))
    const begun = performance.now()
    await runs.advanceAll()
    latencies.push(performance.now() - begun)
  }
  latencies.sort((a, b) => a - b)
  console.log(
    `${users} side by side: ${(bars / seconds).toFixed(0)} bars/s, ${((user + system) / 1000 / bars).toFixed(2)} ms of processor a bar, ${(caught / bars).toFixed(3)} commits a bar; live p50 ${latencies[LIVE / 2]!.toFixed(1)} ms, most ${latencies.at(-1)!.toFixed(1)} ms`,
  )
  for (const { userId, id } of made) await runs.remove(userId, id)
}

// The engine loads with the first job, and much of the time of the first bars goes into making machine code.
await measured(1)
for (let round = 0; round < ROUNDS; round++) for (const users of [1, 8]) await measured(users)
pool.close()
await kv.close()
await postgres?.stop()
rmSync(folder, { recursive: true })
