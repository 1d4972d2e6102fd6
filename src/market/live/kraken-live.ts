// Kraken v2, wss://ws.kraken.com/v2: the channel `ohlc`, told of at each trade, without a flag on the last of a bar: the next
// one tells. Heartbeats come once a second. Its tickers are not those of its REST service: BTC/USD, not XBTUSD.

import { asList, asRecord } from '../providers/provider.ts'
import { kraken } from '../providers/kraken.ts'
import { type LiveMessage, type LiveProvider, parsedMessage, rowOf } from './live-provider.ts'

const QUOTES = /(USDT|USDC|USD|EUR|GBP|CAD|AUD|CHF|JPY|XBT|BTC|ETH)$/

function pairOf(symbol: string): string {
  const pair = /[/_-]/.test(symbol) ? symbol.replace(/[_-]/, '/') : symbol.replace(QUOTES, '/$1')
  return pair.replace(/\bXBT\b/, 'BTC').replace(/\bXDG\b/, 'DOGE')
}

/** All topics of a request are of one interval, which a topic begins with: `5 BTC/USD`. */
function asked(method: string, topics: readonly string[], id: number): string {
  const interval = Number(topics[0]?.split(' ')[0])
  const symbol = topics.map((topic) => topic.split(' ')[1])
  return JSON.stringify({
    method,
    params: { channel: 'ohlc', symbol, interval, snapshot: false },
    req_id: id,
  })
}

export const krakenLive: LiveProvider = {
  rest: kraken,
  closing: 'next',
  // Requests may not mix intervals, so each has one topic.
  topicsAMessage: 1,
  topicsAConnection: 200,
  messageGapMs: 100,
  pingMs: 30_000,
  silenceMs: 20_000,
  address: () => 'wss://ws.kraken.com/v2',
  topic(symbol, interval) {
    const minutes = kraken.intervalName(interval)
    return minutes && `${minutes} ${pairOf(symbol)}`
  },
  subscribe: (topics, id) => asked('subscribe', topics, id),
  unsubscribe: (topics, id) => asked('unsubscribe', topics, id),
  ping: (id) => JSON.stringify({ method: 'ping', req_id: id }),
  read(text): readonly LiveMessage[] {
    const message = parsedMessage(kraken.name, text)
    const { channel, method, success } = message
    if (channel === 'ohlc')
      return (asList(message['data']) ?? []).map((item): LiveMessage => {
        const { symbol, open, high, low, close, volume, interval_begin, interval } = asRecord(item) ?? {}
        const row = rowOf(kraken.name, [Date.parse(String(interval_begin)), open, high, low, close, volume])
        const order = Date.parse(String(message['timestamp']))
        return { kind: 'bar', topic: `${String(interval)} ${String(symbol)}`, row, closed: false, order }
      })
    if (method !== 'subscribe') return []
    const id = Number(message['req_id'] ?? Number.NaN)
    const known = Number.isInteger(id) ? { id } : {}
    if (success === true) return [{ kind: 'subscribed', ...known }]
    return [{ kind: 'refused', ...known, message: String(message['error']) }]
  },
}
