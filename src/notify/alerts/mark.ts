// The mark of a series says up to which bar its alerts were looked at, and how that bar was at the time.
//
// There is one for a series rather than for each alert, so that alerts which a bar does not concern cost nothing. What an
// alert would remember of its last look (whether its condition held) is computed from the mark's bar.

import { BAR_FIELDS, emptyBars, type Bars } from '../../market/bars.ts'
import { seriesOfParts, type SeriesKey } from '../../market/bar-store.ts'
import type { Changes } from '../../store/transaction.ts'
import type { Entry, Key, Reader, Version } from '../../store/kv.ts'

type BarValues = Readonly<Record<(typeof BAR_FIELDS)[number], number>>

export interface Mark extends BarValues {
  /** Change number of the bars that were looked at. */
  readonly change: number
  /** Whether the bar was over. */
  readonly closed: boolean
}

export interface StoredMark {
  readonly mark: Mark | null
  /** null if there is no mark. */
  readonly version: Version | null
}

interface MovableMark extends StoredMark {
  /** Changes whenever an alert is armed against the mark. */
  readonly joined: Version | null
}

/** A series as alerts watch it: `owner` is the user of a private one; '' means everybody's. */
export interface WatchedSeries extends SeriesKey {
  readonly owner: string
}

/** The key of a series in the indexes of alerts. */
export function seriesParts({ owner, exchange, symbol, interval }: WatchedSeries): Key {
  return [owner, exchange, symbol, interval]
}

/** The series of such a key, whatever stands behind it. */
export const watchedOf = ([owner, ...parts]: Key): WatchedSeries => ({
  ...seriesOfParts(parts),
  owner: String(owner),
})

const markKey = (series: WatchedSeries): Key => ['alerts', 'mark', ...seriesParts(series)]
const joinedKey = (series: WatchedSeries): Key => ['alerts', 'joined', ...seriesParts(series)]

export async function readMark(reader: Reader, series: WatchedSeries): Promise<StoredMark> {
  return storedMark(await reader.get(markKey(series)))
}

/** Reads the mark together with what tells whether alerts were armed meanwhile. */
export async function readMarkToMove(reader: Reader, series: WatchedSeries): Promise<MovableMark> {
  const [entry = null, joined = null] = await reader.getMany([markKey(series), joinedKey(series)])
  return { ...storedMark(entry), joined: joined?.version ?? null }
}

function storedMark(entry: Entry | null): StoredMark {
  if (!entry) return { mark: null, version: null }
  return { mark: JSON.parse(entry.value) as Mark, version: entry.version }
}

/** Replaces the mark that was read by `mark`; refused if an alert was armed meanwhile, of which the look does not know. */
export function moveMark(series: WatchedSeries, { version, joined }: MovableMark, mark: Mark): Changes {
  const key = markKey(series)
  return {
    checks: [
      { key, version },
      { key: joinedKey(series), version: joined },
    ],
    sets: [{ key, value: JSON.stringify(mark) }],
  }
}

/**
 * Arms an alert against the mark that was read, or against `mark` if there was none. Any number of users may do so at the
 * same time, since none of them changes what the others have read.
 */
export function joinMark(series: WatchedSeries, { version }: StoredMark, mark: Mark): Changes {
  const key = markKey(series)
  return {
    checks: [{ key, version }],
    sets: [
      { key: joinedKey(series), value: 'null' },
      ...(version === null ? [{ key, value: JSON.stringify(mark) }] : []),
    ],
  }
}

export function markOf(bars: Bars, bar: number, change: number, closed: boolean): Mark {
  return { change, ...valuesOf(bars, bar), closed }
}

export const valuesOf = (bars: Bars, bar: number): BarValues =>
  Object.fromEntries(BAR_FIELDS.map((field) => [field, bars[field][bar] ?? Number.NaN])) as BarValues

/** The mark's bar, as it was seen. */
export function barOf(mark: Mark): Bars {
  const bar = emptyBars(1)
  for (const field of BAR_FIELDS) bar[field][0] = mark[field]
  return bar
}
