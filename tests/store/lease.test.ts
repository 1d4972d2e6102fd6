import { afterAll, expect, test } from 'bun:test'
import { SQL } from 'bun'
import type { Clock } from '../../src/lib/clock.ts'
import { fencedKv, takeLease } from '../../src/store/postgres/lease.ts'
import { postgresKv } from '../../src/store/postgres/postgres-kv.ts'
import { HandClock } from '../lib/hand-clock.ts'
import { rejection } from '../rejection.ts'
import { postgresStores, realClock } from './postgres-stores.ts'

const postgres = await postgresStores()
const sql = new SQL(postgres.url, { max: 1 })
afterAll(async () => {
  await sql.close()
  await postgres.stop()
})

/** Nobody waits longer than the database takes to answer. */
const hasty: Clock = { now: () => 0, sleep: () => realClock.sleep(1) }
/** Longer than a busy machine takes for a test: a lease ends when the test says so. */
const leaseMs = 3_600_000
const write = { sets: [{ key: ['a'], value: '1' }] }

test('a lease is one node at a time, and whoever lost it can write nothing more', async () => {
  const [one, other] = await Promise.all([postgres.share('leased'), postgres.share('leased')])
  const first = await takeLease(one, { work: 'w', clock: hasty, waits: () => {}, leaseMs })
  const kv = fencedKv(postgresKv(one), first)
  expect(await kv.commit(write)).toBe(true)
  expect(await kv.commit({ ...write, checks: [{ key: ['b'], version: 'stale' }] })).toBe(false)

  const held = Promise.withResolvers<string>()
  const second = takeLease(other, { work: 'w', clock: hasty, waits: held.resolve, leaseMs })
  expect(await held.promise).toBe(one.node)
  expect(await kv.commit(write)).toBe(true)
  await sql`update leased.leases set until = '-infinity', node = 'gone'`
  const { key, fence, release } = await second
  expect(fence).not.toBe(first.fence)
  expect(await rejection(kv.commit(write))).toMatchObject({ status: 503, code: 'store_unavailable' })
  await first.lost
  // What it still says of the lease is not heard.
  await first.release()
  expect(await fencedKv(postgresKv(other), { key, fence }).commit(write)).toBe(true)

  // One that is given back is free at once.
  const third = takeLease(one, { work: 'w', clock: hasty, waits: () => {}, leaseMs })
  await release()
  expect((await third).fence).not.toBe(fence)
  await (await third).release()
  await Promise.all([one.close(), other.close()])
})

test('a lease is kept while the database is away, and lost once another node has it', async () => {
  const clock = new HandClock()
  let answer: () => Promise<readonly object[]> = async () => [{ fence: '7', holder: 'me' }]
  const connection = {
    schema: '"leased"',
    node: 'me',
    writing: { query: () => answer() },
  } as unknown as Parameters<typeof takeLease>[0]
  const lease = await takeLease(connection, { work: 'w', clock, waits: () => {} })
  let isLost = false
  void lease.lost.then(() => (isLost = true))
  const after = async (next: typeof answer) => {
    answer = next
    await clock.pass(10_000)
    return isLost
  }
  expect(await after(async () => [{ fence: '7' }])).toBe(false)
  expect(await after(() => Promise.reject(new Error('The database is away.')))).toBe(false)
  expect(await after(async () => [])).toBe(true)
})

test('a node knows by its own clock until when nobody else can have its lease', async () => {
  const clock = new HandClock()
  const begun = clock.now()
  let tookMs = 0
  const connection = {
    schema: '"leased"',
    node: 'me',
    writing: {
      async query() {
        await clock.sleep(tookMs)
        return [{ fence: '7', holder: 'me' }]
      },
    },
  } as unknown as Parameters<typeof takeLease>[0]
  const lease = await takeLease(connection, { work: 'w', clock, waits: () => {}, leaseMs: 4000 })
  const sureUntil = () => lease.sureUntil - begun
  expect(sureUntil()).toBe(4000)
  await clock.pass(2000)
  expect(sureUntil()).toBe(6000)
  // Nobody knows when in this time the database has counted, so the answer proves the least, and it is asked again at once.
  tookMs = 3500
  await clock.pass(1000 + 3499)
  expect(sureUntil()).toBe(6000)
  tookMs = 10
  await clock.pass(1)
  expect(sureUntil()).toBe(7000)
  await clock.pass(10)
  expect(sureUntil()).toBe(10_500)
  tookMs = 100_000
  await clock.pass(50_000)
  expect(sureUntil()).toBeLessThan(clock.now() - begun)
})
