// Accounts without HTTP: the shape of a secret, how often its use is noted, who goes when, and passwords in turn.

import { afterEach, describe, expect, mock, spyOn, test } from 'bun:test'
import { tokens, users, type AccountDeps, type User } from '../../../src/people/accounts/accounts.ts'
import { Credentials } from '../../../src/people/accounts/credentials.ts'
import { argon2Passwords } from '../../../src/people/accounts/passwords.ts'
import {
  endOtherSessions,
  endSession,
  endSessionById,
  listSessions,
  resumeSession,
  sessionStands,
  startSession,
  sweepSessions,
  touchSession,
} from '../../../src/people/accounts/sessions.ts'
import { waitAfter } from '../../../src/people/accounts/throttle.ts'
import {
  createToken,
  listTokens,
  resumeToken,
  revokeToken,
  sweepTokens,
  tokenStands,
  touchToken,
} from '../../../src/people/accounts/tokens.ts'
import {
  addUser,
  authenticate,
  changeUser,
  changePassword,
  giveRole,
  invite,
  listUsers,
  mayChangeShared,
  setPassword,
  setRole,
  signUp,
} from '../../../src/people/accounts/users.ts'
import { Problem } from '../../../src/lib/problem.ts'
import { idSource } from '../../../src/lib/ids.ts'
import type { Kv } from '../../../src/store/kv.ts'
import { storageFull } from '../../../src/store/memory.ts'
import { rejection } from '../../rejection.ts'
import { testKv } from '../../store/test-store.ts'

const DAY = 86_400_000

async function world() {
  let now = Date.UTC(2026, 0, 1)
  let commits = 0
  let isFull = false
  const kv = testKv()
  const counted: Kv = {
    ...kv,
    commit(commit) {
      commits++
      return isFull && !commit.essential ? Promise.reject(storageFull()) : kv.commit(commit)
    },
  }
  const clock = { now: () => now, sleep: () => Promise.resolve() }
  const random = { bytes: (length: number) => crypto.getRandomValues(new Uint8Array(length)) }
  const deps: AccountDeps = {
    kv: counted,
    clock,
    random,
    newId: idSource({ clock, random }),
    passwords: {
      hash: async (text) => `hash of ${text}`,
      verify: async (text, hash) => hash === `hash of ${text}`,
    },
  }
  const user: User = await addUser(deps, { email: 'ann@example.com', password: 'correct horse' })
  return { deps, user, pass: (ms: number) => (now += ms), writes: () => commits, fill: () => (isFull = true) }
}

/** CRC-32 bit by bit, as RFC 1952 has it, and its six digits to base 62. */
function slowChecksum(text: string): string {
  let crc = 0xffffffff
  for (const byte of new TextEncoder().encode(text)) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1
  }
  let rest = BigInt((crc ^ 0xffffffff) >>> 0)
  const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
  let text62 = ''
  for (let i = 0; i < 6; i++) {
    text62 = digits[Number(rest % 62n)] + text62
    rest /= 62n
  }
  return text62
}

describe('a token', () => {
  test('ends in the checksum of what is before it, so that a scanner knows one when it sees it', async () => {
    const { deps, user } = await world()
    const { secret } = await createToken(deps, user, {})
    expect(secret).toMatch(/^crm_pat_[0-9A-Za-z]{36}$/)
    expect(secret.slice(-6)).toBe(slowChecksum(secret.slice(0, -6)))
  })
  test('of the right length and the wrong checksum is not looked for in the store', async () => {
    const { deps, user } = await world()
    const { secret } = await createToken(deps, user, {})
    const last = secret.endsWith('0') ? '1' : '0'
    let reads = 0
    const reading: Kv = {
      ...deps.kv,
      get(key) {
        reads++
        return deps.kv.get(key)
      },
    }
    const wrong = resumeToken(
      { ...deps, kv: reading },
      new Credentials({ kv: reading }),
      secret.slice(0, -1) + last,
    )
    expect(wrong).rejects.toMatchObject({ status: 401, code: 'invalid_token' })
    await wrong.catch(() => undefined)
    expect(reads).toBe(0)
    expect((await resumeToken(deps, new Credentials(deps), secret)).user.id).toBe(user.id)
  })
  test('is noted as used at most once a minute', async () => {
    const { deps, user, pass, writes } = await world()
    const { secret } = await createToken(deps, user, {})
    const used = async () => {
      const before = writes()
      await touchToken(deps, (await resumeToken(deps, new Credentials(deps), secret)).token)
      return writes() - before
    }
    expect(await used()).toBe(1)
    expect(await used()).toBe(0)
    pass(59_999)
    expect(await used()).toBe(0)
    pass(1)
    expect(await used()).toBe(1)
  })
  test('that is over is listed for 90 days, and then gone from the store too', async () => {
    const { deps, user, pass } = await world()
    const { token } = await createToken(deps, user, { expiresAt: deps.clock.now() + DAY })
    await createToken(deps, user, { name: 'for good' })
    const listed = async () => (await listTokens(deps, user, { limit: 10 })).items.map(({ name }) => name)
    pass(91 * DAY)
    await sweepTokens(deps)
    expect((await listed()).toSorted()).toEqual(['API token', 'for good'])
    pass(1)
    expect(await listed()).toEqual(['for good'])
    expect(await tokens(deps.kv).get(token.id)).not.toBeNull()
    await sweepTokens(deps)
    expect(await tokens(deps.kv).get(token.id)).toBeNull()
  })
})

