// Operations whose success no other test asks for by `call`, which alone holds an answer against its schema
// (`documented.ts`): without this a field that is answered and not documented, or the other way round, would go unseen.

import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { OPERATIONS } from '../../src/wire/operations.ts'
import { neverAnswered } from './answered-operations.ts'
import { testServer } from './server.ts'

const KLINE = [1_700_000_000_000, '100', '110', '90', '105', '12', 1_700_003_599_999, '0', 1, '0', '0', '0']
const server = testServer(
  (base) => ({
    features: {
      ...base.features,
      feeds: Object.assign(base.features.feeds, { enabled: true }),
      http: async () => Response.json([KLINE]),
    },
  }),
  { engine: 'real' },
)
const headers = await server.signUp()

async function done(method: string, path: string, body?: unknown) {
  const answer = await server.call(method, `/api${path}`, { headers, ...(body !== undefined && { body }) })
  expect([path, answer.status, answer.json?.error]).toEqual([path, 200, undefined])
  return answer.json
}

test('a script is formatted, and removed', async () => {
  const source = '//@version=6\nindicator("x")\nplot( close )\n'
  expect((await done('POST', '/platform/scripts/format', { source })).source).toContain('plot(close)')
  const { id } = await done('POST', '/platform/scripts', { name: 'x', source })
  await done('DELETE', `/platform/scripts/${id}`)
})

test('a watchlist is changed, and removed', async () => {
  const { id } = await done('POST', '/platform/watchlists/import', {
    name: 'tech',
    items: [{ symbol: 'AAPL', exchange: 'NASDAQ' }],
  })
  expect((await done('PATCH', `/platform/watchlists/${id}`, { name: 'more' })).watchlist.name).toBe('more')
  await done('DELETE', `/platform/watchlists/${id}`)
})

test('a webhook is changed, given another secret, and removed', async () => {
  const { id } = await done('POST', '/platform/webhooks', {
    name: 'mine',
    url: 'https://hooks.example/in',
    events: ['backtest.reportReady'],
  })
  expect((await done('PATCH', `/platform/webhooks/${id}`, { name: 'ours' })).webhook.name).toBe('ours')
  await done('POST', `/platform/webhooks/${id}/rotate`)
  await done('POST', `/platform/webhooks/${id}/rotate/confirm`)
  await done('DELETE', `/platform/webhooks/${id}`)
})

test('a bookmark is removed', async () => {
  const place = 'symbol=SPX&interval=1d&bar=7'
  await done('POST', `/platform/replay/bookmarks?${place}`, { note: 'low' })
  await done('DELETE', `/platform/replay/bookmarks?${place}`)
})

test('one channel is shown by its id', async () => {
  const { id } = await done('POST', '/platform/channels', {
    name: 'phone',
    kind: 'ntfy',
    settings: { topic: 'alerts' },
  })
  expect((await done('GET', `/platform/channels/${id}`)).channel.kind).toBe('ntfy')
})

test('an inbox takes a message at its address', async () => {
  const { path } = await done('POST', '/platform/inboxes', { name: 'in' })
  const taken = await server.call('POST', path, {
    headers: { 'content-type': 'text/plain' },
    body: 'crossed',
  })
  expect(taken.status).toBe(200)
})

test('bars are fetched from a provider', async () => {
  await done('POST', '/platform/bars/fetch', { exchange: 'BINANCE', symbol: 'BTCUSDT', interval: '1h' })
})

test('a run of all tests names the operations that none of them had answered', () => {
  const folder = mkdtempSync(`${tmpdir()}/chartroom-answered-`)
  const missing = ['DELETE /api/platform/watchlists/{id}', 'GET /api/platform/watchlists/{id}/export']
  const answered = Object.keys(OPERATIONS).filter(
    (name) => !missing.includes(name) && !name.endsWith('/events'),
  )
  writeFileSync(`${folder}/answered`, answered.join('\n'))
  expect(neverAnswered(`${folder}/answered`).toSorted()).toEqual(missing)
  expect(neverAnswered(`${folder}/nowhere`).length).toBeGreaterThan(100)
  rmSync(folder, { recursive: true })
})
