// The streamer keeps followed series fresh from live providers: one stream a series, whoever wants it.
//
// It shares topics out to connections, hands what they hear to the series of the topic, asks REST where a series has doubts,
// one request at a time a provider, and stores what is closed. A series whose stream is cut for long, or refused, is fetched
// as bars end, so it stays fresh either way.

import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import { type BarCache } from '../bar-cache.ts'
import { type SeriesKey, seriesName } from '../bar-store.ts'
import { BAR_FIELDS, type Bars, emptyBars } from '../bars.ts'
import { storeBars } from '../import.ts'
import { intervalMs, type Interval } from '../interval.ts'
import { BARS_AT_FIRST, calendarFor, datedPages, marginOf } from '../providers/fetch-bars.ts'
import type { FeedStatus, Keeper, PolledFeed } from '../providers/poller.ts'
import { type BarRow, type Http, ProviderError } from '../providers/provider.ts'
import { Connection, type OpenSocket } from './connection.ts'
import type { FormingBars } from './forming-bars.ts'
import type { LiveProvider } from './live-provider.ts'
import { streamOf } from './live-providers.ts'
import { isSame, LiveSeries } from './live-series.ts'

export interface StreamerDeps {
  readonly cache: BarCache
  readonly http: Http
  readonly clock: Clock
  readonly log: Log
  readonly open: OpenSocket
  readonly spread: () => number
  readonly forming: FormingBars
  readonly providers: readonly LiveProvider[]
}

interface Followed {
  readonly key: SeriesKey
  readonly provider: LiveProvider
  readonly interval: Interval
  readonly topic: string
  readonly series: LiveSeries
  /** What is written is written in order. */
  writing: Promise<void>
  isConnected: boolean
  liveSince: number | null
  heardAt: number | null
  filledAt: number | null
  cuts: number
  lastCut: { readonly at: number; readonly reason: string } | null
  /** Bars that REST had and the store had not, or otherwise. */
  mended: number
  failures: number
  lastError: string | null
  retryAt: number
  isStopped: boolean
}

const RETRY_MS = 5000
const RETRY_MOST_MS = 15 * 60_000
const IDLE_MS = 60_000

export class Streamer implements Keeper {
  readonly #deps: StreamerDeps
  readonly #followed = new Map<string, Followed>()
  readonly #connections: Connection[] = []
  readonly #listeners = new Set<(feed: PolledFeed) => void>()
  /** By address and topic, since each message is looked up. */
  readonly #byTopic = new Map<string, Followed[]>()
  /** Until when nobody looks which series of a provider has doubts, unless woken. */
  readonly #naps = new Map<LiveProvider, { readonly until: number; readonly wake: AbortController }>()
  readonly #running = new Set<Promise<void>>()
  #signal: AbortSignal | null = null

  constructor(deps: StreamerDeps) {
    this.#deps = deps
  }

  follow(key: SeriesKey): void {
    const name = seriesName(key)
    const stream = streamOf(key, this.#deps.providers)
    if (!stream || this.#followed.has(name)) return
    const { provider, interval, topic } = stream
    const followed: Followed = {
      key,
      provider,
      interval,
      topic,
      series: new LiveSeries({
        interval,
        closing: provider.closing,
        store: (rows) => this.#store(followed, rows),
        forming: (row) => this.#deps.forming.set(key, row),
      }),
      writing: Promise.resolve(),
      isConnected: false,
      liveSince: null,
      heardAt: null,
      filledAt: null,
      cuts: 0,
      lastCut: null,
      mended: 0,
      failures: 0,
      lastError: null,
      retryAt: 0,
      isStopped: false,
    }
    this.#followed.set(name, followed)
    const stands = this.#of(provider.address(key.symbol), topic)
    this.#byTopic.set(topicName(provider.address(key.symbol), topic), [...stands, followed])
    this.#connect(followed)
    this.#wake(provider)
  }

  unfollow(key: SeriesKey): void {
    const followed = this.#followed.get(seriesName(key))
    if (!followed) return
    this.#followed.delete(seriesName(key))
    const address = followed.provider.address(key.symbol)
    const others = this.#of(address, followed.topic).filter((one) => one !== followed)
    if (others.length > 0) this.#byTopic.set(topicName(address, followed.topic), others)
    else this.#byTopic.delete(topicName(address, followed.topic))
    this.#deps.forming.set(key, null)
    this.#disconnect(followed)
  }

  status(): Promise<FeedStatus[]> {
    const { store } = this.#deps.cache
    return Promise.all(
      [...this.#followed.values()].map(async (followed) => ({
        ...this.#statusOf(followed),
        newestBar: (await store.info(followed.key))?.last ?? null,
      })),
    )
  }

  onAsked(listener: (feed: PolledFeed) => void): void {
    this.#listeners.add(listener)
  }

