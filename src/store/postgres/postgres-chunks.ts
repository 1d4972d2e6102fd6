// The chunks of bars in PostgreSQL, as rows by (id of their series, time of the first bar): which of them a read needs, reading
// them, and ids of imports under way, whose chunks no series has yet.

import { assert } from '../../lib/assert.ts'
import { turn } from '../../lib/turn.ts'
import { type BarRange, type Bars, selectBars } from '../../market/bars.ts'
import { STEP_CHUNKS } from '../bar-drafts.ts'
import { chunkLength, decodeAll, decodeChunk } from '../bar-chunks.ts'
import { intArray } from './arrays.ts'
import type { ChunkObjects } from './chunk-objects.ts'
import type { Connection } from './connection.ts'
import type { Query } from './database.ts'
import type { Schema } from './schema.ts'

/** How many chunks are decoded before others have their turn. */
const TURN_CHUNKS = 16

/** The chunks of rows, some of which only say which object has them. */
export async function whole(
  { objects }: Connection,
  rows: readonly Uint8Array[],
): Promise<readonly Uint8Array[]> {
  return objects ? objects.get(rows) : rows
}

/** The chunks of a series that a range needs, newest first if its end was asked for. $2 from, $3 to, $4 bars. */
export function chosen(
  schema: Schema,
  series: string,
  { from, to, first, last }: BarRange,
): { text: string; values: unknown[] } {
  const direction = last === undefined ? 'asc' : 'desc'
  // Where the range is cut off, the chunk at that end may lie mostly outside, so it does not count.
  const isCut = (last === undefined ? from : to) !== undefined
  const text = `
    select y.first as chunk, y.last, y.bars, y.bytes from (
      select x.*,
        coalesce(sum(x.bars) over w, 0) as before,
        first_value(x.bars) over (order by x.first ${direction}) as cut
      from ${schema}.bar_chunks x
      where x.series = ${series}
        and ($2::float8 is null or x.last >= $2::float8) and ($3::float8 is null or x.first < $3::float8)
      window w as (order by x.first ${direction} rows between unbounded preceding and 1 preceding)
    ) y
    where $4::float8 is null or y.before ${isCut ? '- y.cut' : ''} < $4::float8`
  return { text, values: [from ?? null, to ?? null, last ?? first ?? null] }
}

/** The chunks of an id that begin at these times, as `query` sees them. */
export async function chunksAt(
  connection: Connection,
  query: Query,
  id: string,
  firsts: readonly number[],
): Promise<readonly Uint8Array[]> {
  const rows = await query<{ bytes: Uint8Array }>(
    `select c.bytes from ${connection.schema}.bar_chunks c where c.series = $1 and c.first = any($2::float8[]) order by c.first`,
    [id, intArray(firsts)],
  )
  return whole(
    connection,
    rows.map(({ bytes }) => bytes),
  )
}

export async function chunkBefore(connection: Connection, id: string, first: number) {
  const [row] = await connection.writing.query<{ first: number; bytes: Uint8Array }>(
    `select c.first, c.bytes from ${connection.schema}.bar_chunks c where c.series = $1 and c.first < $2
     order by c.first desc limit 1`,
    [id, first],
  )
  const [bytes] = await whole(connection, row ? [row.bytes] : [])
  return row && bytes ? { first: row.first, bytes } : null
}

/** Decodes chunks one after the other, giving others a turn now and then; answers the columns and where the last one ends. */
export async function decodeInto(made: Bars, from: number, parts: readonly Uint8Array[]) {
  let columns = made
  let length = from
  for (const [i, part] of parts.entries()) {
    if (i > 0 && i % TURN_CHUNKS === 0) await turn()
    columns = decodeChunk(part, columns, length)
    length += chunkLength(part)
  }
  return { columns, length }
}

/** A new id that no series has. */
export async function newDraft({ schema, writing }: Connection): Promise<string> {
  const [row] = await writing.query<{ id: string }>(
    `insert into ${schema}.bar_drafts (id) values (nextval('${schema}.series_id')) returning id`,
  )
  assert(row !== undefined, 'a draft without an id')
  return row.id
}

/** Adds chunks to an id that no series has, a few at a time. */
export async function putChunks(
  { schema, writing, objects }: Connection,
  id: string,
  chunks: Iterable<readonly [first: number, bytes: Uint8Array]>,
): Promise<void> {
  const parts = [...chunks]
  for (let at = 0; at < parts.length; at += STEP_CHUNKS)
    await writing.query(
      `with alive as (update ${schema}.bar_drafts set at = clock_timestamp() where id = $1)
       insert into ${schema}.bar_chunks (series, first, last, bars, bytes)
       select $1, x.first, x.last, x.bars, substring($7::bytea from x.start for x.length)
       from unnest($2::float8[], $3::float8[], $4::int[], $5::int[], $6::int[]) as x (first, last, bars, start, length)
       on conflict (series, first) do update set last = excluded.last, bars = excluded.bars, bytes = excluded.bytes`,
      [id, ...(await chunkParameters(new Map(parts.slice(at, at + STEP_CHUNKS)), objects))],
    )
}

/** A stretch of an id's bars, of no more than a few chunks. */
export async function readDraft(connection: Connection, id: string, range: BarRange): Promise<Bars> {
  const { text, values } = chosen(connection.schema, '$1::bigint', range)
  const rows = await connection.writing.query<{ bytes: Uint8Array }>(
    `select c.bytes from (${text}) c order by c.chunk`,
    [id, ...values],
  )
  return selectBars(
    decodeAll(
      await whole(
        connection,
        rows.map(({ bytes }) => bytes),
      ),
    ),
    range,
  )
}

/** Times at which chunks of any of the ids begin. */
export async function firstsOf({ schema, writing }: Connection, ids: readonly string[]): Promise<number[]> {
  const rows = await writing.query<{ first: number }>(
    `select distinct c.first from ${schema}.bar_chunks c where c.series = any($1::bigint[]) order by c.first`,
    [intArray(ids)],
  )
  return rows.map(({ first }) => first)
}

/** Forgets all chunks of an id that no series has, a few at a time. */
export async function dropDraft({ schema, writing }: Connection, id: string): Promise<void> {
  for (;;) {
    const gone = await writing.query(
      `delete from ${schema}.bar_chunks c where c.series = $1 and c.first in (
         select x.first from ${schema}.bar_chunks x where x.series = $1 limit ${STEP_CHUNKS}) returning c.first`,
      [id],
    )
    if (gone.length === 0) break
  }
  await writing.query(`delete from ${schema}.bar_drafts where id = $1`, [id])
}

/** Firsts, lasts, numbers of bars, starts and lengths of the bytes, and the bytes of all of them. */
export async function chunkParameters(
  parts: ReadonlyMap<number, Uint8Array>,
  objects: ChunkObjects | null,
): Promise<unknown[]> {
  const all = [...parts]
  const rows = objects ? await objects.put([...parts.values()]) : [...parts.values()]
  let from = 1
  const starts = rows.map(({ length }) => {
    const start = from
    from += length
    return start
  })
  return [
    intArray(all.map(([first]) => first)),
    intArray(all.map(([, bytes]) => decodeAll([bytes]).time.at(-1) ?? 0)),
    intArray(all.map(([, bytes]) => chunkLength(bytes))),
    intArray(starts),
    intArray(rows.map(({ length }) => length)),
    Buffer.concat(rows),
  ]
}
