// What keeps the data of servers and outlives them: the disk of one that is alone, or a database that several share. Both
// have faults of their own.

import type { BarStore } from '../market/bar-store.ts'
import type { ServerStore } from '../server/server-store.ts'
import type { World } from '../server/world.ts'
import type { Key, Kv } from '../store/kv.ts'
import { migrate } from '../store/migrate.ts'
import type { Connection } from '../store/postgres/connection.ts'
import type { Query } from '../store/postgres/database.ts'
import { openServerPostgres } from '../store/postgres/open-postgres.ts'
import { postgresBars } from '../store/postgres/postgres-bars.ts'
import { postgresKv } from '../store/postgres/postgres-kv.ts'
import { SCHEMA } from '../store/postgres/schema.ts'
import type { Offer } from '../work/sweeps/offers.ts'
import { Disk } from './disk.ts'
import type { History } from './history.ts'
import { Lending } from './lending.ts'
import type { Life } from './life.ts'
import { toLayout1 } from './old-data.ts'
import { clientsOf, type Line, Postgres } from './postgres.ts'
import type { Timeline } from './timeline.ts'

export const STORE_FAULTS = {
  full: 'the disk is full',
  broken: 'some writes fail',
  slow: 'flushes take up to two seconds',
  flip: 'a bit of a document flips, until it is brought back',
  old: 'a server is started on the data of an old version',
  line: 'a server cannot reach the database',
  failover: 'another database takes the place of the first',
  pause: 'the database stands still',
} as const
export type StoreFault = keyof typeof STORE_FAULTS

export interface Keeping {
  /** For whoever looks from outside: it is never late, nor over. */
  readonly kv: Kv
  readonly bars: BarStore
  /** Those that can be had: each answers what ends it. `name` is of the server that they befall, where it is one. */
  readonly faults: Partial<Record<StoreFault, (name: string, document: Key) => () => void>>
  /** When the work of some was last given to another server. */
  shardsChangedAt(): number
  open(life: Life, world: World): Promise<ServerStore>
  /** A life is over, by a crash or in order. */
  ended(life: Life): Promise<void>
}

export async function aloneOnDisk(timeline: Timeline): Promise<Keeping> {
  const disk = new Disk(timeline)
  await disk.prepare()
  return {
    kv: disk.kv,
    bars: disk.bars,
    faults: {
      full: () => {
        disk.isFull = true
        return () => (disk.isFull = false)
      },
      broken: () => {
        disk.failing = timeline.between(1, 60)
        return () => (disk.failing = 0)
      },
      slow: () => {
        disk.flushMs = 2000
        return () => (disk.flushMs = 8)
      },
      old: () => {
        disk.isAging = true
        return () => {}
      },
      flip: (_, document) => {
        disk.damaged = document
        return () => (disk.damaged = null)
      },
    },
    shardsChangedAt: () => 0,
    async open(life) {
      const kv = disk.kvOf(life)
      await migrate(kv)
      return {
        kv,
        bars: disk.barsOf(life),
        pages: null,
        lost: new Promise(() => {}),
        feed: null,
        fleet: null,
        lastKnown: null,
        close: async () => {},
      }
    },
    async ended(life) {
      if (life.end?.isCrash === true)
        timeline.tell(life.name, `${await disk.crash()} commits were not flushed`)
      if (!disk.isAging) return
      disk.isAging = false
      await disk.change(toLayout1)
      timeline.tell('disk', 'has the data of an old version')
    },
  }
}

/** As the default of `--lease-seconds`. */
const LEASE_MS = 4000
/** What a server that has stopped has sent before arrives within this. */
const LAST_WORDS_MS = 200

export function togetherOnPostgres(timeline: Timeline, history: History): Keeping {
  const postgres = new Postgres(timeline)
  const lines = new Map<string, Line>()
  const lineOf = (name: string) => lines.getOrInsertComputed(name, () => ({ state: 'open' }))
  const query: Query = async <R>(text: string, values: readonly unknown[] = []) =>
    postgres.look(text, values) as R[]
  const looking = { query }
  const lending = new Lending(history, (node) => !postgres.isMember(node))
  postgres.watch<Offer>(['sweep-offers', 'id'], (...step) => lending.step(...step))
  const nodes = new Map<Life, string>()
  return {
    kv: postgresKv({
      schema: SCHEMA,
      reading: looking,
      writing: looking,
      node: '',
      newId: () => new Uint8Array(),
      written: () => {},
      close: async () => {},
    }),
    // What reads bars asks no more of its connection.
    bars: postgresBars({ schema: SCHEMA, reading: looking, objects: null } as unknown as Connection),
    faults: {
      full: () => {
        postgres.isFull = true
        return () => (postgres.isFull = false)
      },
      slow: () => {
        postgres.flushMs = 2000
        return () => (postgres.flushMs = 8)
      },
      line: (name) => {
        const line = lineOf(name)
        line.state = timeline.once(2) ? 'closed' : 'silent'
        timeline.tell(name, `its line to the database is ${line.state}`)
        return () => (line.state = 'open')
      },
      failover: () => {
        timeline.tell('database', `is away for ${postgres.failOver()} ms`)
        return () => {}
      },
      pause: () => {
        const ms = timeline.between(100, 30_000)
        timeline.tell('database', `stands still for ${ms} ms`)
        postgres.standStill(ms)
        return () => {}
      },
    },
    shardsChangedAt: () => postgres.shardsChangedAt,
    async open(life, { steady: clock, random }) {
      const node = `${life.name}-${nodes.size + 1}`
      nodes.set(life, node)
      const store = await openServerPostgres({
        url: 'postgres://simulated',
        open: clientsOf(postgres, life, lineOf(life.name)),
        clock,
        random,
        node,
        version: '0.0.0',
        leaseMs: LEASE_MS,
        admit: async () => {},
        waits: (holder) => timeline.tell(life.name, `waits for ${holder}`),
      })
      return { ...store, pages: null }
    },
    async ended(life) {
      const node = nodes.get(life) ?? ''
      if (life.end?.isCrash === true) return
      await timeline.pause(LAST_WORDS_MS)
      if (postgres.isHeld(node))
        history.found('released', `${node} has stopped, and others wait for its lease to run out`)
    },
  }
}
