import { expect, test } from 'bun:test'
import { Feeds } from '../../../src/people/feeds/feeds.ts'
import { ToldFeeds } from '../../../src/people/feeds/told-feeds.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { BarCache } from '../../../src/market/bar-cache.ts'
import { FormingBars } from '../../../src/market/live/forming-bars.ts'
import { Keeper, type KeeperDeps } from '../../../src/market/live/keeper.ts'
import { providerOf } from '../../../src/market/providers/fetch-bars.ts'
import { testBars, testKv } from '../../store/test-store.ts'
import { HandClock } from '../../lib/hand-clock.ts'
import { goingAway } from '../../store/going-away.ts'
import { later } from '../../later.ts'
import { rejection } from '../../rejection.ts'

const clock = { now: () => 1000, sleep: () => Promise.resolve() }
const keeperOf = (deps: Partial<KeeperDeps> = {}) =>
  new Keeper({
    forming: new FormingBars(0),
    cache: new BarCache(testBars()),
    http: () => Promise.reject(new Error('no network')),
    clock,
    log: silentLog,
    open: () => {
      throw new Error('nobody has a stream')
    },
    spread: () => 0.5,
    providers: [],
    providerOf,
    ...deps,
  })
const coin = { exchange: 'BINANCE', symbol: 'BTCUSDT', interval: '1h' }
const daily = { exchange: 'NASDAQ', symbol: 'AAPL', interval: '1d' }
const unknown = { exchange: 'NOWHERE', symbol: 'X', interval: '1d' }

test('what is followed and what is waited on is kept fresh, and nothing else', async () => {
  let wanted = [daily, unknown]
  const feeds = new Feeds({
    kv: testKv(),
    clock,
    log: silentLog,
    keeper: keeperOf(),
    wanted: () => later(wanted),
  })
  await feeds.follow(coin)
  const names = async () =>
    (await feeds.list()).map(
      ({ key, followed }) => `${key.exchange}:${key.symbol}${followed ? ' followed' : ''}`,
    )
  expect(await names()).toEqual(['BINANCE:BTCUSDT followed', 'NASDAQ:AAPL'])
  wanted = []
  await feeds.sync()
  expect(await names()).toEqual(['BINANCE:BTCUSDT followed'])
  expect([await feeds.unfollow(coin), await feeds.unfollow(coin)]).toEqual([true, false])
  expect(await names()).toEqual([])
})
test('a followed series that no provider has says so', async () => {
  const feeds = new Feeds({
    kv: testKv(),
    clock,
    log: silentLog,
    keeper: keeperOf(),
    wanted: () => later([]),
  })
  await feeds.follow(unknown)
  expect(await feeds.list()).toMatchObject([
    { state: 'stopped', lastError: 'No provider has symbols of NOWHERE.' },
  ])
})
test('switched off, follows are kept and nobody asks', async () => {
  const feeds = new Feeds({
    kv: testKv(),
    clock,
    log: silentLog,
    keeper: null,
    wanted: () => later([daily]),
  })
  await feeds.follow(coin)
  expect(await feeds.list()).toMatchObject([
    { state: 'stopped', followed: true, lastError: expect.stringContaining('FEEDS') },
  ])
})

