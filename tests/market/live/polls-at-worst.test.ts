// What polls meet at worst: more series than a key allows, a key that is taken back, a symbol nobody knows among a hundred,
// splits, half days, days that are there hours late, weekends, and another server that takes over.

import { expect, test } from 'bun:test'
import { Feeds } from '../../../src/people/feeds/feeds.ts'
import { saidOf } from '../../../src/people/feeds/said.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { seededRandom } from '../../../src/lib/seeded-random.ts'
import { BarCache } from '../../../src/market/bar-cache.ts'
import { type SeriesKey, seriesKey } from '../../../src/market/bar-store.ts'
import { calendarOf } from '../../../src/market/calendar.ts'
import { FormingBars } from '../../../src/market/live/forming-bars.ts'
import { Keeper, type KeeperDeps } from '../../../src/market/live/keeper.ts'
import { KEYED_PROVIDERS } from '../../../src/market/providers/keyed/keyed-providers.ts'
import type { Provider } from '../../../src/market/providers/provider.ts'
import { yahoo } from '../../../src/market/providers/yahoo.ts'
import { defaultSymbol } from '../../../src/market/symbols.ts'
import { testBars, testKv } from '../../store/test-store.ts'
import { HandClock } from '../../lib/hand-clock.ts'
import { later } from '../../later.ts'
import { keyedAnswer, type KeyedBars } from '../fake-keyed.ts'
import { PolledVenue } from './polled-venue.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
/** 13:30 in New York, on a Friday in winter. */
const FRIDAY = Date.UTC(2026, 2, 6, 18, 30)
const LIMIT_MS = 120_000

const keyed = (name: string, key = 'akey'): Provider =>
  KEYED_PROVIDERS.find((one) => one.name === name)!.make({ key, secret: 'asecret' }).provider

function kept(
  time: number,
  provider: () => Provider,
  http: KeeperDeps['http'],
  { clock = new HandClock(), store = testBars() } = {},
) {
  clock.time = time
  const forming = new FormingBars(0)
  const cache = new BarCache(store)
  const keeper = new Keeper({
    cache,
    http,
    clock,
    log: silentLog,
    open: () => {
      throw new Error('nobody has a stream')
    },
    spread: () => 0.5,
    forming,
    providers: [],
    providerOf: provider,
  })
  const stop = new AbortController()
  let running: Promise<void> = Promise.resolve()
  return {
    clock,
    cache,
    keeper,
    forming,
    run: () => (running = keeper.run(stop.signal)),
    times: async (key: SeriesKey) => [...(await cache.read(key, { from: 0 })).time],
    status: async (key: SeriesKey) =>
      (await keeper.status()).find(
        (one) => one.key.symbol === key.symbol && one.key.interval === key.interval,
      )!,
    async [Symbol.asyncDispose]() {
      stop.abort()
      await clock.settle()
      await running
    },
  }
}

/** The last three minutes of whatever is asked for. */
const lastThree: KeyedBars = ({ to }) =>
  [-2, -1, 0].map((i) => {
    const time = (Math.floor(to / MINUTE) + i) * MINUTE
    return { time, open: 1, high: 1, low: 1, close: 1, volume: 1 }
  })

const series = (count: number, interval = '1m') =>
  Array.from({ length: count }, (_, i) => seriesKey('NASDAQ', `S${i}`, interval))

test(
  'a thousand series on a key for five requests a minute are each asked for in their turn, and it is said',
  async () => {
    const asked: { readonly at: number; readonly symbol: string }[] = []
    const provider = keyed('Massive')
    const clock = new HandClock()
    await using one = kept(
      FRIDAY,
      () => provider,
      async (url) => {
        const symbol = new URL(url).pathname.split('/')[4]!
        asked.push({ at: clock.now(), symbol })
        return keyedAnswer(new URL(url), () => [])
      },
      { clock },
    )
    for (const key of series(1000)) one.keeper.follow(key)
    void one.run()
    await clock.pass(600 * MINUTE)
    const counts = new Map<string, number>()
    for (const { symbol } of asked) counts.set(symbol, (counts.get(symbol) ?? 0) + 1)
    expect(counts.size).toBe(1000)
    expect(Math.max(...counts.values()) - Math.min(...counts.values())).toBeLessThanOrEqual(1)
    for (const [i, { at }] of asked.entries())
      if (i >= 5) expect(at - asked[i - 5]!.at).toBeGreaterThanOrEqual(MINUTE)
    const status = await one.status(series(1)[0]!)
    expect(saidOf(status, clock.now())).toContain(
      'Asks Massive every 3 h, since 1000 series share what Massive allows',
    )
  },
  LIMIT_MS,
)

