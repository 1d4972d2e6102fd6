// Feeds: which series are kept fresh, and their state.
//
// A series is kept fresh because a user follows it, an alert waits for its bars, or a watchlist contains it. The list is
// computed every minute; the poller does the rest. Only follows are stored here: alerts and watchlists are records of their
// own.

import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { createLoop } from '../lib/loop.ts'
import { seriesName, type SeriesKey } from '../market/bar-store.ts'
import { providerOf } from '../market/providers/fetch-bars.ts'
import type { FeedStatus, Poller, PolledFeed } from '../market/providers/poller.ts'
import type { Key, Kv } from '../store/kv.ts'
import { ToldFeeds } from './told-feeds.ts'

export interface FeedDeps {
  readonly kv: Kv
  readonly clock: Clock
  readonly log: Log
  /** null = `FEEDS=off`: the list is known, but no request leaves. */
  readonly poller: Poller | null
  /** Series that alerts wait for or watchlists contain. */
  readonly wanted: () => AsyncIterable<SeriesKey>
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
  const { kv, clock, log, poller, wanted, isOurs = () => true, newestBar } = deps
  const told = newestBar ? new ToldFeeds({ kv, clock }) : null
  poller?.onAsked((feed) => {
    // It is told again a minute later at most.
    told?.tell(feed).catch(() => {})
  })
  const keyOf = ({ exchange, symbol, interval }: SeriesKey): Key => ['follows', exchange, symbol, interval]

  let syncing: Promise<void> = Promise.resolve()

  async function follows(): Promise<SeriesKey[]> {
    const entries = await kv.list({ prefix: ['follows'] }, { limit: FOLLOWS_MAX })
    return entries.map(({ key }) => ({
      exchange: String(key[1]),
      symbol: String(key[2]),
      interval: String(key[3]),
    }))
  }

  /** One sync after the other, since an older answer must not undo a newer one. */
  function sync(): Promise<void> {
    syncing = syncing.catch(() => {}).then(tellPoller)
    return syncing
  }

  /** Tells the poller what is wanted now, and what is no longer. */
  async function tellPoller(): Promise<void> {
    if (!poller) return
    // A series that no provider has is reported only to those who followed it.
    const others = (await Array.fromAsync(wanted())).filter(({ exchange }) => providerOf(exchange) !== null)
    const ours = [...(await follows()), ...others].filter(isOurs)
    const all = new Map(ours.map((key) => [seriesName(key), key]))
    for (const { key } of await poller.status()) if (!all.has(seriesName(key))) poller.unfollow(key)
    for (const key of all.values()) poller.follow(key)
    if (!told) return
    // Nobody will ask for these, so nothing else tells of them.
    for (const { newestBar: _, ...feed } of await poller.status())
      if (feed.state === 'stopped') await told.tell(feed)
    await told.forget((key) => isOurs(key) && !all.has(seriesName(key)))
  }

  /** Those that this server fetches, and what others told of theirs. */
  async function running(): Promise<FeedStatus[]> {
    const own = (await poller?.status()) ?? []
    if (!told || !newestBar) return own
    const known = new Set(own.map(({ key }) => seriesName(key)))
    const others = (await told.list()).filter(({ key }) => !known.has(seriesName(key)))
    const withNewest = async (feed: PolledFeed) => ({ ...feed, newestBar: await newestBar(feed.key) })
    return [...own, ...(await Promise.all(others.map(withNewest)))]
  }

  return {
    /** Whether requests to providers are switched on. */
    enabled: poller !== null,
    async list(): Promise<Feed[]> {
      const followed = new Map((await follows()).map((key) => [seriesName(key), key]))
      const all = await running()
      const shown = all.map((status) => ({ ...status, followed: followed.has(seriesName(status.key)) }))
      const known = new Set(all.map(({ key }) => seriesName(key)))
      const idle = [...followed.values()].filter((key) => !known.has(seriesName(key)))
      const state = poller ? ELSEWHERE : SWITCHED_OFF
      return [...shown, ...idle.map((key) => ({ ...state, key, followed: true }))]
    },
    isFollowed: async (key: SeriesKey): Promise<boolean> => (await kv.get(keyOf(key))) !== null,
    async follow(key: SeriesKey): Promise<void> {
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
    async run(signal: AbortSignal): Promise<void> {
      if (!poller) return
      const loop = createLoop({ clock, log }, 'finding out which series to keep fresh', async () => {
        await sync()
        return SYNC_MS
      })
      await Promise.all([loop.run(signal), poller.run(signal)])
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

const SWITCHED_OFF = {
  state: 'stopped',
  provider: null,
  lastSuccessAt: null,
  lastError: 'Requests to providers are switched off on this server (FEEDS=off).',
  failures: 0,
  nextAt: null,
  newestBar: null,
} as const
