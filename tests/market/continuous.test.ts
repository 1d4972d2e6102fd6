// Continuous futures: what their names mean, when they change contracts, and how older prices are moved.

import { describe, expect, test } from 'bun:test'
import { BarCache } from '../../src/market/bar-cache.ts'
import { emptyBars, type Bars } from '../../src/market/bars.ts'
import { continuousName, contractOf, contractsOf, contractSpans } from '../../src/market/continuous.ts'
import { barsSeenBy, barsRunOn } from '../../src/market/seen-bars.ts'
import { testBars } from '../store/test-store.ts'

const DAY = 86_400_000
const day = (n: number) => Date.UTC(2025, 0, 1) + n * DAY

/** Days [day, close, volume], of which each may have several bars a day apart by `step`. */
function barsOf(rows: readonly (readonly [day: number, close: number, volume: number])[]): Bars {
  const bars = emptyBars(rows.length)
  for (const [i, [n, close, volume]] of rows.entries()) {
    bars.time[i] = day(n)
    for (const field of ['open', 'high', 'low', 'close'] as const) bars[field][i] = close
    bars.volume[i] = volume
  }
  return bars
}

describe('a name', () => {
  test.each([
    ['ES1!', 'ES', 1, 'none', null],
    ['6E2!', '6E', 2, 'none', null],
    ['M2K1!B', 'M2K', 1, 'difference', null],
    ['GC1!R', 'GC', 1, 'ratio', null],
    ['CL1!B@-10', 'CL', 1, 'difference', -10],
    ['ES1!@8', 'ES', 1, 'none', 8],
  ] as const)('%s is a continuous future', (symbol, root, position, adjustment, leaveAfter) => {
    expect(continuousName(symbol)).toEqual({ root, position, adjustment, leaveAfter })
  })
  test.each(['ES', 'ES0!', 'ES!', '1!', 'ES1!X', 'ES1!@', 'BTCUSDT', 'ES1!-CBOT:YM1!'])(
    '%s is none',
    (symbol) => {
      expect(continuousName(symbol)).toBeNull()
    },
  )
  test.each([
    ['ESH2025', 'ES', 2025 * 12 + 2],
    ['ZNM99', 'ZN', 1999 * 12 + 5],
    ['6EZ25', '6E', 2025 * 12 + 11],
    ['NGF2026', 'NG', 2026 * 12],
  ] as const)('%s is a contract of %s', (symbol, root, month) => {
    expect(contractOf(symbol)).toEqual({ root, symbol, month })
  })
  test.each(['ESA2025', 'H2025', 'BTCUSDT', 'ESH5', 'ESH202'])('%s is no contract', (symbol) => {
    expect(contractOf(symbol)).toBeNull()
  })
  test('contracts stand by their month, of their own root alone', () => {
    const symbols = ['ESZ2025', 'MESH2025', 'ESH26', 'ESH2025', 'ES1!']
    expect(contractsOf(symbols, 'ES').map(({ symbol }) => symbol)).toEqual(['ESH2025', 'ESZ2025', 'ESH26'])
  })
})

const H = { symbol: 'ESH2025', month: 2025 * 12 + 2 }
const J = { symbol: 'ESJ2025', month: 2025 * 12 + 3 }
const M = { symbol: 'ESM2025', month: 2025 * 12 + 5 }
const volume = { position: 1, adjustment: 'none', leaveAfter: null } as const
const held = (found: ReturnType<typeof contractSpans>) =>
  found.map(({ symbol, from }) => [symbol, Number.isFinite(from) ? (from - day(0)) / DAY : null])

