// Stores bars in LMDB, beside the documents: chunks of up to 4,096 bars by (series, time of the first bar).
//
// A write reads the chunks it touches, merges, and writes them back in one transaction; an append touches only the last
// one. Transactions run one after another, so nothing changes between their reads and their writes. A read decodes only the
// chunks of its range, in steps between which others get their turn, and sees one moment of the database.

import type { Transaction } from 'lmdb'
import { type BarRange, type Bars, emptyBars, mergeBars } from '../market/bars.ts'
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
  type SeriesBars,
  type SeriesInfo,
  type SeriesKey,
  type UpsertResult,
} from '../market/bar-store.ts'
import type { SymbolInfo } from '../market/symbol.ts'
import { barDraft, nothingWritten, STEP_CHUNKS } from './bar-drafts.ts'
import { chunksOf, decodeAll } from './bar-chunks.ts'
import { ofSeries } from './damage.ts'
import { decodeKey, encodeKey, prefixRange } from './key.ts'
import type { LmdbKv, Table } from './lmdb.ts'
import { CHUNKS, LmdbChunks } from './lmdb-chunks.ts'

export const RECORDS = { name: 'bar-records', encoding: 'string' } as const

export const seriesRecordKey = (key: SeriesKey) =>
  encodeKey(['series', ownerOf(key), key.exchange, key.symbol, key.interval])
export const symbolRecordKey = (exchange: string, symbol: string, owner = '') =>
  encodeKey(['symbol', owner, exchange, symbol])
export const COUNTER_KEY = encodeKey(['counter'])
export const noteKey = (key: SeriesKey) =>
  encodeKey(['note', ownerOf(key), key.exchange, key.symbol, key.interval])
export const draftKey = (id: number) => encodeKey(['draft', id])

export interface SeriesRecord extends SeriesInfo {
  /** Identifies the series in chunk keys. */
  readonly id: number
}

type BarsStore = Pick<LmdbKv, 'environment' | 'openDatabase' | 'assertRoom' | 'durable'>

/** The record of a series always tells how many bars its chunks have, and where they begin and end. */
interface Tables {
  readonly store: BarsStore
  readonly chunks: LmdbChunks
  readonly records: Table<string>
}

export function lmdbBars(store: BarsStore): BarStore {
  const tables: Tables = {
    store,
    chunks: new LmdbChunks(store.openDatabase<Buffer>(CHUNKS)),
    records: store.openDatabase<string>(RECORDS),
  }
  return {
    upsert: (...asked) => ofSeries(asked[0], upsert(tables, ...asked)),
    read: (...asked) => ofSeries(asked[0], read(tables, ...asked)),
    info: async (key) => storedOf(record(tables, key))?.info ?? null,
    async list(of) {
      const prefix = of ? ['series', ownerOf(of), of.exchange, of.symbol] : ['series']
      return all<SeriesRecord>(tables, prefix).map(infoOf).sort(compareSeries)
    },
    remove: (key) => remove(tables, key),
    draft: (key) => draft(tables, key),
    sweep: () => sweep(tables),
    notes: async () => all<BarNote>(tables, ['note'], NOTES_MAX),
    clearNote: (note) => clearNote(tables, note),
    symbol: async (...name) => get(tables, symbolRecordKey(...name)) as SymbolInfo | null,
    symbols: async () => all<SymbolInfo>(tables, ['symbol']).sort(compareSymbols),
    putSymbol: (info) =>
      write(tables, () => {
        store.assertRoom()
        put(tables, symbolRecordKey(info.exchange, info.symbol, ownerOf(info)), info)
      }),
    removeSymbol: (...name) => write(tables, () => void tables.records.remove(symbolRecordKey(...name))),
  }
}

async function upsert(
  tables: Tables,
  key: SeriesKey,
  bars: Bars,
  pieces?: ReadonlySet<number>,
): Promise<UpsertResult> {
  if (bars.length === 0) return nothingWritten(storedOf(record(tables, key)))
  return write(tables, () => {
    const old = record(tables, key)
    const from = bars.time[0] ?? 0
    const to = bars.time.at(-1) ?? 0
    const firsts = old ? tables.chunks.touched(old.id, from, to) : []
    const replaced = firsts.flatMap((first) => (old && tables.chunks.get(old.id, first)) ?? [])
    const before = decodeAll(replaced)
    const after = mergeBars(before, bars, pieces)
    const parts = chunksOf(after)
    tables.store.assertRoom(byteLength(parts.values()) - byteLength(replaced))
    const id = old?.id ?? next(tables)
    tables.chunks.put(id, parts)
    tables.chunks.remove(
      id,
      firsts.filter((first) => !parts.has(first)),
    )
    const inserted = after.length - before.length
    const series = grow(tables, key, old, { id, count: (old?.count ?? 0) + inserted, from, to })
    const updated = bars.length - inserted
    return { inserted, updated, change: series.change, before: old && infoOf(old), series }
  })
}

async function read(
  tables: Tables,
  key: SeriesKey,
  range: BarRange = {},
  make: MakeColumns = emptyBars,
): Promise<SeriesBars> {
  const transaction = tables.chunks.begin()
  try {
    const found = record(tables, key, transaction)
    if (!found) return { bars: make(0), series: null }
    const bars = await tables.chunks.readInSteps(found.id, uncounted(range, found.count), make, transaction)
    return { bars, series: infoOf(found) }
  } finally {
    transaction.done()
  }
}

