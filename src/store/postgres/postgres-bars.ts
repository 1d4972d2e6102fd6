// Bars in PostgreSQL, beside the documents: the chunks of LMDB as rows, by (series, time of the first bar).
//
// A write reads the series and the chunks that it touches, merges, and writes them back if nobody was faster; otherwise
// it begins again. A short read is one statement, a longer one several that see the same moment; rows say how many bars
// a chunk has and where it ends, so that none is read in vain.

import { assert } from '../../lib/assert.ts'
import { turn } from '../../lib/turn.ts'
import { type BarRange, type Bars, emptyBars, mergeBars, selectBars, sliceBars } from '../../market/bars.ts'
import {
  bareKey,
  type BarCounts,
  type BarDraft,
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
import { barDraft, nothingWritten, STEP_CHUNKS, type StoredSeries } from '../bar-drafts.ts'
import { CHUNK_BARS, chunkLength, chunksOf, decodeAll, decodeChunk } from '../bar-chunks.ts'
import { decodeKey, encodeKey, prefixRange } from '../key.ts'
import type { Key } from '../kv.ts'
import { intArray } from './arrays.ts'
import type { ChunkObjects } from './chunk-objects.ts'
import type { Connection } from './connection.ts'
import type { Query } from './database.ts'
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
/** How many chunks are decoded before others have their turn. */
const TURN_CHUNKS = 16
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
  const { schema, node, reading, writing, objects, newId, written } = connection
  /** The chunks of rows, some of which only say which object has them. */
  const whole = async (rows: readonly Uint8Array[]): Promise<readonly Uint8Array[]> =>
    objects ? objects.get(rows) : rows
  /** The chunks of a series that a range needs, newest first if its end was asked for. $2 from, $3 to, $4 bars. */
  function chosen(series: string, { from, to, first, last }: BarRange): { text: string; values: unknown[] } {
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

  async function stored(query: Query, key: SeriesKey): Promise<Stored | null> {
    const [row] = await query<SeriesRow>(`select ${SERIES} from ${schema}.bar_series s where s.key = $1`, [
      nameKey(key),
    ])
    return row ? storedOf(row) : null
  }

  async function read(key: SeriesKey, range: BarRange, make: MakeColumns): Promise<SeriesBars> {
    const { text, values } = chosen('s.id', range)
    const rows = await reading.query<SeriesRow & ChunkRow>(
      `select ${SERIES}, c.chunk, c.bytes from ${schema}.bar_series s
       left join lateral (${text} limit ${SHORT_CHUNKS + 1}) c on true where s.key = $1 order by c.chunk`,
      [nameKey(key), ...values],
    )
    const [row] = rows
    if (!row) return { bars: make(0), series: null }
    if (rows.length > SHORT_CHUNKS) return readLong(key, range, make)
    const parts = await whole(rows.flatMap(({ bytes }) => bytes ?? []))
    const made = make(parts.reduce((sum, part) => sum + chunkLength(part), 0))
    const { columns, length } = await decodeInto(made, 0, parts)
    return { bars: selectBars(sliceBars(columns, 0, length), range), series: storedOf(row).info }
  }

  function readLong(key: SeriesKey, range: BarRange, make: MakeColumns): Promise<SeriesBars> {
    return reading.snapshot(async (query) => {
      const found = await stored(query, key)
      if (!found) return { bars: make(0), series: null }
      const { text, values } = chosen('$1::bigint', range)
      const rows = await query<{ chunk: number; bars: number }>(
        `select c.chunk, c.bars from (${text}) c order by c.chunk`,
        [found.id, ...values],
      )
      let columns = make(rows.reduce((sum, { bars }) => sum + bars, 0))
      let length = 0
      for (let at = 0; at < rows.length; at += SHORT_CHUNKS) {
        const some = rows.slice(at, at + SHORT_CHUNKS).map(({ chunk }) => chunk)
        const parts = await chunksAt(query, found.id, some)
        ;({ columns, length } = await decodeInto(columns, length, parts))
      }
      return { bars: selectBars(sliceBars(columns, 0, length), range), series: found.info }
    })
  }

  async function chunksAt(
    query: Query,
    id: string,
    firsts: readonly number[],
  ): Promise<readonly Uint8Array[]> {
    const rows = await query<{ bytes: Uint8Array }>(
      `select c.bytes from ${schema}.bar_chunks c where c.series = $1 and c.first = any($2::float8[]) order by c.first`,
      [id, intArray(firsts)],
    )
    return whole(rows.map(({ bytes }) => bytes))
  }

  /** The series, and the chunks that bars from `first` to `last` go into, with a neighbour that has room left. */
  async function touched(
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

  /** null: somebody has written to the series since `old` was read. */
  async function write(
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

  async function info(key: SeriesKey): Promise<SeriesInfo | null> {
    return (await stored((text, values) => reading.query(text, values), key))?.info ?? null
  }

  /** The chunks that a write makes of those that it touches, and which of them go. */
  async function placed(
    old: Stored | null,
    chunks: readonly ChunkRow[],
    { before, after, from }: { readonly before: Bars; readonly after: Bars; readonly from: number },
  ): Promise<{ readonly parts: ReadonlyMap<number, Uint8Array>; readonly gone: readonly number[] }> {
    const first = chunks.length === 1 ? chunks[0]?.chunk : null
    if (old && typeof first === 'number' && before.time.at(-1) === old.info.last) {
      const last = { first, bars: before }
      if (isLongEnd(last, after, from))
        return writtenAtEnd(last, after, from, () => chunkBefore(old.id, first))
    }
    const parts = chunksOf(after)
    return { parts, gone: chunks.flatMap(({ chunk }) => (chunk === null || parts.has(chunk) ? [] : [chunk])) }
  }

  async function chunkBefore(id: string, first: number) {
    const [row] = await writing.query<{ first: number; bytes: Uint8Array }>(
      `select c.first, c.bytes from ${schema}.bar_chunks c where c.series = $1 and c.first < $2
       order by c.first desc limit 1`,
      [id, first],
    )
    const [bytes] = await whole(row ? [row.bytes] : [])
    return row && bytes ? { first: row.first, bytes } : null
  }

  async function upsert(key: SeriesKey, bars: Bars, pieces?: ReadonlySet<number>): Promise<UpsertResult> {
    if (bars.length === 0)
      return nothingWritten(await stored((text, values) => reading.query(text, values), key))
    const from = bars.time[0] ?? 0
    const to = bars.time.at(-1) ?? 0
    for (;;) {
      const { old, chunks } = await touched(key, from, to)
      const before = decodeAll(await whole(chunks.flatMap(({ bytes }) => bytes ?? [])))
      const after = mergeBars(before, bars, pieces)
      const { parts, gone } = await placed(old, chunks, { before, after, from })
      const inserted = after.length - before.length
      const updated = bars.length - inserted
      const count = (old?.info.count ?? 0) + inserted
      const next = { series: null, count, from, to, inserted, updated, gone, parts }
      const done = await write(key, old, next)
      if (!done) continue
      const { change, info: series } = done
      return { inserted, updated, change, before: old && old.info, series }
    }
  }

  async function newDraft(): Promise<string> {
    const [row] = await writing.query<{ id: string }>(
      `insert into ${schema}.bar_drafts (id) values (nextval('${schema}.series_id')) returning id`,
    )
    assert(row !== undefined, 'a draft without an id')
    return row.id
  }

  /** Adds bars to an id that no series has; `null` makes a new id. Answers the id. */
  async function extend(id: string | null, bars: Bars): Promise<string> {
    const to = id ?? (await newDraft())
    const parts = [...chunksOf(bars)]
    for (let at = 0; at < parts.length; at += STEP_CHUNKS)
      await writing.query(
        `with alive as (update ${schema}.bar_drafts set at = clock_timestamp() where id = $1)
         insert into ${schema}.bar_chunks (series, first, last, bars, bytes)
         select $1, x.first, x.last, x.bars, substring($7::bytea from x.start for x.length)
         from unnest($2::float8[], $3::float8[], $4::int[], $5::int[], $6::int[]) as x (first, last, bars, start, length)
         on conflict (series, first) do update set last = excluded.last, bars = excluded.bars, bytes = excluded.bytes`,
        [to, ...(await chunkParameters(new Map(parts.slice(at, at + STEP_CHUNKS)), objects))],
      )
    return to
  }

  /** A stretch of an id's bars, of no more than a few chunks. */
  async function readId(id: string, range: BarRange): Promise<Bars> {
    const { text, values } = chosen('$1::bigint', range)
    const rows = await writing.query<{ bytes: Uint8Array }>(
      `select c.bytes from (${text}) c order by c.chunk`,
      [id, ...values],
    )
    return selectBars(decodeAll(await whole(rows.map(({ bytes }) => bytes))), range)
  }

  /** Times at which chunks of either id begin. */
  async function firstsOf(ids: readonly string[]): Promise<number[]> {
    const rows = await writing.query<{ first: number }>(
      `select distinct c.first from ${schema}.bar_chunks c where c.series = any($1::bigint[]) order by c.first`,
      [intArray(ids)],
    )
    return rows.map(({ first }) => first)
  }

  /** Forgets all chunks of an id that no series has, a few at a time. */
  async function drop(id: string): Promise<void> {
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

  const draft = (key: SeriesKey): BarDraft =>
    barDraft<string>({
      stored: () => stored((text, values) => writing.query(text, values), key),
      extend,
      read: readId,
      starts: firstsOf,
      drop,
      async publish(old, { id: series, ...whole }) {
        const done = await write(key, old, { ...whole, series, gone: [], parts: new Map() })
        return done && done.info
      },
    })

  async function setSymbol(name: Buffer, change: string, values: readonly unknown[]): Promise<void> {
    await writing.query(
      `with written as (${change} returning key)
       insert into ${schema}.changes (n, node, keys)
       select nextval('${schema}.change_number'), $2, array[$3::bytea] from written`,
      [name, node, toldOf('symbol', decodeKey(name)), ...values],
    )
  }

  return {
    upsert,
    draft,
    info,
    read: (key, range = {}, make = emptyBars) => read(key, range, make),

    async list(of) {
      const { start, end } = of ? prefixRange([ownerOf(of), of.exchange, of.symbol]) : prefixRange([])
      const rows = await reading.query<SeriesRow>(
        `select ${SERIES} from ${schema}.bar_series s where s.key >= $1 and s.key < $2`,
        [start, end],
      )
      return rows.map((row) => storedOf(row).info).sort(compareSeries)
    },

    async remove(key) {
      const name = nameKey(key)
      const old = await stored((text, values) => writing.query(text, values), key)
      const [row] = await writing.query<{ removed: boolean }>(
        `select ${schema}.remove_bars_1($1, $2, $3, $4, $5) as removed`,
        [newId(), node, slotOf(name), name, toldOf('bars', decodeKey(name))],
      )
      written()
      // Chunks that came in between are swept up later.
      if (row?.removed === true && old) await drop(old.id)
      return row?.removed === true
    },

    async notes() {
      const rows = await reading.query<Omit<SeriesRow, 'id' | 'count' | 'begun'>>(
        `select key, first, last, change from ${schema}.bar_notes limit ${NOTES_MAX}`,
      )
      return rows.map(({ key, first, last, change }) => ({
        key: seriesOf(key),
        from: first,
        to: last,
        change: Number(change),
      }))
    },

    async clearNote({ key, change }) {
      await writing.query(`delete from ${schema}.bar_notes where key = $1 and change = $2`, [
        nameKey(key),
        change,
      ])
    },

    async sweep() {
      const rows = await writing.query<{ id: string }>(
        `select id from ${schema}.bar_drafts where at < clock_timestamp() - interval '${DRAFT_HOURS} hours'`,
      )
      for (const { id } of rows) await drop(id)
      await objects?.collect()
    },

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
        symbolKey(symbol.exchange, symbol.symbol, ownerOf(symbol)),
        `insert into ${schema}.bar_symbols (key, info) values ($1, $4)
         on conflict (key) do update set info = excluded.info`,
        [Buffer.from(JSON.stringify(symbol))],
      ),

    removeSymbol: (exchange, symbol, owner) =>
      setSymbol(symbolKey(exchange, symbol, owner), `delete from ${schema}.bar_symbols where key = $1`, []),
  }
}

/** What a key of a change tells of a series; null if it tells of something else. */
export function barsOfChange([kind, ...told]: Key): ({ readonly key: SeriesKey } & BarCounts) | null {
  if (kind !== 'bars') return null
  // Of a series that was removed, and by an older program, it is not said how many.
  const [inserted = 0, updated = 0] = told.slice(4).map(Number)
  return { key: seriesNamed(told), inserted, updated }
}

/** Decodes chunks one after the other, giving others a turn now and then; answers the columns and where the last one ends. */
async function decodeInto(made: Bars, from: number, parts: readonly Uint8Array[]) {
  let columns = made
  let length = from
  for (const [i, part] of parts.entries()) {
    if (i > 0 && i % TURN_CHUNKS === 0) await turn()
    columns = decodeChunk(part, columns, length)
    length += chunkLength(part)
  }
  return { columns, length }
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
