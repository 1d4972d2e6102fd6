// What is PostgreSQL's alone: several nodes on one database, answers that are lost, and a database that is away.

import { afterAll, describe, expect, test } from 'bun:test'
import { SQL } from 'bun'
import type { Clock } from '../../src/lib/clock.ts'
import type { Key, Kv } from '../../src/store/kv.ts'
import { AboveMax } from '../../src/store/kv.ts'
import { collection } from '../../src/store/collection.ts'
import { DataRefused } from '../../src/store/data-refused.ts'
import { refused } from '../../src/store/postgres/database.ts'
import { postgresKv } from '../../src/store/postgres/postgres-kv.ts'
import { transact } from '../../src/store/transaction.ts'
import { rejection } from '../rejection.ts'
import { postgresProxy } from './postgres-proxy.ts'
import { postgresStores, realClock } from './postgres-stores.ts'

const postgres = await postgresStores()
const sql = new SQL(postgres.url, { max: 1 })
afterAll(async () => {
  await sql.close()
  await postgres.stop()
})

const set = (key: Key, value = '1') => ({ sets: [{ key, value }] })
const step = { sums: [{ key: ['n'], step: 1 }] }
const valueOf = async (kv: Kv, key: Key) => (await kv.get(key))?.value ?? null

describe('several nodes', () => {
  test('that start at a time make the schema once, and read what another has committed', async () => {
    const nodes = await Promise.all([1, 2, 3, 4].map(() => postgres.open('together')))
    await nodes[0]?.commit(set(['a'], 'é😀\u0000'))
    for (const node of nodes) expect(await valueOf(node, ['a'])).toBe('é😀\u0000')
    await Promise.all(nodes.map((node) => node.close()))
  })

  test('lose no step of a counter and break no bound, however their commits meet', async () => {
    const nodes = await Promise.all([1, 2, 3].map(() => postgres.open('counting')))
    const done = await Promise.allSettled(
      nodes.flatMap((node) =>
        Array.from({ length: 100 }, (_, i) =>
          node.commit({
            sums: [
              { key: ['all'], step: 1 },
              { key: ['few', i % 3], step: 1, max: 40 },
            ],
          }),
        ),
      ),
    )
    const refused = done.filter(({ status }) => status === 'rejected')
    expect(refused).toHaveLength(300 - 120)
    expect(refused.every((one) => one.status === 'rejected' && one.reason instanceof AboveMax)).toBe(true)
    const kv = nodes[0] as Kv
    expect(await valueOf(kv, ['all'])).toBe('120')
    expect(await Promise.all([0, 1, 2].map((i) => valueOf(kv, ['few', i])))).toEqual(['40', '40', '40'])
    await Promise.all(nodes.map((node) => node.close()))
  })

  test('of two commits that check the same two keys and write one each, one is refused', async () => {
    const nodes = await Promise.all([1, 2].map(() => postgres.open('skew')))
    // So that one has not written yet when the other looks, unless it is kept from looking.
    await sql.unsafe(`
      create function skew.dawdle() returns trigger language plpgsql as $$
        begin perform pg_sleep(0.03); return new; end $$;
      create trigger dawdle before insert on skew.documents for each row execute function skew.dawdle()`)
    for (let i = 0; i < 5; i++) {
      const keys: readonly Key[] = [
        ['left', i],
        ['right', i],
      ]
      const checks = keys.map((key) => ({ key, version: null }))
      const done = await Promise.all(nodes.map((node, n) => node.commit({ checks, ...set(keys[n] ?? []) })))
      expect(done.filter(Boolean)).toHaveLength(1)
    }
    await Promise.all(nodes.map((node) => node.close()))
  })

  test('change one record without losing a change', async () => {
    const nodes = await Promise.all([1, 2, 3].map(() => postgres.open('record')))
    const things = nodes.map((kv) => collection<{ readonly id: string; readonly n: number }>(kv, 'things'))
    await transact(nodes[0] as Kv, () => things[0]?.insert({ id: 't', n: 0 }) ?? {})
    await Promise.all(
      things.flatMap((node) =>
        Array.from({ length: 10 }, () => node.update('t', (thing) => ({ ...thing, n: thing.n + 1 }))),
      ),
    )
    expect((await things[1]?.get('t'))?.n).toBe(30)
    await Promise.all(nodes.map((node) => node.close()))
  })
})

