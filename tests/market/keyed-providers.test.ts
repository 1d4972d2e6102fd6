// No provider can be reached from a test, so each meets a stand-in that speaks its documented format.

import { describe, expect, test } from 'bun:test'
import { BarCache } from '../../src/market/bar-cache.ts'
import { seriesKey } from '../../src/market/bar-store.ts'
import { parseInterval } from '../../src/market/interval.ts'
import { POLLED_EXCHANGES } from '../../src/market/live/streamed.ts'
import { fetchList } from '../../src/market/listings/fetch-list.ts'
import { fetchSeries, PROVIDERS } from '../../src/market/providers/fetch-bars.ts'
import { KEYED_PROVIDERS } from '../../src/market/providers/keyed/keyed-providers.ts'
import { Pace } from '../../src/market/providers/pace.ts'
import { rejection } from '../rejection.ts'
import { DAY_START, IN_SESSION, keyedList, keyedVenue } from './fake-keyed.ts'
import { testBars } from '../store/test-store.ts'

const DAY = 86_400_000
const KEYS: Readonly<Record<string, { readonly key: string; readonly secret: string }>> = {
  Alpaca: { key: 'PKTEST', secret: 'secret' },
  Massive: { key: 'mkey', secret: '' },
  Tiingo: { key: 'tkey', secret: '' },
  'Twelve Data': { key: 'dkey', secret: '' },
}

function asking(name: string, credentials = KEYS[name]!) {
  const venue = keyedVenue()
  const { provider, list } = KEYED_PROVIDERS.find((one) => one.name === name)!.make(credentials)
  const waits: number[] = []
  let time = DAY_START + 3 * DAY
  const clock = {
    now: () => time,
    async sleep(ms: number) {
      waits.push(ms)
      time += ms
    },
  }
  const cache = new BarCache(testBars())
  const fetched = async (interval: string, symbol = 'AAPL') => {
    const key = seriesKey('NASDAQ', symbol, interval)
    const range = { from: DAY_START, to: DAY_START + 2 * DAY }
    await fetchSeries(cache, key, { http: venue.http, clock, providerOf: () => provider }, range)
    return cache.read(key, { from: 0 })
  }
  return { ...venue, provider, list, waits, fetched, clock }
}

for (const { name } of KEYED_PROVIDERS)
  describe(name, () => {
    test('half hours of the session come, and none before or after it', async () => {
      const bars = await asking(name).fetched('30m')
      expect([...bars.time]).toEqual(IN_SESSION)
      expect(bars.high[0]).toBe(bars.open[0]! + 2)
      expect(bars.volume[0]).toBe(10)
    })
    test('a day opens with its session', async () => {
      expect([...(await asking(name).fetched('1d')).time]).toEqual([IN_SESSION[0]!])
    })
    test('the key is in a header, and in no address or error', async () => {
      const wrong = { key: 'zebrakey', secret: KEYS[name]!.secret && 'zebrasecret' }
      const it = asking(name, wrong)
      const error = await rejection(it.fetched('30m'))
      expect(error).toMatchObject({ kind: 'unauthorized' })
      expect(JSON.stringify([String(error), it.requests.map(({ url }) => url)])).not.toContain('zebra')
      expect(JSON.stringify(it.requests.map(({ headers }) => headers))).toContain('zebrakey')
      // It is not tried again at once, since it would not be another answer.
      expect(it.requests).toHaveLength(1)
    })
    test('too many requests: the wait that is asked for is kept, and a long one is handed on', async () => {
      const it = asking(name)
      it.faults.push(() => new Response('{}', { status: 429, headers: { 'retry-after': '9' } }))
      expect((await it.fetched('30m')).length).toBe(IN_SESSION.length)
      expect(it.waits).toContain(9000)
      it.faults.push(() => new Response('{}', { status: 429, headers: { 'retry-after': '3000' } }))
      expect(await rejection(it.fetched('30m'))).toMatchObject({
        kind: 'rate_limited',
        retryAfterMs: 3_000_000,
      })
    })
    test('what is no list of bars is refused', async () => {
      for (const body of ['{}', 'null', '"busy"', '<html>', '{"status":"OK"}']) {
        const it = asking(name)
        it.faults.push(() => new Response(body))
        expect(await rejection(it.fetched('30m'))).toMatchObject({ kind: 'malformed' })
      }
    })
    test('its limits hold however often one asks', async () => {
      const it = asking(name)
      const times: number[] = []
      const http = it.http
      for (let i = 0; i < 60; i++) {
        const asked = await fetchSeries(
          new BarCache(testBars()),
          seriesKey('NASDAQ', 'AAPL', '1d'),
          {
            http: (...request) => (times.push(it.clock.now()), http(...request)),
            clock: it.clock,
            providerOf: () => it.provider,
          },
          { from: DAY_START, to: DAY_START + DAY },
        ).catch((error: unknown) => error)
        if (asked instanceof Error) expect(asked).toMatchObject({ kind: 'rate_limited' })
      }
      const limits = {
        Alpaca: [200, 60_000],
        Massive: [5, 60_000],
        Tiingo: [50, 3_600_000],
        'Twelve Data': [8, 60_000],
      }[name] as [number, number]
      for (const [i, at] of times.entries()) {
        const before = times[i - limits[0]]
        if (before !== undefined) expect(at - before).toBeGreaterThanOrEqual(limits[1])
      }
      expect(times.length).toBe(name === 'Tiingo' ? 50 : 60)
    })
    test('every interval that it has a name for is one, and it has no seconds', () => {
      const { provider } = asking(name)
      expect(provider.intervalName(parseInterval('1s')!)).toBeNull()
      expect(provider.intervalName(parseInterval('1d')!)).not.toBeNull()
    })
  })

