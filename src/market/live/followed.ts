// A followed series, as all parts of the keeper know it: where its bars come from, what of it is being written, and how it goes.

import type { SeriesKey } from '../bar-store.ts'
import type { BarRow } from '../providers/provider.ts'
import type { Line, Member } from './line.ts'
import type { Source } from './live-providers.ts'
import type { LiveSeries } from './live-series.ts'
import type { StreamListener, StreamOf } from './streams.ts'

export interface Followed extends Member {
  readonly key: SeriesKey
  readonly source: Source
  /** How long after its end a bar is told of. */
  readonly delayMs: number
  readonly line: Line<Followed>
  readonly streamed: Streamed | null
  /** What is written is written in order; what waits behind a write that failed is not written, since it would leave a hole. */
  writing: Promise<void>
  writes: number
  writesFailed: number
  /** While an answer is taken up: what the stream has closed behind it, which is written after it. */
  behind: (readonly BarRow[])[] | null
  /**
   * Its forming bar, which is shown once all bars before it are stored: an alert that has seen a bar looks at none before it
   * any more.
   */
  formed: BarRow | null
  filledAt: number | null
  /** Bars that REST had and the store had not, or otherwise. */
  mended: number
  failures: number
  lastError: string | null
  /** It is not asked for together with others, which one that is refused would take with it. */
  isAlone: boolean
}

/** What a series with a stream has besides. */
export interface Streamed {
  readonly of: StreamOf
  readonly series: LiveSeries
  readonly listener: StreamListener
  isConnected: boolean
  liveSince: number | null
  heardAt: number | null
  cuts: number
  lastCut: { readonly at: number; readonly reason: string } | null
}

/** What the parts of the keeper ask of it. */
export interface Following {
  /** False also of one that was unfollowed and followed anew, which is another. */
  has(followed: Followed): boolean
  /** Whoever listens is told how it goes, while it is followed. */
  tell(followed: Followed): void
  /** It could not be asked for, or not be stored. */
  failed(followed: Followed, error: unknown): void
  /** Its forming bar is shown, unless bars before it are still to be stored. */
  show(followed: Followed): void
}
