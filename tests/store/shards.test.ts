// The nodes on one database share out 256 shards among them, and nobody does what another does.

import { afterAll, expect, test } from 'bun:test'
import { SQL } from 'bun'
import type { Clock } from '../../src/lib/clock.ts'
import { SHARDS, shardOf } from '../../src/lib/shards.ts'
import { encodeKey } from '../../src/store/key.ts'
import type { Connection } from '../../src/store/postgres/connection.ts'
import { ChangeFeed } from '../../src/store/postgres/feed.ts'
import { Fleet, fleetNodes } from '../../src/store/postgres/fleet.ts'
import { openServerPostgres } from '../../src/store/postgres/open-postgres.ts'
import { silentLog } from '../../src/lib/log.ts'
import { fencedKv, takeLease } from '../../src/store/postgres/lease.ts'
import { postgresKv } from '../../src/store/postgres/postgres-kv.ts'
import { simulatedConnection } from '../simulation/database.ts'
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
/** Nobody renews anything by itself. */
const still: Clock = {
  now: () => 0,
  sleep: (_, signal) =>
    new Promise((resolve) => signal?.addEventListener('abort', () => resolve(), { once: true })),
}
const write = { sets: [{ key: ['a'], value: '1' }] }

interface Joined {
  readonly fleet: Fleet
  readonly connection: Connection
}

async function joined(schema: string, clock = still): Promise<Joined> {
  const connection = await postgres.share(schema)
  const options = { clock, version: '1.2.3', waits: () => {}, lagMs: () => 7, leaseMs }
  const fleet = await Fleet.join(connection, options)
  await new ChangeFeed(connection).begin()
  return { connection, fleet }
}

async function look(nodes: readonly Joined[]): Promise<void> {
  for (const { fleet } of nodes) await fleet.look()
}

/** Until these nodes share everything out evenly. No look waits until shards are given away, so that their number is open. */
async function settle(nodes: readonly Joined[]): Promise<void> {
  do await look(nodes)
  while (together(nodes).length < SHARDS || Math.max(...counts(nodes)) - Math.min(...counts(nodes)) > 1)
}

test('who is to be admitted is told of the others, and not of itself', async () => {
  const random = { bytes: (count: number) => crypto.getRandomValues(new Uint8Array(count)) }
  const told: (readonly string[])[] = []
  const serve = (node: string) =>
    openServerPostgres({
      url: postgres.url,
      schema: '"admitted"',
      clock: still,
      random,
      node,
      version: '1.2.3',
      leaseMs,
      admit: async (_, others) => void told.push(others),
      waits: () => {},
    })
  const first = await serve('first')
  const second = await serve('second')
  expect(told).toEqual([[], [], ['first'], ['first']])
  await second.close()
  await first.close()
})

const expire = (schema: string, node: Joined) =>
  sql.unsafe(`update "${schema}".leases set until = '-infinity' where work = $1`, [
    encodeKey(['lease', 'node', node.fleet.node]),
  ])

const counts = (nodes: readonly Joined[]) => nodes.map(({ fleet }) => fleet.held.length)
const together = (nodes: readonly Joined[]) =>
  nodes.flatMap(({ fleet }) => fleet.held).toSorted((a, b) => a - b)
const EVERY = Array.from({ length: SHARDS }, (_, shard) => shard)

test('shards that are a node’s without its knowing are found: the answer was lost, or they were not given away', async () => {
  const schema = crypto.randomUUID()
  const first = await joined(schema)
  await sql.unsafe(`select "${schema}".claim_1($1, 100)`, [encodeKey(['lease', 'node', first.fleet.node])])
  await settle([first])
  expect(first.fleet.held).toEqual(EVERY)

  const nodes = [first, await joined(schema)]
  let refusals = 1
  first.fleet.beforeGiving(() => (refusals-- > 0 ? Promise.reject(new Error('no')) : Promise.resolve()))
  await settle(nodes)
  expect(counts(nodes)).toEqual([128, 128])
  expect(together(nodes)).toEqual(EVERY)
  for (const { fleet, connection } of nodes) {
    await fleet.leave()
    await connection.close()
  }
})

