// OKX v5, wss://ws.okx.com:8443/ws/v5/business: candles with a flag on the last of a bar. It closes what was silent for 30
// seconds: the text `ping` is answered by `pong`. 480 requests an hour a connection, 3 new connections a second. Candles carry
// no time of their own, so their volume, which only grows within a bar, tells the later one.

import { asList, asRecord } from '../providers/provider.ts'
import { okx, okxInstrument } from '../providers/okx.ts'
import { type LiveMessage, type LiveProvider, parsedMessage, rowOf } from './live-provider.ts'

function asked(op: string, topics: readonly string[], id: number): string {
  const args = topics.map((topic) => {
    const [channel, instId] = topic.split(' ')
    return { channel, instId }
  })
  return JSON.stringify({ id: String(id), op, args })
}

export const okxLive: LiveProvider = {
  rest: okx,
  closing: 'flag',
  topicsAMessage: 50,
  topicsAConnection: 200,
  messageGapMs: 400,
  pingMs: 20_000,
  silenceMs: 50_000,
  address: () => 'wss://ws.okx.com:8443/ws/v5/business',
  topic(symbol, interval) {
    const name = okx.intervalName(interval)
    return name && `candle${name} ${okxInstrument(symbol)}`
  },
  subscribe: (topics, id) => asked('subscribe', topics, id),
  unsubscribe: (topics, id) => asked('unsubscribe', topics, id),
  ping: () => 'ping',
  read(text): readonly LiveMessage[] {
    if (text === 'pong') return []
    const message = parsedMessage(okx.name, text)
    const { event } = message
    const arg = asRecord(message['arg'])
    const topics = arg ? [`${String(arg['channel'])} ${String(arg['instId'])}`] : null
    if (event === 'subscribe') return [{ kind: 'subscribed', ...(topics && { topics }) }]
    if (event === 'notice') return [{ kind: 'goodbye', message: String(message['msg']) }]
    if (event === 'error') {
      const id = Number(message['id'] ?? Number.NaN)
      // Without an id, the text names the stream.
      const named = /channel:([^,\s]+),\s*instId:([^,\s]+?)(?:\s|$|\sdoesn't)/u.exec(String(message['msg']))
      return [
        {
          kind: 'refused',
          ...(Number.isInteger(id) && { id }),
          ...(named && { topics: [`${named[1]} ${named[2]}`] }),
          message: String(message['msg']),
        },
      ]
    }
    const [topic] = topics ?? []
    if (topic === undefined || typeof event === 'string') return []
    return (asList(message['data']) ?? []).map((item): LiveMessage => {
      const values = asList(item) ?? []
      const row = rowOf(okx.name, values.slice(0, 6))
      return { kind: 'bar', topic, row, closed: values[8] === '1', order: row[5] }
    })
  },
}
