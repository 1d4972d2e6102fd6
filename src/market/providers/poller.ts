// The poller: keeps followed series fresh that have no stream, one request at a time a provider.
//
// A series is due when its forming bar is over, and a few times while it forms. What is over is stored, and what forms is told
// of and stored by nobody. Each request begins at the newest stored bar, and now and then a while before it, since providers
// correct bars late. After a failure, which is shown, it waits
// twice as long each time, up to a quarter of an hour. A symbol that the provider does not know is not requested again.
// After an outage the next fetch begins at the newest cached bar, which closes the gap.

import type { Clock } from '../../lib/clock.ts'
import type { BarCache } from '../bar-cache.ts'
import { type SeriesKey, seriesName } from '../bar-store.ts'
import { intervalMs, parseInterval } from '../interval.ts'
import type { FormingBars } from '../live/forming-bars.ts'
import { fetchSeries, marginOf, providerOf, type ProviderOf } from './fetch-bars.ts'
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
  readonly forming: FormingBars
  /** Without it: those that need no key. */
  readonly providerOf?: ProviderOf
}

/** How many times a forming bar is requested, at intervals of at least POLL_MIN_MS. */
const LOOKS_A_BAR = 4
const POLL_MIN_MS = 10_000
const POLL_MAX_MS = 15 * 60_000
/** How long exchanges take to close a bar. */
const CLOSING_MS = 2000
const BACKOFF_MIN_MS = 5000
const IDLE_MS = 60_000
/** How often, and how far back, stored bars are asked for once more. */
const RECHECK_MS = 30 * 60_000
const RECHECKED_BARS = 32

/** What keeps series fresh, one way or another. */
export interface Keeper {
  follow(key: SeriesKey): void
  unfollow(key: SeriesKey): void
  status(): Promise<FeedStatus[]>
  onAsked(listener: (feed: PolledFeed) => void): void
  run(signal: AbortSignal): Promise<void>
}

/** What asks one provider. */
interface Line {
  /** Wakes it when a series is followed; replaced after each use. */
  wake: AbortController
}

export class Poller implements Keeper {
  readonly #deps: PollerDeps
  readonly #feeds = new Map<string, PolledFeed>()
  readonly #checkedAt = new Map<string, number>()
  readonly #listeners = new Set<(feed: PolledFeed) => void>()
  /** By the name of the provider: one that is slow, or lets us wait, holds up no other. */
  readonly #lines = new Map<string, Line>()
  readonly #running = new Set<Promise<void>>()
  #signal: AbortSignal | null = null

  constructor(deps: PollerDeps) {
    this.#deps = deps
  }

  /**
   * Following a series twice has no further effect, unless its exchange has another provider by now. A series without a
   * provider is stopped at once, and its status says why.
   */
  follow(key: SeriesKey): void {
    const id = seriesName(key)
    const provider = (this.#deps.providerOf ?? providerOf)(key.exchange)
    const known = this.#feeds.get(id)
    if (known && known.provider === (provider?.name ?? null)) return
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
    if (possible) this.#lineOf(provider.name).wake.abort()
  }

  unfollow(key: SeriesKey): void {
    this.#feeds.delete(seriesName(key))
    this.#checkedAt.delete(seriesName(key))
    this.#deps.forming.set(key, null)
  }

  /** Another key was given: those of the provider that wait are asked for at once. */
  askAgain(provider: string): void {
    const now = this.#deps.clock.now()
    for (const [id, feed] of this.#feeds)
      if (feed.provider === provider && feed.state === 'retrying')
        this.#feeds.set(id, { ...feed, nextAt: now })
    this.#lineOf(provider).wake.abort()
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
    this.#signal = signal
    for (const [name, line] of this.#lines) this.#start(name, line, signal)
    // Where there is nobody to ask yet, somebody has to wait for the end all the same.
    if (this.#lines.size === 0) this.#lineOf('')
    while (this.#running.size > 0) await Promise.all(this.#running)
    this.#signal = null
  }

  #lineOf(provider: string): Line {
    const known = this.#lines.get(provider)
    if (known) return known
    const line = { wake: new AbortController() }
    this.#lines.set(provider, line)
    if (this.#signal && !this.#signal.aborted) this.#start(provider, line, this.#signal)
    return line
  }

  #start(provider: string, line: Line, signal: AbortSignal): void {
    const running = this.#ask(provider, line, signal).finally(() => this.#running.delete(running))
    this.#running.add(running)
  }

  async #ask(provider: string, line: Line, signal: AbortSignal): Promise<void> {
    const { clock } = this.#deps
    let lookedAt = clock.now()
    while (!signal.aborted) {
      const now = clock.now()
      // The clock was set back, so what was planned by the old time may be hours away.
      if (now < lookedAt) this.#lookAtAll(provider, now)
      lookedAt = now
      const due = this.#next(provider)
      if (due?.nextAt !== undefined && due.nextAt !== null && due.nextAt <= now)
        await this.#fetch(due, signal)
      else {
        line.wake = new AbortController()
        await clock.sleep(
          Math.min(IDLE_MS, (due?.nextAt ?? now + IDLE_MS) - now),
          AbortSignal.any([signal, line.wake.signal]),
        )
      }
    }
  }

  #lookAtAll(provider: string, now: number): void {
    for (const [name, feed] of this.#feeds)
      if (feed.nextAt !== null && feed.provider === provider)
        this.#feeds.set(name, { ...feed, nextAt: Math.min(feed.nextAt, now) })
  }

  #next(provider: string): PolledFeed | null {
    let next: PolledFeed | null = null
    for (const feed of this.#feeds.values())
      if (
        feed.provider === provider &&
        feed.nextAt !== null &&
        (next?.nextAt == null || feed.nextAt < next.nextAt)
      )
        next = feed
    return next
  }

  async #fetch(feed: PolledFeed, signal: AbortSignal): Promise<void> {
    const { cache, http, clock, forming } = this.#deps
    let after: PolledFeed
    const id = seriesName(feed.key)
    try {
      const asked = clock.now()
      const from = await this.#recheckFrom(feed.key, asked)
      await fetchSeries(
        cache,
        feed.key,
        { http, clock, providerOf: this.#deps.providerOf },
        {
          signal,
          closedOnly: true,
          forming: (row) => this.#feeds.get(id) === feed && forming.set(feed.key, row),
          ...(from !== null && { from }),
        },
      )
      if (from !== null || !this.#checkedAt.has(id)) this.#checkedAt.set(id, asked)
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
    // It may have been unfollowed meanwhile, or got another provider.
    if (this.#feeds.get(id) !== feed) return
    this.#feeds.set(id, after)
    for (const listener of this.#listeners) listener(after)
  }

  /** From where bars are asked for that are stored already; null = it is not their turn. */
  async #recheckFrom(key: SeriesKey, now: number): Promise<number | null> {
    const checkedAt = this.#checkedAt.get(seriesName(key))
    const interval = parseInterval(key.interval)
    if (checkedAt === undefined || !interval || Math.abs(now - checkedAt) < RECHECK_MS) return null
    const last = (await this.#deps.cache.store.info(key))?.last
    if (last === undefined) return null
    return Math.max(0, last - RECHECKED_BARS * intervalMs(interval) - marginOf(interval))
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
    kind === 'banned' || kind === 'unauthorized'
      ? POLL_MAX_MS
      : Math.min(POLL_MAX_MS, BACKOFF_MIN_MS * 2 ** (failures - 1))
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