test('of commits in one group a later one sees what an earlier one did', async () => {
  const kv = postgresKv(await postgres.share())
  const absent = { checks: [{ key: ['k'], version: null }] }
  const results = await Promise.all([
    kv.commit({ ...absent, ...set(['k'], 'first') }),
    kv.commit({ ...absent, ...set(['k'], 'second') }),
    kv.commit({ deletes: [['k']] }),
    kv.commit({ ...absent, ...set(['k'], 'third') }),
    kv.commit(set(['beside'])),
  ])
  expect(results).toEqual([true, false, true, true, true])
  expect(await valueOf(kv, ['k'])).toBe('third')
  await kv.close()
})

test('a group of more than the database can do in one go is several', async () => {
  const kv = postgresKv(await postgres.share())
  const steps = Array.from({ length: 100 }, () => kv.commit(step))
  const large = Array.from({ length: 6 }, (_, i) => kv.commit(set(['large', i], 'x'.repeat(2 << 20))))
  const small = Array.from({ length: 1100 }, (_, i) => kv.commit(set(['small', i])))
  expect((await Promise.all([...steps, ...large, ...small])).every(Boolean)).toBe(true)
  expect(await valueOf(kv, ['n'])).toBe('100')
  expect((await valueOf(kv, ['large', 5]))?.length).toBe(2 << 20)
  expect(await kv.list({ prefix: ['small'] }, { limit: 2000 })).toHaveLength(1100)
  await kv.close()
})

