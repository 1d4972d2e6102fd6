// The live providers, and how series are kept fresh with them: by a stream where there is one, else by polling.

import type { Keeper } from '../providers/poller.ts'
import type { SeriesKey } from '../bar-store.ts'
import { binanceLive } from './binance-live.ts'
import { bybitLive } from './bybit-live.ts'
import { coinbaseLive } from './coinbase-live.ts'
import { hyperliquidLive } from './hyperliquid-live.ts'
import { krakenLive } from './kraken-live.ts'
import type { LiveProvider } from './live-provider.ts'
import { okxLive } from './okx-live.ts'
import { parseInterval } from '../interval.ts'
import type { Streamer } from './streamer.ts'

export const LIVE_PROVIDERS: readonly LiveProvider[] = [
  binanceLive,
  bybitLive,
  coinbaseLive,
  hyperliquidLive,
  krakenLive,
  okxLive,
]

export function streamOf(
  { exchange, symbol, interval: text }: SeriesKey,
  providers: readonly LiveProvider[] = LIVE_PROVIDERS,
) {
  const provider = providers.find(({ rest }) => rest.exchanges.includes(exchange))
  const interval = parseInterval(text)
  if (!provider || !interval || provider.rest.intervalName(interval) === null) return null
  const topic = provider.topic(symbol, interval)
  return topic === null ? null : { provider, interval, topic }
}

/** Whether bars of a series come by a stream. */
export const streams = (key: SeriesKey): boolean => streamOf(key) !== null

export function bothWays(streamer: Streamer, poller: Keeper): Keeper {
  const wayOf = (key: SeriesKey) => (streams(key) ? streamer : poller)
  return {
    follow: (key) => wayOf(key).follow(key),
    unfollow: (key) => wayOf(key).unfollow(key),
    status: async () => [...(await streamer.status()), ...(await poller.status())],
    onAsked(listener) {
      streamer.onAsked(listener)
      poller.onAsked(listener)
    },
    async run(signal) {
      await Promise.all([streamer.run(signal), poller.run(signal)])
    },
  }
}
