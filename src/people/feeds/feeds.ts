// Feeds: which series are kept fresh, and their state.
//
// A series is kept fresh because a user follows it, an alert waits for its bars, or a watchlist contains it. The list is
// computed every minute; the keeper does the rest. Only follows are stored here: alerts and watchlists are records of their
// own.
//
// A provider is asked only where somebody chose it, by following or fetching one of its series: an alert by itself never makes
// this server speak to anybody. Until then the series says what to do.

import type { Log } from '../../lib/log.ts'
import { createLoop } from '../../lib/loop.ts'
import { seriesName, seriesOfParts, type SeriesKey } from '../../market/bar-store.ts'
import { providerOf as freeProviderOf, type ProviderOf } from '../../market/providers/fetch-bars.ts'
import type { FeedNews, FeedStatus } from '../../market/live/feed-status.ts'
import type { Keeper } from '../../market/live/keeper.ts'
import type { Key } from '../../store/kv.ts'
import { ChosenProviders } from './chosen-providers.ts'
import { ToldFeeds } from './told-feeds.ts'
import type { StoreDeps } from '../../store/owned.ts'

export interface FeedDeps extends StoreDeps {
  readonly log: Log
  /** null = `FEEDS=off`: the list is known, but no request leaves. */
  readonly keeper: Keeper | null
  /** Series that alerts wait for or watchlists contain. */
  readonly wanted: () => AsyncIterable<SeriesKey>
  /** Without it: those that need no key. */
  readonly providerOf?: ProviderOf
  /** Whether this server is the one to fetch the series. */
  readonly isOurs?: (key: SeriesKey) => boolean
  /** Where other servers fetch some of them: time of a series' newest bar. */
  readonly newestBar?: (key: SeriesKey) => Promise<number | null>
}

export interface Feed extends FeedStatus {
  /** A user asked for it by name. */
  readonly followed: boolean
}

const SYNC_MS = 60_000
const FOLLOWS_MAX = 1000
const FOLLOWS: Key = ['follows']

const keyOf = ({ exchange, symbol, interval }: SeriesKey): Key => [...FOLLOWS, exchange, symbol, interval]

export class Feeds {
  /** Whether requests to providers are switched on. */
  readonly enabled: boolean
  readonly #deps: FeedDeps
  readonly #providerOf: ProviderOf
  // Other servers read it, and the command line.
  readonly #told: ToldFeeds
  readonly #chosen: ChosenProviders
  readonly #loop
  /** Series that would be kept fresh if somebody had chosen their provider. */
  #unchosen: readonly SeriesKey[] = []
  #syncing: Promise<void> = Promise.resolve()

