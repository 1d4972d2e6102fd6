import { describe, expect, test } from 'bun:test'
import { argon2Passwords } from '../../src/people/accounts/passwords.ts'
import { waitAfter } from '../../src/people/accounts/throttle.ts'
import { addressList } from '../../src/http/peer.ts'
import { testServer, type Call } from './server.ts'

const USER = { email: 'Trader@Example.com', password: 'correct horse' }
const DAY = 24 * 3600_000

const closed = (change: object = {}) =>
  testServer(({ settings }) => ({
    settings: { ...settings, signUpOpen: false, trustedProxies: addressList(['loopback']), ...change },
  }))
const REMOTE = { 'x-forwarded-for': '203.0.113.5' }

test('signing up makes the owner, signs in, and the cookie opens the session', async () => {
  const { call } = closed()
  const made = await call('POST', '/api/auth/sign-up', { body: USER })
  expect(made.json).toMatchObject({
    ok: true,
    user: { email: 'Trader@Example.com', name: 'Trader', role: 'owner' },
  })
  expect(made.json.id).toBe(made.json.user.id)
  expect(made.text).not.toContain('hash')
  const cookie = made.headers.get('set-cookie')?.split(';')[0] ?? ''
  const session = await call('GET', '/api/auth/session', { headers: { cookie } })
  expect(session.json).toMatchObject({ user: { id: made.json.id }, session: { current: true } })
})

describe('the exact cookie', () => {
  const sent = async (headers: Call['headers']) => {
    const { call } = closed()
    const answer = await call('POST', '/api/auth/sign-up', {
      body: { ...USER, invitation: 'setup-code' },
      headers: headers ?? {},
    })
    return answer.headers.getSetCookie().map((cookie) => cookie.replace(/=[\w-]{43};/, '=SECRET;'))
  }
  test('over http', async () => {
    expect(await sent({})).toEqual(['session=SECRET; Max-Age=2592000; Path=/; HttpOnly; SameSite=Strict'])
  })
  test('over https, as the trusted proxy says', async () => {
    expect(await sent({ ...REMOTE, 'x-forwarded-proto': 'https' })).toEqual([
      '__Host-session=SECRET; Max-Age=2592000; Path=/; HttpOnly; Secure; SameSite=Strict',
    ])
  })
  test('and how it is taken away', async () => {
    const { call, signUp } = testServer()
    const cookie = await signUp()
    const out = await call('POST', '/api/auth/sign-out', { headers: cookie })
    expect(out.headers.getSetCookie()).toEqual(['session=; Max-Age=0; Path=/; HttpOnly; SameSite=Strict'])
    expect((await call('GET', '/api/auth/session', { headers: cookie })).status).toBe(401)
  })
  test('a cookie of the other scheme is not taken', async () => {
    const { call, signUp } = testServer()
    const { cookie } = await signUp()
    const headers = { cookie: cookie.replace('session=', '__Host-session=') }
    expect((await call('GET', '/api/auth/session', { headers })).status).toBe(401)
  })
})

