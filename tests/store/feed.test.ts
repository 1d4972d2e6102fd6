import { afterAll, expect, test } from 'bun:test'
import { SQL } from 'bun'
import { silentLog } from '../../src/lib/log.ts'
import { seriesKey } from '../../src/market/bar-store.ts'
import { type FeedChange, ChangeFeed } from '../../src/store/postgres/feed.ts'
import { barsOfChange, postgresBars } from '../../src/store/postgres/postgres-bars.ts'
import { postgresKv } from '../../src/store/postgres/postgres-kv.ts'
import { minuteBars } from '../market/bar-store.conformance.ts'
import { simulatedConnection } from '../simulation/database.ts'
import { postgresStores, realClock } from './postgres-stores.ts'

const postgres = await postgresStores()
const sql = new SQL(postgres.url, { max: 2 })
afterAll(async () => {
  await sql.close()
  await postgres.stop()
})

const write = (key: string, i = 0) => ({ sets: [{ key: [key, i], value: '1' }] })

/** Everything there is to read now. */
async function readAll(feed: ChangeFeed): Promise<void> {
  while ((await feed.read()) > 0);
}

/** Until so many keys were heard of: the horizon waits for the transactions of all databases, also those of other suites. */
async function readUntil(feed: ChangeFeed, heard: readonly FeedChange[], count: number): Promise<void> {
  while (heard.flatMap(({ keys }) => keys).length < count)
    if ((await feed.read()) === 0) await realClock.sleep(5)
}

function followed(feed: ChangeFeed): FeedChange[] {
  const heard: FeedChange[] = []
  feed.onChange((change) => heard.push(change))
  return heard
}

test('every node hears of what all of them write, once, and of what a commit deletes or counts', async () => {
  const nodes = await Promise.all([1, 2, 3].map(() => postgres.connect('fed')))
  const feeds = nodes.map((node) => new ChangeFeed(node))
  const heard = feeds.map(followed)
  await Promise.all(feeds.map(readAll))
  const stores = nodes.map(postgresKv)
  await Promise.all(
    stores.flatMap((kv, n) => Array.from({ length: 60 }, (_, i) => kv.commit(write(`node ${n}`, i)))),
  )
  await stores[0]?.commit({ deletes: [['node 1', 3]], sums: [{ key: ['n'], step: 1 }] })
  await Promise.all(feeds.map((feed, i) => readUntil(feed, heard[i]!, 182)))
  const wrote = stores.flatMap((_, n) => Array.from({ length: 60 }, (_one, i) => `["node ${n}",${i}]`))
  for (const changes of heard) {
    const keys = changes.flatMap((change) => change.keys).map((key) => JSON.stringify(key))
    expect(keys.toSorted()).toEqual([...wrote, '["n"]', '["node 1",3]'].toSorted())
    expect(new Set(changes.map(({ node }) => node))).toEqual(new Set(nodes.map(({ node }) => node)))
  }
  await Promise.all(nodes.map((node) => node.close()))
})

test('a transaction that commits after a later one is heard of all the same', async () => {
  const connection = await postgres.share('late')
  const kv = postgresKv(connection)
  const feed = new ChangeFeed(connection)
  const heard = followed(feed)
  await readAll(feed)
  const begun = Promise.withResolvers<void>()
  const end = Promise.withResolvers<void>()
  const slow = sql.begin(async (tx) => {
    await tx`insert into late.changes (n, node, keys) values (nextval('late.change_number'), 'slow', '{}')`
    begun.resolve()
    await end.promise
  })
  await begun.promise
  await kv.commit(write('later'))
  await readAll(feed)
  expect(heard).toEqual([])
  end.resolve()
  await slow
  await readUntil(feed, heard, 1)
  expect(heard.map(({ node }) => node)).toEqual(['slow', connection.node])
  await connection.close()
})

test('a series that was written, with how many bars, or removed, and the facts of a symbol, are heard of', async () => {
  const connection = await postgres.share()
  const store = postgresBars(connection)
  const feed = new ChangeFeed(connection)
  const heard = followed(feed)
  await readAll(feed)
  const key = { ...seriesKey('BINANCE', 'BTCUSDT', '1m'), owner: 'usr_1' }
  await store.upsert(key, minuteBars(0, 3))
  await store.upsert(key, minuteBars(2, 7))
  const draft = store.draft(key)
  await draft.add(minuteBars(6, 10))
  await draft.commit()
  await store.remove(key)
  await store.removeSymbol('ACME', 'NONE', '')
  await readUntil(feed, heard, 4)
  const keys = heard.flatMap((change) => change.keys)
  expect(keys.map(barsOfChange)).toEqual([
    { key, inserted: 3, updated: 0 },
    { key, inserted: 4, updated: 1 },
    { key, inserted: 3, updated: 1 },
    { key, inserted: 0, updated: 0 },
  ])
  // As a program of before that says it.
  expect(barsOfChange(['bars', 'usr_1', 'BINANCE', 'BTCUSDT', '1m'])).toEqual({
    key,
    inserted: 0,
    updated: 0,
  })
  await connection.close()
})

