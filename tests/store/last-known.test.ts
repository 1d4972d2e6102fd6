import { expect, test } from 'bun:test'
import { Problem } from '../../src/lib/problem.ts'
import { type Bars, emptyBars } from '../../src/market/bars.ts'
import { memoryBars, seriesKey } from '../../src/market/bar-store.ts'
import { defaultSymbol } from '../../src/market/symbols.ts'
import { memoryKv } from '../../src/store/memory.ts'
import { LastKnown } from '../../src/store/postgres/last-known.ts'
import { Silence } from '../../src/store/postgres/silence.ts'
import { HandClock } from '../lib/hand-clock.ts'
import { rejection } from '../rejection.ts'
import { goingAway } from './going-away.ts'

const MINUTE = 60_000
const away = { status: 503, code: 'store_unavailable' }

function world(bytesMax?: number) {
  const clock = new HandClock()
  const silence = new Silence(clock)
  const known = new LastKnown({
    now: () => clock.now(),
    silence,
    ...(bytesMax !== undefined && { bytesMax }),
  })
  const database = goingAway(silence)
  /** What another server writes to. */
  const elsewhere = { kv: memoryKv(), store: memoryBars() }
  const kv = known.kv(database.kv(elsewhere.kv))
  const store = known.bars(database.bars(elsewhere.store))
  return { clock, known, kv, store, elsewhere, database, pass: (ms: number) => (clock.time += ms) }
}

function bars(times: readonly number[]): Bars {
  const columns = emptyBars(times.length)
  columns.time.set(times)
  return columns
}

const set = (name: string, value: string) => ({ sets: [{ key: ['a', name], value }] })

