// Keys of providers: given, used, replaced, taken away, and never shown.

import { expect, test } from 'bun:test'
import { testKv } from '../store/test-store.ts'
import { keyedVenue } from '../market/fake-keyed.ts'
import { testServer, unlimited } from './server.ts'

const SERIES = { exchange: 'NASDAQ', symbol: 'AAPL', interval: '30m' }
const RANGE = { from: '2025-01-06T00:00:00Z', to: '2025-01-07T00:00:00Z' }
const path = (name: string) => `/providers/${encodeURIComponent(name)}/key`

async function keyed(kv = testKv()) {
  const venue = keyedVenue()
  const socket = () => ({ send: () => {}, close: () => {} })
  const server = testServer(unlimited, { kv, network: { http: venue.http, openSocket: socket } })
  const headers = await server.signUp()
  const call = (method: string, at: string, body?: unknown, as = headers) =>
    server.call(method, `/api/platform${at}`, { headers: as, ...(body !== undefined && { body }) })
  const of = async (name: string) =>
    (await call('GET', '/providers')).json.providers.find((one: { name: string }) => one.name === name)
  return { ...server, venue, call, of, kv }
}

test('with a key a provider is asked for its exchanges, with the key in a header', async () => {
  const it = await keyed()
  expect(await it.of('Tiingo')).toEqual({
    name: 'Tiingo',
    exchanges: ['NASDAQ', 'NYSE', 'AMEX', 'ARCA', 'BATS', 'OTC'],
    needsKey: true,
    needsSecret: false,
    keySetAt: null,
    keyLost: false,
    limits: '50 requests an hour, 1,000 a day',
    asked: [],
  })
  expect((await it.of('Yahoo Finance')).asked).toContain('NASDAQ')
  const given = await it.call('PUT', path('Tiingo'), { key: 'tkey' })
  expect(given.json.provider).toMatchObject({
    name: 'Tiingo',
    keyLost: false,
    asked: expect.arrayContaining(['NASDAQ']),
  })
  expect((await it.of('Yahoo Finance')).asked).not.toContain('NASDAQ')
  const fetched = await it.call('POST', '/bars/fetch', { ...SERIES, ...RANGE })
  expect(fetched.json).toMatchObject({ ok: true, inserted: 13 })
  expect(it.venue.requests.map(({ url }) => url.hostname)).toEqual(['api.tiingo.com'])
  // The one that was given last goes first, and without it the other one is asked again.
  const alpaca = await it.call('PUT', path('aLPACA'), { key: 'PKTEST', secret: 'secret' })
  expect(alpaca.json.provider.name).toBe('Alpaca')
  await it.call('POST', '/bars/fetch', { ...SERIES, ...RANGE })
  expect(it.venue.requests.at(-1)!.url.hostname).toBe('data.alpaca.markets')
  expect((await it.call('DELETE', path('alpaca'))).json.deleted).toBe(true)
  expect((await it.call('DELETE', path('Alpaca'))).json.deleted).toBe(false)
  await it.call('POST', '/bars/fetch', { ...SERIES, ...RANGE })
  expect(it.venue.requests.at(-1)!.url.hostname).toBe('api.tiingo.com')
})

test('no answer shows a key', async () => {
  const it = await keyed()
  const given = await it.call('PUT', path('Alpaca'), { key: 'zebrakey', secret: 'zebrasecret' })
  const texts = [given.text, (await it.call('GET', '/providers')).text, (await it.call('GET', '/feeds')).text]
  const refused = await it.call('POST', '/bars/fetch', { ...SERIES, ...RANGE })
  expect([refused.status, refused.json.error.code]).toEqual([503, 'provider_unavailable'])
  expect(refused.json.error.message).toContain('does not accept the key')
  expect([...texts, refused.text].join('\n')).not.toContain('zebra')
})

test('a member may not give a key; what is no key or no provider is refused with the reason', async () => {
  const it = await keyed()
  const member = await it.signUp('member@example.com')
  expect((await it.call('PUT', path('Tiingo'), { key: 'tkey' }, member)).json.error.code).toBe(
    'not_series_owner',
  )
  expect((await it.call('DELETE', path('Tiingo'), undefined, member)).json.error.code).toBe(
    'not_series_owner',
  )
  const refusal = async (name: string, body: object) => {
    const { status, json } = await it.call('PUT', path(name), body)
    return [status, json.error.fields?.[0]?.path ?? json.error.code]
  }
  expect(await refusal('Acme', { key: 'tkey' })).toEqual([404, 'provider_not_found'])
  expect(await refusal('Yahoo Finance', { key: 'tkey' })).toEqual([404, 'provider_not_found'])
  expect(await refusal('Tiingo', { key: 'two words' })).toEqual([422, '/key'])
  expect(await refusal('Tiingo', { key: 'ключ' })).toEqual([422, '/key'])
  expect(await refusal('Tiingo', { key: '' })).toEqual([422, '/key'])
  expect(await refusal('Tiingo', { key: 'tkey', secret: 'secret' })).toEqual([422, '/secret'])
  expect(await refusal('Alpaca', { key: 'tkey' })).toEqual([422, '/secret'])
})

test('a key outlives a new start, and another server that hears of it uses it too', async () => {
  const kv = testKv()
  const one = await keyed(kv)
  await one.call('PUT', path('Tiingo'), { key: 'tkey' })
  const { features } = testServer(unlimited, { kv, seed: 2 }).services
  await features.providerKeys.ready()
  expect(features.providerKeys.of('NASDAQ')?.name).toBe('Tiingo')
  await one.call('DELETE', path('Tiingo'))
  features.others.hear([['provider-keys', 'Tiingo']])
  await features.others.settled()
  expect(features.providerKeys.of('NASDAQ')?.name).toBe('Yahoo Finance')
})

test('a key that cannot be opened any more is said to be lost, and its provider is not asked', async () => {
  const kv = testKv()
  const it = await keyed(kv)
  await it.call('PUT', path('Tiingo'), { key: 'tkey' })
  await kv.commit({
    sets: [{ key: ['provider-keys', 'Tiingo'], value: JSON.stringify({ sealed: 'other', setAt: 1 }) }],
  })
  await it.services.features.providerKeys.reload()
  expect(await it.of('Tiingo')).toMatchObject({ keyLost: true, keySetAt: 1, asked: [] })
})
