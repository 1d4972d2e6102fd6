import { expect, test } from 'bun:test'
import { BarCache } from '../../../src/market/bar-cache.ts'
import { seriesKey } from '../../../src/market/bar-store.ts'
import { HandClock } from '../../lib/hand-clock.ts'
import { FormingBars } from '../../../src/market/live/forming-bars.ts'
import { providerOf } from '../../../src/market/providers/fetch-bars.ts'
import { tiingo } from '../../../src/market/providers/keyed/tiingo.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { Keeper, type KeeperDeps } from '../../../src/market/live/keeper.ts'
import { testBars } from '../../store/test-store.ts'

const MINUTE = 60_000
const KEY = seriesKey('BINANCE', 'BTCUSDT', '1m')
const START = Date.UTC(2024, 2, 4)

/** Nobody has a stream. */
const polling = (deps: Pick<KeeperDeps, 'http' | 'clock'> & Partial<KeeperDeps>): Keeper =>
  new Keeper({
    cache: new BarCache(testBars()),
    log: silentLog,
    open: () => {
      throw new Error('nobody has a stream')
    },
    spread: () => 0.5,
    forming: new FormingBars(0),
    providers: [],
    providerOf,
    ...deps,
  })

/** A keeper that runs until `until`. */
async function polled(
  until: number,
  answer: (from: number, now: number) => Response,
  follow: (keeper: Keeper) => void = (keeper) => keeper.follow(KEY),
) {
  const clock = new HandClock()
  clock.time = START
  const stop = new AbortController()
  const asked: number[] = []
  const cache = new BarCache(testBars())
  const forming = new FormingBars(0)
  const keeper = polling({
    forming,
    cache,
    async http(url) {
      asked.push(clock.now())
      return answer(Number(new URL(url).searchParams.get('startTime')), clock.now())
    },
    clock,
  })
  follow(keeper)
  const running = keeper.run(stop.signal)
  await clock.pass(until - START)
  stop.abort()
  await clock.settle()
  await running
  return { keeper, cache, asked, forming }
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
  const { keeper, cache, asked } = await polled(START + 10 * MINUTE, klines)
  const [status] = await keeper.status()
  expect(status).toMatchObject({ state: 'fresh', provider: 'Binance', failures: 0, lastError: null })
  // The one that is just over is asked for in a moment.
  expect(status?.newestBar).toBe(START + 8 * MINUTE)
  expect((await cache.read(KEY, { from: START })).length).toBe(9)
  // Four looks a minute, and one behind the close.
  expect(asked.length).toBeGreaterThan(35)
  expect(asked.length).toBeLessThan(60)
})

test('an outage waits longer each time and says so; the gap fills afterwards', async () => {
  const from = START + 3 * MINUTE
  const until = START + 33 * MINUTE
  const seen: number[] = []
  const down = (now: number) => now >= from && now < until
  const { keeper, cache, asked } = await polled(START + 50 * MINUTE, (start, now) => {
    if (!down(now)) return klines(start, now)
    seen.push(now)
    return new Response('', { status: 503 })
  })
  // Five attempts a fetch, half an hour: a handful of fetches, not hundreds.
  expect(seen.length).toBeLessThan(60)
  expect(asked.length).toBeGreaterThan(seen.length)
  expect((await keeper.status())[0]).toMatchObject({ state: 'fresh', failures: 0 })
  const bars = await cache.read(KEY, { from: START })
  expect(bars.length).toBe(49)
})

test('while it is down the status is honest', async () => {
  const { keeper } = await polled(START + 10 * MINUTE, () => new Response('', { status: 503 }))
  const [status] = await keeper.status()
  expect(status).toMatchObject({ state: 'retrying', lastSuccessAt: null, newestBar: null })
  expect(status?.lastError).toBe('Binance answered 503: it is not available.')
  expect(status?.failures).toBeGreaterThan(1)
})

test('a symbol nobody knows, and an exchange without a provider, are asked for once or never', async () => {
  const { keeper, asked } = await polled(
    START + 30 * MINUTE,
    () => Response.json({ code: -1121 }, { status: 400 }),
    (one) => {
      one.follow(KEY)
      one.follow(seriesKey('ACME', 'X', '1d'))
      one.follow(seriesKey('COINBASE', 'BTCUSD', '1w'))
    },
  )
  expect(asked.length).toBe(1)
  expect((await keeper.status()).map(({ state, lastError }) => [state, lastError])).toEqual([
    ['stopped', 'Binance answered 400: it does not know the symbol.'],
    ['stopped', 'No provider has symbols of ACME.'],
    ['stopped', 'Coinbase has no bars of this interval.'],
  ])
})

test('nothing is asked for what is unfollowed', async () => {
  const { keeper, asked } = await polled(START + 10 * MINUTE, klines, (one) => {
    one.follow(KEY)
    one.unfollow(KEY)
  })
  expect(asked).toEqual([])
  expect(await keeper.status()).toEqual([])
})

