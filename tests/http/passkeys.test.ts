// Signing in with passkeys, by an authenticator in software that can also lie.

import { describe, expect, test } from 'bun:test'
import { whyNoPasskeys } from '../../src/people/accounts/passkeys.ts'
import { users } from '../../src/people/accounts/accounts.ts'
import { TICKET_LIFE_MS } from '../../src/people/accounts/tickets.ts'
import { createSecretBox } from '../../src/notify/webhooks/secret-box.ts'
import { addressList } from '../../src/http/peer.ts'
import { SoftPasskey, type Faults } from './soft-passkey.ts'
import { testServer, unlimited } from './server.ts'

const box = await createSecretBox(new Uint8Array(32).fill(7), (count) =>
  crypto.getRandomValues(new Uint8Array(count)),
)
const PASSWORD = 'correct horse'

function server(publicUrl: string | null = null, on?: Parameters<typeof testServer>[1]) {
  const world = testServer((services) => {
    const { settings } = unlimited(services)
    const trustedProxies = addressList(['loopback'])
    return { box, settings: { ...settings, publicUrl, trustedProxies } }
  }, on)
  const { call } = world
  type Headers = Readonly<Record<string, string>>

  async function add(headers: Headers, passkey: SoftPasskey, faults: Faults = {}, name = 'Ada’s phone 📱') {
    const begun = await call('POST', '/api/auth/passkeys/start', { headers, body: { password: PASSWORD } })
    if (begun.status !== 200) return begun
    const credential = await passkey.register(begun.json.options, faults)
    return call('POST', '/api/auth/passkeys', {
      headers,
      body: { ticket: begun.json.ticket, name, credential },
    })
  }
  async function signing(passkey: SoftPasskey, faults: Faults = {}, by = passkey) {
    const begun = await call('POST', '/api/auth/passkey/start')
    return { ticket: begun.json.ticket, credential: await passkey.sign(begun.json.options, faults, by) }
  }
  const send = (body: unknown) => call('POST', '/api/auth/passkey/sign-in', { body })
  const signIn = async (...args: Parameters<typeof signing>) => send(await signing(...args))
  const ways = (headers: Headers) => call('GET', '/api/auth/ways', { headers })
  return { ...world, add, signing, send, signIn, ways }
}

/** A server, its owner, and their passkey. */
async function withPasskey() {
  const world = server()
  const owner = await world.signUp()
  const passkey = await SoftPasskey.make()
  const added = await world.add(owner, passkey)
  return { ...world, owner, passkey, id: added.json.id as string, added }
}

const cookieOf = ({ headers }: { readonly headers: Headers }) => ({
  cookie: /^[^;]+/.exec(headers.get('set-cookie') ?? '')?.[0] ?? '',
})
const codeOf = ({ status, json }: { status: number; json: { error?: { code: string } } }) => [
  status,
  json.error?.code,
]

test('a passkey is added, named, shown, signs in without a password, and is removed', async () => {
  const { call, added, owner, signIn, ways, passkey, id } = await withPasskey()
  expect(added.json.passkey).toEqual({
    id,
    name: 'Ada’s phone 📱',
    host: 'localhost',
    isSynced: false,
    createdAt: expect.any(Number),
    lastUsedAt: null,
  })
  const renamed = await call('PATCH', `/api/auth/passkeys/${id}`, { headers: owner, body: { name: '手机' } })
  expect(renamed.json.passkey.name).toBe('手机')
  const signedIn = await signIn(passkey)
  expect(signedIn.json.user.email).toBe('trader@example.com')
  const there = cookieOf(signedIn)
  const shown = (await ways(there)).json
  expect(shown).toMatchObject({ password: true, passkeysRefused: null, identities: [], provider: null })
  expect(shown.passkeys).toMatchObject([{ id, name: '手机', lastUsedAt: expect.any(Number) }])
  expect((await call('DELETE', `/api/auth/passkeys/${id}`, { headers: there })).status).toBe(200)
  expect(codeOf(await signIn(passkey))).toEqual([401, 'sign_in_refused'])
  expect(codeOf(await call('DELETE', `/api/auth/passkeys/${id}`, { headers: there }))).toEqual([
    404,
    'passkey_not_found',
  ])
})

