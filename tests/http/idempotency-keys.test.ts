// What is kept of an Idempotency-Key, for how long, and for whom.

import { expect, test } from 'bun:test'
import { Idempotency, type Claim } from '../../src/http/idempotency.ts'
import { silentLog } from '../../src/lib/log.ts'
import { Problem } from '../../src/lib/problem.ts'
import type { Kv } from '../../src/store/kv.ts'
import { testKv } from '../store/test-store.ts'
import { HandClock } from '../lib/hand-clock.ts'

const DAY = 24 * 3_600_000
const MINE = { client: 'ann', path: '/things', bodyHash: 'hash' }
const ANSWER = { answer: '{"id":7}', status: 201, sealed: false }

function world(kv = testKv(), clock = new HandClock(), boot = 1) {
  let drawn = 0
  const random = { bytes: (length: number) => new Uint8Array(length).fill(boot * 100 + ++drawn) }
  // A store may answer at once or promise to.
  const list = (name: string) => Promise.resolve(kv.list({ prefix: [name] }, { limit: 5000 }))
  const kept = async () => (await list('idempotency')).length + (await list('idempotency-at')).length
  return { keys: new Idempotency({ kv, clock, random, log: silentLog }), kv, clock, kept, list }
}

function claimOf(begun: object): Claim {
  if (!('bodyHash' in begun)) throw new Error('expected a claim')
  return begun as Claim
}

async function refused(work: Promise<unknown>): Promise<readonly [status: number, code: string]> {
  const error: unknown = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof Problem)) throw new Error(`expected a Problem, not ${String(error)}`)
  return [error.status, error.code]
}

test('is 1 to 255 characters long', async () => {
  const { keys } = world()
  expect(await refused(keys.begin('', MINE))).toEqual([422, 'validation_failed'])
  expect(await refused(keys.begin('k'.repeat(256), MINE))).toEqual([422, 'validation_failed'])
  claimOf(await keys.begin('k', MINE))
  claimOf(await keys.begin('k'.repeat(255), MINE))
})

test('is answered again with the answer and the status of the first time', async () => {
  const { keys } = world()
  await keys.finish(claimOf(await keys.begin('k', MINE)), ANSWER)
  expect(await keys.begin('k', MINE)).toEqual({ answer: '{"id":7}', status: 201 })
})

test('is refused with another body, and taken by another caller or for another path', async () => {
  const { keys } = world()
  await keys.finish(claimOf(await keys.begin('k', MINE)), ANSWER)
  const other = keys.begin('k', { ...MINE, bodyHash: 'another' })
  expect(await refused(other)).toEqual([422, 'idempotency_key_reused'])
  claimOf(await keys.begin('k', { ...MINE, client: 'bob' }))
  claimOf(await keys.begin('k', { ...MINE, path: '/others' }))
})

test('is refused while the first request runs, but not after a restart', async () => {
  const { keys, kv, clock } = world()
  const claim = claimOf(await keys.begin('k', MINE))
  expect(await refused(keys.begin('k', MINE))).toEqual([409, 'idempotency_in_progress'])
  const restarted = world(kv, clock, 2).keys
  const second = claimOf(await restarted.begin('k', MINE))
  // The first one, should it still be alive, answers no longer, and cannot free the key.
  expect(await refused(keys.finish(claim, ANSWER))).toEqual([409, 'idempotency_in_progress'])
  await keys.abandon(claim)
  await restarted.finish(second, { ...ANSWER, answer: '"second"' })
  expect(await restarted.begin('k', MINE)).toEqual({ answer: '"second"', status: 201 })
})

test('is free again once its request was abandoned, and nothing of it is left', async () => {
  const { keys, kept } = world()
  await keys.abandon(claimOf(await keys.begin('k', MINE)))
  expect(await kept()).toBe(0)
  claimOf(await keys.begin('k', MINE))
})

function atWork(keys: Idempotency): Disposable {
  const over = new AbortController()
  void keys.run(over.signal)
  return { [Symbol.dispose]: () => over.abort() }
}

const AWAY = new Problem(503, 'store_unavailable', 'away')

/** A store whose commits fail while the database is away: after they were stored, or before. */
function leaving(inner: Kv) {
  const state: { away: null | 'before' | 'after' } = { away: null }
  const kv: Kv = {
    ...inner,
    async commit(commit) {
      if (state.away === 'before') throw AWAY
      const isDone = await inner.commit(commit)
      if (state.away === 'after') throw AWAY
      return isDone
    },
  }
  return { kv, state }
}