describe('who may sign up', () => {
  const first = (body: object, headers: Call['headers'] = {}) =>
    closed().call('POST', '/api/auth/sign-up', { body: { ...USER, ...body }, headers })
  test('first, from this machine: yes', async () => expect((await first({})).status).toBe(200))
  test('first, from elsewhere: with the setup code only', async () => {
    expect((await first({}, REMOTE)).json.error.code).toBe('setup_required')
    expect((await first({ invitation: 'guess' }, REMOTE)).json.error.code).toBe('setup_required')
    expect((await first({ invitation: 'setup-code' }, REMOTE)).json.user.role).toBe('owner')
  })
  test('second: no; the setup code is used up', async () => {
    const { call, signUp } = closed()
    await signUp()
    const body = { ...USER, email: 'b@example.com', invitation: 'setup-code' }
    const answer = await call('POST', '/api/auth/sign-up', { body })
    expect([answer.status, answer.json.error.code]).toEqual([403, 'signup_closed'])
  })
  test('with an invitation of the owner: once', async () => {
    const { call, signUp } = closed()
    const invited = await call('POST', '/api/auth/invitations', { headers: await signUp() })
    expect(invited.json.url).toBe(`http://localhost/sign-up?invitation=${invited.json.code}`)
    const join = (email: string) =>
      call('POST', '/api/auth/sign-up', {
        body: { ...USER, email, invitation: invited.json.code },
        headers: REMOTE,
      })
    const member = await join('b@example.com')
    expect(member.json.user.role).toBe('member')
    expect((await join('c@example.com')).json.error.code).toBe('signup_closed')
    const cookie = { cookie: member.headers.get('set-cookie')?.split(';')[0] ?? '' }
    expect((await call('POST', '/api/auth/invitations', { headers: cookie })).status).toBe(403)
  })
  test('two first users at once: one owns, the other is refused', async () => {
    const { call } = closed()
    const answers = await Promise.all(
      ['a@example.com', 'b@example.com'].map((email) =>
        call('POST', '/api/auth/sign-up', { body: { ...USER, email } }),
      ),
    )
    expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([200, 403]))
  })
  test('an address twice, in whatever case: no', async () => {
    const { call, signUp } = testServer()
    await signUp('trader@example.com')
    const again = await call('POST', '/api/auth/sign-up', { body: USER })
    expect([again.status, again.json.error.code]).toEqual([409, 'already_exists'])
  })
  test.each([
    ['not an address', { email: 'nobody' }, '/email'],
    ['a short password', { password: '1234567' }, '/password'],
    ['a password that everybody tries first', { password: 'sunshine1' }, '/password'],
    ['the same in another case', { password: 'ILoveYou' }, '/password'],
    ['one letter over and over', { password: '🐎'.repeat(12) }, '/password'],
  ])('%s: no', async (_name, change, path) => {
    expect((await first(change)).json.error.fields).toMatchObject([{ in: 'body', path }])
  })
})

describe('signing in', () => {
  test('a wrong password and an unknown user get the same answer', async () => {
    const { call, signUp } = testServer()
    await signUp('trader@example.com')
    const known = await call('POST', '/api/auth/sign-in', { body: { ...USER, password: 'wrong' } })
    const unknown = await call('POST', '/api/auth/sign-in', {
      body: { ...USER, email: 'nobody@example.com' },
    })
    const shape = ({ status, json }: typeof known) => [status, json.error.code, json.error.message]
    expect(shape(known)).toEqual(shape(unknown))
    expect(known.status).toBe(401)
    expect((await call('POST', '/api/auth/sign-in', { body: USER })).status).toBe(200)
  })

  test('five failures are free, the sixth waits, and a success forgets them', async () => {
    const { call, signUp, clock } = testServer()
    await signUp('trader@example.com')
    const attempt = (password: string) => call('POST', '/api/auth/sign-in', { body: { ...USER, password } })
    for (let i = 0; i < 5; i++) expect((await attempt('wrong')).status).toBe(401)
    const throttled = await attempt(USER.password)
    expect([throttled.status, throttled.json.error.retryAfter]).toEqual([429, 1])
    clock.advance(1000)
    expect((await attempt('wrong')).status).toBe(401)
    expect((await attempt(USER.password)).json.error.retryAfter).toBe(2)
    clock.advance(2000)
    expect((await attempt(USER.password)).status).toBe(200)
    expect((await attempt('wrong')).status).toBe(401)
  })

  test('attempts at the same time count too', async () => {
    const { call, signUp } = testServer()
    await signUp('trader@example.com')
    const answers = await Promise.all(
      Array.from({ length: 20 }, () =>
        call('POST', '/api/auth/sign-in', { body: { ...USER, password: 'wrong' } }),
      ),
    )
    expect(answers.filter((answer) => answer.status === 401)).toHaveLength(5)
  })

  test('the wait doubles up to a quarter of an hour', () => {
    expect([4, 5, 6, 14, 15, 99].map(waitAfter)).toEqual([0, 1000, 2000, 512_000, 900_000, 900_000])
  })

  test('the real hash is argon2id with the chosen parameters', async () => {
    const passwords = argon2Passwords()
    const hash = await passwords.hash('correct horse')
    expect(hash).toStartWith('$argon2id$v=19$m=19456,t=2,p=1$')
    expect(await passwords.verify('correct horse', hash)).toBe(true)
    expect(await passwords.verify('wrong', hash)).toBe(false)
  })
})

