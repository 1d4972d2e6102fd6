// The store that the settings name, as a server holds it until it closes it: a folder alone, a database with others.

import { mkdirSync } from 'node:fs'
import { hostname } from 'node:os'
import type { Log } from '../lib/log.ts'
import type { BarStore } from '../market/bar-store.ts'
import type { BackupSource } from '../store/backup/backup.ts'
import type { Kv } from '../store/kv.ts'
import { lmdbBars } from '../store/lmdb-bars.ts'
import { openServerStore } from '../store/open-store.ts'
import type { ChangeFeed } from '../store/postgres/feed.ts'
import type { Fleet } from '../store/postgres/fleet.ts'
import type { LastKnown } from '../store/postgres/last-known.ts'
import type { Config } from './config.ts'
import type { World } from './world.ts'

export interface ServerStore {
  readonly kv: Kv
  readonly bars: BarStore
  /** The file of the database; null if it is elsewhere. */
  readonly pages: BackupSource | null
  /** Resolves when others have taken over what this server does. */
  readonly lost: Promise<void>
  /** What this process and others write to it; null if nobody tells. */
  readonly feed: ChangeFeed | null
  /** The servers on the same database; null if there can be no others. */
  readonly fleet: Fleet | null
  /** What it answered last; null if it cannot be away. */
  readonly lastKnown: LastKnown | null
  close(): Promise<void>
}

/** `admit` may look at the data, and at who else serves it, and throw before anything is written to it. */
export async function openStoreOf(
  { steady, random, warn, version }: Pick<World, 'steady' | 'random' | 'version' | 'warn'>,
  config: Pick<Config, 'BARS' | 'DATA_DIR' | 'LEASE_SECONDS' | 'MAX_STORAGE_MB' | 'STORE'>,
  { admit, log }: { admit(kv: Kv, others: readonly string[]): Promise<void>; readonly log: Log },
): Promise<ServerStore> {
  const { BARS, DATA_DIR, LEASE_SECONDS, MAX_STORAGE_MB, STORE } = config
  if (STORE !== null) {
    // The documents are elsewhere, but the key file lies here.
    mkdirSync(DATA_DIR, { recursive: true, mode: 0o700 })
    const { nodeName, openServerPostgres } = await import('../store/postgres/open-postgres.ts')
    const store = await openServerPostgres({
      url: STORE,
      bars: BARS,
      // How long an answer takes is measured by a clock that nobody can set back.
      clock: steady,
      random,
      node: nodeName(hostname(), random.bytes(4)),
      version,
      leaseMs: LEASE_SECONDS * 1000,
      admit,
      waits: (holder) => log('info', 'waiting for the server that serves from the database', { holder }),
    })
    return { ...store, pages: null }
  }
  const { kv, lock } = await openServerStore({
    directory: DATA_DIR,
    maxBytes: MAX_STORAGE_MB * 1e6,
    tell: warn,
    admit: (data) => admit(data, []),
  })
  return {
    kv,
    bars: lmdbBars(kv),
    pages: kv.pages,
    lost: new Promise(() => {}),
    feed: null,
    fleet: null,
    lastKnown: null,
    async close() {
      await kv.close()
      lock.release()
    },
  }
}