test('a key that is taken back is said of every series, hardly asked with, and named nowhere; a new one works at once', async () => {
  let isGone = false
  let provider = keyed('Alpaca', 'zebrakey')
  let asked = 0
  const clock = new HandClock()
  await using one = kept(
    FRIDAY,
    () => provider,
    async (url, _signal, _body, headers) => {
      asked++
      if (isGone && headers?.['APCA-API-KEY-ID'] === 'zebrakey')
        return Response.json({ message: 'forbidden.' }, { status: 403 })
      return keyedAnswer(new URL(url), ({ from }) => [
        { time: Math.ceil(from / MINUTE) * MINUTE, open: 1, high: 1, low: 1, close: 1, volume: 1 },
      ])
    },
    { clock },
  )
  for (const key of series(20)) one.keeper.follow(key)
  void one.run()
  await clock.pass(10 * MINUTE)
  for (const { state } of await one.keeper.status()) expect(state).toBe('fresh')
  isGone = true
  asked = 0
  await clock.pass(2 * HOUR)
  expect(asked).toBeLessThan(40)
  const told = await one.keeper.status()
  for (const { state, lastError } of told)
    expect([state, lastError]).toEqual([
      'retrying',
      'Alpaca answered 403: it does not accept the key, or the key may not have this.',
    ])
  expect(JSON.stringify(told)).not.toMatch(/zebra|asecret/)
  provider = keyed('Alpaca', 'lionkey')
  one.keeper.askAgain('Alpaca')
  await clock.pass(10_000)
  for (const { state } of await one.keeper.status()) expect(state).toBe('fresh')
})

test('what an error repeats of a key is left out', async () => {
  const provider = keyed('Twelve Data', 'zebrakey')
  await using one = kept(
    FRIDAY,
    () => provider,
    async () => Response.json({ code: 403, message: 'The key zebrakey may not have this', status: 'error' }),
  )
  const [key] = series(1)
  one.keeper.follow(key!)
  void one.run()
  await one.clock.pass(1000)
  expect((await one.status(key!)).lastError).toBe(
    'Twelve Data refused the request: The key … may not have this',
  )
})

test.each(['Alpaca', 'Twelve Data'])(
  '%s: one symbol that is known no more holds up none of those that are asked for with it',
  async (name) => {
    const provider = keyed(name)
    const clock = new HandClock()
    const urls: URL[] = []
    let isGone = false
    await using one = kept(
      FRIDAY,
      () => provider,
      async (address) => {
        urls.push(new URL(address))
        const url = new URL(isGone ? address.replace('GONE', 'UNKNOWN') : address)
        const answer = keyedAnswer(url, lastThree)
        return new Response((await answer.text()).replaceAll('UNKNOWN', 'GONE'), answer)
      },
      { clock },
    )
    const gone = seriesKey('NASDAQ', 'GONE', '1m')
    const keys = series(5)
    for (const key of [...keys, gone]) one.keeper.follow(key)
    void one.run()
    await clock.pass(10 * MINUTE)
    expect((await one.status(gone)).state).toBe('fresh')
    const before = urls.length
    isGone = true
    await clock.pass(10 * MINUTE)
    expect((await one.status(gone)).state).toBe('stopped')
    for (const key of keys) expect((await one.status(key)).state).toBe('fresh')
    // They are asked for together again.
    const many = urls.slice(before).filter(({ search }) => search.includes('S0%2CS1'))
    expect(many.length).toBeGreaterThan((urls.length - before) / 4)
    expect(urls.length - before).toBeLessThan(100)
  },
  LIMIT_MS,
)

test('an answer that is older than the one before it changes nothing', async () => {
  const clock = new HandClock()
  let isOld = false
  let asked = 0
  await using one = kept(
    FRIDAY + 10_000,
    () => keyed('Alpaca'),
    async (url) => {
      asked++
      const answer = keyedAnswer(new URL(url), () => [
        { time: FRIDAY - 5 * MINUTE, open: 1, high: isOld ? 2 : 3, low: 1, close: 1, volume: 1 },
        {
          time: Math.floor(clock.now() / MINUTE) * MINUTE,
          open: 1,
          high: isOld ? 5 : 7,
          low: 1,
          close: 1,
          volume: 1,
        },
      ])
      const date = new Date(clock.now() - (isOld ? 60_000 : 0)).toUTCString()
      return new Response(await answer.text(), { headers: { date } })
    },
    { clock },
  )
  const [key] = series(1)
  one.keeper.follow(key!)
  void one.run()
  await clock.pass(1000)
  isOld = true
  const before = asked
  await clock.pass(40_000)
  expect(asked).toBeGreaterThan(before)
  const { high } = await one.cache.read(key!, { from: 0 })
  expect([...high]).toEqual([3])
  expect(one.forming.get(key!)?.row[2]).toBe(7)
})