test('what is unfollowed and removed while its pages come stays removed, and no more pages are asked for', async () => {
  const clock = new HandClock()
  clock.time = START
  const stop = new AbortController()
  const cache = new BarCache(testBars())
  let asked = 0
  const keeper = polling({
    cache,
    clock,
    async http(url) {
      const from = Number(new URL(url).searchParams.get('startTime'))
      // The page before the last one is stored by now.
      if (++asked === 3) {
        expect((await cache.store.info(KEY))?.count).toBe(1000)
        keeper.unfollow(KEY)
        await cache.remove(KEY)
      }
      return Response.json(
        Array.from({ length: 1000 }, (_, i) => [from + i * MINUTE, '1', '3', '1', '2', '5']),
      )
    },
  })
  keeper.follow(KEY)
  const running = keeper.run(stop.signal)
  await clock.pass(10 * MINUTE)
  stop.abort()
  await clock.settle()
  await running
  expect(asked).toBe(3)
  expect(await cache.store.info(KEY)).toBeNull()
})

test('an answer that is compared with what is stored while its series is unfollowed is not stored', async () => {
  const clock = new HandClock()
  clock.time = START
  const stop = new AbortController()
  const cache = new BarCache(testBars())
  const { promise: held, resolve: release } = Promise.withResolvers<void>()
  const read = cache.store.read.bind(cache.store)
  let reads = 0
  let asked = 0
  const keeper = polling({
    cache: Object.assign(cache, {
      store: {
        ...cache.store,
        read: async (...of: Parameters<typeof read>) => {
          if (++reads === 1) await held
          return read(...of)
        },
      },
    }),
    clock,
    async http(url) {
      asked++
      return klines(Number(new URL(url).searchParams.get('startTime')), clock.now())
    },
  })
  keeper.follow(KEY)
  const running = keeper.run(stop.signal)
  await clock.pass(MINUTE)
  expect(asked).toBeGreaterThan(0)
  keeper.unfollow(KEY)
  release()
  stop.abort()
  await clock.settle()
  await running
  expect(await cache.store.info(KEY)).toBeNull()
})

test('a bar that forms is told of and never stored, and what is corrected late is stored as it is now', async () => {
  const forms: number[] = []
  const correctedAt = START + 20 * MINUTE
  const corrected = START + 5 * MINUTE
  const { cache, forming } = await polled(
    START + 70 * MINUTE,
    (from, now) => {
      const list: (number | string)[][] = []
      for (let at = Math.max(START, Math.ceil(from / MINUTE) * MINUTE); at <= now; at += MINUTE) {
        const isForming = at + MINUTE > now
        if (isForming) forms.push(at)
        const close = at === corrected && now >= correctedAt ? '2.5' : '2'
        list.push([at, '1', isForming ? '9' : '3', '1', close, '5'])
      }
      return Response.json(list)
    },
    (one) => one.follow(KEY),
  )
  const bars = await cache.read(KEY, { from: START })
  expect(Math.max(...bars.high)).toBe(3)
  expect(bars.close[5]).toBe(2.5)
  expect(forming.get(KEY)?.row).toEqual([forms.at(-1)!, 1, 9, 1, 2, 5])
})

test('a provider that lets one wait holds up no other', async () => {
  const clock = new HandClock()
  const stop = new AbortController()
  const asked: string[] = []
  const keeper = polling({
    cache: new BarCache(testBars()),
    forming: new FormingBars(0),
    clock,
    async http(url) {
      const { hostname } = new URL(url)
      asked.push(hostname)
      if (hostname !== 'api.binance.com') return new Promise<Response>(() => {})
      return Response.json([])
    },
  })
  keeper.follow(seriesKey('NASDAQ', 'AAPL', '1d'))
  const running = keeper.run(stop.signal)
  await clock.pass(1000)
  keeper.follow(KEY)
  await clock.pass(60_000)
  expect(asked.filter((host) => host === 'api.binance.com').length).toBeGreaterThan(3)
  // It is cut off after a while, and asked again.
  const others = asked.filter((host) => host !== 'api.binance.com').length
  expect(others).toBeGreaterThan(1)
  expect(others).toBeLessThan(5)
  keeper.unfollow(KEY)
  stop.abort()
  void running
})

