// Feeds: which series are kept fresh, and their state.
//
// A series is kept fresh because a user follows it, an alert waits for its bars, or a watchlist contains it. The list is
// computed every minute; the keeper does the rest. Only follows are stored here: alerts and watchlists are records of their
// own.
//
// A provider is asked only where somebody chose it, by following or fetching one of its series: an alert by itself never makes
// this server speak to anybody. Until then the series says what to do.

import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import { createLoop } from '../../lib/loop.ts'
import { seriesName, type SeriesKey } from '../../market/bar-store.ts'
import { providerOf as freeProviderOf, type ProviderOf } from '../../market/providers/fetch-bars.ts'
import type { FeedNews, FeedStatus } from '../../market/live/feed-status.ts'
import type { Keeper } from '../../market/live/keeper.ts'
import type { Key, Kv } from '../../store/kv.ts'
import { ChosenProviders } from './chosen-providers.ts'
import { ToldFeeds } from './told-feeds.ts'

export interface FeedDeps {
  readonly kv: Kv
  readonly clock: Clock
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

export type Feeds = ReturnType<typeof createFeeds>

export function createFeeds(deps: FeedDeps) {
  const { kv, clock, log, keeper, wanted, isOurs = () => true, newestBar } = deps
  const { providerOf = freeProviderOf } = deps
  // Other servers read it, and the command line.
  const told = new ToldFeeds({ kv, clock })
  const chosen = new ChosenProviders({ kv, clock, providerOf })
  /** Series that would be kept fresh if somebody had chosen their provider. */
  let unchosen: readonly SeriesKey[] = []
  keeper?.onAsked((feed) => {
    // It is told again a minute later at most.
    told.tell(feed).catch(() => {})
  })
  const keyOf = ({ exchange, symbol, interval }: SeriesKey): Key => ['follows', exchange, symbol, interval]

  let syncing: Promise<void> = Promise.resolve()
  const loop = createLoop({ clock, log }, 'finding out which series to keep fresh', async () => {
    await sync()
    return SYNC_MS
  })

  async function follows(): Promise<SeriesKey[]> {
    const entries = await kv.list({ prefix: ['follows'] }, { limit: FOLLOWS_MAX })
    return entries.map(({ key }) => ({
      exchange: String(key[1]),
      symbol: String(key[2]),
      interval: String(key[3]),
    }))
  }

  async function choose(key: SeriesKey): Promise<void> {
    const provider = providerOf(key.exchange)
    if (provider) await chosen.choose(provider.name)
  }

  /** One sync after the other, since an older answer must not undo a newer one. */
  function sync(): Promise<void> {
    syncing = syncing.catch(() => {}).then(tellKeeper)
    return syncing
  }

  /** Tells the keeper what is wanted now, and what is no longer. */
  async function tellKeeper(): Promise<void> {
    if (!keeper) return
    const followed = await follows()
    // A series that no provider has is reported only to those who followed it.
    const others = (await Array.fromAsync(wanted())).filter(({ exchange }) => providerOf(exchange) !== null)
    const names = await chosen.names([...followed, ...others])
    const isChosen = ({ exchange }: SeriesKey) => names.has(providerOf(exchange)?.name ?? '')
    unchosen = others.filter((key) => !isChosen(key))
    const ours = [...followed, ...others.filter(isChosen)].filter(isOurs)
    const all = new Map(ours.map((key) => [seriesName(key), key]))
    for (const key of keeper.keys) if (!all.has(seriesName(key))) keeper.unfollow(key)
    for (const key of all.values()) keeper.follow(key)
    // Nobody will ask for these, so nothing else tells of them.
    for (const { newestBar: _, ...feed } of await keeper.status())
      if (feed.state === 'stopped') await told.tell(feed)
    await told.forget((key) => isOurs(key) && !all.has(seriesName(key)))
  }

  /** Those that this server fetches, and what others told of theirs. */
  async function running(): Promise<FeedStatus[]> {
    const own = (await keeper?.status()) ?? []
    if (!newestBar) return own
    const known = new Set(own.map(({ key }) => seriesName(key)))
    const others = (await told.list()).filter(({ key }) => !known.has(seriesName(key)))
    const withNewest = async (feed: FeedNews) => ({ ...feed, newestBar: await newestBar(feed.key) })
    return [...own, ...(await Promise.all(others.map(withNewest)))]
  }

  return {
    /** Whether requests to providers are switched on. */
    enabled: keeper !== null,
    async list(): Promise<Feed[]> {
      const followed = new Map((await follows()).map((key) => [seriesName(key), key]))
      const all = await running()
      const shown = all.map((status) => ({ ...status, followed: followed.has(seriesName(status.key)) }))
      const known = new Set(all.map(({ key }) => seriesName(key)))
      const idle = [...followed.values()].filter((key) => !known.has(seriesName(key)))
      const state = keeper ? ELSEWHERE : SWITCHED_OFF
      const refused = new Map(unchosen.map((key) => [seriesName(key), key]))
      for (const { key } of [...shown, ...idle.map((one) => ({ key: one }))]) refused.delete(seriesName(key))
      return [
        ...shown,
        ...idle.map((key) => ({ ...state, key, followed: true })),
        ...[...refused.values()].map((key) => ({ ...notChosen(key, providerOf), key, followed: false })),
      ]
    },
    /** Somebody asked for bars of the series, and so chose its provider. */
    choose,
    /** Whether this server or another keeps the series fresh, and so stores what is closed of it. */
    async keeps(key: SeriesKey): Promise<boolean> {
      const name = seriesName(key)
      return (await running()).some((feed) => feed.state !== 'stopped' && seriesName(feed.key) === name)
    },
    isFollowed: async (key: SeriesKey): Promise<boolean> => (await kv.get(keyOf(key))) !== null,
    async follow(key: SeriesKey): Promise<void> {
      await choose(key)
      await kv.commit({ sets: [{ key: keyOf(key), value: String(clock.now()) }] })
      await sync()
    },
    /** Answers whether it was followed. */
    async unfollow(key: SeriesKey): Promise<boolean> {
      const there = (await kv.get(keyOf(key))) !== null
      if (there) await kv.commit({ deletes: [keyOf(key)] })
      await sync()
      return there
    },
    sync,
    /** More series are this server's now. A store that cannot be read yet is asked again before long. */
    async gained(): Promise<void> {
      await sync().catch(() => loop.wake())
    },
    /** Follows no more what is not this server's, also while the store is away. */
    letGo(): void {
      for (const key of keeper?.keys ?? []) if (!isOurs(key)) keeper?.unfollow(key)
    },
    async run(signal: AbortSignal): Promise<void> {
      if (!keeper) return
      await Promise.all([loop.run(signal), keeper.run(signal)])
    },
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

function notChosen({ exchange }: SeriesKey, providerOf: ProviderOf) {
  const provider = providerOf(exchange)?.name ?? null
  return {
    ...ELSEWHERE,
    state: 'stopped',
    provider,
    lastError: `Nobody has chosen ${provider ?? exchange} here yet. Follow or fetch one of its series, and it is asked for this one too.`,
  } as const
}

const SWITCHED_OFF = {
  state: 'stopped',
  provider: null,
  lastSuccessAt: null,
  lastError: 'Requests to providers are switched off on this server (FEEDS=off).',
  failures: 0,
  nextAt: null,
  newestBar: null,
} as const