describe('a session', () => {
  test('that is over says so until it is swept, and one that lasts stays', async () => {
    const { deps, user, pass } = await world()
    const old = await startSession(deps, user, 'a browser')
    pass(8 * DAY)
    const { secret, session } = await startSession(deps, user, 'a browser')
    expect(await resumeSession(deps, new Credentials(deps), old.secret)).toBe('expired')
    await sweepSessions(deps)
    expect(await resumeSession(deps, new Credentials(deps), old.secret)).toBeNull()
    expect(await resumeSession(deps, new Credentials(deps), secret)).toMatchObject({ user: { id: user.id } })
    await endSession(deps, session)
    expect(await resumeSession(deps, new Credentials(deps), secret)).toBeNull()
  })
  test('is noted as used at most once a minute', async () => {
    const { deps, user, pass, writes } = await world()
    const { secret } = await startSession(deps, user, 'a browser')
    const used = async () => {
      const before = writes()
      const found = await resumeSession(deps, new Credentials(deps), secret)
      if (found && found !== 'expired') await touchSession(deps, found.session)
      return writes() - before
    }
    pass(59_999)
    expect(await used()).toBe(0)
    pass(1)
    expect(await used()).toBe(1)
    expect(await used()).toBe(0)
  })
})

test('one’s own sessions are listed, newest first, and ended; nobody else’s', async () => {
  const { deps, user, pass } = await world()
  const ben = await addUser(deps, { email: 'ben@example.com', password: 'correct horse' })
  const made = []
  for (const agent of ['one', 'two', 'three']) {
    made.push((await startSession(deps, user, agent)).session)
    pass(1000)
  }
  const { session: bens } = await startSession(deps, ben, 'four')
  const agents = async (of: User) => (await listSessions(deps, of)).map(({ userAgent }) => userAgent)
  expect(await agents(user)).toEqual(['three', 'two', 'one'])
  const notTheirs = { status: 404, code: 'session_not_found' }
  expect(await rejection(endSessionById(deps, ben, made[0]!.id))).toMatchObject(notTheirs)
  expect(await rejection(endSessionById(deps, user, 'ses_none'))).toMatchObject(notTheirs)
  expect(await agents(user)).toHaveLength(3)
  await endSessionById(deps, user, made[0]!.id)
  expect(await agents(user)).toEqual(['three', 'two'])
  expect(await endOtherSessions(deps, user, made[2]!)).toBe(1)
  expect(await agents(user)).toEqual(['three'])
  expect(await agents(ben)).toEqual([bens.userAgent])
})

