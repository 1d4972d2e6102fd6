// From a symbol in a provider's list to its bars on a chart, over the API.

import { expect, test } from 'bun:test'
import { listAnswer } from '../market/fake-lists.ts'
import { testServer, unlimited } from './server.ts'

async function searching() {
  const asked: string[] = []
  const server = testServer(unlimited, {
    network: {
      http: async (address, _signal, body) => {
        const url = new URL(address)
        asked.push(url.hostname)
        if (url.pathname !== '/api/v3/klines') return listAnswer(address, body)
        const time = Date.UTC(2025, 0, 1)
        return Response.json([[time, '1', '2', '1', '2', '5']])
      },
      openSocket: () => ({ send: () => {}, close: () => {} }),
    },
  })
  const headers = await server.signUp()
  const call = (method: string, path: string, body?: unknown) =>
    server.call(method, `/api/platform${path}`, { headers, ...(body !== undefined && { body }) })
  return { ...server, asked, call, lists: server.services.features.symbolLists, headers }
}

test('a symbol is found in the list of a chosen provider, and known again once its bars are stored', async () => {
  const it = await searching()
  const before = (await it.call('GET', '/symbols/search?q=BINANCE:btcusdt')).json
  expect(before.symbols).toEqual([])
  expect(before.lists[0]).toEqual({
    provider: 'Binance',
    exchanges: ['BINANCE'],
    state: 'unchosen',
    count: 0,
    fetchedAt: null,
    lastError: null,
    nextAt: null,
  })
  expect(it.asked).toEqual([])
  const { json } = await it.call('POST', '/symbols/lists', { provider: 'binANCE' })
  expect(json.list).toMatchObject({ provider: 'Binance', state: 'fetching' })
  await it.lists.settled()
  const found = (await it.call('GET', '/symbols/search?q=BINANCE:btcusdt&limit=5')).json
  const listed = { exchange: 'BINANCE', symbol: 'BTCUSDT', description: 'BTC / USDT', type: 'crypto' }
  expect(found.symbols).toEqual([{ ...listed, stored: false }])
  expect(it.asked).toEqual(['api.binance.com'])
  await it.call('POST', '/bars/fetch', { exchange: 'BINANCE', symbol: 'BTCUSDT', interval: '1d' })
  const after = (await it.call('GET', '/symbols/search?q=btcusdt')).json
  expect(after.symbols).toEqual([{ ...listed, stored: true }])
})

test('exchange and type narrow it; what is no type, no limit or no provider is refused', async () => {
  const it = await searching()
  for (const provider of ['Hyperliquid', 'Coinbase']) await it.call('POST', '/symbols/lists', { provider })
  await it.lists.settled()
  const names = async (query: string) =>
    (await it.call('GET', `/symbols/search?${query}`)).json.symbols.map(
      ({ symbol }: { symbol: string }) => symbol,
    )
  expect(await names('q=btc&type=swap')).toEqual(['BTCUSDC.P'])
  expect(await names('exchange=coinbase&limit=1')).toEqual(['BTCUSD'])
  expect(await names('q=btc&exchange=OKX')).toEqual([])
  expect((await it.call('GET', '/symbols/search?type=house')).status).toBe(422)
  expect((await it.call('GET', '/symbols/search?limit=-1')).status).toBe(422)
  expect((await it.call('GET', `/symbols/search?q=${'A'.repeat(101)}`)).status).toBe(422)
  expect((await it.call('POST', '/symbols/lists', { provider: 'Acme' })).json.error).toMatchObject({
    code: 'provider_not_found',
  })
  expect((await it.call('POST', '/symbols/lists', {})).status).toBe(422)
})

test('a search needs somebody who is signed in; where providers are switched off, none is chosen', async () => {
  const off = testServer(unlimited)
  expect((await off.call('GET', '/api/platform/symbols/search?q=a')).status).toBe(401)
  const headers = await off.signUp()
  const body = { provider: 'Binance' }
  const refused = await off.call('POST', '/api/platform/symbols/lists', { headers, body })
  expect([refused.status, refused.json.error.code]).toEqual([503, 'feeds_disabled'])
})
