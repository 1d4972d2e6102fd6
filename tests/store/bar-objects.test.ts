// Bars whose full chunks are in a bucket, on an S3 of the tests' own.

import { afterAll, beforeEach, expect, test } from 'bun:test'
import { SQL } from 'bun'
import { seriesKey } from '../../src/market/bar-store.ts'
import { postgresArchive } from '../../src/store/postgres/postgres-archive.ts'
import { postgresBars } from '../../src/store/postgres/postgres-bars.ts'
import { barStoreConformance, minuteBars, rows } from '../market/bar-store.conformance.ts'
import { rejection } from '../rejection.ts'
import { postgresStores } from './postgres-stores.ts'
import { startS3 } from './s3-server.ts'

const postgres = await postgresStores()
const sql = new SQL(postgres.url, { max: 1 })
const s3 = startS3()
afterAll(async () => {
  s3.stop()
  await sql.close()
  await postgres.stop()
})
beforeEach(() => {
  s3.objects.clear()
  s3.isAway = false
})
const KEY = seriesKey('BINANCE', 'BTCUSDT', '1m')
const OTHER = seriesKey('BINANCE', 'ETHUSDT', '1m')

async function world(name: string = crypto.randomUUID()) {
  const connection = await postgres.share(name, s3.address('market'))
  const { objects } = connection
  if (!objects) throw new Error('no bucket')
  const length = async () =>
    Number(
      (await sql.unsafe(`select coalesce(sum(octet_length(bytes)), 0) as n from "${name}".bar_chunks`))[0].n,
    )
  return { name, connection, objects, store: postgresBars(connection), length }
}

barStoreConformance('bars in a bucket', async () => {
  const { store, connection } = await world()
  return { store, close: () => connection.close() }
})

test('full chunks are objects named by what is in them, and others are rows', async () => {
  const { store, connection, length } = await world()
  await store.upsert(KEY, minuteBars(0, 3 * 4096 + 10))
  expect(s3.objects.size).toBe(3)
  expect(await length()).toBeLessThan(2000)
  for (const [path, bytes] of s3.objects) {
    const hash = new Bun.CryptoHasher('sha256').update(bytes).digest('hex')
    expect(path).toStartWith(`/market/bars/${hash}-`)
  }
  // The same bars once more are the same objects.
  await store.upsert(OTHER, minuteBars(0, 3 * 4096))
  expect(s3.objects.size).toBe(3)
  expect(rows((await store.read(OTHER)).bars)).toEqual(rows(minuteBars(0, 3 * 4096)))
  await store.upsert(KEY, minuteBars(5, 6, { price: 7 }))
  expect(s3.objects.size).toBe(4)
  expect(rows((await store.read(OTHER)).bars)).toEqual(rows(minuteBars(0, 3 * 4096)))
  await connection.close()
})

test('objects go once nothing has pointed at them for long enough, and one that is wanted again stays', async () => {
  const { store, connection, objects, name } = await world()
  const old = () => sql.unsafe(`update "${name}".bar_objects set unused = unused - interval '31 days'`)
  await store.upsert(KEY, minuteBars(0, 2 * 4096))
  await store.remove(KEY)
  expect([await objects.collect(), s3.objects.size]).toEqual([0, 2])
  expect([await objects.collect(), s3.objects.size]).toEqual([0, 2])
  await old()
  // Half of it came again.
  await store.upsert(OTHER, minuteBars(0, 4096))
  expect([await objects.collect(), s3.objects.size]).toEqual([1, 1])
  expect(rows((await store.read(OTHER)).bars)).toEqual(rows(minuteBars(0, 4096)))
  // What is pointed at is never deleted, however old it is.
  await sql.unsafe(`update "${name}".bar_objects set unused = '-infinity'`)
  expect([await objects.collect(), s3.objects.size]).toEqual([0, 1])
  await connection.close()
})

