// Whole answers, field by field, and refusals that only one route has. Times are those of a clock that is turned by hand.

import { describe, expect, test } from 'bun:test'
import { PROBLEM_CODES } from '../../src/lib/problem-codes.ts'
import { barCsv } from '../bar-csv.ts'
import { testServer } from './server.ts'

const START = Date.UTC(2026, 0, 1)
const MARKET = { exchange: 'E', symbol: 'S', interval: '1h' }
const some = expect.any(String) as string

async function world() {
  const server = testServer()
  const headers = await server.signUp()
  const ask = async (method: string, path: string, body?: unknown) =>
    (await server.call(method, path, { headers, ...(body !== undefined && { body }) })).json
  await server.call('POST', '/api/platform/bars/import?exchange=E&symbol=S&interval=1h', {
    headers: { ...headers, 'content-type': 'text/csv' },
    body: barCsv(50),
  })
  return { ...server, headers, ask }
}

test('a visitor is told who may sign up, and whether that takes a code', async () => {
  const empty = testServer((base) => ({ settings: { ...base.settings, signUpOpen: false } }))
  const asked = async (headers: Record<string, string> = {}) =>
    (await empty.call('GET', '/api/auth/visitor', { headers })).json
  const elsewhere = { 'x-forwarded-for': '8.8.8.8' }
  expect(await asked()).toEqual({
    ok: true,
    user: null,
    newestEvent: null,
    signUp: 'owner',
    needsCode: false,
    provider: null,
  })
  // From another machine the first user needs the setup link's code.
  expect(await asked(elsewhere)).toEqual({
    ok: true,
    user: null,
    newestEvent: null,
    signUp: 'owner',
    needsCode: true,
    provider: null,
  })
  const body = { email: 'a@example.com', password: 'correct horse', invitation: 'setup-code' }
  const { headers } = await empty.call('POST', '/api/auth/sign-up', { body })
  expect(await asked()).toEqual({
    ok: true,
    user: null,
    newestEvent: null,
    signUp: 'invited',
    needsCode: true,
    provider: null,
  })
  const cookie = /^[^;]+/.exec(headers.get('set-cookie') ?? '')?.[0] ?? ''
  expect(await asked({ cookie })).toMatchObject({ user: { email: 'a@example.com', role: 'owner' } })
  expect((await testServer().call('GET', '/api/auth/visitor')).json).toMatchObject({ signUp: 'owner' })
})

test('a session says when it began, and when it was used last', async () => {
  const { clock, call, ask, headers } = await world()
  clock.advance(10 * 60_000)
  await ask('GET', '/api/auth/session')
  clock.advance(1000)
  const session = {
    id: some,
    createdAt: START,
    lastSeenAt: START + 10 * 60_000,
    userAgent: '',
    current: true,
  }
  expect((await call('GET', '/api/auth/sessions', { headers })).json.sessions).toEqual([session])
})

test('a firing, its letter and its delivery tell of the same bar', async () => {
  const { ask, clock } = await world()
  const { id: hook } = await ask('POST', '/api/platform/webhooks', {
    name: 'Hook',
    url: 'https://hook.example/',
    events: ['alert.triggered'],
  })
  const { id } = await ask('POST', '/api/platform/alerts', {
    ...MARKET,
    name: 'Above one',
    kind: 'price',
    op: 'above',
    price: 1,
    channels: ['email', 'webhook'],
    message: 'now',
  })
  const { bars } = await ask('GET', '/api/platform/bars?exchange=E&symbol=S&interval=1h&limit=1')
  const barTime = bars.time.at(-1) as number
  const price = bars.close.at(-1) as number
  const { firings } = await ask('GET', `/api/platform/alerts/${id}/firings`)
  const [{ id: firingId }] = firings
  const firing = { ...MARKET, barTime, price, message: 'now', firedAt: clock.now() }
  const ways = { channels: ['email', 'webhook'], escalatesAt: null, acknowledgedAt: null }
  expect(firings).toEqual([{ ...firing, id: some, alertId: id, ...ways }])
  const { letters, mailServer } = await ask('GET', '/api/platform/alerts/outbox')
  // There is none: the letter waits.
  expect(mailServer).toBe(false)
  expect(letters).toEqual([
    {
      id: some,
      to: 'trader@example.com',
      subject: expect.stringContaining('Above one') as string,
      text: expect.stringContaining('now') as string,
      state: 'waiting',
      attempts: 0,
      nextAt: clock.now(),
      problem: null,
      createdAt: clock.now(),
      sentAt: null,
    },
  ])
  const { deliveries } = await ask('GET', `/api/platform/webhooks/${hook}/deliveries`)
  expect(deliveries).toEqual([
    {
      id: some,
      webhookId: hook,
      event: 'alert.triggered',
      state: 'pending',
      data: expect.objectContaining({ firingId, firedAt: new Date(clock.now()).toISOString() }) as object,
      attempts: [],
      nextAt: clock.now(),
      createdAt: clock.now(),
      resendOf: null,
    },
  ])
})

