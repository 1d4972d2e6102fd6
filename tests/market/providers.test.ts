// No provider can be reached from a test, so each meets a local server that speaks its documented format.

import { afterEach, describe, expect, test } from 'bun:test'
import { BarCache } from '../../src/market/bar-cache.ts'
import { seriesKey, type SeriesKey } from '../../src/market/bar-store.ts'
import { parseInterval } from '../../src/market/interval.ts'
import { fetchSeries, providerOf } from '../../src/market/providers/fetch-bars.ts'
import type { ProviderDeps } from '../../src/market/providers/provider.ts'
import { ProviderError, unreachable } from '../../src/market/providers/provider-error.ts'
import { yahoo } from '../../src/market/providers/yahoo.ts'
import { rows } from './bar-store.conformance.ts'
import {
  binanceDialect,
  bybitDialect,
  coinbaseDialect,
  hyperliquidDialect,
  okxDialect,
} from './live/dialects.ts'
import { testBars } from '../store/test-store.ts'

const MINUTE = 60_000
const HOUR = 3_600_000
const START = Date.UTC(2024, 2, 4)

let server: ReturnType<typeof Bun.serve> | null = null
afterEach(async () => {
  await server?.stop(true)
  server = null
})

interface Local {
  readonly deps: ProviderDeps
  readonly requests: URL[]
  readonly waits: number[]
}

/** Serves `answer` in place of every provider; the clock stands but for its sleeps. */
function local(answer: (url: URL, n: number) => Response, now = START + 10 * 24 * HOUR): Local {
  const requests: URL[] = []
  const waits: number[] = []
  let time = now
  server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: (request) => {
      const url = new URL(request.url)
      requests.push(url)
      return answer(url, requests.length)
    },
  })
  const { port } = server
  return {
    requests,
    waits,
    deps: {
      http: (url, signal) => {
        const { pathname, search } = new URL(url)
        return fetch(`http://127.0.0.1:${port}${pathname}${search}`, signal ? { signal } : {})
      },
      clock: {
        now: () => time,
        sleep: (ms) => {
          waits.push(ms)
          time += ms
          return Promise.resolve()
        },
      },
    },
  }
}

const bar = (time: number): [number, number, number, number, number, number] => {
  const price = 100 + ((time / MINUTE) % 50)
  return [time, price, price + 2, price - 1, price + 1, 7]
}

function times(from: number, to: number, step: number): number[] {
  return Array.from({ length: Math.max(0, Math.ceil((to - from) / step)) }, (_, i) => from + i * step)
}

async function fetched(key: SeriesKey, { deps }: Local, from: number, to: number) {
  const cache = new BarCache(testBars())
  const result = await fetchSeries(cache, key, deps, { from, to })
  return { result, bars: rows(await cache.read(key)), cache }
}

async function failure(key: SeriesKey, { deps }: Local): Promise<ProviderError> {
  const attempt = fetchSeries(new BarCache(testBars()), key, deps, { from: START, to: START + 5 * HOUR })
  return attempt.then(
    () => {
      throw new Error('it did not fail')
    },
    (error: unknown) => {
      if (error instanceof ProviderError) return error
      throw error
    },
  )
}

const BINANCE = seriesKey('BINANCE', 'BTCUSDT', '1m')

const klines = (url: URL) => {
  const from = Number(url.searchParams.get('startTime'))
  const to = Number(url.searchParams.get('endTime'))
  const first = Math.ceil(from / MINUTE) * MINUTE
  return Response.json(
    times(first, to + 1, MINUTE)
      .slice(0, Number(url.searchParams.get('limit')))
      .map((time) => {
        const [, ...prices] = bar(time)
        return [time, ...prices.map(String), time + MINUTE - 1, '1', 3, '1', '1', '0']
      }),
  )
}

test('a clock that is set back by hours between two pages makes the next wait no longer', async () => {
  let time = START + 10 * 24 * HOUR
  const waits: number[] = []
  const page = (from: number) =>
    Response.json(Array.from({ length: 1000 }, (_, i) => [from + i * MINUTE, '1', '3', '1', '2', '5']))
  const deps: ProviderDeps = {
    http: (url) => {
      if (waits.length === 0) time -= 3 * HOUR
      return Promise.resolve(page(Number(new URL(url).searchParams.get('startTime'))))
    },
    clock: { now: () => time, sleep: async (ms) => void waits.push(ms) },
  }
  const key = seriesKey('BINANCE', 'BTCUSDT', '1m')
  await fetchSeries(new BarCache(testBars()), key, deps, { from: START, to: START + 2500 * MINUTE })
  expect([waits.length > 0, Math.max(...waits) < 10_000]).toEqual([true, true])
})

