// Connections on a clock that the test turns, to exchanges that answer as they are told to.

import { describe, expect, test } from 'bun:test'
import { binanceLive } from '../../../src/market/live/binance-live.ts'
import { bybitLive } from '../../../src/market/live/bybit-live.ts'
import { coinbaseLive } from '../../../src/market/live/coinbase-live.ts'
import { Connection, type SocketEvents } from '../../../src/market/live/connection.ts'
import { hyperliquidLive } from '../../../src/market/live/hyperliquid-live.ts'
import { krakenLive } from '../../../src/market/live/kraken-live.ts'
import type { LiveMessage, LiveProvider } from '../../../src/market/live/live-provider.ts'
import { okxLive } from '../../../src/market/live/okx-live.ts'
import { parseInterval } from '../../../src/market/interval.ts'
import { HandClock } from '../../lib/hand-clock.ts'

interface Opened {
  readonly at: number
  readonly sent: { readonly at: number; readonly text: string }[]
  readonly events: SocketEvents
  isOpen: boolean
}

function connected(provider: LiveProvider, answer: (text: string) => readonly string[] = () => []) {
  const clock = new HandClock()
  const begin = clock.now()
  const opened: Opened[] = []
  const told: string[] = []
  const since = () => clock.now() - begin
  const connection = new Connection(
    provider,
    'wss://exchange.example',
    {
      clock,
      spread: () => 0.5,
      open(_, events) {
        const one: Opened = { at: since(), sent: [], events, isOpen: true }
        opened.push(one)
        queueMicrotask(() => events.opened())
        return {
          send(text) {
            one.sent.push({ at: since(), text })
            for (const said of answer(text)) queueMicrotask(() => events.text(said))
          },
          close: () => (one.isOpen = false),
        }
      },
    },
    {
      subscribed: (topic) => told.push(`subscribed ${topic}`),
      refused: (topic, message) => told.push(`refused ${topic}: ${message}`),
      cut: (_, reason) => told.push(`cut: ${reason}`),
      heard: ({ kind, topic }) => told.push(`${kind} ${topic}`),
    },
  )
  const stop = new AbortController()
  const running = () => connection.run(stop.signal)
  return { clock, connection, opened, told, running, stop }
}

const accept = (text: string) => {
  const { id, method } = JSON.parse(text) as { id: number; method: string }
  return method === 'UNSUBSCRIBE' ? [] : [JSON.stringify({ result: null, id })]
}

test('a connection that says nothing is cut and opened again, and asks for its topics again', async () => {
  const one = connected(binanceLive, accept)
  one.connection.add('btcusdt@kline_1m')
  const running = one.running()
  await one.clock.pass(60_000)
  expect(one.opened).toHaveLength(1)
  // It answers pings, so it lives.
  expect(one.opened[0]?.sent.map(({ at }) => at)).toEqual([0, 30_000, 60_000])
  expect(one.told).toEqual(['subscribed btcusdt@kline_1m'])
  const silent = connected(binanceLive)
  silent.connection.add('btcusdt@kline_1m')
  const waiting = silent.running()
  await silent.clock.pass(80_000)
  expect(silent.told).toEqual(['cut: nothing was heard for 75 s'])
  expect(silent.opened.map(({ at, isOpen }) => [at, isOpen])).toEqual([
    [0, false],
    [75_500, true],
  ])
  expect(silent.opened[1]?.sent[0]?.text).toContain('SUBSCRIBE')
  for (const each of [one, silent]) each.stop.abort()
  await Promise.all([running, waiting])
})

test('the wait before the next try doubles up to a minute, and begins anew after a connection that lasted', async () => {
  const one = connected(binanceLive, accept)
  one.connection.add('btcusdt@kline_1m')
  const running = one.running()
  const waits: number[] = []
  for (let i = 0; i < 9; i++) {
    await one.clock.settle()
    const before = one.clock.now()
    const { length } = one.opened
    one.opened.at(-1)?.events.closed('cut')
    while (one.opened.length === length) await one.clock.pass(250)
    waits.push(one.clock.now() - before)
  }
  expect(waits).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000])
  await one.clock.pass(30_000)
  one.opened.at(-1)?.events.closed('cut')
  await one.clock.pass(500)
  expect(one.opened).toHaveLength(11)
  one.stop.abort()
  await running
})

