// Bars in PostgreSQL, beside the documents: the chunks of LMDB as rows, by (series, time of the first bar).
//
// A write reads the series and the chunks that it touches, merges, and writes them back if nobody was faster; otherwise
// it begins again. A short read is one statement, a longer one several that see the same moment; rows say how many bars
// a chunk has and where it ends, so that none is read in vain.

import { type BarRange, type Bars, emptyBars, mergeBars, selectBars, sliceBars } from '../../market/bars.ts'
import {
  bareKey,
  type BarCounts,
  type BarDraft,
  type BarNote,
  type BarStore,
  compareSeries,
  compareSymbols,
  type MakeColumns,
  NOTES_MAX,
  owned,
  ownerOf,
  type SeriesBars,
  type SeriesInfo,
  type SeriesKey,
  type UpsertResult,
} from '../../market/bar-store.ts'
import type { SymbolInfo } from '../../market/symbol.ts'
import { barDraft, nothingWritten, type StoredSeries } from '../bar-drafts.ts'
import { CHUNK_BARS, chunkLength, chunksOf, decodeAll } from '../bar-chunks.ts'
import { ofSeries } from '../damage.ts'
import { decodeKey, encodeKey, prefixRange } from '../key.ts'
import type { Key } from '../kv.ts'
import { intArray } from './arrays.ts'
import type { Connection } from './connection.ts'
import type { Database, Query } from './database.ts'
import {
  chosen,
  chunkBefore,
  chunkParameters,
  chunksAt,
  decodeInto,
  dropDraft,
  firstsOf,
  newDraft,
  putChunks,
  readDraft,
  whole,
} from './postgres-chunks.ts'
import { isLongEnd, writtenAtEnd } from './tail.ts'

interface SeriesRow {
  readonly key: Uint8Array
  readonly id: string
  readonly change: string
  readonly count: number
  readonly first: number
  readonly last: number
  readonly begun: number | null
}

interface ChunkRow {
  readonly chunk: number | null
  readonly bars: number | null
  readonly bytes: Uint8Array | null
}

type Stored = StoredSeries<string>

/** The most chunks, of 100 kB each, that one statement answers. */
const SHORT_CHUNKS = 64
/** An import that has not gone on for this long was cut short. */
const DRAFT_HOURS = 6

const SERIES = 's.key, s.id, s.change, s.count, s.first, s.last, s.begun'

export const nameKey = (key: SeriesKey): Buffer =>
  encodeKey([ownerOf(key), key.exchange, key.symbol, key.interval])
const symbolKey = (exchange: string, symbol: string, owner = ''): Buffer =>
  encodeKey([owner, exchange, symbol])
/** What the feed of changes says of a series, and of a symbol; of bars that came how many, which older programs read over. */
const toldOf = (kind: 'bars' | 'symbol', name: Key, figures: readonly number[] = []): Buffer =>
  encodeKey([kind, ...name, ...figures])

export function postgresBars(connection: Connection): BarStore {
  const { schema, reading, writing } = connection
  return {
    upsert: (...asked) => ofSeries(asked[0], upsert(connection, ...asked)),
    draft: (key) => draft(connection, key),
    info: async (key) => (await storedIn(connection, reading, key))?.info ?? null,
    read: (...asked) => ofSeries(asked[0], read(connection, ...asked)),

    async list(of) {
      const { start, end } = of ? prefixRange([ownerOf(of), of.exchange, of.symbol]) : prefixRange([])
      const rows = await reading.query<SeriesRow>(
        `select ${SERIES} from ${schema}.bar_series s where s.key >= $1 and s.key < $2`,
        [start, end],
      )
      return rows.map((row) => storedOf(row).info).sort(compareSeries)
    },

    remove: (key) => remove(connection, key),

    notes: () => notesIn(connection, NOTES_MAX),

    async clearNote({ key, change }) {
      await writing.query(`delete from ${schema}.bar_notes where key = $1 and change = $2`, [
        nameKey(key),
        change,
      ])
    },

    sweep: () => sweep(connection),

    async symbol(exchange, symbol, owner) {
      const [row] = await reading.query<{ info: Uint8Array }>(
        `select info from ${schema}.bar_symbols where key = $1`,
        [symbolKey(exchange, symbol, owner)],
      )
      return row ? symbolOf(row) : null
    },

    async symbols() {
      const rows = await reading.query<{ info: Uint8Array }>(`select info from ${schema}.bar_symbols`)
      return rows.map(symbolOf).sort(compareSymbols)
    },

    putSymbol: (symbol) =>
      setSymbol(
        connection,
        symbolKey(symbol.exchange, symbol.symbol, ownerOf(symbol)),
        `insert into ${schema}.bar_symbols (key, info) values ($1, $4)
         on conflict (key) do update set info = excluded.info`,
        [Buffer.from(JSON.stringify(symbol))],
      ),

    removeSymbol: (exchange, symbol, owner) =>
      setSymbol(
        connection,
        symbolKey(exchange, symbol, owner),
        `delete from ${schema}.bar_symbols where key = $1`,
        [],
      ),
  }
}