test.each([
  ['BINANCE', 'BTCUSDT', binanceDialect],
  ['BYBIT', 'BTCUSDT', bybitDialect],
  ['COINBASE', 'BTCUSD', coinbaseDialect],
  ['HYPERLIQUID', 'BTCUSDC.P', hyperliquidDialect],
  ['OKX', 'BTCUSDT', okxDialect],
] as const)(
  '%s: pages that begin in the middle of a bar leave none out',
  async (exchange, symbol, dialect) => {
    const minutes = times(START, START + 11_000 * MINUTE, MINUTE)
    const flat = { open: 1, high: 1, low: 1, close: 1, volume: 1, trades: 1, bought: 1 }
    const all = minutes.map((time) => ({ time, ...flat }))
    const now = START + 11_000 * MINUTE
    const deps: ProviderDeps = {
      http: async (url, _, body) => dialect.page(all, new URL(url), body, now),
      clock: { now: () => now, sleep: () => Promise.resolve() },
    }
    const cache = new BarCache(testBars())
    const key = seriesKey(exchange, symbol, '1m')
    await fetchSeries(cache, key, deps, { from: START + 90_001, to: now })
    expect([...(await cache.read(key)).time]).toEqual(minutes.slice(2))
  },
)

describe('Binance', () => {
  test('what takers bought comes with the bars, of days as well, where it can be so', async () => {
    const bought = ['0.25', '1', '1.5', '', null, 'x', '-1', '0']
    const days = (url: URL) =>
      Response.json(
        bought.map((text, i) => {
          const time = Number(url.searchParams.get('startTime')) + i * 24 * HOUR
          return [time, '1', '3', '1', '2', '1', time + 24 * HOUR - 1, '2', 3, text, '1', '0']
        }),
      )
    for (const interval of ['1d', '1h']) {
      const { cache } = await fetched(
        seriesKey('BINANCE', 'BTCUSDT', interval),
        local(days),
        START,
        START + 8 * 24 * HOUR,
      )
      const stored = await cache.read(seriesKey('BINANCE', 'BTCUSDT', interval))
      expect([...(stored.bought ?? [])]).toEqual([0.25, 1, NaN, NaN, NaN, NaN, NaN, 0])
    }
  })

  test('pages of a thousand, one after another, without a bar twice', async () => {
    const binance = local(klines)
    const { result, bars } = await fetched(BINANCE, binance, START, START + 2500 * MINUTE)
    expect(result).toEqual({ inserted: 2500, updated: 0, pages: 3 })
    expect(bars).toEqual(times(START, START + 2500 * MINUTE, MINUTE).map(bar))
    expect(binance.requests[0]?.pathname).toBe('/api/v3/klines')
    expect(Object.fromEntries(binance.requests[0]?.searchParams ?? [])).toMatchObject({
      symbol: 'BTCUSDT',
      interval: '1m',
      limit: '1000',
    })
  })

  test('429 is waited out as long as it says', async () => {
    const binance = local((url, n) =>
      n === 1
        ? Response.json({ code: -1003 }, { status: 429, headers: { 'retry-after': '7' } })
        : klines(url),
    )
    const { bars } = await fetched(BINANCE, binance, START, START + 10 * MINUTE)
    expect(bars.length).toBe(10)
    expect(binance.waits[0]).toBe(7000)
  })

  test('5xx is tried again, each time after twice as long, five times in all', async () => {
    const binance = local(() => new Response('<html>', { status: 502 }))
    expect(await failure(BINANCE, binance)).toMatchObject({ kind: 'unavailable' })
    expect(binance.requests.length).toBe(5)
    expect(binance.waits).toEqual([1000, 2000, 4000, 8000])
  })

  test.each([
    ['418 is a ban: nobody knocks again', 418, {}, 'banned'],
    ['an unknown symbol', 400, { code: -1121, msg: 'Invalid symbol.' }, 'unknown_symbol'],
    ['another mistake', 400, { code: -1102 }, 'malformed'],
    ['an answer that is no list', 200, { klines: [] }, 'malformed'],
    ['rows that are too short', 200, [[1, 2]], 'malformed'],
  ] as const)('%s', async (_name, status, body, kind) => {
    const binance = local(() => Response.json(body, { status }))
    expect(await failure(BINANCE, binance)).toMatchObject({ kind })
    expect(binance.requests.length).toBe(1)
  })

  test('a long ban is told, not waited for', async () => {
    const binance = local(() => Response.json({}, { status: 429, headers: { 'retry-after': '3600' } }))
    expect(await failure(BINANCE, binance)).toMatchObject({ kind: 'rate_limited', retryAfterMs: 3_600_000 })
    expect(binance.waits).toEqual([])
  })

  test('nothing there is no error', async () => {
    const { result } = await fetched(
      BINANCE,
      local(() => Response.json([])),
      START,
      START + HOUR,
    )
    expect(result).toEqual({ inserted: 0, updated: 0, pages: 0 })
  })

  test('goes on from the newest bar, and replaces it', async () => {
    const binance = local(klines, START + 20 * MINUTE)
    const { cache } = await fetched(BINANCE, binance, START, START + 10 * MINUTE)
    expect(await fetchSeries(cache, BINANCE, binance.deps)).toEqual({ inserted: 10, updated: 1, pages: 1 })
  })

  test('what arrived before a failure is kept, and the next fetch goes on from there', async () => {
    let down = true
    const binance = local(
      (url, n) => (down && n > 1 ? new Response('', { status: 400 }) : klines(url)),
      START + 1500 * MINUTE,
    )
    const cache = new BarCache(testBars())
    await fetchSeries(cache, BINANCE, binance.deps, { from: START }).catch(() => null)
    expect((await cache.read(BINANCE)).length).toBe(1000)
    down = false
    await fetchSeries(cache, BINANCE, binance.deps, { to: START + 1500 * MINUTE })
    expect((await cache.read(BINANCE)).length).toBe(1500)
  })
})

