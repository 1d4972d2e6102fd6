// A name means one series to one user and another to the next.

import { describe, expect, test } from 'bun:test'
import { BarCache, barsNotFound } from '../../src/market/bar-cache.ts'
import { type SeriesKey } from '../../src/market/bar-store.ts'
import { type Bars, emptyBars } from '../../src/market/bars.ts'
import { importBars } from '../../src/market/import.ts'
import { barsSeenBy, resolveSeries } from '../../src/market/seen-bars.ts'
import { defaultSymbol } from '../../src/market/symbols.ts'
import { barCsv } from '../bar-csv.ts'
import { testBars } from '../store/test-store.ts'

const HOUR = 3_600_000
const key = (interval: string): SeriesKey => ({ exchange: 'E', symbol: 'S', interval })
const of = (owner: string, interval: string): SeriesKey => ({ owner, ...key(interval) })

/** Bars that all close at `price`, so that they tell where they come from. */
function barsAt(price: number, count = 48, stepMs = HOUR): Bars {
  const bars = emptyBars(count)
  for (let i = 0; i < count; i++) bars.time[i] = Date.UTC(2026, 0, 1) + i * stepMs
  for (const field of ['open', 'high', 'low', 'close'] as const) bars[field].fill(price)
  return bars
}

async function cacheOf(series: readonly (readonly [SeriesKey, number])[]): Promise<BarCache> {
  const cache = new BarCache(testBars())
  for (const [of, price] of series) await cache.upsert(of, barsAt(price))
  return cache
}
const priceFor = async (cache: BarCache, userId: string | null, interval: string) =>
  (await barsSeenBy(cache, userId).read(key(interval))).close[0]

describe('a member’s own series', () => {
  test('is found by them before everybody’s of the same name, and by nobody else', async () => {
    const cache = await cacheOf([
      [key('1h'), 1],
      [of('ann', '1h'), 2],
    ])
    expect([
      await priceFor(cache, 'ann', '1h'),
      await priceFor(cache, 'bob', '1h'),
      await priceFor(cache, null, '1h'),
    ]).toEqual([2, 1, 1])
  })
  test('is not there for others where there is no shared one', async () => {
    const cache = await cacheOf([[of('ann', '1h'), 2]])
    for (const who of ['bob', null]) {
      const seen = barsSeenBy(cache, who)
      expect([
        await seen.source(key('1h')),
        (await seen.read(key('1h'))).length,
        await seen.list(),
        await seen.symbols(),
      ]).toEqual([null, 0, [], []])
      expect((await barsNotFound(seen, key('1h'))).message).not.toContain('E:S')
    }
  })
  test('builds coarser series for its owner alone', async () => {
    const cache = await cacheOf([[of('ann', '1h'), 2]])
    expect(await priceFor(cache, 'ann', '1d')).toBe(2)
    expect(await priceFor(cache, 'bob', '1d')).toBeUndefined()
    expect((await cache.read(key('1d'))).length).toBe(0)
  })
  test('does not go before what is stored under the very name', async () => {
    const cache = await cacheOf([
      [of('ann', '1h'), 2],
      [key('1d'), 1],
    ])
    expect(await resolveSeries(cache, 'ann', key('1d'))).toEqual(key('1d'))
    expect(await resolveSeries(cache, 'ann', key('4h'))).toEqual(of('ann', '4h'))
  })
  test('is listed once, in place of everybody’s', async () => {
    const cache = await cacheOf([
      [key('1h'), 1],
      [of('ann', '1h'), 2],
      [key('1d'), 3],
    ])
    const named = async (who: string) =>
      (await barsSeenBy(cache, who).list()).map(({ interval, owner = '' }) => [interval, owner])
    expect([await named('ann'), await named('bob')]).toEqual([
      [
        ['1d', ''],
        ['1h', 'ann'],
      ],
      [
        ['1d', ''],
        ['1h', ''],
      ],
    ])
  })
  test('brings facts of its symbol that nobody else sees', async () => {
    const cache = new BarCache(testBars())
    await importBars(cache, of('ann', '1h'), [Buffer.from(barCsv(10))], { format: 'csv' })
    expect(await barsSeenBy(cache, 'ann').symbols()).toHaveLength(1)
    expect(await barsSeenBy(cache, 'bob').symbols()).toEqual([])
  })
})

test('one’s own facts of a symbol count for one’s own days, also of everybody’s bars', async () => {
  const cache = await cacheOf([[key('1h'), 1]])
  const facts = { ...defaultSymbol('E', 'S'), timezone: 'UTC', session: '24x7' }
  await cache.store.putSymbol(facts)
  await cache.store.putSymbol({ ...facts, owner: 'ann', timezone: 'Asia/Tokyo' })
  const firstDay = async (who: string) => (await barsSeenBy(cache, who).read(key('1d'))).time[0]
  expect([await firstDay('ann'), await firstDay('bob')]).toEqual([
    Date.UTC(2025, 11, 31, 15),
    Date.UTC(2026, 0, 1),
  ])
  expect(await barsSeenBy(cache, 'ann').symbol('E', 'S')).not.toHaveProperty('owner')
})
