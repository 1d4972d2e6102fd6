// Decoded bars in shared memory, in front of a BarStore.
//
// A backtest reads the same bars again and again, and workers should read them without a copy. So the requested stretch of
// a series is decoded once, into shared memory with room to grow, and readers get views of it. A stretch extends to the
// newest bar, since nearly all readers end there: 500 bars of a million cost one or two chunks. A range in the middle is
// decoded for its reader alone: a chunk takes 0.1 ms, a thousandth of what the reader does with it.
//
// A view never changes; new bars are added behind its end. A forming bar is replaced all day, so bars that replace others
// near the end are kept beside them: a request for a few bars gets a copy of those few, and a request for all of them
// merges both in memory, once. A series that is built from a finer one is built again from its first bar that changed. The
// store's change number says whether the cache still holds the truth, also when another process wrote (the command line may
// import into a running server's database).

import { Listeners } from '../lib/listeners.ts'
import { Problem } from '../lib/problem.ts'
import {
  type BarRange,
  type Bars,
  columnsOf,
  concatBars,
  copyBars,
  emptyBars,
  lowerBound,
  mergeBars,
  selectBars,
  sliceBars,
} from './bars.ts'
import {
  type BarCounts,
  type BarDraft,
  type BarStore,
  type SeriesBars,
  type SeriesInfo,
  type SeriesKey,
  ownerOf,
  seriesName,
  type UpsertResult,
} from './bar-store.ts'
import { calendarOf } from './calendar.ts'
import { contractLacking } from './continuous.ts'
import { canBuild, compareIntervals, parseInterval } from './interval.ts'
import { resampleInSteps } from './resample.ts'
import type { SymbolInfo } from './symbol.ts'
import { defaultSymbol } from './symbols.ts'

export interface BarChange extends BarCounts {
  readonly change: number
  readonly key: SeriesKey
  /** Time of the newest bar in the write. */
  readonly last: number
  /** Time of the newest bar before the write; null if the series is new. */
  readonly previousLast: number | null
}

type Facts = () => Promise<SymbolInfo>

/** Bars, and the series they were read or built from as it was at that moment; null if there is none. */
export interface ReadBars {
  readonly bars: Bars
  readonly source: SeriesInfo | null
}

/** A cached stretch of a series, up to the series' end. */
interface CachedSeries {
  /** The series it was read or built from, as it was at that moment. */
  readonly source: SeriesInfo
  /** All bars from this time on are cached; -∞ if the whole series is. */
  readonly from: number
  /** The first `length` bars are valid; the columns have room for more. */
  readonly room: Bars
  readonly length: number
  readonly bytes: number
  /** Bars behind those: replaced since the columns were made, or built since. */
  readonly tail: Bars
  readonly isBuilt: boolean
  /** Time of the first source bar that changed since the series was built. */
  readonly staleFrom: number
}

const FRESH = { tail: emptyBars(0), staleFrom: Infinity } as const
/** Up to this many bars are copied instead of being merged with all the others. */
const TAIL_BARS = 4096
/** The length of a stretch is a multiple of this, so that a request for one more bar needs no stretch of its own. */
const STRETCH_BARS = 4096
/** Up to this many bars are merged in one go, which takes some 3 ms; more are better decoded again, in steps. */
const TOGETHER_BARS = 131_072

/** Room behind the last bar, as a fraction of the length: a day of new bars should not force decoding a year of old ones. */
const ROOM_FRACTION = 1 / 64
const ROOM_MIN = 256

export class BarCache {
  readonly store: BarStore
  readonly bytesMax: number
  // In order of use, the least recent first. `#bytes` is the sum of their sizes and exceeds bytesMax only briefly.
  readonly #series = new Map<string, CachedSeries>()
  readonly #listeners = new Listeners<[change: BarChange]>()
  readonly #loading = new Map<string, Promise<unknown>>()
  #bytes = 0

  constructor(store: BarStore, { bytesMax = 256 * 1024 * 1024 }: { readonly bytesMax?: number } = {}) {
    this.store = store
    this.bytesMax = bytesMax
  }

  get bytes(): number {
    return this.#bytes
  }