describe('a user', () => {
  test('who is not there has no name to change, no role and no password', async () => {
    const { deps, user } = await world()
    expect(changeUser(deps, 'usr_none', { name: 'x' })).rejects.toMatchObject({
      status: 404,
      code: 'user_not_found',
    })
    expect(setRole(deps, 'usr_none', 'admin')).rejects.toMatchObject({ status: 404, code: 'user_not_found' })
    expect(setPassword(deps, 'usr_none', 'correct horse')).rejects.toMatchObject({ status: 404 })
    expect(await changeUser(deps, user.id, { name: 'Анна' })).toMatchObject({ name: 'Анна' })
    expect(await users(deps.kv).get(user.id)).toMatchObject({
      name: 'Анна',
      passwordHash: 'hash of correct horse',
    })
  })
  test('who is the owner gives roles, sees everybody and invites; nobody else does, and the owner stays', async () => {
    const { deps, user } = await world()
    const ben = await addUser(deps, { email: 'ben@example.com', password: 'correct horse' })
    expect([user.role, ben.role, user.name]).toEqual(['owner', 'member', 'ann'])
    const required = { status: 403, code: 'owner_required' }
    expect(giveRole(deps, ben, ben.id, 'admin')).rejects.toMatchObject(required)
    expect(invite(deps, ben)).rejects.toMatchObject(required)
    expect(() => listUsers(deps, ben, { limit: 10 })).toThrow(Problem)
    expect(giveRole(deps, user, user.id, 'member')).rejects.toMatchObject({ status: 409, code: 'conflict' })
    expect(mayChangeShared(ben)).toBe(false)
    expect(mayChangeShared(await giveRole(deps, user, ben.id, 'admin'))).toBe(true)
    expect(mayChangeShared(user)).toBe(true)
    const listed = await listUsers(deps, user, { limit: 10 })
    expect(listed.items.map(({ email, role }) => `${email} ${role}`)).toEqual([
      'ann@example.com owner',
      'ben@example.com admin',
    ])
  })
  test('who was invited comes within a week, once', async () => {
    const { deps, user, pass } = await world()
    const policy = { open: false, local: true, setupCode: null }
    const come = (email: string, invitation: string) =>
      signUp(deps, { email, password: 'correct horse', invitation }, policy)
    const closed = { status: 403, code: 'signup_closed' }
    const { code, expiresAt } = await invite(deps, user)
    expect(expiresAt - deps.clock.now()).toBe(7 * DAY)
    pass(7 * DAY - 1)
    expect(await come('ben@example.com', code)).toMatchObject({ role: 'member' })
    expect(come('eva@example.com', code)).rejects.toMatchObject(closed)
    const late = await invite(deps, user)
    pass(7 * DAY)
    expect(come('eva@example.com', late.code)).rejects.toMatchObject(closed)
    expect(come('eva@example.com', 'guessed')).rejects.toMatchObject(closed)
  })
  test.each([
    ['1234567', 'at least 8 characters'],
    ['1234567🐎', null],
    ['🐎🐈'.repeat(500), null],
    [`${'🐎🐈'.repeat(500)}!`, 'at most 1000 characters'],
    ['password123', 'one of the 10,000 most used'],
    ['ＰＡＳＳＷＯＲＤ１２３', 'one of the 10,000 most used'],
    ['Paſſword123', 'one of the 10,000 most used'],
    ['ａaＡAａaＡA', 'one of the 10,000 most used'],
  ])('whose password is %p', async (password, refused) => {
    const { deps, user } = await world()
    const answer = await setPassword(deps, user.id, password).then(
      () => null,
      (error: unknown) => JSON.stringify(error),
    )
    expect(answer).toEqual(refused === null ? null : expect.stringContaining(refused))
  })
  test('changes the password by the old one, and is told when that is wrong or was tried too often', async () => {
    const { deps, user, pass } = await world()
    const change = (current: string) => changePassword(deps, user, { current, next: 'better horse' })
    const refusals = async (times: number) => {
      const codes: unknown[] = []
      for (let i = 0; i < times; i++) {
        const error = await change('wrong').catch((thrown: unknown) => thrown)
        codes.push(error instanceof Problem && [error.status, error.message])
      }
      return codes
    }
    const wrong = [401, 'The current password is wrong.']
    expect(await refusals(6)).toEqual([
      ...Array.from({ length: 5 }, () => wrong),
      [429, 'Too many failed attempts to sign in. Try again in 1 s.'],
    ])
    // A day without failures forgets them: five are free again.
    pass(DAY + 1)
    expect((await refusals(6)).slice(4)).toEqual([
      wrong,
      [429, 'Too many failed attempts to sign in. Try again in 1 s.'],
    ])
    pass(1000)
    await change('correct horse')
    expect(await authenticate(deps, ' ANN@example.com ', 'better horse')).toMatchObject({ id: user.id })
    expect(authenticate(deps, user.email, 'correct horse')).rejects.toMatchObject({ status: 401 })
  })
  test('waits no longer for having failed by a clock that was set back since', async () => {
    const { deps, user, pass } = await world()
    const wrong = () => authenticate(deps, user.email, 'wrong').catch((error: Problem) => error.status)
    for (let i = 0; i < 5; i++) await wrong()
    expect(await wrong()).toBe(429)
    pass(-DAY / 2)
    expect([await wrong(), await wrong()]).toEqual([401, 429])
    pass(5000)
    expect(await authenticate(deps, user.email, 'correct horse')).toMatchObject({ id: user.id })
  })
  test.each([1, 30])(
    'waits at two servers whose clocks are %p hours apart, whichever is asked',
    async (hours) => {
      const { deps, user, pass } = await world()
      const ahead = { ...deps, clock: { ...deps.clock, now: () => deps.clock.now() + hours * (DAY / 24) } }
      const guess = (at: AccountDeps) =>
        authenticate(at, user.email, 'wrong').catch((error: Problem) => error.status)
      const answers: unknown[] = []
      for (let i = 0; i < 30; i++) answers.push(await guess(ahead), await guess(deps))
      // Those that are free, and one more at most for each of the clocks.
      expect(answers.filter((status) => status === 401).length).toBeLessThanOrEqual(8)
      expect(answers.slice(-40)).toEqual(Array.from({ length: 40 }, () => 429))
      pass(15 * 60_000)
      expect(await authenticate(deps, user.email, 'correct horse')).toMatchObject({ id: user.id })
    },
  )
  test.each(['ann@example.com', 'ANN@Example.com', ' ann@example.com'])(
    'cannot have the address of another: %p',
    async (email) => {
      const { deps } = await world()
      expect(addUser(deps, { email, password: 'correct horse' })).rejects.toMatchObject({
        status: 409,
        code: 'already_exists',
      })
    },
  )
  test.each([
    'ann',
    '@example.com',
    'a b@example.com',
    `${'x'.repeat(65)}@example.com`,
    `a@${'x'.repeat(260)}`,
  ])('has an address, which %p is not', async (email) => {
    const { deps } = await world()
    expect(addUser(deps, { email, password: 'correct horse' })).rejects.toMatchObject({ status: 422 })
  })
})

