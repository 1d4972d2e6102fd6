// From the frame that says that a bar is closed to the webhook of the alert that waits for it: 100 series close together once a
// second, over a real WebSocket, a store on disk and a receiver on this machine.
// POLLED=1: the same of series that are asked for, with a key of Alpaca's, from the first answer that has the bar as it closed.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { BarCache } from '../../../src/market/bar-cache.ts'
import type { OpenSocket } from '../../../src/market/live/connection.ts'
import { openSocket } from '../../../src/server/providers-net.ts'
import { lmdbBars } from '../../../src/store/lmdb-bars.ts'
import { lmdbKv } from '../../../src/store/lmdb.ts'
import { FakeClock, testServer, unlimited } from '../../http/server.ts'
import { noteRow } from '../../bench-rows.ts'
import { keyedAnswer, type KeyedBars } from '../fake-keyed.ts'

const SERIES = Number(process.env['SERIES'] ?? 100)
const POLLED = process.env['POLLED'] === '1'
/** The first closes of a process that has just begun are slow, since its code is cold: so many seconds are not measured. */
const COLD = POLLED ? 60 : 4
/** A receiver is sent one event at a time. */
const RECEIVERS = 10
const SECOND = 1000
const STEP = POLLED ? 60 * SECOND : SECOND
const MEASURED = POLLED ? 125 : 11
/** What keeps a bar from being closed the moment that it ends. */
const SETTLE = 2 * SECOND
const [exchangeName, interval] = POLLED ? ['NASDAQ', '1m'] : ['BINANCE', '1s']

class RealClock extends FakeClock {
  override now(): number {
    return Date.now()
  }
  override sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      signal?.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true })
      if (signal?.aborted) resolve()
    })
  }
}

const price = (time: number) => String(100 + ((time / SECOND) % 7))
const kline = (topic: string, time: number, closed: boolean) => {
  const [symbol = ''] = topic.toUpperCase().split('@')
  const at = price(time)
  const k = { t: time, T: time + 999, s: symbol, i: '1s', o: at, c: at, h: at, l: at, v: '1', x: closed }
  return JSON.stringify({ e: 'kline', E: Date.now(), s: symbol, k })
}

const minutes: KeyedBars = ({ symbol, from, to }) => {
  const bars = []
  const now = Date.now()
  // Of one that forms an alert would be told before it is closed.
  for (let time = Math.ceil(from / STEP) * STEP; time <= Math.min(to, now - STEP); time += STEP) {
    const at = `${symbol} ${time}`
    if (measured && now >= time + STEP + SETTLE && now < time + 2 * STEP && !closedAt.has(at))
      closedAt.set(at, performance.now())
    bars.push({ time, open: 100, high: 100, low: 100, close: 100, volume: 1 })
  }
  return bars
}

let measured = false
const topics = new Set<string>()
const sockets = new Set<{ send(text: string): unknown }>()
const closedAt = new Map<string, number>()
const waits: number[] = []
const exchange = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch(request, server) {
    if (server.upgrade(request)) return undefined
    const { searchParams, pathname, search } = new URL(request.url)
    if (POLLED) return keyedAnswer(new URL(`https://data.alpaca.markets${pathname}${search}`), minutes)
    const rows: unknown[] = []
    const to = Math.min(Number(searchParams.get('endTime')), Date.now())
    for (
      let time = Math.ceil(Number(searchParams.get('startTime')) / SECOND) * SECOND;
      time <= to;
      time += SECOND
    )
      rows.push([time, price(time), price(time), price(time), price(time), '1'])
    return Response.json(rows.slice(0, 1000))
  },
  websocket: {
    open: (socket) => void sockets.add(socket),
    message(socket, text) {
      const { method, params, id } = JSON.parse(String(text)) as {
        method: string
        params: string[]
        id: number
      }
      if (method === 'SUBSCRIBE') for (const topic of params) topics.add(topic)
      socket.send(JSON.stringify({ result: null, id }))
    },
  },
})
const receiver = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    const { data } = (await request.json()) as { data: { symbol: string; barTime: string } }
    const at = closedAt.get(`${data.symbol} ${Date.parse(data.barTime)}`)
    if (at !== undefined) waits.push(performance.now() - at)
    return new Response('ok')
  },
})

