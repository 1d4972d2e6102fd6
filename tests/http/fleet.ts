// Two or three servers on one store in memory, where a test says when each hears of what the other has written.

import type { FleetView } from '../../src/http/deps.ts'
import { type Shards, shardOf } from '../../src/lib/shards.ts'
import { BarCache } from '../../src/market/bar-cache.ts'
import type { BarCounts, BarStore, SeriesKey } from '../../src/market/bar-store.ts'
import type { SweepNodes } from '../../src/work/sweeps/offers.ts'
import type { Key, Kv } from '../../src/store/kv.ts'
import { barCsv } from '../bar-csv.ts'
import { testServer, unlimited } from './server.ts'
import { testBars, testKv } from '../store/test-store.ts'

/** What one has written and the other has not heard of. */
interface News {
  keys: Key[]
  bars: { readonly key: SeriesKey; readonly counts: BarCounts }[]
}

/** The store as one of the servers writes to it. */
function told(kv: Kv, news: News): Kv {
  return {
    ...kv,
    async commit(commit) {
      const done = await kv.commit(commit)
      const { sets = [], deletes = [], sums = [] } = commit
      if (done) news.keys.push(...[...sets, ...sums].map(({ key }) => key), ...deletes)
      return done
    },
  }
}

function toldBars(store: BarStore, news: News): BarStore {
  return {
    ...store,
    async upsert(key, bars, pieces) {
      const result = await store.upsert(key, bars, pieces)
      news.bars.push({ key, counts: result })
      return result
    },
    draft(key) {
      const draft = store.draft(key)
      return {
        ...draft,
        async commit(pieces) {
          const result = await draft.commit(pieces)
          news.bars.push({ key, counts: result })
          return result
        },
      }
    },
  }
}

export class HandFleet implements Shards, FleetView, SweepNodes {
  readonly node: string
  readonly #alive: ReadonlySet<string>
  readonly #owner: (shard: number) => string
  readonly gained: (() => void)[] = []
  readonly giving: (() => Promise<void>)[] = []
  isCutOff = false
  readonly #hearsOfCuts: (() => void)[] = []
  readonly hearsOfBurials: (() => void)[] = []

  constructor(node: string, alive: ReadonlySet<string>, owner: (shard: number) => string) {
    this.node = node
    this.#alive = alive
    this.#owner = owner
  }

  get held(): number[] {
    return Array.from({ length: 256 }, (_, shard) => shard).filter(
      (shard) => this.#owner(shard) === this.node,
    )
  }

  readonly takeShared = () => Promise.resolve({ granted: 1, left: 0 })
  readonly lagMs = 20
  readonly buried = 3
  readonly retries = 4

  get members(): string[] {
    return [...this.#alive]
  }

  holds(name: string): boolean {
    return this.#owner(shardOf(name)) === this.node
  }

  onGained(listener: () => void): void {
    this.gained.push(listener)
  }

  onCutOff(listener: () => void): void {
    this.#hearsOfCuts.push(listener)
  }

  cutOff(isCutOff: boolean): void {
    this.isCutOff = isCutOff
    for (const listener of this.#hearsOfCuts) listener()
  }

  beforeGiving(settled: () => Promise<void>): void {
    this.giving.push(settled)
  }

  onBuried(listener: () => void): void {
    this.hearsOfBurials.push(listener)
  }

  aliveNodes(): Promise<ReadonlySet<string>> {
    return Promise.resolve(new Set(this.#alive))
  }
}

/** Providers of bars; null = they are switched off. */
type Network = NonNullable<NonNullable<Parameters<typeof testServer>[1]>['network']> | null

export function testFleet() {
  const stops: (() => void)[] = []
  return {
    end(): void {
      for (const stop of stops.splice(0)) stop()
    },
    /** `a` has the even shards, `b` the odd ones; a third has none. */
    async twoServers(
      engine: 'stand-in' | 'real' = 'stand-in',
      network: Network = null,
      more: readonly 'c'[] = [],
    ) {
      const kv = testKv()
      const store = testBars()
      const alive = new Set(['a', 'b', ...more])
      const moved = new Map<number, string>()
      const owner = (shard: number) => moved.get(shard) ?? (shard % 2 === 0 ? 'a' : 'b')
      const make = (node: string, seed: number) => {
        const news: News = { keys: [], bars: [] }
        const fleet = new HandFleet(node, alive, owner)
        const server = testServer(unlimited, {
          engine,
          seed,
          kv: told(kv, news),
          bars: new BarCache(toldBars(store, news)),
          fleet,
          network,
        })
        const { features, runs } = server.services
        features.onRunHeard((id, run) => runs.heard(id, run))
        stops.push(() => server.pool.close())
        return { ...server, fleet, news }
      }
      const a = make('a', 1)
      const b = make('b', 2)
      const servers = [a, b, ...more.map((node) => make(node, 3))]
      /** Each is told what the other has written, until neither has anything to tell. */
      const heard = async () => {
        while (servers.some(({ news }) => news.keys.length + news.bars.length > 0))
          for (const from of servers) {
            const [keys, bars] = [from.news.keys.splice(0), from.news.bars.splice(0)]
            for (const to of servers.filter((other) => other !== from)) {
              to.services.features.others.hear(keys)
              for (const { key, counts } of bars) await to.services.bars.changedElsewhere(key, counts)
              await to.services.features.others.settled()
            }
          }
      }
      const headers = await a.signUp()
      const { id: userId } = (await a.call('GET', '/api/auth/session', { headers })).json.user as {
        id: string
      }
      await a.call('POST', '/api/platform/bars/import?exchange=E&symbol=S&interval=1h', {
        headers: { ...headers, 'content-type': 'text/csv' },
        body: barCsv(50),
      })
      await heard()
      /** The work of that name goes to the other server. */
      const give = async (name: string) => {
        const [from, to] = a.fleet.holds(name) ? [a, b] : [b, a]
        moved.set(shardOf(name), to.fleet.node)
        await Promise.all(from.fleet.giving.map((settled) => settled()))
        for (const gained of to.fleet.gained) gained()
      }
      /** A server is gone, as the others find. */
      const bury = (node: string) => {
        alive.delete(node)
        for (const { fleet } of servers) for (const hear of fleet.hearsOfBurials) hear()
      }
      return { a, b, servers, kv, headers, userId, alive, heard, give, bury }
    },
  }
}