describe('passwords', () => {
  // Other files of this process hash, too.
  afterEach(() => mock.restore())

  test('are hashed two at a time, in the order they came, whatever becomes of each', async () => {
    const hash = spyOn(Bun.password, 'hash')
    const begun: string[] = []
    const ends = new Map<string, PromiseWithResolvers<string>>()
    hash.mockImplementation((password) => {
      const end = Promise.withResolvers<string>()
      if (typeof password !== 'string') throw new Error('a password is a text')
      begun.push(password)
      ends.set(password, end)
      return end.promise
    })
    const passwords = argon2Passwords()
    const all = ['a', 'b', 'c', 'd', 'e'].map((text) => passwords.hash(text).catch(() => 'failed'))
    const turn = () => new Promise((resolve) => setImmediate(resolve))
    await turn()
    expect(begun).toEqual(['a', 'b'])
    ends.get('b')?.reject(new Error('no memory'))
    await turn()
    expect(begun).toEqual(['a', 'b', 'c'])
    ends.get('a')?.resolve('A')
    ends.get('c')?.resolve('C')
    await turn()
    expect(begun).toEqual(['a', 'b', 'c', 'd', 'e'])
    ends.get('d')?.resolve('D')
    ends.get('e')?.resolve('E')
    expect(await Promise.all(all)).toEqual(['A', 'failed', 'C', 'D', 'E'])
    // All places are free again.
    const more = ['f', 'g', 'h'].map((text) => passwords.hash(text))
    await turn()
    expect(begun.slice(5)).toEqual(['f', 'g'])
    for (const text of ['f', 'g']) ends.get(text)?.resolve('')
    await turn()
    ends.get('h')?.resolve('')
    await Promise.all(more)
  })
})