test('is free again soon after the database is back, where it could not be given back', async () => {
  const { kv, state } = leaving(testKv())
  const { keys, clock, kept } = world(kv)
  using _ = atWork(keys)
  const claim = claimOf(await keys.begin('k', MINE))
  state.away = 'before'
  expect(await refused(keys.abandon(claim))).toEqual([503, 'store_unavailable'])
  await clock.pass(10_000)
  expect(await kept()).toBe(2)
  state.away = null
  expect(await refused(keys.begin('k', MINE))).toEqual([409, 'idempotency_in_progress'])
  await clock.pass(1000)
  expect(await kept()).toBe(0)
  claimOf(await keys.begin('k', MINE))
})

test('is free again where the database was away when it was claimed, also if that is stored late', async () => {
  const { kv, state } = leaving(testKv())
  const { keys, clock, kept } = world(kv)
  using _ = atWork(keys)
  state.away = 'after'
  expect(await refused(keys.begin('k', MINE))).toEqual([503, 'store_unavailable'])
  state.away = null
  await clock.pass(1000)
  expect(await kept()).toBe(0)

  state.away = 'before'
  const at = clock.now()
  expect(await refused(keys.begin('late', MINE))).toEqual([503, 'store_unavailable'])
  state.away = null
  await clock.pass(20_000)
  // As it is stored when it is.
  const early = world(kv, clock)
  clock.setBack(20_000)
  expect(clock.now()).toBe(at)
  claimOf(await early.keys.begin('late', MINE))
  clock.setBack(-20_000)
  await clock.pass(1000)
  expect(await kept()).toBe(0)
  // Another request's claim is left alone.
  claimOf(await keys.begin('other', MINE))
  await clock.pass(60_000)
  expect(await kept()).toBe(2)
})

test('stays answered though its request is abandoned behind the answer', async () => {
  const { keys } = world()
  const claim = claimOf(await keys.begin('k', MINE))
  await keys.finish(claim, ANSWER)
  await keys.abandon(claim)
  expect(await keys.begin('k', MINE)).toEqual({ answer: '{"id":7}', status: 201 })
})

test('can be answered though it was swept meanwhile, and abandoned then without a word', async () => {
  const { keys, kv } = world()
  const claim = claimOf(await keys.begin('k', MINE))
  await kv.commit({ deletes: [claim.key] })
  await keys.abandon(claim)
  await keys.finish(claim, ANSWER)
  expect(await keys.begin('k', MINE)).toEqual({ answer: '{"id":7}', status: 201 })
})

test('that was begun later in the same run is not answered by the earlier request', async () => {
  const { keys, clock } = world()
  const early = claimOf(await keys.begin('k', MINE))
  await clock.pass(DAY)
  claimOf(await keys.begin('k', MINE))
  expect(await refused(keys.finish(early, ANSWER))).toEqual([409, 'idempotency_in_progress'])
})

test('is kept for 24 hours to the millisecond, asked for or swept', async () => {
  const { keys, clock, kept } = world()
  await keys.finish(claimOf(await keys.begin('k', MINE)), ANSWER)
  await clock.pass(DAY - 1)
  await keys.sweep()
  expect(await keys.begin('k', MINE)).toEqual({ answer: '{"id":7}', status: 201 })
  expect(await kept()).toBe(2)
  await clock.pass(2)
  await keys.sweep()
  expect(await kept()).toBe(0)
  claimOf(await keys.begin('k', MINE))
  await clock.pass(DAY)
  claimOf(await keys.begin('k', MINE))
})

test.each([1, 500, 501, 1200])('of which %d are old, all are swept in one go', async (count) => {
  const { keys, clock, kept } = world()
  for (let i = 0; i < count; i++) await keys.begin(`old ${i}`, MINE)
  await clock.pass(DAY + 1)
  await keys.begin('young', MINE)
  await keys.sweep()
  expect(await kept()).toBe(2)
})

test('whose answer carries a secret keeps it in no form that the database alone can open', async () => {
  const { keys, list } = world()
  const answer = '{"token":"a secret — секрет"}'
  await keys.finish(claimOf(await keys.begin('k', MINE)), { answer, status: 200, sealed: true })
  const stored = await list('idempotency')
  expect(stored.map((entry) => entry.value).join()).not.toContain('secret')
  expect(await keys.begin('k', MINE)).toEqual({ answer, status: 200 })
})
