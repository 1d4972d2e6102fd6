// Symbols found from the command line, in the lists that a server on the same data searches.

import { expect, test } from 'bun:test'
import type { Http } from '../../src/market/providers/provider.ts'
import { listAnswer } from '../market/fake-lists.ts'
import { chartroom, temporaryFolder, withHttp } from './run.ts'

function lists() {
  const asked: string[] = []
  const http: Http = (url, _signal, body) => {
    asked.push(new URL(url).hostname)
    return Promise.resolve(listAnswer(url, body))
  }
  return { asked, http }
}

test('a list is fetched when it is chosen, by its name in any case, and searched without a network after that', async () => {
  const data = temporaryFolder()
  const { asked, http } = lists()
  const none = await withHttp(http, data, ['symbols', 'btc'])
  expect(none).toMatchObject({ code: 1, out: '' })
  expect(none.err).toStartWith('No list of symbols is used yet. --provider NAME uses another list; there are')
  expect(asked).toEqual([])
  const chosen = await withHttp(http, data, ['symbols', 'BINANCE:btcusdt', '--provider', 'binance'])
  expect(chosen).toMatchObject({ code: 0, err: '' })
  expect(chosen.out.split('\n').map((line) => line.trim().replaceAll(/ {2,}/g, ' | '))).toEqual([
    'SYMBOL | NAME | TYPE | BARS HERE',
    'BINANCE:BTCUSDT | BTC / USDT | crypto | –',
  ])
  expect(asked).toEqual(['api.binance.com'])
  const again = await chartroom(data, 'symbols', 'ETH', '--json')
  expect(JSON.parse(again.out)).toMatchObject({
    symbols: [
      { exchange: 'BINANCE', symbol: 'ETHUSDT', description: 'ETH / USDT', type: 'crypto', stored: false },
    ],
    lists: expect.arrayContaining([expect.objectContaining({ provider: 'Binance', state: 'ready' })]),
  })
  expect((await chartroom(data, 'symbols', 'nothing of this name')).err).toStartWith(
    'Nothing of that name is in the lists of Binance. --provider NAME uses another list; there are',
  )
})

test('what is stored here is said, and the lists without a text', async () => {
  const data = temporaryFolder()
  const { http } = lists()
  await withHttp(http, data, ['symbols', '--provider', 'nasdaq trader'])
  const found = await chartroom(data, 'symbols', 'apple', '--type', 'Stock', '--exchange', 'nasdaq')
  expect(found.out).toMatch(/NASDAQ:AAPL .* stock +1d/)
  const shown = await chartroom(data, 'symbols')
  expect(shown.out).toMatch(/Nasdaq Trader +ready +\d+/)
  expect(shown.out).toMatch(/Kraken +unchosen +– +– +KRAKEN/)
})

test('a list that cannot be fetched is said, and what is no type or provider refused', async () => {
  const data = temporaryFolder()
  const failed = await chartroom(data, 'symbols', 'btc', '--provider', 'OKX')
  expect(failed.code).toBe(1)
  expect(failed.err).toContain('The list of OKX could not be fetched: ')
  expect((await chartroom(data, 'symbols', 'btc', '--provider', 'Acme')).err).toContain(
    'There are lists of Binance',
  )
  expect((await chartroom(data, 'symbols', '--type', 'house')).code).toBe(2)
  expect((await chartroom(data, 'symbols', 'a', '--limit', '0')).code).toBe(2)
})
