// The store on PostgreSQL as server and command line open it.

import type { BarStore } from '../../market/bar-store.ts'
import type { Archive } from '../archive.ts'
import { DataRefused } from '../data-refused.ts'
import type { Kv } from '../kv.ts'
import { assertNoHalfCopy } from '../copy.ts'
import { assertKnownLayout, migrate } from '../migrate.ts'
import { type Connection, connect, type PostgresOptions } from './connection.ts'
import { ChangeFeed } from './feed.ts'
import { fencedKv, type Lease, takeLease } from './lease.ts'
import { postgresArchive, servingNode } from './postgres-archive.ts'
import { postgresBars } from './postgres-bars.ts'
import { postgresKv } from './postgres-kv.ts'

export interface PostgresStore {
  readonly kv: Kv
  readonly bars: BarStore
}

export interface ServedPostgres extends PostgresStore {
  /** Resolves when another server serves from the database. */
  readonly lost: Promise<void>
  readonly feed: ChangeFeed
  close(): Promise<void>
}

/**
 * For a server, which is the only one on the database until it is gone: a second one waits here to take its place.
 * `admit` may look at the documents and throw; it is asked before the wait and after it.
 */
export async function openServerPostgres({
  admit,
  waits,
  ...options
}: PostgresOptions & {
  admit(kv: Kv): Promise<void>
  waits(holder: string): void
}): Promise<ServedPostgres> {
  const connection = await connect(options)
  let lease: Lease | null = null
  try {
    // A server that could not take the place says so while somebody looks, and not once it is needed.
    const seen = postgresKv(connection)
    await assertKnownLayout(seen)
    await assertNoHalfCopy(seen)
    await admit(seen)
    lease = await takeLease(connection, { work: 'serving', clock: options.clock, waits })
    const { lost, release } = lease
    const kv = fencedKv(postgresKv(connection), lease)
    await assertKnownLayout(kv)
    await assertNoHalfCopy(kv)
    await admit(kv)
    await migrate(kv)
    return {
      kv,
      bars: postgresBars(connection),
      lost,
      feed: new ChangeFeed(connection),
      async close() {
        await release()
        await connection.close()
      },
    }
  } catch (error) {
    await lease?.release()
    await connection.close()
    throw error
  }
}

/** For a command, beside a server or without one. Its store is closed by its documents. */
export async function openPostgres(options: PostgresOptions): Promise<PostgresStore> {
  const connection: Connection = await connect(options)
  const kv = postgresKv(connection)
  try {
    await assertNoHalfCopy(kv)
    await migrate(kv)
    return { kv, bars: postgresBars(connection) }
  } catch (error) {
    await connection.close()
    throw error
  }
}

/** All of it, to copy it or to copy to it; refused while a server serves from it. */
export async function openPostgresToCopy(options: PostgresOptions): Promise<Archive> {
  const connection = await connect(options)
  try {
    const node = await servingNode(connection)
    if (node !== null)
      throw new DataRefused(
        `The server ${node} serves from the database. Stop it first; nothing was changed.`,
      )
    const archive = postgresArchive(connection)
    await migrate(archive.kv)
    return archive
  } catch (error) {
    await connection.close()
    throw error
  }
}

/** Commands and servers tell themselves apart by it; `clock` measures how long an answer takes, and may be any. */
export function nodeName(host: string, bytes: Uint8Array): string {
  return `${host}-${bytes.toHex()}`
}
