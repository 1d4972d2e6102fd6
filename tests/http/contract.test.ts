// What clients of the first version rely on, row by row: these endpoints stay with their method, path and access, and take
// the fields that are listed, required and optional ones.

import { describe, expect, test } from 'bun:test'
import type { TSchema } from '@sinclair/typebox'
import { testServer } from './server.ts'

/** Method, path, access, required body fields, optional body fields, query parameters. */
const ROWS = [
  ['POST', '/api/platform/backtests', 'session', 'name symbol interval exchange bars source', 'inputs', ''],
  ['POST', '/api/platform/backtests/:id/replay', 'session', '', '', 'exchange'],
  ['GET', '/api/platform/alerts', 'session', '', '', ''],
  ['POST', '/api/platform/alerts', 'session', 'symbol exchange interval kind channels', 'op price', ''],
  ['POST', '/api/platform/ideas', 'session', 'title body visibility', 'tags', ''],
  ['POST', '/api/platform/watchlists/import', 'session', 'name items', '', ''],
  ['GET', '/api/platform/replay', 'none', '', '', 'symbol interval start end userId'],
  ['GET', '/api/platform/replay/resume', 'api-token', '', '', 'symbol interval'],
  [
    'POST',
    '/api/platform/replay/resume',
    'api-token',
    'symbol interval cursorBar speed start end',
    'exchange',
    '',
  ],
  ['DELETE', '/api/platform/replay/resume', 'api-token', '', '', 'symbol interval'],
  ['GET', '/api/platform/replay/bookmarks', 'api-token', '', '', 'symbol interval'],
  ['POST', '/api/platform/replay/bookmarks', 'api-token', '', '', 'bar symbol interval'],
  ['POST', '/api/platform/webhooks', 'session', 'name url events', '', ''],
  ['GET', '/api/search', 'none', '', '', 'q'],
  ['POST', '/api/support/contact', 'none', 'email subject body', '', ''],
  ['POST', '/api/support/chat', 'none', 'query', '', ''],
  ['POST', '/api/errors', 'none', '', '', ''],
  ['POST', '/api/platform/tokens', 'session', '', '', ''],
  ['GET', '/api/platform/tokens', 'session', '', '', ''],
  ['DELETE', '/api/platform/tokens', 'session', '', '', 'id'],
] as const

interface Hooks {
  readonly body?: TSchema
  readonly query?: TSchema
  readonly detail?: { readonly 'x-access'?: string }
}
const routes = testServer().app.routes as unknown as { method: string; path: string; hooks: Hooks }[]
const find = (method: string, path: string) =>
  routes.find((route) => route.method === method && route.path.replace(/\/$/, '') === path)
const words = (text: string) => text.split(' ').filter(Boolean)

describe('every promised endpoint is served', () => {
  test.each(ROWS.map((row) => [...row]))('%s %s (%s)', (method, path, access, required, optional, query) => {
    const route = find(method, path)
    expect(route?.hooks.detail?.['x-access']?.split(' ')[0]).toBe(access)
    const body = route?.hooks.body
    for (const field of words(required)) expect(body?.required as string[]).toContain(field)
    for (const field of words(optional)) {
      expect(Object.keys((body?.properties ?? {}) as object)).toContain(field)
      expect((body?.required ?? []) as string[]).not.toContain(field)
    }
    for (const parameter of words(query))
      expect(Object.keys((route?.hooks.query?.properties ?? {}) as object)).toContain(parameter)
  })
})

describe('answers have the decided shape', () => {
  const IDEA = { title: 't', body: 'b', tags: [], visibility: 'unlisted' }
  const ALERT = {
    symbol: 'S',
    exchange: 'E',
    interval: '1h',
    kind: 'price',
    op: 'above',
    price: 1,
    channels: ['webhook'],
  }
  const CURSOR = {
    symbol: 'S',
    interval: '1h',
    exchange: 'E',
    cursorBar: 0,
    speed: 1,
    start: '2024-01-01T00:00:00Z',
    end: '2024-01-02T00:00:00Z',
  }
  // Method, path, body, the top-level fields besides `ok`.
  const CALLS = [
    ['POST', '/api/platform/alerts', ALERT, 'alert id warnings'],
    ['GET', '/api/platform/alerts', null, 'alerts nextCursor'],
    ['POST', '/api/platform/ideas', IDEA, 'id idea'],
    [
      'POST',
      '/api/platform/watchlists/import',
      { name: 'w', items: [{ symbol: 'A', exchange: '', note: null }] },
      'id watchlist',
    ],
    [
      'POST',
      '/api/platform/webhooks',
      { name: 'n', url: 'https://e.example/', events: ['backtest.reportReady'] },
      'id secret webhook',
    ],
    ['GET', '/api/platform/replay/resume?symbol=S&interval=1h', null, 'cursor'],
    ['POST', '/api/platform/replay/resume', CURSOR, 'id cursor'],
    ['DELETE', '/api/platform/replay/resume?symbol=S&interval=1h', null, 'deleted'],
    ['POST', '/api/platform/replay/bookmarks?bar=1&symbol=S&interval=1h', null, 'id bookmark'],
    ['GET', '/api/platform/replay/bookmarks?symbol=S&interval=1h', null, 'bookmarks nextCursor'],
    ['GET', '/api/search?q=a', null, 'nextCursor results'],
    ['POST', '/api/support/contact', { email: 'a@b.co', subject: 's', body: 'b' }, 'id ticket'],
    ['POST', '/api/support/chat', { query: 'alert' }, 'answers'],
    ['POST', '/api/errors', { message: 'm' }, 'id'],
    ['POST', '/api/platform/tokens', {}, 'id secret token'],
    ['GET', '/api/platform/tokens', null, 'nextCursor tokens'],
  ] as const
  test.each(CALLS.map((row) => [...row]))('%s %s', async (method, path, body, fields) => {
    const { call, signUp } = testServer()
    const answer = await call(method, path, { headers: await signUp(), ...(body && { body }) })
    expect(answer.status).toBe(200)
    expect(Object.keys(answer.json as object).toSorted()).toEqual(['ok', ...words(fields)].toSorted())
    expect(answer.json.ok).toBe(true)
    expect(answer.headers.get('x-request-id')).toMatch(/^req_/)
    expect(answer.headers.get('cache-control')).toBe('no-store')
  })
})