test('each shard is one node’s, all have as many as each other, and those of one that is gone are taken over', async () => {
  const schema = crypto.randomUUID()
  const first = await joined(schema)
  await settle([first])
  expect(first.fleet.held).toEqual(EVERY)
  expect(first.fleet.holds('anything')).toBe(true)

  const nodes = [first, await joined(schema), await joined(schema)]
  await settle(nodes)
  expect(counts(nodes).toSorted((a, b) => a - b)).toEqual([85, 85, 86])
  expect(together(nodes)).toEqual(EVERY)
  for (const name of ['usr_1', 'BINANCE\0BTCUSDT', '平安'])
    expect(nodes.filter(({ fleet }) => fleet.holds(name))).toHaveLength(1)

  const [, dead, other] = nodes as [Joined, Joined, Joined]
  const kv = fencedKv(postgresKv(dead.connection), dead.fleet.lease)
  expect(await kv.commit(write)).toBe(true)
  const had = dead.fleet.held
  await expire(schema, dead)
  let buried = 0
  first.fleet.onBuried(() => buried++)
  other.fleet.onBuried(() => buried++)
  await settle([first, other])
  expect(counts([first, other])).toEqual([128, 128])
  expect(together([first, other])).toEqual(EVERY)
  expect(buried).toBe(2)
  expect(await first.fleet.aliveNodes()).toEqual(new Set([first.fleet.node, other.fleet.node]))
  // It still believes that it has them, and can do nothing with them any more.
  expect(dead.fleet.held).toEqual(had)
  expect(await rejection(kv.commit(write))).toMatchObject({ status: 503, code: 'store_unavailable' })

  await other.fleet.leave()
  await settle([first])
  expect(first.fleet.held).toEqual(EVERY)
  await Promise.all(nodes.map(({ connection }) => connection.close()))
})

test('a node that has joined and does no work yet gets no share of it', async () => {
  const schema = crypto.randomUUID()
  const [first, starting] = [await joined(schema), await joined(schema)]
  await settle([first])
  expect(first.fleet.held).toEqual(EVERY)
  expect(first.fleet.members).toEqual([first.fleet.node])
  await settle([starting, first])
  expect(counts([first, starting])).toEqual([128, 128])
  await Promise.all([first, starting].map(({ connection }) => connection.close()))
})

test('shards that stay nobody’s are taken by whoever looks, until the one whose share they are is there', async () => {
  const schema = crypto.randomUUID()
  const [first, slow, dead] = [await joined(schema), await joined(schema), await joined(schema)]
  const nodes = [first, slow, dead]
  await settle(nodes)
  await expire(schema, dead)
  for (let looks = 0; looks < 3; looks++) {
    await first.fleet.look()
    expect(counts([first, slow])).toEqual([128, expect.any(Number)])
  }
  await first.fleet.look()
  expect(together([first, slow])).toEqual(EVERY)
  await settle([slow, first])
  expect(counts([first, slow])).toEqual([128, 128])
  expect(together([first, slow])).toEqual(EVERY)
  await Promise.all(nodes.map(({ connection }) => connection.close()))
})

test('nothing that is nobody’s is left to a node that does not look any more, though its lease still runs', async () => {
  const schema = crypto.randomUUID()
  const [first, silent, dead] = [await joined(schema), await joined(schema), await joined(schema)]
  await settle([first, silent, dead])
  await expire(schema, dead)
  const silentSince = (ms: number) =>
    sql.unsafe(
      `update "${schema}".nodes set seen = clock_timestamp() - $1 * interval '1 ms' where node = $2`,
      [ms, silent.fleet.node],
    )
  await silentSince(leaseMs / 4)
  await first.fleet.look()
  expect(counts([first])).toEqual([128])
  await silentSince(leaseMs / 2)
  await first.fleet.look()
  expect(together([first, silent])).toEqual(EVERY)
  expect(first.fleet.members).toContain(silent.fleet.node)
  await settle([silent, first])
  expect(counts([first, silent])).toEqual([128, 128])
  await Promise.all([first, silent, dead].map(({ connection }) => connection.close()))
})