describe('Coinbase', () => {
  const COINBASE = seriesKey('COINBASE', 'BTCUSD', '1h')
  const candles = (url: URL, skip: (time: number) => boolean = () => false) => {
    const from = Date.parse(url.searchParams.get('start') ?? '')
    const to = Date.parse(url.searchParams.get('end') ?? '')
    const list = times(Math.ceil(from / HOUR) * HOUR, to + 1, HOUR).filter((time) => !skip(time))
    if (list.length > 300) return Response.json({ message: 'granularity too small' }, { status: 400 })
    return Response.json(
      list.reverse().map((time) => {
        const [, open, high, low, close, volume] = bar(time)
        return [time / 1000, low, high, open, close, volume]
      }),
    )
  }

  test('windows of three hundred, newest first, low before high before open', async () => {
    const coinbase = local((url) => candles(url))
    const { result, bars } = await fetched(COINBASE, coinbase, START, START + 700 * HOUR)
    expect(result).toMatchObject({ inserted: 700, pages: 3 })
    expect(bars).toEqual(times(START, START + 700 * HOUR, HOUR).map(bar))
    expect(coinbase.requests[0]?.pathname).toBe('/products/BTC-USD/candles')
  })

  test('an empty window is not the end', async () => {
    const coinbase = local((url) => candles(url, (time) => time < START + 400 * HOUR))
    const { bars } = await fetched(COINBASE, coinbase, START, START + 700 * HOUR)
    expect(bars.length).toBe(300)
  })

  test('404 and intervals it does not have', async () => {
    const coinbase = local(() => Response.json({ message: 'NotFound' }, { status: 404 }))
    expect(await failure(COINBASE, coinbase)).toMatchObject({ kind: 'unknown_symbol' })
    expect(await failure({ ...COINBASE, interval: '4h' }, coinbase)).toMatchObject({
      kind: 'unsupported_interval',
    })
  })
})

