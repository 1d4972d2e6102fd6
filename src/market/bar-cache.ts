// Decoded series in shared memory, in front of a BarStore.
//
// A backtest reads the same bars again and again, and workers should read them without a copy. So a series is
// decoded once, into shared memory with room to grow, and views of it are handed out. A view never changes: bars
// behind its end may be added. Bars that replace others near the end, as a forming bar is replaced all day, are kept beside
// them: who asks for a few bars gets a copy of a few, and who asks for all has them put together in memory, once. A series
// that is built from a finer one is built again from the first of its bars that changed.
// The change number of the store says whether what we hold is still true, also when another process (the command
// line importing into a running server's database) wrote to it.

import { Problem } from '../lib/problem.ts'
import {
  type BarRange,
  type Bars,
  concatBars,
  copyBars,
  emptyBars,
  lowerBound,
  mergeBars,
  selectBars,
  sliceBars,
} from './bars.ts'
import {
  type BarDraft,
  type BarStore,
  type SeriesInfo,
  type SeriesKey,
  ownerOf,
  seriesName,
  type UpsertResult,
} from './bar-store.ts'
import { calendarOf } from './calendar.ts'
import { canBuild, compareIntervals, parseInterval } from './interval.ts'
import { resample } from './resample.ts'
import type { SymbolInfo } from './symbol.ts'
import { defaultSymbol } from './symbols.ts'

/** What was written to a series. */
export interface BarChange extends UpsertResult {
  readonly key: SeriesKey
  /** Time of the newest bar that was written. */
  readonly last: number
  /** Time of the newest bar before the write; null where the series is new. */
  readonly previousLast: number | null
}

interface CachedSeries {
  readonly change: number
  /** Length counts the bars that are there; the columns behind it have room for more. */
  readonly room: Bars
  readonly length: number
  readonly bytes: number
  /** The bars behind those: what was replaced since the columns were made, or built since. */
  readonly tail: Bars
  /** What it was built from; null where it is a series of the store. */
  readonly source: string | null
  /** Time of the first bar of its source that changed since it was built. */
  readonly staleFrom: number
}

const FRESH = { tail: emptyBars(0), staleFrom: Infinity } as const
/** Bars that are copied rather than put together with all the others. */
const TAIL_BARS = 4096

const BYTES_A_BAR = 48
/** Room behind the last bar, as a fraction of the length: a day of new bars should not cost decoding a year of old ones. */
const ROOM_FRACTION = 1 / 64
const ROOM_MIN = 256

export class BarCache {
  readonly store: BarStore
  readonly bytesMax: number
  // In order of use, the oldest first; `#bytes` is the sum of their bytes, and never above bytesMax for long.
  readonly #series = new Map<string, CachedSeries>()
  readonly #listeners = new Set<(change: BarChange) => void>()
  #bytes = 0

  constructor(store: BarStore, { bytesMax = 256 * 1024 * 1024 }: { readonly bytesMax?: number } = {}) {
    this.store = store
    this.bytesMax = bytesMax
  }

  get bytes(): number {
    return this.#bytes
  }

  /** What is known of the symbol: what `owner` set for themselves, else what is set for everybody, else our guess. */
  symbol(exchange: string, symbol: string, owner = ''): SymbolInfo {
    const own = owner === '' ? null : this.store.symbol(exchange, symbol, owner)
    const info = own ?? this.store.symbol(exchange, symbol) ?? defaultSymbol(exchange, symbol)
    // A run is not told whose facts they are: the same facts must give the same report.
    const { owner: _owner, ...facts } = info
    return facts
  }

  /** The stored series that answers for `key`: itself, or else the coarsest of the same owner from which it can be built. */
  source(key: SeriesKey): SeriesInfo | null {
    const own = this.store.info(key)
    const wanted = own ? null : parseInterval(key.interval)
    if (!wanted) return own
    const finer = this.store
      .list()
      .filter((info) => isSameSymbol(info, key) && ownerOf(info) === ownerOf(key))
      .flatMap((info) => {
        const interval = parseInterval(info.interval)
        return interval && compareIntervals(interval, wanted) < 0 && canBuild(wanted, interval)
          ? [{ info, interval }]
          : []
      })
      .sort((a, b) => compareIntervals(b.interval, a.interval))
    return finer[0]?.info ?? null
  }