describe('what an authenticator answers is refused', () => {
  const FAULTS: Readonly<Record<string, Faults>> = {
    'for another challenge': { challenge: 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA' },
    'on a page of another site': { origin: 'http://localhost.evil.example' },
    'on the same host without encryption elsewhere': { origin: 'http://localhost:9999' },
    'for another host': { host: 'evil.example' },
    'without having made sure of the person': { unverified: true },
  }
  for (const [name, faults] of Object.entries(FAULTS)) {
    test(`${name}, when it signs`, async () => {
      const { signIn, passkey } = await withPasskey()
      const answer = await signIn(passkey, faults)
      expect(codeOf(answer)).toEqual([401, 'sign_in_refused'])
      expect(answer.headers.get('set-cookie')).toBeNull()
    })
    test(`${name}, when it is added`, async () => {
      const { add, owner, ways } = await withPasskey()
      expect(codeOf(await add(owner, await SoftPasskey.make(), faults))).toEqual([401, 'sign_in_refused'])
      expect((await ways(owner)).json.passkeys).toHaveLength(1)
    })
  }

  test('if it is for the other step', async () => {
    const { signIn, passkey } = await withPasskey()
    expect((await signIn(passkey, { type: 'webauthn.create' })).status).toBe(401)
  })

  test('if another key has signed', async () => {
    const { signIn, passkey } = await withPasskey()
    expect((await signIn(passkey, {}, await SoftPasskey.make())).status).toBe(401)
  })

  test('the second time, whichever server is asked', async () => {
    const { signing, send, services, passkey } = await withPasskey()
    const there = server(null, { kv: services.kv, seed: 2 })
    const body = await signing(passkey)
    const all = await Promise.all([send(body), there.send(body), send(body)])
    expect(all.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 410, 410])
    expect(codeOf(await send(body))).toEqual([410, 'sign_in_expired'])
  })

  test('ten minutes later, or with a ticket for adding one', async () => {
    const { call, signing, send, clock, owner, passkey } = await withPasskey()
    const body = await signing(passkey)
    const begun = await call('POST', '/api/auth/passkeys/start', {
      headers: owner,
      body: { password: PASSWORD },
    })
    expect(codeOf(await send({ ...body, ticket: begun.json.ticket }))).toEqual([410, 'sign_in_expired'])
    clock.advance(TICKET_LIFE_MS)
    expect(codeOf(await send(body))).toEqual([410, 'sign_in_expired'])
  })

  test('if its counter does not grow: somebody has a copy', async () => {
    const { signIn, passkey } = await withPasskey()
    for (const [counter, status] of [
      [1, 200],
      [5, 200],
      [5, 401],
      [3, 401],
      [0, 401],
      [6, 200],
    ] as const)
      expect([counter, (await signIn(passkey, { counter })).status]).toEqual([counter, status])
  })

  test.each([{}, { id: 5 }, { id: 'x', response: null }, { id: null, rawId: [], type: {} }])(
    'if it is %p',
    async (credential) => {
      const { call, signing, send, owner, passkey } = await withPasskey()
      const { ticket } = await signing(passkey)
      expect(codeOf(await send({ ticket, credential }))).toEqual([401, 'sign_in_refused'])
      const known = { ...credential, id: Buffer.from(passkey.id).toString('base64url') }
      expect(codeOf(await send({ ticket, credential: known }))).toEqual([401, 'sign_in_refused'])
      const begun = await call('POST', '/api/auth/passkeys/start', {
        headers: owner,
        body: { password: PASSWORD },
      })
      const body = { ticket: begun.json.ticket, name: 'x', credential }
      expect(codeOf(await call('POST', '/api/auth/passkeys', { headers: owner, body }))).toEqual([
        401,
        'sign_in_refused',
      ])
    },
  )

  test('more and more slowly, as wrong passwords are', async () => {
    const { signIn, passkey, clock } = await withPasskey()
    const wrong = async () => (await signIn(passkey, { counter: 1, unverified: true })).status
    for (let i = 0; i < 5; i++) expect(await wrong()).toBe(401)
    expect(await wrong()).toBe(429)
    expect((await signIn(passkey)).status).toBe(429)
    clock.advance(15 * 60_000)
    expect((await signIn(passkey)).status).toBe(200)
  })
})

test('who made an authenticator is not asked for, and not looked at if it says so', async () => {
  const { add, owner, signIn } = await withPasskey()
  const attested = await SoftPasskey.make()
  expect((await add(owner, attested, { attested: true })).status).toBe(200)
  expect((await signIn(attested)).status).toBe(200)
})

