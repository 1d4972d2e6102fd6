// What every route owes its callers, whichever it is.

import { expect, test } from 'bun:test'
import { addressList } from '../../src/http/peer.ts'
import { testServer } from './server.ts'

const CROSS = { 'sec-fetch-site': 'cross-site', origin: 'https://elsewhere.example' }

test('a token may come from a page of another site, a session may not', async () => {
  const { call, signUp } = testServer()
  const cookie = await signUp()
  const made = await call('POST', '/api/platform/tokens', {
    body: { name: 'bot', scopes: ['scripts:write', 'scripts:read'] },
    headers: cookie,
  })
  const body = { name: 'mine', source: '//@version=6\nindicator("x")\nplot(close)' }
  const sent = (headers: Record<string, string>) =>
    call('POST', '/api/platform/scripts', { body, headers: { ...headers, ...CROSS } })
  expect((await sent({ authorization: `Bearer ${made.json.secret}` })).status).toBe(200)
  const refused = await sent(cookie)
  expect([refused.status, refused.json.error.code]).toEqual([403, 'cross_origin_blocked'])
})

test('an answer that has not changed is not sent again', async () => {
  const { call, signUp } = testServer()
  const cookie = await signUp()
  await call('POST', '/api/platform/bars/import?symbol=abc&exchange=x&interval=1d', {
    body: 'time,open,high,low,close,volume\n2024-01-01,1,1,1,1,1\n2024-01-02,1,1,1,1,1',
    headers: { ...cookie, 'content-type': 'text/csv' },
  })
  const path = '/api/platform/bars?symbol=abc&exchange=x&interval=1d'
  const first = await call('GET', path, { headers: cookie })
  const etag = first.headers.get('etag') ?? ''
  expect([first.status, etag]).toEqual([200, expect.stringMatching(/^"\w+"$/) as string])
  // The tag that the client has, which is a weak one of an answer that was encoded.
  for (const [known, tag] of [
    [etag, etag],
    [`W/${etag}`, `W/${etag}`],
    [`"other", ${etag}`, etag],
    ['*', etag],
  ] as const) {
    const again = await call('GET', path, { headers: { ...cookie, 'if-none-match': known } })
    expect([again.status, again.headers.get('etag')]).toEqual([304, tag])
  }
  expect((await call('GET', path, { headers: { ...cookie, 'if-none-match': '"other"' } })).status).toBe(200)
})

test('a first user from elsewhere is told of the setup link', async () => {
  const { call } = testServer(({ settings }) => ({
    settings: { ...settings, signUpOpen: false, trustedProxies: addressList(['loopback']) },
  }))
  const { status, json } = await call('POST', '/api/auth/sign-up', {
    body: { email: 'a@b.co', password: 'correct horse battery' },
    headers: { 'x-forwarded-for': '203.0.113.5' },
  })
  expect([status, json.error.code]).toEqual([403, 'setup_required'])
})

test('a token that would have expired before it was made names the field', async () => {
  const { call, signUp } = testServer()
  const { status, json } = await call('POST', '/api/platform/tokens', {
    body: { name: 'bot', expiresAt: 5 },
    headers: await signUp(),
  })
  expect(status).toBe(422)
  expect(json.error.fields).toEqual([
    expect.objectContaining({
      path: '/expiresAt',
      code: 'expiresAt',
      message: 'expected a time in the future',
    }),
  ])
})

test('the engine is made ready for who is signed in, and for nobody else', async () => {
  let came = 0
  const { call, signUp } = testServer((services) => ({
    ...services,
    userCame: () => void came++,
  }))
  const owner = await signUp('owner@example.com')
  await call('GET', '/api/auth/visitor')
  await call('GET', '/api/platform/alerts', { headers: { authorization: 'Bearer nothing' } })
  expect(came).toBe(0)
  await call('GET', '/api/platform/alerts', { headers: owner })
  expect(came).toBe(1)
})
