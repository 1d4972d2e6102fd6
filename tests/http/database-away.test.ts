// A server whose database is away: what was on a chart a moment ago is answered, and whatever would change something is not.

import { afterAll, expect, test } from 'bun:test'
import { BarCache } from '../../src/market/bar-cache.ts'
import { LastKnown } from '../../src/store/postgres/last-known.ts'
import { Silence } from '../../src/store/postgres/silence.ts'
import { barCsv } from '../bar-csv.ts'
import { HandClock } from '../lib/hand-clock.ts'
import { goingAway } from '../store/going-away.ts'
import { testServer, unlimited } from './server.ts'
import { testBars, testKv } from '../store/test-store.ts'

const clock = new HandClock()
const silence = new Silence(clock)
const database = goingAway(silence)
const lastKnown = new LastKnown({ now: () => clock.now(), silence })
const server = testServer((services) => ({ ...unlimited(services), lastKnown }), {
  kv: lastKnown.kv(database.kv(testKv())),
  bars: new BarCache(lastKnown.bars(database.bars(testBars()))),
})
const { call } = server
afterAll(() => server.pool.close())

const BARS = '/api/platform/bars?exchange=E&symbol=S&interval=1h'
const importBars = (headers: Record<string, string>) =>
  call('POST', '/api/platform/bars/import?exchange=E&symbol=S&interval=1h', {
    headers: { ...headers, 'content-type': 'text/csv' },
    body: barCsv(50),
  })

test('cached bars and charts are read on, with their age, and what would be written is 503 with Retry-After', async () => {
  const headers = await server.signUp()
  await importBars(headers)
  const layout = { name: 'mine', layout: { version: 1, grid: '1', charts: [] } }
  await call('POST', '/api/platform/layouts', { headers, body: layout })
  const paths = [
    BARS,
    `${BARS}&limit=10`,
    '/api/auth/session',
    '/api/platform/symbols',
    '/api/platform/layouts',
    '/api/platform/drawings?exchange=E&symbol=S',
    '/api/platform/alerts',
    '/api/platform/watchlists',
    '/api/platform/scripts',
  ]
  const ask = () => Promise.all(paths.map((path) => call('GET', path, { headers })))
  const before = await ask()
  expect((await call('GET', '/api/ready')).status).toBe(200)
  expect((await call('GET', '/api/platform/export?bars=yes', { headers })).status).toBe(200)
  expect(before.map(({ status }) => status)).toEqual(paths.map(() => 200))
  expect(before.every((answer) => !answer.headers.has('age'))).toBe(true)

  database.isAway = true
  clock.time += 60_000
  // After a minute it is noted that the session is in use, which cannot be now.
  server.clock.advance(61_000)
  const after = await ask()
  expect(after.map(({ text }) => text)).toEqual(before.map(({ text }) => text))
  expect(after.map((answer) => answer.headers.get('age'))).toEqual(paths.map(() => '60'))

  for (const [method, path, body] of [
    ['POST', '/api/platform/layouts', layout],
    ['POST', '/api/auth/sign-in', { email: 'trader@example.com', password: 'correct horse' }],
    ['DELETE', BARS, undefined],
  ] as const) {
    const refused = await call(method, path, { headers, ...(body && { body }) })
    expect([refused.status, refused.json.error.code]).toEqual([503, 'store_unavailable'])
    expect(refused.headers.get('retry-after')).toBe('5')
  }
  expect((await importBars(headers)).status).toBe(503)
  // It would be a mixture of what is in memory and what is not, and people keep it.
  expect((await call('GET', '/api/platform/export?bars=yes', { headers })).status).toBe(503)
  // Whoever shares requests out should prefer a server that reaches the database.
  expect((await call('GET', '/api/ready')).status).toBe(503)
  // Nobody has read it while the database was there.
  expect((await call('GET', '/api/platform/ideas', { headers })).status).toBe(503)

  clock.time += 15 * 60_000
  expect((await call('GET', BARS, { headers })).status).toBe(503)
  database.isAway = false
  const again = await call('GET', BARS, { headers })
  expect([again.status, again.headers.get('age')]).toEqual([200, null])
})

test('a write that was refused makes nobody unknown who was known', async () => {
  const headers = await server.signUp('writer@example.com')
  await importBars(headers)
  expect((await call('GET', BARS, { headers })).status).toBe(200)
  database.isAway = true
  expect((await importBars(headers)).status).toBe(503)
  expect((await call('GET', BARS, { headers })).status).toBe(200)
  database.isAway = false
})

test('what was written to since it was read is 503, also where a text of it is kept', async () => {
  const headers = await server.signUp('later@example.com')
  const path = '/api/platform/scripts'
  const add = () => call('POST', path, { headers, body: { name: 'mine', source: 'plot(close)' } })
  expect((await add()).status).toBe(200)
  for (let times = 0; times < 2; times++) expect((await call('GET', path, { headers })).status).toBe(200)
  expect((await add()).status).toBe(200)
  database.isAway = true
  const { status, json } = await call('GET', path, { headers })
  database.isAway = false
  expect([status, json.error?.code]).toEqual([503, 'store_unavailable'])
})

test('who asks first while the database is silent waits little more than a second, and whoever comes then a quarter of one', async () => {
  const headers = await server.signUp('patient@example.com')
  await importBars(headers)
  const paths = [BARS, '/api/platform/layouts', '/api/platform/drawings?exchange=E&symbol=S']
  const before: string[] = []
  for (const path of paths) before.push((await call('GET', path, { headers })).text)
  // It cannot be noted any more that the session is in use.
  server.clock.advance(61_000)
  database.goSilent()
  for (const [i, path] of [...paths, ...paths].entries()) {
    const from = clock.now()
    const over = new AbortController()
    const answered = call('GET', path, { headers }).finally(() => over.abort())
    while (!over.signal.aborted && clock.now() - from < 5000) await clock.pass(50)
    expect(clock.now() - from).toBeLessThanOrEqual(i === 0 ? 1200 : 250)
    const { status, text, headers: told } = await answered
    expect([status, text]).toEqual([200, before[i % paths.length]!])
    expect(Number(told.get('age'))).toBeGreaterThan(0)
  }
  database.comeBack()
  await clock.settle()
  const again = await call('GET', BARS, { headers })
  expect([again.status, again.headers.get('age')]).toEqual([200, null])
})
