// Hyperliquid, wss://api.hyperliquid.xyz/ws: candles without a flag on the last of a bar: the next one tells. It closes what
// was silent for a minute; 1,000 streams and 2,000 messages a minute. Of two candles of one bar the one with more trades is later.

import { asRecord } from '../providers/provider.ts'
import { candleOf, hyperliquid, hyperliquidCoin } from '../providers/hyperliquid.ts'
import { type LiveMessage, type LiveProvider, parsedMessage, rowOf } from './live-provider.ts'

/** A topic is the interval and the coin: `1m BTC`. */
function asked(method: string, topics: readonly string[]): string {
  const [interval, coin] = topics[0]?.split(' ') ?? []
  return JSON.stringify({ method, subscription: { type: 'candle', coin, interval } })
}

export const hyperliquidLive: LiveProvider = {
  rest: hyperliquid,
  closing: 'next',
  topicsAMessage: 1,
  topicsAConnection: 200,
  messageGapMs: 100,
  pingMs: 30_000,
  silenceMs: 75_000,
  address: () => 'wss://api.hyperliquid.xyz/ws',
  topic(symbol, interval) {
    const name = hyperliquid.intervalName(interval)
    return name && `${name} ${hyperliquidCoin(symbol)}`
  },
  subscribe: (topics) => asked('subscribe', topics),
  unsubscribe: (topics) => asked('unsubscribe', topics),
  ping: () => JSON.stringify({ method: 'ping' }),
  read(text): readonly LiveMessage[] {
    const message = parsedMessage(hyperliquid.name, text)
    const { channel, data } = message
    if (channel === 'candle')
      return (Array.isArray(data) ? data : [data]).map((item): LiveMessage => {
        const { s, i, n } = asRecord(item) ?? {}
        const row = rowOf(hyperliquid.name, candleOf(item))
        return { kind: 'bar', topic: `${String(i)} ${String(s)}`, row, closed: false, order: Number(n) }
      })
    if (channel === 'subscriptionResponse') {
      const { coin, interval } = asRecord(asRecord(data)?.['subscription']) ?? {}
      return [{ kind: 'subscribed', topics: [`${String(interval)} ${String(coin)}`] }]
    }
    if (channel === 'error') {
      const coin = /"coin":"([^"]+)"/.exec(String(data))?.[1]
      const interval = /"interval":"([^"]+)"/.exec(String(data))?.[1]
      const topics = coin && interval ? { topics: [`${interval} ${coin}`] } : {}
      return [{ kind: 'refused', ...topics, message: String(data) }]
    }
    return []
  },
}
