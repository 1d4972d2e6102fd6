// Binance spot, wss://data-stream.binance.vision/ws: klines once a second or two, with a flag on the last of a bar. Five
// messages a second from us, 1,024 streams a connection, which ends after 24 hours. Its pings are frames, which are answered
// below us; asking for the list of streams shows that somebody is there.

import { asRecord, sided } from '../providers/provider.ts'
import { binance } from '../providers/binance.ts'
import { type LiveMessage, type LiveProvider, parsedMessage, rowOf } from './live-provider.ts'

const asked = (method: string, params: readonly string[], id: number) =>
  JSON.stringify({ method, params, id })

export const binanceLive: LiveProvider = {
  rest: binance,
  closing: 'flag',
  topicsAMessage: 100,
  topicsAConnection: 1000,
  messageGapMs: 250,
  pingMs: 30_000,
  silenceMs: 75_000,
  address: () => 'wss://data-stream.binance.vision/ws',
  topic(symbol, interval) {
    const name = binance.intervalName(interval)
    return name && `${symbol.replace(/[/_-]/, '').toLowerCase()}@kline_${name}`
  },
  subscribe: (topics, id) => asked('SUBSCRIBE', topics, id),
  unsubscribe: (topics, id) => asked('UNSUBSCRIBE', topics, id),
  ping: (id) => JSON.stringify({ method: 'LIST_SUBSCRIPTIONS', id }),
  read(text): readonly LiveMessage[] {
    const message = parsedMessage(binance.name, text)
    const { e, id } = message
    if (e === 'kline') {
      const kline = asRecord(message['k']) ?? {}
      const { t, o, h, l, c, v, V, x, s, i } = kline
      const topic = `${String(s).toLowerCase()}@kline_${String(i)}`
      const row = sided(rowOf(binance.name, [t, o, h, l, c, v]), V)
      return [{ kind: 'bar', topic, row, closed: x === true, order: Number(message['E']) }]
    }
    if (e === 'serverShutdown') return [{ kind: 'goodbye', message: 'the server is shut down' }]
    const error = asRecord(message['error']) ?? ('code' in message ? message : null)
    if (error) {
      const refused = { kind: 'refused', message: String(error['msg']) } as const
      return [typeof id === 'number' ? { ...refused, id } : refused]
    }
    return typeof id === 'number' ? [{ kind: 'subscribed', id }] : []
  },
}
