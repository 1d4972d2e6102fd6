// Keeps the last chunk of a series small, since it is the one that is written all day.
//
// A row that is changed goes into the database's log as a whole, and a full chunk has 52 kB on average. So bars that come
// at the end have a chunk of their own, and what lies before the bars being written is put behind the chunk before it
// once there are enough of them. A bar then costs its small chunk, and a 64th of a large one.

import { type Bars, concatBars, lowerBound, sliceBars } from '../../market/bars.ts'
import { CHUNK_BARS, chunkLength, chunksOf, decodeAll, encodeChunk } from '../bar-chunks.ts'

/** Bars of the last chunk, but for a write that brings more of them. */
export const TAIL_BARS = 64

export interface LastChunk {
  /** Time of its first bar. */
  readonly first: number
  readonly bars: Bars
}

interface Written {
  readonly parts: ReadonlyMap<number, Uint8Array>
  /** First times of chunks that go. */
  readonly gone: readonly number[]
}

/**
 * What to write for bars from `from` on that go into the last chunk or behind it; `after` is that chunk together with them.
 * `previous` answers the chunk before it.
 */
export async function writtenAtEnd(
  last: LastChunk,
  after: Bars,
  from: number,
  previous: () => Promise<{ readonly first: number; readonly bytes: Uint8Array } | null>,
): Promise<Written> {
  const cut = lowerBound(after.time, from)
  const settled = sliceBars(after, 0, cut)
  const tail = chunksOf(sliceBars(after, cut, after.length))
  if (last.bars.length > TAIL_BARS) {
    // The chunk stays as it is, unless some of its bars are written again.
    if (cut === last.bars.length) return { parts: tail, gone: [] }
    return { parts: new Map([[last.first, encodeChunk(settled)], ...tail]), gone: [] }
  }
  const before = await previous()
  if (!before || chunkLength(before.bytes) + cut > CHUNK_BARS)
    return { parts: new Map([[last.first, encodeChunk(settled)], ...tail]), gone: [] }
  const joined = encodeChunk(concatBars([decodeAll([before.bytes]), settled]))
  return { parts: new Map([[before.first, joined], ...tail]), gone: [last.first] }
}

/** Whether a write from `from` on is one at the end that makes the last chunk too long. */
export function isLongEnd(last: LastChunk, after: Bars, from: number): boolean {
  return from > last.first && after.length > TAIL_BARS
}