describe('at the very moment', () => {
  test('a token expires, is refused, and cannot be made to expire', async () => {
    const { deps, user, pass } = await world()
    const at = deps.clock.now() + 10
    const { secret, token } = await createToken(deps, user, { name: 'bot', expiresAt: at })
    const credentials = new Credentials(deps)
    const now = deps.clock.now()
    expect(await rejection(createToken(deps, user, { expiresAt: now }))).toMatchObject({ status: 422 })
    expect((await createToken(deps, user, { expiresAt: now + 1 })).token.expiresAt).toBe(now + 1)
    pass(9)
    expect([(await resumeToken(deps, credentials, secret)).token.id, await tokenStands(deps, token)]).toEqual(
      [token.id, true],
    )
    pass(1)
    expect(await rejection(resumeToken(deps, credentials, secret))).toMatchObject({
      status: 401,
      code: 'token_expired',
    })
    expect(await tokenStands(deps, token)).toBe(false)
  })
  test('a token is revoked it is over, by its owner alone, and stays revoked since then', async () => {
    const { deps, user, pass } = await world()
    const ben = await addUser(deps, { email: 'ben@example.com', password: 'correct horse' })
    const { secret, token } = await createToken(deps, user, { scopes: ['bars:read', 'bars:read'] })
    expect(token.scopes).toEqual(['bars:read'])
    const credentials = new Credentials(deps)
    await resumeToken(deps, credentials, secret)
    expect(await rejection(revokeToken(deps, ben, token.id))).toMatchObject({
      status: 404,
      code: 'token_not_found',
    })
    expect(await rejection(revokeToken(deps, user, 'tok_none'))).toMatchObject({ status: 404 })
    expect(await tokenStands(deps, token)).toBe(true)
    const { revokedAt } = await revokeToken(deps, user, token.id)
    expect(revokedAt).toBe(deps.clock.now())
    pass(5)
    expect((await revokeToken(deps, user, token.id)).revokedAt).toBe(revokedAt)
    expect(await rejection(resumeToken(deps, credentials, secret))).toMatchObject({
      status: 401,
      code: 'token_revoked',
    })
    expect(await tokenStands(deps, token)).toBe(false)
  })
  test('a session was idle for seven days, or lasted for thirty, it is over', async () => {
    const { deps, user, pass } = await world()
    const credentials = new Credentials(deps)
    const { secret, session } = await startSession(deps, user, 'one')
    pass(7 * DAY - 1)
    expect([await sessionStands(deps, session), await resumeSession(deps, credentials, secret)]).toEqual([
      true,
      { user, session },
    ])
    pass(1)
    expect([await sessionStands(deps, session), await resumeSession(deps, credentials, secret)]).toEqual([
      false,
      'expired',
    ])
    const lasting = await startSession(deps, user, 'two')
    for (let day = 0; day < 29; day++) {
      pass(DAY)
      await touchSession(deps, lasting.session)
    }
    pass(DAY - 1)
    expect(await sessionStands(deps, lasting.session)).toBe(true)
    pass(1)
    expect([
      await sessionStands(deps, lasting.session),
      await resumeSession(deps, credentials, lasting.secret),
    ]).toEqual([false, 'expired'])
    expect(await resumeSession(deps, credentials, 'guessed')).toBeNull()
  })
  test('a password is set, all sessions of its user are over and nobody else’s, nor can one begin by the old one', async () => {
    const { deps, user } = await world()
    const ben = await addUser(deps, { email: 'ben@example.com', password: 'correct horse' })
    const credentials = new Credentials(deps)
    const [one, two, bens] = [
      await startSession(deps, user, '1'),
      await startSession(deps, user, '2'),
      await startSession(deps, ben, '3'),
    ]
    for (const { secret } of [one, two, bens]) await resumeSession(deps, credentials, secret)
    const changed = await setPassword(deps, user.id, 'better horse')
    expect(changed.passwordHash).toBe('hash of better horse')
    expect([
      await resumeSession(deps, credentials, one.secret),
      await resumeSession(deps, credentials, two.secret),
    ]).toEqual([null, null])
    expect((await listSessions(deps, user)).length).toBe(0)
    expect(await resumeSession(deps, credentials, bens.secret)).toMatchObject({ user: { id: ben.id } })
    // Who was let in by the old password a moment before is not any more.
    expect(await rejection(startSession(deps, user, 'late'))).toMatchObject({
      status: 401,
      code: 'invalid_credentials',
    })
    expect((await startSession(deps, changed, 'new')).session.userId).toBe(user.id)
  })
  test('a role is taken away, the credentials that were looked up before show it', async () => {
    const { deps, user } = await world()
    const ben = await addUser(deps, { email: 'ben@example.com', password: 'correct horse' })
    const credentials = new Credentials(deps)
    const { secret } = await startSession(deps, ben, 'one')
    const role = async () => {
      const found = await resumeSession(deps, credentials, secret)
      return typeof found === 'object' ? found?.user.role : found
    }
    expect(await role()).toBe('member')
    await giveRole(deps, user, ben.id, 'admin')
    expect(await role()).toBe('admin')
    await giveRole(deps, user, ben.id, 'member')
    expect(await role()).toBe('member')
  })
})