test('a batch without room for all asks for the rest in its next turn', async () => {
  const provider = keyed('Alpaca')
  const clock = new HandClock()
  let isFull = false
  const urls: string[] = []
  await using one = kept(
    FRIDAY,
    () => provider,
    async (address) => {
      urls.push(address)
      const url = new URL(address)
      if (isFull && url.searchParams.has('symbols')) url.searchParams.set('limit', '4')
      return keyedAnswer(url, lastThree)
    },
    { clock },
  )
  const keys = series(4)
  for (const key of keys) one.keeper.follow(key)
  void one.run()
  await clock.pass(5 * MINUTE)
  isFull = true
  await clock.pass(10 * MINUTE)
  const ends = await Promise.all(keys.map(async (key) => (await one.times(key)).at(-1)))
  expect(new Set(ends).size).toBe(1)
  expect(ends[0]).toBeGreaterThanOrEqual(FRIDAY + 13 * MINUTE)
})

test(
  'after a split all bars are as the provider has them now, however old',
  async () => {
    const clock = new HandClock()
    clock.time = FRIDAY
    const random = seededRandom(3)
    const calendar = calendarOf(defaultSymbol('NASDAQ', 'AAPL'))
    const venue = new PolledVenue({ delayMs: 0, limits: [], isDated: true }, clock, random, calendar)
    const key = seriesKey('NASDAQ', 'AAPL', '1m')
    await using one = kept(FRIDAY, () => keyed('Alpaca'), venue.http, { clock })
    const stop = new AbortController()
    one.keeper.follow(key)
    void one.run()
    const trading = venue.run(stop.signal, ['AAPL'])
    await clock.pass(3 * HOUR)
    venue.split('AAPL')
    await clock.pass(2 * HOUR)
    const bars = await one.cache.read(key, { from: 0 })
    const expected = venue.closed('AAPL')
    expect([...bars.close]).toEqual(expected.map(([, , , , close]) => close))
    expect(expected.length).toBeGreaterThan(100)
    stop.abort()
    await clock.settle()
    await trading
  },
  LIMIT_MS,
)

/** Yahoo's days: the one that forms is dated by its last trade. */
function days(
  first: number,
  count: number,
  { openAt, closeAt }: { openAt: (day: number) => number; closeAt: (day: number) => number },
  now: number,
) {
  const timestamp: number[] = []
  for (let i = 0; i < count; i++) {
    const opens = openAt(first + i)
    if (opens < 0 || opens > now) continue
    timestamp.push(Math.floor(now < closeAt(first + i) ? now / 1000 : opens / 1000))
  }
  const column = timestamp.map((_, i) => i + 1)
  const quote = [{ open: column, high: column, low: column, close: column, volume: column }]
  const meta = { symbol: 'AAPL', regularMarketTime: timestamp.at(-1) }
  return Response.json({ chart: { result: [{ meta, timestamp, indicators: { quote } }], error: null } })
}

test(
  'a day is stored when its session is over: at one on a half day, an hour earlier by UTC once the clocks went forward',
  async () => {
    for (const [from, closes] of [
      // The day after Thanksgiving.
      [Date.UTC(2026, 10, 25, 15), [Date.UTC(2026, 10, 25, 21), Date.UTC(2026, 10, 27, 18)]],
      [Date.UTC(2026, 2, 6, 15), [Date.UTC(2026, 2, 6, 21), Date.UTC(2026, 2, 9, 20)]],
    ] as const) {
      const calendar = calendarOf(defaultSymbol('NASDAQ', 'AAPL'))
      const clock = new HandClock()
      const day = 86_400_000
      const first = Math.floor(from / day)
      const isHoliday = (one: number) => one === Math.floor(Date.UTC(2026, 10, 26) / day)
      const hasSession = (one: number) => ![0, 6].includes((one + 4) % 7) && !isHoliday(one)
      const hours = {
        openAt: (one: number) => (hasSession(one) ? calendar.open(one) : -1),
        closeAt: (one: number) => calendar.close(one),
      }
      await using one = kept(
        from,
        () => yahoo,
        async () => days(first, 6, hours, clock.now()),
        { clock },
      )
      const key = seriesKey('NASDAQ', 'AAPL', '1d')
      one.keeper.follow(key)
      void one.run()
      for (const [i, close] of closes.entries()) {
        await clock.pass(close + 1500 - clock.now())
        expect([new Date(close).toISOString(), (await one.times(key)).length]).toEqual([
          new Date(close).toISOString(),
          i,
        ])
        await clock.pass(1000)
        expect([new Date(close).toISOString(), (await one.times(key)).length]).toEqual([
          new Date(close).toISOString(),
          i + 1,
        ])
      }
    }
  },
  LIMIT_MS,
)