test('what the database refuses fails alone, and a full disk is 507', async () => {
  const kv = postgresKv(await postgres.share('full'))
  await sql.unsafe(`
    create function "full".fill() returns trigger language plpgsql as $$
      begin raise exception 'no space left' using errcode = '53100'; end $$;
    create trigger fill before insert on "full".documents
      for each row when (new.value = 'too much') execute function "full".fill()`)
  const done = await Promise.allSettled([
    kv.commit(set(['a'])),
    kv.commit(set(['b'], 'too much')),
    kv.commit(set(['c'])),
  ])
  expect(done.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect(done[1]).toMatchObject({ reason: { status: 507, code: 'storage_full' } })
  expect(await valueOf(kv, ['b'])).toBeNull()
  expect(await valueOf(kv, ['c'])).toBe('1')
  await kv.close()
})

describe('the way to the database', () => {
  test('may lose an answer at any time: no commit is lost, and none is done twice', async () => {
    const proxy = postgresProxy(postgres.url)
    const kv = await postgres.open('lost', { url: proxy.url })
    await kv.commit(step)
    for (let i = 0; i < 24; i++) {
      proxy.loseAnswer(1 + (i % 4))
      expect(await kv.commit(step)).toBe(true)
    }
    proxy.loseAnswer(0)
    expect(await valueOf(kv, ['n'])).toBe('25')
    await kv.close()
    proxy.stop()
  })

  test('may be closed: 503 after some seconds, and all is well when it is open again', async () => {
    const proxy = postgresProxy(postgres.url)
    let now = 0
    const clock: Clock = {
      now: () => now,
      sleep(ms, signal) {
        // An answer that does not come is another test's.
        if (signal) return new Promise((resolve) => signal.addEventListener('abort', () => resolve()))
        now += ms
        return realClock.sleep(1)
      },
    }
    const kv = await postgres.open(undefined, { url: proxy.url, clock })
    await kv.commit(step)
    proxy.close()
    const away = { status: 503, code: 'store_unavailable', details: { retryAfter: 5 } }
    expect(await rejection(kv.get(['n']))).toMatchObject(away)
    expect(await rejection(kv.commit(step))).toMatchObject(away)
    expect(now).toBeGreaterThan(4000)
    // Whoever comes now need not find it out again.
    const waited = now
    const others = Array.from({ length: 5 }, () => rejection(kv.get(['n'])))
    for (const other of others) expect(await other).toMatchObject(away)
    expect(await rejection(kv.commit(step))).toMatchObject(away)
    expect(now).toBe(waited)
    proxy.open()
    expect(await valueOf(kv, ['n'])).toBe('1')
    expect(await kv.commit(step)).toBe(true)
    expect(await valueOf(kv, ['n'])).toBe('2')
    await kv.close()
    proxy.stop()
  })

  test('may go silent: the connections are thrown away, and what waited is asked again', async () => {
    const proxy = postgresProxy(postgres.url)
    let giveUp = () => {}
    const clock: Clock = {
      now: () => 0,
      sleep: (ms, signal) =>
        signal
          ? new Promise((resolve) => {
              giveUp = resolve
              signal.addEventListener('abort', () => resolve())
            })
          : realClock.sleep(ms),
    }
    const kv = await postgres.open(undefined, { url: proxy.url, clock })
    await kv.commit(step)
    proxy.silence()
    const waiting = kv.commit(step)
    await Promise.resolve()
    proxy.open()
    // What the first statement was waited for is over, and then what this one is.
    giveUp()
    await Promise.resolve()
    giveUp()
    expect(await waiting).toBe(true)
    expect(await valueOf(kv, ['n'])).toBe('2')
    await kv.close()
    proxy.stop()
  })
})

/** Each look at it is a second later, and nobody waits. */
function hurried(): Clock {
  let time = 0
  return {
    now: () => (time += 500),
    sleep: (ms, signal) =>
      ms < 1000
        ? Promise.resolve()
        : new Promise((resolve) => signal?.addEventListener('abort', () => resolve(), { once: true })),
  }
}

test('statements that the database ends for its limits of time are sent again, and then 503', async () => {
  const name = crypto.randomUUID()
  const kv = await postgres.open(name, { clock: hurried() })
  await kv.commit(step)
  // Twice too slow, then quick.
  await sql.unsafe(`
    create sequence "${name}".slow_left;
    create function "${name}".cancelled() returns trigger language plpgsql as $$
      begin
        if nextval('"${name}".slow_left') <= 2 then
          raise exception 'canceling statement due to statement timeout' using errcode = '57014';
        end if;
        return new;
      end $$;
    create trigger cancelled before insert or update on "${name}".documents
      for each row execute function "${name}".cancelled()`)
  expect(await kv.commit(step)).toBe(true)
  expect(await valueOf(kv, ['n'])).toBe('2')
  await sql.unsafe(`alter sequence "${name}".slow_left minvalue -1000 restart with -1000`)
  expect(await rejection(kv.commit(step))).toMatchObject({ status: 503, code: 'store_unavailable' })
  // A read of that moment is not refused for it.
  expect(await valueOf(kv, ['n'])).toBe('2')
  await kv.close()
})

test('a start is tried again though the machine stood still at the first try for longer than anybody waits', async () => {
  const proxy = postgresProxy(postgres.url)
  proxy.close()
  let time = 0
  let pauses = 0
  const clock: Clock = {
    now: () => (time += 10_000),
    sleep(_, signal) {
      if (signal) return new Promise((resolve) => signal.addEventListener('abort', () => resolve()))
      pauses++
      proxy.open()
      return realClock.sleep(1)
    },
  }
  const kv = await postgres.open(undefined, { url: proxy.url, clock })
  // Nothing is written, since its notice to others would be sent at any time.
  expect(await valueOf(kv, ['n'])).toBeNull()
  proxy.close()
  expect(pauses).toBe(1)
  // A database that has answered once is not asked again when all the time has passed.
  expect(await rejection(kv.get(['n']))).toMatchObject({ status: 503 })
  expect(pauses).toBe(1)
  await kv.close()
  proxy.stop()
})

test('a connection that the database ends while nothing is asked for is opened again', async () => {
  const role = `idle_${crypto.randomUUID().slice(0, 8)}`
  await sql.unsafe(`create role ${role} login superuser`)
  const url = new URL(postgres.url)
  url.username = role
  const kv = await postgres.open(undefined, { url: url.href })
  await kv.commit(step)
  await sql.unsafe(`select pg_terminate_backend(pid) from pg_stat_activity where usename = '${role}'`)
  expect(await kv.commit(step)).toBe(true)
  expect(await valueOf(kv, ['n'])).toBe('2')
  await kv.close()
})

describe('a database is refused', () => {
  test.each(['42P05', '26000'])(
    'where a pooler mixes up prepared statements, at any time: %s',
    async (code) => {
      const { writing, close } = await postgres.connect('pooled')
      const raise = `do $$ begin raise exception 'prepared statement "P0"' using errcode = '${code}'; end $$`
      for (const ask of [() => writing.query(raise), () => writing.script(raise)]) {
        const refusal = await rejection(ask())
        expect(refusal).toBeInstanceOf(DataRefused)
        expect(String(refusal)).toContain('prepare=false')
      }
      await close()
    },
  )
  const refusal = async (url: string, name?: string) => String(await rejection(postgres.open(name, { url })))

  test('that a newer program has changed, and taken where that one lets older ones go on', async () => {
    await (await postgres.open('newer')).close()
    await sql`update newer.layout set version = 9, usable_from = 9`
    expect(await refusal(postgres.url, 'newer')).toContain('layout 9, this program knows up to ')
    await sql`update newer.layout set usable_from = 1`
    await (await postgres.open('newer')).close()
  })

  test('with what can be done, and without its password', async () => {
    const url = new URL(postgres.url)
    url.pathname = '/nowhere'
    url.password = 'secret-word'
    const said = await refusal(url.href)
    expect(said).toContain('STORE: there is no database of that name')
    expect(said).not.toContain('secret-word')
  })

  test.each([
    ['where it has no connection left', 'connection limit 0', 'has no connection left.', 'max_connections'],
    ['where it takes no writes', 'set default_transaction_read_only = on', 'takes no writes', 'standby'],
    [
      'where it ends statements early',
      'set statement_timeout = 40',
      'too early (statement_timeout = 40 ms)',
      '15s',
    ],
    [
      'where it ends transactions early',
      'set idle_in_transaction_session_timeout = 4999',
      'too early (idle_in_transaction_session_timeout = 4999 ms)',
      'ALTER ROLE',
    ],
    [
      'where it is too old',
      'set search_path = pretended, pg_catalog',
      'older than PostgreSQL 15',
      'Update it',
    ],
  ])('with what can be done %s', async (_, setting, what, remedy) => {
    const role = `refused_${crypto.randomUUID().slice(0, 8)}`
    await sql.unsafe(`create role ${role} login`)
    await sql.unsafe(`alter role ${role} ${setting}`)
    await sql.unsafe(`
      create schema if not exists pretended;
      grant usage on schema pretended to public;
      create or replace function pretended.current_setting(text) returns text language sql as $$ select '130021' $$`)
    const url = new URL(postgres.url)
    url.username = role
    const said = String(await rejection(postgres.open(undefined, { url: url.href, clock: hurried() })))
    expect(said).toContain('STORE: the database ')
    expect(said).toContain(what)
    expect(said).toContain(remedy)
    await sql.unsafe(`drop role ${role}`)
  })

  test.each([
    ['28P01', 'refuses the user or its password'],
    ['28000', 'pg_hba.conf'],
    ['53100', 'disk of the database is full'],
  ])('with what can be done where it says %s', (errno, remedy) => {
    const error = new SQL.PostgresError('as PostgreSQL puts it', {
      code: 'ERR_POSTGRES_SERVER_ERROR',
      errno,
      severity: 'FATAL',
    })
    expect(String(refused(error))).toContain(`STORE: `)
    expect(String(refused(error))).toContain(remedy)
  })

  test('with what can be done about encryption', async () => {
    const proxy = postgresProxy(postgres.url)
    const url = new URL(proxy.url)
    url.searchParams.set('sslmode', 'verify-full')
    expect(await refusal(url.href)).toContain('STORE: the database does not encrypt connections.')
    proxy.stop()
    const untrusted = Object.assign(new Error('self signed certificate'), {
      code: 'DEPTH_ZERO_SELF_SIGNED_CERT',
    })
    expect(String(refused(untrusted))).toContain(
      'STORE: the certificate of the database is refused (self signed',
    )
  })
})
