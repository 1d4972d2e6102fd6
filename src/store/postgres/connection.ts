// What the stores on one PostgreSQL share: connections to read and to write by, and who this process is.

import type { Random } from '../../lib/random.ts'
import { assertUsable, s3Bucket } from '../bucket.ts'
import { ChunkObjects } from './chunk-objects.ts'
import { Database, type DatabaseOptions, openSql, refused, type SqlClient } from './database.ts'
import { bringUpToDate, SCHEMA, type Schema } from './schema.ts'
import { Waker } from './waker.ts'

export interface PostgresOptions extends Omit<DatabaseOptions, 'connections'> {
  readonly random: Random
  /** Names this process among those that share the database. */
  readonly node: string
  readonly schema?: Schema
  /** Where full chunks of bars go instead of into the database, as `bucket.ts` describes it; null or absent: nowhere. */
  readonly bars?: string | null
}

export interface Connection {
  readonly schema: Schema
  readonly node: string
  /** These are separate connections: on shared ones a read would wait behind a commit that waits for its locks. */
  readonly reading: Database
  readonly writing: Database
  /** A connection of its own. */
  listener(): SqlClient
  /** null: all bars are in the database. */
  readonly objects: ChunkObjects | null
  /** Names a write, so that it is done once however often it is sent. */
  newId(): Uint8Array
  /** To be called after a write that others should hear of soon. */
  written(): void
  close(): Promise<void>
}

const READERS = 6
const WRITERS = 3

/** Makes what is missing in the database. Throws `DataRefused`, with what can be done, if it cannot be used. */
export async function connect({
  random,
  node,
  schema = SCHEMA,
  bars = null,
  ...options
}: PostgresOptions): Promise<Connection> {
  const reading = new Database({ ...options, connections: READERS, sparing: true })
  const writing = new Database({ ...options, connections: WRITERS })
  const close = async () => {
    await Promise.all([reading.close(), writing.close()])
  }
  let objects: ChunkObjects | null
  try {
    await bringUpToDate(writing, schema)
    const bucket = bars === null ? null : s3Bucket(bars, options.clock)
    if (bucket) await assertUsable(bucket, `probe-${Buffer.from(random.bytes(8)).toString('hex')}`)
    objects = await ChunkObjects.open(bucket, writing, schema)
  } catch (error) {
    await close()
    throw refused(error)
  }
  const waker = new Waker(writing, schema, options.clock)
  return {
    listener: () => (options.open ?? openSql)(options.url, { max: 1 }),
    schema,
    node,
    reading,
    writing,
    objects,
    newId: () => random.bytes(16),
    written: () => waker.wake(),
    close,
  }
}