test(
  'a day that is there hours after the close is stored when it comes, and its correction after it',
  async () => {
    const clock = new HandClock()
    const close = Date.UTC(2026, 2, 6, 21)
    const there = close + 3 * HOUR
    const corrected = close + 5 * HOUR
    await using one = kept(
      Date.UTC(2026, 2, 6, 15),
      () => keyed('Tiingo'),
      async (url) =>
        keyedAnswer(new URL(url), ({ from, to }) => {
          const now = clock.now()
          const all = [
            { time: Date.UTC(2026, 2, 5), high: 3 },
            ...(now >= there ? [{ time: Date.UTC(2026, 2, 6), high: now >= corrected ? 5 : 4 }] : []),
          ]
          return all
            .filter(({ time }) => time >= from - 86_400_000 && time <= to)
            .map(({ time, high }) => ({ time, open: 1, high, low: 1, close: 2, volume: 3 }))
        }),
      { clock },
    )
    const key = seriesKey('NASDAQ', 'AAPL', '1d')
    one.keeper.follow(key)
    void one.run()
    const highs = async () => [...(await one.cache.read(key, { from: 0 })).high]
    await clock.pass(there - clock.now() - 1000)
    expect(await highs()).toEqual([3])
    await clock.pass(31 * MINUTE)
    expect(await highs()).toEqual([3, 4])
    await clock.pass(corrected + 31 * MINUTE - clock.now())
    expect(await highs()).toEqual([3, 5])
  },
  LIMIT_MS,
)

test(
  'what a key allows a day lasts for the session, and for its last bar',
  async () => {
    const clock = new HandClock()
    const counted: { readonly at: number; readonly symbols: number }[] = []
    const open = Date.UTC(2026, 2, 6, 14, 30)
    const close = Date.UTC(2026, 2, 6, 21)
    await using one = kept(
      open - 2 * HOUR,
      () => keyed('Twelve Data'),
      async (address) => {
        const url = new URL(address)
        // Each counts, also of those that are asked for together.
        counted.push({ at: clock.now(), symbols: (url.searchParams.get('symbol') ?? '').split(',').length })
        return keyedAnswer(url, ({ from, to }) =>
          Array.from({ length: 390 }, (_, i) => open + i * MINUTE)
            .filter((time) => time >= from && time <= to)
            .map((time) => ({ time, open: 1, high: 1, low: 1, close: 1, volume: 1 })),
        )
      },
      { clock },
    )
    const [first, second] = series(2)
    for (const key of [first!, second!]) one.keeper.follow(key)
    void one.run()
    await clock.pass(close + 3 * MINUTE - clock.now())
    for (const key of [first!, second!]) expect((await one.times(key)).at(-1)).toBe(close - MINUTE)
    const creditsFrom = (from: number) =>
      counted.filter(({ at }) => at >= from).reduce((sum, { symbols }) => sum + symbols, 0)
    expect(creditsFrom(0)).toBeGreaterThan(650)
    expect(creditsFrom(0)).toBeLessThan(780)
    expect(creditsFrom(close - 10 * MINUTE)).toBeGreaterThan(16)
  },
  LIMIT_MS,
)

