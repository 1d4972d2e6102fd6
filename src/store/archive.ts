// A store as a whole copy of it is made and read: all documents, and bars as the chunks they stand in.
//
// Chunks are bytes of one format in every store, so that nothing is decoded on the way and each bar stays bit for bit.

import type { BarNote, SeriesInfo, SeriesKey } from '../market/bar-store.ts'
import type { SymbolInfo } from '../market/symbol.ts'
import type { Kv } from './kv.ts'

export interface Chunk {
  /** Time of its first bar. */
  readonly first: number
  readonly bytes: Uint8Array
}

export type Chunks = AsyncIterable<readonly Chunk[]>

export interface Archive {
  readonly kv: Kv
  /** A moment of the store, for `changedSince`. */
  mark(): Promise<string>
  /** Whether anybody has written to the store since; true also where that is not known any more. */
  changedSince(mark: string): Promise<boolean>
  countDocuments(): Promise<number>
  /** Sorted, as `BarStore.list` does. */
  series(): Promise<SeriesInfo[]>
  /** In order of time, a few at a time. */
  chunks(key: SeriesKey): Chunks
  /** All that are there; sorted by nothing. */
  notes(): Promise<BarNote[]>
  /** Sorted, as `BarStore.symbols` does. */
  symbols(): Promise<SymbolInfo[]>
  /** Stores a series as it stands elsewhere, with its change number and without a note; seen by nobody before it is whole. */
  putSeries(info: SeriesInfo, chunks: Chunks): Promise<void>
  putNotes(notes: readonly BarNote[]): Promise<void>
  putSymbols(symbols: readonly SymbolInfo[]): Promise<void>
  /** Takes everything out. */
  clear(): Promise<void>
  close(): Promise<void>
}
