// Streams of events: who hears what, who comes back, and how many there may be.

import { Value } from '@sinclair/typebox/value'
import { describe, expect, spyOn, test } from 'bun:test'
import { EventLog } from '../../src/http/event-log.ts'
import { BUCKETS_MAX, DEFAULT_RATES, RateLimiter } from '../../src/http/limits.ts'
import { STREAMS_PER_USER } from '../../src/http/stream-slots.ts'
import { STREAM_EVENTS } from '../../src/wire/event.ts'
import { FakeClock, testServer } from './server.ts'

interface Heard {
  readonly id: string
  readonly event: string
  readonly data: Readonly<Record<string, unknown>>
}

const bar = (day: number) => `time,open,high,low,close,volume\n${Date.UTC(2024, 0, day)},10,12,9,11,5`

async function open() {
  const server = testServer()
  const cookie = await server.signUp()
  const bring = (day: number, headers: Readonly<Record<string, string>> = cookie) =>
    server.call('POST', '/api/platform/bars/import?symbol=abc&exchange=x&interval=1d', {
      body: bar(day),
      headers: { ...headers, 'content-type': 'text/csv' },
    })
  async function listen(query = '', headers: Readonly<Record<string, string>> = cookie) {
    const gone = new AbortController()
    const response = await server.app.handle(
      new Request(`http://localhost/api/platform/stream${query}`, { headers, signal: gone.signal }),
    )
    const reader = response.body?.getReader()
    let text = ''
    return {
      status: response.status,
      response,
      close: () => gone.abort(),
      async next(): Promise<Heard> {
        while (!text.includes('\n\n')) {
          const { value, done } = (await reader?.read()) ?? { done: true }
          if (done) throw new Error('the stream ended')
          // Without a server in between the chunks are text still.
          text += typeof value === 'string' ? value : new TextDecoder().decode(value)
        }
        const end = text.indexOf('\n\n')
        const fields = new Map(
          text
            .slice(0, end)
            .split('\n')
            .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()]),
        )
        text = text.slice(end + 2)
        const event = fields.get('event') ?? ''
        const data = JSON.parse(fields.get('data') ?? '{}')
        const schema = Object.entries(STREAM_EVENTS).find(([kind]) => kind === event)?.[1]
        if (schema) expect([...Value.Errors({ ...schema, additionalProperties: false }, data)]).toEqual([])
        return { id: fields.get('id') ?? '', event, data }
      },
    }
  }
  return { ...server, cookie, bring, listen }
}

test('who comes back with the last id gets what happened meanwhile, once and in order', async () => {
  const { bring, listen, cookie, pool } = await open()
  const first = await listen()
  expect((await first.next()).event).toBe('hello')
  await bring(1)
  const seen = await first.next()
  expect(seen).toMatchObject({ event: 'bars', data: { symbol: 'ABC', inserted: 1 } })
  first.close()
  await bring(2)
  await bring(3)
  for (const [query, headers] of [
    [`?after=${seen.id}`, {}],
    ['', { 'last-event-id': seen.id }],
  ] as const) {
    const again = await listen(query, { ...cookie, ...headers })
    expect((await again.next()).event).toBe('hello')
    expect([(await again.next()).data['last'], (await again.next()).data['last']]).toEqual([
      Date.UTC(2024, 0, 2),
      Date.UTC(2024, 0, 3),
    ])
    again.close()
  }
  pool.close()
})

test('a page that begins its stream at the newest event it was told of misses nothing since', async () => {
  const { bring, call, listen, cookie, pool } = await open()
  await bring(1)
  const { newestEvent } = (await call('GET', '/api/auth/visitor', { headers: cookie })).json
  await bring(2)
  const stream = await listen(`?after=${newestEvent}`)
  expect((await stream.next()).event).toBe('hello')
  expect((await stream.next()).data['last']).toBe(Date.UTC(2024, 0, 2))
  stream.close()
  pool.close()
})

test('an event is written out once, however many hear it', async () => {
  const { bring, listen } = await open()
  const streams = await Promise.all(Array.from({ length: 10 }, () => listen()))
  for (const stream of streams) await stream.next()
  const stringify = spyOn(JSON, 'stringify')
  try {
    await bring(1)
    const heard = await Promise.all(streams.map((stream) => stream.next()))
    expect(heard.map(({ event, data }) => [event, data['inserted']])).toEqual(
      Array.from({ length: 10 }, () => ['bars', 1]),
    )
    const ofEvent = stringify.mock.calls.filter(([value]) => Object.hasOwn(Object(value), 'last'))
    expect(ofEvent.filter(([value]) => !Object.hasOwn(Object(value), 'change')).length).toBe(1)
  } finally {
    stringify.mockRestore()
    for (const { close } of streams) close()
  }
})
test('who comes back from too long ago, or another server, is told to ask for the state', async () => {
  const { listen, bring, pool } = await open()
  for (const after of ['old.7', 'nonsense', '', '.', 'a.b.c']) {
    const stream = await listen(`?after=${after}`)
    if (after === '') {
      expect(stream.status).toBe(422)
      continue
    }
    expect((await stream.next()).event).toBe('hello')
    expect((await stream.next()).event).toBe('resync')
    await bring(1)
    expect((await stream.next()).event).toBe('bars')
    stream.close()
  }
  pool.close()
})

