import { describe, expect, test } from 'bun:test'
import { listText, packList, searchLists, type SymbolQuery } from '../../src/market/listings/directory.ts'
import { fetchList } from '../../src/market/listings/fetch-list.ts'
import { type Listing, listing, type SymbolList } from '../../src/market/listings/listing.ts'
import { SYMBOL_LISTS } from '../../src/market/listings/symbol-lists.ts'
import type { Http } from '../../src/market/providers/provider.ts'
import { seededRandom } from '../../src/lib/seeded-random.ts'
import { rejection } from '../rejection.ts'
import { listAnswer } from './fake-lists.ts'

const never = new AbortController().signal
const waits: number[] = []
const clock = {
  now: () => 0,
  sleep: async (ms: number) => void waits.push(ms),
}
const served: Http = async (url, _, body) => listAnswer(url, body)
const listOf = (provider: string): SymbolList => SYMBOL_LISTS.find((one) => one.provider === provider)!
const lines = (all: readonly Listing[]) =>
  all.map(({ exchange, symbol, name, type }) => `${exchange}:${symbol} ${name} (${type})`)
const fetched = async (provider: string, http = served) =>
  lines(await fetchList(listOf(provider), { http, clock }, never))

describe('the list of', () => {
  const EXPECTED: Readonly<Record<string, readonly string[]>> = {
    Binance: [
      'BINANCE:BTCUSDT BTC / USDT (crypto)',
      'BINANCE:ETHUSDT ETH / USDT (crypto)',
      'BINANCE:币安人生USDT 币安人生 / USDT (crypto)',
    ],
    Bybit: [
      'BYBIT:BTCUSDT BTC / USDT (crypto)',
      'BYBIT:BTCUSDT.P BTC / USDT perpetual contract (swap)',
      'BYBIT:SOLUSDT.P SOL / USDT perpetual contract (swap)',
    ],
    OKX: [
      'OKX:BTCUSDT BTC / USDT (crypto)',
      'OKX:BTC-BRL BTC / BRL (crypto)',
      'OKX:BTCUSDT.P BTC / USDT perpetual contract (swap)',
    ],
    Coinbase: ['COINBASE:BTCUSD BTC / USD (crypto)', 'COINBASE:BTC-INR BTC / INR (crypto)'],
    Kraken: ['KRAKEN:BTCUSD BTC / USD (crypto)', 'KRAKEN:DOGEEUR DOGE / EUR (crypto)'],
    Hyperliquid: ['HYPERLIQUID:BTCUSDC.P BTC / USDC perpetual contract (swap)'],
    'Nasdaq Trader': [
      'NASDAQ:AAPL Apple Inc. - Common Stock (stock)',
      'NASDAQ:QQQ Invesco QQQ Trust, Series 1 (fund)',
      'NYSE:BRK.B Berkshire Hathaway Inc. Class B (stock)',
      'NYSE:BABA Alibaba Group Holding Limited American Depositary Shares (dr)',
      'ARCA:SPY SPDR S&P 500 (fund)',
    ],
  }
  for (const { provider } of SYMBOL_LISTS)
    test(`${provider} has what can be traded, by the names that its bars are asked by`, async () => {
      expect(await fetched(provider)).toEqual([...(EXPECTED[provider] ?? [])])
    })

  for (const { provider } of SYMBOL_LISTS)
    test(`${provider} is not replaced by an answer that is none`, async () => {
      for (const answer of ['{}', '[]', 'null', '', '<html>busy</html>', '{"result":[]'])
        expect(await rejection(fetched(provider, async () => new Response(answer)))).toMatchObject({
          kind: 'malformed',
        })
    })
})

test('a list is asked for again after the wait that a provider wants, and after a fault', async () => {
  waits.length = 0
  let asked = 0
  const http: Http = async (url) => {
    asked++
    if (asked === 1) return new Response('', { status: 429, headers: { 'retry-after': '7' } })
    if (asked === 2) throw new Error('cut')
    return listAnswer(url)
  }
  expect(await fetched('Binance', http)).toHaveLength(3)
  expect([asked, waits]).toEqual([3, [7000, 1000, 2000, 1000]])
})

test('a name that would break a line or that no series can have is not listed', () => {
  expect(listing('X', 'A\tB', 'x', 'stock')).toBeNull()
  expect(listing('X', 'A/B', 'x', 'stock')).toBeNull()
  expect(listing('X', 'A'.repeat(65), 'x', 'stock')).toBeNull()
  expect(listing(undefined, 'A', 'x', 'stock')).toBeNull()
  expect(listing('x', 'a', ' two\n\tlines\u0000 ', 'stock')).toEqual({
    exchange: 'X',
    symbol: 'A',
    name: 'two lines',
    type: 'stock',
  })
  expect(listing('x', 'a', 7, 'stock')?.name).toBe('A')
})

