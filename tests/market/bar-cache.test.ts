import { expect, test } from 'bun:test'
import { BarCache, type BarChange } from '../../src/market/bar-cache.ts'
import { emptyBars, sliceBars } from '../../src/market/bars.ts'
import { type BarStore, memoryBars, seriesKey } from '../../src/market/bar-store.ts'
import { minuteBars, rows } from './bar-store.conformance.ts'
import { delayedBars } from './delayed-bars.ts'

const KEY = seriesKey('BINANCE', 'BTCUSDT', '1m')

test('a second read is the same memory, and workers can share it', async () => {
  const cache = new BarCache(memoryBars())
  await cache.upsert(KEY, minuteBars(0, 100))
  const first = await cache.read(KEY)
  expect(first.close.buffer).toBeInstanceOf(SharedArrayBuffer)
  expect((await cache.read(KEY, { last: 10 })).close.buffer).toBe(first.close.buffer)
})

test('bars behind the end are added in place, and views handed out before stay as they were', async () => {
  const cache = new BarCache(memoryBars())
  await cache.upsert(KEY, minuteBars(0, 100))
  const before = await cache.read(KEY)
  await cache.upsert(KEY, minuteBars(100, 103))
  const after = await cache.read(KEY)
  expect(after.close.buffer).toBe(before.close.buffer)
  expect(rows(after)).toEqual(rows(minuteBars(0, 103)))
  expect(before.length).toBe(100)
})

test('a replaced bar is not changed under the reader', async () => {
  const cache = new BarCache(memoryBars())
  await cache.upsert(KEY, minuteBars(0, 100))
  const before = await cache.read(KEY)
  await cache.upsert(KEY, minuteBars(99, 101, { price: 200 }))
  expect(rows(before)).toEqual(rows(minuteBars(0, 100)))
  expect((await cache.read(KEY, { last: 2 })).open[0]).toBe(200.99)
})

test('what another process wrote to the store is seen', async () => {
  const store = memoryBars()
  const cache = new BarCache(store)
  await cache.upsert(KEY, minuteBars(0, 100))
  await cache.read(KEY)
  await store.upsert(KEY, minuteBars(100, 200))
  expect((await cache.read(KEY)).length).toBe(200)
  await cache.upsert(KEY, minuteBars(200, 201))
  expect(rows(await cache.read(KEY))).toEqual(rows(minuteBars(0, 201)))
})

test('what another process wrote or removed is told to listeners once somebody says so', async () => {
  const store = memoryBars()
  const cache = new BarCache(store)
  const told: BarChange[] = []
  cache.onChange((change) => told.push(change))
  const { change } = await store.upsert(KEY, minuteBars(0, 10))
  await cache.changedElsewhere(KEY, { inserted: 9, updated: 1 })
  const last = 9 * 60_000
  expect(told).toEqual([{ key: KEY, inserted: 9, updated: 1, change, last, previousLast: last }])
  expect((await cache.read(KEY)).length).toBe(10)
  expect(cache.bytes).toBeGreaterThan(0)
  await store.remove(KEY)
  await cache.changedElsewhere(KEY, { inserted: 0, updated: 0 })
  expect([told.length, cache.bytes]).toEqual([2, 0])
})

test('random writes leave what the store has', async () => {
  const cache = new BarCache(memoryBars())
  for (let round = 0; round < 200; round++) {
    const from = (round * 7_919) % 700
    await cache.upsert(KEY, minuteBars(from, from + 1 + (round % 13), { price: round }))
    if (round % 3 > 0) expect(rows(await cache.read(KEY))).toEqual(rows((await cache.store.read(KEY)).bars))
  }
})

