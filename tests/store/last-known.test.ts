import { expect, test } from 'bun:test'
import { Problem } from '../../src/lib/problem.ts'
import { type Bars, emptyBars } from '../../src/market/bars.ts'
import { memoryBars, seriesKey } from '../../src/market/bar-store.ts'
import { memoryKv } from '../../src/store/memory.ts'
import { LastKnown } from '../../src/store/postgres/last-known.ts'
import { rejection } from '../rejection.ts'
import { goingAway } from './going-away.ts'

const MINUTE = 60_000
const away = { status: 503, code: 'store_unavailable' }

function world(bytesMax?: number) {
  let now = 1
  const known = new LastKnown({ now: () => now, ...(bytesMax !== undefined && { bytesMax }) })
  const database = goingAway()
  const kv = known.kv(database.kv(memoryKv()))
  const store = known.bars(database.bars(memoryBars()))
  return { known, kv, store, database, pass: (ms: number) => (now += ms) }
}

function bars(times: readonly number[]): Bars {
  const columns = emptyBars(times.length)
  columns.time.set(times)
  return columns
}

const set = (name: string, value: string) => ({ sets: [{ key: ['a', name], value }] })

test('while the database is away, what only shows is shown what was read last, and how old it is', async () => {
  const { known, kv, database, pass } = world()
  await kv.commit(set('1', 'one'))
  const read = () =>
    Promise.all([
      kv.get(['a', '1']),
      kv.getMany([
        ['a', '1'],
        ['a', '2'],
      ]),
      kv.versions([['a', '1']]),
      kv.list({ prefix: ['a'] }, { limit: 5 }),
    ])
  const before = await known.show(read)
  expect(before.ageMs).toBe(0)
  await kv.commit(set('1', 'two'))
  database.isAway = true
  pass(MINUTE)
  const { answer, ageMs } = await known.show(read)
  expect(answer).toEqual(before.answer)
  expect(ageMs).toBe(MINUTE)
  database.isAway = false
  expect((await known.show(() => kv.get(['a', '1']))).answer?.value).toBe('two')
})

test('whatever acts on what it reads is refused, and so is what nobody has read', async () => {
  const { known, kv, database } = world()
  await kv.commit(set('1', 'one'))
  await known.show(() => kv.get(['a', '1']))
  database.isAway = true
  expect(await rejection(kv.get(['a', '1']))).toMatchObject(away)
  expect(await rejection(known.show(() => kv.get(['a', '2'])))).toMatchObject(away)
  expect(await rejection(known.show(() => kv.commit(set('1', 'two'))))).toMatchObject(away)
})

test('what was read is good for a quarter of an hour, and any other error is told', async () => {
  const { known, kv, database, pass } = world()
  await known.show(() => kv.get(['a']))
  database.isAway = true
  pass(15 * MINUTE)
  expect((await known.show(() => kv.get(['a']))).answer).toBeNull()
  pass(1)
  expect(await rejection(known.show(() => kv.get(['a'])))).toMatchObject(away)
  const broken = known.kv({
    ...memoryKv(),
    get: () => Promise.reject(new Problem(507, 'storage_full', 'full')),
  })
  expect(await rejection(known.show(() => broken.get(['a'])))).toMatchObject({ code: 'storage_full' })
})

test('it keeps what was asked for last, up to so many bytes', async () => {
  const { known, kv, database } = world(2500)
  for (const name of ['1', '2', '3']) {
    await kv.commit(set(name, 'x'.repeat(700)))
    await known.show(() => kv.get(['a', name]))
  }
  database.isAway = true
  expect(await rejection(known.show(() => kv.get(['a', '1'])))).toMatchObject(away)
  expect((await known.show(() => kv.get(['a', '3']))).answer?.value).toHaveLength(700)
})

test('which series and symbols there are is known, too', async () => {
  const { known, store, database } = world()
  const key = seriesKey('X', 'ABC', '1h')
  await store.upsert(key, bars([1, 2, 3]))
  const read = () => Promise.all([store.info(key), store.list(), store.symbol('X', 'ABC'), store.symbols()])
  const { answer } = await known.show(read)
  expect(answer[0]).toMatchObject({ count: 3 })
  database.isAway = true
  expect((await known.show(read)).answer).toEqual(answer)
  expect(await rejection(known.show(() => store.upsert(key, bars([4]))))).toMatchObject(away)
})
