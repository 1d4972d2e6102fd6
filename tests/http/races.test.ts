// Several at once on the same objects, and what an answer about somebody else's may tell: nothing.

import { describe, expect, test } from 'bun:test'
import { SCOPES } from '../../src/wire/scopes.ts'
import { barCsv } from '../bar-csv.ts'
import { testServer } from './server.ts'

const idea = { title: 'zebra', body: '', visibility: 'public' }

test('an idea hidden and shown by six tabs at once is one idea, under one id, found once', async () => {
  const { call, signUp } = testServer()
  const headers = await signUp()
  const { id } = (await call('POST', '/api/platform/ideas', { headers, body: idea })).json
  let known = [id as string]
  for (let round = 0; round < 5; round++) {
    const answers = await Promise.all(
      known.flatMap((one) =>
        ['unlisted', 'public', 'unlisted'].map((visibility) =>
          call('PATCH', `/api/platform/ideas/${one}`, { headers, body: { visibility } }),
        ),
      ),
    )
    for (const { status } of answers) expect([200, 404]).toContain(status)
    const { ideas } = (await call('GET', '/api/platform/ideas', { headers })).json
    expect(ideas).toHaveLength(1)
    known = [ideas[0].id]
  }
  const [last] = known
  await call('PATCH', `/api/platform/ideas/${last}`, { headers, body: { visibility: 'public' } })
  const { results } = (await call('GET', '/api/search?q=zebra')).json
  expect(results.map((hit: { id: string }) => hit.id)).toEqual(known)
})

test('a revoked token is over from the answer on, whatever else it was doing', async () => {
  const { call, signUp } = testServer()
  const headers = await signUp()
  for (let round = 0; round < 3; round++) {
    const { id, secret } = (await call('POST', '/api/platform/tokens', { headers, body: { scopes: SCOPES } }))
      .json
    const withToken = { authorization: `Bearer ${secret}` }
    const use = () => call('POST', '/api/platform/ideas', { headers: withToken, body: idea })
    const busy = Array.from({ length: 10 }, use)
    await call('DELETE', `/api/platform/tokens?id=${id}`, { headers })
    const after = await Promise.all(Array.from({ length: 5 }, use))
    expect(after.map(({ json }) => json.error?.code)).toEqual(Array(5).fill('token_revoked'))
    for (const { status, json } of await Promise.all(busy))
      expect([200, 'token_revoked']).toContain(status === 200 ? 200 : json.error.code)
  }
})

test('two members who import one name at once keep a series each', async () => {
  const { call, signUp } = testServer()
  await signUp('owner@example.com')
  const [ann, bob] = [await signUp('ann@example.com'), await signUp('bob@example.com')]
  const url = '/api/platform/bars/import?exchange=E&symbol=S&interval=1h'
  const importBars = (who: Record<string, string>, count: number) =>
    call('POST', url, { headers: { ...who, 'content-type': 'text/csv' }, body: barCsv(count) })
  await Promise.all([importBars(ann, 10), importBars(bob, 30), importBars(ann, 20), importBars(bob, 5)])
  const count = async (headers: Record<string, string>) =>
    (await call('GET', url.replace('/import', ''), { headers })).json.bars.time.length as number
  expect([await count(ann), await count(bob)]).toEqual([20, 30])
})

describe('somebody else’s object and one that never was get the same answer', () => {
  const server = testServer()
  const nouns = [
    ['ideas', { ...idea, visibility: 'private' }],
    ['scripts', { name: 'n', source: '' }],
    ['watchlists', { name: 'w', items: [] }],
    ['webhooks', { name: 'n', url: 'https://e.example/', events: ['alert.triggered'] }],
    [
      'alerts',
      {
        symbol: 'S',
        exchange: 'E',
        interval: '1h',
        kind: 'price',
        op: 'above',
        price: 1,
        channels: ['webhook'],
      },
    ],
    [
      'backtests',
      { name: 'n', symbol: 'S', exchange: 'E', interval: '1h', bars: 5, source: 'strategy("x")' },
    ],
  ] as const
  test.each(nouns)('%s', async (noun, body) => {
    const { call, signUp, app } = server
    const mine = await signUp(`${noun}@example.com`)
    const other = await signUp(`other-${noun}@example.com`)
    await call('POST', '/api/platform/bars/import?exchange=E&symbol=S&interval=1h', {
      headers: { ...mine, 'content-type': 'text/csv' },
      body: barCsv(10),
    })
    const path = noun === 'watchlists' ? `${noun}/import` : noun
    const id = (await call('POST', `/api/platform/${path}`, { headers: mine, body })).json.id as string
    // As long, of the same time, and nobody's.
    const none = id.slice(0, -3) + (id.endsWith('zzz') ? 'yyy' : 'zzz')
    const routes = (app.routes as { method: string; path: string }[]).filter((route) =>
      route.path.startsWith(`/api/platform/${noun}/:id`),
    )
    expect(routes.length).toBeGreaterThan(1)
    for (const { method, path: pattern } of routes) {
      const ask = async (one: string) => {
        const { status, json, headers } = await call(method, pattern.replace(':id', one), {
          headers: other,
          ...(method !== 'GET' && { body: pattern.endsWith('compare') ? { csv: 'x' } : {} }),
        })
        const { requestId: _request, ...error } = json.error
        return { status, error, names: [...headers.keys()] }
      }
      const [theirs, nobodys] = [await ask(id), await ask(none)]
      expect([method, pattern, theirs]).toEqual([method, pattern, nobodys])
      expect(theirs.status).toBe(404)
    }
    expect((await call('GET', `/api/platform/${noun}/${id}`, { headers: mine })).status).toBe(200)
  })
})
