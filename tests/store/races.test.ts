// What is decided on what was read, over a store whose answers come late and out of order.

import { describe, expect, test } from 'bun:test'
import { silentLog } from '../../src/lib/log.ts'
import { countAttempt } from '../../src/people/accounts/throttle.ts'
import { listSessions, startSession } from '../../src/people/accounts/sessions.ts'
import { addUser, setPassword, signUp } from '../../src/people/accounts/users.ts'
import { users, type AccountDeps } from '../../src/people/accounts/accounts.ts'
import { Idempotency } from '../../src/http/idempotency.ts'
import { BOOKMARKS_MAX, Places } from '../../src/work/replay/places.ts'
import { Scripts } from '../../src/people/scripts/scripts.ts'
import { collection } from '../../src/store/collection.ts'
import type { Kv } from '../../src/store/kv.ts'
import { memoryKv } from '../../src/store/memory.ts'
import type { ReceiverData } from '../../src/wire/event.ts'
import { transact, Tx } from '../../src/store/transaction.ts'
import { parseAllowList } from '../../src/notify/webhooks/address.ts'
import { Outbox } from '../../src/notify/webhooks/deliveries.ts'
import { receiverCollection, Receivers } from '../../src/notify/webhooks/receivers.ts'
import { rejection } from '../rejection.ts'
import { delayedKv } from './delayed-kv.ts'

const SEED = Number(process.env['SEED'] ?? Math.floor(Math.random() * 1e9))
const times = <T>(count: number, make: (i: number) => Promise<T>) =>
  Promise.allSettled(Array.from({ length: count }, (_, i) => make(i)))
const done = (results: readonly PromiseSettledResult<unknown>[]) =>
  results.filter(({ status }) => status === 'fulfilled').length

function accounts(kv: Kv): AccountDeps {
  let byte = 0
  let id = 0
  return {
    kv,
    clock: { now: () => 1e12, sleep: () => Promise.resolve() },
    random: { bytes: (count) => new Uint8Array(count).map(() => byte++) },
    newId: (prefix) => `${prefix}_${++id}`,
    passwords: { hash: async (password) => password, verify: async (password, hash) => password === hash },
  }
}

describe.each([0, 1, 2, 3])(`a late store (SEED=${SEED}), %i`, (n) => {
  const open = () => delayedKv(memoryKv(), SEED + n)
  const stranger = (i: number) => ({ email: `u${i}@example.com`, password: 'correct horse' })

  test('of many who sign up first one is the owner', async () => {
    const deps = accounts(open())
    const policy = { open: false, local: true, setupCode: null }
    expect(done(await times(8, (i) => signUp(deps, stranger(i), policy)))).toBe(1)
    expect(await users(deps.kv).count('all', [])).toBe(1)
  })
  test('an e-mail address is given once', async () => {
    const deps = accounts(open())
    expect(done(await times(8, () => addUser(deps, stranger(1))))).toBe(1)
  })
  test('of attempts to guess that come at a time each counts', async () => {
    const deps = accounts(open())
    expect(done(await times(20, () => countAttempt(deps, 'a@example.com', true)))).toBe(5)
  })
  test('an Idempotency-Key is claimed once', async () => {
    const idempotency = new Idempotency({ ...accounts(open()), log: silentLog })
    const request = { client: 'usr_1', path: '/x', bodyHash: 'h' }
    expect(done(await times(8, () => idempotency.begin('key', request)))).toBe(1)
  })
  test('a quota is never passed, and what was refused left nothing', async () => {
    const kv = open()
    const things = collection<{ readonly id: string }>(kv, 'things', {
      counts: { all: { of: () => [], max: 5 } },
    })
    expect(done(await times(20, (i) => transact(kv, () => things.insert({ id: `t${i}` }))))).toBe(5)
    expect(await Array.fromAsync(things.each())).toHaveLength(5)
  })
  test('changes of one record that come at a time are all made', async () => {
    const kv = open()
    const things = collection<{ readonly id: string; readonly n: number }>(kv, 'things')
    await transact(kv, () => things.insert({ id: 't', n: 0 }))
    await times(12, () => things.update('t', (thing) => ({ ...thing, n: thing.n + 1 })))
    expect((await things.get('t'))?.n).toBe(12)
  })
  test('a library that is added under its path by several at a time is one script', async () => {
    const kv = open()
    let id = 0
    const scripts = new Scripts({
      kv,
      clock: { now: () => 1e12, sleep: () => Promise.resolve() },
      newId: (prefix) => `${prefix}_${++id}`,
      examine: async () => ({ diagnostics: '[]', kind: 'library', pineVersion: 6 }),
    })
    const add = (i: number) => scripts.addLibrary('usr_1', 'me', i % 2 ? 'A/b/1' : 'a/B/1', `// ${i}`)
    expect(done(await times(5, add))).toBe(5)
    expect(await Array.fromAsync(scripts.eachOf('usr_1'))).toHaveLength(1)
  })
  test('the last place for a bookmark is taken once', async () => {
    const kv = open()
    const places = new Places({ kv, clock: { now: () => 1e12, sleep: () => Promise.resolve() } })
    await times(BOOKMARKS_MAX - 1, (bar) =>
      kv.commit({ sets: [{ key: ['bookmarks', 'usr_1', 'SPX', '1d', bar], value: '{}' }] }),
    )
    const save = (i: number) => places.saveBookmark('usr_1', 'SPX', '1d', BOOKMARKS_MAX + i, null)
    expect(done(await times(6, save))).toBe(1)
  })
})

/** The same store, in which `rival` writes right before the next commit. */
function withRival(kv: Kv, rival: () => Promise<unknown>): Kv {
  let next: typeof rival | null = rival
  return {
    ...kv,
    async commit(commit) {
      const first = next
      next = null
      await first?.()
      return kv.commit(commit)
    },
  }
}

