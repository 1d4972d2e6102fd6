// Bybit v5, wss://stream.bybit.com/v5/public/spot (and /linear): klines with `confirm` on the last of a bar. A ping every
// 20 seconds keeps it open; a request names at most 10 topics.

import { asList, asRecord } from '../providers/provider.ts'
import { bybit, bybitMarket } from '../providers/bybit.ts'
import { type LiveMessage, type LiveProvider, parsedMessage, rowOf } from './live-provider.ts'

const asked = (op: string, args: readonly string[], id: number) =>
  JSON.stringify({ req_id: String(id), op, args })

export const bybitLive: LiveProvider = {
  rest: bybit,
  closing: 'flag',
  topicsAMessage: 10,
  topicsAConnection: 300,
  messageGapMs: 200,
  pingMs: 20_000,
  silenceMs: 50_000,
  address: (symbol) => `wss://stream.bybit.com/v5/public/${bybitMarket(symbol).category}`,
  topic(symbol, interval) {
    const name = bybit.intervalName(interval)
    return name && `kline.${name}.${bybitMarket(symbol).name}`
  },
  subscribe: (topics, id) => asked('subscribe', topics, id),
  unsubscribe: (topics, id) => asked('unsubscribe', topics, id),
  ping: (id) => JSON.stringify({ req_id: String(id), op: 'ping' }),
  read(text): readonly LiveMessage[] {
    const message = parsedMessage(bybit.name, text)
    const { topic, op, success } = message
    if (typeof topic === 'string')
      return (asList(message['data']) ?? []).map((item): LiveMessage => {
        const { start, open, high, low, close, volume, confirm, timestamp } = asRecord(item) ?? {}
        const row = rowOf(bybit.name, [start, open, high, low, close, volume])
        return { kind: 'bar', topic, row, closed: confirm === true, order: Number(timestamp) }
      })
    if (op !== 'subscribe' && success !== false) return []
    const id = Number(message['req_id'] ?? Number.NaN)
    const known = Number.isInteger(id) ? { id } : {}
    if (success === true) return [{ kind: 'subscribed', ...known }]
    return [{ kind: 'refused', ...known, message: String(message['ret_msg']) }]
  },
}
