// The mark of a series: how far its alerts were looked at, and the newest bar as it was then.
//
// It is kept once a series and not once an alert, so an alert that a bar means nothing to costs nothing. What an alert
// would remember of its last look (did its condition hold?) is worked out from the mark's bar.

import { emptyBars, type Bars } from '../market/bars.ts'
import type { SeriesKey } from '../market/bar-store.ts'
import type { Changes } from '../store/collection.ts'
import type { Key, Kv, Version } from '../store/kv.ts'

export interface Mark {
  /** Change number of the bars that were looked at. */
  readonly change: number
  readonly time: number
  readonly open: number
  readonly high: number
  readonly low: number
  readonly close: number
  readonly volume: number
  /** Whether the bar was over. */
  readonly closed: boolean
}

export interface StoredMark {
  readonly mark: Mark | null
  /** For `moveMark`: null where there is none. */
  readonly version: Version | null
}

/** A series as alerts watch it: `owner` has the private one, '' is everybody's. */
export interface WatchedSeries extends SeriesKey {
  readonly owner: string
}

/** Under which alerts of a series stand in an index. */
export function seriesParts({ owner, exchange, symbol, interval }: WatchedSeries): Key {
  return [owner, exchange, symbol, interval]
}

const markKey = (series: WatchedSeries): Key => ['alerts', 'mark', ...seriesParts(series)]

export function readMark(kv: Kv, series: WatchedSeries): StoredMark {
  const entry = kv.get(markKey(series))
  return entry
    ? { mark: JSON.parse(entry.value) as Mark, version: entry.version }
    : { mark: null, version: null }
}

/**
 * Puts `mark` where `before` was read. Whoever arms an alert against a mark writes it too, unchanged: so a look that
 * began before, and does not know the alert, can't move the mark past it.
 */
export function moveMark(series: WatchedSeries, { version }: StoredMark, mark: Mark): Changes {
  const key = markKey(series)
  return { checks: [{ key, version }], sets: [{ key, value: JSON.stringify(mark) }] }
}

export function markOf(bars: Bars, bar: number, change: number, closed: boolean): Mark {
  const at = (column: Float64Array) => column[bar] ?? 0
  return {
    change,
    time: at(bars.time),
    open: at(bars.open),
    high: at(bars.high),
    low: at(bars.low),
    close: at(bars.close),
    volume: at(bars.volume),
    closed,
  }
}

/** The mark's bar, as it was seen. */
export function barOf(mark: Mark): Bars {
  const bar = emptyBars(1)
  for (const field of ['time', 'open', 'high', 'low', 'close', 'volume'] as const) bar[field][0] = mark[field]
  return bar
}