test('a session that opens while the password is set ends with the others', async () => {
  const deps = accounts(memoryKv())
  const user = await addUser(deps, { email: 'a@example.com', password: 'correct horse' })
  await startSession(deps, user, '')
  const kv = withRival(deps.kv, () => startSession(deps, user, ''))
  await setPassword({ ...deps, kv }, user.id, 'battery staple')
  expect(await listSessions(deps, user)).toEqual([])
})

test('no session opens with a password that was changed while it was checked', async () => {
  const deps = accounts(memoryKv())
  const user = await addUser(deps, { email: 'a@example.com', password: 'correct horse' })
  const kv = withRival(deps.kv, () => setPassword(deps, user.id, 'battery staple'))
  expect(await rejection(startSession({ ...deps, kv }, user, ''))).toMatchObject({ status: 401 })
  expect(await listSessions(deps, user)).toEqual([])
})

test('a receiver that is added while an event is written down gets it too', async () => {
  const { deps, receivers } = receiverWorld()
  const events = ['alert.triggered'] as const
  const fired = {} as ReceiverData['alert.triggered']
  const register = () => receivers.create('usr_1', { name: 'n', url: 'https://e.example/', events })
  await register()
  const kv = withRival(deps.kv, register)
  const outbox = new Outbox({ ...deps, kv })
  await transact(kv, (tx) => outbox.enqueue(tx, 'usr_1', 'alert.triggered', [fired]))
  expect((await outbox.list('usr_1', { limit: 9 })).items).toHaveLength(2)
})

function receiverWorld() {
  const deps = accounts(memoryKv())
  const receivers = new Receivers({
    ...deps,
    box: { seal: async (text) => text, open: async (text) => text },
    allow: parseAllowList(''),
    resolve: async () => ['93.184.215.14'],
  })
  return { deps, receivers }
}

/** Enqueues two firings while, once the plan has read, `meanwhile` happens; answers how often the plan ran. */
async function enqueuedWhile(
  meanwhile: (receivers: Receivers, id: string, kv: Kv) => Promise<unknown>,
): Promise<{ readonly runs: number; readonly waiting: number }> {
  const { deps, receivers } = receiverWorld()
  const events = ['alert.triggered'] as const
  const { receiver } = await receivers.create('usr_1', { name: 'n', url: 'https://e.example/', events })
  const outbox = new Outbox(deps)
  const fired = {} as ReceiverData['alert.triggered']
  let runs = 0
  await transact(deps.kv, async (tx) => {
    const changes = await outbox.enqueue(tx, 'usr_1', 'alert.triggered', [fired, fired])
    if (++runs < 9) await meanwhile(receivers, receiver.id, deps.kv)
    return changes
  })
  return { runs, waiting: (await outbox.list('usr_1', { limit: 9 })).items.length }
}

test('deliveries that end while an event is written down do not make it begin again', async () => {
  const delivered = (_: Receivers, id: string, kv: Kv) =>
    receiverCollection(kv).update(id, (one) => ({ ...one, lastSuccessAt: (one.lastSuccessAt ?? 0) + 1 }))
  expect(await enqueuedWhile(delivered)).toEqual({ runs: 1, waiting: 2 })
})

test('a receiver that is disabled, deleted or wants something else while an event is written down does not get it', async () => {
  const none = { runs: 2, waiting: 0 }
  const change = (fields: Parameters<Receivers['change']>[2]) =>
    enqueuedWhile((receivers, id) => receivers.change('usr_1', id, fields))
  expect(await change({ status: 'disabled' })).toEqual(none)
  expect(await change({ events: ['backtest.reportReady'] })).toEqual(none)
  const removed = async (receivers: Receivers, id: string) => {
    if (await receivers.has('usr_1', id)) await receivers.remove('usr_1', id)
  }
  expect(await enqueuedWhile(removed)).toEqual(none)
})

test('a plan runs again when what it read, or found absent, was written twice before its commit', async () => {
  const kv = memoryKv()
  let runs = 0
  await transact(kv, async (tx) => {
    const before = await tx.get(['n'])
    if (++runs <= 2) await kv.commit({ sets: [{ key: ['n'], value: String(runs) }] })
    return { sets: [{ key: ['seen'], value: before?.value ?? 'nothing' }] }
  })
  expect([runs, (await kv.get(['seen']))?.value]).toEqual([3, '2'])
})

test('what a plan throws of two reads counts only if both are true together', async () => {
  const kv = memoryKv()
  await kv.commit({ sets: [{ key: ['a'], value: '1' }] })
  let runs = 0
  await transact(kv, async (tx) => {
    const a = await tx.get(['a'])
    if (++runs === 1) await kv.commit({ deletes: [['a']], sets: [{ key: ['b'], value: '1' }] })
    const b = await tx.get(['b'])
    if (a && b) throw new Error('it was moved, and is there once')
    return []
  })
  expect(runs).toBe(2)
  const refused = transact(kv, async (tx) => {
    await tx.getMany([['a'], ['b']])
    throw new Error('so it is')
  })
  expect(await rejection(refused)).toMatchObject({ message: 'so it is' })
})

test('a tx checks each entry of a page it listed', async () => {
  const kv = memoryKv()
  await kv.commit({
    sets: [
      { key: ['p', 1], value: '1' },
      { key: ['p', 2], value: '2' },
    ],
  })
  const tx = new Tx(kv)
  await tx.list({ prefix: ['p'] }, { limit: 10 })
  await kv.commit({ deletes: [['p', 2]] })
  expect(await kv.commit({ checks: tx.checks })).toBe(false)
})