  /** A symbol's facts: the owner's own, else those set for everybody, else our guess. */
  async symbol(exchange: string, symbol: string, owner = ''): Promise<SymbolInfo> {
    const own = owner === '' ? null : await this.store.symbol(exchange, symbol, owner)
    const info = own ?? (await this.store.symbol(exchange, symbol)) ?? defaultSymbol(exchange, symbol)
    // A run must not see whose facts they are: the same facts must give the same report.
    const { owner: _owner, ...facts } = info
    return facts
  }

  /**
   * The stored series that answers for `key`: the series itself, or else the coarsest one of the same owner from which it
   * can be built.
   */
  async source(key: SeriesKey): Promise<SeriesInfo | null> {
    const own = await this.store.info(key)
    const wanted = own ? null : parseInterval(key.interval)
    if (!wanted) return own
    const finer = (await this.store.list(key))
      .flatMap((info) => {
        const interval = parseInterval(info.interval)
        return interval && compareIntervals(interval, wanted) < 0 && canBuild(wanted, interval)
          ? [{ info, interval }]
          : []
      })
      .sort((a, b) => compareIntervals(b.interval, a.interval))
    return finer[0]?.info ?? null
  }

  /** The bars alone of what `look` answers. */
  async read(key: SeriesKey, range: BarRange = {}, facts?: Facts): Promise<Bars> {
    return (await this.look(key, range, facts)).bars
  }

  /**
   * Answers a view, not a copy: do not write to it. It is empty if neither the series nor a finer one exists. `facts` tell
   * when sessions open, for a series built from a finer one; the reader may have set facts of their own.
   */
  async look(
    key: SeriesKey,
    range: BarRange = {},
    facts: Facts = () => this.symbol(key.exchange, key.symbol, ownerOf(key)),
  ): Promise<ReadBars> {
    return this.lookFrom(await this.source(key), key, range, facts)
  }

  /** The same of a source that has just been asked for. */
  async lookFrom(
    source: SeriesInfo | null,
    key: SeriesKey,
    range: BarRange,
    facts: Facts,
  ): Promise<ReadBars> {
    if (!source) return { bars: emptyBars(0), source }
    if (source.interval === key.interval) return this.#stored(key, source, range)
    return this.#built(key, source, range, await facts())
  }