async function stored({ schema }: Connection, query: Query, key: SeriesKey): Promise<Stored | null> {
  const [row] = await query<SeriesRow>(`select ${SERIES} from ${schema}.bar_series s where s.key = $1`, [
    nameKey(key),
  ])
  return row ? storedOf(row) : null
}

const storedIn = (connection: Connection, database: Database, key: SeriesKey) =>
  stored(connection, (text, values) => database.query(text, values), key)

async function read(
  connection: Connection,
  key: SeriesKey,
  range: BarRange = {},
  make: MakeColumns = emptyBars,
): Promise<SeriesBars> {
  const { schema, reading } = connection
  const { text, values } = chosen(schema, 's.id', range)
  const rows = await reading.query<SeriesRow & ChunkRow>(
    `select ${SERIES}, c.chunk, c.bytes from ${schema}.bar_series s
     left join lateral (${text} limit ${SHORT_CHUNKS + 1}) c on true where s.key = $1 order by c.chunk`,
    [nameKey(key), ...values],
  )
  const [row] = rows
  if (!row) return { bars: make(0), series: null }
  if (rows.length > SHORT_CHUNKS) return readLong(connection, key, range, make)
  const parts = await whole(
    connection,
    rows.flatMap(({ bytes }) => bytes ?? []),
  )
  const made = make(parts.reduce((sum, part) => sum + chunkLength(part), 0))
  const { columns, length } = await decodeInto(made, 0, parts)
  return { bars: selectBars(sliceBars(columns, 0, length), range), series: storedOf(row).info }
}

function readLong(
  connection: Connection,
  key: SeriesKey,
  range: BarRange,
  make: MakeColumns,
): Promise<SeriesBars> {
  return connection.reading.snapshot(async (query) => {
    const found = await stored(connection, query, key)
    if (!found) return { bars: make(0), series: null }
    const { text, values } = chosen(connection.schema, '$1::bigint', range)
    const rows = await query<{ chunk: number; bars: number }>(
      `select c.chunk, c.bars from (${text}) c order by c.chunk`,
      [found.id, ...values],
    )
    let columns = make(rows.reduce((sum, { bars }) => sum + bars, 0))
    let length = 0
    for (let at = 0; at < rows.length; at += SHORT_CHUNKS) {
      const some = rows.slice(at, at + SHORT_CHUNKS).map(({ chunk }) => chunk)
      const parts = await chunksAt(connection, query, found.id, some)
      ;({ columns, length } = await decodeInto(columns, length, parts))
    }
    return { bars: selectBars(sliceBars(columns, 0, length), range), series: found.info }
  })
}

