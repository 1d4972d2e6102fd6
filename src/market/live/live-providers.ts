// Where the bars of a series come from: a stream where its exchange has one, else its provider, which is asked again and again.

import type { SeriesKey } from '../bar-store.ts'
import { type Interval, parseInterval } from '../interval.ts'
import type { ProviderOf } from '../providers/fetch-bars.ts'
import type { Provider } from '../providers/provider.ts'
import { binanceLive } from './binance-live.ts'
import { bybitLive } from './bybit-live.ts'
import { coinbaseLive } from './coinbase-live.ts'
import { hyperliquidLive } from './hyperliquid-live.ts'
import { krakenLive } from './kraken-live.ts'
import type { LiveProvider } from './live-provider.ts'
import { okxLive } from './okx-live.ts'
import type { StreamOf } from './streams.ts'

export const LIVE_PROVIDERS: readonly LiveProvider[] = [
  binanceLive,
  bybitLive,
  coinbaseLive,
  hyperliquidLive,
  krakenLive,
  okxLive,
]

function streamOf(
  { exchange, symbol, interval: text }: SeriesKey,
  providers: readonly LiveProvider[],
): StreamOf | null {
  const provider = providers.find(({ rest }) => rest.exchanges.includes(exchange))
  const interval = parseInterval(text)
  if (!provider || !interval || provider.rest.intervalName(interval) === null) return null
  const topic = provider.topic(symbol, interval)
  return topic === null ? null : { provider, address: provider.address(symbol), topic }
}

/** Whether bars of a series come by a stream. */
export const streams = (key: SeriesKey): boolean => streamOf(key, LIVE_PROVIDERS) !== null

/** A provider, and its stream of the series if it has one. */
export interface Source {
  readonly provider: Provider
  readonly interval: Interval
  readonly stream: StreamOf | null
}

/** The source of a series, or a sentence that says why there is none, with the provider that lacks it. */
export function sourceOf(
  key: SeriesKey,
  providerOf: ProviderOf,
  providers: readonly LiveProvider[],
): Source | { readonly provider: Provider | null; readonly lack: string } {
  const stream = streamOf(key, providers)
  const provider = stream?.provider.rest ?? providerOf(key.exchange)
  const interval = parseInterval(key.interval)
  if (!provider) return { provider, lack: `No provider has symbols of ${key.exchange}.` }
  if (!interval || provider.intervalName(interval) === null)
    return { provider, lack: `${provider.name} has no bars of this interval.` }
  return { provider, interval, stream }
}