test('a passkey is of one account', async () => {
  const { call, add, owner, passkey, id } = await withPasskey()
  const { code } = (await call('POST', '/api/auth/invitations', { headers: owner })).json
  const body = { email: 'bob@example.com', password: PASSWORD, invitation: code }
  const bob = cookieOf(await call('POST', '/api/auth/sign-up', { body }))
  expect(codeOf(await add(bob, passkey))).toEqual([409, 'already_exists'])
  expect((await call('DELETE', `/api/auth/passkeys/${id}`, { headers: bob })).status).toBe(404)
  const patch = { headers: bob, body: { name: 'mine' } }
  expect((await call('PATCH', `/api/auth/passkeys/${id}`, patch)).status).toBe(404)
  const begun = await call('POST', '/api/auth/passkeys/start', {
    headers: owner,
    body: { password: PASSWORD },
  })
  const other = await (await SoftPasskey.make()).register(begun.json.options)
  const stolen = { ticket: begun.json.ticket, name: 'x', credential: other }
  expect(codeOf(await call('POST', '/api/auth/passkeys', { headers: bob, body: stolen }))).toEqual([
    410,
    'sign_in_expired',
  ])
})

test('adding one takes the password, and there are at most twenty', async () => {
  const { call, add, owner } = await withPasskey()
  const start = (body: object) => call('POST', '/api/auth/passkeys/start', { headers: owner, body })
  expect(codeOf(await start({}))).toEqual([422, 'validation_failed'])
  expect(codeOf(await start({ password: 'wrong one' }))).toEqual([401, 'invalid_credentials'])
  for (let i = 1; i < 20; i++) expect((await add(owner, await SoftPasskey.make())).status).toBe(200)
  expect(codeOf(await add(owner, await SoftPasskey.make()))).toEqual([422, 'quota_exceeded'])
})

test('of an account without a password the last passkey stays, even if two go at once', async () => {
  const { call, add, owner, id, services } = await withPasskey()
  const second = (await add(owner, await SoftPasskey.make())).json.id as string
  const [user] = await Array.fromAsync(users(services.kv).each())
  await users(services.kv).update(user!.id, (before) => ({ ...before, passwordHash: null }))
  const remove = (one: string) => call('DELETE', `/api/auth/passkeys/${one}`, { headers: owner })
  const gone = await Promise.all([remove(id), remove(second)])
  expect(gone.map((answer) => codeOf(answer)).toSorted(([a], [b]) => Number(a) - Number(b))).toEqual([
    [200, undefined],
    [409, 'last_sign_in_way'],
  ])
})

test('passkeys need https or localhost, and a name; elsewhere it is said why not', async () => {
  expect(whyNoPasskeys('https://charts.example.com')).toBeNull()
  expect(whyNoPasskeys('http://localhost:3000')).toBeNull()
  expect(whyNoPasskeys('http://charts.localhost')).toBeNull()
  expect(whyNoPasskeys('http://nas.home:3000')).toContain('only on pages that came over https')
  expect(whyNoPasskeys('http://127.0.0.1:3000')).toContain('Open it as localhost')
  expect(whyNoPasskeys('https://192.168.1.5')).toContain('by an IP address')
  expect(whyNoPasskeys('https://[2001:db8::1]')).toContain('by an IP address')
  const { call, signUp, ways } = server()
  const owner = await signUp()
  const host = { host: '192.168.1.5:3000' }
  expect((await ways({ ...owner, ...host })).json.passkeysRefused).toContain('by an IP address')
  const headers = { ...owner, ...host }
  const begun = await call('POST', '/api/auth/passkeys/start', { headers, body: { password: PASSWORD } })
  expect(codeOf(begun)).toEqual([409, 'passkeys_unavailable'])
  expect(codeOf(await call('POST', '/api/auth/passkey/start', { headers: host }))).toEqual([
    409,
    'passkeys_unavailable',
  ])
})

test('behind a proxy a passkey belongs to the public name', async () => {
  const { call, signUp, signing, send } = server('https://charts.example.com/room')
  const behind = {
    host: 'charts.example.com',
    'x-forwarded-proto': 'https',
    origin: 'https://charts.example.com',
  }
  const made = await call('POST', '/api/auth/sign-up', {
    headers: behind,
    body: { email: 'a@example.com', password: PASSWORD, invitation: 'setup-code' },
  })
  const headers = { ...behind, ...cookieOf(made) }
  const begun = await call('POST', '/api/auth/passkeys/start', { headers, body: { password: PASSWORD } })
  expect(begun.json.options.rp).toEqual({ name: 'Chartroom', id: 'charts.example.com' })
  const passkey = await SoftPasskey.make()
  const origin = behind.origin
  const credential = await passkey.register(begun.json.options, { origin })
  const body = { ticket: begun.json.ticket, name: 'key', credential }
  expect((await call('POST', '/api/auth/passkeys', { headers, body })).json.passkey.host).toBe(
    'charts.example.com',
  )
  expect(signUp).toBeFunction()
  // A proxy that says nothing of itself: the setting alone knows the address.
  expect((await send(await signing(passkey, { origin }))).status).toBe(200)
})
