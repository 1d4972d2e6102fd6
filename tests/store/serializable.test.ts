// What the adapter needs of databases that speak PostgreSQL's protocol and are none: advisory locks that keep nobody away, and
// transactions that are refused with 40001 and have to be sent again. None of them can be had here, so PostgreSQL plays them:
// SERIALIZABLE, with functions in place of its locks that do nothing, and with transactions that it refuses at random, in the
// middle or at their end.

import { afterAll, expect, test } from 'bun:test'
import { SQL } from 'bun'
import { seriesKey } from '../../src/market/bar-store.ts'
import { silentLog } from '../../src/lib/log.ts'
import { AboveMax, type Key, type Kv } from '../../src/store/kv.ts'
import type { Connection } from '../../src/store/postgres/connection.ts'
import { ChangeFeed } from '../../src/store/postgres/feed.ts'
import { takeLease } from '../../src/store/postgres/lease.ts'
import { postgresBars } from '../../src/store/postgres/postgres-bars.ts'
import { postgresKv } from '../../src/store/postgres/postgres-kv.ts'
import { transact } from '../../src/store/transaction.ts'
import { minuteBars } from '../market/bar-store.conformance.ts'
import { postgresStores, realClock } from './postgres-stores.ts'

const postgres = await postgresStores()
const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 1e9))
const name = `serializable_${crypto.randomUUID().replaceAll('-', '')}`
const url = Object.assign(new URL(postgres.url), { pathname: `/${name}` }).href
const admin = new SQL(postgres.url, { max: 1 })
await admin.unsafe(`create database ${name}`)
const sql = new SQL(url, { max: 1 })
await sql.unsafe(`
  create schema lockless;
  create function lockless.pg_advisory_xact_lock(int, int) returns void language sql as '';
  create function lockless.pg_advisory_xact_lock_shared(int, int) returns void language sql as '';
  alter database ${name} set search_path = lockless, pg_catalog, public;
  alter database ${name} set default_transaction_isolation = 'serializable'`)
// They start at the same moment, and nothing keeps one from making the schema that another makes.
const nodes: readonly Connection[] = await Promise.all(
  Array.from({ length: 4 }, () => postgres.connect('chartroom', { url })),
)
await sql.unsafe(`
  create function lockless.refuse() returns trigger language plpgsql as $$ begin
    if random() < 0.15 then raise exception 'seed ${seed}' using errcode = '40001'; end if;
    return new;
  end $$;
  create trigger refuse before insert or update on chartroom.documents
    for each statement execute function lockless.refuse();
  create constraint trigger refuse_at_end after insert on chartroom.commits
    deferrable initially deferred for each row execute function lockless.refuse();
`)
const kvs = nodes.map(postgresKv)
const first = kvs[0] as Kv
afterAll(async () => {
  await Promise.all(nodes.map((node) => node.close()))
  await sql.close()
  await admin.close()
  await postgres.stop()
})

const value = async (key: Key) => (await first.get(key))?.value

test('locks do nothing there, and transactions see each other’s writes or are refused', async () => {
  // The second would wait for the first.
  const [one, other] = [new SQL(url, { max: 1 }), new SQL(url, { max: 1 })]
  for (const sql of [one, other]) await sql.unsafe(`begin; select pg_advisory_xact_lock(1, 1)`)
  for (const sql of [one, other]) await sql.unsafe(`commit`)
  const [shown] = (await one.unsafe(`show transaction_isolation`)) as object[]
  expect(shown).toEqual({ transaction_isolation: 'serializable' })
  for (const sql of [one, other]) await sql.close()
})

test('no step of a counter is lost, and none goes above its bound', async () => {
  // One after the other: in a group of many, one of them is nearly always refused.
  let stored = 0
  await Promise.all(
    kvs.map(async (kv) => {
      for (let i = 0; i < 15; i++)
        try {
          await kv.commit({
            sums: [
              { key: ['all'], step: 1 },
              { key: ['few'], step: 1, max: 50 },
            ],
          })
          stored++
        } catch (error) {
          expect(error).toBeInstanceOf(AboveMax)
        }
    }),
  )
  expect(stored).toBe(50)
  expect([await value(['all']), await value(['few'])]).toEqual(['50', '50'])
}, 900_000)

test('of two commits that check the same two keys and write one each, one is refused', async () => {
  for (let i = 0; i < 10; i++) {
    const keys: readonly Key[] = [
      ['left', i],
      ['right', i],
    ]
    const checks = keys.map((key) => ({ key, version: null }))
    const done = await Promise.all(
      kvs.slice(0, 2).map((kv, n) => kv.commit({ checks, sets: [{ key: keys[n]!, value: '1' }] })),
    )
    expect(done.filter(Boolean)).toHaveLength(1)
  }
}, 900_000)

test('changes of one record by all nodes follow each other', async () => {
  await first.commit({ sets: [{ key: ['record'], value: '0' }] })
  await Promise.all(
    kvs.map(async (kv) => {
      for (let i = 0; i < 10; i++)
        await transact(kv, async (tx) => {
          const before = Number((await tx.get(['record']))?.value)
          return { sets: [{ key: ['record'], value: String(before + 1) }] }
        })
    }),
  )
  expect(await value(['record'])).toBe('40')
}, 900_000)

test('bars that all nodes write into one series are all there, and each write has a number of its own', async () => {
  const key = seriesKey('X', 'S', '1m')
  const bars = nodes.map(postgresBars)
  const written = await Promise.all(
    bars.flatMap((store, n) =>
      Array.from({ length: 5 }, (_, i) => store.upsert(key, minuteBars(100 * n + i, 100 * n + i + 1))),
    ),
  )
  expect(new Set(written.map(({ change }) => change)).size).toBe(20)
  expect((await bars[0]!.read(key)).bars.length).toBe(20)
}, 900_000)

test('the feed tells of each change once', async () => {
  const feed = new ChangeFeed(nodes[3]!)
  const heard: string[] = []
  feed.onChange(
    ({ keys }) => void heard.push(...keys.flatMap(([kind, id]) => (kind === 'told' ? [String(id)] : []))),
  )
  await feed.read()
  const over = new AbortController()
  const following = feed.run({ clock: realClock, log: silentLog }, over.signal)
  const ids = Array.from({ length: 60 }, (_, i) => String(i))
  await Promise.all(ids.map((id, i) => kvs[i % 3]!.commit({ sets: [{ key: ['told', id], value: '1' }] })))
  while (!ids.every((id) => heard.includes(id))) await realClock.sleep(20)
  over.abort()
  await following
  expect(heard.toSorted()).toEqual(ids.toSorted())
}, 900_000)

test('a lease is one node’s at a time', async () => {
  const holders: number[] = []
  let most = 0
  await Promise.all(
    nodes.map(async (node, n) => {
      const lease = await takeLease(node, { work: 'w', clock: realClock, waits: () => {} })
      holders.push(n)
      most = Math.max(most, holders.length)
      await realClock.sleep(20)
      holders.splice(holders.indexOf(n), 1)
      await lease.release()
    }),
  )
  expect(most).toBe(1)
}, 900_000)

test('all that was refused was sent again', () => {
  const retries = nodes.reduce((sum, { writing }) => sum + writing.retries, 0)
  expect(retries).toBeGreaterThan(10)
})