test('a forming bar that changes all day is not decoded again, and no view changes under its reader', async () => {
  const store = memoryBars()
  let wholes = 0
  const cache = new BarCache({
    ...store,
    read: (key, range = {}, make) => (
      range.from === undefined && range.last === undefined && wholes++,
      store.read(key, range, make)
    ),
  })
  await cache.upsert(KEY, minuteBars(0, 20_000))
  const before = await cache.read(KEY)
  for (let price = 1; price < 50; price++) {
    await cache.upsert(
      KEY,
      minuteBars(19_999 + Math.floor(price / 10), 20_000 + Math.floor(price / 10), { price }),
    )
    expect(rows(await cache.read(KEY, { last: 1001 }))).toEqual(
      rows((await store.read(KEY, { last: 1001 })).bars),
    )
    if (price % 20 === 0) expect(rows(await cache.read(KEY))).toEqual(rows((await store.read(KEY)).bars))
  }
  expect(wholes).toBe(1)
  expect(rows(before)).toEqual(rows(minuteBars(0, 20_000)))
})

test('built intervals that are brought on by random writes are what is built at once', async () => {
  const seed = Number(Bun.env['SEED'] ?? Math.floor(Math.random() * 2 ** 30))
  console.log(`seed ${seed}`)
  let state = seed | 1
  const below = (limit: number) => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) % limit
  }
  // One trades all the time, the other has a session and dates its weeks by when it opens.
  const base = [KEY, seriesKey('NASDAQ', 'AAPL', '1m')][below(2)] ?? KEY
  const store = memoryBars()
  const cache = new BarCache(store)
  await cache.upsert(base, minuteBars(0, 6000))
  let end = 6000
  const intervals = ['1m', '5m', '45m', '4h', '1d', '1w'].map((interval) => ({ ...base, interval }))
  for (let round = 0; round < Number(Bun.env['RUNS'] ?? 60); round++) {
    const from = [end, end, end - 1, end - 1 - below(30), below(end), end + below(300)][below(6)] ?? end
    const to = from + 1 + below(below(4) === 0 ? 600 : 3)
    await cache.upsert(base, minuteBars(from, to, { price: round }))
    end = Math.max(end, to)
    const key = intervals[below(intervals.length)] ?? base
    const range =
      [{}, { last: 1 + below(20) }, { from: minuteBars(below(end), end).time[0] ?? 0 }][below(3)] ?? {}
    const slow = await new BarCache(store).read(key, range)
    expect(rows(await cache.read(key, range))).toEqual(rows(slow))
  }
})

test('the least used series make room for others', async () => {
  const cache = new BarCache(memoryBars(), { bytesMax: 48 * 1000 })
  const other = seriesKey('BINANCE', 'ETHUSDT', '1m')
  const huge = seriesKey('BINANCE', 'ADAUSDT', '1m')
  await cache.upsert(KEY, minuteBars(0, 500))
  await cache.upsert(other, minuteBars(0, 500))
  await cache.upsert(huge, minuteBars(0, 5_000))
  await cache.read(KEY)
  await cache.read(other)
  expect(cache.bytes).toBeLessThanOrEqual(48 * 1000)
  expect((await cache.read(huge, { last: 3 })).length).toBe(3)
  expect(cache.bytes).toBeLessThanOrEqual(48 * 1000)
})

test('a few bars of a long series are all that is read and held', async () => {
  const store = memoryBars()
  const asked: number[] = []
  const cache = new BarCache({
    ...store,
    read: (key, range, make = emptyBars) =>
      store.read(key, range, (length) => (asked.push(length), make(length))),
  })
  await cache.upsert(KEY, minuteBars(0, 100_000))
  for (const range of [
    { last: 500 },
    { last: 1001 },
    { from: 99_000 * 60_000 },
    { to: 99_500 * 60_000, last: 9 },
  ])
    expect(rows(await cache.read(KEY, range))).toEqual(rows((await store.read(KEY, range)).bars))
  expect(asked).toEqual([4096])
  expect(cache.bytes).toBeLessThan(5000 * 48)
  // In the middle, for this reader alone.
  for (const range of [{ from: 60_000, first: 10 }, { to: 6_000_000, last: 10 }, { first: 3 }])
    expect(rows(await cache.read(KEY, range))).toEqual(rows((await store.read(KEY, range)).bars))
  expect(asked).toEqual([4096, 10, 10, 3])
  expect(cache.bytes).toBeLessThan(5000 * 48)
})