test('requests keep to the limits of the exchange, and name as many topics as one may', async () => {
  const one = connected(bybitLive, (text) => {
    const { req_id, op } = JSON.parse(text) as { req_id: string; op: string }
    return op === 'subscribe'
      ? [JSON.stringify({ success: true, ret_msg: 'subscribe', conn_id: 'c', req_id, op })]
      : []
  })
  for (let i = 0; i < 35; i++) one.connection.add(`kline.1.C${i}`)
  const running = one.running()
  await one.clock.pass(2000)
  const sent = one.opened[0]!.sent.map(({ at, text }) => [
    at,
    (JSON.parse(text) as { args: string[] }).args.length,
  ])
  expect(sent).toEqual([
    [0, 10],
    [200, 10],
    [400, 10],
    [600, 5],
  ])
  expect(one.told).toHaveLength(35)
  one.stop.abort()
  await running
})

test('of a request that is refused as a whole only the unknown topic is left out', async () => {
  const one = connected(bybitLive, (text) => {
    const { req_id, op, args } = JSON.parse(text) as { req_id: string; op: string; args: string[] }
    const bad = args.find((topic) => topic.includes('NONE'))
    const ret_msg = bad ? `error:handler not found,topic:${bad}` : 'subscribe'
    return [JSON.stringify({ success: !bad, ret_msg, conn_id: 'c', req_id, op })]
  })
  for (const name of ['A', 'NONE', 'B']) one.connection.add(`kline.1.${name}`)
  const running = one.running()
  await one.clock.pass(3000)
  expect([...one.told].sort()).toEqual([
    'refused kline.1.NONE: error:handler not found,topic:kline.1.NONE',
    'subscribed kline.1.A',
    'subscribed kline.1.B',
  ])
  one.stop.abort()
  await running
})

test('what nobody wants any more is unsubscribed, and the last topic closes the connection', async () => {
  const one = connected(binanceLive, accept)
  one.connection.add('a@kline_1m')
  one.connection.add('b@kline_1m')
  const running = one.running()
  await one.clock.pass(1000)
  one.connection.remove('a@kline_1m')
  await one.clock.pass(1000)
  expect(one.opened[0]?.sent.at(-1)?.text).toBe('{"method":"UNSUBSCRIBE","params":["a@kline_1m"],"id":2}')
  one.connection.remove('b@kline_1m')
  await running
  expect(one.opened.map(({ isOpen }) => isOpen)).toEqual([false])
})

test('an exchange that says goodbye is left and met again', async () => {
  const one = connected(binanceLive, accept)
  one.connection.add('a@kline_1m')
  const running = one.running()
  await one.clock.pass(40_000)
  one.opened[0]?.events.text('{"e":"serverShutdown","E":1770123456789}')
  one.opened[0]?.events.text('{"result":null,"id":99}')
  await one.clock.pass(500)
  expect(one.told).toEqual(['subscribed a@kline_1m', 'cut: the server is shut down', 'subscribed a@kline_1m'])
  one.stop.abort()
  await running
})

const refused = (message: string, rest: object = {}): LiveMessage => ({ kind: 'refused', message, ...rest })