async function upsert(
  connection: Connection,
  key: SeriesKey,
  bars: Bars,
  pieces?: ReadonlySet<number>,
): Promise<UpsertResult> {
  if (bars.length === 0) return nothingWritten(await storedIn(connection, connection.reading, key))
  const from = bars.time[0] ?? 0
  const to = bars.time.at(-1) ?? 0
  for (;;) {
    const { old, chunks } = await touched(connection, key, from, to)
    const before = decodeAll(
      await whole(
        connection,
        chunks.flatMap(({ bytes }) => bytes ?? []),
      ),
    )
    const after = mergeBars(before, bars, pieces)
    const { parts, gone } = await placed(connection, old, chunks, { before, after, from })
    const inserted = after.length - before.length
    const updated = bars.length - inserted
    const count = (old?.info.count ?? 0) + inserted
    const next = { series: null, count, from, to, inserted, updated, gone, parts }
    const done = await write(connection, key, old, next)
    if (!done) continue
    const { change, info: series } = done
    return { inserted, updated, change, before: old && old.info, series }
  }
}

/** The series, and the chunks that bars from `first` to `last` go into, with a neighbour that has room left. */
async function touched(
  { schema, writing }: Connection,
  key: SeriesKey,
  first: number,
  last: number,
): Promise<{ readonly old: Stored | null; readonly chunks: readonly ChunkRow[] }> {
  // A full chunk that ends before `first` stays as it is.
  const rows = await writing.query<SeriesRow & ChunkRow>(
    `select ${SERIES}, c.first as chunk, c.bytes from ${schema}.bar_series s
     left join ${schema}.bar_chunks c on c.series = s.id and (
       (c.first > $2 and c.first <= $3)
       or (c.first = (select max(x.first) from ${schema}.bar_chunks x where x.series = s.id and x.first <= $2)
           and (c.bars < ${CHUNK_BARS} or c.last >= $2))
       or (c.first > $3 and c.bars < ${CHUNK_BARS}
           and c.first = (select min(x.first) from ${schema}.bar_chunks x where x.series = s.id)))
     where s.key = $1 order by c.first`,
    [nameKey(key), first, last],
  )
  const [row] = rows
  return { old: row ? storedOf(row) : null, chunks: rows.filter(({ chunk }) => chunk !== null) }
}

/** The chunks that a write makes of those that it touches, and which of them go. */
async function placed(
  connection: Connection,
  old: Stored | null,
  chunks: readonly ChunkRow[],
  { before, after, from }: { readonly before: Bars; readonly after: Bars; readonly from: number },
): Promise<{ readonly parts: ReadonlyMap<number, Uint8Array>; readonly gone: readonly number[] }> {
  const first = chunks.length === 1 ? chunks[0]?.chunk : null
  if (old && typeof first === 'number' && before.time.at(-1) === old.info.last) {
    const last = { first, bars: before }
    if (isLongEnd(last, after, from))
      return writtenAtEnd(last, after, from, () => chunkBefore(connection, old.id, first))
  }
  const parts = chunksOf(after)
  return { parts, gone: chunks.flatMap(({ chunk }) => (chunk === null || parts.has(chunk) ? [] : [chunk])) }
}

/** null: somebody has written to the series since `old` was read. */
async function write(
  { schema, node, newId, objects, writing, written }: Connection,
  key: SeriesKey,
  old: Stored | null,
  next: {
    readonly series: string | null
    readonly count: number
    /** Times of the first and last bar that came. */
    readonly from: number
    readonly to: number
    readonly inserted: number
    readonly updated: number
    readonly gone: readonly number[]
    readonly parts: ReadonlyMap<number, Uint8Array>
  },
): Promise<{ readonly info: SeriesInfo; readonly change: number } | null> {
  const name = nameKey(key)
  const first = Math.min(old?.info.first ?? next.from, next.from)
  const last = Math.max(old?.info.last ?? next.to, next.to)
  const begun = old ? old.info.begun : next.to
  const values = [
    newId(),
    node,
    slotOf(name),
    name,
    toldOf('bars', decodeKey(name), [next.inserted, next.updated]),
    old?.info.change ?? null,
    next.series,
    next.count,
    first,
    last,
    begun ?? null,
    next.from,
    next.to,
    intArray(next.gone),
    ...(await chunkParameters(next.parts, objects)),
  ]
  const [row] = await writing.query<{ change: number | null }>(
    `select ${schema}.write_bars_1(${values.map((_, i) => `$${i + 1}`).join(', ')}) as change`,
    values,
  )
  const change = row?.change ?? null
  if (change === null) return null
  written()
  return { change, info: { ...bareKey(key), count: next.count, first, last, begun, change } }
}