test('switched off, nothing is wanted of anybody, and there is no loop to run', async () => {
  let asked = 0
  const wanted = () => {
    asked++
    return later([daily])
  }
  const feeds = new Feeds({ kv: testKv(), clock, log: silentLog, keeper: null, wanted })
  await feeds.follow(coin)
  expect([feeds.enabled, await feeds.isFollowed(coin), await feeds.isFollowed(daily)]).toEqual([
    false,
    true,
    false,
  ])
  expect(await feeds.list()).toEqual([
    {
      key: coin,
      state: 'stopped',
      followed: true,
      provider: null,
      lastSuccessAt: null,
      lastError: 'Requests to providers are switched off on this server (FEEDS=off).',
      failures: 0,
      nextAt: null,
      newestBar: null,
    },
  ])
  await feeds.run(new AbortController().signal)
  expect(asked).toBe(0)
})
test('what is followed stays so when the server starts again, and when it could not be told at once', async () => {
  const kv = testKv()
  const failing = () => {
    throw new Error('the store is gone')
  }
  const first = new Feeds({ kv, clock, log: silentLog, keeper: keeperOf(), wanted: failing })
  expect(await rejection(first.follow(coin))).toHaveProperty('message', 'the store is gone')
  expect(await rejection(first.sync())).toHaveProperty('message', 'the store is gone')
  let isBroken = true
  const feeds = new Feeds({
    kv,
    clock,
    log: silentLog,
    keeper: keeperOf(),
    wanted: () => (isBroken ? failing() : later([])),
  })
  expect(feeds.enabled).toBe(true)
  expect(await rejection(feeds.sync())).toBeInstanceOf(Error)
  isBroken = false
  await feeds.sync()
  expect((await feeds.list()).map(({ key, followed }) => [key.symbol, followed])).toEqual([['BTCUSDT', true]])
})
test('what is not this server’s any more is let go also while the store is away, and begins again when it is back', async () => {
  const hands = new HandClock()
  const database = goingAway()
  let isOurs = true
  const keeper = keeperOf({ clock: hands })
  const reading = Promise.withResolvers<void>()
  let isSlow = false
  const feeds = new Feeds({
    kv: database.kv(testKv()),
    clock: hands,
    log: silentLog,
    keeper,
    async *wanted() {
      if (isSlow) await reading.promise
      yield unknown
    },
    isOurs: () => isOurs,
  })
  const names = () => keeper.keys.map(({ symbol }) => symbol)
  const over = new AbortController()
  const running = feeds.run(over.signal)
  await feeds.follow(coin)
  expect(names()).toEqual(['BTCUSDT'])
  isSlow = true
  const syncing = feeds.sync()
  await hands.pass(1)
  database.isAway = true
  isOurs = false
  feeds.letGo()
  expect(names()).toEqual([])
  // What had been asked before does not bring it back.
  reading.resolve()
  await rejection(syncing)
  expect(names()).toEqual([])
  isOurs = true
  await feeds.gained()
  expect(names()).toEqual([])
  database.isAway = false
  await hands.pass(5000)
  expect(names()).toEqual(['BTCUSDT'])
  over.abort()
  await running
})
test('every minute it is found out which series to keep fresh', async () => {
  const hands = new HandClock()
  let asked = 0
  const feeds = new Feeds({
    kv: testKv(),
    clock: hands,
    log: silentLog,
    keeper: keeperOf({ clock: hands }),
    wanted: () => {
      asked++
      return later([unknown])
    },
  })
  const over = new AbortController()
  const running = feeds.run(over.signal)
  await hands.pass(59_999)
  expect(asked).toBe(1)
  await hands.pass(1)
  expect(asked).toBe(2)
  // What no provider has is nothing that a list or an alert could have kept fresh.
  expect(await feeds.list()).toEqual([])
  over.abort()
  await running
})

test('how a feed goes is told by the server that fetches it to all others, and forgotten when nobody wants it', async () => {
  const kv = testKv()
  const hand = new HandClock()
  let wanted = [coin, unknown]
  const http = () => Promise.reject(new Error('the line is dead'))
  const server = (ours: string, isOn = true) => {
    const asked = keeperOf({ http, clock: hand })
    return new Feeds({
      kv,
      clock: hand,
      log: silentLog,
      keeper: isOn ? asked : null,
      wanted: () => later(wanted),
      isOurs: ({ exchange }) => exchange === ours,
      newestBar: async () => 7,
    })
  }
  const [a, b, off] = [server('BINANCE'), server('NOWHERE'), server('', false)]
  await a.follow(unknown)
  const stop = new AbortController()
  const running = [a, b].map((feeds) => feeds.run(stop.signal))
  await hand.pass(30_000)
  for (const feeds of [b, off]) {
    const found = (await feeds.list()).find(({ key }) => key.exchange === 'BINANCE')
    expect(found).toMatchObject({ state: 'retrying', failures: 3, followed: false, newestBar: 7 })
    expect(found?.lastError).toContain('the line is dead')
  }
  for (const feeds of [a, off])
    expect((await feeds.list()).find(({ key }) => key.exchange === 'NOWHERE')).toMatchObject({
      state: 'stopped',
      followed: true,
      lastError: 'No provider has symbols of NOWHERE.',
    })
  wanted = []
  await b.unfollow(unknown)
  await hand.pass(60_000)
  for (const feeds of [a, b, off]) expect(await feeds.list()).toEqual([])
  stop.abort()
  await hand.settle()
  await Promise.all(running)
})

test('a feed that goes well is told of once a minute, and of what changes at once', async () => {
  const hand = new HandClock()
  const kv = testKv()
  let writes = 0
  const told = new ToldFeeds({
    clock: hand,
    kv: { ...kv, commit: (commit) => (writes++, kv.commit(commit)) },
  })
  const feed = {
    key: coin,
    state: 'fresh',
    provider: 'binance',
    lastSuccessAt: 1,
    lastError: null,
    failures: 0,
    nextAt: 2,
  } as const
  for (let second = 0; second < 121; second++) {
    await told.tell({ ...feed, lastSuccessAt: second })
    await hand.pass(1000)
  }
  expect(writes).toBe(3)
  await told.tell({ ...feed, state: 'retrying', failures: 1, lastError: 'no' })
  expect(writes).toBe(4)
  expect(await told.list()).toMatchObject([{ key: coin, state: 'retrying', failures: 1 }])
})
