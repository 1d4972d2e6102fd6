import { expect, test } from 'bun:test'
import { SymbolLists } from '../../../src/people/feeds/symbol-lists.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { SYMBOL_LISTS } from '../../../src/market/listings/symbol-lists.ts'
import type { Http } from '../../../src/market/providers/provider.ts'
import type { Kv } from '../../../src/store/kv.ts'
import { listAnswer } from '../../market/fake-lists.ts'
import { rejection } from '../../rejection.ts'
import { testKv } from '../../store/test-store.ts'

const DAY = 86_400_000

/** A server on a store; several of them may share it. */
function server(kv: Kv = testKv(), { isOff = false, clock = { time: 1e12 } } = {}) {
  const asked: string[] = []
  let answer: Http = async (url, _, body) => listAnswer(url, body)
  const http: Http = (url, signal, body) => {
    asked.push(new URL(url).hostname)
    return answer(url, signal, body)
  }
  const lists = new SymbolLists({
    kv,
    clock: { now: () => clock.time, sleep: () => Promise.resolve() },
    log: silentLog,
    http: isOff ? null : http,
    lists: () => SYMBOL_LISTS,
  })
  return {
    kv,
    clock,
    asked,
    lists,
    answerWith: (next: Http) => void (answer = next),
    async find(text: string) {
      const { symbols } = await lists.search({ text, limit: 10 })
      return symbols.map(({ exchange, symbol }) => `${exchange}:${symbol}`)
    },
    async state(provider: string) {
      return (await lists.status()).find((one) => one.provider === provider)
    },
  }
}

test('a provider that nobody has chosen is never asked, however often one searches', async () => {
  const it = server()
  expect([await it.find('BTC'), await it.find('BINANCE:BTCUSDT')]).toEqual([[], []])
  await it.lists.settled()
  expect(it.asked).toEqual([])
  expect(new Set((await it.lists.status()).map(({ state }) => state))).toEqual(new Set(['unchosen']))
  await it.lists.choose('Kraken')
  await it.lists.settled()
  expect(it.asked).toEqual(['api.kraken.com'])
  expect(await it.find('BTC')).toEqual(['KRAKEN:BTCUSD'])
  expect(it.asked).toHaveLength(1)
})

test('a list is kept over a new start, and fetched again by a search a day later', async () => {
  const it = server()
  expect(await it.lists.choose('Binance')).toMatchObject({ state: 'fetching', fetchedAt: null })
  await it.lists.settled()
  const after = server(it.kv, { clock: it.clock })
  expect(await after.find('BTCUSDT')).toEqual(['BINANCE:BTCUSDT'])
  expect([after.asked, await after.state('Binance')]).toMatchObject([[], { state: 'ready', count: 3 }])
  it.clock.time += DAY
  const newer = { symbols: [{ symbol: 'NEWUSDT', status: 'TRADING', baseAsset: 'NEW', quoteAsset: 'USDT' }] }
  after.answerWith(async () => Response.json(newer))
  // The old one is searched meanwhile.
  expect(await after.find('USDT')).toContain('BINANCE:BTCUSDT')
  await after.lists.settled()
  expect([await after.find('BTCUSDT'), await after.find('NEW'), await it.find('NEW')]).toEqual([
    [],
    ['BINANCE:NEWUSDT'],
    ['BINANCE:NEWUSDT'],
  ])
  // Of the old text nothing is left.
  expect(await it.kv.list({ prefix: ['symbol-list-text'] }, { limit: 10 })).toHaveLength(1)
})

test('of several servers one fetches, and after its death another', async () => {
  const one = server()
  const two = server(one.kv, { clock: one.clock })
  let go = () => {}
  one.answerWith(async (url) => {
    await new Promise<void>((resolve) => (go = resolve))
    return listAnswer(url)
  })
  await one.lists.choose('Binance')
  await two.find('BTC')
  while (one.asked.length === 0) await one.find('BTC')
  for (let i = 0; i < 5; i++) expect(await two.find('BTC')).toEqual([])
  await two.lists.settled()
  expect([two.asked, await two.state('Binance')]).toMatchObject([[], { state: 'fetching' }])
  one.clock.time += 11 * 60_000
  await two.find('BTC')
  await two.lists.settled()
  expect([two.asked, await two.find('BTC')]).toEqual([['api.binance.com'], ['BINANCE:BTCUSDT']])
  go()
  await one.lists.settled()
})

test('a fault is said, keeps the old list, and is tried again later and later', async () => {
  const it = server()
  it.answerWith(async () => new Response('busy', { status: 503, headers: { 'retry-after': '900' } }))
  await it.lists.choose('Binance')
  await it.lists.settled()
  expect(await it.state('Binance')).toMatchObject({
    state: 'failed',
    lastError: 'Binance answered 503: it is not available.',
    nextAt: it.clock.time + 900_000,
  })
  await it.find('BTC')
  expect(it.asked).toHaveLength(1)
  it.answerWith(async () => Response.json({ symbols: [] }))
  it.clock.time += 900_000
  await it.find('BTC')
  await it.lists.settled()
  expect([it.asked.length, await it.state('Binance')]).toMatchObject([2, { state: 'failed' }])
  it.answerWith(async (url) => listAnswer(url))
  it.clock.time += 3_600_000
  await it.find('BTC')
  await it.lists.settled()
  expect(await it.state('Binance')).toMatchObject({ state: 'ready', lastError: null })
  it.clock.time += DAY
  it.answerWith(async () => Promise.reject(new Error('no network')))
  await it.find('BTC')
  await it.lists.settled()
  expect([await it.find('BTCUSDT'), await it.state('Binance')]).toMatchObject([
    ['BINANCE:BTCUSDT'],
    { state: 'ready', lastError: 'Binance cannot be reached: no network.' },
  ])
})

test('switched off, what was fetched is searched and nobody is asked', async () => {
  const it = server()
  await it.lists.choose('Binance')
  await it.lists.settled()
  await it.lists.choose('Kraken').then(() => it.lists.settled())
  const off = server(it.kv, { isOff: true, clock: it.clock })
  it.clock.time += 2 * DAY
  expect([await off.find('BTCUSDT'), off.asked]).toEqual([['BINANCE:BTCUSDT'], []])
  const fresh = server(testKv(), { isOff: true })
  await fresh.lists.choose('OKX')
  expect([await fresh.state('OKX'), fresh.asked]).toMatchObject([{ state: 'off' }, []])
})

test('an unknown provider is refused, and names those there are', async () => {
  expect(await rejection(server().lists.choose('Yahoo Finance'))).toMatchObject({
    status: 404,
    code: 'provider_not_found',
    message: expect.stringContaining('Nasdaq Trader'),
  })
})

test('a stop breaks off what is fetched, and the next server begins at once', async () => {
  const it = server()
  it.answerWith(
    (_, signal) =>
      new Promise((_resolve, reject) =>
        signal?.addEventListener('abort', () => reject(new Error('aborted')), { once: true }),
      ),
  )
  const stop = new AbortController()
  const running = it.lists.run(stop.signal)
  await it.lists.choose('Binance')
  while (it.asked.length === 0) await it.find('BTC')
  stop.abort()
  await running
  const next = server(it.kv, { clock: it.clock })
  await next.find('BTC')
  await next.lists.settled()
  expect(await next.find('BTC')).toEqual(['BINANCE:BTCUSDT'])
})
