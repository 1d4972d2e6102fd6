// Pages that are answered again before any route is looked for: as they were, and never to anybody whom the route would refuse.

import { expect, test } from 'bun:test'
import type { Services } from '../../src/http/deps.ts'
import { COLUMNS_TYPE } from '../../src/wire/columns.ts'
import { barCsv } from '../bar-csv.ts'
import { testKv } from '../store/test-store.ts'
import { testServer, unlimited, type Answer } from './server.ts'

const ALERTS = '/api/platform/alerts'
const IDEAS = '/api/platform/ideas'
const BARS = '/api/platform/bars?exchange=E&symbol=S&interval=1h'
const ALERT = { symbol: 'S', exchange: 'E', interval: '1h', kind: 'price', op: 'above', channels: ['email'] }

/** All headers but those that differ from request to request. */
function lasting({ headers }: Answer): Record<string, string> {
  const names = new Set(['x-request-id', 'ratelimit'])
  return Object.fromEntries([...headers].filter(([name]) => !names.has(name)))
}

test('a page that is asked for again has every header and byte that it had', async () => {
  const { call, signUp } = testServer()
  const headers = await signUp('owner@example.com')
  await call('POST', BARS.replace('?', '/import?'), {
    headers: { ...headers, 'content-type': 'text/csv' },
    body: barCsv(2000),
  })
  for (let price = 1; price <= 60; price++) await call('POST', ALERTS, { headers, body: { ...ALERT, price } })
  const { id } = (await call('GET', ALERTS, { headers })).json.alerts[0]
  const known = (await call('GET', `${ALERTS}/${id}`, { headers })).headers.get('etag') ?? ''
  const asked: [path: string, Record<string, string>][] = [
    [ALERTS, {}],
    [`${ALERTS}?limit=2`, {}],
    [ALERTS, { 'accept-encoding': 'gzip' }],
    [`${ALERTS}/${id}`, {}],
    [`${ALERTS}/${id}`, { 'if-none-match': known }],
    [BARS, {}],
    [BARS, { 'accept-encoding': 'zstd' }],
    [BARS, { accept: COLUMNS_TYPE }],
    [`${ALERTS}?limit=2`, { origin: 'https://elsewhere.example' }],
  ]
  for (const [path, more] of asked) {
    const ask = () => call('GET', path, { headers: { ...headers, ...more } })
    const [first, second, third] = [await ask(), await ask(), await ask()]
    for (const again of [second, third]) {
      expect(again.status).toBe(first.status)
      expect(again.text).toBe(first.text)
      expect(lasting(again)).toEqual(lasting(first))
      expect(again.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'))
    }
  }
})

test('a page counts against the limit of requests each time, once, whether it still holds or not', async () => {
  const kv = testKv()
  const few = ({ settings }: Services) => ({
    settings: { ...settings, rates: { ...settings.rates, user: { quota: 5, windowSeconds: 60 } } },
  })
  const { call, signUp } = testServer(few, { kv })
  const there = testServer(unlimited, { kv, seed: 2 })
  const headers = await signUp('owner@example.com')
  const answers = []
  for (let i = 0; i < 6; i++) {
    answers.push(await call('GET', ALERTS, { headers }))
    if (i >= 2) await there.call('POST', ALERTS, { headers, body: { ...ALERT, price: i + 1 } })
  }
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 429])
  expect(answers.map((answer) => /;r=(\d+)/.exec(answer.headers.get('ratelimit') ?? '')?.[1])).toEqual([
    '4',
    '3',
    '2',
    '1',
    '0',
    '0',
  ])
})

test('a session that has ended, a token that was revoked and a stranger are refused the page that they had', async () => {
  const kv = testKv()
  const { call, signUp, token } = testServer(unlimited, { kv })
  const there = testServer(unlimited, { kv, seed: 2 })
  const owner = await signUp('owner@example.com')
  const reads = await token(owner, ['alerts:read'])
  const ask = async (headers: Record<string, string>) => (await call('GET', ALERTS, { headers })).status
  for (let round = 0; round < 2; round++) expect([await ask(owner), await ask(reads)]).toEqual([200, 200])
  expect([await ask({}), await ask({ authorization: 'Bearer nothing' })]).toEqual([401, 401])
  expect(await ask({ ...owner, authorization: 'Bearer nothing' })).toBe(401)
  const [{ id }] = (await call('GET', '/api/platform/tokens', { headers: owner })).json.tokens
  // Another process revokes it.
  await there.call('DELETE', `/api/platform/tokens?id=${id}`, { headers: owner })
  expect([await ask(owner), await ask(reads)]).toEqual([200, 401])
  await there.call('POST', '/api/auth/sign-out', { headers: owner })
  expect(await ask(owner)).toBe(401)
})

test("an idea that is hidden is gone from the page of those who saw it, and stays on its author's", async () => {
  const { call, signUp } = testServer(unlimited)
  const owner = await signUp('owner@example.com')
  const other = await signUp('other@example.com')
  const body = { title: 'seen', body: '', visibility: 'public' }
  const { id } = (await call('POST', IDEAS, { headers: owner, body })).json
  const ask = async () => {
    const readers = [owner, other, {}].map((headers) => call('GET', `${IDEAS}/${id}`, { headers }))
    return (await Promise.all(readers)).map(({ status }) => status)
  }
  for (let round = 0; round < 3; round++) expect(await ask()).toEqual([200, 200, 200])
  await call('PATCH', `${IDEAS}/${id}`, { headers: owner, body: { title: 'hidden', visibility: 'private' } })
  const hidden = (await call('GET', IDEAS, { headers: owner })).json.ideas[0].id
  expect((await ask()).slice(1)).toEqual([404, 404])
  expect((await call('GET', `${IDEAS}/${hidden}`, { headers: owner })).json.idea.title).toBe('hidden')
})

test('two users at one address see their own page, however they take turns', async () => {
  const { call, signUp } = testServer(unlimited)
  const [owner, other] = [await signUp('owner@example.com'), await signUp('other@example.com')]
  const add = (headers: Record<string, string>, price: number) =>
    call('POST', ALERTS, { headers, body: { ...ALERT, price } })
  const prices = async (headers: Record<string, string>) =>
    (await call('GET', ALERTS, { headers })).json.alerts.map(({ price }: { price: number }) => price)
  await add(owner, 1)
  await add(other, 2)
  for (let round = 0; round < 3; round++)
    expect([await prices(owner), await prices(other)]).toEqual([[1], [2]])
  await add(owner, 3)
  expect([await prices(owner), await prices(other)]).toEqual([[3, 1], [2]])
})

test('a page is not answered under a host name that the server does not answer to', async () => {
  const { call, signUp } = testServer(unlimited)
  const headers = await signUp('owner@example.com')
  for (let round = 0; round < 2; round++) expect((await call('GET', ALERTS, { headers })).status).toBe(200)
  const elsewhere = await call('GET', ALERTS, { headers: { ...headers, host: 'rebound.example' } })
  expect(elsewhere.status).toBe(421)
})

test('pages that are asked for again are counted under their route', async () => {
  const { call, signUp } = testServer(unlimited)
  const headers = await signUp('owner@example.com')
  const body = { title: 'counted', body: '', visibility: 'private' }
  const { id } = (await call('POST', IDEAS, { headers, body })).json
  for (let round = 0; round < 3; round++) await call('GET', `${IDEAS}/${id}`, { headers })
  const counted = 'method="GET",route="/api/platform/ideas/:id",status="200"} 3'
  while (!(await call('GET', '/metrics')).text.includes(counted)) await new Promise(setImmediate)
})