test('an exchange that got another provider is asked of it at once', async () => {
  const clock = new HandClock()
  const stop = new AbortController()
  const asked: string[] = []
  let provider = providerOf('NASDAQ')
  const keeper = polling({
    cache: new BarCache(testBars()),
    forming: new FormingBars(0),
    clock,
    providerOf: () => provider,
    async http(url) {
      asked.push(new URL(url).hostname)
      return new Response('{}', { status: 403 })
    },
  })
  const key = seriesKey('NASDAQ', 'AAPL', '1d')
  keeper.follow(key)
  const running = keeper.run(stop.signal)
  await clock.pass(1000)
  provider = tiingo.make({ key: 'tkey', secret: '' }).provider
  keeper.follow(key)
  await clock.pass(1000)
  expect(asked).toEqual(['query1.finance.yahoo.com', 'api.tiingo.com'])
  expect((await keeper.status())[0]).toMatchObject({
    provider: 'Tiingo',
    state: 'retrying',
    lastError: 'Tiingo answered 403: it does not accept the key, or the key may not have this.',
  })
  keeper.askAgain('Tiingo')
  await clock.pass(1000)
  expect(asked).toHaveLength(3)
  stop.abort()
  await clock.settle()
  await running
})

test('what a provider tells of late is stored once it cannot change any more', async () => {
  const key = seriesKey('LSE', 'VOD', '1m')
  const open = Date.UTC(2024, 2, 4, 9)
  const clock = new HandClock()
  clock.time = open + 30 * MINUTE + 5000
  const stop = new AbortController()
  const cache = new BarCache(testBars())
  const keeper = polling({
    cache,
    async http() {
      const timestamp = Array.from({ length: 16 }, (_, i) => (open + i * MINUTE) / 1000)
      const column = timestamp.map(() => 1)
      const quote = [{ open: column, high: column, low: column, close: column, volume: column }]
      return Response.json({ chart: { result: [{ timestamp, indicators: { quote } }], error: null } })
    },
    clock,
  })
  keeper.follow(key)
  const running = keeper.run(stop.signal)
  await clock.pass(1000)
  // That of a quarter of an hour ago may be half told of; the one before it has a later one behind it.
  const stored = await cache.read(key, { from: 0 })
  expect((stored.time.at(-1)! - open) / MINUTE).toBe(14)
  stop.abort()
  await clock.settle()
  await running
})

/** Minutes of Yahoo up to `now`, the last one as it forms. */
function minutesOfYahoo(now: number): Response {
  const last = Math.floor(now / MINUTE)
  const timestamp = Array.from({ length: 40 }, (_, i) => (last - 39 + i) * 60)
  const column = timestamp.map((time) => (time === last * 60 ? 2 + (now % MINUTE) / MINUTE : 2))
  const quote = [{ open: column, high: column, low: column, close: column, volume: column }]
  return Response.json({ chart: { result: [{ timestamp, indicators: { quote } }], error: null } })
}

const MIDNIGHT_IN_NEW_YORK = Date.UTC(2024, 2, 5, 5)
const NOON_IN_NEW_YORK = Date.UTC(2024, 2, 5, 17)
const CLOSE_IN_NEW_YORK = Date.UTC(2024, 2, 5, 21)
const isBarsEnd = (at: number) => at % MINUTE === 2000

test.each<[string, string, number, number, (now: number) => Response]>([
  ['bars that form while the calendar says closed', '1m', MIDNIGHT_IN_NEW_YORK, 15_000, minutesOfYahoo],
  [
    'a last bar that is two hours late',
    '1h',
    CLOSE_IN_NEW_YORK - MINUTE,
    15_000,
    (now) => minutesOfYahoo(now - 120 * MINUTE),
  ],
  [
    'bars of a market that is open and lags by a few minutes',
    '1m',
    NOON_IN_NEW_YORK,
    15_000,
    (now) => minutesOfYahoo(now - 5 * MINUTE),
  ],
  [
    'a cache that answers as of the second before a bar ended',
    '1m',
    NOON_IN_NEW_YORK + MINUTE,
    15_000,
    () => {
      const shown = NOON_IN_NEW_YORK + 1000
      const answer = minutesOfYahoo(shown)
      answer.headers.set('date', new Date(shown).toUTCString())
      return answer
    },
  ],
])('%s are asked for no faster than is said', async (_, interval, start, least, answer) => {
  const clock = new HandClock()
  clock.time = start
  const stop = new AbortController()
  const asked: number[] = []
  const said: number[] = []
  const keeper = polling({
    async http() {
      asked.push(clock.now())
      return answer(clock.now())
    },
    clock,
  })
  keeper.onAsked(({ poll }) => said.push(poll!.everyMs))
  keeper.follow(seriesKey('NASDAQ', 'AAPL', interval))
  const running = keeper.run(stop.signal)
  await clock.pass(10 * MINUTE)
  stop.abort()
  await clock.settle()
  await running
  expect(asked.length).toBeGreaterThan(3)
  expect(said.length).toBe(asked.length)
  expect(Math.min(...said)).toBe(least)
  // The second is at the end of the bar that the first has seen, whatever the time is here.
  for (const [i, at] of asked.entries())
    if (i > 1 && !isBarsEnd(at)) expect([at, at - asked[i - 1]! >= said[i - 1]!]).toEqual([at, true])
})
