// Stores on one PostgreSQL, each in a schema of its own.

import type { Clock } from '../../src/lib/clock.ts'
import type { Kv } from '../../src/store/kv.ts'
import { s3Bucket } from '../../src/store/bucket.ts'
import { ChunkObjects } from '../../src/store/postgres/chunk-objects.ts'
import { type Connection, connect, type PostgresOptions } from '../../src/store/postgres/connection.ts'
import { postgresKv } from '../../src/store/postgres/postgres-kv.ts'
import { bringUpToDate, type Schema } from '../../src/store/postgres/schema.ts'
import { Waker } from '../../src/store/postgres/waker.ts'
import { testPostgres } from './postgres-server.ts'

/** The machine's: what is waited for here is another process. */
export const realClock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      signal?.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true })
    }),
}

/** Gives no statement up: a test that waits for that brings a clock of its own, and for all others the machine may be busy. */
export const patientClock: Clock = { now: () => 0, sleep: realClock.sleep }

export interface PostgresStores {
  readonly url: string
  /** To a store that is empty, or as another node to the one of that name. */
  connect(name?: string, options?: Partial<PostgresOptions>): Promise<Connection>
  open(name?: string, options?: Partial<PostgresOptions>): Promise<Kv>
  /**
   * As `connect`, by connections that all who share have together, since each takes PostgreSQL 40 ms of a processor. For what
   * does not ask how several of them meet.
   */
  share(name?: string, bars?: string): Promise<Connection>
  stop(): Promise<void>
}

/** One process runs several files of tests, one after the other, on the same database. */
const ownName = () => crypto.randomUUID()

export async function postgresStores(): Promise<PostgresStores> {
  const { url, stop } = await testPostgres()
  let opened = 0
  let shared: Promise<Connection> | null = null
  const stores: PostgresStores = {
    url,
    connect(name = ownName(), options = {}) {
      return connect({
        url,
        clock: patientClock,
        random: { bytes: (count) => crypto.getRandomValues(new Uint8Array(count)) },
        node: `node-${opened++}`,
        schema: `"${name}"`,
        ...options,
      })
    },
    async share(name = ownName(), bars) {
      // A refused connection fails who asked for it, and is not kept for those after it.
      shared ??= stores.connect().catch((error) => {
        shared = null
        throw error
      })
      const all = await shared
      const schema: Schema = `"${name}"`
      await bringUpToDate(all.writing, schema)
      const bucket = bars === undefined ? null : s3Bucket(bars, patientClock)
      const objects = await ChunkObjects.open(bucket, all.writing, schema)
      const waker = new Waker(all.writing, schema, patientClock)
      return {
        ...all,
        schema,
        node: `node-${opened++}`,
        objects,
        written: () => waker.wake(),
        close: async () => {},
      }
    },
    open: async (name, options) => postgresKv(await stores.connect(name, options)),
    stop,
  }
  return stores
}