test('after a time without the database the others are waited for before they are taken for dead', async () => {
  const schema = crypto.randomUUID()
  let time = 0
  const clock = { ...still, now: () => time }
  const nodes = [await joined(schema, clock), await joined(schema, clock)] as const
  const [first, second] = nodes
  await settle(nodes)
  await expire(schema, second)
  time += leaseMs + 1
  await first.fleet.look()
  expect(await first.fleet.aliveNodes()).toContain(second.fleet.node)
  time += leaseMs / 2 - 1
  await first.fleet.look()
  expect(first.fleet.buried).toBe(0)
  time += 1
  await first.fleet.look()
  expect(first.fleet.buried).toBe(1)
  await settle([first])
  expect(first.fleet.held).toEqual(EVERY)
  await Promise.all(nodes.map(({ connection }) => connection.close()))
})

test('a shard goes to another node only when what was under way for it is done', async () => {
  const schema = crypto.randomUUID()
  const first = await joined(schema)
  await settle([first])
  const name = 'usr_busy'
  const done = Promise.withResolvers<void>()
  const asked = Promise.withResolvers<void>()
  first.fleet.beforeGiving(() => {
    asked.resolve()
    return done.promise
  })
  const second = await joined(schema)
  let gained = 0
  second.fleet.onGained(() => gained++)
  for (let round = 0; round < 4; round++) await look([first, second])
  await asked.promise
  expect(counts([first, second])).toEqual([128, 0])
  expect(gained).toBe(0)
  done.resolve()
  // Whoever had it given to them has it, and nobody else.
  await settle([first, second])
  expect(gained).toBeGreaterThan(0)
  expect(together([first, second])).toEqual(EVERY)
  expect([first, second].filter(({ fleet }) => fleet.holds(name))).toHaveLength(1)
  expect(shardOf(name)).toBe(Bun.hash.crc32(name) % 256)
  await Promise.all([first, second].map(({ connection }) => connection.close()))
})

/** Names whose work is in these shards. */
function namesIn(shards: readonly number[]): string[] {
  const names = new Map<number, string>()
  for (let i = 0; names.size < SHARDS; i++) names.set(shardOf(`usr_${i}`), `usr_${i}`)
  return shards.map((shard) => names.get(shard)!)
}

/** Resolves once a node has begun to give shards away. */
function givingOf({ fleet }: Joined, settled: () => Promise<void> = async () => {}): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  fleet.beforeGiving(() => {
    resolve()
    return settled()
  })
  return promise
}

test('a shard whose work is under way goes after the others, and is gone on with until then', async () => {
  const schema = crypto.randomUUID()
  const first = await joined(schema)
  await settle([first])
  let busy = EVERY.slice(100)
  first.fleet.beforeGiving(
    async () => {},
    () => namesIn(busy),
  )
  const giving = givingOf(first)
  const second = await joined(schema)
  await look([second, first])
  await giving
  expect(first.fleet.held).toEqual(busy)
  while (second.fleet.held.length < 100) await second.fleet.look()
  expect(second.fleet.held).toEqual(EVERY.slice(0, 100))
  busy = EVERY.slice(120)
  await settle([first, second])
  expect(first.fleet.held).toEqual(EVERY.slice(120, 248))
  await Promise.all([first, second].map(({ connection }) => connection.close()))
})

test('where the work of all shards is under way, a few at a time begin no more of it', async () => {
  const schema = crypto.randomUUID()
  const first = await joined(schema)
  await settle([first])
  first.fleet.beforeGiving(
    async () => {},
    () => namesIn(EVERY),
  )
  const done = Promise.withResolvers<void>()
  const giving = givingOf(first, () => done.promise)
  const second = await joined(schema)
  await look([second, first])
  await giving
  await look([second, first])
  expect(counts([first, second])).toEqual([SHARDS - 8, 0])
  done.resolve()
  await settle([first, second])
  expect(together([first, second])).toEqual(EVERY)
  await Promise.all([first, second].map(({ connection }) => connection.close()))
})