  async #stored(key: SeriesKey, source: SeriesInfo, range: BarRange): Promise<ReadBars> {
    const id = idOf(key)
    for (;;) {
      const cached = this.#current(id, source)
      const held = cached && this.#held(id, cached, range)
      if (held) return { bars: held, source: cached.source }
      const stretch = stretchOf(source, range)
      if (!stretch) break
      const loading = this.#loading.get(id)
      // Only one of two readers decodes; the other takes what it needs from the result, or goes on from there.
      if (loading) await loading
      else {
        const { bars, series } = await this.#load(id, key, stretch)
        return { bars: selectBars(bars, range), source: series }
      }
    }
    const { bars, series } = await this.store.read(key, range, sharedColumns)
    return { bars, source: series }
  }

  /** Reads a stretch up to the newest bar and caches it. */
  #load(id: string, key: SeriesKey, range: BarRange): Promise<SeriesBars> {
    const load = async () => {
      let made = emptyBars(0)
      const read = await this.store.read(
        key,
        range,
        (length) => (made = sharedColumns(length + roomFor(length))),
      )
      const { bars, series } = read
      // What was bought comes beside the columns that were made.
      const columns = bars.bought ? { ...made, bought: new Float64Array(bars.bought.buffer) } : made
      if (series && bytesOf(columns) <= this.bytesMax) {
        const begin = (bars.time.byteOffset - columns.time.byteOffset) / Float64Array.BYTES_PER_ELEMENT
        this.#keep(id, {
          ...FRESH,
          source: series,
          from:
            bars.length === series.count
              ? -Infinity
              : Math.min(range.from ?? Infinity, bars.time[0] ?? Infinity),
          room: sliceBars(columns, begin, columns.length),
          length: bars.length,
          bytes: bytesOf(columns),
          isBuilt: false,
        })
      }
      return read
    }
    const loading = load().finally(() => this.#loading.delete(id))
    this.#loading.set(id, loading)
    return loading
  }

  async #built(key: SeriesKey, source: SeriesInfo, range: BarRange, info: SymbolInfo): Promise<ReadBars> {
    const id = builtId(key, source, info)
    const cached = this.#current(id, source)
    if (cached) {
      const current = cached.staleFrom === Infinity ? cached : await this.#brought(cached, key, info)
      if (current) {
        // Another reader may have updated it meanwhile.
        if (this.#series.get(id) === cached) this.#replace(id, current)
        return {
          bars: fewOf(current, range) ?? selectBars(this.#together(id, current), range),
          source: current.source,
        }
      }
    }
    const built = await this.#build(key, source, info)
    if (!built) return { bars: emptyBars(0), source }
    const bars = this.#room(id, built.bars, { source: built.source, isBuilt: true })
    return { bars: selectBars(bars, range), source: built.source }
  }

  /** The cached stretch `id`, marked as just used, unless the series has changed since it was cached. */
  #current(id: string, { change }: SeriesInfo): CachedSeries | null {
    const cached = this.#series.get(id)
    if (!cached || cached.source.change < change) return null
    this.#replace(id, cached)
    return cached
  }

  /** Replaces a stretch by its updated version, which counts as just used. */
  #replace(id: string, series: CachedSeries): void {
    this.#series.delete(id)
    this.#series.set(id, series)
  }

  /** The bars of a range if they are cached, else null. */
  #held(id: string, cached: CachedSeries, range: BarRange): Bars | null {
    const few = fewOf(cached, range)
    if (few) return few
    if (!holds(cached, range) || (cached.tail.length > 0 && cached.length > TOGETHER_BARS)) return null
    return selectBars(this.#together(id, cached), range)
  }

  /** Copies bars into columns with room behind the last one. */
  #room(
    id: string,
    bars: Bars,
    rest: Pick<CachedSeries, 'source' | 'isBuilt'> & { readonly from?: number },
  ): Bars {
    const room = shared(bars, roomFor(bars.length))
    const { length } = bars
    this.#keep(id, { ...FRESH, from: -Infinity, ...rest, room, length, bytes: bytesOf(room) })
    return sliceBars(room, 0, length)
  }

  #together(id: string, { room, length, tail, source, from, isBuilt }: CachedSeries): Bars {
    const before = sliceBars(room, 0, length)
    return tail.length === 0 ? before : this.#room(id, concatBars([before, tail]), { source, from, isBuilt })
  }

  /** A built series, updated to the state of its source; null if the whole has to be built again. */
  async #brought(cached: CachedSeries, key: SeriesKey, info: SymbolInfo): Promise<CachedSeries | null> {
    const { room, length, tail, staleFrom, source } = cached
    const near = concatBars([sliceBars(room, Math.max(0, length - TAIL_BARS), length), tail])
    // Begins one bar before the changed one, since a day may be dated later than its bars, and reads from one earlier still.
    const begin = lowerBound(near.time, staleFrom + 1) - 2
    const from = near.time[begin]
    const readFrom = near.time[begin - 1]
    if (from === undefined || readFrom === undefined) return null
    const built = await this.#build(key, source, info, { from: readFrom })
    // A write during the read may concern earlier bars.
    if (built?.source.change !== source.change) return null
    const kept = lowerBound(room.time.subarray(0, length), from)
    const after = concatBars([selectBars(tail, { to: from }), selectBars(built.bars, { from })])
    return { ...cached, length: kept, tail: after, staleFrom: Infinity }
  }

  /** Writes to the store, and tells the listeners once the write is on disk. */
  async upsert(key: SeriesKey, bars: Bars, pieces?: ReadonlySet<number>): Promise<UpsertResult> {
    const result = await this.store.upsert(key, bars, pieces)
    const { before, series } = result
    if (bars.length === 0) return result
    // Only the store knows which of the pieces took the place of a bar.
    if (pieces?.size) this.#drop(idOf(key))
    else if (before && series) this.#follow(before, series, bars)
    this.#tell({ ...result, key, last: bars.time.at(-1) ?? 0, previousLast: before?.last ?? null })
    return result
  }

  /** Begins a large import in steps; listeners are told only of its commit. */
  draft(key: SeriesKey): BarDraft {
    const draft = this.store.draft(key)
    let last = Number.NEGATIVE_INFINITY
    return {
      ...draft,
      add: async (bars) => {
        await draft.add(bars)
        last = Math.max(last, bars.time.at(-1) ?? last)
      },
      commit: async (pieces) => {
        const result = await draft.commit(pieces)
        this.#drop(idOf(key))
        this.#tell({ ...result, key, last, previousLast: result.before?.last ?? null })
        return result
      },
    }
  }

  async remove(key: SeriesKey): Promise<boolean> {
    const before = await this.store.info(key)
    this.#drop(idOf(key))
    const removed = await this.store.remove(key)
    // The name may now mean another series to some users, so their alerts have to move there.
    if (removed && before) {
      const { change, last } = before
      this.#tell({ key, inserted: 0, updated: 0, change, last, previousLast: last })
    }
    return removed
  }

  /** Another process wrote to the series, or removed it. What is cached of it is looked at when it is read again. */
  async changedElsewhere(key: SeriesKey, { inserted, updated }: BarCounts): Promise<void> {
    const series = await this.store.info(key)
    if (!series) this.#drop(idOf(key))
    const { change, last } = series ?? { change: 0, last: 0 }
    this.#tell({ key, inserted, updated, change, last, previousLast: last })
  }

  /** Returns a function that ends the subscription. */
  onChange(listener: (change: BarChange) => void): () => void {
    return this.#listeners.add(listener)
  }

  #tell(change: BarChange): void {
    this.#listeners.tell(change)
  }

  async #build(
    key: SeriesKey,
    source: SeriesInfo,
    info: SymbolInfo,
    range: BarRange = {},
  ): Promise<{ readonly bars: Bars; readonly source: SeriesInfo } | null> {
    const from = parseInterval(source.interval)
    const to = parseInterval(key.interval)
    if (!from || !to) return null
    const finer = await this.#stored(source, source, range)
    if (!finer.source) return null
    return { bars: await resampleInSteps(finer.bars, from, to, calendarOf(info)), source: finer.source }
  }

  /** Applies a write to the cached stretches of its series, and marks as stale what was built from it. */
  #follow(before: SeriesInfo, source: SeriesInfo, bars: Bars): void {
    const id = idOf(source)
    for (const [otherId, cached] of this.#series) {
      // A stretch that was read after the write has it already.
      if (idOf(cached.source) !== id || cached.source.change >= source.change) continue
      if (cached.source.change !== before.change) this.#drop(otherId)
      else if (cached.isBuilt) {
        const staleFrom = Math.min(cached.staleFrom, bars.time[0] ?? 0)
        this.#series.set(otherId, { ...cached, source, staleFrom })
      } else {
        const after = written(cached, source, bars)
        if (after) this.#series.set(otherId, after)
        else this.#drop(otherId)
      }
    }
  }

  #keep(id: string, series: CachedSeries): void {
    // A faster reader may have cached a newer stretch.
    if ((this.#series.get(id)?.source.change ?? 0) > series.source.change) return
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

/**
 * Puts bars behind the last one into the spare room, and others beside it; null if the next read has to decode the series
 * again.
 */
function written(cached: CachedSeries, source: SeriesInfo, bars: Bars): CachedSeries | null {
  const { room, length, tail } = cached
  const news = selectBars(bars, { from: cached.from })
  if (news.length === 0) return { ...cached, source }
  const from = news.time[0] ?? 0
  const isBehind = length === 0 || from > (room.time[length - 1] ?? 0)
  // A cache without a column for what was bought would lose it.
  if (news.bought && !room.bought) return null
  if (isBehind && tail.length === 0 && length + news.length <= room.length) {
    copyBars(room, length, news)
    return { ...cached, source, length: length + news.length }
  }
  const kept = isBehind ? length : lowerBound(room.time.subarray(0, length), from)
  if (length - kept + tail.length + news.length > TAIL_BARS) return null
  const replaced = concatBars([sliceBars(room, kept, length), tail])
  // Copied, because the caller may reuse its columns.
  const after = concatBars([mergeBars(replaced, news), emptyBars(0)])
  return { ...cached, source, length: kept, tail: after }
}

/** Whether all bars of the range are cached. */
function holds({ room, length, tail, from: begin }: CachedSeries, range: BarRange): boolean {
  const { from = -Infinity, to = Infinity, last = Infinity } = range
  if (from >= begin) return true
  // A request for the last n bars needs only n bars before its end.
  const before = lowerBound(room.time.subarray(0, length), to) + lowerBound(tail.time, to)
  return range.first === undefined && before >= last
}

/**
 * Widens a range up to the newest bar, so that the stretch serves other requests too; null if the range ends long before
 * that.
 */
function stretchOf(source: SeriesInfo, range: BarRange): BarRange | null {
  const { from, to = Infinity, first = Infinity, last } = range
  const { count, first: begin, last: end } = source
  if (from === undefined) {
    if (to <= end || first < count) return null
    const rounded = Math.ceil((last ?? count) / STRETCH_BARS) * STRETCH_BARS
    return rounded >= count ? {} : { last: rounded }
  }
  // An estimate from the average distance; the bars in the range may lie closer together.
  const spacing = Math.max(1, end - begin) / count
  const behind = (end - from) / spacing
  const wanted = Math.min(first, (Math.min(to, end) - from) / spacing)
  if (behind > STRETCH_BARS && wanted < behind / 2) return null
  const early = Math.min(from, end - STRETCH_BARS * spacing)
  return early <= begin ? {} : { from: early }
}

/** A copy of a range near the end of a series with a tail; null if the range may reach further back. */
function fewOf({ room, length, tail, from }: CachedSeries, range: BarRange): Bars | null {
  if (tail.length === 0) return null
  const begin = Math.max(0, length - TAIL_BARS)
  const near = concatBars([sliceBars(room, begin, length), tail])
  const few = selectBars(near, range)
  const isAll =
    (begin === 0 && from === -Infinity) ||
    (few.length === range.last && range.first === undefined) ||
    (range.from ?? -Infinity) > (near.time[0] ?? Infinity)
  return isAll && few.length <= TAIL_BARS ? shared(few) : null
}

const sharedColumns = (length: number) => emptyBars(length, { shared: true })

const roomFor = (length: number) => Math.max(ROOM_MIN, Math.floor(length * ROOM_FRACTION))

function shared(bars: Bars, room = 0): Bars {
  const copy = emptyBars(bars.length + room, { shared: true, sides: bars.bought !== undefined })
  copyBars(copy, 0, bars)
  return copy
}

const bytesOf = (bars: Bars) => columnsOf(bars).reduce((sum, { byteLength }) => sum + byteLength, 0)

function idOf(key: SeriesKey): string {
  return `${ownerOf(key)} ${key.exchange}:${key.symbol}:${key.interval}`
}

/** A series built from a finer one also depends on the session, which users may change. */
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

/** Says which bars a series has, to somebody who asked for others. */
export function spanThere(series: SeriesInfo): string {
  const { first, last } = series
  const time = (ms: number) => new Date(ms).toISOString().replace(/(T00:00)?:00\.000Z$/, '')
  return first > last
    ? `${seriesName(series)} has no bars: of the series in its formula one begins (${time(first)}) after another has ended (${time(last)}).`
    : `${seriesName(series)} has bars from ${time(first)} to ${time(last)} (UTC).`
}

/**
 * A 404 that says what is there instead: the span of the series, series of the symbol, or else any. An exchange of '' is
 * unknown.
 */
export async function barsNotFound(
  {
    list,
    source,
  }: {
    readonly list: () => Promise<readonly SeriesInfo[]>
    readonly source?: (key: SeriesKey) => Promise<SeriesInfo | null>
  },
  key: SeriesKey,
): Promise<Problem> {
  const there = await source?.(key)
  if (there) return new Problem(404, 'bars_not_found', spanThere(there))
  const all = await list()
  const lacking = contractLacking(all, key)
  if (lacking !== null) return new Problem(404, 'bars_not_found', lacking)
  const same = all.filter(
    ({ exchange, symbol }) => symbol === key.symbol && (key.exchange === '' || exchange === key.exchange),
  )
  const named = (same.length > 0 ? same : all).slice(0, 20).map(seriesName)
  const cached =
    named.length > 0 ? `Cached are ${named.join(', ')}.` : 'No bars are cached yet; import some first.'
  return new Problem(404, 'bars_not_found', `There are no bars for this symbol and interval. ${cached}`)
}