test('five tries are free, then each failure doubles the wait, from a second to fifteen minutes', () => {
  const waits = Array.from({ length: 20 }, (_, count) => waitAfter(count) / 1000)
  expect(waits.slice(0, 16)).toEqual([0, 0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900])
  expect(new Set(waits.slice(15))).toEqual(new Set([900]))
})

test('six wrong passwords in a row are answered alike, whether there is such a user or not, and a day forgets them', async () => {
  const { deps, pass } = await world()
  const tried = async (email: string): Promise<string> =>
    ((await rejection(authenticate(deps, email, 'wrong'))) as Problem).code
  for (const email of ['ann@example.com', 'nobody@example.com']) {
    const codes = []
    for (let i = 0; i < 6; i++) codes.push(await tried(email))
    expect(codes).toEqual([...Array<string>(5).fill('invalid_credentials'), 'rate_limited'])
    // In another spelling it is the same account.
    expect(await tried(` ${email.toUpperCase()}`)).toBe('rate_limited')
    pass(999)
    expect(await tried(email)).toBe('rate_limited')
    pass(1)
    expect([await tried(email), await tried(email)]).toEqual(['invalid_credentials', 'rate_limited'])
    expect(((await rejection(authenticate(deps, email, 'wrong'))) as Problem).details.retryAfter).toBe(2)
    // A part of a second is waited for as well: after less than was said, the next attempt would be refused.
    pass(500)
    expect(((await rejection(authenticate(deps, email, 'wrong'))) as Problem).details.retryAfter).toBe(2)
    pass(DAY + 1)
    const again = []
    for (let i = 0; i < 6; i++) again.push(await tried(email))
    expect(again).toEqual(codes)
  }
  pass(DAY + 1)
  for (let i = 0; i < 4; i++) await tried('ann@example.com')
  await authenticate(deps, 'ann@example.com', 'correct horse')
  // What was right forgets what was wrong.
  for (let i = 0; i < 5; i++) expect(await tried('ann@example.com')).toBe('invalid_credentials')
})

test('when the store is full people still sign in, and guesses at accounts that there are still count', async () => {
  const { deps, user, fill } = await world()
  fill()
  expect(await rejection(createToken(deps, user, {}))).toMatchObject({ code: 'storage_full' })
  expect((await startSession(deps, user, 'one')).session.userId).toBe(user.id)
  const tried = async (email: string): Promise<string> =>
    ((await rejection(authenticate(deps, email, 'wrong'))) as Problem).code
  const codes = async (email: string) => Array.fromAsync({ length: 6 }, () => tried(email))
  const wrong = Array<string>(5).fill('invalid_credentials')
  expect(await codes('ann@example.com')).toEqual([...wrong, 'rate_limited'])
  // These take none of what is kept for such times, and are answered like the others.
  expect(await codes('nobody@example.com')).toEqual([...wrong, 'invalid_credentials'])
})

test('a secret is drawn from 62 characters alike: bytes that would favour the first of them are thrown away', async () => {
  const { deps, user } = await world()
  const drawn = [255, 248, 61, 62, 247]
  const random = { bytes: (count: number) => Uint8Array.from({ length: count }, (_, i) => drawn[i] ?? 10) }
  const { secret } = await createToken({ ...deps, random }, user, {})
  // 61, 62 and 247 are the last, the first and the last of a round; 10 is the eleventh.
  expect(secret.slice('crm_pat_'.length, -6)).toBe(`z0z${'A'.repeat(27)}`)
})

test('a user can have 500 tokens', async () => {
  const { deps, user } = await world()
  await deps.kv.commit({ sets: [{ key: ['tokens', 'count', 'user', user.id], value: '499' }] })
  await createToken(deps, user, {})
  expect(await rejection(createToken(deps, user, {}))).toMatchObject({
    code: 'quota_exceeded',
    message: 'You can have at most 500 API tokens. Delete some first.',
  })
})