test('a node that is about to stop goes on with what is under way, and the others have the rest at once', async () => {
  const schema = crypto.randomUUID()
  const [first, second] = [await joined(schema), await joined(schema)]
  const nodes = [second, first]
  await settle(nodes)
  const busy = first.fleet.held.slice(0, 5)
  first.fleet.beforeGiving(
    async () => {},
    () => namesIn(busy),
  )
  const retired = first.fleet.retire()
  await first.fleet.look()
  await retired
  expect(first.fleet.held).toEqual(busy)
  // Before its patience with a node that has a share would be at an end.
  for (let looks = 0; looks < 3; looks++) await second.fleet.look()
  expect(together(nodes)).toEqual(EVERY)
  await first.fleet.leave()
  await second.fleet.look()
  expect(second.fleet.held).toEqual(EVERY)
  // Nobody would take what the last one gives away.
  await second.fleet.retire()
  expect(second.fleet.held).toEqual(EVERY)
  await Promise.all(nodes.map(({ connection }) => connection.close()))
})

test('what others have left is taken also while shards are given away', async () => {
  const schema = crypto.randomUUID()
  const [first, second] = [await joined(schema), await joined(schema)]
  await settle([first, second])
  const done = Promise.withResolvers<void>()
  const asked = Promise.withResolvers<void>()
  first.fleet.beforeGiving(() => {
    asked.resolve()
    return done.promise
  })
  const third = await joined(schema)
  await look([third, first])
  await asked.promise
  const kept = first.fleet.held
  expect(kept.length).toBeLessThan(128)
  await expire(schema, second)
  await look([first])
  expect(first.fleet.held).toHaveLength(128)
  // What it gives away does not come back to it by that.
  expect(first.fleet.held).toEqual(expect.arrayContaining([...kept]))
  expect(together([first, third]).length).toBeLessThan(SHARDS)
  await look([third])
  expect(first.fleet.held.filter((shard) => third.fleet.held.includes(shard))).toEqual([])
  done.resolve()
  await settle([first, third])
  expect(together([first, third])).toEqual(EVERY)
  await Promise.all([first, second, third].map(({ connection }) => connection.close()))
})

test('a look renews the lease of its node too, and nothing else does while looks go on', async () => {
  const { clock, ...connection } = await simulatedConnection(1)
  const { writing } = connection
  const sent: string[] = []
  const query = (text: string, values: unknown[]) => (
    sent.push(text.slice(0, 9)),
    writing.query(text, values)
  )
  const fleet = await Fleet.join(
    { ...connection, writing: { query } as never },
    {
      clock,
      version: '1',
      waits: () => {},
      lagMs: () => 0,
      leaseMs: 4000,
    },
  )
  const stop = new AbortController()
  const running = fleet.run({ clock, log: silentLog }, stop.signal)
  await clock.sleep(5000)
  sent.length = 0
  await clock.sleep(60_000)
  expect(sent.filter((text) => text === 'with told').length).toBeGreaterThan(50)
  expect(sent.filter((text) => text.startsWith('update'))).toEqual([])
  expect(fleet.lease.sureUntil - clock.now()).toBeGreaterThan(2500)
  stop.abort()
  await running
  await connection.close()
})

test('a node that cannot renew its lease says so before another can have it, and when it can again', async () => {
  const clock = new HandClock()
  const me = { work: encodeKey(['lease', 'node', 'me']), fence: '7', alive: true, looking: true, free: 0 }
  let answers = Promise.resolve()
  const query = () => answers.then(() => [me])
  const connection = { schema: '"own"', node: 'me', writing: { query }, reading: { query } }
  const fleet = await Fleet.join(connection as unknown as Connection, {
    clock,
    version: '1',
    waits: () => {},
    lagMs: () => 0,
    leaseMs: 4000,
  })
  const told: [seconds: number, isCutOff: boolean][] = []
  fleet.onCutOff(() => told.push([(clock.now() - begun) / 1000, fleet.isCutOff]))
  const begun = clock.now()
  const stop = new AbortController()
  const running = fleet.run({ clock, log: silentLog }, stop.signal)
  await clock.pass(10_500)
  expect(told).toEqual([])
  const silence = Promise.withResolvers<void>()
  answers = silence.promise
  await clock.pass(60_000)
  expect(told).toEqual([[14, true]])
  silence.resolve()
  await clock.pass(1000)
  expect(told).toEqual([
    [14, true],
    [71, false],
  ])
  await clock.pass(10_000)
  expect(told).toHaveLength(2)
  stop.abort()
  await running
})

