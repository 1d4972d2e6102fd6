// What is kept of a credential lets nobody in that the store would not.

import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { Credentials } from '../../src/people/accounts/credentials.ts'
import { resumeSession } from '../../src/people/accounts/sessions.ts'
import { revokeToken, resumeToken } from '../../src/people/accounts/tokens.ts'
import { users } from '../../src/people/accounts/accounts.ts'
import type { Key, Kv } from '../../src/store/kv.ts'
import { lmdbKv } from '../../src/store/lmdb.ts'
import { testKv } from '../store/test-store.ts'
import { testServer } from './server.ts'

const ME = '/api/auth/session'
const TOKENS = '/api/platform/tokens'
const LISTED = '/api/platform/watchlists'
const SCOPES = ['watchlists:read']

/** Counts what is read. */
function counted(kv: Kv) {
  const read: Key[] = []
  const counting: Kv = {
    get: (key) => (read.push(key), kv.get(key)),
    getMany: (keys) => (read.push(...keys), kv.getMany(keys)),
    versions: (keys) => (read.push(...keys), kv.versions(keys)),
    list: (selector, options) => kv.list(selector, options),
    commit: (commit) => kv.commit(commit),
    close: () => kv.close(),
  }
  return { kv: counting, read }
}

const folder = mkdtempSync(`${tmpdir()}/chartroom-credentials-`)
afterAll(() => rmSync(folder, { recursive: true }))

async function world(kv = testKv()) {
  const here = testServer(undefined, { kv })
  const cookie = await here.signUp()
  const bearer = await here.token(cookie, SCOPES)
  // Another process on the same data.
  const other = testServer(undefined, { kv, seed: 2 })
  const me = async () => (await here.call('GET', ME, { headers: cookie })).json
  return { kv, here, other, cookie, bearer, me }
}

test.each([
  ['a map', () => testKv()],
  ['lmdb', () => lmdbKv({ path: folder })],
])('of 10,000 that race with its end no token is accepted behind the answer, on %s', async (_name, open) => {
  const { here, cookie, bearer, kv } = await world(open())
  const { services } = here
  const credentials = new Credentials(services)
  const secret = bearer.authorization.slice('Bearer '.length)
  const { token, user } = await resumeToken(services, credentials, secret)
  let isOver = false
  let accepted = 0
  let late = 0
  const ask = async () => {
    const began = isOver
    const found = await resumeToken(services, credentials, secret).catch(() => null)
    if (found) accepted++
    if (found && began) late++
  }
  const racing: Promise<void>[] = []
  for (let i = 0; i < 10_000; i++) {
    racing.push(ask())
    if (i === 3_000) racing.push(revokeToken(services, user, token.id).then(() => void (isOver = true)))
    if (i % 50 === 0) await Promise.resolve()
  }
  await Promise.all(racing)
  await ask()
  expect({ isOver, late }).toEqual({ isOver: true, late: 0 })
  expect(accepted).toBeGreaterThan(0)
  expect((await here.call('GET', TOKENS, { headers: cookie })).json.tokens[0].status).toBe('revoked')
  await kv.close()
})

test('what another process ends lets nobody in', async () => {
  const { here, other, cookie, bearer } = await world()
  const listed = async () => (await here.call('GET', LISTED, { headers: bearer })).status
  expect([await listed(), await listed()]).toEqual([200, 200])
  const [{ id }] = (await other.call('GET', TOKENS, { headers: cookie })).json.tokens
  const gone = await other.call('DELETE', `${TOKENS}?id=${id}`, { headers: cookie })
  expect(gone.json).toMatchObject({ ok: true })
  expect(await listed()).toBe(401)
  const own = async () => (await here.call('GET', TOKENS, { headers: cookie })).status
  expect([await own(), await own()]).toEqual([200, 200])
  await other.call('POST', '/api/auth/sign-out', { headers: cookie, body: {} })
  expect(await own()).toBe(401)
})

test('a credential that was seen costs no look at all while nothing is written', async () => {
  const { here, cookie } = await world()
  const { kv, read } = counted(here.services.kv)
  let moment = 1
  const credentials = new Credentials({ kv: { ...kv, moment: () => moment } })
  const secret = cookie.cookie.slice('session='.length)
  const ask = async () => (await resumeSession(here.services, credentials, secret)) !== null
  expect([await ask(), await ask(), await ask(), read.length]).toEqual([true, true, true, 3])
  moment++
  expect([await ask(), await ask(), read.length]).toEqual([true, true, 5])
  await here.call('POST', '/api/auth/sign-out', { headers: cookie, body: {} })
  moment++
  expect(await ask()).toBe(false)
})

test('what another process makes of the user is true of the next request', async () => {
  const { kv, me } = await world()
  expect((await me()).user.name).toBe('trader')
  const { id } = (await me()).user
  await users(kv).update(id, (user) => ({ ...user, name: 'Somebody else' }))
  expect((await me()).user.name).toBe('Somebody else')
  await users(kv).delete(id)
  expect((await me()).user ?? null).toBeNull()
})

test('time ends what is kept, too', async () => {
  const { here, cookie } = await world()
  const own = async () => (await here.call('GET', TOKENS, { headers: cookie })).json.error?.code
  expect(await own()).toBeUndefined()
  here.clock.advance(8 * 86_400_000)
  expect(await own()).toBe('session_expired')
})

test('a credential that was seen costs one look at two records', async () => {
  const { here, cookie } = await world()
  const { kv, read } = counted(here.services.kv)
  const credentials = new Credentials({ kv })
  const secret = cookie.cookie.slice('session='.length)
  const first = await resumeSession(here.services, credentials, secret)
  expect(read).toHaveLength(3)
  read.length = 0
  expect(await resumeSession(here.services, credentials, secret)).toEqual(first)
  expect(read.map(([collection]) => collection)).toEqual(['sessions', 'users'])
  expect(await resumeSession(here.services, credentials, `${secret}x`)).toBeNull()
})