describe('the change of contracts', () => {
  const early = {
    ...H,
    days: barsOf([
      [0, 100, 9],
      [1, 101, 9],
      [2, 102, 3],
      [3, 103, 8],
      [4, 104, 1],
    ]),
  }
  const late = {
    ...M,
    days: barsOf([
      [1, 111, 1],
      [2, 112, 5],
      [3, 114, 2],
      [4, 115, 9],
      [5, 116, 9],
    ]),
  }

  test('comes on the day after the later one traded more, and is not taken back', () => {
    expect(held(contractSpans([early, late], volume))).toEqual([
      ['ESH2025', null],
      ['ESM2025', 3],
    ])
  })
  test('passes over a month that hardly trades', () => {
    const thin = {
      ...J,
      days: barsOf([
        [1, 106, 1],
        [2, 107, 4],
      ]),
    }
    expect(held(contractSpans([early, thin, late], volume))).toEqual([
      ['ESH2025', null],
      ['ESM2025', 3],
    ])
  })
  test('comes when a contract ends, where no volume is known', () => {
    const quiet = (of: typeof early) => ({ ...of, days: { ...of.days, volume: new Float64Array(5) } })
    expect(held(contractSpans([quiet(early), quiet(late)], volume))).toEqual([
      ['ESH2025', null],
      ['ESM2025', 5],
    ])
  })
  test('begins with the contract that trades most, of those that trade', () => {
    const begun = { ...H, days: barsOf([[5, 90, 1]]) }
    expect(held(contractSpans([begun, late], volume))).toEqual([['ESM2025', null]])
  })
  test('comes a number of days from the first of the month, if the name says so', () => {
    // Days of sessions that open the evening before.
    const sessions = (from: number, to: number) => {
      const bars = barsOf(Array.from({ length: to - from }, (_, i) => [from + i, 1, 1] as const))
      for (let i = 0; i < bars.length; i++) bars.time[i]! -= 3_600_000
      return bars
    }
    const [march, june] = [
      { ...H, days: sessions(0, 75) },
      { ...M, days: sessions(0, 100) },
    ]
    const leftAt = (leaveAfter: number) => {
      const [, next] = contractSpans([march, june], { ...volume, leaveAfter })
      return next && new Date(next.from + 3_600_000).toISOString().slice(0, 10)
    }
    expect([leftAt(-10), leftAt(0), leftAt(8)]).toEqual(['2025-02-19', '2025-03-01', '2025-03-09'])
    // It ends before it would be left.
    expect(leftAt(90)).toBe('2025-03-17')
  })
  test('takes the contract behind the one in front for the second', () => {
    const last = { ...M, symbol: 'ESU2025', month: M.month + 3, days: late.days }
    const found = contractSpans([early, late, last], { ...volume, position: 2 })
    expect(held(found)).toEqual([
      ['ESM2025', null],
      ['ESU2025', 3],
    ])
  })

  test('moves older prices by the difference or the ratio of the closes of the day before', () => {
    const by = (adjustment: 'difference' | 'ratio') => contractSpans([early, late], { ...volume, adjustment })
    expect(by('difference').map(({ shift, factor }) => [shift, factor])).toEqual([
      [10, 1],
      [0, 1],
    ])
    expect(by('ratio').map(({ shift, factor }) => [shift, factor])).toEqual([
      [0, 112 / 102],
      [0, 1],
    ])
  })
  test('adds up what several changes move', () => {
    const next = {
      ...M,
      symbol: 'ESU2025',
      month: M.month + 3,
      days: barsOf([
        [4, 120, 1],
        [5, 122, 99],
        [6, 123, 99],
      ]),
    }
    const shifts = contractSpans([early, late, next], { ...volume, adjustment: 'difference' })
    expect(shifts.map(({ shift }) => shift)).toEqual([16, 6, 0])
  })
  test('moves nothing where no day is common', () => {
    const apart = { ...M, days: barsOf([[9, 50, 1]]) }
    const found = contractSpans([early, apart], { ...volume, adjustment: 'difference' })
    expect(found.map(({ shift }) => shift)).toEqual([0, 0])
  })
  test('has no ratio of prices below nought, and says so', () => {
    const below = { ...H, days: barsOf(Array.from({ length: 5 }, (_, i) => [i, -37, 5 - i] as const)) }
    expect(() => contractSpans([below, late], { ...volume, adjustment: 'ratio' })).toThrow(
      'Between ESH2025 and ESM2025 a price was nought or less',
    )
  })
})