function draft(connection: Connection, key: SeriesKey): BarDraft {
  return barDraft<string>({
    stored: () => storedIn(connection, connection.writing, key),
    async extend(id, bars) {
      const to = id ?? (await newDraft(connection))
      await putChunks(connection, to, chunksOf(bars))
      return to
    },
    read: (id, range) => readDraft(connection, id, range),
    starts: (ids) => firstsOf(connection, ids),
    drop: (id) => dropDraft(connection, id),
    async publish(old, { id: series, ...all }) {
      const done = await write(connection, key, old, { ...all, series, gone: [], parts: new Map() })
      return done && done.info
    },
  })
}

async function remove(connection: Connection, key: SeriesKey): Promise<boolean> {
  const { schema, node, newId, writing, written } = connection
  const name = nameKey(key)
  const old = await storedIn(connection, writing, key)
  const [row] = await writing.query<{ removed: boolean }>(
    `select ${schema}.remove_bars_1($1, $2, $3, $4, $5) as removed`,
    [newId(), node, slotOf(name), name, toldOf('bars', decodeKey(name))],
  )
  written()
  // Chunks that came in between are swept up later.
  if (row?.removed === true && old) await dropDraft(connection, old.id)
  return row?.removed === true
}

async function sweep(connection: Connection): Promise<void> {
  const { schema, writing, objects } = connection
  const rows = await writing.query<{ id: string }>(
    `select id from ${schema}.bar_drafts where at < clock_timestamp() - interval '${DRAFT_HOURS} hours'`,
  )
  for (const { id } of rows) await dropDraft(connection, id)
  await objects?.collect()
}

/** `limit`: null = all that are there. */
export async function notesIn({ schema, reading }: Connection, limit: number | null): Promise<BarNote[]> {
  const rows = await reading.query<Omit<SeriesRow, 'id' | 'count' | 'begun'>>(
    `select key, first, last, change from ${schema}.bar_notes limit $1`,
    [limit],
  )
  return rows.map(({ key, first, last, change }) => ({
    key: seriesOf(key),
    from: first,
    to: last,
    change: Number(change),
  }))
}

async function setSymbol(
  { schema, node, writing }: Connection,
  name: Buffer,
  change: string,
  values: readonly unknown[],
): Promise<void> {
  await writing.query(
    `with written as (${change} returning key)
     insert into ${schema}.changes (n, node, keys)
     select nextval('${schema}.change_number'), $2, array[$3::bytea] from written`,
    [name, node, toldOf('symbol', decodeKey(name)), ...values],
  )
}

/** What a key of a change tells of a series; null if it tells of something else. */
export function barsOfChange([kind, ...told]: Key): ({ readonly key: SeriesKey } & BarCounts) | null {
  if (kind !== 'bars') return null
  // Of a series that was removed, and by an older program, it is not said how many.
  const [inserted = 0, updated = 0] = told.slice(4).map(Number)
  return { key: seriesNamed(told), inserted, updated }
}

export const seriesOf = (name: Uint8Array): SeriesKey => seriesNamed(decodeKey(name))

function seriesNamed(name: Key): SeriesKey {
  const [owner = '', exchange = '', symbol = '', interval = ''] = name.map(String)
  return { ...owned(owner), exchange, symbol, interval }
}

function storedOf({ key, id, change, count, first, last, begun }: SeriesRow): Stored {
  return {
    id,
    info: { ...seriesOf(key), count, first, last, begun: begun ?? undefined, change: Number(change) },
  }
}

function symbolOf({ info }: { readonly info: Uint8Array }): SymbolInfo {
  return JSON.parse(Buffer.from(info).toString('utf8')) as SymbolInfo
}

/** CRC-32, since every node of every version must find the same. */
const slotOf = (name: Buffer) => Bun.hash.crc32(name) & 0x7fff_ffff
