// Stores bars in LMDB, beside the documents: chunks of up to 4,096 bars by (series, time of the first bar).
//
// A write reads the chunks it touches, merges, and writes them back in one transaction; an append touches only the last
// one. Transactions run one after another, so nothing changes between their reads and their writes. A read decodes only the
// chunks of its range, in steps between which others get their turn, and sees one moment of the database.

import type { Transaction } from 'lmdb'
import { turn } from '../lib/turn.ts'
import { type BarRange, type Bars, emptyBars, mergeBars, selectBars, sliceBars } from '../market/bars.ts'
import {
  bareKey,
  type BarDraft,
  type BarNote,
  type BarStore,
  compareSeries,
  compareSymbols,
  type MakeColumns,
  mergeNotes,
  NOTES_MAX,
  ownerOf,
  type SeriesInfo,
  type SeriesKey,
} from '../market/bar-store.ts'
import type { SymbolInfo } from '../market/symbol.ts'
import { barDraft, nothingWritten, STEP_CHUNKS } from './bar-drafts.ts'
import { CHUNK_BARS, chunkLength, chunksOf, decodeAll, decodeChunk } from './bar-chunks.ts'
import { decodeKey, encodeKey, prefixRange } from './key.ts'
import type { LmdbKv } from './lmdb.ts'

export const CHUNKS = { name: 'bar-chunks', encoding: 'binary' } as const
export const RECORDS = { name: 'bar-records', encoding: 'string' } as const

type ChunkKey = readonly [series: number, first: number]

export const chunkKey = (id: number, first: number) => encodeKey([id, first])
export const seriesRecordKey = (key: SeriesKey) =>
  encodeKey(['series', ownerOf(key), key.exchange, key.symbol, key.interval])
export const symbolRecordKey = (exchange: string, symbol: string, owner = '') =>
  encodeKey(['symbol', owner, exchange, symbol])
export const COUNTER_KEY = encodeKey(['counter'])
export const noteKey = (key: SeriesKey) =>
  encodeKey(['note', ownerOf(key), key.exchange, key.symbol, key.interval])
const draftKey = (id: number) => encodeKey(['draft', id])

export interface SeriesRecord extends SeriesInfo {
  /** Identifies the series in chunk keys. */
  readonly id: number
}

/** How many chunks are decoded before others get their turn: some 2 ms. */
const TURN_CHUNKS = 16
const FIRST_TIME = -8_640_000_000_000_000
const LAST_TIME = 8_640_000_000_000_000