describe('read as a series', () => {
  const key = (symbol: string, interval = '1d') => ({ exchange: 'X', symbol, interval })
  async function cacheOf(): Promise<BarCache> {
    const cache = new BarCache(testBars())
    await cache.upsert(key('ESH2025'), barsOf([0, 1, 2, 3].map((n) => [n, 100 + n, 9 - 3 * n])))
    await cache.upsert(key('ESM2025'), barsOf([1, 2, 3, 4].map((n) => [n, 110 + n, 4])))
    return cache
  }
  const closes = async (cache: BarCache, symbol: string, range = {}, user: string | null = null) => [
    ...(await barsSeenBy(cache, user).read(key(symbol), range)).close,
  ]

  test('it has the prices of each contract while it was in front', async () => {
    const cache = await cacheOf()
    expect(await closes(cache, 'ES1!')).toEqual([100, 101, 102, 113, 114])
    expect(await closes(cache, 'ES1!B')).toEqual([110, 111, 112, 113, 114])
    expect(await closes(cache, 'ES2!')).toEqual([111, 112])
    // The stored prices are as they were.
    expect(await closes(cache, 'ESH2025')).toEqual([100, 101, 102, 103])
  })
  test('a part of it is read as of any series', async () => {
    const cache = await cacheOf()
    expect(await closes(cache, 'ES1!B', { last: 3 })).toEqual([112, 113, 114])
    expect(await closes(cache, 'ES1!B', { first: 4 })).toEqual([110, 111, 112, 113])
    expect(await closes(cache, 'ES1!', { from: day(2), to: day(4) })).toEqual([102, 113])
    expect(await closes(cache, 'ES1!', { from: day(2), to: day(4), last: 1 })).toEqual([113])
    expect(await closes(cache, 'ES1!', { from: day(1), first: 3 })).toEqual([101, 102, 113])
  })
  test('its bars are in shared memory, which workers need', async () => {
    const { time } = await barsSeenBy(await cacheOf(), null).read(key('ES1!'))
    expect(time.buffer).toBeInstanceOf(SharedArrayBuffer)
  })
  test('it has the facts of the newest contract', async () => {
    const cache = await cacheOf()
    const facts = await cache.symbol('X', 'ESM2025')
    await cache.store.putSymbol({ ...facts, pointValue: 50 })
    const { symbol, type, pointValue, description } = await barsSeenBy(cache, null).symbol('X', 'ES1!B')
    expect([symbol, type, pointValue, description]).toEqual(['ES1!B', 'futures', 50, 'ES, continuous'])
  })
  test('what is stored under its name goes before', async () => {
    const cache = await cacheOf()
    await cache.upsert(key('ES1!'), barsOf([[0, 1, 1]]))
    expect(await closes(cache, 'ES1!')).toEqual([1])
    expect(await barsSeenBy(cache, null).contractSpans(key('ES1!'))).toBeNull()
  })
  test('a contract that only its owner sees is theirs alone', async () => {
    const cache = await cacheOf()
    await cache.upsert(
      { ...key('ESU2025'), owner: 'ann' },
      barsOf([
        [4, 130, 9],
        [5, 131, 9],
      ]),
    )
    expect((await closes(cache, 'ES1!', {}, 'ann')).at(-1)).toBe(131)
    expect((await closes(cache, 'ES1!', {}, 'bob')).at(-1)).toBe(114)
  })
  test('coarser bars are made of each contract’s, and a day decides of finer ones', async () => {
    const cache = new BarCache(testBars())
    const hours = (price: number, first: number, days: number, volume: (day: number) => number) => {
      const bars = emptyBars(days * 24)
      for (let i = 0; i < bars.length; i++) {
        bars.time[i] = day(first) + i * 3_600_000
        for (const field of ['open', 'high', 'low', 'close'] as const) bars[field][i] = price
        bars.volume[i] = volume(Math.floor(i / 24))
      }
      return bars
    }
    await cache.upsert(
      key('ESH2025', '1h'),
      hours(1, 0, 3, (n) => 9 - 4 * n),
    )
    await cache.upsert(
      key('ESM2025', '1h'),
      hours(2, 0, 4, () => 3),
    )
    const read = async (interval: string) =>
      [...(await barsSeenBy(cache, null).read(key('ES1!', interval))).close].join('')
    expect(await read('1h')).toBe('1'.repeat(72) + '2'.repeat(24))
    expect(await read('12h')).toBe('11111122')
    expect(await read('1d')).toBe('1112')
  })
  test('what ran on it finds its bars again, and changes of a contract are seen', async () => {
    const cache = await cacheOf()
    const range = { from: day(0), to: day(5) }
    expect([...(await barsRunOn(cache, 'ann', key('ES1!'), range)).close]).toEqual([100, 101, 102, 113, 114])
    const before = await barsSeenBy(cache, null).source(key('ES1!'))
    await cache.upsert(key('ESM2025'), barsOf([[5, 120, 1]]))
    const after = await barsSeenBy(cache, null).source(key('ES1!'))
    expect([before?.last, after?.last, after!.change > before!.change]).toEqual([day(4), day(5), true])
  })
})
