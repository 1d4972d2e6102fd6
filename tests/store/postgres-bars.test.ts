import { afterAll, expect, test } from 'bun:test'
import { SQL } from 'bun'
import { emptyBars } from '../../src/market/bars.ts'
import { memoryBars, seriesKey } from '../../src/market/bar-store.ts'
import type { Connection } from '../../src/store/postgres/connection.ts'
import type { Query } from '../../src/store/postgres/database.ts'
import { postgresBars } from '../../src/store/postgres/postgres-bars.ts'
import { barStoreConformance, minuteBars, rows } from '../market/bar-store.conformance.ts'
import { simulatedConnection } from '../simulation/database.ts'
import { postgresProxy } from './postgres-proxy.ts'
import { postgresStores } from './postgres-stores.ts'

const postgres = await postgresStores()
const sql = new SQL(postgres.url, { max: 1 })
afterAll(async () => {
  await sql.close()
  await postgres.stop()
})
const KEY = seriesKey('BINANCE', 'BTCUSDT', '1m')

barStoreConformance('bars in PostgreSQL', async () => {
  const connection = await postgres.share()
  return { store: postgresBars(connection), close: () => connection.close() }
})

barStoreConformance('bars in PostgreSQL as it is simulated', async () => {
  const connection = await simulatedConnection(1)
  return { store: postgresBars(connection), close: () => connection.close() }
})

test('several nodes that write one series at a time lose no bar', async () => {
  const nodes = await Promise.all([1, 2, 3].map(() => postgres.connect('writers')))
  const stores = nodes.map(postgresBars)
  await Promise.all(
    stores.flatMap((store, n) =>
      Array.from({ length: 8 }, (_, i) =>
        store.upsert(KEY, minuteBars(n * 1000 + i * 10, n * 1000 + i * 10 + 10)),
      ),
    ),
  )
  for (const store of stores) expect((await store.read(KEY)).bars.length).toBe(240)
  expect(await stores[0]?.info(KEY)).toMatchObject({ count: 240, first: 0, last: 2_079 * 60_000 })
  await Promise.all(nodes.map((node) => node.close()))
})

test('a long read is of one moment', async () => {
  const connection = await postgres.connect()
  const store = postgresBars(connection)
  await store.upsert(KEY, minuteBars(0, 280_000))
  // All bars are written anew once a read knows which chunks there are, and before it has asked for any of them.
  let writing: Promise<unknown> | null = null
  const interrupted =
    (query: Query): Query =>
    async (text, values) => {
      const rows = await query(text, values)
      if (text.startsWith('select c.chunk, c.bars'))
        await (writing ??= store.upsert(KEY, minuteBars(0, 280_000, { price: 7 })))
      return rows as never
    }
  const reading = {
    query: interrupted((text, values) => connection.reading.query(text, values)),
    snapshot: <T>(read: (query: Query) => Promise<T>) =>
      connection.reading.snapshot((query) => read(interrupted(query))),
  } as Connection['reading']
  const { bars } = await postgresBars({ ...connection, reading }).read(KEY)
  expect(writing).not.toBeNull()
  expect(bars.open.length).toBe(280_000)
  expect(Bun.hash(bars.open)).toBe(Bun.hash(minuteBars(0, 280_000).open))
  let made = 0
  const range = { from: 5000 * 60_000, last: 270_000 }
  const last = await store.read(KEY, range, (length) => emptyBars((made = length)))
  expect(last.bars.length).toBe(270_000)
  expect(made).toBeLessThan(270_000 + 3 * 4096)
  await connection.close()
})

test('an answer that is lost makes no second change, and the write says what it did', async () => {
  const proxy = postgresProxy(postgres.url)
  const connection = await postgres.connect('lost bars', { url: proxy.url })
  const store = postgresBars(connection)
  await store.upsert(KEY, minuteBars(0, 10))
  for (let i = 1; i < 13; i++) {
    proxy.loseAnswer(1 + (i % 4))
    const result = await store.upsert(KEY, minuteBars(i * 10, i * 10 + 10))
    proxy.loseAnswer(0)
    expect(result).toMatchObject({ inserted: 10, updated: 0, before: { count: i * 10 } })
  }
  const [changes] = await sql`select count(*)::int as count from "lost bars".changes`
  expect(changes).toEqual({ count: 13 })
  await connection.close()
  proxy.stop()
})

test('an import that was cut short is swept up once nobody can be at it any more, and nothing else', async () => {
  const connection = await postgres.share('swept')
  const store = postgresBars(connection)
  const chunks = async () => (await sql`select from swept.bar_chunks`).length as number
  await store.upsert(KEY, minuteBars(0, 10_000))
  await store.draft(KEY).add(minuteBars(10_000, 30_000))
  const gone = seriesKey('BINANCE', 'ETHUSDT', '1m')
  await store.upsert(gone, minuteBars(0, 10))
  await store.remove(gone)
  await store.sweep()
  expect(await chunks()).toBe(8)
  await sql`update swept.bar_drafts set at = at - interval '7 hours'`
  await store.sweep()
  expect(await chunks()).toBe(3)
  expect(rows((await store.read(KEY)).bars)).toEqual(rows(minuteBars(0, 10_000)))
  await connection.close()
})

test('bars that come at the end have a small chunk, which joins the one before it now and then', async () => {
  const schema = crypto.randomUUID()
  const connection = await postgres.share(schema)
  const store = postgresBars(connection)
  const plain = memoryBars()
  const write = async (from: number, to: number, price = 100) => {
    for (const one of [store, plain]) await one.upsert(KEY, minuteBars(from, to, { price }))
  }
  const lengths = async () => {
    const found: { bars: number }[] = await sql.unsafe(
      `select bars from "${schema}".bar_chunks order by first`,
    )
    return found.map(({ bars }) => bars)
  }
  await write(0, 5000)
  expect(await lengths()).toEqual([4096, 904])
  // A feed brings the newest bar again, as it is now, and the next one.
  const seen: number[] = []
  for (let minute = 4999; minute < 5139; minute++) {
    await write(minute, minute + 2, minute)
    seen.push((await lengths()).at(-1) ?? 0)
  }
  expect(Math.max(...seen)).toBe(64)
  const [full, large, small] = await lengths()
  expect([full, (large ?? 0) + (small ?? 0)]).toEqual([4096, 1044])
  // A large write is as large as it is, and one into the middle goes where it belongs.
  await write(5140, 5500)
  await write(5500, 5501)
  await write(4000, 5450, 9)
  await write(5600, 9000)
  await write(9000, 9001)
  const range = { from: 0 }
  expect(rows((await store.read(KEY, range)).bars)).toEqual(rows((await plain.read(KEY, range)).bars))
  expect((await lengths()).reduce((sum, bars) => sum + bars, 0)).toBe((await store.info(KEY))?.count ?? 0)
  for (let minute = 9001; minute < 17_500; minute += 250) await write(minute, minute + 250)
  expect((await lengths()).every((bars) => bars <= 4096)).toBe(true)
  expect((await lengths()).length).toBeLessThan(45)
  expect(rows((await store.read(KEY, { last: 3000 })).bars)).toEqual(
    rows((await plain.read(KEY, { last: 3000 })).bars),
  )
  await connection.close()
}, 900_000)
