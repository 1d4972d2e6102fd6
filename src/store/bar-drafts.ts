// Bars that are imported piece by piece: kept under an id that no series has, until they become part of one in one step.
//
// Both databases keep bars as chunks by (id, time of the first bar), so an import is the same in both. The old bars of the
// series and the new ones are merged into a third id, a few chunks at a time, and the series is pointed to it if nobody has
// written to it meanwhile; else they are merged again.

import { type BarRange, type Bars, concatBars, emptyBars, mergeBars, sliceBars } from '../market/bars.ts'
import type { BarDraft, SeriesInfo, UpsertResult } from '../market/bar-store.ts'
import { CHUNK_BARS } from './bar-chunks.ts'

/** How many chunks a step of a large write touches: 65,536 bars, 2 MB, some 10 ms. */
export const STEP_CHUNKS = 16

export interface StoredSeries<Id> {
  readonly id: Id
  readonly info: SeriesInfo
}

interface Merged<Id> {
  readonly id: Id
  readonly count: number
}

/** What a database does for an import into one series. */
export interface DraftPort<Id> {
  readonly stored: () => StoredSeries<Id> | null | Promise<StoredSeries<Id> | null>
  /** Adds bars under an id that no series has; `null` makes a new one. Answers the id. */
  readonly extend: (id: Id | null, bars: Bars) => Promise<Id>
  /** A stretch of no more than a few chunks. */
  readonly read: (id: Id, range: BarRange) => Bars | Promise<Bars>
  /** The times at which chunks of either id begin, in order. */
  readonly starts: (ids: readonly [Id, Id]) => readonly number[] | Promise<readonly number[]>
  /** Forgets all chunks of an id that no series has, a few at a time. */
  readonly drop: (id: Id) => Promise<void>
  /** Makes `whole` the series. Answers null if it was written to since `old` was read. */
  readonly publish: (
    old: StoredSeries<Id> | null,
    whole: {
      readonly id: Id
      readonly count: number
      readonly from: number
      readonly to: number
      readonly inserted: number
      readonly updated: number
    },
  ) => Promise<SeriesInfo | null>
}

export function barDraft<Id>(port: DraftPort<Id>): BarDraft {
  let id: Id | null = null
  let added = 0
  let from = Infinity
  let to = -Infinity
  return {
    async add(bars) {
      if (bars.length === 0) return
      id = await port.extend(id, bars)
      added += bars.length
      from = Math.min(from, bars.time[0]!)
      to = Math.max(to, bars.time.at(-1)!)
    },
    read: async (range = {}) => (id === null ? emptyBars(0) : port.read(id, range)),
    async commit(pieces) {
      if (id === null) return nothingWritten(await port.stored())
      for (;;) {
        const old = await port.stored()
        const whole: Merged<Id> = old ? await merged(port, old.id, id, pieces) : { id, count: added }
        const inserted = whole.count - (old?.info.count ?? 0)
        const updated = added - inserted
        const series = await port.publish(old, { ...whole, from, to, inserted, updated })
        if (!series) {
          if (whole.id !== id) await port.drop(whole.id)
          continue
        }
        if (old) await port.drop(old.id)
        if (whole.id !== id) await port.drop(id)
        id = null
        return { inserted, updated, change: series.change, before: old && old.info, series }
      }
    },
    async discard() {
      if (id !== null) await port.drop(id)
      id = null
    },
  }
}

export function nothingWritten(found: Pick<StoredSeries<unknown>, 'info'> | null): UpsertResult {
  const series = found && found.info
  return { inserted: 0, updated: 0, change: series?.change ?? 0, before: series, series }
}

/** Merges both into a new id, with `newer` winning; only a few chunks of each are in memory at a time. */
async function merged<Id>(
  port: DraftPort<Id>,
  older: Id,
  newer: Id,
  pieces?: ReadonlySet<number>,
): Promise<Merged<Id>> {
  const starts = await port.starts([older, newer])
  let id: Id | null = null
  let count = 0
  // Bars that do not fill a chunk wait for the next ones.
  let rest = emptyBars(0)
  for (let at = 0; at < starts.length; at += STEP_CHUNKS) {
    const to = starts[at + STEP_CHUNKS]
    const range = { ...(at > 0 && { from: starts[at] ?? 0 }), ...(to !== undefined && { to }) }
    const [before, after] = await Promise.all([port.read(older, range), port.read(newer, range)])
    const all = concatBars([rest, mergeBars(before, after, pieces)])
    const full = to === undefined ? all.length : all.length - (all.length % CHUNK_BARS)
    rest = sliceBars(all, full, all.length)
    if (full === 0) continue
    id = await port.extend(id, sliceBars(all, 0, full))
    count += full
  }
  return { id: id ?? newer, count }
}