describe('sessions', () => {
  test('end after 7 idle days, and after 30 in any case', async () => {
    const { call, signUp, clock } = testServer()
    const cookie = await signUp()
    const look = () => call('GET', '/api/auth/session', { headers: cookie })
    for (let day = 0; day < 29; day += 6) {
      expect((await look()).status).toBe(200)
      clock.advance(6 * DAY)
    }
    expect((await look()).json.error.code).toBe('session_expired')
    const idle = await signUp('idle@example.com')
    clock.advance(7 * DAY)
    expect((await call('GET', '/api/auth/session', { headers: idle })).json.error.code).toBe(
      'session_expired',
    )
    expect((await call('GET', '/api/health', { headers: idle })).status).toBe(200)
  })

  test('are listed and ended one by one or all but this', async () => {
    const { call, signUp } = testServer()
    const cookie = await signUp('trader@example.com')
    await call('POST', '/api/auth/sign-in', { body: USER, headers: { 'user-agent': 'Phone' } })
    await call('POST', '/api/auth/sign-in', { body: USER })
    const { sessions } = (await call('GET', '/api/auth/sessions', { headers: cookie })).json
    expect(sessions).toHaveLength(3)
    expect(sessions.filter((session: { current: boolean }) => session.current)).toHaveLength(1)
    const phone = sessions.find((session: { userAgent: string }) => session.userAgent === 'Phone')
    expect((await call('DELETE', `/api/auth/sessions/${phone.id}`, { headers: cookie })).status).toBe(200)
    expect(
      (await call('DELETE', `/api/auth/sessions/${phone.id}`, { headers: cookie })).json.error.code,
    ).toBe('session_not_found')
    expect((await call('DELETE', '/api/auth/sessions', { headers: cookie })).json.ended).toBe(1)
    expect((await call('GET', '/api/auth/session', { headers: cookie })).status).toBe(200)
  })

  test('a new password ends all of them and gives a new cookie', async () => {
    const { call, signUp } = testServer()
    const cookie = await signUp('trader@example.com')
    const change = (password: string) =>
      call('POST', '/api/auth/password', { body: { password, newPassword: 'better horse' }, headers: cookie })
    expect((await change('wrong')).json.error.code).toBe('invalid_credentials')
    const changed = await change(USER.password)
    expect((await call('GET', '/api/auth/session', { headers: cookie })).status).toBe(401)
    const fresh = { cookie: changed.headers.get('set-cookie')?.split(';')[0] ?? '' }
    expect((await call('GET', '/api/auth/session', { headers: fresh })).status).toBe(200)
    expect((await call('POST', '/api/auth/sign-in', { body: USER })).status).toBe(401)
  })

  test('signing in again ends the session that was open', async () => {
    const { call, signUp } = testServer()
    const cookie = await signUp('trader@example.com')
    await call('POST', '/api/auth/sign-in', { body: USER, headers: cookie })
    expect((await call('GET', '/api/auth/session', { headers: cookie })).status).toBe(401)
  })
})

describe('a page of another site', () => {
  const scenarios: readonly (readonly [string, Call['headers'], number])[] = [
    ['same origin', { 'sec-fetch-site': 'same-origin' }, 200],
    ['typed in', { 'sec-fetch-site': 'none' }, 200],
    ['same site is not same origin', { 'sec-fetch-site': 'same-site' }, 403],
    ['cross site', { 'sec-fetch-site': 'cross-site' }, 403],
    ['the origin is the host', { origin: 'http://localhost' }, 200],
    ['the origin is another', { origin: 'http://localhost:81' }, 403],
    ['a sandboxed frame', { origin: 'null' }, 403],
    ['neither header', {}, 200],
  ]
  test.each(scenarios)('%s', async (_name, headers, status) => {
    const { call, signUp } = testServer()
    const cookie = await signUp()
    const answer = await call('POST', '/api/platform/tokens', {
      body: {},
      headers: { ...cookie, ...headers },
    })
    expect(answer.status).toBe(status)
  })
})