  constructor(deps: FeedDeps) {
    const { providerOf = freeProviderOf, keeper } = deps
    this.enabled = keeper !== null
    this.#deps = deps
    this.#providerOf = providerOf
    this.#told = new ToldFeeds(deps)
    this.#chosen = new ChosenProviders({ ...deps, providerOf })
    this.#loop = createLoop(deps, 'finding out which series to keep fresh', async () => {
      await this.sync()
      return SYNC_MS
    })
    keeper?.onAsked((feed) => {
      // It is told again a minute later at most.
      this.#told.tell(feed).catch(() => {})
    })
  }

  async list(): Promise<Feed[]> {
    const followed = new Map((await this.#follows()).map((key) => [seriesName(key), key]))
    const all = await this.#running()
    const shown = all.map((status) => ({ ...status, followed: followed.has(seriesName(status.key)) }))
    const known = new Set(all.map(({ key }) => seriesName(key)))
    const idle = [...followed].flatMap(([name, key]) => (known.has(name) ? [] : [key]))
    const state = this.enabled ? ELSEWHERE : SWITCHED_OFF
    const refused = new Map(this.#unchosen.map((key) => [seriesName(key), key]))
    for (const name of [...known, ...followed.keys()]) refused.delete(name)
    return [
      ...shown,
      ...idle.map((key) => ({ ...state, key, followed: true })),
      ...[...refused.values()].map((key) => ({ ...this.#notChosen(key), key, followed: false })),
    ]
  }

  /** Whether no provider brings bars of a series that somebody waits for, and why, with what to do; null if nobody knows. */
  async whySilent(key: SeriesKey): Promise<{ readonly isSilent: boolean; readonly why: string | null }> {
    const name = seriesName(key)
    const found = (await this.list()).find((feed) => seriesName(feed.key) === name)
    if (found) return { isSilent: found.state === 'stopped' || found.failures > 0, why: found.lastError }
    const provider = this.#providerOf(key.exchange)
    if (!provider) return { isSilent: true, why: null }
    if (!this.enabled) return { isSilent: true, why: SWITCHED_OFF.lastError }
    // It is listed a minute later at most.
    const isChosen = (await this.#chosen.soFar()).has(provider.name)
    return { isSilent: !isChosen, why: this.#notChosen(key).lastError }
  }

  #notChosen({ exchange }: SeriesKey) {
    const provider = this.#providerOf(exchange)?.name ?? null
    const lastError = `Nobody has chosen ${provider ?? exchange} here yet. Follow or fetch one of its series, and it is asked for this one too.`
    return { ...ELSEWHERE, state: 'stopped', provider, lastError } as const
  }

  /** Those that this server fetches, and what others told of theirs. */
  async #running(): Promise<FeedStatus[]> {
    const { keeper, newestBar } = this.#deps
    const own = (await keeper?.status()) ?? []
    if (!newestBar) return own
    const known = new Set(own.map(({ key }) => seriesName(key)))
    const others = (await this.#told.list()).filter(({ key }) => !known.has(seriesName(key)))
    const withNewest = async (feed: FeedNews) => ({ ...feed, newestBar: await newestBar(feed.key) })
    return [...own, ...(await Promise.all(others.map(withNewest)))]
  }

  async #follows(): Promise<SeriesKey[]> {
    const entries = await this.#deps.kv.list({ prefix: FOLLOWS }, { limit: FOLLOWS_MAX })
    return entries.map(({ key: [, ...parts] }) => seriesOfParts(parts))
  }

  /** Somebody asked for bars of the series, and so chose its provider. */
  async choose({ exchange }: SeriesKey): Promise<void> {
    const provider = this.#providerOf(exchange)
    if (provider) await this.#chosen.choose(provider.name)
  }

  /** Whether this server or another keeps the series fresh, and so stores what is closed of it. */
  async keeps(key: SeriesKey): Promise<boolean> {
    const name = seriesName(key)
    return (await this.#running()).some((feed) => feed.state !== 'stopped' && seriesName(feed.key) === name)
  }

  async isFollowed(key: SeriesKey): Promise<boolean> {
    return (await this.#deps.kv.get(keyOf(key))) !== null
  }

  async follow(key: SeriesKey): Promise<void> {
    const { kv, clock } = this.#deps
    await this.choose(key)
    await kv.commit({ sets: [{ key: keyOf(key), value: String(clock.now()) }] })
    await this.sync()
  }

  /** Answers whether it was followed. */
  async unfollow(key: SeriesKey): Promise<boolean> {
    const there = await this.isFollowed(key)
    if (there) await this.#deps.kv.commit({ deletes: [keyOf(key)] })
    await this.sync()
    return there
  }

  /** One sync after the other, since an older answer must not undo a newer one. */
  sync(): Promise<void> {
    this.#syncing = this.#syncing.catch(() => {}).then(() => this.#tellKeeper())
    return this.#syncing
  }

  /** Tells the keeper what is wanted now, and what is no longer. */
  async #tellKeeper(): Promise<void> {
    const { keeper, wanted, isOurs = () => true } = this.#deps
    if (!keeper) return
    const followed = await this.#follows()
    // A series that no provider has is reported only to those who followed it.
    const nameOf = ({ exchange }: SeriesKey) => this.#providerOf(exchange)?.name
    const others = (await Array.fromAsync(wanted())).filter((key) => nameOf(key) !== undefined)
    const names = await this.#chosen.names([...followed, ...others])
    const isChosen = (key: SeriesKey) => names.has(nameOf(key) ?? '')
    this.#unchosen = others.filter((key) => !isChosen(key))
    const ours = [...followed, ...others.filter(isChosen)].filter(isOurs)
    const all = new Map(ours.map((key) => [seriesName(key), key]))
    for (const key of keeper.keys) if (!all.has(seriesName(key))) keeper.unfollow(key)
    for (const key of all.values()) keeper.follow(key)
    // Nobody will ask for these, so nothing else tells of them.
    for (const { newestBar: _, ...feed } of await keeper.status())
      if (feed.state === 'stopped') await this.#told.tell(feed)
    await this.#told.forget((key) => isOurs(key) && !all.has(seriesName(key)))
  }

  /** More series are this server's now. A store that cannot be read yet is asked again before long. */
  async gained(): Promise<void> {
    await this.sync().catch(() => this.#loop.wake())
  }

  /** Follows no more what is not this server's, also while the store is away. */
  letGo(): void {
    const { keeper, isOurs = () => true } = this.#deps
    for (const key of keeper?.keys ?? []) if (!isOurs(key)) keeper?.unfollow(key)
  }

  async run(signal: AbortSignal): Promise<void> {
    const { keeper } = this.#deps
    if (keeper) await Promise.all([this.#loop.run(signal), keeper.run(signal)])
  }
}

/** Another server on the same database fetches it, and has not told yet how that goes. */
const ELSEWHERE = {
  state: 'waiting',
  provider: null,
  lastSuccessAt: null,
  lastError: null,
  failures: 0,
  nextAt: null,
  newestBar: null,
} as const

const SWITCHED_OFF = {
  ...ELSEWHERE,
  state: 'stopped',
  lastError: 'Requests to providers are switched off on this server (FEEDS=off).',
} as const