  async run(signal: AbortSignal): Promise<void> {
    this.#signal = signal
    for (const connection of this.#connections) this.#start(connection)
    await Promise.all(this.#deps.providers.map((provider) => this.#fillFor(provider, signal)))
    await Promise.all(this.#running)
    await Promise.all([...this.#followed.values()].map(({ writing }) => writing))
    this.#signal = null
  }

  /** Resolves when all that was heard so far is stored. */
  async settled(): Promise<void> {
    await Promise.all([...this.#followed.values()].map(({ writing }) => writing))
  }

  #connect(followed: Followed): void {
    const { provider, key, topic } = followed
    const address = provider.address(key.symbol)
    const mine = this.#connections.filter((one) => one.address === address)
    // Another series may be made of the same stream.
    const shared = mine.find((one) => one.has(topic))
    if (shared?.isLive(topic)) {
      followed.isConnected = true
      followed.series.subscribed()
    }
    if (shared) return
    const free = mine.find(({ size }) => size < provider.topicsAConnection)
    const connection = free ?? this.#newConnection(provider, address)
    connection.add(topic)
    if (!free) {
      this.#connections.push(connection)
      this.#start(connection)
    }
  }

  #disconnect({ topic, provider, key }: Followed): void {
    const address = provider.address(key.symbol)
    if (this.#of(address, topic).length > 0) return
    const connection = this.#connections.find((one) => one.address === address && one.has(topic))
    connection?.remove(topic)
    if (connection?.size === 0) this.#connections.splice(this.#connections.indexOf(connection), 1)
  }

  #newConnection(provider: LiveProvider, address: string): Connection {
    const { clock, open, spread } = this.#deps
    return new Connection(
      provider,
      address,
      { clock, open, spread },
      {
        subscribed: (topic) => {
          for (const one of this.#of(address, topic)) {
            one.series.subscribed()
            one.isConnected = true
            one.lastError = null
            this.#tell(one)
          }
          this.#wake(provider)
        },
        refused: (topic, message) => {
          for (const one of this.#of(address, topic)) {
            one.lastError = `${provider.rest.name} refused the stream: ${message}`
            this.#tell(one)
          }
        },
        cut: (topics, reason) => {
          const at = clock.now()
          for (const topic of topics)
            for (const one of this.#of(address, topic)) {
              if (one.isConnected) one.cuts++
              one.isConnected = false
              one.liveSince = null
              one.lastCut = { at, reason }
              one.series.cut()
              this.#tell(one)
            }
          this.#wake(provider)
        },
        heard: (message) => {
          const now = clock.now()
          for (const one of this.#of(address, message.topic)) {
            one.heardAt = now
            one.series.heard(message, now)
            // Woken by each message, a hundred streams would have all others looked through a hundred times a second.
            if (one.series.dueAt(now) < (this.#naps.get(provider)?.until ?? 0)) this.#wake(provider)
          }
        },
      },
    )
  }

  #start(connection: Connection): void {
    if (!this.#signal) return
    const running = connection.run(this.#signal).finally(() => this.#running.delete(running))
    this.#running.add(running)
  }

  /** The series that are made of a stream. */
  #of(address: string, topic: string): readonly Followed[] {
    return this.#byTopic.get(topicName(address, topic)) ?? []
  }

  #wake(provider: LiveProvider): void {
    this.#naps.get(provider)?.wake.abort()
  }

  /** Asks REST where a series of the provider has doubts, one after the other. */
  async #fillFor(provider: LiveProvider, signal: AbortSignal): Promise<void> {
    const { clock } = this.#deps
    while (!signal.aborted) {
      const now = clock.now()
      const next = this.#nextOf(provider, now)
      if (next && next.at <= now) {
        await this.#fill(next.followed, signal)
        await clock.sleep(provider.rest.gapMs, signal)
      } else {
        const napMs = Math.min(IDLE_MS, next ? next.at - now : IDLE_MS)
        const wake = new AbortController()
        this.#naps.set(provider, { until: now + napMs, wake })
        await clock.sleep(napMs, AbortSignal.any([signal, wake.signal]))
        this.#naps.delete(provider)
      }
    }
  }

  #nextOf(provider: LiveProvider, now: number): { readonly followed: Followed; readonly at: number } | null {
    let next: { readonly followed: Followed; readonly at: number } | null = null
    for (const followed of this.#followed.values()) {
      if (followed.provider !== provider || followed.isStopped) continue
      // If the clock was set back, what was planned by the old time may be hours away.
      const retryAt = Math.min(followed.retryAt, now + RETRY_MOST_MS)
      const at = Math.max(retryAt, followed.series.dueAt(now))
      if (!next || at < next.at) next = { followed, at }
    }
    return next
  }

  async #fill(followed: Followed, signal: AbortSignal): Promise<void> {
    const { cache, http, clock } = this.#deps
    const { key, provider, interval, series } = followed
    const asked = clock.now()
    const from = series.askFrom(asked)
    try {
      const calendar = await calendarFor(cache, key)
      const last = (await cache.store.info(key))?.last ?? null
      const margin = marginOf(interval)
      const first = Math.max(0, asked - intervalMs(interval) * BARS_AT_FIRST)
      const begin = from ?? last ?? first
      const stretch = { from: begin - margin, to: asked, interval, calendar }
      const rows: BarRow[] = []
      for await (const bars of datedPages(provider.rest, key, stretch, { http, clock }, signal))
        rows.push(...rowsOf(bars))
      if (signal.aborted || this.#followed.get(seriesName(key)) !== followed) return
      const closed = series.filled(rows, from, asked, calendar)
      if (await this.#mend(followed, closed, from !== null)) {
        followed.failures = 0
        followed.filledAt = asked
        followed.lastError = followed.isConnected ? null : followed.lastError
        if (series.isLive) followed.liveSince ??= asked
      }
    } catch (error) {
      this.#failed(followed, error)
    }
    this.#tell(followed)
  }

  #failed(followed: Followed, error: unknown): void {
    followed.failures++
    followed.lastError = error instanceof Error ? error.message : String(error)
    const kind = error instanceof ProviderError ? error.kind : 'unavailable'
    const asked = error instanceof ProviderError ? (error.retryAfterMs ?? 0) : 0
    const wait =
      kind === 'banned'
        ? RETRY_MOST_MS
        : Math.min(RETRY_MOST_MS, RETRY_MS * 2 ** Math.min(20, followed.failures - 1))
    followed.retryAt = this.#deps.clock.now() + Math.max(asked, wait)
    if (kind !== 'unknown_symbol' && kind !== 'unsupported_interval') return
    followed.isStopped = true
    this.#disconnect(followed)
  }

  /** Stores what REST has where the store has something else. Answers false if it could not. */
  async #mend(followed: Followed, rows: readonly BarRow[], isMending: boolean): Promise<boolean> {
    const { cache } = this.#deps
    const [first] = rows
    const last = rows.at(-1)
    if (!first || !last) return true
    return this.#write(followed, first[0], async () => {
      const { bars: stored } = await cache.store.read(followed.key, { from: first[0], to: last[0] + 1 })
      const known = new Map(rowsOf(stored).map((row) => [row[0], row]))
      const news = rows.filter((row) => !isSame(known.get(row[0]), row))
      if (news.length === 0) return
      await storeBars(cache, followed.key, barsOf(news))
      if (isMending) followed.mended += news.length
    })
  }