const local: OpenSocket = (_, events) => openSocket(`ws://127.0.0.1:${exchange.port}`, events)
const folder = mkdtempSync(`${tmpdir()}/chartroom-bench-`)
const kv = lmdbKv({ path: `${folder}/db` })
const server = testServer(unlimited, {
  clock: new RealClock(),
  kv,
  bars: new BarCache(lmdbBars(kv)),
  network: {
    http(url) {
      const { pathname, search } = new URL(url)
      return fetch(`http://127.0.0.1:${exchange.port}${pathname}${search}`)
    },
    openSocket: local,
    async send({ body }) {
      await fetch(`http://127.0.0.1:${receiver.port}`, { method: 'POST', body })
      return { status: 200, retryAfter: null, excerpt: '', failure: null }
    },
  },
})
const cookie = await server.signUp()
const call = (method: string, path: string, body?: unknown) =>
  server.call(method, `/api/platform${path}`, { headers: cookie, ...(body !== undefined && { body }) })
const stop = new AbortController()
const running = server.services.features.start(stop.signal)
const receivers: string[] = []
for (let i = 0; i < RECEIVERS; i++) {
  const body = { name: `bench ${i}`, url: `https://r${i}.example/`, events: ['alert.triggered'] }
  receivers.push((await call('POST', '/webhooks', body)).json.id)
}
const begun = Date.now() - 60 * STEP
if (POLLED) await call('PUT', '/providers/Alpaca/key', { key: 'PKTEST', secret: 'secret' })
for (let i = 0; i < SERIES; i++) {
  const series = { exchange: exchangeName, symbol: `C${i}USDT`, interval }
  const csv = `time,open,high,low,close,volume\n${Math.floor(begun / STEP) * STEP},1,1,1,1,1\n`
  const query = new URLSearchParams(series).toString()
  await server.call('POST', `/api/platform/bars/import?${query}`, {
    headers: { ...cookie, 'content-type': 'text/csv' },
    body: csv,
  })
  if (POLLED) await call('PUT', `/symbols/${exchangeName}/${series.symbol}`, { session: '24x7' })
  await call('POST', '/feeds', series)
}
// As an exchange does: every second, from the moment that somebody listens.
const ended = new AbortController()
const ticking = (async () => {
  while (!ended.signal.aborted) {
    await Bun.sleep(SECOND - (Date.now() % SECOND))
    const time = Math.floor(Date.now() / SECOND) * SECOND - SECOND
    for (const topic of topics) {
      if (measured) closedAt.set(`${topic.toUpperCase().split('@')[0]} ${time}`, performance.now())
      for (const socket of sockets) socket.send(kline(topic, time, true))
    }
  }
})()
const wanted = POLLED ? 0 : SERIES
while (topics.size < wanted) await Bun.sleep(100)
// Each series is read from REST once, one after the other.
const isLive = async () => {
  const { json } = await call('GET', '/feeds')
  return (json.feeds as { state: string }[]).every(({ state }) => state === (POLLED ? 'fresh' : 'live'))
}
while (!(await isLive())) await Bun.sleep(SECOND)
for (let i = 0; i < SERIES; i++)
  await call('POST', '/alerts', {
    exchange: exchangeName,
    symbol: `C${i}USDT`,
    interval,
    kind: 'price',
    op: 'above',
    price: 1,
    frequency: 'every_time',
    channels: ['webhook'],
    webhookIds: [receivers[i % RECEIVERS]],
  })
await Bun.sleep(COLD * SECOND)
measured = true
await Bun.sleep(MEASURED * SECOND)
measured = false
await Bun.sleep(3 * SECOND)
waits.sort((a, b) => a - b)
const at = (part: number) => waits[Math.min(waits.length - 1, Math.floor(waits.length * part))] ?? Number.NaN
console.log(
  `${waits.length} webhooks: median ${at(0.5).toFixed(0)} ms, p99 ${at(0.99).toFixed(0)} ms, most ${at(1).toFixed(0)} ms`,
)
noteRow(`closed bar to webhook, 100 ${POLLED ? 'polled ' : ''}series at once, p99`, at(0.99), 'ms', {
  wanted: '1000 ms',
})
ended.abort()
await ticking
stop.abort()
await running
server.pool.close()
await exchange.stop(true)
await receiver.stop(true)
await kv.close()
rmSync(folder, { recursive: true })
process.exit(0)
