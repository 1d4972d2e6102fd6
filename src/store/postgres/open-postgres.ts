// The store on PostgreSQL as server and command line open it.

import type { BarStore } from '../../market/bar-store.ts'
import type { Archive } from '../archive.ts'
import { DataRefused } from '../data-refused.ts'
import type { Kv } from '../kv.ts'
import { assertNoHalfCopy } from '../copy.ts'
import { assertKnownLayout, migrate } from '../migrate.ts'
import { type Connection, connect, type PostgresOptions } from './connection.ts'
import { ChangeFeed } from './feed.ts'
import { Fleet, type FleetNode, fleetNodes } from './fleet.ts'
import { LastKnown } from './last-known.ts'
import { fencedKv } from './lease.ts'
import { postgresArchive, servingNodes } from './postgres-archive.ts'
import { postgresBars } from './postgres-bars.ts'
import { postgresKv } from './postgres-kv.ts'

export interface PostgresStore {
  readonly kv: Kv
  readonly bars: BarStore
}

export interface CommandPostgres extends PostgresStore {
  /** The servers that serve from it. */
  nodes(): Promise<FleetNode[]>
}

export interface ServedPostgres extends PostgresStore {
  /** Resolves when the others have taken this server for dead. */
  readonly lost: Promise<void>
  readonly feed: ChangeFeed
  readonly fleet: Fleet
  readonly lastKnown: LastKnown
  close(): Promise<void>
}

/**
 * For a server, beside any number of others. `admit` may look at the documents and the names of the others, and
 * throw before anything is written. A server from before there could be several is waited for, and `waits` is told its name.
 */
export async function openServerPostgres({
  admit,
  waits,
  version,
  leaseMs,
  ...options
}: PostgresOptions & {
  readonly version: string
  /** How long a server may be silent before others do its work. */
  readonly leaseMs: number
  admit(kv: Kv, others: readonly string[]): Promise<void>
  waits(holder: string): void
}): Promise<ServedPostgres> {
  const connection = await connect(options)
  const others = async () => (await servingNodes(connection)).filter((node) => node !== options.node)
  let fleet: Fleet | null = null
  try {
    // Checked before the wait as well, so that a server that can never join says so at once.
    const seen = postgresKv(connection)
    await assertKnownLayout(seen)
    await assertNoHalfCopy(seen)
    await admit(seen, await others())
    const feed = new ChangeFeed(connection)
    fleet = await Fleet.join(connection, {
      clock: options.clock,
      version,
      waits,
      leaseMs,
      lagMs: () => feed.lagMs(options.clock.now()),
    })
    const { lost, lease } = fleet
    const kv = fencedKv(postgresKv(connection), lease)
    await assertKnownLayout(kv)
    await assertNoHalfCopy(kv)
    await admit(kv, await others())
    await migrate(kv)
    await feed.begin()
    const joined = fleet
    const lastKnown = new LastKnown({ now: () => options.clock.now(), silence: connection.reading.silence })
    return {
      kv: lastKnown.kv(kv),
      bars: lastKnown.bars(postgresBars(connection)),
      lost,
      feed,
      fleet,
      lastKnown,
      async close() {
        await joined.leave()
        await connection.close()
      },
    }
  } catch (error) {
    await fleet?.leave()
    await connection.close()
    throw error
  }
}

/** For a command, beside a server or without one. Closing `kv` closes all of it. */
export async function openPostgres(options: PostgresOptions): Promise<CommandPostgres> {
  const connection: Connection = await connect(options)
  const kv = postgresKv(connection)
  try {
    await assertNoHalfCopy(kv)
    await migrate(kv)
    return { kv, bars: postgresBars(connection), nodes: () => fleetNodes(connection) }
  } catch (error) {
    await connection.close()
    throw error
  }
}

/** A copy has nobody waiting, and a database that was switched over or starts after a crash is soon back. */
const COPY_PATIENCE_MS = 60_000

/** The whole store, to copy from or into; refused while a server serves from it. */
export async function openPostgresToCopy(options: PostgresOptions): Promise<Archive> {
  const connection = await connect({ patienceMs: COPY_PATIENCE_MS, ...options })
  try {
    const [node] = await servingNodes(connection)
    if (node !== undefined)
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

/** The name by which servers and commands on one database tell each other apart. */
export function nodeName(host: string, bytes: Uint8Array): string {
  return `${host}-${bytes.toHex()}`
}