export function lmdbBars(
  store: Pick<LmdbKv, 'environment' | 'openDatabase' | 'assertRoom' | 'durable'>,
): BarStore {
  const chunks = store.openDatabase<Buffer>(CHUNKS)
  const records = store.openDatabase<string>(RECORDS)
  const write = <T>(change: () => T) => store.durable(() => store.environment.transaction(change))
  /** Removing only frees room, so it may use the reserve of a full disk. */
  const free = <T>(change: () => T) =>
    store.durable(
      () => store.environment.transaction(change),
      () => true,
    )

  function record(key: SeriesKey, transaction?: Transaction): SeriesRecord | null {
    const text = records.get(seriesRecordKey(key), transaction && { transaction })
    return text === undefined ? null : (JSON.parse(text) as SeriesRecord)
  }

  /** A number never given before, for ids of series and for changes. Call it inside a transaction. */
  function next(): number {
    const number = Number(records.get(COUNTER_KEY) ?? 0) + 1
    void records.put(COUNTER_KEY, String(number))
    return number
  }

  /** Call it inside the transaction that makes the change. */
  function note(series: SeriesKey, from: number, to: number, change: number): void {
    const key = bareKey(series)
    const text = records.get(noteKey(key))
    const before = text === undefined ? null : (JSON.parse(text) as BarNote)
    void records.put(noteKey(key), JSON.stringify(mergeNotes(before, { key, from, to, change })))
  }

  function keys(
    start: ChunkKey,
    end: ChunkKey,
    options: { reverse?: boolean; limit?: number; transaction?: Transaction } = {},
  ) {
    return Array.from(
      chunks.getKeys({ start: encodeKey(start), end: encodeKey(end), ...options }),
      (bytes) => decodeKey(bytes) as unknown as ChunkKey,
    )
  }

  /** The first times of the chunks that bars from `first` to `last` fall into, and of a neighbour with room left. */
  function touched(id: number, first: number, last: number): number[] {
    const [before] = keys([id, first], [id, FIRST_TIME], { reverse: true, limit: 1 })
    const inside = keys([id, first + 1], [id, last + 1])
    const [behind] = keys([id, last + 1], [id, LAST_TIME], { limit: 1 })
    // A full chunk that ends before `first` is not touched.
    const head = before && (hasRoom(before) || lastTime(before) >= first) ? [before] : []
    const tail = behind && !before && inside.length === 0 && hasRoom(behind) ? [behind] : []
    return [...head, ...inside, ...tail].map(([, start]) => start)
  }

  function hasRoom(key: ChunkKey): boolean {
    const bytes = chunks.get(encodeKey(key))
    return !bytes || chunkLength(bytes) < CHUNK_BARS
  }

  function lastTime(key: ChunkKey): number {
    return decoded(chunks.get(encodeKey(key))).time.at(-1) ?? 0
  }

  /** The first times of the chunks that may have bars of the range, in order. */
  function startsIn(id: number, { from, to, first, last }: BarRange, transaction?: Transaction): number[] {
    const within = transaction ? { transaction } : {}
    const end = to ?? LAST_TIME
    // Walks backwards if the newest bars are wanted, since they may be few of many.
    if (last !== undefined) {
      const starts: number[] = []
      let missing = last
      for (const { key, value } of chunks.getRange({
        start: chunkKey(id, end),
        end: chunkKey(id, FIRST_TIME),
        reverse: true,
        ...within,
      })) {
        const [, start] = decodeKey(key) as unknown as ChunkKey
        // Most of the last chunk may lie behind the end of the range, so it does not count.
        if (to === undefined || starts.length > 0) missing -= chunkLength(value)
        starts.push(start)
        if (missing <= 0 || start <= (from ?? FIRST_TIME)) break
      }
      return starts.reverse()
    }
    const head =
      from === undefined ? [] : keys([id, from], [id, FIRST_TIME], { reverse: true, limit: 1, ...within })
    const begin = head[0]?.[1] ?? FIRST_TIME
    if (first === undefined) return keys([id, begin], [id, end], within).map(([, start]) => start)
    const starts: number[] = []
    let missing = first
    for (const { key, value } of chunks.getRange({
      start: chunkKey(id, begin),
      end: chunkKey(id, end),
      ...within,
    })) {
      const [, start] = decodeKey(key) as unknown as ChunkKey
      starts.push(start)
      // Most of the first chunk may lie before the range, so it does not count.
      if (from === undefined || starts.length > 1) missing -= chunkLength(value)
      if (missing <= 0) break
    }
    return starts
  }

  /** Decodes a few chunks in one go. */
  function readId(id: number, range: BarRange): Bars {
    const parts = startsIn(id, range).flatMap((start) => chunks.get(chunkKey(id, start)) ?? [])
    return selectBars(decodeAll(parts), range)
  }

  /** Decodes any number of chunks, in steps. */
  async function readLong(
    id: number,
    range: BarRange,
    make: MakeColumns,
    starts: readonly number[],
    transaction: Transaction,
  ): Promise<Bars> {
    let columns = make(starts.length * CHUNK_BARS)
    let length = 0
    for (const [i, start] of starts.entries()) {
      if (i > 0 && i % TURN_CHUNKS === 0) await turn()
      const bytes = chunks.get(chunkKey(id, start), { transaction })
      if (!bytes) continue
      columns = decodeChunk(bytes, columns, length)
      length += chunkLength(bytes)
    }
    return selectBars(sliceBars(columns, 0, length), range)
  }

  const idKeys = (id: number, limit?: number) =>
    keys([id, FIRST_TIME], [id, LAST_TIME], limit === undefined ? {} : { limit })

  /** Deletes all chunks of an id that no series has, a few at a time, since a large transaction would hold up everybody. */
  async function drop(id: number): Promise<void> {
    for (let some = idKeys(id, STEP_CHUNKS); some.length > 0; some = idKeys(id, STEP_CHUNKS)) {
      const gone = some
      await free(() => {
        for (const chunk of gone) void chunks.remove(encodeKey(chunk))
      })
    }
    await free(() => void records.remove(draftKey(id)))
  }

  /** Adds bars under an id that no series has; `null` makes a new one. Answers the id. */
  function extend(id: number | null, bars: Bars): Promise<number> {
    return write(() => {
      const parts = chunksOf(bars)
      store.assertRoom(byteLength(parts.values()))
      const to = id ?? next()
      if (id === null) void records.put(draftKey(to), String(process.pid))
      for (const [start, bytes] of parts) void chunks.put(chunkKey(to, start), bytes)
      return to
    })
  }

  function draft(series: SeriesKey): BarDraft {
    const key = bareKey(series)
    return barDraft<number>({
      stored: () => storedOf(record(key)),
      extend,
      read: readId,
      starts: (ids) => {
        const starts = new Set(ids.flatMap((id) => idKeys(id)).map(([, start]) => start))
        return [...starts].sort((a, b) => a - b)
      },
      drop,
      publish: (old, whole) =>
        write(() => {
          if (record(key)?.change !== old?.info.change) return null
          const written = grown(key, old && old.info, { ...whole, change: next() })
          void records.put(seriesRecordKey(key), JSON.stringify(written))
          note(key, whole.from, whole.to, written.change)
          void records.remove(draftKey(whole.id))
          if (old) void records.put(draftKey(old.id), String(process.pid))
          return infoOf(written)
        }),
    })
  }

  return {
    draft,

    async sweep() {
      for (const { key, value } of Array.from(records.getRange(prefixRange(['draft']))))
        if (Number(value) === process.pid || !isAlive(Number(value))) await drop(Number(decodeKey(key)[1]))
    },

    async upsert(key, bars, pieces) {
      if (bars.length === 0) return nothingWritten(storedOf(record(key)))
      return write(() => {
        const old = record(key)
        const first = bars.time[0] ?? 0
        const last = bars.time.at(-1) ?? 0
        const starts = old ? touched(old.id, first, last) : []
        const replaced = starts.flatMap((start) => (old && chunks.get(chunkKey(old.id, start))) ?? [])
        const before = decodeAll(replaced)
        const after = mergeBars(before, bars, pieces)
        const parts = chunksOf(after)
        store.assertRoom(byteLength(parts.values()) - byteLength(replaced))
        const id = old?.id ?? next()
        for (const [start, bytes] of parts) void chunks.put(chunkKey(id, start), bytes)
        for (const start of starts) if (!parts.has(start)) void chunks.remove(chunkKey(id, start))
        const inserted = after.length - before.length
        const count = (old?.count ?? 0) + inserted
        const written = grown(bareKey(key), old, { id, count, from: first, to: last, change: next() })
        void records.put(seriesRecordKey(key), JSON.stringify(written))
        note(key, first, last, written.change)
        return {
          inserted,
          updated: bars.length - inserted,
          change: written.change,
          before: old && infoOf(old),
          series: infoOf(written),
        }
      })
    },

    async read(key, range = {}, make = emptyBars) {
      const transaction = chunks.useReadTransaction()
      try {
        const found = record(key, transaction)
        if (!found) return { bars: make(0), series: null }
        const starts = startsIn(found.id, uncounted(range, found.count), transaction)
        const bars = await readLong(found.id, range, make, starts, transaction)
        return { bars, series: infoOf(found) }
      } finally {
        transaction.done()
      }
    },

    async info(key) {
      const found = record(key)
      return found && infoOf(found)
    },

    async list(of) {
      const prefix = of ? ['series', ownerOf(of), of.exchange, of.symbol] : ['series']
      return Array.from(records.getRange(prefixRange(prefix)), ({ value }) =>
        infoOf(JSON.parse(value) as SeriesRecord),
      ).sort(compareSeries)
    },

    remove(key) {
      return free(() => {
        const found = record(key)
        if (!found) return false
        for (const chunk of idKeys(found.id)) void chunks.remove(encodeKey(chunk))
        void records.remove(seriesRecordKey(key))
        note(key, found.first, found.last, next())
        return true
      })
    },

    async notes() {
      return Array.from(
        records.getRange({ ...prefixRange(['note']), limit: NOTES_MAX }),
        ({ value }) => JSON.parse(value) as BarNote,
      )
    },

    async clearNote({ key, change }) {
      await write(() => {
        const text = records.get(noteKey(key))
        const isThere = text !== undefined && (JSON.parse(text) as BarNote).change === change
        if (isThere) void records.remove(noteKey(key))
      })
    },

    async symbol(exchange, symbol, owner) {
      const text = records.get(symbolRecordKey(exchange, symbol, owner))
      return text === undefined ? null : (JSON.parse(text) as SymbolInfo)
    },

    async symbols() {
      return Array.from(
        records.getRange(prefixRange(['symbol'])),
        ({ value }) => JSON.parse(value) as SymbolInfo,
      ).sort(compareSymbols)
    },

    async removeSymbol(exchange, symbol, owner) {
      await write(() => void records.remove(symbolRecordKey(exchange, symbol, owner)))
    },

    async putSymbol(info) {
      await write(() => {
        store.assertRoom()
        void records.put(symbolRecordKey(info.exchange, info.symbol, ownerOf(info)), JSON.stringify(info))
      })
    },
  }
}