test('a feed that is told looks every other second while nothing is written, and one that is not eight times', async () => {
  const { clock, ...connection } = await simulatedConnection(1)
  const { reading } = connection
  let looks = 0
  const counted = {
    query: (text: string, values: unknown[]) => (
      text.startsWith('select f.') && looks++,
      reading.query(text, values)
    ),
  }
  const feed = new ChangeFeed({ ...connection, reading: counted as never })
  const stop = new AbortController()
  const running = feed.run({ clock, log: silentLog }, stop.signal)
  const perTwoSeconds = async () => {
    await clock.sleep(2000)
    const before = looks
    await clock.sleep(10_000)
    return Math.round((looks - before) / 5)
  }
  expect(await perTwoSeconds()).toBe(8)
  await postgresKv(connection).commit(write('told'))
  expect(await perTwoSeconds()).toBe(1)
  await postgresKv({ ...connection, written() {} }).commit(write('untold'))
  expect(await perTwoSeconds()).toBe(8)
  stop.abort()
  await running
  await connection.close()
})

test('rows go once every node that is alive has read them, and one that was away is told so', async () => {
  const [one, other] = await Promise.all([postgres.share('pruned'), postgres.share('pruned')])
  const kv = postgresKv(one)
  const rows = async () => (await sql`select from pruned.changes`).length as number
  const stop = new AbortController()
  const feed = new ChangeFeed(one)
  const away = new ChangeFeed(other)
  let missed = 0
  away.onMissed(() => missed++)
  await readAll(away)
  await sql`insert into pruned.nodes (node, at_xid) select ${other.node}, pg_snapshot_xmin(pg_current_snapshot())`
  const all = Promise.withResolvers<void>()
  const heard: unknown[] = []
  feed.onChange(({ keys }) => {
    heard.push(...keys)
    if (heard.length === 3) all.resolve()
  })
  const ready = Promise.withResolvers<void>()
  let time = 0
  // Each time that it looks it also says how far it is.
  const clock = {
    now: () => (time += 10_000),
    sleep: (ms: number, signal?: AbortSignal) => (ready.resolve(), realClock.sleep(Math.min(ms, 5), signal)),
  }
  const running = feed.run({ clock, log: silentLog }, stop.signal)
  await ready.promise
  for (let i = 0; i < 3; i++) await kv.commit(write('a', i))
  await all.promise
  await feed.prune()
  expect(await rows()).toBe(3)
  await sql`update pruned.nodes set seen = seen - interval '2 minutes' where node = ${other.node}`
  // The last row is where the others go on.
  while ((await rows()) > 1) await feed.prune()
  expect(missed).toBe(0)
  await away.read()
  expect(missed).toBe(1)
  await kv.commit(write('b'))
  const after = followed(away)
  await readUntil(away, after, 1)
  expect(after).toHaveLength(1)
  stop.abort()
  await running
  await Promise.all([one.close(), other.close()])
})

test('a write wakes those who listen', async () => {
  const connection = await postgres.connect('woken')
  const feed = new ChangeFeed(connection)
  const heard = followed(feed)
  const stop = new AbortController()
  // Nobody looks by themselves: the first nap lasts until somebody ends it.
  const clock = {
    now: () => 0,
    sleep: (_: number, signal?: AbortSignal) =>
      new Promise<void>((resolve) => {
        if (signal?.aborted) resolve()
        signal?.addEventListener('abort', () => resolve())
      }),
  }
  const running = feed.run({ clock, log: silentLog }, stop.signal)
  const others = async (): Promise<number> =>
    (await sql`select from pg_stat_activity where query ilike 'listen%woken%'`).length as number
  while ((await others()) === 0) await realClock.sleep(5)
  const kv = postgresKv(connection)
  // Written again until it is heard of: a transaction of another suite may hold the horizon back at a wake.
  while (heard.length === 0) {
    await kv.commit(write('a'))
    await realClock.sleep(5)
  }
  stop.abort()
  await running
  await connection.close()
})
