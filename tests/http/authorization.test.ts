// Who gets in where: every API route against every kind of credential, from the routes' own access labels.

import { describe, expect, test } from 'bun:test'
import { SCOPES } from '../../src/wire/scopes.ts'
import { barCsv } from '../bar-csv.ts'
import { testServer, unlimited } from './server.ts'

const server = testServer(unlimited, {
  engine: 'real',
})
const { call, signUp, clock } = server

const cookie = await signUp('owner@example.com')
const stranger = await signUp('stranger@example.com')
async function token(scopes: readonly string[], expiresAt?: number) {
  const made = await call('POST', '/api/platform/tokens', {
    headers: cookie,
    body: { scopes, ...(expiresAt !== undefined && { expiresAt }) },
  })
  const { id, secret } = made.json as { id: string; secret: string }
  return { id, secret, headers: { authorization: `Bearer ${secret}` } }
}
const every = await token(SCOPES)
const byMissingScope = new Map(
  await Promise.all(
    SCOPES.map(async (scope) => [scope, await token(SCOPES.filter((other) => other !== scope))] as const),
  ),
)
const single = await Promise.all(SCOPES.map(async (scope) => [scope, await token([scope])] as const))
const expiring = await token(SCOPES, clock.now() + 1000)
const revoked = await token(SCOPES)
await call('DELETE', `/api/platform/tokens?id=${revoked.id}`, { headers: cookie })
clock.advance(2000)

interface RouteInfo {
  readonly method: string
  readonly path: string
  readonly access: string
}
const routes: RouteInfo[] = (
  server.app.routes as unknown as {
    method: string
    path: string
    hooks: { detail?: { 'x-access'?: string } }
  }[]
)
  .filter((route) => route.path.startsWith('/api/') && route.hooks.detail?.['x-access'] !== undefined)
  .map(({ method, path, hooks }) => ({
    method,
    path: path.replace(/\/$/, ''),
    access: hooks.detail?.['x-access'] ?? '',
  }))
  // Signing out would end the session the other rows use; it has its own test.
  .filter(({ path }) => !path.startsWith('/api/auth/sign-'))

/** An id nobody has; enough of a query to get past nothing but the gate. */
const urlOf = ({ path }: RouteInfo) => path.replace(/:(\w+)/g, 'none_0')
async function codeOf(route: RouteInfo, headers: Record<string, string>, query = ''): Promise<string> {
  const response = await server.app.handle(
    new Request(`http://localhost${urlOf(route)}${query}`, {
      method: route.method,
      headers: { 'content-type': 'application/json', ...headers },
    }),
  )
  // A stream would go on for ever; who was let in is all that is asked.
  // The old address of the reference leads on to it.
  if (response.status === 302) return 'in'
  if (response.ok) return response.body?.cancel().then(() => 'in') ?? 'in'
  const answer = (await response.json()) as { error?: { code?: string } }
  return answer.error?.code ?? String(response.status)
}
/** Past the gate: whatever is wrong now is about what was asked, not about who asks. */
const GATE = new Set([
  'unauthenticated',
  'invalid_token',
  'token_expired',
  'token_revoked',
  'session_expired',
  'insufficient_scope',
  'session_required',
  'cross_origin_blocked',
])
const pastGate = async (route: RouteInfo, headers: Record<string, string>, query = '') =>
  !GATE.has(await codeOf(route, headers, query))

test('there are routes of every label', () => {
  expect(routes.length).toBeGreaterThan(40)
  expect(new Set(routes.map((route) => route.access.split(' ')[0]))).toEqual(
    new Set(['session', 'api-token', 'none']),
  )
})

describe.each(routes.map((route) => [`${route.method} ${route.path}`, route] as const))(
  '%s',
  (_name, route) => {
    const [label, scope = '', ...further] = route.access.split(' ')
    test('nobody', async () => {
      const code = await codeOf(route, {})
      if (label === 'none') expect(GATE.has(code)).toBe(false)
      else expect(code).toBe('unauthenticated')
    })
    test('a session', async () => {
      expect(await pastGate(route, cookie)).toBe(true)
    })
    test('a session from a page of another site', async () => {
      const code = await codeOf(route, { ...cookie, 'sec-fetch-site': 'cross-site' })
      if (route.method === 'GET') expect(GATE.has(code)).toBe(false)
      else expect(code).toBe('cross_origin_blocked')
    })
    test('a token with every scope', async () => {
      const code = await codeOf(route, every.headers)
      if (scope === 'only') expect(code).toBe('session_required')
      else expect(GATE.has(code)).toBe(false)
    })
    test('a token with every other scope', async () => {
      for (const needed of [scope, ...further]) {
        const without = byMissingScope.get(needed as (typeof SCOPES)[number])
        if (!without) continue
        const code = await codeOf(route, without.headers)
        // Where nobody is let in, it is as nobody: `scopes.test.ts` shows what it sees.
        if (label === 'none') expect(GATE.has(code)).toBe(false)
        else expect(code).toBe('insufficient_scope')
      }
    })
    test('a token with one scope alone', async () => {
      for (const [one, { headers }] of single) {
        const code = await codeOf(route, headers)
        const enough = [scope, ...further].every((needed) => needed === '' || needed === one)
        const expected =
          label === 'none' || enough ? false : scope === 'only' ? 'session_required' : 'insufficient_scope'
        expect([one, GATE.has(code) && code]).toEqual([one, expected])
      }
    })
    test.each([
      ['expired', expiring.headers, 'token_expired'],
      ['revoked', revoked.headers, 'token_revoked'],
      ['malformed', { authorization: 'Bearer crm_pat_nonsense' }, 'invalid_token'],
      [
        'with a wrong checksum',
        { authorization: `Bearer ${every.secret.slice(0, -1)}${every.secret.endsWith('0') ? '1' : '0'}` },
        'invalid_token',
      ],
      ['malformed beside a good cookie', { ...cookie, authorization: 'Bearer nonsense' }, 'invalid_token'],
    ] as const)('a token that is %s', async (_kind, headers, expected) => {
      expect(await codeOf(route, headers)).toBe(expected)
    })
    test('a token in the address', async () => {
      const code = await codeOf(route, {}, `?access_token=${every.secret}`)
      if (label !== 'none') expect(code).toBe('unauthenticated')
    })
  },
)

