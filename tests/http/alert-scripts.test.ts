// Alerts with scripts, end to end: bars one by one or many at a time, a forming bar that changes, earlier bars that are
// corrected, restarts and states that were evicted fire exactly what a run over all bars at each of these moments fires.

import { expect, test } from 'bun:test'
import type { Alert, Firing } from '../../src/notify/alerts/alert.ts'
import type { AlertKind } from '../../src/wire/alert.ts'
import { Alerts } from '../../src/notify/alerts/alerts.ts'
import { alertScripts } from '../../src/server/alert-scripts.ts'
import { advanceJob } from '../../src/work/workers/advance-job.ts'
import type { AdvanceJob } from '../../src/work/workers/job.ts'
import { KeptRuns } from '../../src/work/workers/kept-runs.ts'
import type { JobPool } from '../../src/work/workers/pool.ts'
import type { JobOptions } from '../../src/work/workers/task.ts'
import type { Desk } from '../../src/work/workers/desk.ts'
import { idSource } from '../../src/lib/ids.ts'
import { silentLog } from '../../src/lib/log.ts'
import { BarCache } from '../../src/market/bar-cache.ts'
import { emptyBars, sliceBars, type Bars } from '../../src/market/bars.ts'
import { DEFAULT_LIMITS } from '../../src/language/runtime/limits.ts'
import type { Scripts } from '../../src/people/scripts/scripts.ts'
import { testBars, testKv } from '../store/test-store.ts'
import { scriptRequest } from '../../src/tools/incremental.ts'
import { seededRandom } from '../../src/lib/seeded-random.ts'

const SCRIPTS: Readonly<Record<string, readonly [AlertKind, string]>> = {
  calls: [
    'script',
    'indicator("x")\nvar n = 0\nn += 1\nif ta.crossover(close, ta.sma(close, 4))\n    alert(str.tostring(n))',
  ],
  conditions: [
    'script',
    'indicator("x")\nday = request.security("", "60", close, lookahead = barmerge.lookahead_on)\nalertcondition(close > day[1] and barstate.islast, "now", "over")',
  ],
  orders: [
    'strategy',
    'strategy("x")\nif close > open\n    strategy.entry("L", strategy.long, limit = low)\nstrategy.exit("e", "L", profit = 50, loss = 80)',
  ],
  plot: ['indicator', 'indicator("x")\nplot(ta.ema(close, 3) - ta.cum(close) / (bar_index + 1), "osc")'],
  numbered: [
    'script',
    'indicator("x")\nif last_bar_index - bar_index < 2 and close > open\n    alert("late " + str.tostring(last_bar_index))',
  ],
}
test('a fill is told at its price without binary noise', async () => {
  const cache = new BarCache(testBars())
  const price = 10_385 * 0.01
  expect(`${price}`).toBe('103.85000000000001')
  const run = alertScripts(
    { kv: testKv(), bars: cache, limits: DEFAULT_LIMITS },
    { read: () => Promise.resolve({ source: '' }) } as unknown as Scripts,
    {
      advance: () => Promise.resolve({ plots: [], alerts: [], fills: [{ bar: 0, id: 'L', price }] }),
    } as unknown as KeptRuns,
  )
  const alert = {
    ...SERIES,
    kind: 'strategy',
    ownerId: 'u',
    scriptId: 's',
    inputs: {},
    seenBar: null,
    bars: 1,
  }
  const { events } = await run(alert as unknown as Alert, emptyBars(1))
  expect(events).toEqual([{ bar: 0, message: 'L filled at 103.85' }])
})

test('an alert on a plot that its script has not stops with what it has', async () => {
  const problemOf = async (plots: readonly (readonly [string, Float64Array])[], plot: string) => {
    const run = alertScripts(
      { kv: testKv(), bars: new BarCache(testBars()), limits: DEFAULT_LIMITS },
      { read: () => Promise.resolve({ source: '' }) } as unknown as Scripts,
      { advance: () => Promise.resolve({ plots, alerts: [], fills: [] }) } as unknown as KeptRuns,
    )
    const alert = { ...SERIES, kind: 'indicator', plot, ownerId: 'u', inputs: {}, seenBar: null, bars: 1 }
    return run(alert as unknown as Alert, emptyBars(1)).then(
      () => null,
      (error: Error) => error.message,
    )
  }
  const plots = [['RSI', new Float64Array(1)]] as const
  expect(await problemOf(plots, 'RSI')).toBeNull()
  expect(await problemOf(plots, '')).toBeNull()
  expect(await problemOf(plots, 'RIS')).toBe('The script has no plot “RIS”. It has: “RSI”.')
  expect(await problemOf([], '')).toBe('The script plots nothing that could be compared.')
})

const SERIES = { exchange: 'X', symbol: 'ÄÖ', interval: '15m' }

class World {
  now = 0
  readonly fired: Firing[] = []
  readonly cache = new BarCache(testBars())
  readonly kv = testKv()
  readonly keptBytes: number
  alerts: Alerts
  #bytes = 1

