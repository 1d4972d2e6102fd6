// How a followed series goes, as it is told of and shown.

import type { SeriesKey } from '../bar-store.ts'

type FeedState = 'waiting' | 'live' | 'fresh' | 'retrying' | 'stopped'

/** How a stream goes. */
export interface StreamStatus {
  /** null while it is not there, or bars are missing. */
  readonly liveSince: number | null
  readonly heardAt: number | null
  readonly cuts: number
  readonly lastCut: { readonly at: number; readonly reason: string } | null
  /** Bars that the provider's REST service had and the store had not, or otherwise. */
  readonly mended: number
}

/** How polling goes. */
export interface PollStatus {
  /** How often it is asked for at most, but for the request right after a bar's end. */
  readonly everyMs: number
  /** How many series have to share what the provider allows, if that is why it is asked for no more often. */
  readonly sharedBy: number | null
  /** How much later than they happen the provider tells of bars. */
  readonly delayMs: number
  /** How far this server's clock is ahead of the provider's. */
  readonly aheadMs: number
  readonly mended: number
}

/** The state of a followed series, without what its server alone need not tell. */
export interface FeedNews {
  readonly key: SeriesKey
  readonly state: FeedState
  readonly provider: string | null
  readonly lastSuccessAt: number | null
  readonly lastError: string | null
  /** Number of failures since the last success. */
  readonly failures: number
  /** null if the series is stopped. */
  readonly nextAt: number | null
  /** One of the two is there, once it is known how bars come. */
  readonly stream?: StreamStatus
  readonly poll?: PollStatus
}

export interface FeedStatus extends FeedNews {
  readonly newestBar: number | null
}
