import { expect, test } from 'bun:test'
import { BarCache } from '../../src/market/bar-cache.ts'
import { memoryBars, seriesKey } from '../../src/market/bar-store.ts'
import { Poller } from '../../src/market/providers/poller.ts'

const MINUTE = 60_000
const KEY = seriesKey('BINANCE', 'BTCUSDT', '1m')
const START = Date.UTC(2024, 2, 4)

/** A poller on a clock that jumps from sleep to sleep, until `until`. */
async function polled(
  until: number,
  answer: (from: number, now: number) => Response,
  follow: (poller: Poller) => void = (poller) => poller.follow(KEY),
) {
  let time = START
  const stop = new AbortController()
  const asked: number[] = []
  const cache = new BarCache(memoryBars())
  const poller = new Poller({
    cache,
    http: (url) => {
      asked.push(time)
      return Promise.resolve(answer(Number(new URL(url).searchParams.get('startTime')), time))
    },
    clock: {
      now: () => time,
      sleep: (ms, signal) => {
        if (!signal?.aborted) time += Math.max(1, ms)
        if (time >= until) stop.abort()
        return Promise.resolve()
      },
    },
  })
  follow(poller)
  await poller.run(stop.signal)
  return { poller, cache, asked }
}

/** Bars up to the forming one, at most a hundred. */
function klines(from: number, now: number): Response {
  const first = Math.max(Math.ceil(from / MINUTE) * MINUTE, now - 100 * MINUTE)
  const list: (number | string)[][] = []
  for (let at = Math.ceil(first / MINUTE) * MINUTE; at <= now; at += MINUTE)
    list.push([at, '1', '3', '1', '2', '5'])
  return Response.json(list)
}

test('a followed series stays fresh: a look while a bar forms, and one when it is over', async () => {
  const { poller, cache, asked } = await polled(START + 10 * MINUTE, klines)
  const [status] = await poller.status()
  expect(status).toMatchObject({ state: 'fresh', provider: 'Binance', failures: 0, lastError: null })
  expect(status?.newestBar).toBe(START + 9 * MINUTE)
  expect((await cache.read(KEY, { from: START })).length).toBe(10)
  // Four looks a minute, and one behind the close.
  expect(asked.length).toBeGreaterThan(35)
  expect(asked.length).toBeLessThan(60)
})

test('an outage waits longer each time and says so; the gap fills afterwards', async () => {
  const from = START + 3 * MINUTE
  const until = START + 33 * MINUTE
  const seen: number[] = []
  const down = (now: number) => now >= from && now < until
  const { poller, cache, asked } = await polled(START + 50 * MINUTE, (start, now) => {
    if (!down(now)) return klines(start, now)
    seen.push(now)
    return new Response('', { status: 503 })
  })
  // Five attempts a fetch, half an hour: a handful of fetches, not hundreds.
  expect(seen.length).toBeLessThan(60)
  expect(asked.length).toBeGreaterThan(seen.length)
  expect((await poller.status())[0]).toMatchObject({ state: 'fresh', failures: 0 })
  const bars = await cache.read(KEY, { from: START })
  expect(bars.length).toBe(50)
})

test('while it is down the status is honest', async () => {
  const { poller } = await polled(START + 10 * MINUTE, () => new Response('', { status: 503 }))
  const [status] = await poller.status()
  expect(status).toMatchObject({ state: 'retrying', lastSuccessAt: null, newestBar: null })
  expect(status?.lastError).toBe('Binance answered 503: it is not available.')
  expect(status?.failures).toBeGreaterThan(1)
})

test('a symbol nobody knows, and an exchange without a provider, are asked for once or never', async () => {
  const { poller, asked } = await polled(
    START + 30 * MINUTE,
    () => Response.json({ code: -1121 }, { status: 400 }),
    (one) => {
      one.follow(KEY)
      one.follow(seriesKey('ACME', 'X', '1d'))
      one.follow(seriesKey('COINBASE', 'BTCUSD', '1w'))
    },
  )
  expect(asked.length).toBe(1)
  expect((await poller.status()).map(({ state, lastError }) => [state, lastError])).toEqual([
    ['stopped', 'Binance answered 400: it does not know the symbol.'],
    ['stopped', 'No provider has symbols of ACME.'],
    ['stopped', 'Coinbase has no bars of this interval.'],
  ])
})

test('nothing is asked for what is unfollowed', async () => {
  const { poller, asked } = await polled(START + 10 * MINUTE, klines, (one) => {
    one.follow(KEY)
    one.unfollow(KEY)
  })
  expect(asked).toEqual([])
  expect(await poller.status()).toEqual([])
})
