// The keeper keeps followed series fresh: by a stream where there is one, else by polling; one stream or poll a series, whoever
// wants it. Each of its rules stands in one place:
//
// - of both: who is followed, what a failure means, and when a forming bar is shown, here; what is known of one series,
//   `followed.ts`; who is asked for it, `live-providers.ts`; how it goes in words, `feed-status.ts`;
// - asking: `asker.ts`, one request at a time a provider, by turns (`line.ts`). REST says what is true of either kind;
// - storing: `series-writer.ts`, in order and only what is closed;
// - streamed: what a stream says of a series, `listening.ts`; which bars of it are closed and when REST has to be asked,
//   `live-series.ts`; streams shared out to connections, `streams.ts`, and one of these, `connection.ts`;
// - polled: when to ask, from where, and what of an answer is closed, `polled-series.ts`.
//
// A series whose stream is cut for long, or refused, is fetched as bars end, so it stays fresh either way.

import { Listeners } from '../../lib/listeners.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import type { BarCache } from '../bar-cache.ts'
import { type SeriesKey, seriesName } from '../bar-store.ts'
import type { ProviderOf } from '../providers/fetch-bars.ts'
import type { BarRow, Http } from '../providers/provider.ts'
import { ProviderError } from '../providers/provider-error.ts'
import { Asker } from './asker.ts'
import type { OpenSocket } from './connection.ts'
import { type FeedNews, type FeedStatus, lacking, newsOf } from './feed-status.ts'
import type { Followed, Following } from './followed.ts'
import type { FormingBars } from './forming-bars.ts'
import { backOff, RETRY_MOST_MS } from './line.ts'
import { listening } from './listening.ts'
import type { LiveProvider } from './live-provider.ts'
import { type Source, sourceOf } from './live-providers.ts'
import { PolledSeries } from './polled-series.ts'
import { SeriesWriter } from './series-writer.ts'
import { Streams } from './streams.ts'

export interface KeeperDeps {
  readonly cache: BarCache
  readonly http: Http
  readonly clock: Clock
  readonly log: Log
  readonly open: OpenSocket
  readonly spread: () => number
  readonly forming: FormingBars
  readonly providers: readonly LiveProvider[]
  readonly providerOf: ProviderOf
}

