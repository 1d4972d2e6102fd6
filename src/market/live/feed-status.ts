// How a followed series goes, as it is told of and shown.

import type { SeriesKey } from '../bar-store.ts'
import type { Followed } from './followed.ts'
import { IDLE_MS } from './line.ts'
import type { sourceOf } from './live-providers.ts'

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

/** How a followed series goes. */
export function newsOf(
  { key, line, source, series, polled, streamed, ...one }: Followed,
  now: number,
): FeedNews {
  const { failures, mended, isStopped, filledAt } = one
  const cut = streamed && !streamed.isConnected ? streamed.lastCut : null
  const lastError =
    one.lastError ?? (isStopped ? null : line.error) ?? (cut && `The stream was cut: ${cut.reason}.`)
  const isFresh = streamed ? streamed.series.isLive : filledAt !== null && lastError === null
  const state = isStopped
    ? 'stopped'
    : isFresh
      ? streamed
        ? 'live'
        : 'fresh'
      : failures > 0 || lastError !== null
        ? 'retrying'
        : 'waiting'
  const times = [streamed?.heardAt ?? null, filledAt].filter((time) => time !== null)
  const dueAt = Math.max(now, one.retryAt, Math.min(series.dueAt(now), now + IDLE_MS))
  const turnAt = Math.max(
    now,
    one.retryAt,
    series.dueAt(now),
    one.askedAt + line.roundMs,
    line.heldUntil(now),
  )
  return {
    key,
    state,
    provider: source.provider.name,
    lastSuccessAt: times.length > 0 ? Math.max(...times) : null,
    lastError,
    failures,
    nextAt: isStopped ? null : polled ? turnAt : dueAt,
    ...(streamed && {
      stream: {
        liveSince: streamed.liveSince,
        heardAt: streamed.heardAt,
        cuts: streamed.cuts,
        lastCut: streamed.lastCut,
        mended,
      },
    }),
    ...(polled && {
      poll: {
        everyMs: Math.max(polled.everyMs, line.roundMs),
        sharedBy: line.roundMs > polled.everyMs ? line.polled : null,
        delayMs: source.provider.delayMs?.(key.exchange, source.interval) ?? 0,
        aheadMs: polled.aheadMs,
        mended,
      },
    }),
  }
}

/** How a series goes that nobody can be asked for. */
export function lacking(
  key: SeriesKey,
  { provider, lack }: Extract<ReturnType<typeof sourceOf>, { lack: string }>,
): FeedNews {
  return {
    key,
    state: 'stopped',
    provider: provider?.name ?? null,
    lastSuccessAt: null,
    lastError: lack,
    failures: 0,
    nextAt: null,
  }
}