test('while the database is away, what only shows is shown what was read last, and how old it is', async () => {
  const { known, kv, elsewhere, database, pass } = world()
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
  await elsewhere.kv.commit(set('1', 'two'))
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

test('what this server has written itself is not shown as it was before, and all the rest is', async () => {
  const { known, kv, database } = world()
  for (const name of ['1', '2']) await kv.commit(set(name, 'one'))
  const key = ['a', '1']
  const asks: readonly (() => Promise<unknown>)[] = [
    () => kv.get(key),
    () => kv.getMany([['a', '2'], key]),
    () => kv.versions([key]),
    () => kv.list({ prefix: ['a'] }, { limit: 5 }),
    () => kv.list({ start: ['a', '0'], end: ['a', '9'] }, { limit: 5 }),
  ]
  for (const ask of asks) await known.show(ask)
  const other = await known.show(() => kv.get(['a', '2']))
  await kv.commit(set('1', 'two'))
  database.isAway = true
  for (const ask of asks) expect(await rejection(known.show(ask))).toMatchObject(away)
  expect((await known.show(() => kv.get(['a', '2']))).answer).toEqual(other.answer)
})

test('what was being read while this server wrote to it is not remembered', async () => {
  const { known, elsewhere, kv: direct, database } = world()
  const read = Promise.withResolvers<void>()
  const slow = known.kv({
    ...elsewhere.kv,
    async get(key) {
      const entry = await elsewhere.kv.get(key)
      await read.promise
      return entry
    },
  })
  const reading = known.show(() => slow.get(['a', '1']))
  await direct.commit(set('1', 'one'))
  read.resolve()
  expect((await reading).answer).toBeNull()
  database.isAway = true
  expect(await rejection(known.show(() => direct.get(['a', '1'])))).toMatchObject(away)
})

test('bars that this server has written itself leave known which series there are, as they are now', async () => {
  const { known, store, database } = world()
  const key = seriesKey('X', 'ABC', '1h')
  const read = () => Promise.all([store.info(key), store.list(key), store.list()])
  await store.upsert(key, bars([1, 2]))
  await store.upsert(seriesKey('X', 'ABC', '1d'), bars([1]))
  await known.show(read)
  await store.upsert(key, bars([3]))
  const draft = store.draft(key)
  await draft.add(bars([4]))
  await draft.commit()
  const now = await read()
  database.isAway = true
  expect((await known.show(read)).answer).toEqual(now)
  expect(now[0]).toMatchObject({ count: 4 })
  database.isAway = false
  await store.remove(key)
  database.isAway = true
  expect(await rejection(known.show(() => store.info(key)))).toMatchObject(away)
  expect(await rejection(known.show(() => store.list()))).toMatchObject(away)
})

test('a write comes to the store with all that is said of it', async () => {
  const said: unknown[][] = []
  const store = memoryBars()
  const { known } = world()
  const bare = known.bars({
    ...store,
    upsert: (...asked) => (said.push(asked), store.upsert(...asked)),
    draft: (key) => {
      const draft = store.draft(key)
      return { ...draft, commit: (...asked) => (said.push(asked), draft.commit(...asked)) }
    },
  })
  const [key, some, pieces] = [seriesKey('X', 'ABC', '1h'), bars([1]), new Set([1])]
  await bare.upsert(key, some, pieces)
  await bare.draft(key).commit(pieces)
  expect(said).toEqual([[key, some, pieces], [pieces]])
})

test('facts of a symbol that this server has set itself are not shown as they were before', async () => {
  const { known, store, database } = world()
  const facts = { ...defaultSymbol('X', 'ABC'), pricescale: 1000 }
  const read: readonly (() => Promise<unknown>)[] = [() => store.symbol('X', 'ABC'), () => store.symbols()]
  for (const change of [() => store.putSymbol(facts), () => store.removeSymbol('X', 'ABC', '')]) {
    for (const ask of read) await known.show(ask)
    await change()
    database.isAway = true
    for (const ask of read) expect(await rejection(known.show(ask))).toMatchObject(away)
    database.isAway = false
  }
})

test('what a request that shows has written itself is read again, so that the next one knows it', async () => {
  const { clock, known, kv, database } = world()
  await kv.commit(set('1', 'one'))
  await known.show(() => kv.get(['a', '1']))
  await known.show(() => kv.commit(set('1', 'two')))
  await clock.settle()
  database.isAway = true
  expect((await known.show(() => kv.get(['a', '1']))).answer?.value).toBe('two')
})

test('a request that was shown something old waits for nothing more, and writes nothing', async () => {
  const { clock, known, kv, elsewhere, database } = world()
  await kv.commit(set('1', 'one'))
  await known.show(() => kv.get(['a', '1']))
  database.goSilent()
  const from = clock.now()
  const asked = known.show(async () => {
    await kv.get(['a', '1'])
    const waited = clock.now()
    expect(await rejection(kv.get(['a', '2']))).toMatchObject(away)
    expect(await rejection(kv.commit(set('1', 'two')))).toMatchObject(away)
    expect((await kv.get(['a', '1']))?.value).toBe('one')
    return [waited - from, clock.now() - waited]
  })
  await clock.pass(1500)
  expect((await asked).answer).toEqual([1100, 0])
  database.comeBack()
  await clock.settle()
  expect((await elsewhere.kv.get(['a', '1']))?.value).toBe('one')
})

test('a request that goes on when the database is back, as a stream does, is told what is new, and may write again', async () => {
  const { clock, known, kv, elsewhere, database } = world()
  const key = ['a', '1']
  await kv.commit(set('1', 'one'))
  await known.show(() => kv.get(key))
  database.goSilent()
  const told = known.show(async () => {
    const before = await kv.get(key)
    database.comeBack()
    await clock.settle()
    await elsewhere.kv.commit(set('1', 'two'))
    const after = await kv.get(key)
    return [before?.value, after?.value, await kv.commit(set('2', 'three'))]
  })
  await clock.pass(1500)
  expect((await told).answer).toEqual(['one', 'two', true])
})

test('where nobody else writes, nothing old is ever shown, however reads, writes and outages meet', async () => {
  const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31))
  console.log(`seed ${seed}`)
  let state = seed
  const random = (below: number) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff
    return (state >>> 8) % below
  }
  const { clock, known, kv, database } = world()
  /** The last value of each key that was acknowledged. */
  const acknowledged = new Map<string, number>()
  const underWay: Promise<unknown>[] = []
  let [shown, old] = [0, 0]
  const value = (text: string | undefined) => Number(text ?? 0)
  for (let n = 1; n <= 2000; n++) {
    const name = String(random(4))
    const least = new Map(acknowledged)
    const holds = async (read: () => Promise<readonly (readonly [string, number])[]>) => {
      const found = await known.show(read).catch(() => null)
      if (!found) return
      shown++
      if (found.ageMs > 0) old++
      for (const [key, version] of found.answer) expect(version).toBeGreaterThanOrEqual(least.get(key) ?? 0)
    }
    const what = random(12)
    if (what < 3)
      underWay.push(
        kv.commit(set(name, String(n))).then(
          () => acknowledged.set(name, Math.max(n, acknowledged.get(name) ?? 0)),
          () => {},
        ),
      )
    else if (what < 6)
      underWay.push(holds(async () => [[name, value((await kv.get(['a', name]))?.value)] as const]))
    else if (what < 8)
      underWay.push(
        holds(async () =>
          (await kv.list({ prefix: ['a'] }, { limit: 9 })).map(
            (entry) => [String(entry.key[1]), value(entry.value)] as const,
          ),
        ),
      )
    else if (what === 8) database.goSilent()
    else if (what === 9) database.isAway = random(2) === 0
    else {
      await clock.pass(random(400))
      if (random(3) > 0) database.isAway = false
      if (random(3) > 0) database.comeBack()
    }
  }
  database.isAway = false
  database.comeBack()
  await clock.pass(1000)
  await Promise.all(underWay)
  expect(shown).toBeGreaterThan(100)
  expect(old).toBeGreaterThan(0)
})