test('a revision says when it was saved', async () => {
  const { ask, clock } = await world()
  const { id } = await ask('POST', '/api/platform/scripts', { name: 'n', source: 'a' })
  clock.advance(5000)
  await ask('PATCH', `/api/platform/scripts/${id}`, { source: 'b' })
  const { revisions } = await ask('GET', `/api/platform/scripts/${id}/revisions`)
  expect(revisions.map(({ savedAt }: { savedAt: number }) => savedAt)).toEqual([START + 5000, START])
})

test('errors of clients say when they came first and last', async () => {
  const { ask, clock } = await world()
  await ask('POST', '/api/errors', { message: 'oh', line: 3 })
  clock.advance(5000)
  await ask('POST', '/api/errors', { message: 'oh', line: 4 })
  expect((await ask('GET', '/api/errors')).errors).toEqual([
    {
      id: some,
      fingerprint: some,
      message: 'oh',
      count: 2,
      firstAt: START,
      lastAt: START + 5000,
      sample: { message: 'oh', line: 4 },
    },
  ])
})

test('a drawing keeps everything that it may have', async () => {
  const { ask } = await world()
  const drawing = {
    id: 'd1',
    tool: 'note',
    points: [{ time: START, price: 1.5 }],
    style: {
      color: '#112233',
      lineWidth: 2.5,
      lineStyle: 'dashed',
      fill: true,
      fillColor: '#44556677',
      fillOpacity: 0.25,
      extendLeft: true,
      extendRight: false,
      showLabels: true,
      levels: [0, 0.5],
      text: 'Да 🙂',
      fontSize: 14,
      fontColor: '#ffffff',
      fontWeight: 'bold',
      fontStyle: 'italic',
      background: true,
      backgroundColor: '#000000',
      textAlign: 'center',
      accountSize: 10_000,
      risk: 2,
    },
    intervals: ['1h'],
    locked: true,
    hidden: false,
    group: 'g1',
  }
  await ask('PATCH', '/api/platform/drawings', { exchange: 'E', symbol: 'S', put: [drawing] })
  expect((await ask('GET', '/api/platform/drawings?exchange=E&symbol=S')).drawings).toEqual([drawing])
})

test('an article of the help is read by its id', async () => {
  const { ask, call } = await world()
  const { answers } = await ask('POST', '/api/support/chat', { query: 'import bars' })
  const [{ id, title }] = answers
  expect(await ask('GET', `/api/support/articles/${id}`)).toMatchObject({ article: { id, title } })
  const ids = async (query: string): Promise<string[]> =>
    (await ask('GET', `/api/support/articles${query}`)).articles.map((one: { id: string }) => one.id)
  const found = await ids('?q=trailing%20stop')
  expect([found[0], found.includes('what-is-exact')]).toEqual(['fills', true])
  expect(await ids('?q=xylophone')).toEqual([])
  expect((await ids('')).length).toBeGreaterThan(40)
  expect((await call('GET', '/api/support/articles/none')).json.error.code).toBe('article_not_found')
})

describe('what is not there is refused by its name:', () => {
  test.each([
    ['/api/platform/alerts/none', 'alert_not_found'],
    ['/api/platform/ideas/none', 'idea_not_found'],
    ['/api/platform/scripts/none', 'script_not_found'],
    ['/api/platform/watchlists/none', 'watchlist_not_found'],
    ['/api/platform/webhooks/none', 'webhook_not_found'],
    ['/api/platform/backtests/none', 'backtest_not_found'],
    ['/api/platform/sweeps/none', 'sweep_not_found'],
  ] as const)('%s is %s', async (path, code) => {
    const { ask } = await world()
    expect((await ask('GET', path)).error.code).toBe(code)
    expect(PROBLEM_CODES[code].status).toBe(404)
  })
})

describe('bars of a provider', () => {
  const fetched = async (enabled: boolean) => {
    const server = testServer((base) => ({
      features: {
        ...base.features,
        feeds: Object.assign(base.features.feeds, { enabled }),
        http: async () => new Response('no bars, but a page'),
      },
    }))
    const body = { exchange: 'BINANCE', symbol: 'BTCUSDT', interval: '1h' }
    return server.call('POST', '/api/platform/bars/fetch', { headers: await server.signUp(), body })
  }
  test('are not fetched where the server may not ask for them', async () => {
    const { status, json, headers } = await fetched(false)
    expect([status, json.error.code, headers.get('retry-after')]).toEqual([503, 'feeds_disabled', '3600'])
  })
  test('are to be asked for again later where it answers something else', async () => {
    const { status, json, headers } = await fetched(true)
    expect([status, json.error.code]).toEqual([503, 'provider_unavailable'])
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
  })
})

test('a user has twenty streams; the next is refused', async () => {
  const { app, headers } = await world()
  const open = () => app.handle(new Request('http://localhost/api/platform/stream', { headers }))
  const streams = []
  for (let i = 0; i < 20; i++) streams.push(await open())
  expect(streams.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200))
  const refused = await open()
  const { error } = (await refused.json()) as { error: { code: string } }
  expect([refused.status, error.code]).toEqual([429, 'concurrency_limited'])
  await streams[0]?.body?.cancel()
  const again = await open()
  expect(again.status).toBe(200)
  for (const { body } of [...streams, again]) if (body?.locked === false) await body.cancel()
})