describe('what exchanges say besides bars', () => {
  test.each<[LiveProvider, string, readonly LiveMessage[]]>([
    [
      binanceLive,
      '{"code":2,"msg":"Invalid request: unknown variant"}',
      [refused('Invalid request: unknown variant')],
    ],
    [
      binanceLive,
      '{"error":{"code":1,"msg":"Unknown symbol"},"id":4}',
      [refused('Unknown symbol', { id: 4 })],
    ],
    [binanceLive, '{"e":"trade","s":"BTCUSDT"}', []],
    [bybitLive, '{"success":true,"ret_msg":"pong","conn_id":"c","req_id":"3","op":"ping"}', []],
    [okxLive, 'pong', []],
    [
      okxLive,
      '{"event":"error","code":"60018","msg":"Wrong URL or channel:candle1m,instId:XX-YY doesn\'t exist. Please use the correct URL","connId":"a"}',
      [
        refused("Wrong URL or channel:candle1m,instId:XX-YY doesn't exist. Please use the correct URL", {
          topics: ['candle1m XX-YY'],
        }),
      ],
    ],
    [
      okxLive,
      '{"event":"notice","code":"64008","msg":"The connection will soon be closed for a service upgrade. Please reconnect.","connId":"a"}',
      [
        {
          kind: 'goodbye',
          message: 'The connection will soon be closed for a service upgrade. Please reconnect.',
        },
      ],
    ],
    [krakenLive, '{"channel":"status","type":"update","data":[{"system":"online"}]}', []],
    [krakenLive, '{"channel":"heartbeat"}', []],
    [
      krakenLive,
      '{"error":"Currency pair not supported XX/USD","method":"subscribe","req_id":7,"success":false,"symbol":"XX/USD"}',
      [refused('Currency pair not supported XX/USD', { id: 7 })],
    ],
    [hyperliquidLive, '{"channel":"pong"}', []],
    [
      hyperliquidLive,
      '{"channel":"error","data":"Invalid subscription {\\"type\\":\\"candle\\",\\"coin\\":\\"NO\\",\\"interval\\":\\"1m\\"}"}',
      [refused('Invalid subscription {"type":"candle","coin":"NO","interval":"1m"}', { topics: ['1m NO'] })],
    ],
    [
      coinbaseLive,
      '{"type":"error","message":"Failed to subscribe","reason":"NO-USD is not a valid product"}',
      [refused('Failed to subscribe: NO-USD is not a valid product', { topics: ['NO-USD'] })],
    ],
    [
      coinbaseLive,
      '{"type":"last_match","trade_id":10,"time":"2026-01-01T00:00:00Z","product_id":"BTC-USD","size":"5.23512","price":"400.23","side":"sell"}',
      [{ kind: 'told', topic: 'BTC-USD', lastId: 10, time: Date.UTC(2026, 0, 1) }],
    ],
  ])('%#', (provider, text, messages) => {
    expect(provider.read(text)).toEqual(messages)
  })

  test.each<[LiveProvider, string]>([
    [binanceLive, '<html>'],
    [binanceLive, '{"e":"kline","E":1,"s":"A","k":{"t":1,"o":"x","h":"1","l":"1","c":"1","v":"1"}}'],
    [binanceLive, '{"e":"kline","E":1,"s":"A","k":{"t":1,"o":"2","h":"1","l":"1","c":"1","v":"1"}}'],
    [bybitLive, '{"topic":"kline.1.A","data":[{}]}'],
    [okxLive, '{"arg":{"channel":"candle1m","instId":"A-B"},"data":[["1","1","1","1","1"]]}'],
    [krakenLive, '{"channel":"ohlc","data":[null]}'],
    [hyperliquidLive, '{"channel":"candle","data":null}'],
    [coinbaseLive, '{"type":"match","trade_id":1,"time":"soon","product_id":"A-B","size":"1","price":"1"}'],
    [
      coinbaseLive,
      '{"type":"match","trade_id":1,"time":"2026-01-01T00:00:00Z","product_id":"A-B","size":"1e999","price":"1"}',
    ],
  ])('what is no message of it is refused, %#', (provider, text) => {
    expect(() => provider.read(text)).toThrow()
  })

  test.each([
    [binanceLive, 'BTCUSDT', '1m', 'btcusdt@kline_1m'],
    [bybitLive, 'BTCUSDT.P', '1d', 'kline.D.BTCUSDT'],
    [okxLive, 'BTCUSDT', '1d', 'candle1Dutc BTC-USDT'],
    [okxLive, 'ETHUSD.P', '1h', 'candle1H ETH-USD-SWAP'],
    [krakenLive, 'XBTUSD', '5m', '5 BTC/USD'],
    [hyperliquidLive, 'BTCUSDC.P', '1m', '1m BTC'],
    [coinbaseLive, 'ETHEUR', '1m', 'ETH-EUR'],
    [krakenLive, 'XBTUSD', '3m', null],
  ] as const)(
    '%#: a series has the topic that the exchange documents',
    (provider, symbol, interval, topic) => {
      expect(provider.topic(symbol, parseInterval(interval)!)).toBe(topic)
    },
  )
})