test('a deletion that comes late takes nothing that was put meanwhile', async () => {
  const { store, connection, objects, name } = await world()
  await store.upsert(KEY, minuteBars(0, 4096))
  await store.remove(KEY)
  await objects.collect()
  await sql.unsafe(`update "${name}".bar_objects set unused = '-infinity'`)
  s3.isAway = true
  expect(await rejection(objects.collect())).toMatchObject({ status: 503, code: 'store_unavailable' })
  s3.isAway = false
  const [late = ''] = s3.objects.keys()
  await store.upsert(OTHER, minuteBars(0, 4096))
  s3.objects.delete(late)
  expect(rows((await store.read(OTHER)).bars)).toEqual(rows(minuteBars(0, 4096)))
  expect(await objects.collect()).toBe(0)
  expect(s3.objects.size).toBe(1)
  await connection.close()
})

test('a bucket that does not answer is 503, nothing is half written, and an object that was changed is no bars', async () => {
  const { store, connection } = await world()
  await store.upsert(KEY, minuteBars(0, 4096))
  s3.isAway = true
  const away = { status: 503, code: 'store_unavailable', details: { retryAfter: 5 } }
  expect(await rejection(store.read(KEY))).toMatchObject(away)
  expect(await rejection(store.upsert(OTHER, minuteBars(0, 4096)))).toMatchObject(away)
  s3.isAway = false
  expect(await store.info(OTHER)).toBeNull()
  for (const [path, bytes] of s3.objects) s3.objects.set(path, bytes.with(200, 1 + (bytes[200] ?? 0)))
  expect(String(await rejection(store.read(KEY)))).toContain('is not what was put')
  s3.objects.clear()
  expect(String(await rejection(store.read(KEY)))).toContain('the bucket has no object')
  await connection.close()
})

test('whoever names no bucket or another one is refused, and so is a key that the bucket does not take', async () => {
  const { name, connection, store } = await world()
  const refusal = async (bars: string | null) => String(await rejection(postgres.connect(name, { bars })))
  expect(await refusal(null)).toContain('BARS: bars of this database are in s3://market/bars/')
  expect(await refusal(s3.address('market', { prefix: 'else' }))).toContain('and not in s3://market/else/')
  const wrong = await refusal(s3.address('market', { secret: 'wrong/word' }))
  expect(wrong).toContain('cannot be used (SignatureDoesNotMatch: the secret of the key is wrong)')
  expect(wrong).not.toContain('wrong/word')
  expect(await refusal(s3.address('missing'))).toContain(
    'cannot be used (NoSuchBucket: there is no such bucket)',
  )
  // Bars that were there before stay in the database, and are read as ever.
  const before = await postgres.connect('before the bucket')
  await postgresBars(before).upsert(KEY, minuteBars(0, 5000))
  const after = await postgres.connect('before the bucket', { bars: s3.address('market') })
  expect(rows((await postgresBars(after).read(KEY)).bars)).toEqual(rows(minuteBars(0, 5000)))
  const [layout] = await sql`select usable_from from "before the bucket".layout`
  expect(layout).toEqual({ usable_from: 7 })
  await store.upsert(KEY, minuteBars(0, 4096))
  for (const one of [connection, before, after]) await one.close()
})

test('an archive has the bars themselves, from one bucket and into another', async () => {
  const from = await world()
  await from.store.upsert(KEY, minuteBars(0, 9000))
  const to = await postgres.share(crypto.randomUUID(), s3.address('market', { prefix: 'copy' }))
  const [source, target] = [postgresArchive(from.connection), postgresArchive(to)]
  const [info] = await source.series()
  if (!info) throw new Error('no series')
  await target.putSeries(info, source.chunks(KEY))
  expect(rows((await postgresBars(to).read(KEY)).bars)).toEqual(rows(minuteBars(0, 9000)))
  expect([...s3.objects.keys()].filter((path) => path.startsWith('/market/copy/'))).toHaveLength(2)
  await from.connection.close()
  await to.close()
})