  /** Stores what the stream has closed. */
  #store(followed: Followed, rows: readonly BarRow[]): void {
    const [first] = rows
    if (!first) return
    void this.#write(followed, first[0], async () => {
      await this.#deps.cache.upsert(followed.key, barsOf(rows))
    })
  }

  /** What cannot be stored now is asked for again later. */
  async #write(followed: Followed, from: number, work: () => Promise<void>): Promise<boolean> {
    const written = followed.writing.then(work).then(
      () => true,
      (error: unknown) => {
        followed.series.unsettle(from)
        if (followed.failures === 0)
          this.#deps.log('error', `bars of ${seriesName(followed.key)} could not be stored`, {
            error: String(error),
          })
        this.#failed(followed, error)
        this.#wake(followed.provider)
        return false
      },
    )
    followed.writing = written.then(() => {})
    return written
  }

  #tell(followed: Followed): void {
    const feed = this.#statusOf(followed)
    for (const listener of this.#listeners) listener(feed)
  }

  #statusOf(followed: Followed): PolledFeed {
    const { key, provider, series, failures, lastError, lastCut, isConnected, isStopped } = followed
    const { liveSince, cuts, mended } = followed
    const state = isStopped
      ? 'stopped'
      : series.isLive
        ? 'live'
        : failures > 0 || lastCut !== null || lastError !== null
          ? 'retrying'
          : 'waiting'
    const now = this.#deps.clock.now()
    const times = [followed.heardAt, followed.filledAt].filter((time) => time !== null)
    return {
      key,
      state,
      provider: provider.rest.name,
      lastSuccessAt: times.length > 0 ? Math.max(...times) : null,
      lastError:
        lastError ?? (isConnected || lastCut === null ? null : `The stream was cut: ${lastCut.reason}.`),
      failures,
      nextAt: isStopped ? null : Math.max(now, followed.retryAt, Math.min(series.dueAt(now), now + IDLE_MS)),
      stream: { liveSince, heardAt: followed.heardAt, cuts, lastCut, mended },
    }
  }
}

const topicName = (address: string, topic: string): string => `${address} ${topic}`

function rowsOf(bars: Bars): BarRow[] {
  const rows: BarRow[] = []
  for (let i = 0; i < bars.length; i++)
    rows.push([bars.time[i]!, bars.open[i]!, bars.high[i]!, bars.low[i]!, bars.close[i]!, bars.volume[i]!])
  return rows
}

function barsOf(rows: readonly BarRow[]): Bars {
  const bars = emptyBars(rows.length)
  for (const [i, row] of rows.entries())
    for (const [column, field] of BAR_FIELDS.entries()) bars[field][i] = row[column]!
  return bars
}