test(
  'over a weekend nobody asks more than every half hour, and at the opening it is asked at once',
  async () => {
    const clock = new HandClock()
    const asked: number[] = []
    const close = Date.UTC(2026, 2, 6, 21)
    const open = Date.UTC(2026, 2, 9, 13, 30)
    await using one = kept(
      close - HOUR,
      () => keyed('Alpaca'),
      async (url) => {
        asked.push(clock.now())
        return keyedAnswer(new URL(url), ({ from, to }) =>
          [...Array(10_000).keys()]
            .map((i) => close - (10_000 - i) * MINUTE)
            .filter((time) => time >= from && time <= to)
            .map((time) => ({ time, open: 1, high: 1, low: 1, close: 1, volume: 1 })),
        )
      },
      { clock },
    )
    const key = seriesKey('NASDAQ', 'AAPL', '1m')
    one.keeper.follow(key)
    void one.run()
    await clock.pass(open + MINUTE + 2000 - clock.now())
    const quiet = asked.filter((at) => at > close + 10_000 && at < open)
    expect(quiet.length).toBeLessThan(2 * 65 + 15)
    expect(asked.some((at) => at >= open && at <= open + MINUTE + 2000)).toBe(true)
    expect((await one.status(key)).state).toBe('fresh')
  },
  LIMIT_MS,
)

test.each([
  ['a page for people', () => new Response('<!DOCTYPE html><p>Maintenance')],
  ['half an answer', () => new Response('{"bars":[{"t":"2026-03-06T18:')],
  ['nothing', () => new Response('')],
  ['another symbol', () => Response.json({ bars: [], symbol: 'MSFT', next_page_token: null })],
  ['a list of nulls', () => Response.json({ bars: [null, 7, 'x', { t: null }], symbol: 'S0' })],
  [
    'prices that are none',
    () =>
      Response.json({
        bars: [{ t: '2026-03-06T18:20:00Z', o: 'NaN', h: null, l: '', c: '1e999', v: 1 }],
        symbol: 'S0',
      }),
  ],
])('%s is stored as nothing, and the next good answer is', async (_, bad) => {
  const clock = new HandClock()
  let isBad = true
  await using one = kept(
    FRIDAY,
    () => keyed('Alpaca'),
    async (url) =>
      isBad
        ? bad()
        : keyedAnswer(new URL(url), () => [
            { time: FRIDAY - 5 * MINUTE, open: 1, high: 1, low: 1, close: 1, volume: 1 },
          ]),
    { clock },
  )
  const [key] = series(1)
  one.keeper.follow(key!)
  void one.run()
  await clock.pass(5 * MINUTE)
  expect(await one.times(key!)).toEqual([])
  isBad = false
  await clock.pass(10 * MINUTE)
  expect(await one.times(key!)).toEqual([FRIDAY - 5 * MINUTE])
  expect((await one.status(key!)).state).toBe('fresh')
})

test(
  'of two servers one asks, and when it gives its series away nothing is missing and nothing twice',
  async () => {
    const clock = new HandClock()
    clock.time = FRIDAY
    const random = seededRandom(5)
    const calendar = calendarOf(defaultSymbol('NASDAQ', 'AAPL'))
    const venue = new PolledVenue({ delayMs: 0, limits: [], isDated: true }, clock, random, calendar)
    const key = seriesKey('NASDAQ', 'AAPL', '1m')
    const store = testBars()
    const kv = testKv()
    const stop = new AbortController()
    let holder = 0
    const askedBy: number[] = []
    const servers = [0, 1].map((server) => {
      const { keeper } = kept(
        FRIDAY,
        () => keyed('Alpaca'),
        (...request) => {
          askedBy.push(server)
          expect(server).toBe(holder)
          return venue.http(...request)
        },
        { clock, store },
      )
      return new Feeds({
        kv,
        clock,
        log: silentLog,
        keeper,
        wanted: () => later([]),
        providerOf: () => keyed('Alpaca'),
        isOurs: () => server === holder,
        newestBar: async () => null,
      })
    })
    await servers[0]!.follow(key)
    const running = [venue.run(stop.signal, ['AAPL']), ...servers.map((server) => server.run(stop.signal))]
    for (let i = 0; i < 40; i++) {
      await clock.pass(Math.floor(random.uniform() * 180_000))
      const before = askedBy.length
      holder = 1 - holder
      // As a server does that has to give a shard away, and then the one that gets it.
      await servers[1 - holder]!.sync()
      await servers[holder]!.sync()
      await clock.pass(1000)
      expect(askedBy.length).toBeGreaterThan(before)
    }
    await clock.pass(20 * MINUTE)
    while (calendar.isOpen(clock.now())) await clock.pass(HOUR)
    const bars = await new BarCache(store).read(key, { from: 0 })
    expect([...bars.time]).toEqual(venue.closed('AAPL').map(([time]) => time))
    stop.abort()
    await clock.settle()
    await Promise.all(running)
  },
  LIMIT_MS,
)
