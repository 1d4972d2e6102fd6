// Signing in by OpenID Connect, against a real provider, and against one that lies, changes its keys, or is gone.

import { afterAll, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { IdentityProvider, type OpenIdSettings } from '../../src/people/accounts/openid.ts'
import { users } from '../../src/people/accounts/accounts.ts'
import { TICKET_LIFE_MS } from '../../src/people/accounts/tickets.ts'
import { silentLog } from '../../src/lib/log.ts'
import { askGuarded } from '../../src/server/guarded-net.ts'
import { parseAllowList } from '../../src/notify/webhooks/address.ts'
import { createSecretBox } from '../../src/notify/webhooks/secret-box.ts'
import { createSend, type Send } from '../../src/notify/webhooks/send.ts'
import {
  CLIENT_SECRET,
  signedAs,
  signedBy,
  signedByAnother,
  signedWithPublicKey,
  testProvider,
  unsigned,
  type Forge,
  type Sign,
} from './identity-provider.ts'
import { FakeClock, testServer, unlimited } from './server.ts'

// A busy machine is no failure.
setDefaultTimeout(900_000)

const ADA = { sub: 'ada', email: 'ada@example.com', email_verified: true, name: 'Ada' }
const provider = await testProvider(['http://localhost/sign-in', 'https://charts.example.com/room/sign-in'])
afterAll(() => provider.stop())
beforeEach(() => {
  provider.person = ADA
  provider.forge = null
  provider.answer = null
})

const box = await createSecretBox(new Uint8Array(32).fill(7), (count) =>
  crypto.getRandomValues(new Uint8Array(count)),
)

interface Options extends Partial<OpenIdSettings> {
  readonly allow?: string
  readonly send?: Send
  readonly publicUrl?: string
  readonly openToAll?: boolean
  readonly on?: Parameters<typeof testServer>[1]
}

function server({
  allow = 'loopback',
  send = createSend(),
  publicUrl,
  openToAll = false,
  on,
  ...settings
}: Options = {}) {
  const logged: string[] = []
  // The provider signs by the machine's clock: minutes ahead of it, a slow test's tokens are neither of the future nor old.
  const today = new FakeClock()
  today.time = Date.now() + 4 * 60_000
  const world = testServer(
    (services) => {
      const identityProvider = new IdentityProvider({
        clock: services.clock,
        log: (...line) => logged.push(JSON.stringify(line)),
        ask: askGuarded({ allow: parseAllowList(allow), resolve: async () => ['127.0.0.1'], send }),
        settings: {
          issuer: provider.issuer,
          clientId: 'chartroom',
          clientSecret: CLIENT_SECRET,
          name: 'Home',
          scopes: ['openid', 'email', 'profile'],
          groupsClaim: 'groups',
          groups: [],
          adminGroups: [],
          signUpOpen: false,
          ...settings,
        },
      })
      const base = unlimited(services)
      return {
        box,
        log: silentLog,
        identityProvider,
        settings: { ...base.settings, signUpOpen: openToAll, publicUrl: publicUrl ?? null },
      }
    },
    { clock: today, ...on },
  )
  const { call } = world

  /** Goes to the provider and comes back with what it says. */
  async function comeBack(body: object = {}) {
    const begun = await call('POST', '/api/auth/openid/start', { body })
    if (begun.status !== 200) return { begun, sent: null }
    return { begun, sent: { ticket: begun.json.ticket, callback: await provider.visit(begun.json.url) } }
  }
  async function signIn(body?: object) {
    const { begun, sent } = await comeBack(body)
    return sent ? call('POST', '/api/auth/openid/sign-in', { body: sent }) : begun
  }
  /** An account with a password, beside the owner's. */
  async function member(email: string) {
    const headers = await owner()
    const { code } = (await call('POST', '/api/auth/invitations', { headers })).json
    const body = { email, password: 'correct horse', invitation: code }
    return call('POST', '/api/auth/sign-up', { body })
  }
  let ownerCookie: Promise<{ readonly cookie: string }> | null = null
  const owner = () => (ownerCookie ??= world.signUp('owner@example.com'))
  async function link(headers: { readonly cookie: string }, password = 'correct horse') {
    const begun = await call('POST', '/api/auth/identities/start', { headers, body: { password } })
    if (begun.status !== 200) return begun
    const callback = await provider.visit(begun.json.url)
    return call('POST', '/api/auth/identities', { headers, body: { ticket: begun.json.ticket, callback } })
  }
  return { ...world, signIn, comeBack, member, owner, link, logged }
}

const cookieOf = ({ headers }: { readonly headers: Headers }) => ({
  cookie: /^[^;]+/.exec(headers.get('set-cookie') ?? '')?.[0] ?? '',
})
const codeOf = ({ status, json }: { status: number; json: { error?: { code: string } } }) => [
  status,
  json.error?.code,
]

describe('who comes in', () => {
  test('an account with the address that the provider has verified, from then on by its subject', async () => {
    const { member, signIn, call } = server()
    const { id } = (await member('Ada@Example.com')).json
    const first = await signIn()
    expect([first.status, first.json.id]).toEqual([200, id])
    provider.person = { ...ADA, email: 'ada@elsewhere.example', email_verified: false }
    const second = await signIn()
    expect(second.json.id).toBe(id)
    const ways = await call('GET', '/api/auth/ways', { headers: cookieOf(second) })
    expect(ways.json).toMatchObject({
      password: true,
      provider: 'Home',
      passkeys: [],
      identities: [{ issuer: `${provider.issuer}/`, email: 'ada@elsewhere.example' }],
    })
    expect(ways.json.identities[0].lastUsedAt).toBeNumber()
    expect(ways.json.identities[0].createdAt).toBeNumber()
  })

  test('an address that is not verified links no account and makes none', async () => {
    const { member, signIn, services } = server({ signUpOpen: true })
    await member('ada@example.com')
    for (const email_verified of [false, undefined, 'true']) {
      const { email_verified: _, ...person } = ADA
      provider.person = { ...person, ...(email_verified !== undefined && { email_verified }) }
      expect(codeOf(await signIn())).toEqual([403, 'account_not_linked'])
    }
    provider.person = { sub: 'nobody' }
    expect(codeOf(await signIn())).toEqual([403, 'account_not_linked'])
    provider.person = { sub: 'mallory', email: 'mallory@example.com', email_verified: false }
    expect(codeOf(await signIn())).toEqual([403, 'account_not_linked'])
    expect(await users(services.kv).count('all', [])).toBe(2)
  })

  test('not the next person who is given the address', async () => {
    const { member, signIn } = server()
    await member('ada@example.com')
    expect((await signIn()).status).toBe(200)
    provider.person = { ...ADA, sub: 'another' }
    expect(codeOf(await signIn())).toEqual([403, 'account_not_linked'])
  })

  test('no account by its address where anybody may have signed up with it', async () => {
    const { signUp, signIn, link } = server({ openToAll: true })
    await signUp('owner@example.com')
    const ada = await signUp('ada@example.com')
    expect(codeOf(await signIn())).toEqual([403, 'account_not_linked'])
    expect((await link(ada)).status).toBe(200)
    expect((await signIn()).status).toBe(200)
  })

  test('somebody new only where the setting or an invitation says so', async () => {
    const closed = server()
    const headers = await closed.owner()
    expect(codeOf(await closed.signIn())).toEqual([403, 'account_not_linked'])
    const { code } = (await closed.call('POST', '/api/auth/invitations', { headers })).json
    const invited = await closed.signIn({ invitation: code })
    expect(invited.json.user).toMatchObject({ email: 'ada@example.com', name: 'Ada', role: 'member' })
    const open = server({ signUpOpen: true })
    await open.owner()
    expect((await open.signIn()).json.user.role).toBe('member')
  })

  test('the first user of all, who owns the server', async () => {
    expect((await server().signIn()).json.user.role).toBe('owner')
  })

  test('whoever asks while signed in links their identity, whatever its address', async () => {
    const { member, link, signIn, owner } = server()
    const ada = await member('ada@home.example')
    provider.person = { sub: 'ada', email: 'ada@work.example', email_verified: false }
    const linked = await link(cookieOf(ada))
    expect(linked.json).toMatchObject({ ok: true, identity: { email: 'ada@work.example' } })
    expect((await signIn()).json.id).toBe(ada.json.id)
    expect(codeOf(await link(await owner()))).toEqual([409, 'already_exists'])
  })

  test('linking takes the password, and the ticket of the same user', async () => {
    const { owner, link, member, call } = server()
    const headers = await owner()
    expect(codeOf(await link(headers, 'wrong one'))).toEqual([401, 'invalid_credentials'])
    expect(codeOf(await call('POST', '/api/auth/identities/start', { headers, body: {} }))).toEqual([
      422,
      'validation_failed',
    ])
    const begun = await call('POST', '/api/auth/identities/start', {
      headers,
      body: { password: 'correct horse' },
    })
    const body = { ticket: begun.json.ticket, callback: await provider.visit(begun.json.url) }
    const other = cookieOf(await member('bob@example.com'))
    expect(codeOf(await call('POST', '/api/auth/identities', { headers: other, body }))).toEqual([
      410,
      'sign_in_expired',
    ])
    expect(codeOf(await call('POST', '/api/auth/openid/sign-in', { body }))).toEqual([410, 'sign_in_expired'])
  })
})

describe('groups', () => {
  const adminGroups = ['chart admins']
  test('give the role at every sign-in, and take it', async () => {
    const { owner, signIn, call } = server({ signUpOpen: true, adminGroups })
    await owner()
    provider.person = { ...ADA, groups: ['users', 'chart admins'] }
    const admin = await signIn()
    expect(admin.json.user.role).toBe('admin')
    provider.person = { ...ADA, groups: ['users'] }
    expect((await signIn()).json.user.role).toBe('member')
    const session = await call('GET', '/api/auth/session', { headers: cookieOf(admin) })
    expect(session.json.user.role).toBe('member')
    // Groups that are missing give nothing.
    provider.person = { ...ADA, groups: adminGroups }
    await signIn()
    provider.person = ADA
    expect((await signIn()).json.user.role).toBe('member')
  })

  test('leave the owner the owner', async () => {
    const { signIn } = server({ adminGroups })
    await signIn()
    expect((await signIn()).json.user.role).toBe('owner')
  })

  test('decide who may come in; without any nobody does', async () => {
    const { owner, signIn } = server({ signUpOpen: true, groups: ['traders'], adminGroups })
    await owner()
    for (const groups of [undefined, [], ['users']]) {
      provider.person = { ...ADA, ...(groups && { groups }) }
      expect(codeOf(await signIn())).toEqual([403, 'account_refused'])
    }
    provider.person = { ...ADA, groups: ['traders'] }
    expect((await signIn()).status).toBe(200)
    provider.person = { ...ADA, groups: adminGroups }
    expect((await signIn()).json.user.role).toBe('admin')
  })

  test('may stand inside of another claim', async () => {
    const { owner, signIn } = server({ signUpOpen: true, adminGroups, groupsClaim: 'realm_access.roles' })
    await owner()
    provider.forge = (claims, key) => signedBy(key, { ...claims, realm_access: { roles: ['chart admins'] } })
    expect((await signIn()).json.user.role).toBe('admin')
  })
})

describe('an answer that does not hold is refused, and nobody is told what it was', () => {
  const FORGERIES: Readonly<Record<string, Forge>> = {
    'another nonce': (claims, key) => signedBy(key, { ...claims, nonce: 'another' }),
    'no nonce': (claims, key) => signedBy(key, { ...claims, nonce: undefined }),
    'a signature by another key': (claims, key) => signedByAnother(key, claims),
    'no signature (alg none)': (claims, key) => unsigned(key, claims),
    'a signature with the public key as secret (HS256)': (claims, key) => signedWithPublicKey(key, claims),
    'expired two minutes ago': (claims, key) =>
      signedBy(key, { ...claims, iat: Date.now() / 1000 - 700, exp: Math.floor(Date.now() / 1000) - 120 }),
    'another audience': (claims, key) => signedBy(key, { ...claims, aud: 'somebody else' }),
    'a second audience, and made for that': (claims, key) =>
      signedBy(key, { ...claims, aud: ['chartroom', 'other'], azp: 'other' }),
    'our audience, but made for another': (claims, key) => signedBy(key, { ...claims, azp: 'other' }),
    'made in an hour': (claims, key) => signedBy(key, { ...claims, iat: Number(claims['iat']) + 3600 }),
    'another issuer': (claims, key) => signedBy(key, { ...claims, iss: 'http://evil.example' }),
    'another subject than the userinfo': (claims, key) => signedBy(key, { ...claims, sub: 'owner' }),
    'a subject longer than the standard has it': (claims, key) =>
      signedBy(key, { ...claims, sub: 'a'.repeat(256) }),
    'no token at all': async () => 'not.a.token',
  }
  for (const [name, forge] of Object.entries(FORGERIES))
    test(name, async () => {
      const { owner, signIn, services, logged } = server({ signUpOpen: true })
      await owner()
      provider.forge = forge
      const answer = await signIn()
      expect(codeOf(answer)).toEqual([401, 'sign_in_refused'])
      expect(answer.json.error.message).toBe(
        'The answer of Home does not hold. Begin again; if it stays so, the log of this server says why.',
      )
      expect(answer.headers.get('set-cookie')).toBeNull()
      expect(await users(services.kv).count('all', [])).toBe(1)
      expect(logged).toHaveLength(1)
      expect(logged[0]).not.toContain('eyJ')
    })

  test('clocks that are half a minute apart are no fault', async () => {
    const { signIn } = server()
    const now = () => Math.floor(Date.now() / 1000)
    provider.forge = (claims, key) => signedBy(key, { ...claims, iat: now() + 30, exp: now() - 30 })
    expect((await signIn()).status).toBe(200)
  })

  test('a state of another sign-in, none, or a parameter that is there twice', async () => {
    const { comeBack, call } = server()
    const { sent } = await comeBack()
    const other = await comeBack()
    const query = new URLSearchParams(sent!.callback)
    for (const callback of [
      other.sent!.callback,
      `code=${query.get('code')}&iss=${query.get('iss')}`,
      `${sent!.callback}&state=${query.get('state')}`,
      '?',
      'error=access_denied',
    ]) {
      const body = { ticket: sent!.ticket, callback }
      expect(codeOf(await call('POST', '/api/auth/openid/sign-in', { body }))).toEqual([
        401,
        'sign_in_refused',
      ])
    }
  })

  test('a code that was used before', async () => {
    const { comeBack, call } = server()
    const { sent } = await comeBack()
    provider.forge = (claims, key) => signedBy(key, { ...claims, nonce: 'another' })
    const again = () => call('POST', '/api/auth/openid/sign-in', { body: sent })
    await again()
    provider.forge = null
    expect(codeOf(await again())).toEqual([401, 'sign_in_refused'])
  })

  test('a ticket that was used, has ended, was changed, or is of another server', async () => {
    const { comeBack, call, clock } = server()
    const { sent } = await comeBack()
    const send = (body: object | null) => call('POST', '/api/auth/openid/sign-in', { body })
    expect((await send(sent)).status).toBe(200)
    expect(codeOf(await send(sent))).toEqual([410, 'sign_in_expired'])
    const late = await comeBack()
    clock.advance(TICKET_LIFE_MS)
    expect(codeOf(await send(late.sent))).toEqual([410, 'sign_in_expired'])
    const { sent: fresh } = await comeBack()
    const ticket = fresh!.ticket as string
    const changed = ticket.slice(0, -8) + (ticket.at(-8) === 'A' ? 'B' : 'A') + ticket.slice(-7)
    expect(codeOf(await send({ ...fresh, ticket: changed }))).toEqual([410, 'sign_in_expired'])
    expect(codeOf(await send({ ...fresh, ticket: 'nonsense' }))).toEqual([410, 'sign_in_expired'])
  })

  test('somebody who said no is told so', async () => {
    provider.person = null
    const answer = await server().signIn()
    expect(codeOf(answer)).toEqual([401, 'sign_in_refused'])
    expect(answer.json.error.message).toContain('you said no there')
  })
})

describe('a provider that', () => {
  test('has changed its keys is understood at once', async () => {
    const { signIn } = server()
    expect((await signIn()).status).toBe(200)
    await provider.rotate()
    expect((await signIn()).status).toBe(200)
  })

  test('is gone leaves passwords as they are', async () => {
    const failing: Send = async () => ({ status: 0, retryAfter: null, excerpt: '', failure: 'timeout' })
    const { owner, call } = server({ send: failing })
    await owner()
    const answer = await call('POST', '/api/auth/openid/start', { body: {} })
    expect(codeOf(answer)).toEqual([503, 'identity_provider_unavailable'])
    expect(answer.json.error.message).toBe(
      'Home does not answer as it should. Try again later, or sign in with your password.',
    )
    expect(answer.headers.get('retry-after')).toBe('10')
    const body = { email: 'owner@example.com', password: 'correct horse' }
    expect((await call('POST', '/api/auth/sign-in', { body })).status).toBe(200)
  })

  test.each([
    ['fails', { status: 500, body: '{}' }],
    ['answers a page', { status: 200, body: '<html>' }],
    ['breaks off', { status: 200, body: '{"issuer":"http' }],
    ['calls itself otherwise', { status: 200, body: '{"issuer":"http://evil.example"}' }],
    ['names no address', { status: 200, body: JSON.stringify({ issuer: provider.issuer }) }],
    [
      'names a dangerous one',
      {
        status: 200,
        body: JSON.stringify({ issuer: provider.issuer, authorization_endpoint: 'javascript:alert(1)' }),
      },
    ],
  ])('%s at discovery is not used, and asked again later', async (_, instead) => {
    const { signIn } = server()
    provider.answer = (path) => (path.includes('.well-known') ? instead : undefined)
    expect(codeOf(await signIn())).toEqual([503, 'identity_provider_unavailable'])
    provider.answer = null
    if (instead.body.startsWith('{"issuer":"http://localhost')) return
    expect((await signIn()).status).toBe(200)
  })

  test.each(['/token', '/jwks', '/me'])('fails at %s signs nobody in', async (where) => {
    const { signIn } = server()
    provider.answer = (path) => (path === where ? { status: 503, body: '{}' } : undefined)
    expect(codeOf(await signIn())).toEqual([503, 'identity_provider_unavailable'])
  })

  test('is in a private network is asked only where the setting opens it', async () => {
    expect(codeOf(await server({ allow: '' }).signIn())).toEqual([503, 'identity_provider_unavailable'])
    expect((await server({ allow: 'localhost' }).signIn()).status).toBe(200)
  })

  test('is asked once for its addresses, however many come', async () => {
    let asked = 0
    provider.answer = (path) => {
      if (path.includes('.well-known')) asked++
      return undefined
    }
    const { call } = server()
    await Promise.all(Array.from({ length: 20 }, () => call('POST', '/api/auth/openid/start', { body: {} })))
    expect(asked).toBe(1)
  })
})

test('behind a proxy the way back is the public address, with its path', async () => {
  const { comeBack } = server({ publicUrl: 'https://charts.example.com/room' })
  const { begun, sent } = await comeBack()
  const url = new URL(begun.json.url)
  expect(url.searchParams.get('redirect_uri')).toBe('https://charts.example.com/room/sign-in')
  expect(url.searchParams.get('code_challenge_method')).toBe('S256')
  expect(sent!.callback).toContain('code=')
})

test('one server begins and another finishes', async () => {
  const here = server()
  const there = server({ on: { kv: here.services.kv, seed: 2 } })
  const { sent } = await here.comeBack()
  expect((await there.call('POST', '/api/auth/openid/sign-in', { body: sent })).status).toBe(200)
  expect(codeOf(await here.call('POST', '/api/auth/openid/sign-in', { body: sent }))).toEqual([
    410,
    'sign_in_expired',
  ])
})

test('who signed in by the provider can sign out there, too', async () => {
  const { signIn, call, owner } = server({ signUpOpen: true })
  const headers = await owner()
  const there = await signIn()
  const out = await call('POST', '/api/auth/sign-out', { headers: cookieOf(there) })
  expect(out.json.providerUrl).toBe(
    `${provider.issuer}/session/end?client_id=chartroom&post_logout_redirect_uri=${encodeURIComponent('http://localhost/sign-in')}`,
  )
  expect((await call('POST', '/api/auth/sign-out', { headers })).json.providerUrl).toBeNull()
})

test('an account of the provider can set a password soon after signing in, and has no other till then', async () => {
  const { signIn, call, clock } = server({ signUpOpen: true })
  const ada = cookieOf(await signIn())
  const tryIn = (password: string) =>
    call('POST', '/api/auth/sign-in', { body: { email: ADA.email, password } })
  expect((await tryIn('the password of nobody')).status).toBe(401)
  const { identities } = (await call('GET', '/api/auth/ways', { headers: ada })).json
  const unlink = (headers: { readonly cookie: string }) =>
    call('DELETE', `/api/auth/identities/${identities[0].id}`, { headers })
  expect(codeOf(await unlink(ada))).toEqual([409, 'last_sign_in_way'])
  const body = { newPassword: 'battery staple' }
  clock.advance(TICKET_LIFE_MS)
  expect(codeOf(await call('POST', '/api/auth/password', { headers: ada, body }))).toEqual([
    403,
    'confirmation_required',
  ])
  const again = cookieOf(await signIn())
  const set = await call('POST', '/api/auth/password', { headers: again, body })
  expect(set.status).toBe(200)
  expect((await tryIn('battery staple')).status).toBe(200)
  expect((await unlink(cookieOf(set))).status).toBe(200)
  expect(codeOf(await unlink(cookieOf(set)))).toEqual([404, 'identity_not_found'])
})

test('a final slash of the issuer makes no other provider of it', async () => {
  const { signIn, call, services } = server({ signUpOpen: true })
  const here = await signIn()
  const slashed = server({ issuer: `${provider.issuer}/`, on: { kv: services.kv, seed: 2 } })
  const there = await slashed.signIn()
  expect(there.json.id).toBe(here.json.id)
  const headers = cookieOf(there)
  const { identities } = (await call('GET', '/api/auth/ways', { headers })).json
  const gone = await slashed.call('DELETE', `/api/auth/identities/${identities[0].id}`, { headers })
  expect(codeOf(gone)).toEqual([409, 'last_sign_in_way'])
})

test('the first page knows the provider’s name, and a server without one has nothing to begin', async () => {
  expect((await server().call('GET', '/api/auth/visitor')).json.provider).toBe('Home')
  const { call } = testServer(unlimited)
  expect((await call('GET', '/api/auth/visitor')).json.provider).toBeNull()
  expect(codeOf(await call('POST', '/api/auth/openid/start', { body: {} }))).toEqual([404, 'not_found'])
})

describe('who signs out at the provider', () => {
  /** A server on which Ada has two sessions by the provider, of which the second is another one there, and one by password. */
  async function begun() {
    const world = server()
    const byPassword = cookieOf(await world.member(ADA.email))
    const sids: string[] = []
    provider.forge = async (claims, key) => {
      sids.push(String(claims['sid']))
      return signedBy(key, claims)
    }
    const here = [cookieOf(await world.signIn()), cookieOf(await world.signIn()), byPassword]
    provider.forge = null
    const [sid = '', other = ''] = sids
    const tell = (form: string) =>
      world.call('POST', '/api/auth/openid/backchannel-logout', {
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: form,
      })
    const open = () =>
      Promise.all(
        here.map(async (headers) => (await world.call('GET', '/api/auth/ways', { headers })).status === 200),
      )
    return { ...world, sid, other, tell, open }
  }
  const claims = (part: object = {}) => {
    const now = Math.floor(Date.now() / 1000)
    return {
      iss: provider.issuer,
      aud: 'chartroom',
      iat: now,
      exp: now + 120,
      jti: crypto.randomUUID(),
      sub: 'ada',
      events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
      ...part,
    }
  }
  const formOf = (token: string) => new URLSearchParams({ logout_token: token }).toString()
  const made = async (part: object, sign: Sign = signedBy) => formOf(await provider.make(sign, claims(part)))

  test('has the session ended that came of the one there, and no other', async () => {
    const { sid, other, tell, open } = await begun()
    expect(await open()).toEqual([true, true, true])
    const form = await provider.logOut('ada', sid)
    const answer = await tell(form)
    expect([answer.status, answer.json, answer.headers.get('cache-control')]).toEqual([
      200,
      { ok: true },
      'no-store',
    ])
    expect(await open()).toEqual([false, true, true])
    expect(codeOf(await tell(form))).toEqual([400, 'logout_refused'])
    // A token may name the session alone.
    expect((await tell(await made({ sub: undefined, sid: other }))).status).toBe(200)
    expect(await open()).toEqual([false, false, true])
  })

  test('without a session has all of theirs ended, but for one by password, on every server', async () => {
    const { tell, open, services } = await begun()
    const there = server({ on: { kv: services.kv, seed: 2 } })
    const body = await made({})
    const told = await there.call('POST', '/api/auth/openid/backchannel-logout', {
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body,
    })
    expect(told.status).toBe(200)
    expect(await open()).toEqual([false, false, true])
    expect(codeOf(await tell(body))).toEqual([400, 'logout_refused'])
  })

  test('has a session ended that began before this server knew what it is called there', async () => {
    const { tell, open, services } = await begun()
    for (const { key, value } of await services.kv.list({ prefix: ['sessions', 'id'] }, { limit: 10 })) {
      const { providerSession: _, ...old } = JSON.parse(value)
      await services.kv.commit({ sets: [{ key, value: JSON.stringify(old) }] })
    }
    expect((await tell(await made({ sid: 'another' }))).status).toBe(200)
    expect(await open()).toEqual([false, false, true])
  })

  test('and whom nobody here knows, or of a session of somebody else, changes nothing', async () => {
    const { sid, tell, open } = await begun()
    expect((await tell(await made({ sub: 'eve' }))).status).toBe(200)
    expect((await tell(await made({ sub: 'eve', sid }))).status).toBe(200)
    expect((await tell(await made({ sid: 'unknown' }))).status).toBe(200)
    expect(await open()).toEqual([true, true, true])
  })

  const now = Math.floor(Date.now() / 1000)
  const past = now - 3600
  test.each<[string, object, Sign]>([
    ['of another issuer', { iss: 'https://evil.example' }, signedBy],
    ['for another client', { aud: 'another' }, signedBy],
    ['that is over', { iat: past, exp: past + 120 }, signedBy],
    ['that is old, though not over', { iat: past, exp: now + 3600 }, signedBy],
    ['of the future', { iat: now + 3600, exp: now + 7200 }, signedBy],
    ['made for another client', { azp: 'another' }, signedBy],
    ['whose session is a number', { sid: 5 }, signedBy],
    ['whose session is empty', { sid: '' }, signedBy],
    ['whose session is a list', { sid: ['S1'] }, signedBy],
    ['whose user is a number', { sub: 5, sid: 'S1' }, signedBy],
    ['without an end', { exp: undefined }, signedBy],
    ['without its time', { iat: undefined }, signedBy],
    ['without its own name', { jti: undefined }, signedBy],
    ['of nobody', { sub: undefined }, signedBy],
    ['with a nonce', { nonce: 'x' }, signedBy],
    ['without the event', { events: undefined }, signedBy],
    ['with another event', { events: { 'http://schemas.openid.net/event/other': {} } }, signedBy],
    [
      'with an event that is none',
      { events: { 'http://schemas.openid.net/event/backchannel-logout': true } },
      signedBy,
    ],
    ['signed by another', {}, signedByAnother],
    ['not signed', {}, unsigned],
    ['signed with the public key', {}, signedWithPublicKey],
    ['that is an access token', {}, signedAs('at+jwt')],
  ])('by a token %s ends nothing', async (_, part, sign) => {
    const { tell, open, logged } = await begun()
    expect(codeOf(await tell(await made(part, sign)))).toEqual([400, 'logout_refused'])
    expect(logged.join('')).toContain('a logout token was refused')
    expect(await open()).toEqual([true, true, true])
  })

  test('by a form with two tokens ends nothing', async () => {
    const { tell, open } = await begun()
    expect(codeOf(await tell(`${await made({})}&${await made({})}`))).toEqual([400, 'logout_refused'])
    expect(await open()).toEqual([true, true, true])
  })

  test('by what is no token, or where there is no provider, ends nothing', async () => {
    const { tell } = await begun()
    for (const form of ['', 'logout_token=', 'logout_token=a.b.c', 'logout_token=bnVsbA.bnVsbA.x', 'x=y'])
      expect(codeOf(await tell(form))).toEqual([400, 'logout_refused'])
    expect((await tell('x'.repeat(20_000))).status).toBe(413)
    const bare = testServer(unlimited)
    const answer = await bare.call('POST', '/api/auth/openid/backchannel-logout', {
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: await made({}),
    })
    expect(answer.status).toBe(404)
  })

  test('is told to come again while the keys cannot be had, and the token counts then', async () => {
    const { tell, open } = await begun()
    const form = await made({})
    provider.answer = (path) => (path === '/jwks' ? { status: 503, body: '{}' } : undefined)
    expect(codeOf(await tell(form))).toEqual([503, 'identity_provider_unavailable'])
    provider.answer = null
    expect((await tell(form)).status).toBe(200)
    expect(await open()).toEqual([false, false, true])
  })

  test('does not make the provider be asked for its keys each time', async () => {
    const { tell, clock } = await begun()
    let asked = 0
    provider.answer = (path) => {
      if (path === '/jwks') asked++
      return undefined
    }
    for (let i = 0; i < 5; i++) await tell(await made({}, i === 0 ? signedBy : signedByAnother))
    expect(asked).toBe(1)
    const form = await made({}, signedByAnother)
    clock.advance(5_000)
    await Promise.all(Array.from({ length: 5 }, () => tell(form)))
    expect(asked).toBe(2)
  })

  test('is understood within five seconds of a change of keys, whatever others send', async () => {
    const { tell, open, clock } = await begun()
    expect(codeOf(await tell(await made({}, signedByAnother)))).toEqual([400, 'logout_refused'])
    await provider.rotate()
    clock.advance(5_000)
    expect((await tell(await made({}))).status).toBe(200)
    expect(await open()).toEqual([false, false, true])
  })
})
