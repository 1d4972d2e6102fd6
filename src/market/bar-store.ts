// The port to cached bars and their symbols.
//
// A series is the bars of one (exchange, symbol, interval). A write replaces the bars of the same times and inserts the
// others. Every write gives the series a new `change` number, greater than any before it in the store, so that a cache can
// tell whether it still holds the truth.
//
// Every answer is a promise and describes one moment; two answers may describe different moments. So values that belong
// together come in one answer: bars with the figures of their series, a write with the series before it.
//
// Memory (for tests) and LMDB (`store/lmdb-bars.ts`) implement it, and both must pass
// `tests/market/bar-store.conformance.ts`.

import { marketName } from '../lib/market-name.ts'
import {
  type BarRange,
  type Bars,
  concatBars,
  copyBars,
  emptyBars,
  mergeBars,
  selectBars,
  sliceBars,
  withSides,
} from './bars.ts'
import type { SymbolInfo } from './symbol.ts'

export interface SeriesKey {
  /** The user whose private bars they are; absent or '' = everybody can read them. */
  readonly owner?: string
  readonly exchange: string
  readonly symbol: string
  /** In normal form: `1h`, not `60`. */
  readonly interval: string
}

export interface SeriesInfo extends SeriesKey {
  readonly count: number
  /** Times of the first and last bar. */
  readonly first: number
  readonly last: number
  /** The last bar of the write that made the series; any later bar is news. Absent in older data. */
  readonly begun?: number | undefined
  readonly change: number
}

/** Says that bars of a series came or went since the note was cleared, so that alerts have to look at it. */
export interface BarNote {
  readonly key: SeriesKey
  /** Times of the first and last bar that changed. */
  readonly from: number
  readonly to: number
  readonly change: number
}

/** How many bars of a write are new, and how many replaced others. */
export interface BarCounts {
  readonly inserted: number
  readonly updated: number
}

export interface UpsertResult extends BarCounts {
  readonly change: number
  /** The series right before the write and right after it; null if it did not exist. */
  readonly before: SeriesInfo | null
  readonly series: SeriesInfo | null
}

/** Bars, and their series as it was when they were read; null if there is none. */
export interface SeriesBars {
  readonly bars: Bars
  readonly series: SeriesInfo | null
}

/** Makes columns to read at least `length` bars into; that of what was bought comes to them in memory of its own. */
export type MakeColumns = (length: number) => Bars

export interface BarStore {
  /**
   * Writes all or nothing, and resolves when it is on disk. `bars` are sorted by time without duplicates; an empty list
   * changes nothing. Those at the times of `pieces` may lack trades: one leaves a bar that is as high and as low and has more
   * volume.
   */
  upsert(key: SeriesKey, bars: Bars, pieces?: ReadonlySet<number>): Promise<UpsertResult>
  /**
   * Answers a view of columns that `make` made for this call and that nobody else writes to; empty if the series does not
   * exist. Only the bars in the range are read, and other work gets its turn meanwhile.
   */
  read(key: SeriesKey, range?: BarRange, make?: MakeColumns): Promise<SeriesBars>
  info(key: SeriesKey): Promise<SeriesInfo | null>
  /**
   * Shared and private series, sorted by exchange, symbol, interval's text and owner. With `of`, only those of that owner's
   * symbol.
   */
  list(of?: Omit<SeriesKey, 'interval'>): Promise<SeriesInfo[]>
  /** Answers false if there was none. */
  remove(key: SeriesKey): Promise<boolean>
  /** Begins a large import, which nobody sees before it is committed. */
  draft(key: SeriesKey): BarDraft
  /** Notes are written in the commit of their bars, so a stop in between loses none. Answers at most 1,000, in no order. */
  notes(): Promise<BarNote[]>
  /** Forgets a note, unless the series has changed since. */
  clearNote(note: Pick<BarNote, 'key' | 'change'>): Promise<void>
  /** Removes what interrupted imports left behind. Call it before the first draft of this process. */
  sweep(): Promise<void>
  /** The facts that everybody sees, or those that `owner` has set for themselves. */
  symbol(exchange: string, symbol: string, owner?: string): Promise<SymbolInfo | null>
  /** Shared and private facts, sorted by exchange, symbol and owner. */
  symbols(): Promise<SymbolInfo[]>
  putSymbol(info: SymbolInfo): Promise<void>
  /** Forgets facts that were set; an `owner` of '' means everybody's. */
  removeSymbol(exchange: string, symbol: string, owner: string): Promise<void>
}

/** Bars on their way into a series, in any number of steps; end it with `commit` or `discard`. */
export interface BarDraft {
  /** `bars` are sorted, and all lie before or all behind the bars that were added so far. */
  add(bars: Bars): Promise<void>
  read(range?: BarRange): Promise<Bars>
  /** Has the effect of one `upsert` of everything added. */
  commit(pieces?: ReadonlySet<number>): Promise<UpsertResult>
  discard(): Promise<void>
}

export function seriesKey(exchange: string, symbol: string, interval: string): SeriesKey {
  return { exchange: marketName(exchange), symbol: marketName(symbol), interval }
}

/** The owner of a private series or of private facts; '' = everybody can read them. */
export function ownerOf({ owner = '' }: { readonly owner?: string }): string {
  return owner
}

/** The owner as a field of a record; records of shared series have none. */
export function owned(owner: string): { readonly owner?: string } {
  return owner === '' ? {} : { owner }
}

