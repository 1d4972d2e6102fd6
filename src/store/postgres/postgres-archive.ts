// The archive of a PostgreSQL.

import { assert } from '../../lib/assert.ts'
import type { SeriesInfo, SeriesKey } from '../../market/bar-store.ts'
import type { Archive, Chunk, Chunks } from '../archive.ts'
import { prefixRange } from '../key.ts'
import type { Connection } from './connection.ts'
import { SERVING_KEY, TOGETHER } from './fleet.ts'
import { nameKey, notesIn, postgresBars } from './postgres-bars.ts'
import { newDraft, putChunks, whole } from './postgres-chunks.ts'
import { postgresKv } from './postgres-kv.ts'

const CHUNKS_AT_ONCE = 16
/** Leases are emptied together with the documents, since those hold their fences. */
const TABLES = ['documents', 'commits', 'changes', 'leases', 'nodes'] as const
const BAR_TABLES = ['bar_series', 'bar_chunks', 'bar_drafts', 'bar_notes', 'bar_symbols'] as const

export function postgresArchive(connection: Connection): Archive {
  const { schema, writing, reading } = connection
  const bars = postgresBars(connection)
  const kv = postgresKv(connection)

  return {
    kv,
    async mark() {
      const [row] = await reading.query<{ seen: string }>(`select pg_current_snapshot()::text as seen`)
      assert(row !== undefined, 'a snapshot without an answer')
      return row.seen
    },
    async changedSince(mark) {
      // Every write leaves a row, and the node that removes rows writes down up to where.
      const [row] = await reading.query<{ changed: boolean }>(
        `with seen as (select $1::text::pg_snapshot as moment, pg_snapshot_xmin($1::text::pg_snapshot) as xid)
         select exists (select from seen, ${schema}.changes c
             where c.xid >= seen.xid and not pg_visible_in_snapshot(c.xid, seen.moment))
           or exists (select from seen, ${schema}.feed f where f.pruned > seen.xid) as changed`,
        [mark],
      )
      return row?.changed ?? true
    },
    async countDocuments() {
      const [row] = await reading.query<{ count: number }>(
        `select count(*)::float8 as count from ${schema}.documents`,
      )
      return row?.count ?? 0
    },
    series: () => bars.list(),
    chunks: (key) => chunksOf(connection, key),
    notes: () => notesIn(connection, null),
    symbols: () => bars.symbols(),
    putSeries: (info, parts) => putSeries(connection, info, parts),
    async putNotes(notes) {
      for (const { key, from, to, change } of notes) {
        await writing.query(
          `insert into ${schema}.bar_notes (key, first, last, change) values ($1, $2, $3, $4)
           on conflict (key) do update set first = excluded.first, last = excluded.last, change = excluded.change`,
          [nameKey(key), from, to, change],
        )
        await countOn(connection, change)
      }
    },
    async putSymbols(symbols) {
      for (const symbol of symbols) await bars.putSymbol(symbol)
    },
    async clear() {
      const tables = [...TABLES, ...BAR_TABLES].map((table) => `${schema}.${table}`)
      await writing.script(`truncate ${tables.join(', ')}; update ${schema}.shards set holder = null`)
    },
    close: () => connection.close(),
  }
}

async function putSeries(connection: Connection, info: SeriesInfo, parts: Chunks): Promise<void> {
  const { schema, writing } = connection
  const id = await newDraft(connection)
  for await (const page of parts)
    await putChunks(
      connection,
      id,
      page.map(({ first, bytes }) => [first, bytes] as const),
    )
  await writing.query(
    `with draft as (delete from ${schema}.bar_drafts where id = $2)
     insert into ${schema}.bar_series (key, id, change, count, first, last, begun)
     values ($1, $2, $3, $4, $5, $6, $7)
     on conflict (key) do update set id = excluded.id, change = excluded.change, count = excluded.count,
       first = excluded.first, last = excluded.last, begun = excluded.begun`,
    [nameKey(info), id, info.change, info.count, info.first, info.last, info.begun ?? null],
  )
  await countOn(connection, info.change)
}

/** Makes the next change number greater than this one. */
async function countOn({ schema, writing }: Connection, atLeast: number): Promise<void> {
  await writing.query(
    `select setval('${schema}.change_number', greatest(last_value, $1::bigint)) from ${schema}.change_number`,
    [atLeast],
  )
}

async function* chunksOf(connection: Connection, key: SeriesKey): AsyncGenerator<readonly Chunk[]> {
  const { schema, reading } = connection
  for (let after = '-Infinity'; ;) {
    const rows = await reading.query<Chunk>(
      `select c.first, c.bytes from ${schema}.bar_chunks c
       join ${schema}.bar_series s on s.id = c.series
       where s.key = $1 and c.first > $2::float8 order by c.first limit ${CHUNKS_AT_ONCE}`,
      [nameKey(key), after],
    )
    const last = rows.at(-1)
    if (!last) return
    const chunks = await whole(
      connection,
      rows.map(({ bytes }) => bytes),
    )
    yield rows.map(({ first }, i) => ({ first, bytes: chunks[i] ?? new Uint8Array() }))
    after = String(last.first)
  }
}

/** The servers that serve from it. */
export async function servingNodes({ schema, reading }: Connection): Promise<string[]> {
  const { start, end } = prefixRange(['lease', 'node'])
  const rows = await reading.query<{ node: string }>(
    `select node from ${schema}.leases
     where until > clock_timestamp() and (work = $1 and node <> $4 or work >= $2 and work < $3) order by node`,
    [SERVING_KEY, start, end, TOGETHER],
  )
  return rows.map(({ node }) => node)
}