test('a symbol that is not known is said to be so', async () => {
  for (const name of ['Alpaca', 'Tiingo', 'Twelve Data'])
    expect(await rejection(asking(name).fetched('30m', 'UNKNOWN'))).toMatchObject({ kind: 'unknown_symbol' })
})

test('Twelve Data refuses with a body, whatever the status', async () => {
  for (const [status, code, kind] of [
    [200, 429, 'rate_limited'],
    [429, 429, 'rate_limited'],
    [200, 401, 'unauthorized'],
    [400, 400, 'malformed'],
    [200, 500, 'unavailable'],
  ] as const) {
    const it = asking('Twelve Data')
    for (let i = 0; i < 5; i++)
      it.faults.push(() =>
        Response.json({ code, message: 'You have run out of API credits', status: 'error' }, { status }),
      )
    expect(await rejection(it.fetched('30m'))).toMatchObject({ kind })
  }
  const empty = asking('Twelve Data')
  empty.faults.push(() =>
    Response.json(
      { code: 400, message: 'No data is available on the specified dates.', status: 'error' },
      { status: 400 },
    ),
  )
  expect((await empty.fetched('1d')).length).toBe(0)
})

test.each([
  ['Alpaca', ['NASDAQ:AAPL stock', 'ARCA:SPY fund']],
  ['Massive', ['NASDAQ:AAPL stock', 'ARCA:SPY fund']],
  ['Twelve Data', ['NASDAQ:AAPL stock', 'FX:EURUSD forex']],
])(
  'the list of %p has what can be asked of it, and the key goes to its own host alone',
  async (name, expected) => {
    const it = asking(name)
    const hosts: string[] = []
    const http = async (
      url: string,
      _s?: AbortSignal,
      _b?: string,
      headers?: Readonly<Record<string, string>>,
    ) => {
      hosts.push(new URL(url).hostname)
      return keyedList(url, headers)
    }
    const all = await fetchList(it.list!, { http, clock: it.clock }, new AbortController().signal)
    expect(all.map(({ exchange, symbol, type }) => `${exchange}:${symbol} ${type}`)).toEqual(expected)
    expect(hosts).not.toContain('evil.example')
  },
)

test('charts ask for the forming bar of every exchange that is polled', () => {
  const polled = [...PROVIDERS.filter(({ name }) => name === 'Yahoo Finance'), ...KEYED_PROVIDERS]
  expect(new Set(POLLED_EXCHANGES)).toEqual(new Set(polled.flatMap(({ exchanges }) => [...exchanges])))
})

test('a pace waits for its turn, refuses a long wait, and outlives a clock that is set back', async () => {
  let time = 1e12
  const waits: number[] = []
  const clock = {
    now: () => time,
    async sleep(ms: number) {
      waits.push(ms)
      time += ms
    },
  }
  const pace = new Pace([
    { count: 2, perMs: 1000 },
    { count: 4, perMs: 3_600_000 },
  ])
  for (let i = 0; i < 4; i++) await pace.turn('Acme', clock)
  expect(waits).toEqual([1000])
  expect(await rejection(pace.turn('Acme', clock))).toMatchObject({
    kind: 'rate_limited',
    retryAfterMs: 3_599_000,
    message: expect.stringContaining('The requests that Acme allows are used up until'),
  })
  time -= 2 * 3_600_000
  await pace.turn('Acme', clock)
  expect(waits).toEqual([1000])
})
