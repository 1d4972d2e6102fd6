// The poller: keeps followed series fresh, one request at a time.
//
// A series is due when its forming bar is over, and a few times while it forms. After a failure, which is shown, it waits
// twice as long each time, up to a quarter of an hour. A symbol that the provider does not know is not requested again.
// After an outage the next fetch begins at the newest cached bar, which closes the gap.

import type { Clock } from '../../lib/clock.ts'
import type { BarCache } from '../bar-cache.ts'
import { type SeriesKey, seriesName } from '../bar-store.ts'
import { intervalMs, parseInterval } from '../interval.ts'
import { fetchSeries, providerOf } from './fetch-bars.ts'
import { type Http, ProviderError } from './provider.ts'

type FeedState = 'waiting' | 'live' | 'fresh' | 'retrying' | 'stopped'

export interface StreamStatus {
  /** null while it is not there, or bars are missing. */
  readonly liveSince: number | null
  readonly heardAt: number | null
  readonly cuts: number
  readonly lastCut: { readonly at: number; readonly reason: string } | null
  /** Bars that the provider's REST service had and the store had not, or otherwise. */
  readonly mended: number
}

/** The state of a followed series. */
export interface FeedStatus {
  readonly key: SeriesKey
  readonly state: FeedState
  readonly provider: string | null
  readonly lastSuccessAt: number | null
  readonly lastError: string | null
  /** Number of failures since the last success. */
  readonly failures: number
  /** null if the series is stopped. */
  readonly nextAt: number | null
  /** How its stream goes; absent if it is polled. */
  readonly stream?: StreamStatus
  readonly newestBar: number | null
}

export type PolledFeed = Omit<FeedStatus, 'newestBar'>

export interface PollerDeps {
  readonly cache: BarCache
  readonly http: Http
  readonly clock: Clock
}

/** How many times a forming bar is requested, at intervals of at least POLL_MIN_MS. */
const LOOKS_A_BAR = 4
const POLL_MIN_MS = 10_000
const POLL_MAX_MS = 15 * 60_000
/** How long exchanges take to close a bar. */
const CLOSING_MS = 2000
const BACKOFF_MIN_MS = 5000
const IDLE_MS = 60_000

/** What keeps series fresh, one way or another. */
export interface Keeper {
  follow(key: SeriesKey): void
  unfollow(key: SeriesKey): void
  status(): Promise<FeedStatus[]>
  onAsked(listener: (feed: PolledFeed) => void): void
  run(signal: AbortSignal): Promise<void>
}

export class Poller implements Keeper {
  readonly #deps: PollerDeps
  readonly #feeds = new Map<string, PolledFeed>()
  readonly #listeners = new Set<(feed: PolledFeed) => void>()
  // Wakes the loop when a series is followed; replaced after each use.
  #wake = new AbortController()

  constructor(deps: PollerDeps) {
    this.#deps = deps
  }

  /**
   * Following a series twice has no further effect. A series without a provider is stopped at once, and its status says
   * why.
   */
  follow(key: SeriesKey): void {
    const id = seriesName(key)
    if (this.#feeds.has(id)) return
    const provider = providerOf(key.exchange)
    const interval = parseInterval(key.interval)
    const possible = provider && interval && provider.intervalName(interval) !== null
    this.#feeds.set(id, {
      key,
      state: possible ? 'waiting' : 'stopped',
      provider: provider?.name ?? null,
      lastSuccessAt: null,
      lastError: possible
        ? null
        : provider
          ? `${provider.name} has no bars of this interval.`
          : `No provider has symbols of ${key.exchange}.`,
      failures: 0,
      nextAt: possible ? this.#deps.clock.now() : null,
    })
    this.#wake.abort()
  }

  unfollow(key: SeriesKey): void {
    this.#feeds.delete(seriesName(key))
  }

  status(): Promise<FeedStatus[]> {
    const { store } = this.#deps.cache
    return Promise.all(
      [...this.#feeds.values()].map(async (feed) => ({
        ...feed,
        newestBar: (await store.info(feed.key))?.last ?? null,
      })),
    )
  }

  /** `listener` is told of a series after each request for it. */
  onAsked(listener: (feed: PolledFeed) => void): void {
    this.#listeners.add(listener)
  }

  /** Runs until the signal says stop. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#deps
    let lookedAt = clock.now()
    while (!signal.aborted) {
      const now = clock.now()
      // The clock was set back, so what was planned by the old time may be hours away.
      if (now < lookedAt) this.#lookAtAll(now)
      lookedAt = now
      const due = this.#next()
      if (due?.nextAt !== undefined && due.nextAt !== null && due.nextAt <= now)
        await this.#fetch(due, signal)
      else {
        this.#wake = new AbortController()
        await clock.sleep(
          Math.min(IDLE_MS, (due?.nextAt ?? now + IDLE_MS) - now),
          AbortSignal.any([signal, this.#wake.signal]),
        )
      }
    }
  }

  #lookAtAll(now: number): void {
    for (const [name, feed] of this.#feeds)
      if (feed.nextAt !== null) this.#feeds.set(name, { ...feed, nextAt: Math.min(feed.nextAt, now) })
  }

  #next(): PolledFeed | null {
    let next: PolledFeed | null = null
    for (const feed of this.#feeds.values())
      if (feed.nextAt !== null && (next?.nextAt == null || feed.nextAt < next.nextAt)) next = feed
    return next
  }

  async #fetch(feed: PolledFeed, signal: AbortSignal): Promise<void> {
    const { cache, http, clock } = this.#deps
    let after: PolledFeed
    try {
      await fetchSeries(cache, feed.key, { http, clock }, { signal })
      const now = clock.now()
      after = {
        ...feed,
        state: 'fresh',
        lastSuccessAt: now,
        lastError: null,
        failures: 0,
        nextAt: nextLook(now, feed.key),
      }
    } catch (error) {
      after = failed(feed, error, clock.now())
    }
    // It may have been unfollowed meanwhile.
    if (!this.#feeds.has(seriesName(feed.key))) return
    this.#feeds.set(seriesName(feed.key), after)
    for (const listener of this.#listeners) listener(after)
  }
}

function failed(feed: PolledFeed, error: unknown, now: number): PolledFeed {
  const failures = feed.failures + 1
  const lastError = error instanceof Error ? error.message : String(error)
  const kind = error instanceof ProviderError ? error.kind : 'unavailable'
  if (kind === 'unknown_symbol' || kind === 'unsupported_interval')
    return { ...feed, state: 'stopped', failures, lastError, nextAt: null }
  const asked = error instanceof ProviderError ? error.retryAfterMs : null
  const backoff =
    kind === 'banned' ? POLL_MAX_MS : Math.min(POLL_MAX_MS, BACKOFF_MIN_MS * 2 ** (failures - 1))
  return { ...feed, state: 'retrying', failures, lastError, nextAt: now + Math.max(asked ?? 0, backoff) }
}

/** A quarter of the bar's length later, or just after the bar ends, whichever comes first. */
function nextLook(now: number, key: SeriesKey): number {
  const interval = parseInterval(key.interval)
  const length = interval ? intervalMs(interval) : POLL_MAX_MS
  const closes = (Math.floor(now / length) + 1) * length + CLOSING_MS
  const step = Math.min(POLL_MAX_MS, Math.max(POLL_MIN_MS, length / LOOKS_A_BAR))
  return Math.min(now + step, Math.max(closes, now + CLOSING_MS))
}