describe('Kraken', () => {
  const KRAKEN = seriesKey('KRAKEN', 'BTCUSD', '1h')

  test('the newest 720, with the average price left out', async () => {
    const kraken = local(() =>
      Response.json({
        error: [],
        result: {
          XXBTZUSD: times(START, START + 720 * HOUR, HOUR).map((time) => {
            const [, open, high, low, close, volume] = bar(time).map(String)
            return [time / 1000, open, high, low, close, '55.5', volume, 12]
          }),
          last: START / 1000,
        },
      }),
    )
    const { bars } = await fetched(KRAKEN, kraken, START, START + 720 * HOUR)
    expect(bars).toEqual(times(START, START + 720 * HOUR, HOUR).map(bar))
    expect(kraken.requests[0]?.searchParams.get('pair')).toBe('XBTUSD')
  })

  test.each([
    ['EAPI:Rate limit exceeded', 'rate_limited', 5],
    ['EQuery:Unknown asset pair', 'unknown_symbol', 1],
    ['EService:Unavailable', 'unavailable', 5],
    ['EGeneral:Invalid arguments', 'malformed', 1],
  ])('errors come with status 200: %s', async (error, kind, requests) => {
    const kraken = local(() => Response.json({ error: [error] }))
    expect(await failure(KRAKEN, kraken)).toMatchObject({ kind })
    expect(kraken.requests.length).toBe(requests)
  })
})