test("somebody else's objects are not there", async () => {
  const post = async (path: string, body: unknown) => {
    const made = await call('POST', path, { headers: cookie, body })
    if (made.status !== 200) throw new Error(`${path}: ${made.text}`)
    return (made.json as { id: string }).id
  }
  await call('POST', '/api/platform/bars/import?exchange=E&symbol=S&interval=1h', {
    headers: { ...cookie, 'content-type': 'text/csv' },
    body: barCsv(50),
  })
  const market = { symbol: 'S', exchange: 'E', interval: '1h' }
  const webhook = await post('/api/platform/webhooks', {
    name: 'n',
    url: 'https://e.example/',
    events: ['backtest.reportReady'],
  })
  const channel = await post('/api/platform/channels', {
    name: 'phone',
    kind: 'ntfy',
    settings: { topic: 'mine' },
  })
  const { sessions } = (await call('GET', '/api/auth/sessions', { headers: cookie })).json as {
    sessions: readonly { id: string }[]
  }
  const mine = {
    '/api/platform/alerts/': await post('/api/platform/alerts', {
      ...market,
      kind: 'price',
      op: 'above',
      price: 1,
      channels: ['email'],
    }),
    '/api/platform/ideas/': await post('/api/platform/ideas', {
      title: 't',
      body: '',
      visibility: 'private',
    }),
    '/api/platform/scripts/': await post('/api/platform/scripts', { name: 'n', source: '' }),
    '/api/platform/watchlists/': await post('/api/platform/watchlists/import', { name: 'w', items: [] }),
    '/api/platform/layouts/': await post('/api/platform/layouts', {
      name: 'l',
      chart: {
        ...market,
        type: 'candles',
        scale: 'linear',
        volume: true,
        trades: true,
        scriptId: null,
        studies: [],
      },
    }),
    '/api/platform/webhooks/': webhook,
    '/api/platform/webhooks/deliveries/': await post(`/api/platform/webhooks/${webhook}/test`, {}),
    '/api/platform/channels/': channel,
    '/api/platform/inboxes/': await post('/api/platform/inboxes', { name: 'TradingView' }),
    '/api/platform/channels/notifications/': await post(`/api/platform/channels/${channel}/test`, {}),
    '/api/platform/backtests/': await post('/api/platform/backtests', {
      ...market,
      name: 'mine',
      bars: 50,
      source: '//@version=6\nstrategy("mine")',
    }),
    '/api/platform/sweeps/': await post('/api/platform/sweeps', {
      ...market,
      name: 'mine',
      bars: 50,
      source: '//@version=6\nstrategy("mine")\nn = input.int(3, "N")',
      space: [{ input: 'N', values: [1, 2] }],
    }),
    '/api/platform/portfolios/': await post('/api/platform/portfolios', {
      name: 'mine',
      parts: [{ ...market, name: 'one', bars: 50, source: '//@version=6\nstrategy("mine")' }],
    }),
    '/api/platform/forward-runs/': await post('/api/platform/forward-runs', {
      ...market,
      name: 'mine',
      source: '//@version=6\nstrategy("mine")',
    }),
    '/api/auth/sessions/': sessions[0]!.id,
  }
  for (const [prefix, id] of Object.entries(mine)) {
    const asked = routes.filter(({ path }) => path.startsWith(`${prefix}:id`))
    expect([prefix, typeof id, asked.length > 0]).toEqual([prefix, 'string', true])
    for (const route of asked) {
      const url = route.path.replace(':id', id)
      const { status, json } = await call(route.method, url, {
        headers: { ...stranger, 'content-type': 'application/json' },
        ...(route.method !== 'GET' && { body: {} }),
      })
      expect([route.method, url, status, String(json?.error?.code).endsWith('_not_found')]).toEqual([
        route.method,
        url,
        404,
        true,
      ])
    }
  }
})
