// The port to cached bars and the symbols they are of.
//
// A series is the bars of one (exchange, symbol, interval). It is written by time: a bar that is there already is
// replaced, others are put in their place. Every write gives the series a new `change` number, greater than any
// the store gave before, so that a cache can tell whether it still holds the truth.
//
// Every answer is a promise, and of one moment; two answers need not be of the same one. So what belongs together is
// answered together: bars with the figures of their series, a write with what stood there before it.
//
// Memory (for tests) and LMDB (`store/lmdb-bars.ts`) implement it; `tests/market/bar-store.conformance.ts` is what
// both must pass.

import { marketName } from '../lib/text.ts'
import {
  type BarRange,
  type Bars,
  concatBars,
  copyBars,
  emptyBars,
  mergeBars,
  selectBars,
  sliceBars,
} from './bars.ts'
import type { SymbolInfo } from './symbol.ts'

export interface SeriesKey {
  /** The user whose private bars they are; absent or '' = everybody reads them. */
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
  /** The last bar of the write that made the series: what came behind it is news. Absent in older data. */
  readonly begun?: number | undefined
  readonly change: number
}

/** What came to a series, or left it, since its note was cleared: alerts have to look at it. */
export interface BarNote {
  readonly key: SeriesKey
  /** Times of the first and last bar that changed. */
  readonly from: number
  readonly to: number
  /** Number of the last change. */
  readonly change: number
}

export interface UpsertResult {
  readonly inserted: number
  readonly updated: number
  readonly change: number
  /** The series right before the write and right after it; null where it was not there. */
  readonly before: SeriesInfo | null
  readonly series: SeriesInfo | null
}

/** Bars, and the series they are of as it was when they were read; null where there is none. */
export interface SeriesBars {
  readonly bars: Bars
  readonly series: SeriesInfo | null
}

/** Makes columns that bars are read into: for so many, or more. */
export type MakeColumns = (length: number) => Bars

export interface BarStore {
  /** All or nothing, and on disk when it resolves. `bars` are sorted by time without duplicates; none is a no-op. */
  upsert(key: SeriesKey, bars: Bars): Promise<UpsertResult>
  /**
   * The bars are a view of columns that `make` made for them, and nobody else writes to; empty where there is no such
   * series. Only what lies in the range is read, and other work has its turn meanwhile.
   */
  read(key: SeriesKey, range?: BarRange, make?: MakeColumns): Promise<SeriesBars>
  info(key: SeriesKey): Promise<SeriesInfo | null>
  /** Everybody's and everyone's own, sorted by exchange, symbol, interval's text and owner. `of` = of that owner's symbol alone. */
  list(of?: Omit<SeriesKey, 'interval'>): Promise<SeriesInfo[]>
  /** false where there was none. */
  remove(key: SeriesKey): Promise<boolean>
  /** Room for the bars of a large import, which nobody sees before it is committed. */
  draft(key: SeriesKey): BarDraft
  /** Written in the commit of the bars they tell of, so a stop in between loses none. At most 1,000, in no order. */
  notes(): Promise<BarNote[]>
  /** Forgets a note, unless the series has changed since. */
  clearNote(note: Pick<BarNote, 'key' | 'change'>): Promise<void>
  /** Removes what interrupted imports left behind. To be called before the first draft of this process. */
  sweep(): Promise<void>
  /** The facts that everybody sees, or those that `owner` set for themselves. */
  symbol(exchange: string, symbol: string, owner?: string): Promise<SymbolInfo | null>
  /** Everybody's and everyone's own, sorted by exchange, symbol and owner. */
  symbols(): Promise<SymbolInfo[]>
  putSymbol(info: SymbolInfo): Promise<void>
  /** Forgets the facts that somebody set; of `owner` '' everybody's. */
  removeSymbol(exchange: string, symbol: string, owner: string): Promise<void>
}

/** Bars on their way into a series, in any number of steps; ends with `commit` or `discard`. */
export interface BarDraft {
  /** `bars` are sorted, and all of them lie before or all behind every bar that was added already. */
  add(bars: Bars): Promise<void>
  /** What was added so far, sorted. */
  read(range?: BarRange): Promise<Bars>
  /** Like one `upsert` of all of it. */
  commit(): Promise<UpsertResult>
  discard(): Promise<void>
}

export function seriesKey(exchange: string, symbol: string, interval: string): SeriesKey {
  return { exchange: marketName(exchange), symbol: marketName(symbol), interval }
}

/** The owner of a private series or of private facts; '' = everybody reads them. */
export function ownerOf({ owner = '' }: { readonly owner?: string }): string {
  return owner
}

/** The owner as a field of a record; records of shared series have none. */
export function owned(owner: string): { readonly owner?: string } {
  return owner === '' ? {} : { owner }
}

/** `NASDAQ:AAPL 1d`, as people read it. */
export function seriesName({ exchange, symbol, interval }: SeriesKey): string {
  return `${exchange}:${symbol} ${interval}`
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

export function memoryBars(): BarStore {
  const series = new Map<string, { readonly info: SeriesInfo; readonly bars: Bars }>()
  const symbols = new Map<string, SymbolInfo>()
  const notes = new Map<string, BarNote>()
  let changes = 0
  const idOf = (key: SeriesKey) => `${ownerOf(key)}\0${key.exchange}\0${key.symbol}\0${key.interval}`
  const symbolId = (exchange: string, symbol: string, owner: string) => `${owner}\0${exchange}\0${symbol}`

  function note(series: SeriesKey, from: number, to: number, change: number): void {
    const { exchange, symbol, interval } = series
    const key = { ...owned(ownerOf(series)), exchange, symbol, interval }
    notes.set(idOf(key), mergeNotes(notes.get(idOf(key)) ?? null, { key, from, to, change }))
  }

  const store: BarStore = {
    async upsert(key, bars) {
      const old = series.get(idOf(key))
      const before = old?.info ?? null
      if (bars.length === 0)
        return { inserted: 0, updated: 0, change: before?.change ?? 0, before, series: before }
      // A copy: the caller may go on writing to its columns.
      const merged = concatBars([mergeBars(old?.bars ?? emptyBars(0), bars), emptyBars(0)])
      const change = ++changes
      const { exchange, symbol, interval } = key
      const info: SeriesInfo = {
        ...owned(ownerOf(key)),
        exchange,
        symbol,
        interval,
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
      const columns = make(bars.length)
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
    draft(key) {
      let parts: Bars[] = []
      const sorted = () =>
        concatBars([...parts.toSorted((a, b) => (a.time[0] ?? 0) - (b.time[0] ?? 0)), emptyBars(0)])
      return {
        async add(bars) {
          if (bars.length > 0) parts.push(concatBars([bars, emptyBars(0)]))
        },
        read: async (range = {}) => selectBars(sorted(), range),
        commit() {
          const all = sorted()
          parts = []
          return store.upsert(key, all)
        },
        async discard() {
          parts = []
        },
      }
    },
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