test('readers that ask at once have the series decoded once', async () => {
  const store = memoryBars()
  let reads = 0
  const counted: BarStore = { ...store, read: (...args) => (reads++, store.read(...args)) }
  const cache = new BarCache(delayedBars(counted, 7))
  await cache.upsert(KEY, minuteBars(0, 10_000))
  const found = await Promise.all(Array.from({ length: 20 }, () => cache.read(KEY)))
  expect(new Set(found.map(({ close }) => close.buffer)).size).toBe(1)
  expect(reads).toBe(1)
})

test('over a store that answers late, reads beside writes are each of one moment', async () => {
  const seed = Number(Bun.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31))
  console.log(`seed ${seed}`)
  const cache = new BarCache(delayedBars(memoryBars(), seed))
  // Every write gives all bars of the series one price more, so that bars of two moments would show.
  await cache.upsert(KEY, minuteBars(0, 600))
  const writes: Promise<unknown>[] = []
  for (let round = 1; round <= 60; round++) {
    writes.push(cache.upsert(KEY, minuteBars(0, 600 + round, { price: 100 + round })))
    const ranges = [{}, { last: 300 }, { from: 300 * 60_000 }, { to: 400 * 60_000, last: 7 }]
    const range = ranges[round % ranges.length] ?? {}
    const reads = [cache.look(KEY, range), cache.look({ ...KEY, interval: '1h' }, range)]
    for (const { bars, source } of await Promise.all(reads)) {
      const minutes = Array.from(bars.time, (time) => time / 60_000)
      const prices = new Set(minutes.map((minute, i) => Math.round((bars.open[i] ?? 0) - minute / 100)))
      expect({ round, prices: prices.size }).toEqual({ round, prices: bars.length === 0 ? 0 : 1 })
      const [price = 100] = prices
      expect({ round, price, count: source?.count }).toEqual({ round, price, count: 600 + price - 100 })
    }
  }
  await Promise.all(writes)
  expect(rows(await cache.read(KEY))).toEqual(rows((await cache.store.read(KEY)).bars))
})

test('a coarser interval is built from the coarsest finer one, and follows it', async () => {
  const cache = new BarCache(memoryBars())
  await cache.upsert(KEY, minuteBars(0, 300))
  await cache.upsert(seriesKey('BINANCE', 'BTCUSDT', '15m'), minuteBars(0, 300, { step: 15 }))
  const hours = seriesKey('BINANCE', 'BTCUSDT', '1h')
  expect((await cache.source(hours))?.interval).toBe('15m')
  expect((await cache.source(seriesKey('BINANCE', 'BTCUSDT', '7m')))?.interval).toBe('1m')
  expect(await cache.source(seriesKey('BINANCE', 'BTCUSDT', '30s'))).toBeNull()
  expect((await cache.read(hours)).length).toBe(5)
  await cache.upsert(seriesKey('BINANCE', 'BTCUSDT', '15m'), minuteBars(300, 301))
  expect((await cache.read(hours)).length).toBe(6)
})

test('listeners hear of every write, in order', async () => {
  const cache = new BarCache(memoryBars())
  const heard: BarChange[] = []
  const stop = cache.onChange((change) => heard.push(change))
  await cache.upsert(KEY, minuteBars(0, 2))
  await cache.upsert(KEY, minuteBars(1, 3))
  await cache.upsert(KEY, sliceBars(minuteBars(0, 1), 0, 0))
  const draft = cache.draft(KEY)
  await draft.add(minuteBars(5, 6))
  expect(heard).toHaveLength(2)
  await draft.commit()
  stop()
  await cache.upsert(KEY, minuteBars(3, 4))
  expect(
    heard.map(({ key, inserted, updated, last, previousLast }) => [
      key,
      inserted,
      updated,
      last,
      previousLast,
    ]),
  ).toEqual([
    [KEY, 2, 0, 60_000, null],
    [KEY, 1, 1, 120_000, 60_000],
    [KEY, 1, 0, 300_000, 120_000],
  ])
})
