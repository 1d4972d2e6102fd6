// What every endpoint does before and around its own work, as tables of scenarios.
import { Type } from '@sinclair/typebox'

import { describe, expect, test } from 'bun:test'
import { barCsv } from '../bar-csv.ts'
import { addressList } from '../../src/http/peer.ts'
import { checkBody } from '../../src/http/validate.ts'
import { testKv } from '../store/test-store.ts'
import { HandFleet } from './fleet.ts'
import { testServer, type Call } from './server.ts'

const JSON_TYPE = { 'content-type': 'application/json' }

describe('refusals', () => {
  const scenarios: readonly (readonly [
    name: string,
    method: string,
    path: string,
    call: Call,
    status: number,
    code: string,
  ])[] = [
    ['an unknown path', 'GET', '/api/none', {}, 404, 'not_found'],
    ['a method that is not there', 'PUT', '/api/platform/tokens', {}, 405, 'method_not_allowed'],
    ['no credential', 'GET', '/api/platform/tokens', {}, 401, 'unauthenticated'],
    ['no credential beats a bad body', 'POST', '/api/platform/tokens', { body: '{' }, 401, 'unauthenticated'],
    [
      'a made-up token',
      'GET',
      '/api/platform/tokens',
      { headers: { authorization: 'Bearer nope' } },
      401,
      'invalid_token',
    ],
    [
      'another scheme',
      'GET',
      '/api/health',
      { headers: { authorization: 'Basic dTpw' } },
      401,
      'invalid_token',
    ],
    ['a token in the query', 'GET', '/api/platform/tokens?access_token=x', {}, 401, 'unauthenticated'],
    ['bad JSON', 'POST', '/api/auth/sign-in', { body: '{' }, 400, 'malformed_json'],
    ['__proto__', 'POST', '/api/auth/sign-in', { body: '{"a":{"__proto__":1}}' }, 400, 'malformed_json'],
    [
      '__proto__ in disguise',
      'POST',
      '/api/auth/sign-in',
      { body: '{"\\u005f_proto__":1}' },
      400,
      'malformed_json',
    ],
    [
      'half of a surrogate pair',
      'POST',
      '/api/auth/sign-in',
      { body: '{"email":"a\\ud800@b.co","password":"correct horse"}' },
      422,
      'validation_failed',
    ],
    ['a very long id', 'GET', `/api/platform/ideas/${'x'.repeat(5000)}`, {}, 404, 'not_found'],
    [
      'bad UTF-8',
      'POST',
      '/api/auth/sign-in',
      { body: new Uint8Array([0x7b, 0xff, 0x7d]) },
      400,
      'malformed_json',
    ],
    ['an array', 'POST', '/api/auth/sign-in', { body: [] }, 400, 'body_not_object'],
    [
      'form data',
      'POST',
      '/api/auth/sign-in',
      { body: 'a=b', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
      415,
      'unsupported_media_type',
    ],
    [
      'compressed',
      'POST',
      '/api/auth/sign-in',
      { body: Bun.gzipSync('{}'), headers: { 'content-encoding': 'gzip' } },
      415,
      'unsupported_media_type',
    ],
    [
      'no content type',
      'POST',
      '/api/auth/sign-in',
      { body: '{}', headers: { 'content-type': '' } },
      415,
      'unsupported_media_type',
    ],
    [
      'too large',
      'POST',
      '/api/auth/sign-in',
      { body: { email: 'x'.repeat(70_000) } },
      413,
      'payload_too_large',
    ],
    [
      'a wrong type',
      'POST',
      '/api/auth/sign-in',
      { body: { email: 5, password: 'x' } },
      422,
      'validation_failed',
    ],
    ['a parameter twice', 'GET', '/api/health?a=1&a=2', {}, 400, 'duplicate_parameter'],
    [
      'an unknown host',
      'GET',
      '/api/health',
      { headers: { host: 'evil.example' } },
      421,
      'misdirected_request',
    ],
    [
      'a page of another site',
      'POST',
      '/api/auth/sign-in',
      { body: {}, headers: { 'sec-fetch-site': 'cross-site' } },
      403,
      'cross_origin_blocked',
    ],
    [
      'another origin',
      'POST',
      '/api/auth/sign-in',
      { body: {}, headers: { origin: 'http://evil.example' } },
      403,
      'cross_origin_blocked',
    ],
  ]
  test.each(scenarios)('%s', async (_name, method, path, call, status, code) => {
    const answer = await testServer().call(method, path, call)
    expect([answer.status, answer.json?.error?.code]).toEqual([status, code])
    expect(answer.json.ok).toBe(false)
    expect(answer.json.error.requestId).toBe(answer.headers.get('x-request-id'))
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect(answer.headers.get('www-authenticate')).toBe(status === 401 ? 'Bearer' : null)
  })
})

test('405 names the methods there are', async () => {
  const answer = await testServer().call('PATCH', '/api/platform/tokens')
  expect(answer.headers.get('allow')?.split(', ').sort()).toEqual(['DELETE', 'GET', 'HEAD', 'POST'])
})

test('fields are named by JSON Pointer, each once, and what was sent is not repeated', async () => {
  const answer = await testServer().call('POST', '/api/auth/sign-up', {
    body: { email: '', password: 99, name: null },
  })
  expect(answer.status).toBe(422)
  expect(
    answer.json.error.fields.map((field: { path: string; code: string }) => [field.path, field.code]),
  ).toEqual([
    ['/email', 'min_length'],
    ['/password', 'type'],
    ['/name', 'type'],
  ])
  expect(answer.text).not.toContain('99')
  const missing = await testServer().call('POST', '/api/auth/sign-up', { headers: JSON_TYPE, body: {} })
  expect(missing.json.error.fields).toMatchObject([
    { in: 'body', path: '/email', code: 'required' },
    { in: 'body', path: '/password', code: 'required' },
  ])
})

test('what is too long or too short is told with its length, and not repeated', () => {
  const schema = Type.Object({
    text: Type.String({ maxLength: 2 }),
    list: Type.Array(Type.Integer(), { minItems: 2 }),
  })
  const refused = () => checkBody(schema, { text: 'xyz', list: [7] }, [])
  expect(refused).toThrow(
    'body /text: expected a string of at most 2 characters, found one of 3 (and 1 more)',
  )
})

test('the same error as problem+json for whoever asks', async () => {
  const answer = await testServer().call('GET', '/api/none', {
    headers: { accept: 'application/problem+json' },
  })
  expect(answer.headers.get('content-type')).toBe('application/problem+json')
  expect(answer.json).toMatchObject({
    type: 'urn:chartroom:problem:not_found',
    status: 404,
    code: 'not_found',
  })
})

test('a mistake of ours is a bare 500 that names the log entry', async () => {
  const lines: unknown[] = []
  const { call } = testServer(() => ({
    log: (_level, _message, fields) => void lines.push(fields),
    kv: {
      ...testKv(),
      get: () => {
        throw new Error('secret detail')
      },
    },
  }))
  const answer = await call('GET', '/api/ready')
  expect([answer.status, answer.json.error.code]).toEqual([500, 'internal_error'])
  expect(answer.text).not.toContain('secret')
  expect(JSON.stringify(lines)).toContain('secret detail')
  expect(JSON.stringify(lines)).toContain(answer.json.error.requestId)
})

test('a client that hangs up in the middle of its body is no error of ours', async () => {
  const lines: string[] = []
  const { call, app, signUp } = testServer(() => ({
    log: (level, message) => void lines.push(`${level} ${message}`),
  }))
  const headers = await signUp()
  await call('POST', '/api/platform/bars/import?exchange=E&symbol=S&interval=1d', {
    headers: { ...headers, 'content-type': 'text/csv' },
    body: barCsv(20),
  })
  const body = { name: 'n', symbol: 'S', exchange: 'E', interval: '1d', bars: 9, source: 'sum' }
  const { id } = (await call('POST', '/api/platform/backtests', { headers, body })).json
  for (const [path, type] of [
    ['/errors', 'application/json'],
    ['/platform/scripts/check', 'application/json'],
    [`/platform/backtests/${id}/compare`, 'application/json'],
    ['/platform/bars/import?exchange=E&symbol=T&interval=1d', 'text/csv'],
    ['/platform/bars/import?exchange=E&symbol=T&interval=1d', 'application/json'],
  ] as const) {
    let begun = false
    const cut = new ReadableStream({
      pull(controller) {
        if (begun) controller.error(new DOMException('', 'AbortError'))
        else controller.enqueue(Buffer.from('[{"a":'))
        begun = true
      },
    })
    await app.handle(
      new Request(`http://localhost/api${path}`, {
        method: 'POST',
        headers: { ...headers, 'content-type': type },
        body: cut,
      }),
    )
  }
  expect(lines.filter((line) => line.startsWith('error'))).toEqual([])
})

test('unknown fields are ignored and reported', async () => {
  const { call } = testServer()
  const body = { email: 'a@example.com', password: 'correct horse', colour: 1, 'a/b': 2 }
  const answer = await call('POST', '/api/auth/sign-up', { body })
  expect(answer.status).toBe(200)
  expect(answer.json.warnings).toMatchObject([
    { code: 'unknown_field', path: '/colour' },
    { code: 'unknown_field', path: '/a~1b' },
  ])
})

test('anonymous callers are limited by address, an IPv6 one by its /64', async () => {
  const { call, clock } = testServer(({ settings }) => ({
    settings: {
      ...settings,
      trustedProxies: addressList(['loopback']),
      rates: { ...settings.rates, anonymous: { quota: 2, windowSeconds: 60 } },
    },
  }))
  const from = (ip: string) => call('GET', '/api/auth/visitor', { headers: { 'x-forwarded-for': ip } })
  const first = await from('2001:db8:1:2::1')
  expect(first.headers.get('ratelimit-policy')).toBe('"anonymous";q=2;w=60')
  expect(first.headers.get('ratelimit')).toBe('"anonymous";r=1;t=30')
  await from('2001:db8:1:2:ffff::2')
  const third = await from('2001:db8:1:2::3')
  expect([third.status, third.json.error.code, third.json.error.retryAfter]).toEqual([
    429,
    'rate_limited',
    30,
  ])
  expect(third.headers.get('retry-after')).toBe('30')
  expect((await from('2001:db8:1:3::1')).status).toBe(200)
  clock.advance(30_000)
  expect((await from('2001:db8:1:2::3')).status).toBe(200)
})

test.each([
  ['one server', () => null],
  ['several', () => new HandFleet('a', new Set(['a']), () => 'a')],
])('%s tells of the narrowest limit there is, and counts no probes', async (_, fleet) => {
  const { call, signUp } = testServer(() => ({}), { fleet: fleet() })
  const headers = await signUp()
  const policy = async (method: string, path: string, body?: object) =>
    (await call(method, path, { headers, ...(body && { body }) })).headers.get('ratelimit-policy')
  expect(await policy('GET', '/api/platform/tokens')).toStartWith('"user";')
  expect(await policy('POST', '/api/platform/tokens', {})).toStartWith('"tokens";')
  expect(await policy('GET', '/api/health')).toBeNull()
  // Who is signed in searches while typing.
  expect(await policy('GET', '/api/search?q=spx')).toStartWith('"user";')
  const stranger = await call('GET', '/api/search?q=spx')
  expect(stranger.headers.get('ratelimit-policy')).toStartWith('"search";')
})

test('a body that may be missing may be announced as JSON, and others may not', async () => {
  const { call, signUp } = testServer()
  const headers = { ...JSON_TYPE, ...(await signUp()) }
  const bookmarks = '/api/platform/replay/bookmarks?bar=7&symbol=SPX&interval=1d'
  const { status, json } = await call('POST', bookmarks, { headers })
  expect([status, json.bookmark]).toMatchObject([200, { bar: 7, note: null }])
  expect((await call('POST', '/api/platform/tokens', { headers })).status).toBe(400)
})

test('a limit of 0 is no limit', async () => {
  const { call } = testServer(({ settings }) => ({
    settings: { ...settings, rates: { ...settings.rates, anonymous: { quota: 0, windowSeconds: 60 } } },
  }))
  const answer = await call('GET', '/api/auth/visitor')
  expect(answer.headers.get('ratelimit')).toBeNull()
})

test('an address is believed from a trusted proxy only', async () => {
  const { call } = testServer(({ settings }) => ({
    settings: { ...settings, rates: { ...settings.rates, anonymous: { quota: 1, windowSeconds: 60 } } },
  }))
  expect(
    (await call('GET', '/api/auth/visitor', { headers: { 'x-forwarded-for': '203.0.113.1' } })).status,
  ).toBe(200)
  expect(
    (await call('GET', '/api/auth/visitor', { headers: { 'x-forwarded-for': '203.0.113.2' } })).status,
  ).toBe(429)
})

test('a full disk is 507, and reading goes on', async () => {
  const { call } = testServer(() => ({ kv: testKv({ maxBytes: -1 }) }))
  const body = (email: string) => ({ body: { email, password: 'correct horse' } })
  const first = await call('POST', '/api/auth/sign-up', body('a@example.com'))
  expect([first.status, first.json.error.code]).toEqual([507, 'storage_full'])
  expect((await call('GET', '/api/ready')).status).toBe(200)
})

test('a stopping server says so', async () => {
  const { call } = testServer(() => ({ stopping: AbortSignal.abort() }))
  const answer = await call('GET', '/api/ready')
  expect([answer.status, answer.json.error.code, answer.headers.get('retry-after')]).toEqual([
    503,
    'shutting_down',
    '5',
  ])
})

test('HEAD is GET without the body', async () => {
  const { call } = testServer()
  const answer = await call('HEAD', '/api/health')
  expect([answer.status, answer.text]).toEqual([200, ''])
})

describe('idempotency', () => {
  const create = (key: string, body: object = { name: 'bot' }) => ({
    body,
    headers: { 'idempotency-key': key },
  })

  test('the same key answers the same, once, secrets included and stored sealed', async () => {
    const { call, signUp, services } = testServer()
    const cookie = await signUp()
    const send = (key: string, body?: object) => {
      const { headers, ...rest } = create(key, body)
      return call('POST', '/api/platform/tokens', { ...rest, headers: { ...headers, ...cookie } })
    }
    const first = await send('k1')
    const second = await send('k1')
    expect(second.json).toEqual(first.json)
    expect(second.headers.get('idempotent-replayed')).toBe('true')
    expect(first.headers.get('idempotent-replayed')).toBeNull()
    expect((await call('GET', '/api/platform/tokens', { headers: cookie })).json.tokens).toHaveLength(1)
    const stored = (await services.kv.list({ prefix: [] }, { limit: 1000 })).map((entry) => entry.value)
    expect(stored.join()).not.toContain(first.json.secret)
    const reused = await send('k1', { name: 'other' })
    expect([reused.status, reused.json.error.code]).toEqual([422, 'idempotency_key_reused'])
    expect((await send('k2')).json.id).not.toBe(first.json.id)
  })

  test('another query is another request', async () => {
    const { call, signUp } = testServer()
    const cookie = await signUp()
    const bookmark = (bar: number) =>
      call('POST', `/api/platform/replay/bookmarks?symbol=SPX&interval=1d&bar=${bar}`, {
        headers: { 'idempotency-key': 'k', ...cookie },
      })
    expect((await bookmark(4)).json).toMatchObject({ ok: true, bookmark: { bar: 4 } })
    expect((await bookmark(5)).json.error.code).toBe('idempotency_key_reused')
    expect((await bookmark(4)).headers.get('idempotent-replayed')).toBe('true')
  })

  test('two at the same time: one runs, the other is told so', async () => {
    const { call, signUp } = testServer()
    const cookie = await signUp()
    const { body, headers } = create('k')
    const send = () => call('POST', '/api/platform/tokens', { body, headers: { ...headers, ...cookie } })
    const codes = (await Promise.all([send(), send()])).map((answer) => answer.json.error?.code ?? 'ok')
    // Where the store is slow with the second, it finds what the first made.
    expect(codes).toContain('ok')
    expect(codes.filter((code) => code !== 'ok' && code !== 'idempotency_in_progress')).toEqual([])
    expect((await call('GET', '/api/platform/tokens', { headers: cookie })).json.tokens).toHaveLength(1)
  })

  test('a failed request gives the key back, and a day forgets it', async () => {
    const { call, signUp, clock, app, services } = testServer()
    const cookie = await signUp()
    const send = (body: object) =>
      call('POST', '/api/platform/tokens', { body, headers: { 'idempotency-key': 'k', ...cookie } })
    expect((await send({ expiresAt: 1 })).status).toBe(422)
    expect((await send({})).status).toBe(200)
    clock.advance(25 * 3600_000)
    expect((await send({ name: 'new' })).headers.get('idempotent-replayed')).toBeNull()
    clock.advance(25 * 3600_000)
    await app.gate.idempotency.sweep()
    expect(await services.kv.list({ prefix: ['idempotency'] }, { limit: 10 })).toEqual([])
    expect(await services.kv.list({ prefix: ['idempotency-at'] }, { limit: 10 })).toEqual([])
  })
})

test('pages of a listed origin may call with a token, others may not read', async () => {
  const { call } = testServer(({ settings }) => ({
    settings: { ...settings, corsOrigins: ['https://app.example'] },
  }))
  const preflight = { origin: 'https://app.example', 'access-control-request-method': 'POST' }
  const allowed = await call('OPTIONS', '/api/platform/tokens', { headers: preflight })
  expect([allowed.status, allowed.headers.get('access-control-allow-origin')]).toEqual([
    204,
    'https://app.example',
  ])
  expect(allowed.headers.get('allow')).toBe('POST, GET, DELETE, HEAD')
  const nowhere = await call('OPTIONS', '/api/nothing', { headers: preflight })
  expect([nowhere.status, nowhere.headers.get('allow')]).toEqual([204, null])
  const other = await call('GET', '/api/health', { headers: { origin: 'https://evil.example' } })
  expect(other.headers.get('access-control-allow-origin')).toBeNull()
})

test('the OpenAPI document describes every route and names what each needs', async () => {
  const { call } = testServer()
  const { json } = await call('GET', '/api/openapi.json')
  expect(json.openapi).toBe('3.1.0')
  expect(json.paths['/api/platform/tokens'].post).toMatchObject({
    summary: 'Create an API token',
    security: [{ session: [] }],
    requestBody: { content: { 'application/json': { schema: { type: 'object' } } } },
  })
  const [id] = json.paths['/api/auth/sessions/{id}'].delete.parameters
  expect(id).toEqual({ $ref: '#/components/parameters/IdArg' })
  expect(json.components.parameters.IdArg).toMatchObject({ name: 'id', in: 'path' })
  expect(json.components.schemas.ApiToken.properties.status).toEqual({
    enum: ['active', 'expired', 'revoked'],
  })
})

test('metrics count requests by route, for whoever is on this machine', async () => {
  const { call } = testServer(({ settings }) => ({
    settings: { ...settings, trustedProxies: addressList(['loopback']) },
  }))
  await call('GET', '/api/health')
  // A request is counted when its answer has left, a moment behind it.
  const counted = 'chartroom_http_requests_total{method="GET",route="/api/health",status="200"} 1'
  while (!(await call('GET', '/metrics')).text.includes(counted)) await new Promise(setImmediate)
  expect((await call('GET', '/metrics', { headers: { 'x-forwarded-for': '203.0.113.9' } })).status).toBe(404)
})

test('a request costs no more parsing than it needs: Elysia prepares cookies for a hook that hands its context on', () => {
  const { app } = testServer()
  const parsing = app.routes.filter((route) => String(route.compile()).includes('parseCookie'))
  expect(parsing.map(({ path }) => path)).toEqual([])
})
