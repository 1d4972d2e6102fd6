import { expect, test } from 'bun:test'
import { createFeeds } from '../../src/feeds/feeds.ts'
import { silentLog } from '../../src/lib/log.ts'
import { BarCache } from '../../src/market/bar-cache.ts'
import { Poller } from '../../src/market/providers/poller.ts'
import { testBars, testKv } from '../store/test-store.ts'
import { later } from '../later.ts'

const clock = { now: () => 1000, sleep: () => Promise.resolve() }
const poller = () =>
  new Poller({
    cache: new BarCache(testBars()),
    http: () => Promise.reject(new Error('no network')),
    clock,
  })
const coin = { exchange: 'BINANCE', symbol: 'BTCUSDT', interval: '1h' }
const daily = { exchange: 'NASDAQ', symbol: 'AAPL', interval: '1d' }
const unknown = { exchange: 'NOWHERE', symbol: 'X', interval: '1d' }

test('what is followed and what is waited on is kept fresh, and nothing else', async () => {
  let wanted = [daily, unknown]
  const feeds = createFeeds({
    kv: testKv(),
    clock,
    log: silentLog,
    poller: poller(),
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
  const feeds = createFeeds({
    kv: testKv(),
    clock,
    log: silentLog,
    poller: poller(),
    wanted: () => later([]),
  })
  await feeds.follow(unknown)
  expect(await feeds.list()).toMatchObject([
    { state: 'stopped', lastError: 'No provider has symbols of NOWHERE.' },
  ])
})
test('switched off, follows are kept and nobody asks', async () => {
  const feeds = createFeeds({
    kv: testKv(),
    clock,
    log: silentLog,
    poller: null,
    wanted: () => later([daily]),
  })
  await feeds.follow(coin)
  expect(await feeds.list()).toMatchObject([
    { state: 'stopped', followed: true, lastError: expect.stringContaining('FEEDS') },
  ])
})