/** Only the key's own fields, since the caller's object may have more. */
export function bareKey({ exchange, symbol, interval, owner = '' }: SeriesKey): SeriesKey {
  return { ...owned(owner), exchange, symbol, interval }
}

/** `NASDAQ:AAPL 1d`, the form that people read. */
export function seriesName({ exchange, symbol, interval }: SeriesKey): string {
  return `${exchange}:${symbol} ${interval}`
}

/** The series of these parts of a key in the store. */
export function seriesOfParts([exchange, symbol, interval]: readonly unknown[]): SeriesKey {
  return { exchange: String(exchange), symbol: String(symbol), interval: String(interval) }
}

export function compareSeries(a: SeriesKey, b: SeriesKey): number {
  return compareNames(a, b) || compareText(a.interval, b.interval) || compareText(ownerOf(a), ownerOf(b))
}

export function compareSymbols(a: SymbolInfo, b: SymbolInfo): number {
  return compareNames(a, b) || compareText(ownerOf(a), ownerOf(b))
}

type Named = Pick<SymbolInfo, 'exchange' | 'symbol'>
function compareNames(a: Named, b: Named): number {
  return compareText(a.exchange, b.exchange) || compareText(a.symbol, b.symbol)
}

function compareText(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}

/** One note that covers both. */
export function mergeNotes(before: BarNote | null, note: BarNote): BarNote {
  if (!before) return note
  return { ...note, from: Math.min(before.from, note.from), to: Math.max(before.to, note.to) }
}

export const NOTES_MAX = 1000

const idOf = (key: SeriesKey) => `${ownerOf(key)}\0${key.exchange}\0${key.symbol}\0${key.interval}`
const symbolId = (exchange: string, symbol: string, owner: string) => `${owner}\0${exchange}\0${symbol}`

export function memoryBars(): BarStore {
  const series = new Map<string, { readonly info: SeriesInfo; readonly bars: Bars }>()
  const symbols = new Map<string, SymbolInfo>()
  const notes = new Map<string, BarNote>()
  let changes = 0

  function note(series: SeriesKey, from: number, to: number, change: number): void {
    const key = bareKey(series)
    notes.set(idOf(key), mergeNotes(notes.get(idOf(key)) ?? null, { key, from, to, change }))
  }

  const store: BarStore = {
    async upsert(key, bars, pieces) {
      const old = series.get(idOf(key))
      const before = old?.info ?? null
      if (bars.length === 0)
        return { inserted: 0, updated: 0, change: before?.change ?? 0, before, series: before }
      // Copied, because the caller may reuse its columns.
      const merged = concatBars([mergeBars(old?.bars ?? emptyBars(0), bars, pieces), emptyBars(0)])
      const change = ++changes
      const info: SeriesInfo = {
        ...bareKey(key),
        count: merged.length,
        first: merged.time[0] ?? 0,
        last: merged.time.at(-1) ?? 0,
        begun: old ? old.info.begun : bars.time.at(-1),
        change,
      }
      series.set(idOf(key), { info, bars: merged })
      note(key, bars.time[0] ?? 0, bars.time.at(-1) ?? 0, change)
      const inserted = merged.length - (old?.bars.length ?? 0)
      return { inserted, updated: bars.length - inserted, change, before, series: info }
    },
    async read(key, range = {}, make = emptyBars) {
      const found = series.get(idOf(key))
      const bars = selectBars(found?.bars ?? emptyBars(0), range)
      const made = make(bars.length)
      const columns = bars.bought ? withSides(made) : made
      copyBars(columns, 0, bars)
      return { bars: sliceBars(columns, 0, bars.length), series: found?.info ?? null }
    },
    info: async (key) => series.get(idOf(key))?.info ?? null,
    list: async (of) =>
      [...series.values()]
        .map(({ info }) => info)
        .filter((info) => !of || (ownerOf(info) === ownerOf(of) && compareNames(info, of) === 0))
        .sort(compareSeries),
    async remove(key) {
      const old = series.get(idOf(key))
      if (old) note(key, old.info.first, old.info.last, ++changes)
      return series.delete(idOf(key))
    },
    notes: async () => [...notes.values()].slice(0, NOTES_MAX),
    async clearNote({ key, change }) {
      if (notes.get(idOf(key))?.change === change) notes.delete(idOf(key))
    },
    draft: (key) => memoryDraft(store, key),
    sweep: async () => {},
    symbol: async (exchange, symbol, owner = '') => symbols.get(symbolId(exchange, symbol, owner)) ?? null,
    symbols: async () => [...symbols.values()].sort(compareSymbols),
    async removeSymbol(exchange, symbol, owner) {
      symbols.delete(symbolId(exchange, symbol, owner))
    },
    async putSymbol(info) {
      symbols.set(symbolId(info.exchange, info.symbol, ownerOf(info)), info)
    },
  }
  return store
}

function memoryDraft(store: BarStore, key: SeriesKey): BarDraft {
  let parts: Bars[] = []
  const sorted = () =>
    concatBars([...parts.toSorted((a, b) => (a.time[0] ?? 0) - (b.time[0] ?? 0)), emptyBars(0)])
  return {
    async add(bars) {
      if (bars.length > 0) parts.push(concatBars([bars, emptyBars(0)]))
    },
    read: async (range = {}) => selectBars(sorted(), range),
    commit(pieces) {
      const all = sorted()
      parts = []
      return store.upsert(key, all, pieces)
    },
    async discard() {
      parts = []
    },
  }
}
