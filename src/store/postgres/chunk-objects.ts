// Full chunks of bars in a bucket, for instances whose bars would make the database large. The row of such a chunk has its
// place in the series as ever, but instead of the bytes it says which object has them.
//
// Objects are named by the hash of what is in them, so two equal chunks are one object, and what was read is checked. Chunks
// that are not full stay rows: the last one of a series is written all day, and an object cannot be changed.
//
// A write puts the object first, and then commits the row that points at it. Objects that no row points at are garbage.
// `bar_objects` has every object that there may be: a writer notes it there before it puts it, and collecting deletes only
// what no row has pointed at for a month. So long may a write be under way, a slow reader hold the place of an object, and
// the database be restored from a backup, before something is missing. An object that is noted again once its deletion has
// begun gets another name, so that a deletion that comes late does no harm.

import { createHash } from 'node:crypto'
import { assert } from '../../lib/assert.ts'
import { CHUNK_BARS, chunkLength } from '../bar-chunks.ts'
import { DataRefused } from '../data-refused.ts'
import type { Bucket } from '../bucket.ts'
import type { Database } from './database.ts'
import type { Schema } from './schema.ts'

/** How many objects are asked for at a time. */
const AT_ONCE = 8
const COLLECTED_AT_ONCE = 1000
/** How long no row must have pointed at an object. */
const UNUSED_DAYS = 30

/**
 *  0  uint32   number of bars, as in a chunk
 *  4  uint64   the object's generation
 * 12  32 bytes the hash
 *
 * A chunk is never as short.
 */
const POINTER_BYTES = 44

export class ChunkObjects {
  readonly #bucket: Bucket
  readonly #database: Database
  readonly #schema: Schema

  private constructor(bucket: Bucket, database: Database, schema: Schema) {
    this.#bucket = bucket
    this.#database = database
    this.#schema = schema
  }

  /**
   * `bucket`: null for a program that was told of none. Throws `DataRefused` if the bars of this database are in another
   * one. `bucket` becomes theirs if they are in none yet; from then on no older program may write to the database.
   */
  static async open(bucket: Bucket | null, database: Database, schema: Schema): Promise<ChunkObjects | null> {
    const address = bucket?.address ?? null
    if (address !== null)
      await database.query(
        `with mine as (insert into ${schema}.bar_bucket (address) values ($1) on conflict do nothing)
         update ${schema}.layout set usable_from = greatest(usable_from, ${LAYOUT_WITH_OBJECTS})`,
        [address],
      )
    const [row] = await database.query<{ address: string }>(`select address from ${schema}.bar_bucket`)
    if (row && row.address !== address)
      throw new DataRefused(
        `BARS: bars of this database are in ${row.address}${address === null ? '' : `, and not in ${address}`}. Name that bucket.`,
      )
    return bucket && new ChunkObjects(bucket, database, schema)
  }

  /** What to write into the rows of these chunks. Full ones are in the bucket when it resolves. */
  put(chunks: readonly Uint8Array[]): Promise<Uint8Array[]> {
    return aFewAtOnce(chunks, (bytes) =>
      chunkLength(bytes) < CHUNK_BARS ? Promise.resolve(bytes) : this.#put(bytes),
    )
  }

  /** The chunks of these rows. */
  get(rows: readonly Uint8Array[]): Promise<Uint8Array[]> {
    return aFewAtOnce(rows, (bytes) =>
      bytes.length === POINTER_BYTES ? this.#get(bytes) : Promise.resolve(bytes),
    )
  }

  /** Deletes objects that no row has pointed at for long enough, and notes which ones none points at now. */
  async collect(unusedDays = UNUSED_DAYS): Promise<number> {
    const schema = this.#schema
    const isUsed = `exists (
      select from ${schema}.bar_chunks c where octet_length(c.bytes) = ${POINTER_BYTES} and c.bytes = o.pointer)`
    await this.#database.query(
      `update ${schema}.bar_objects o set unused = case when ${isUsed} then null else clock_timestamp() end
       where not going and (unused is not null) = ${isUsed}`,
    )
    const rows = await this.#database.query<{ pointer: Uint8Array }>(
      `update ${schema}.bar_objects o set going = true
       where hash in (select hash from ${schema}.bar_objects x
           where x.going or x.unused < clock_timestamp() - $1 * interval '1 day' limit ${COLLECTED_AT_ONCE})
         and (going or unused < clock_timestamp() - $1 * interval '1 day' and not ${isUsed})
       returning pointer`,
      [unusedDays],
    )
    await aFewAtOnce(rows, async ({ pointer }) => {
      await this.#bucket.delete(nameOf(pointer))
      await this.#database.query(`delete from ${schema}.bar_objects where pointer = $1 and going`, [pointer])
    })
    return rows.length
  }

  async #put(bytes: Uint8Array): Promise<Uint8Array> {
    const hash = createHash('sha256').update(bytes).digest()
    const [row] = await this.#database.query<{ pointer: Uint8Array }>(
      `select ${this.#schema}.note_object_1($1, $2) as pointer`,
      [hash, chunkLength(bytes)],
    )
    assert(row !== undefined, 'an object without a name')
    // Also if it was noted before: whoever did so may not have put it yet.
    await this.#bucket.put(nameOf(row.pointer), bytes)
    return row.pointer
  }

  async #get(pointer: Uint8Array): Promise<Uint8Array> {
    const name = nameOf(pointer)
    const bytes = await this.#bucket.get(name)
    assert(bytes !== null, `the bucket has no object ${name}, which bars are in`)
    const hash = createHash('sha256').update(bytes).digest()
    assert(
      hash.equals(pointer.subarray(POINTER_BYTES - hash.length)),
      `the object ${name} is not what was put`,
    )
    return bytes
  }
}

async function aFewAtOnce<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const done: R[] = []
  for (let at = 0; at < items.length; at += AT_ONCE)
    done.push(...(await Promise.all(items.slice(at, at + AT_ONCE).map(work))))
  return done
}

/** Named by what is in it, and by how many of that name there were before. */
function nameOf(pointer: Uint8Array): string {
  const bytes = Buffer.from(pointer)
  return `${bytes.toString('hex', 12)}-${bytes.readBigUInt64BE(4)}`
}

/** The first layout whose programs know of objects. */
export const LAYOUT_WITH_OBJECTS = 7
