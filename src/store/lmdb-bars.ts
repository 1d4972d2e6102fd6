// Bars in LMDB, beside the documents: chunks of up to 4,096 bars by (series, time of the first bar).
//
// A write reads the chunks it touches, merges, and writes them back in one transaction; an append touches the last
// one only. Transactions run one after another, so what is read inside one is what is written over.

import { type Bars, emptyBars, mergeBars, selectBars, sliceBars } from '../market/bars.ts'
import { type BarStore, compareSeries, type SeriesInfo, type SeriesKey } from '../market/bar-store.ts'
import type { SymbolInfo } from '../market/symbol.ts'
import { CHUNK_BARS, chunkLength, decodeChunk, encodeChunk } from './bar-chunks.ts'
import { durable, type LmdbKv } from './lmdb.ts'

type ChunkKey = [series: number, first: number]
type RecordKey = [kind: 'series' | 'symbol' | 'counter', ...names: string[]]

interface SeriesRecord extends SeriesInfo {
  /** Names the series in chunk keys. */
  readonly id: number
}

const FIRST_TIME = -8_640_000_000_000_000
const LAST_TIME = 8_640_000_000_000_000

export function lmdbBars(store: Pick<LmdbKv, 'environment' | 'openDatabase' | 'assertRoom'>): BarStore {
  const chunks = store.openDatabase<Buffer, ChunkKey>({ name: 'bars', encoding: 'binary' })
  const records = store.openDatabase<string, RecordKey>({ name: 'series', encoding: 'string' })
  const write = <T>(change: () => T) => durable(() => store.environment.transaction(change))

  function record(key: SeriesKey): SeriesRecord | null {
    const text = records.get(['series', key.exchange, key.symbol, key.interval])
    return text === undefined ? null : (JSON.parse(text) as SeriesRecord)
  }

  /** Numbers never given before: for the ids of series and for changes. Inside a transaction. */
  function next(): number {
    const number = Number(records.get(['counter']) ?? 0) + 1
    void records.put(['counter'], String(number))
    return number
  }

  function keys(start: ChunkKey, end: ChunkKey, options: { reverse?: boolean; limit?: number } = {}) {
    return Array.from(chunks.getKeys({ start, end, ...options }))
  }

  /** First times of the chunks that bars from `first` to `last` go into, and of a neighbour that has room left. */
  function touched(id: number, first: number, last: number): number[] {
    const [before] = keys([id, first], [id, FIRST_TIME], { reverse: true, limit: 1 })
    const inside = keys([id, first + 1], [id, last + 1])
    const [behind] = keys([id, last + 1], [id, LAST_TIME], { limit: 1 })
    const head = before && takesBars(before, first) ? [before] : []
    const tail = behind && !before && inside.length === 0 && takesBars(behind, behind[1]) ? [behind] : []
    return [...head, ...inside, ...tail].map(([, start]) => start)
  }

  /** Has the chunk room, or bars at or after `first`? A full chunk that ends before stays as it is. */
  function takesBars(key: ChunkKey, first: number): boolean {
    const bytes = chunks.get(key)
    if (!bytes || chunkLength(bytes) < CHUNK_BARS) return true
    return key[1] !== first && (decoded(bytes).time.at(-1) ?? 0) >= first
  }

  return {
    async upsert(key, bars) {
      if (bars.length === 0) return { inserted: 0, updated: 0, change: record(key)?.change ?? 0 }
      return write(() => {
        const old = record(key)
        const first = bars.time[0] ?? 0
        const last = bars.time.at(-1) ?? 0
        const starts = old ? touched(old.id, first, last) : []
        const replaced = starts.flatMap((start) => (old && chunks.get([old.id, start])) ?? [])
        const before = decodeAll(replaced)
        const after = mergeBars(before, bars)
        const parts = chunksOf(after)
        store.assertRoom(byteLength(parts.values()) - byteLength(replaced))
        const id = old?.id ?? next()
        for (const [start, bytes] of parts) void chunks.put([id, start], bytes)
        for (const start of starts) if (!parts.has(start)) void chunks.remove([id, start])
        const inserted = after.length - before.length
        const { exchange, symbol, interval } = key
        const written: SeriesRecord = {
          exchange,
          symbol,
          interval,
          count: (old?.count ?? 0) + inserted,
          first: Math.min(old?.first ?? first, first),
          last: Math.max(old?.last ?? last, last),
          change: next(),
          id,
        }
        void records.put(['series', exchange, symbol, interval], JSON.stringify(written))
        return { inserted, updated: bars.length - inserted, change: written.change }
      })
    },

    read(key, range = {}) {
      const found = record(key)
      if (!found) return emptyBars(0)
      // Backwards from the end of the range, until there are enough. The first chunk may be mostly behind the end
      // of the range, so it does not count.
      const parts: Buffer[] = []
      let missing = range.last ?? Number.POSITIVE_INFINITY
      for (const { key: [, start] = [], value } of chunks.getRange({
        start: [found.id, range.to ?? LAST_TIME],
        end: [found.id, FIRST_TIME],
        reverse: true,
      })) {
        if (range.to === undefined || parts.length > 0) missing -= chunkLength(value)
        parts.push(value)
        if (missing <= 0 || (start ?? LAST_TIME) <= (range.from ?? FIRST_TIME)) break
      }
      return selectBars(decodeAll(parts.reverse()), range)
    },

    info(key) {
      const found = record(key)
      return found && infoOf(found)
    },

    list() {
      return Array.from(records.getRange({ start: ['series'], end: ['series', '\uffff'] }), ({ value }) =>
        infoOf(JSON.parse(value) as SeriesRecord),
      ).sort(compareSeries)
    },

    remove(key) {
      return write(() => {
        const found = record(key)
        if (!found) return false
        for (const chunk of keys([found.id, FIRST_TIME], [found.id, LAST_TIME])) void chunks.remove(chunk)
        void records.remove(['series', key.exchange, key.symbol, key.interval])
        return true
      })
    },

    symbol(exchange, symbol) {
      const text = records.get(['symbol', exchange, symbol])
      return text === undefined ? null : (JSON.parse(text) as SymbolInfo)
    },

    symbols() {
      return Array.from(
        records.getRange({ start: ['symbol'], end: ['symbol', '\uffff'] }),
        ({ value }) => JSON.parse(value) as SymbolInfo,
      )
    },

    async putSymbol(info) {
      await write(() => {
        store.assertRoom()
        void records.put(['symbol', info.exchange, info.symbol], JSON.stringify(info))
      })
    },
  }
}

function infoOf({ id: _id, ...info }: SeriesRecord): SeriesInfo {
  return info
}

/** Encoded, by the time of their first bar. */
function chunksOf(bars: Bars): Map<number, Buffer> {
  const parts = new Map<number, Buffer>()
  for (let at = 0; at < bars.length; at += CHUNK_BARS) {
    const part = sliceBars(bars, at, Math.min(bars.length, at + CHUNK_BARS))
    parts.set(part.time[0] ?? 0, encodeChunk(part))
  }
  return parts
}

function byteLength(parts: Iterable<Uint8Array>): number {
  let sum = 0
  for (const { byteLength: bytes } of parts) sum += bytes
  return sum
}

function decodeAll(parts: readonly Uint8Array[]): Bars {
  const bars = emptyBars(parts.reduce((sum, part) => sum + chunkLength(part), 0))
  let offset = 0
  for (const part of parts) {
    decodeChunk(part, bars, offset)
    offset += chunkLength(part)
  }
  return bars
}

function decoded(bytes: Buffer | undefined): Bars {
  return decodeAll(bytes ? [bytes] : [])
}
