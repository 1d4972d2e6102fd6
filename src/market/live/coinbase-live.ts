// Coinbase Exchange, wss://ws-feed.exchange.coinbase.com: it has no bars, so ours are made of its trades (`matches`), which
// are numbered without holes. Heartbeats come once a second and name the last trade, so that a lost one at the end is noticed.

import { intervalMs } from '../interval.ts'
import { asList } from '../providers/provider.ts'
import { coinbase, coinbaseProduct } from '../providers/coinbase.ts'
import { type LiveMessage, type LiveProvider, parsedMessage, UnreadableMessage } from './live-provider.ts'

const asked = (type: string, product_ids: readonly string[]) =>
  JSON.stringify({ type, product_ids, channels: ['matches', 'heartbeat'] })

const NUMBER = /^\d{1,20}(\.\d{1,18})?$/

export const coinbaseLive: LiveProvider = {
  rest: coinbase,
  closing: 'trades',
  topicsAMessage: 20,
  topicsAConnection: 100,
  messageGapMs: 200,
  // Its heartbeats come without being asked for; what is sent here changes nothing.
  pingMs: 30_000,
  silenceMs: 20_000,
  address: () => 'wss://ws-feed.exchange.coinbase.com',
  topic: (symbol, interval) => (intervalMs(interval) > 86_400_000 ? null : coinbaseProduct(symbol)),
  subscribe: (topics) => asked('subscribe', topics),
  unsubscribe: (topics) => asked('unsubscribe', topics),
  ping: () => '',
  read(text): readonly LiveMessage[] {
    const message = parsedMessage(coinbase.name, text)
    const { type, product_id, trade_id, price, size, last_trade_id } = message
    const topic = String(product_id)
    const time = Date.parse(String(message['time']))
    if (type === 'match' || type === 'last_match') {
      const isTrade = Number.isFinite(time) && NUMBER.test(String(price)) && NUMBER.test(String(size))
      if (!isTrade || !Number.isInteger(trade_id)) throw new UnreadableMessage(coinbase.name, text)
      const id = Number(trade_id)
      // The first message after a subscription is the trade before it, which is not of the stream.
      if (type === 'last_match') return [{ kind: 'told', topic, lastId: id, time }]
      return [{ kind: 'trade', topic, id, time, price: String(price), size: String(size) }]
    }
    if (type === 'heartbeat') return [{ kind: 'told', topic, lastId: Number(last_trade_id), time }]
    if (type === 'subscriptions') {
      const channels = asList(message['channels']) ?? []
      const named = channels.flatMap((one) => asList((one as { product_ids?: unknown }).product_ids) ?? [])
      return [{ kind: 'subscribed', topics: [...new Set(named.map(String))] }]
    }
    if (type === 'error') {
      const reason = [message['message'], message['reason']]
        .filter((one) => typeof one === 'string')
        .join(': ')
      const product = /([A-Z0-9]+-[A-Z0-9]+) is not a valid product/.exec(reason)?.[1]
      return [{ kind: 'refused', ...(product && { topics: [product] }), message: reason }]
    }
    return []
  },
}
