// Stores on one PostgreSQL, each in a schema of its own.

import type { Clock } from '../../src/lib/clock.ts'
import type { Kv } from '../../src/store/kv.ts'
import { postgresKv, type PostgresOptions } from '../../src/store/postgres/postgres-kv.ts'
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

export interface PostgresStores {
  readonly url: string
  /** One that is empty, or another node on the store of that name. */
  open(name?: string, options?: Partial<PostgresOptions>): Promise<Kv>
  stop(): Promise<void>
}

export async function postgresStores(): Promise<PostgresStores> {
  const { url, stop } = await testPostgres()
  let opened = 0
  return {
    url,
    open(name = `${process.pid}-${opened++}`, options = {}) {
      return postgresKv({
        url,
        clock: realClock,
        random: { bytes: (count) => crypto.getRandomValues(new Uint8Array(count)) },
        node: `node-${opened++}`,
        schema: `"${name}"`,
        ...options,
      })
    },
    stop,
  }
}