function remove(tables: Tables, key: SeriesKey): Promise<boolean> {
  return free(tables, () => {
    const found = record(tables, key)
    if (!found) return false
    tables.chunks.remove(found.id, tables.chunks.firsts(found.id))
    void tables.records.remove(seriesRecordKey(key))
    note(tables, key, found.first, found.last, next(tables))
    return true
  })
}

function draft(tables: Tables, series: SeriesKey): BarDraft {
  const key = bareKey(series)
  return barDraft<number>({
    stored: () => storedOf(record(tables, key)),
    extend: (id, bars) => extend(tables, id, bars),
    read: (id, range) => tables.chunks.read(id, range),
    starts: (ids) => {
      const firsts = new Set(ids.flatMap((id) => tables.chunks.firsts(id)))
      return [...firsts].sort((a, b) => a - b)
    },
    drop: (id) => drop(tables, id),
    publish: (old, whole) =>
      write(tables, () => {
        if (record(tables, key)?.change !== old?.info.change) return null
        void tables.records.remove(draftKey(whole.id))
        if (old) void tables.records.put(draftKey(old.id), String(process.pid))
        return grow(tables, key, old && old.info, whole)
      }),
  })
}

async function sweep(tables: Tables): Promise<void> {
  for (const { key, value } of Array.from(tables.records.getRange(prefixRange(['draft']))))
    if (Number(value) === process.pid || !isAlive(Number(value)))
      await drop(tables, Number(decodeKey(key)[1]))
}

async function clearNote(tables: Tables, { key, change }: Pick<BarNote, 'key' | 'change'>): Promise<void> {
  await write(tables, () => {
    if (noteOf(tables, key)?.change === change) void tables.records.remove(noteKey(key))
  })
}

function write<T>(tables: Tables, change: () => T): Promise<T> {
  return tables.store.durable(() => tables.store.environment.transaction(change))
}

/** Removing only frees room, so it may use the reserve of a full disk. */
function free<T>(tables: Tables, change: () => T): Promise<T> {
  return tables.store.durable(
    () => tables.store.environment.transaction(change),
    () => true,
  )
}

function get(tables: Tables, key: Buffer, transaction?: Transaction): unknown {
  const text = tables.records.get(key, transaction && { transaction })
  return text === undefined ? null : JSON.parse(text)
}

function put(tables: Tables, key: Buffer, record: object): void {
  void tables.records.put(key, JSON.stringify(record))
}

function all<T>(tables: Tables, prefix: readonly string[], limit?: number): T[] {
  const range = { ...prefixRange(prefix), ...(limit !== undefined && { limit }) }
  return Array.from(tables.records.getRange(range), ({ value }) => JSON.parse(value) as T)
}

function record(tables: Tables, key: SeriesKey, transaction?: Transaction): SeriesRecord | null {
  return get(tables, seriesRecordKey(key), transaction) as SeriesRecord | null
}

const noteOf = (tables: Tables, key: SeriesKey) => get(tables, noteKey(key)) as BarNote | null

/** A number never given before, for ids of series and for changes. Call it inside a transaction. */
function next(tables: Tables): number {
  const number = Number(tables.records.get(COUNTER_KEY) ?? 0) + 1
  void tables.records.put(COUNTER_KEY, String(number))
  return number
}

/** Writes the record of a series and its note, after a write of bars from `from` to `to`. Call it inside that transaction. */
function grow(
  tables: Tables,
  series: SeriesKey,
  old: SeriesInfo | null,
  { id, count, from, to }: Readonly<Record<'id' | 'count' | 'from' | 'to', number>>,
): SeriesInfo {
  const info: SeriesInfo = {
    ...bareKey(series),
    count,
    first: Math.min(old?.first ?? from, from),
    last: Math.max(old?.last ?? to, to),
    begun: old ? old.begun : to,
    change: next(tables),
  }
  put(tables, seriesRecordKey(series), { ...info, id } satisfies SeriesRecord)
  note(tables, series, from, to, info.change)
  return info
}

/** Call it inside the transaction that makes the change. */
function note(tables: Tables, series: SeriesKey, from: number, to: number, change: number): void {
  const key = bareKey(series)
  put(tables, noteKey(key), mergeNotes(noteOf(tables, key), { key, from, to, change }))
}

/** Adds bars under an id that no series has; `null` makes a new one. Answers the id. */
function extend(tables: Tables, id: number | null, bars: Bars): Promise<number> {
  return write(tables, () => {
    const parts = chunksOf(bars)
    tables.store.assertRoom(byteLength(parts.values()))
    const to = id ?? next(tables)
    if (id === null) void tables.records.put(draftKey(to), String(process.pid))
    tables.chunks.put(to, parts)
    return to
  })
}

/** Deletes all chunks of an id that no series has, a few at a time, since a large transaction would hold up everybody. */
async function drop(tables: Tables, id: number): Promise<void> {
  const some = () => tables.chunks.firsts(id, STEP_CHUNKS)
  for (let gone = some(); gone.length > 0; gone = some()) {
    const firsts = gone
    await free(tables, () => tables.chunks.remove(id, firsts))
  }
  await free(tables, () => void tables.records.remove(draftKey(id)))
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