/**
 * Whether the process still runs on this machine. If its number now belongs to another process, a few chunks merely stay
 * longer.
 */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

/** The record of a series after a write of bars from `from` to `to`. */
function grown(
  key: SeriesKey,
  old: SeriesInfo | null,
  { id, count, from, to, change }: Record<'id' | 'count' | 'from' | 'to' | 'change', number>,
): SeriesRecord {
  return {
    ...key,
    count,
    first: Math.min(old?.first ?? from, from),
    last: Math.max(old?.last ?? to, to),
    begun: old ? old.begun : to,
    change,
    id,
  }
}

/** Drops `last` if it covers all bars, since counting from the end reads each chunk once more. */
function uncounted({ last, ...rest }: BarRange, count: number): BarRange {
  return last === undefined || last >= count ? rest : { ...rest, last }
}

const storedOf = (found: SeriesRecord | null) => found && { id: found.id, info: infoOf(found) }

function infoOf({ id: _id, ...info }: SeriesRecord): SeriesInfo {
  return info
}

function byteLength(parts: Iterable<Uint8Array>): number {
  let sum = 0
  for (const { byteLength: bytes } of parts) sum += bytes
  return sum
}

function decoded(bytes: Buffer | undefined): Bars {
  return decodeAll(bytes ? [bytes] : [])
}