  /**
   * A view, not a copy: do not write to it. Empty where neither the series nor a finer one is there. `info` tells when
   * sessions open, for a series that is built from a finer one: its reader may have other facts than everybody.
   */
  read(
    key: SeriesKey,
    range: BarRange = {},
    info: SymbolInfo = this.symbol(key.exchange, key.symbol, ownerOf(key)),
  ): Bars {
    const source = this.source(key)
    if (!source) return emptyBars(0)
    const id = builtId(key, source, info)
    const cached = this.#series.get(id)
    if (cached && cached.change === source.change) {
      const current = this.#brought(cached, key, source, info)
      if (current) {
        this.#series.delete(id)
        this.#series.set(id, current)
        return fewOf(current, range) ?? selectBars(this.#together(id, current), range)
      }
    }
    const built = source.interval === key.interval ? null : this.#build(key, source, info)
    if (!built && source.count * BYTES_A_BAR > this.bytesMax) return shared(this.store.read(key, range))
    const bars = built ?? this.store.read(key)
    const kept = this.#room(id, bars, { change: source.change, source: built && idOf(source) })
    return selectBars(kept, range)
  }

  /** Keeps a series in columns of its own, with room behind. */
  #room(id: string, bars: Bars, rest: Pick<CachedSeries, 'change' | 'source'>): Bars {
    const room = shared(bars, Math.max(ROOM_MIN, Math.floor(bars.length * ROOM_FRACTION)))
    this.#keep(id, { ...FRESH, ...rest, room, length: bars.length, bytes: room.length * BYTES_A_BAR })
    return sliceBars(room, 0, bars.length)
  }

  #together(id: string, { room, length, tail, change, source }: CachedSeries): Bars {
    const before = sliceBars(room, 0, length)
    return tail.length === 0 ? before : this.#room(id, concatBars([before, tail]), { change, source })
  }

  /** A series that is built, brought to where its source is; null where it is as well built whole. */
  #brought(cached: CachedSeries, key: SeriesKey, source: SeriesInfo, info: SymbolInfo): CachedSeries | null {
    const { room, length, tail, staleFrom } = cached
    if (staleFrom === Infinity) return cached
    const near = concatBars([sliceBars(room, Math.max(0, length - TAIL_BARS), length), tail])
    // The bar that changed, the one before it, since a day may be dated later than its bars, and where to read from.
    const begin = lowerBound(near.time, staleFrom + 1) - 2
    const from = near.time[begin]
    const readFrom = near.time[begin - 1]
    if (from === undefined || readFrom === undefined) return null
    const built = this.#build(key, source, info, { from: readFrom })
    if (!built) return null
    const kept = lowerBound(room.time.subarray(0, length), from)
    const after = concatBars([selectBars(tail, { to: from }), selectBars(built, { from })])
    return { ...cached, length: kept, tail: after, staleFrom: Infinity }
  }

  /** Writes to the store. Once the write is on disk the listeners hear of it, in the order of the writes. */
  async upsert(key: SeriesKey, bars: Bars): Promise<UpsertResult> {
    const before = this.store.info(key)
    const result = await this.store.upsert(key, bars)
    if (bars.length === 0) return result
    if (before) this.#follow(key, before, bars, result)
    this.#tell({ ...result, key, last: bars.time.at(-1) ?? 0, previousLast: before?.last ?? null })
    return result
  }

  /** A large import in steps; listeners hear only of its commit. */
  draft(key: SeriesKey): BarDraft {
    const draft = this.store.draft(key)
    let last = Number.NEGATIVE_INFINITY
    return {
      ...draft,
      add: async (bars) => {
        await draft.add(bars)
        last = Math.max(last, bars.time.at(-1) ?? last)
      },
      commit: async () => {
        const before = this.store.info(key)
        const result = await draft.commit()
        this.#drop(idOf(key))
        this.#tell({ ...result, key, last, previousLast: before?.last ?? null })
        return result
      },
    }
  }

  async remove(key: SeriesKey): Promise<boolean> {
    const before = this.store.info(key)
    this.#drop(idOf(key))
    const removed = await this.store.remove(key)
    // The name may mean another series to some users now, and their alerts have to move there.
    if (removed && before) {
      const { change, last } = before
      this.#tell({ key, inserted: 0, updated: 0, change, last, previousLast: last })
    }
    return removed
  }

  /** Returns a function that ends the subscription. */
  onChange(listener: (change: BarChange) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  #tell(change: BarChange): void {
    for (const listener of this.#listeners) listener(change)
  }

  #build(key: SeriesKey, source: SeriesInfo, info: SymbolInfo, range: BarRange = {}): Bars | null {
    const from = parseInterval(source.interval)
    const to = parseInterval(key.interval)
    if (!from || !to) return null
    return resample(this.read(source, range), from, to, calendarOf(info))
  }

  /** What was written to a series goes into what is cached of it, and is known to be missing in what is built from it. */
  #follow(key: SeriesKey, before: SeriesInfo, bars: Bars, result: UpsertResult): void {
    const id = idOf(key)
    for (const [otherId, cached] of this.#series) {
      if (otherId === id) {
        const after = cached.change === before.change ? this.#written(cached, key, bars, result) : null
        if (after) this.#series.set(id, after)
        else this.#drop(id)
      } else if (cached.source === id && cached.change === before.change) {
        const staleFrom = Math.min(cached.staleFrom, bars.time[0] ?? 0)
        this.#series.set(otherId, { ...cached, change: result.change, staleFrom })
      }
    }
  }

  /** Bars behind the last one go into the room that was left, others beside it; null where the next read decodes the series again. */
  #written(cached: CachedSeries, key: SeriesKey, bars: Bars, { change }: UpsertResult): CachedSeries | null {
    const { room, length, tail } = cached
    const from = bars.time[0] ?? 0
    const count = this.store.info(key)?.count
    const isBehind = length === 0 || from > (room.time[length - 1] ?? 0)
    if (isBehind && tail.length === 0 && length + bars.length <= room.length) {
      // Somebody else may have written meanwhile.
      if (count !== length + bars.length) return null
      copyBars(room, length, bars)
      return { ...cached, change, length: count }
    }
    const kept = isBehind ? length : lowerBound(room.time.subarray(0, length), from)
    if (length - kept + tail.length + bars.length > TAIL_BARS) return null
    const replaced = concatBars([sliceBars(room, kept, length), tail])
    // A copy: the caller may go on writing to its columns.
    const after = concatBars([mergeBars(replaced, bars), emptyBars(0)])
    return count === kept + after.length ? { ...cached, change, length: kept, tail: after } : null
  }

  #keep(id: string, series: CachedSeries): void {
    this.#drop(id)
    this.#series.set(id, series)
    this.#bytes += series.bytes
    for (const oldest of this.#series.keys()) {
      if (this.#bytes <= this.bytesMax || oldest === id) break
      this.#drop(oldest)
    }
  }

  #drop(id: string): void {
    const cached = this.#series.get(id)
    if (!cached) return
    this.#bytes -= cached.bytes
    this.#series.delete(id)
  }
}