export class Keeper {
  readonly #deps: KeeperDeps
  readonly #followed = new Map<string, Followed>()
  /** Those that nobody can be asked for. */
  readonly #lacking = new Map<string, FeedNews>()
  readonly #listeners = new Listeners<[feed: FeedNews]>()
  readonly #following: Following = {
    has: (followed) => this.#followed.get(seriesName(followed.key)) === followed,
    tell: (followed) => this.#tell(followed),
    failed: (followed, error) => this.#failed(followed, error),
    show: (followed) => this.#show(followed),
  }
  readonly #streams: Streams
  readonly #writer: SeriesWriter
  readonly #asker: Asker

  constructor(deps: KeeperDeps) {
    this.#deps = deps
    this.#streams = new Streams(deps)
    this.#writer = new SeriesWriter(deps, this.#following)
    this.#asker = new Asker(deps, this.#following, this.#writer)
  }

  /**
   * Following a series twice has no further effect, unless its exchange has another provider by now. A series without a
   * provider is stopped at once, and its status says why.
   */
  follow(key: SeriesKey): void {
    const name = seriesName(key)
    const source = sourceOf(key, this.#deps.providerOf, this.#deps.providers)
    const known = this.#followed.get(name)
    if ('lack' in source) {
      this.unfollow(key)
      this.#lacking.set(name, lacking(key, source))
      return
    }
    this.#lacking.delete(name)
    if (known && known.source.provider.name === source.provider.name) {
      known.line.provider = source.provider
      return
    }
    this.unfollow(key)
    const followed = this.#begin(key, source)
    this.#followed.set(name, followed)
    followed.line.members.add(followed)
    if (followed.streamed) this.#streams.join(followed.streamed.of, followed.streamed.listener)
    followed.line.wake.abort()
  }

  unfollow(key: SeriesKey): void {
    const name = seriesName(key)
    this.#lacking.delete(name)
    const followed = this.#followed.get(name)
    if (!followed) return
    this.#followed.delete(name)
    followed.line.members.delete(followed)
    this.#deps.forming.set(key, null)
    this.#leave(followed)
  }

  /** Another key was given: those of the provider that wait are asked for at once. */
  askAgain(name: string): void {
    this.#asker.askAgain(name)
  }

  /** Series that it was told to follow. */
  get keys(): SeriesKey[] {
    return [...this.#followed.values(), ...this.#lacking.values()].map(({ key }) => key)
  }

  status(): Promise<FeedStatus[]> {
    const { store } = this.#deps.cache
    const now = this.#deps.clock.now()
    const all = [...[...this.#followed.values()].map((one) => newsOf(one, now)), ...this.#lacking.values()]
    return Promise.all(
      all.map(async (feed) => ({ ...feed, newestBar: (await store.info(feed.key))?.last ?? null })),
    )
  }

  /** `listener` is told of a series after each request for it, and when its stream comes or goes. */
  onAsked(listener: (feed: FeedNews) => void): void {
    this.#listeners.add(listener)
  }

  /** Runs until the signal says stop. */
  async run(signal: AbortSignal): Promise<void> {
    this.#streams.run(signal)
    this.#asker.run(signal)
    if (!signal.aborted)
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
    await this.#streams.ended()
    await this.#asker.ended()
    await this.settled()
  }

  /** Resolves when all that was heard so far is stored. */
  async settled(): Promise<void> {
    await Promise.all([...this.#followed.values()].map(({ writing }) => writing))
  }

  #begin(key: SeriesKey, source: Source): Followed {
    const { provider, interval, stream } = source
    const forming = (row: BarRow | null) => {
      followed.formed = row
      this.#show(followed)
    }
    const delayMs = stream ? 0 : (provider.delayMs?.(key.exchange, interval) ?? 0)
    const { clock } = this.#deps
    const streamed =
      stream &&
      listening(stream, {
        interval,
        clock,
        following: this.#following,
        self: () => followed,
        store: (rows) => this.#writer.store(followed, rows),
        forming,
      })
    const polled = stream ? null : new PolledSeries({ interval, delayMs, since: clock.now(), forming })
    const followed: Followed = {
      key,
      source,
      delayMs,
      line: this.#asker.lineOf(provider),
      series: (streamed?.series ?? polled)!,
      polled,
      streamed,
      writing: Promise.resolve(),
      writes: 0,
      writesFailed: 0,
      behind: null,
      formed: null,
      filledAt: null,
      mended: 0,
      failures: 0,
      lastError: null,
      askedAt: -Infinity,
      retryAt: 0,
      isStopped: false,
      isAlone: false,
    }
    return followed
  }

  #show(followed: Followed): void {
    const { key, formed, delayMs, writes } = followed
    if (formed !== null && (writes > 0 || !this.#following.has(followed))) return
    this.#deps.forming.set(key, formed, delayMs)
  }

  #leave({ streamed }: Followed): void {
    if (streamed) this.#streams.leave(streamed.of, streamed.listener)
  }

  #failed(followed: Followed, error: unknown): void {
    const { clock, spread } = this.#deps
    followed.failures++
    followed.lastError = error instanceof Error ? error.message : String(error)
    const kind = error instanceof ProviderError ? error.kind : 'unavailable'
    const asked = error instanceof ProviderError ? (error.retryAfterMs ?? 0) : 0
    const isFinal = kind === 'banned' || kind === 'unauthorized'
    const wait = isFinal ? RETRY_MOST_MS : backOff(followed.failures, spread())
    followed.retryAt = clock.now() + Math.max(asked, wait)
    // Of one failure the next request knows no more than we do.
    if (followed.polled && followed.failures > 1) followed.polled.cut()
    if (kind === 'unknown_symbol' || kind === 'unsupported_interval') {
      followed.isStopped = true
      this.#leave(followed)
    }
    this.#tell(followed)
  }

  #tell(followed: Followed): void {
    if (!this.#following.has(followed)) return
    const feed = newsOf(followed, this.#deps.clock.now())
    this.#listeners.tell(feed)
  }
}