test('a server of before there were several is waited for, and waits for all of them', async () => {
  const schema = crypto.randomUUID()
  const old = await postgres.connect(schema)
  const lease = await takeLease(old, { work: 'serving', clock: still, waits: () => {}, leaseMs })
  const connection = await postgres.connect(schema)
  const held = Promise.withResolvers<string>()
  const joining = Fleet.join(connection, {
    clock: hasty,
    version: '2',
    waits: held.resolve,
    lagMs: () => 0,
    leaseMs,
  })
  expect(await held.promise).toBe(old.node)
  await lease.release()
  const fleet = await joining
  await fleet.look()

  const again = Promise.withResolvers<string>()
  const waiting = takeLease(old, { work: 'serving', clock: hasty, waits: again.resolve, leaseMs })
  await again.promise
  const second = await joined(schema)
  await fleet.leave()
  await second.fleet.look()
  await second.fleet.leave()
  await (await waiting).release()
  await Promise.all([old, connection, second.connection].map((one) => one.close()))
})

test('anybody is told which nodes there are, of which version, and what each of them has', async () => {
  const schema = crypto.randomUUID()
  const nodes = [await joined(schema), await joined(schema)]
  await settle(nodes)
  const told = await fleetNodes(nodes[0]!.connection)
  expect(told).toMatchObject(
    nodes
      .toSorted((a, b) => (a.fleet.node < b.fleet.node ? -1 : 1))
      .map(({ fleet }) => ({ name: fleet.node, version: '1.2.3', lagMs: 7, shards: [...fleet.held] })),
  )
  await Promise.all(nodes.map(({ connection }) => connection.close()))
})

test('nodes that take tokens out of one bucket at the same time get what is in it, and what flows in', async () => {
  const schema = crypto.randomUUID()
  const nodes = [await joined(schema), await joined(schema)]
  const policy = { quota: 50, windowSeconds: 3600 }
  const grants = await Promise.all(
    Array.from({ length: 40 }, (_, i) => nodes[i % 2]!.fleet.takeShared('user 平安', policy, 3)),
  )
  expect(grants.reduce((sum, { granted }) => sum + granted, 0)).toBe(50)
  expect(grants.every(({ left }) => left >= 0 && left <= 50)).toBe(true)
  await sql.unsafe(`update "${schema}".buckets set at = at - interval '10 minutes'`)
  expect((await nodes[0]!.fleet.takeShared('user 平安', policy, 20)).granted).toBe(8)
  expect((await nodes[1]!.fleet.takeShared('another', policy, 20)).granted).toBe(20)
  await Promise.all(nodes.map(({ connection }) => connection.close()))
})

test('while the database is silent no token is waited for, and none is given', async () => {
  const schema = crypto.randomUUID()
  let time = 0
  const clock = { ...still, now: () => time }
  const connection = await postgres.connect(schema, { clock })
  const options = { clock, version: '1.2.3', waits: () => {}, lagMs: () => 0, leaseMs }
  const fleet = await Fleet.join(connection, options)
  const policy = { quota: 50, windowSeconds: 3600 }
  const take = () => fleet.takeShared('user', policy, 1)
  connection.writing.silence.asked()
  time += 1000
  expect(await rejection(take())).toMatchObject({ status: 503, code: 'store_unavailable' })
  connection.writing.silence.answered()
  expect(await take()).toEqual({ granted: 1, left: 49 })
  await connection.close()
})