test('a stream says no more when its session was ended or its token revoked', async () => {
  const { bring, call, listen, signUp, cookie, token } = await open()
  const { json } = await call('POST', '/api/platform/tokens', {
    body: { scopes: ['bars:read'] },
    headers: cookie,
  })
  const byToken = await listen('', { authorization: `Bearer ${json.secret}` })
  const other = await signUp('other@example.com')
  const bySession = await listen('', other)
  const stays = await listen('', await token(cookie, ['bars:read']))
  for (const stream of [byToken, bySession, stays]) expect((await stream.next()).event).toBe('hello')
  await call('DELETE', `/api/platform/tokens?id=${json.id}`, { headers: cookie })
  await call('POST', '/api/auth/sign-out', { headers: other })
  await bring(1)
  expect((await stays.next()).event).toBe('bars')
  expect(byToken.next()).rejects.toThrow('the stream ended')
  expect(bySession.next()).rejects.toThrow('the stream ended')
  stays.close()
})

test('a user has 20 streams; the next is refused with a sentence, and a place that gets free can be taken', async () => {
  const { listen, signUp, call, pool } = await open()
  const streams = []
  for (let i = 0; i < STREAMS_PER_USER; i++) {
    const stream = await listen()
    await stream.next()
    streams.push(stream)
  }
  const refused = await listen()
  expect(refused.status).toBe(429)
  expect(refused.response.headers.get('retry-after')).toBe('30')
  const other = await listen('', await signUp('other@example.com'))
  expect(other.status).toBe(200)
  expect((await call('GET', '/metrics')).text).toContain('chartroom_event_streams 21')
  streams[7]?.close()
  await new Promise((resolve) => setImmediate(resolve))
  const again = await listen()
  expect(again.status).toBe(200)
  for (const stream of [...streams, other, again]) stream.close()
  pool.close()
})

describe('the log of events', () => {
  test('keeps the newest, and agrees with a list at every place', () => {
    const log = new EventLog<number>('x', 8)
    for (let count = 0; count < 30; count++) {
      for (let place = 0; place <= count; place++) {
        const expected =
          place === count ? null : count - place > 8 ? 'missed' : { id: `x.${place + 1}`, event: place }
        expect(log.behind(`x.${place}`)).toEqual(expected)
      }
      expect([log.newest, log.behind(`x.${count + 1}`), log.behind(`y.${count}`)]).toEqual([
        `x.${count}`,
        'missed',
        'missed',
      ])
      log.push(count)
    }
  })
})

describe('limits', () => {
  test('health, readiness and metrics are answered however many ask', async () => {
    const { call, pool } = testServer()
    for (let i = 0; i < 130; i++) await call('GET', '/api/search?q=x')
    expect((await call('GET', '/api/search?q=x')).status).toBe(429)
    for (const path of ['/api/health', '/api/ready', '/metrics'])
      for (let i = 0; i < 130; i++) expect((await call('GET', path)).status).toBe(200)
    pool.close()
  })

  test('half a token lets nobody in', () => {
    const clock = new FakeClock()
    const limiter = new RateLimiter(clock, DEFAULT_RATES)
    for (let i = 0; i < 120; i++) limiter.take('anonymous', 'ip')
    clock.advance(499)
    expect(() => limiter.take('anonymous', 'ip')).toThrow('Wait 1 s')
    clock.advance(1)
    expect(limiter.take('anonymous', 'ip')['ratelimit']).toBe('"anonymous";r=0;t=1')
    expect(() => limiter.take('anonymous', 'ip')).toThrow('At most 120 requests of this kind a minute.')
  })

  test('a clock that is set back by hours takes no requests away', () => {
    const clock = new FakeClock()
    const limiter = new RateLimiter(clock, DEFAULT_RATES)
    limiter.take('anonymous', 'ip')
    clock.advance(-3 * 3_600_000)
    for (let i = 0; i < 119; i++) limiter.take('anonymous', 'ip')
    expect(() => limiter.take('anonymous', 'ip')).toThrow('Wait 1 s')
    clock.advance(1000)
    limiter.take('anonymous', 'ip')
  })

  test('a flood of addresses does not grow the limiter, nor free one that keeps on', () => {
    const clock = new FakeClock()
    const limiter = new RateLimiter(clock, DEFAULT_RATES)
    const take = (client: string) => {
      try {
        limiter.take('anonymous', client)
        return true
      } catch {
        return false
      }
    }
    for (let i = 0; i < 120; i++) take('persistent')
    for (let i = 0; i < 2.5 * BUCKETS_MAX; i++) {
      take(`10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`)
      if (i % 1000 === 0) expect(take('persistent')).toBe(false)
    }
    expect(limiter.size).toBeLessThanOrEqual(BUCKETS_MAX)
  })
})
