// Forming bars where they count: alerts see them behind the stored ones, and charts are told of those that somebody looks at.
//
// A forming bar has no note in the store, so series whose forming bar has changed are collected here for the queue of looks,
// and each forming bar gives its series another change number, which a look compares.

import type { Clock } from '../../lib/clock.ts'
import { Listeners } from '../../lib/listeners.ts'
import type { BarCache } from '../../market/bar-cache.ts'
import { ownerOf, type SeriesInfo, type SeriesKey, seriesName } from '../../market/bar-store.ts'
import { type BarRange, type BarRow, type Bars, rowAt, selectBars } from '../../market/bars.ts'
import { type Calendar, calendarOf } from '../../market/calendar.ts'
import { type Interval, parseInterval } from '../../market/interval.ts'
import { type FormingBars, withLive } from '../../market/live/forming-bars.ts'

export interface LiveBarsDeps {
  readonly bars: BarCache
  readonly forming: FormingBars
  readonly clock: Clock
}

/** The forming bar of a series that somebody looks at. */
export interface FormingOf {
  readonly key: SeriesKey
  readonly row: BarRow
}

/** Alerts look at a forming bar so often. */
const LOOK_MS = 2000
/** Charts are told of one so often. */
const TELL_MS = 250
/** Who looks at a chart says so again within this time. */
export const WATCHED_MS = 150_000
const WATCHED_MAX = 10_000

interface Watched {
  readonly key: SeriesKey
  until: number
  toldAt: number
}

export class LiveBars {
  readonly #deps: LiveBarsDeps
  readonly #stirred = new Map<string, SeriesKey>()
  readonly #lookedAt = new Map<string, number>()
  readonly #watched = new Map<string, Watched>()
  readonly #listeners = new Listeners<[one: FormingOf]>()
  readonly #onStirred = new Listeners<[]>()

  constructor(deps: LiveBarsDeps) {
    this.#deps = deps
    deps.forming.onChange((key) => this.#changed(key))
  }

  #changed(key: SeriesKey): void {
    const isFirst = this.#stirred.size === 0
    this.#stirred.set(seriesName(key), key)
    if (isFirst) this.#onStirred.tell()
    const now = this.#deps.clock.now()
    for (const [name, one] of this.#watched) {
      if (one.key.exchange !== key.exchange || one.key.symbol !== key.symbol) continue
      if (one.until < now) this.#watched.delete(name)
      // What cannot be read now is told of with the next trade.
      else if (Math.abs(now - one.toldAt) >= TELL_MS) this.#tell(one).catch(() => {})
    }
  }

  async #tell(one: Watched): Promise<void> {
    one.toldAt = this.#deps.clock.now()
    const { row } = await this.formingOf(one.key)
    if (row) this.#listeners.tell({ key: one.key, row })
  }

  /** The forming bar that a series is to be read with, if there is one that is not over. */
  async #rowFor(key: SeriesKey, source: SeriesInfo | null): Promise<Found | null> {
    const { bars, forming, clock } = this.#deps
    // Only what everybody sees is followed.
    if (!source || ownerOf(source) !== '') return null
    const found = forming.get(source)
    const interval = parseInterval(key.interval)
    const own = parseInterval(source.interval)
    if (!found || !interval || !own) return null
    const calendar = calendarOf(await bars.symbol(key.exchange, key.symbol, ownerOf(key)))
    if (calendar.period(found.row[0], own).end + found.delayMs <= clock.now()) return null
    return { ...found, interval, calendar, isOwn: source.interval === key.interval }
  }

  /** Stored bars with the forming one. */
  async look(key: SeriesKey, range: BarRange): Promise<Awaited<ReturnType<BarCache['look']>>> {
    const { bars } = this.#deps
    const read = await bars.look(key, range)
    const found = await this.#rowFor(key, read.source)
    if (!found || !read.source) return read
    // It may have been closed meanwhile: behind the bars that were read it would be the next but one.
    if ((await bars.source(key))?.change !== read.source.change) return this.look(key, range)
    const source = { ...read.source, change: read.source.change + found.version }
    return { bars: await this.#inRange(key, range, read.bars, found), source }
  }

  /** The same range of the bars with the forming one. */
  async #inRange(key: SeriesKey, range: BarRange, stored: Bars, found: Found): Promise<Bars> {
    const { row, interval, calendar, isOwn } = found
    const opens = isOwn ? row[0] : calendar.period(row[0], interval).start
    const isFull = range.first !== undefined && stored.length >= range.first
    if (opens < (range.from ?? -Infinity) || opens >= (range.to ?? Infinity) || isFull) return stored
    // The bar that it belongs to may be stored in part.
    const isWhole = stored.length > 0 || range.last !== undefined
    const whole = isWhole ? stored : await this.#deps.bars.read(key, { last: 1 })
    return selectBars(withLive(whole, row, interval, found), range)
  }

  /** The bar of a series that is not over, from whichever series it is made of. */
  async formingOf(key: SeriesKey): Promise<{ readonly row: BarRow | null; readonly isLive: boolean }> {
    const { bars, forming } = this.#deps
    const source = await bars.source(key)
    const found = await this.#rowFor(key, source)
    if (!found) return { row: null, isLive: source !== null && forming.get(source) !== null }
    const last = withLive(await bars.read(key, { last: 1 }), found.row, found.interval, found)
    return { row: rowAt(last, last.length - 1), isLive: true }
  }

  async source(key: SeriesKey) {
    const source = await this.#deps.bars.source(key)
    const found = await this.#rowFor(key, source)
    return source && found ? { ...source, change: source.change + found.version, isForming: true } : source
  }

  /** Somebody looks at the series for a while; `onForming` is told of it then. */
  watch(key: SeriesKey): void {
    const watched = this.#watched
    const name = seriesName(key)
    const now = this.#deps.clock.now()
    if (!watched.has(name) && watched.size >= WATCHED_MAX)
      for (const [other, { until }] of watched) if (until < now) watched.delete(other)
    if (watched.size >= WATCHED_MAX) return
    watched.set(name, { key, until: now + WATCHED_MS, toldAt: watched.get(name)?.toldAt ?? 0 })
  }

  onForming(listener: (one: FormingOf) => void): () => void {
    return this.#listeners.add(listener)
  }

  /** `listener` is called when there is a series to look at, and there was none. */
  onStirred(listener: () => void): () => void {
    return this.#onStirred.add(listener)
  }

  /** Whether there are series to look at, now or in a moment. */
  get isAny(): boolean {
    return this.#stirred.size > 0
  }

  /** Series to look at, each once in a while. */
  *due(): Generator<SeriesKey> {
    const now = this.#deps.clock.now()
    for (const [name, at] of this.#lookedAt) if (Math.abs(now - at) >= LOOK_MS) this.#lookedAt.delete(name)
    for (const [name, key] of this.#stirred) {
      if (this.#lookedAt.has(name)) continue
      this.#stirred.delete(name)
      this.#lookedAt.set(name, now)
      yield key
    }
  }
}

interface Found {
  readonly row: BarRow
  readonly version: number
  readonly interval: Interval
  readonly calendar: Calendar
  readonly isOwn: boolean
}