const ALL: Listing[] = [
  ['NASDAQ', 'AAPL', 'Apple Inc.', 'stock'],
  ['NYSE', 'APLE', 'Apple Hospitality REIT', 'stock'],
  ['NYSE', 'A', 'Agilent Technologies', 'stock'],
  ['NASDAQ', 'AAPU', 'Direxion Daily AAPL Bull', 'fund'],
  ['BINANCE', 'BTCUSDT', 'BTC / USDT', 'crypto'],
  ['BYBIT', 'BTCUSDT', 'BTC / USDT', 'crypto'],
  ['BYBIT', 'BTCUSDT.P', 'BTC / USDT perpetual contract', 'swap'],
  ['SIX', 'NESN', 'Nestlé S.A.', 'stock'],
  ['XETR', 'MUV2', 'Münchener Rück straße', 'stock'],
  ['BINANCE', '币安人生USDT', '币安人生 / USDT', 'crypto'],
].map(([exchange, symbol, name, type]) => ({ exchange, symbol, name, type }) as Listing)
const now = () => Promise.resolve()
const packed = await packList(await listText(ALL, now), now)
const found = (text: string, more: Partial<SymbolQuery> = {}) =>
  searchLists([packed], { text, limit: 10, ...more }).map(({ exchange, symbol }) => `${exchange}:${symbol}`)

test.each([
  ['AAPL', ['NASDAQ:AAPL', 'NASDAQ:AAPU']],
  ['a', ['NYSE:A', 'NASDAQ:AAPL', 'NASDAQ:AAPU', 'NYSE:APLE']],
  ['apple', ['NYSE:APLE', 'NASDAQ:AAPL']],
  ['apple nasdaq', ['NASDAQ:AAPL']],
  ['nasdaq AAPL', ['NASDAQ:AAPL', 'NASDAQ:AAPU']],
  ['BINANCE:BTCUSDT', ['BINANCE:BTCUSDT']],
  ['bybit:btc', ['BYBIT:BTCUSDT', 'BYBIT:BTCUSDT.P']],
  ['BYBIT:', ['BYBIT:BTCUSDT', 'BYBIT:BTCUSDT.P']],
  ['nestle', ['SIX:NESN']],
  ['STRASSE', ['XETR:MUV2']],
  ['人生', ['BINANCE:币安人生USDT']],
  ['perpetual swap', ['BYBIT:BTCUSDT.P']],
  ['nothing like it', []],
  ['(.*)\\', []],
])('%p finds %p', (text, expected) => {
  const all = found(text)
  expect(all.slice(0, expected.length).toSorted()).toEqual(expected.toSorted())
  if (!['a'].includes(text)) expect(all).toHaveLength(expected.length)
  if (expected[0] !== undefined && !['apple'].includes(text)) expect(all[0]).toBe(expected[0])
})

test('the exchange and the type narrow a search, and the limit ends it', () => {
  expect(found('btc', { exchange: 'bybit' })).toEqual(['BYBIT:BTCUSDT', 'BYBIT:BTCUSDT.P'])
  expect(found('btc', { type: 'swap' })).toEqual(['BYBIT:BTCUSDT.P'])
  expect(found('', { type: 'fund' })).toEqual(['NASDAQ:AAPU'])
  expect(found('', { limit: 3 })).toHaveLength(3)
  expect(searchLists([], { text: 'a', limit: 3 })).toEqual([])
})

test('a search finds what a slow one finds, whatever is in the list', async () => {
  const seed = Math.floor(Date.now() % 1e9)
  console.log(`seed ${seed}`)
  const { uniform: random } = seededRandom(seed)
  const pick = (letters: string, most: number) =>
    Array.from(
      { length: 1 + Math.floor(random() * most) },
      () => letters[Math.floor(random() * letters.length)],
    ).join('')
  const many = new Map<string, Listing>()
  for (let i = 0; i < 2000; i++) {
    const one = listing(pick('XY', 2), pick('AB1', 5), `${pick('aé b', 6)} ${pick('cd ', 5)}`, 'stock')
    if (one) many.set(`${one.exchange}:${one.symbol}`, one)
  }
  const list = await packList(await listText([...many.values()], now), now)
  const fold = (text: string) => text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toUpperCase()
  for (let i = 0; i < 300; i++) {
    const text = `${random() < 0.3 ? `${pick('XY', 2)}:` : ''}${pick('ab1cd é', 4)}`
    const [prefix, rest] = text.includes(':') ? text.split(':') : ['', text]
    const words = fold(rest ?? '')
      .split(/\s+/)
      .filter(Boolean)
    const slow = [...many.values()].filter(({ exchange, symbol, name }) => {
      const line = fold(`${symbol}\t${name}\t${exchange}\tstock`)
      return words.every((word) => line.includes(word)) && exchange.startsWith(prefix ?? '')
    })
    const quick = searchLists([list], { text, limit: 5000 })
    expect([text, lines(quick).toSorted()]).toEqual([text, lines(slow).toSorted()])
  }
})