describe('Yahoo Finance', () => {
  const APPLE = seriesKey('NASDAQ', 'AAPL', '1d')
  const chart = (result: unknown) => Response.json({ chart: { result: [result], error: null } })

  test('nulls are left out, 32-bit noise is taken off', async () => {
    const yahoo = local(() =>
      chart({
        meta: {},
        timestamp: [START / 1000, START / 1000 + 86_400, START / 1000 + 172_800],
        indicators: {
          quote: [
            {
              open: [Math.fround(1438.36), null, 2],
              high: [Math.fround(1440.1), null, 3],
              low: [Math.fround(1430.05), null, 1],
              close: [Math.fround(1439.99), null, 2.5],
              volume: [1000, null, 0],
            },
          ],
        },
      }),
    )
    const { bars } = await fetched(APPLE, yahoo, START, START + 5 * 24 * HOUR)
    // Dated at the session's open.
    expect(bars).toEqual([
      [START + 14.5 * HOUR, 1438.36, 1440.1, 1430.05, 1439.99, 1000],
      [START + 62.5 * HOUR, 2, 3, 1, 2.5, 0],
    ])
    expect(yahoo.requests[0]?.pathname).toBe('/v8/finance/chart/AAPL')
  })

  test.each([
    ['SP', 'SPX', '/v8/finance/chart/%5EGSPC'],
    ['FX', 'EURUSD', '/v8/finance/chart/EURUSD%3DX'],
    ['NYSE', 'BRK.B', '/v8/finance/chart/BRK-B'],
    ['XETR', 'SAP', '/v8/finance/chart/SAP.DE'],
  ])('%s:%s is %s', async (exchange, symbol, path) => {
    const yahoo = local(() => chart({ meta: {} }))
    await fetched(seriesKey(exchange, symbol, '1d'), yahoo, START, START + HOUR)
    expect(yahoo.requests[0]?.pathname).toBe(path)
  })

  test('the forming day, dated by its last trade, stays one bar', async () => {
    let trade = START + 15 * HOUR
    const yahoo = local(
      () => {
        trade += HOUR
        const quote = [{ open: [1], high: [3], low: [1], close: [2], volume: [trade / HOUR] }]
        return chart({ meta: {}, timestamp: [trade / 1000], indicators: { quote } })
      },
      START + 20 * HOUR,
    )
    const { cache } = await fetched(APPLE, yahoo, START, START + 20 * HOUR)
    expect(await fetchSeries(cache, APPLE, yahoo.deps)).toMatchObject({ inserted: 0, updated: 1 })
    expect(rows(await cache.read(APPLE)).map(([time]) => time)).toEqual([START + 14.5 * HOUR])
  })

  test.each([
    // In the middle of a minute, and when the session is over.
    ['1m', ['2024-03-06T15:30:00Z', '2024-03-06T15:31:00Z', '2024-03-06T15:31:40Z'], [1, 1]],
    ['1m', ['2024-03-06T20:58:00Z', '2024-03-06T20:59:00Z', '2024-03-06T21:00:00Z'], [1, 1]],
    ['1d', ['2024-03-05T14:30:00Z', '2024-03-06T21:00:01Z'], [1, 2]],
    ['1w', ['2024-02-26T05:00:00Z', '2024-03-04T05:00:00Z', '2024-03-06T21:00:01Z'], [1, 3]],
    ['1w', ['2024-02-26T05:00:00Z', '2024-03-04T21:00:01Z'], [1, 2]],
    ['1M', ['2024-02-01T05:00:00Z', '2024-03-01T05:00:00Z', '2024-03-31T21:00:01Z'], [1, 3]],
    ['1M', ['2024-02-01T05:00:00Z', '2024-03-01T21:00:01Z'], [1, 2]],
  ])('the price of now behind bars of %s is no bar of its own, %#', (text, times, volumes) => {
    const interval = parseInterval(text)!
    const timestamp = times.map((time) => Date.parse(time) / 1000)
    const column = (price: number, now: number) => times.map((_, i) => (i === times.length - 1 ? now : price))
    const quote = { open: column(5, 4), high: column(6, 7), low: column(4, 3), close: column(5, 3.5) }
    const meta = { regularMarketTime: timestamp.at(-1), gmtoffset: -18_000 }
    const result = { meta, timestamp, indicators: { quote: [{ ...quote, volume: column(1, 2) }] } }
    const query = { exchange: 'NASDAQ', symbol: 'AAPL', interval, from: 0, to: 1e13, now: 1e13 }
    const page = yahoo.readPage({ chart: { result: [result], error: null } }, query)
    expect(page.rows.map(([, , , , , volume]) => volume)).toEqual(volumes)
    if (volumes.at(-1) === 3) expect(page.rows.at(-1)!.slice(1)).toEqual([5, 7, 3, 3.5, 3])
  })

  test('no more is asked for than it has', async () => {
    const asked = local(() => chart({ meta: {} }), START + 90 * 24 * HOUR)
    await fetched({ ...APPLE, interval: '1m' }, asked, START, START + 90 * 24 * HOUR)
    const first = Number(asked.requests[0]?.searchParams.get('period1')) * 1000
    expect(first).toBe(START + 61 * 24 * HOUR)
  })

  test('an answer for another symbol is none', async () => {
    const asked = local(() => chart({ meta: { symbol: 'MSFT' } }))
    expect(await failure(APPLE, asked)).toMatchObject({
      kind: 'malformed',
      message: 'Yahoo Finance was asked for "AAPL" and answered for "MSFT".',
    })
  })

  test('a month of minutes is asked for a week at a time', async () => {
    const yahoo = local(() => chart({ meta: {} }))
    await fetched({ ...APPLE, interval: '1m' }, yahoo, START, START + 20 * 24 * HOUR)
    expect(yahoo.requests.length).toBe(3)
    expect(yahoo.waits).toEqual([500, 500])
  })

  test('an unknown symbol', async () => {
    const body = { chart: { result: null, error: { code: 'Not Found', description: 'No data found' } } }
    expect(
      await failure(
        APPLE,
        local(() => Response.json(body, { status: 404 })),
      ),
    ).toMatchObject({
      kind: 'unknown_symbol',
    })
    expect(
      await failure(
        APPLE,
        local(() => Response.json(body)),
      ),
    ).toMatchObject({ kind: 'unknown_symbol' })
  })
})

test.each([
  ['ENOTFOUND', 'this server cannot find its address; is it on the Internet?'],
  ['ECONNREFUSED', 'it takes no connection from this server.'],
  ['ERR_TLS', 'getaddrinfo said so.'],
])('a provider that is not reached is said in words: %s', (code, why) => {
  const error = Object.assign(new TypeError('getaddrinfo said so'), { code })
  expect(unreachable('Binance', error)).toMatchObject({
    kind: 'unavailable',
    message: `Binance cannot be reached: ${why}`,
  })
})

test('an exchange nobody serves', async () => {
  expect(providerOf('ACME')).toBeNull()
  expect(
    await failure(
      seriesKey('ACME', 'X', '1d'),
      local(() => Response.json([])),
    ),
  ).toMatchObject({
    kind: 'unknown_symbol',
  })
})