  /** `keptBytes` 0 = nothing is ever kept. */
  constructor(keptBytes: number) {
    this.keptBytes = keptBytes
    this.alerts = this.open()
  }

  /** Another process on the same data: what was kept is gone. */
  open(): Alerts {
    const { kv, cache } = this
    const clock = { now: () => this.now, sleep: () => Promise.resolve() }
    const random = {
      bytes: (n: number) => new Uint8Array(n).map(() => (this.#bytes = (this.#bytes * 37 + 11) & 255)),
    }
    const scripts = {
      read: (id: string) => ({ source: `//@version=6\n${SCRIPTS[id]?.[1] ?? ''}\n` }),
    } as unknown as Scripts
    return new Alerts({
      kv,
      clock,
      newId: idSource({ clock, random }),
      bars: (series, range) => cache.look(series, range),
      source: (series) => cache.source(series),
      resolve: async (_userId, series) => series,
      requireStored: async () => {},
      closesAt: async () => (time) => time + 900_000,
      runScript: alertScripts(
        { kv, bars: cache, limits: DEFAULT_LIMITS },
        scripts,
        new KeptRuns(POOL, this.keptBytes),
      ),
      deliver: async () => [],
      log: silentLog,
      fired: (firings) => this.fired.push(...firings),
      alertsMax: 0,
      ownsReceiver: async () => true,
      ownsChannel: async () => true,
      wrongInput: async () => null,
      lookAtEnd: () => {},
    })
  }

  async set(id: string): Promise<void> {
    const [kind] = SCRIPTS[id] ?? []
    const fields = {
      ...SERIES,
      name: id,
      scriptId: id,
      channels: ['email'],
      frequency: 'once_per_bar',
    } as const
    const compares = kind === 'indicator' ? ({ op: 'crossing', price: 0 } as const) : {}
    await this.alerts.create('usr_1', { ...fields, ...compares, kind: kind ?? 'script' })
  }

  async arrive(bars: Bars, now: number): Promise<void> {
    this.now = now
    await this.cache.upsert(SERIES, bars)
    for await (const _ of this.alerts.lookByScripts(SERIES)) continue
  }
}

/** Does a job at once. */
const POOL = {
  do: (_kind: string, job: AdvanceJob, { host }: JobOptions) => {
    const ask = new Proxy(
      {},
      {
        get:
          (_, name: string) =>
          async (...args: never[]) =>
            (host as Record<string, (...args: never[]) => unknown>)[name]?.(...args),
      },
    )
    return advanceJob(job, { host: ask, progress: () => {}, used: () => {} } as unknown as Desk)
  },
} as unknown as JobPool

test('alerts of scripts fire the same whether their states are kept, evicted, lost or never there', async () => {
  const seed = Number(Bun.env['SEED'] ?? Date.now() % 100_000)
  console.log(`alert scripts seed ${seed}`)
  const random = seededRandom(seed).uniform
  const below = (n: number) => Math.floor(random() * n)
  const all = scriptRequest('', 120, seed).bars
  const worlds = [new World(2 ** 28), new World(20_000), new World(0)]
  const each = (work: (world: World) => Promise<void>) => Promise.all(worlds.map(work))
  let length = 60
  await each((world) => world.arrive(sliceBars(all, 0, length), (all.time[length - 1] ?? 0) + 1))
  for (const id of Object.keys(SCRIPTS)) await each((world) => world.set(id))
  while (length < all.length) {
    const from = length - 1
    length = Math.min(all.length, length + (random() < 0.3 ? 0 : random() < 0.8 ? 1 : below(30)))
    const bars = copied(sliceBars(all, from, length))
    const last = bars.length - 1
    const forming = random() < 0.5
    if (forming) bars.close[last] = ((bars.low[last] ?? 0) + (bars.high[last] ?? 0)) / 2
    if (random() < 0.1) {
      // An earlier bar comes again, corrected.
      const at = below(from)
      const again = copied(sliceBars(all, at, at + 1))
      again.close[0] = again.high[0] ?? 0
      await each((world) => world.arrive(again, world.now))
    }
    const now = (all.time[length - 1] ?? 0) + (forming ? 1000 : 900_000)
    await each((world) => world.arrive(bars, now))
    if (random() < 0.1) for (const world of worlds) world.alerts = world.open()
  }
  const said = worlds.map(({ fired }) =>
    fired.map(({ barTime, message, price }) => `${barTime} ${price} ${message}`).sort(),
  )
  expect(said[2]?.length).toBeGreaterThan(10)
  expect(said[0]).toEqual(said[2] ?? [])
  expect(said[1]).toEqual(said[2] ?? [])
}, 900_000)

function copied(bars: Bars): Bars {
  const { length, time, open, high, low, close, volume } = bars
  return {
    length,
    time: time.slice(),
    open: open.slice(),
    high: high.slice(),
    low: low.slice(),
    close: close.slice(),
    volume: volume.slice(),
  }
}