/** A range that lies near the end of a series with a tail, as a copy; null where it is not known to. */
function fewOf({ room, length, tail }: CachedSeries, range: BarRange): Bars | null {
  if (tail.length === 0) return null
  const begin = Math.max(0, length - TAIL_BARS)
  const near = concatBars([sliceBars(room, begin, length), tail])
  const few = selectBars(near, range)
  const isAll =
    begin === 0 || few.length === range.last || (range.from ?? -Infinity) > (near.time[0] ?? Infinity)
  return isAll && few.length <= TAIL_BARS ? shared(few) : null
}

function shared(bars: Bars, room = 0): Bars {
  const copy = emptyBars(bars.length + room, { shared: true })
  copyBars(copy, 0, bars)
  return copy
}

function idOf(key: SeriesKey): string {
  return `${ownerOf(key)} ${key.exchange}:${key.symbol}:${key.interval}`
}

/** A series built from a finer one also depends on the session, which somebody may change. */
function builtId(key: SeriesKey, source: SeriesInfo, { timezone, session }: SymbolInfo): string {
  if (source.interval === key.interval) return idOf(key)
  return `${idOf(key)} from ${source.interval} in ${timezone} ${session}`
}

export function isSameSymbol(
  a: Pick<SeriesKey, 'exchange' | 'symbol'>,
  b: Pick<SeriesKey, 'exchange' | 'symbol'>,
): boolean {
  return a.exchange === b.exchange && a.symbol === b.symbol
}

/** 404 that says what is cached instead: of the symbol, else of anything. An exchange of '' is not known. */
export function barsNotFound(
  { list }: { readonly list: () => readonly SeriesInfo[] },
  key: SeriesKey,
): Problem {
  const all = list()
  const same = all.filter(
    ({ exchange, symbol }) => symbol === key.symbol && (key.exchange === '' || exchange === key.exchange),
  )
  const named = (same.length > 0 ? same : all).slice(0, 20).map(seriesName)
  const cached =
    named.length > 0 ? `Cached are ${named.join(', ')}.` : 'No bars are cached yet; import some first.'
  return new Problem(404, 'bars_not_found', `There are no bars for this symbol and interval. ${cached}`)
}