describe('API tokens', () => {
  test('the secret is shown once, works, and is kept as a hash', async () => {
    const { call, signUp, services } = testServer()
    const cookie = await signUp()
    const made = await call('POST', '/api/platform/tokens', { body: { name: 'bot' }, headers: cookie })
    const { secret, token, id } = made.json
    expect(secret).toMatch(/^crm_pat_[0-9A-Za-z]{36}$/)
    expect(token).toEqual({
      id,
      name: 'bot',
      last4: secret.slice(-4),
      scopes: ['replay:read', 'replay:write'],
      createdAt: expect.any(Number),
      expiresAt: null,
      lastUsedAt: null,
      revokedAt: null,
      status: 'active',
    })
    expect((await call('GET', '/api/platform/tokens', { headers: cookie })).text).not.toContain(secret)
    const stored = (await services.kv.list({ prefix: [] }, { limit: 1000 })).map((entry) => entry.value)
    expect(stored.join()).not.toContain(secret)
    expect(
      (await call('GET', '/api/health', { headers: { authorization: `bearer ${secret}` } })).status,
    ).toBe(200)
    const list = await call('GET', '/api/platform/tokens', { headers: cookie })
    expect(list.json.tokens[0].lastUsedAt).toBe(services.clock.now())
  })

  test('a token cannot manage tokens, even next to a good cookie', async () => {
    const { call, signUp, token } = testServer()
    const cookie = await signUp()
    const headers = { ...cookie, ...(await token(cookie)) }
    const answer = await call('GET', '/api/platform/tokens', { headers })
    expect([answer.status, answer.json.error.code]).toEqual([403, 'session_required'])
  })

  test('revoked and expired ones say so, stay listed 90 days, and are then forgotten', async () => {
    const { call, signUp, clock } = testServer()
    const cookie = await signUp('trader@example.com')
    const create = (body: object) => call('POST', '/api/platform/tokens', { body, headers: cookie })
    const brief = await create({ expiresAt: clock.now() + 1000 })
    const revoked = await create({})
    await call('DELETE', `/api/platform/tokens?id=${revoked.json.id}`, { headers: cookie })
    clock.advance(1000)
    const use = (secret: string) =>
      call('GET', '/api/health', { headers: { authorization: `Bearer ${secret}` } })
    expect((await use(brief.json.secret)).json.error.code).toBe('token_expired')
    expect((await use(revoked.json.secret)).json.error.code).toBe('token_revoked')
    const { tokens } = (await call('GET', '/api/platform/tokens', { headers: cookie })).json
    expect(tokens.map((token: { status: string }) => token.status)).toEqual(['revoked', 'expired'])
    clock.advance(91 * DAY)
    const back = await call('POST', '/api/auth/sign-in', { body: USER })
    const fresh = { cookie: back.headers.get('set-cookie')?.split(';')[0] ?? '' }
    expect((await call('GET', '/api/platform/tokens', { headers: fresh })).json.tokens).toEqual([])
  })

  test("another user's token is not there", async () => {
    const { call, signUp } = testServer()
    const made = await call('POST', '/api/platform/tokens', { body: {}, headers: await signUp() })
    const other = await signUp('other@example.com')
    const answer = await call('DELETE', `/api/platform/tokens?id=${made.json.id}`, { headers: other })
    expect([answer.status, answer.json.error.code]).toEqual([404, 'token_not_found'])
  })

  test.each([
    ['an unknown scope', { scopes: ['everything'] }, '/scopes/0'],
    ['no scopes', { scopes: [] }, '/scopes'],
    ['an end in the past', { expiresAt: 1 }, '/expiresAt'],
    ['a name of a wrong type', { name: 7 }, '/name'],
  ])('%s is refused', async (_name, body, path) => {
    const { call, signUp } = testServer()
    const answer = await call('POST', '/api/platform/tokens', { body, headers: await signUp() })
    expect(answer.json.error.fields).toMatchObject([{ path }])
  })

  test('making them is limited to 20 an hour', async () => {
    const { call, signUp } = testServer()
    const cookie = await signUp()
    for (let i = 0; i < 20; i++) await call('POST', '/api/platform/tokens', { body: {}, headers: cookie })
    const answer = await call('POST', '/api/platform/tokens', { body: {}, headers: cookie })
    expect([answer.status, answer.headers.get('ratelimit-policy')]).toEqual([429, '"tokens";q=20;w=3600'])
  })
})

test('a name can be changed, with a session only', async () => {
  const { call, signUp, token } = testServer()
  const cookie = await signUp()
  const changed = await call('PATCH', '/api/auth/user', { headers: cookie, body: { name: 'Ann' } })
  expect(changed.json.user.name).toBe('Ann')
  expect((await call('GET', '/api/auth/session', { headers: cookie })).json.user.name).toBe('Ann')
  const refused = await call('PATCH', '/api/auth/user', { headers: await token(cookie), body: { name: 'x' } })
  expect(refused.json.error.code).toBe('session_required')
})
