// The archive of a data directory.

import { type BarNote, ownerOf } from '../market/bar-store.ts'
import type { Archive, Chunk } from './archive.ts'
import { prefixRange } from './key.ts'
import {
  COUNTER_KEY,
  draftKey,
  lmdbBars,
  noteKey,
  RECORDS,
  type SeriesRecord,
  seriesRecordKey,
  symbolRecordKey,
} from './lmdb-bars.ts'
import { CHUNKS, chunkKey, firstOf } from './lmdb-chunks.ts'
import { DOCUMENTS, type LmdbKv, type Table } from './lmdb.ts'

/** 2 MB. */
const CHUNKS_AT_ONCE = 16

export function lmdbArchive(kv: LmdbKv): Archive {
  const documents = kv.openDatabase<string>(DOCUMENTS)
  const chunks = kv.openDatabase<Buffer>(CHUNKS)
  const records = kv.openDatabase<string>(RECORDS)
  const bars = lmdbBars(kv)
  const write = <T>(change: () => T) => kv.durable(() => kv.environment.transaction(change))

  const lastWrite = () => String((kv.environment.getStats() as { readonly lastTxnId: number }).lastTxnId)

  /** Ids and change numbers are given from there on. Call it inside a transaction. */
  function countOn(atLeast: number): number {
    const number = Math.max(Number(records.get(COUNTER_KEY) ?? 0), atLeast)
    void records.put(COUNTER_KEY, String(number))
    return number
  }

  return {
    kv,
    mark: async () => lastWrite(),
    changedSince: async (mark) => lastWrite() !== mark,
    countDocuments: async () => (documents.getStats() as { readonly entryCount: number }).entryCount,
    series: () => bars.list(),
    async *chunks(key) {
      const text = records.get(seriesRecordKey(key))
      if (text !== undefined) yield* pagesOf(chunks, (JSON.parse(text) as SeriesRecord).id)
    },
    async notes() {
      return Array.from(records.getRange(prefixRange(['note'])), ({ value }) => JSON.parse(value) as BarNote)
    },
    symbols: () => bars.symbols(),
    async putSeries(info, parts) {
      const id = await write(() => {
        const next = countOn(0) + 1
        void records.put(COUNTER_KEY, String(next))
        void records.put(draftKey(next), String(process.pid))
        return next
      })
      for await (const page of parts)
        await write(() => {
          kv.assertRoom(page.reduce((sum, { bytes }) => sum + bytes.length, 0))
          for (const { first, bytes } of page) void chunks.put(chunkKey(id, first), Buffer.from(bytes))
        })
      await write(() => {
        countOn(info.change)
        void records.put(seriesRecordKey(info), JSON.stringify({ ...info, id } satisfies SeriesRecord))
        void records.remove(draftKey(id))
      })
    },
    putNotes: (notes) =>
      write(() => {
        for (const note of notes) {
          countOn(note.change)
          void records.put(noteKey(note.key), JSON.stringify(note))
        }
      }),
    putSymbols: (symbols) =>
      write(() => {
        for (const info of symbols)
          void records.put(symbolRecordKey(info.exchange, info.symbol, ownerOf(info)), JSON.stringify(info))
      }),
    async clear() {
      for (const table of [documents, chunks, records]) await table.clearAsync()
    },
    close: () => kv.close(),
  }
}

function* pagesOf(chunks: Table<Buffer>, id: number): Generator<readonly Chunk[]> {
  const { end } = prefixRange([id])
  let { start } = prefixRange([id])
  for (;;) {
    const page = Array.from(chunks.getRange({ start, end, limit: CHUNKS_AT_ONCE }), (entry) => ({
      first: firstOf(entry.key),
      // What LMDB hands out stays valid only until it is asked for the next.
      bytes: Buffer.from(entry.value),
    }))
    const last = page.at(-1)
    if (!last) return
    yield page
    start = Buffer.concat([chunkKey(id, last.first), Buffer.of(0)])
  }
}
