// What every BarStore must do. Each implementation's test calls this with a way to make an empty one.

import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import {
  BAR_FIELDS,
  type BarRange,
  type Bars,
  emptyBars,
  mergeBars,
  selectBars,
  sliceBars,
} from '../../src/market/bars.ts'
import { type BarStore, seriesKey } from '../../src/market/bar-store.ts'
import type { SymbolInfo } from '../../src/market/symbol.ts'
import { isLong, rounds } from '../long.ts'

const KEY = seriesKey('BINANCE', 'BTCUSDT', '1m')
const MINUTE = 60_000
/** How many write and read one series at a time. */
const TIMES = isLong ? 20 : 6

/** Bars from minute `from` to `to` (exclusive), every `step` minutes; prices tell where they came from. */
export function minuteBars(from: number, to: number, { step = 1, price = 100 } = {}): Bars {
  const bars = emptyBars(Math.max(0, Math.ceil((to - from) / step)))
  for (let i = 0; i < bars.length; i++) {
    const minute = from + i * step
    bars.time[i] = minute * MINUTE
    const cents = price * 100 + minute
    bars.open[i] = cents / 100
    bars.high[i] = (cents + 50) / 100
    bars.low[i] = (cents - 50) / 100
    bars.close[i] = (cents + 25) / 100
    bars.volume[i] = Math.abs(minute % 7)
  }
  return bars
}

export function rows(bars: Bars): number[][] {
  return Array.from(bars.time, (_, i) => BAR_FIELDS.map((field) => bars[field][i] ?? Number.NaN))
}

const SYMBOL: SymbolInfo = {
  exchange: 'BINANCE',
  symbol: 'BTCUSDT',
  description: 'Bitcoin',
  type: 'crypto',
  currency: 'USDT',
  baseCurrency: 'BTC',
  mintick: 0.01,
  priceScale: 100,
  minMove: 1,
  pointValue: 1,
  minQuantity: 0.00001,
  timezone: 'Etc/UTC',
  session: '24x7',
  volumeType: 'base',
}

export function barStoreConformance(
  name: string,
  make: () => Promise<{ store: BarStore; close: () => Promise<void> }>,
): void {
  describe(name, () => {
    let store: BarStore
    let close: () => Promise<void>
    beforeEach(async () => {
      ;({ store, close } = await make())
    })
    afterEach(() => close())

    test('an unknown series is empty', async () => {
      expect(await store.info(KEY)).toBeNull()
      expect((await store.read(KEY)).bars.length).toBe(0)
      expect(await store.list()).toEqual([])
      expect(await store.remove(KEY)).toBe(false)
    })

    test('what was written is read, and its figures are kept', async () => {
      const bars = minuteBars(0, 10_000)
      expect(await store.upsert(KEY, bars)).toMatchObject({ inserted: 10_000, updated: 0 })
      expect(rows((await store.read(KEY)).bars)).toEqual(rows(bars))
      expect(await store.info(KEY)).toMatchObject({ ...KEY, count: 10_000, first: 0, last: 9_999 * MINUTE })
    })

    test('writing again replaces, and counts as updates', async () => {
      await store.upsert(KEY, minuteBars(0, 5_000))
      const result = await store.upsert(KEY, minuteBars(4_990, 5_010, { price: 200 }))
      expect(result).toMatchObject({ inserted: 10, updated: 10 })
      const bars = (await store.read(KEY, { from: 4_989 * MINUTE, to: 4_991 * MINUTE })).bars
      expect(Array.from(bars.open)).toEqual([149.89, 249.9])
    })

    test('a piece of a bar leaves one that is as high and as low and has more', async () => {
      const sized = (from: number, to: number, [up, down, volume]: readonly number[]) => {
        const bars = minuteBars(from, to)
        for (let i = 0; i < bars.length; i++) {
          bars.high[i]! += up!
          bars.low[i]! -= down!
          bars.volume[i] = volume!
        }
        return bars
      }
      const pieces = new Set([10, 11, 5000].map((minute) => minute * MINUTE))
      for (const [older, newer, stays] of [
        [[1, 1, 10], [1, 1, 9], true],
        [[1, 1, 10], [0.5, 0.5, 9], true],
        [[1, 1, 10], [0.5, 0.5, 10], false],
        [[1, 1, 10], [1, 1, 11], false],
        [[1, 1, 10], [2, 1, 9], false],
        [[1, 1, 10], [1, 2, 9], false],
      ] as const)
        for (const isDraft of [false, true]) {
          await store.remove(KEY)
          await store.upsert(KEY, sized(0, 5010, older))
          const bars = sized(5, 5020, newer)
          const draft = store.draft(KEY)
          if (isDraft) await draft.add(bars)
          const { updated } = await (isDraft ? draft.commit(pieces) : store.upsert(KEY, bars, pieces))
          expect(updated).toBe(5005)
          const stored = rows((await store.read(KEY)).bars)
          for (const minute of [4, 5, 10, 11, 12, 5000, 5015]) {
            const isOlder = minute < 5 || (stays && pieces.has(minute * MINUTE))
            const [expected] = rows(sized(minute, minute + 1, isOlder ? older : newer))
            expect(stored[minute]).toEqual(expected)
          }
        }
    })

    test('more bars than a series has are all of its own, not those of the series beside it', async () => {
      const beside = { ...KEY, symbol: `${KEY.symbol}2` }
      for (const [key, price] of [
        [KEY, 100],
        [beside, 200],
      ] as const)
        await store.upsert(key, minuteBars(0, 10, { price }))
      for (const range of [
        { first: 1000 },
        { last: 1000 },
        { from: 0, first: 50 },
        { to: MINUTE * 99, last: 50 },
      ])
        for (const [key, price] of [
          [KEY, 100],
          [beside, 200],
        ] as const)
          expect(rows((await store.read(key, range)).bars)).toEqual(rows(minuteBars(0, 10, { price })))
    })

    test('ranges are from inclusive, to exclusive, and the last so many of them', async () => {
      const bars = minuteBars(0, 9_000, { step: 2 })
      await store.upsert(KEY, bars)
      const ranges: BarRange[] = [
        { last: 1 },
        { last: 4_097 },
        { last: 1_000_000 },
        { from: 4_001 * MINUTE },
        { to: 4_000 * MINUTE },
        { from: 4_000 * MINUTE, to: 8_193 * MINUTE },
        { from: 8_192 * MINUTE, to: 8_192 * MINUTE },
        { from: 0, to: 8_194 * MINUTE, last: 3 },
        { from: 20_000 * MINUTE },
        { to: -1 },
        { to: 5_000 * MINUTE, last: 3_000 },
        { first: 1 },
        { first: 4_097 },
        { first: 5_000 },
        { from: 4_001 * MINUTE, first: 4_096 },
        { first: 1_000_000 },
        { from: 4_001 * MINUTE, first: 4_200 },
        { from: 8_192 * MINUTE, to: 8_300 * MINUTE, first: 1 },
        { from: -5 * MINUTE, to: 8_300 * MINUTE, first: 5_000 },
        { from: 20_000 * MINUTE, first: 3 },
      ]
      for (const range of ranges)
        expect(rows((await store.read(KEY, range)).bars)).toEqual(rows(selectBars(bars, range)))
    })

    test('columns are made for the bars that are read, and hold them', async () => {
      await store.upsert(KEY, minuteBars(0, 9_000))
      let made = emptyBars(0)
      const { bars } = await store.read(KEY, { last: 100 }, (length) => (made = emptyBars(length + 10)))
      expect(rows(bars)).toEqual(rows(minuteBars(8_900, 9_000)))
      expect(bars.time.buffer).toBe(made.time.buffer)
      const room = made.time.byteLength - bars.time.byteOffset - bars.time.byteLength
      expect(room).toBeGreaterThanOrEqual(10 * 8)
    })

    test('bars come with their series, and a write with what was there before it', async () => {
      expect(await store.read(KEY)).toMatchObject({ series: null })
      const first = await store.upsert(KEY, minuteBars(0, 3))
      expect(first).toMatchObject({ before: null, series: { ...KEY, count: 3 } })
      expect(await store.read(KEY)).toMatchObject({ series: { change: first.change } })
      const nothing = await store.upsert(KEY, minuteBars(0, 0))
      expect(nothing).toMatchObject({ change: first.change, before: first.series, series: first.series })
      const draft = store.draft(KEY)
      expect(await store.draft(KEY).commit()).toEqual(nothing)
      await draft.add(minuteBars(2, 5))
      const second = await draft.commit()
      expect(second).toMatchObject({ before: first.series, series: { count: 5, change: second.change } })
      expect(second.series).toEqual(await store.info(KEY))
    })

    test('a read is of one moment, whatever is written meanwhile', async () => {
      await store.upsert(KEY, minuteBars(0, 9_000))
      const writes = Array.from({ length: TIMES }, (_, i) =>
        store.upsert(KEY, minuteBars(0, 9_000, { price: i })),
      )
      const reads = Array.from({ length: TIMES }, () => store.read(KEY))
      for (const { bars, series } of await Promise.all(reads)) {
        const offset = (bars.open[0] ?? 0) * 100
        expect(bars.open.every((open, i) => Math.round(open * 100 - offset) === i)).toBe(true)
        expect(series?.count).toBe(bars.length)
      }
      await Promise.all(writes)
    })

    test('every write has a greater change number, over all series and removals', async () => {
      const other = seriesKey('BINANCE', 'ETHUSDT', '1m')
      const changes = [
        (await store.upsert(KEY, minuteBars(0, 3))).change,
        (await store.upsert(other, minuteBars(0, 3))).change,
        (await store.upsert(KEY, minuteBars(3, 4))).change,
      ]
      await store.remove(KEY)
      changes.push((await store.upsert(KEY, minuteBars(0, 1))).change)
      expect(changes).toEqual([...new Set(changes)].sort((a, b) => a - b))
      expect(await store.info(KEY)).toMatchObject({ count: 1, change: changes.at(-1) ?? 0 })
      expect((await store.read(KEY)).bars.length).toBe(1)
    })

    test('series are listed in order and removed one by one', async () => {
      const keys = [
        seriesKey('NASDAQ', 'AAPL', '1d'),
        seriesKey('BINANCE', 'BTCUSDT', '5m'),
        seriesKey('BINANCE', 'BTCUSDT', '1m'),
        seriesKey('BINANCE', 'ADAUSDT', '1m'),
      ]
      for (const key of keys) await store.upsert(key, minuteBars(0, 3))
      expect((await store.list()).map(({ symbol, interval }) => `${symbol} ${interval}`)).toEqual([
        'ADAUSDT 1m',
        'BTCUSDT 1m',
        'BTCUSDT 5m',
        'AAPL 1d',
      ])
      const ofSymbol = await store.list({ exchange: 'BINANCE', symbol: 'BTCUSDT' })
      expect(ofSymbol.map(({ interval }) => interval)).toEqual(['1m', '5m'])
      expect(await store.list({ owner: 'usr_1', exchange: 'BINANCE', symbol: 'BTCUSDT' })).toEqual([])
      expect(await store.list({ exchange: 'BINANCE', symbol: 'BTC' })).toEqual([])
      expect(await store.remove(keys[1] ?? KEY)).toBe(true)
      expect((await store.list()).length).toBe(3)
      expect((await store.read(keys[2] ?? KEY)).bars.length).toBe(3)
    })

    test('what is read is a copy, and what was written may be reused', async () => {
      const bars = minuteBars(0, 3)
      await store.upsert(KEY, bars)
      bars.open[0] = -1
      const read = await store.read(KEY)
      read.bars.close[0] = -1
      expect(rows((await store.read(KEY)).bars)).toEqual(rows(minuteBars(0, 3)))
    })

    test('values come back bit for bit', async () => {
      const bars = minuteBars(0, 4)
      const odd = [0.1 + 0.2, 1e-12, 123_456_789.123, -5.5]
      for (const field of ['open', 'high', 'low', 'close', 'volume'] as const) bars[field].set(odd)
      await store.upsert(KEY, bars)
      expect(rows((await store.read(KEY)).bars)).toEqual(rows(bars))
    })

    test('what was bought comes back with its bar, and goes with the bar that is written again without', async () => {
      const size = 20_000
      const known = (bars: Bars, step: number) => ({
        ...bars,
        bought: bars.volume.map((volume, i) => (i % step === 0 ? volume / 2 : Number.NaN)),
      })
      const expected = known(minuteBars(0, size), 3).bought
      await store.upsert(KEY, known(minuteBars(0, size), 3))
      const boughtOf = async (range?: BarRange) => [...((await store.read(KEY, range)).bars.bought ?? [])]
      expect(await boughtOf()).toEqual([...expected])
      expect(await boughtOf({ last: 5 })).toEqual([...expected].slice(-5))
      await store.upsert(KEY, minuteBars(9000, 9100))
      expected.fill(Number.NaN, 9000, 9100)
      // At the end, one by one as they come.
      for (let minute = size; minute < size + 70; minute++)
        await store.upsert(KEY, known(minuteBars(minute, minute + 1), 1))
      const draft = store.draft(KEY)
      await draft.add(known(minuteBars(12_000, 12_010), 1))
      expect((await draft.read()).bought).toEqual(
        minuteBars(12_000, 12_010).volume.map((volume) => volume / 2),
      )
      await draft.commit()
      expected.set(
        minuteBars(12_000, 12_010).volume.map((volume) => volume / 2),
        12_000,
      )
      const { bars } = await store.read(KEY)
      expect(rows(bars)).toEqual(rows(minuteBars(0, size + 70)))
      expect([...bars.bought!]).toEqual([
        ...expected,
        ...minuteBars(size, size + 70).volume.map((volume) => volume / 2),
      ])
      await store.upsert(KEY, minuteBars(0, size + 70))
      expect((await boughtOf()).every(Number.isNaN)).toBe(true)
      await store.remove(KEY)
      await store.upsert(KEY, minuteBars(0, 10))
      expect((await store.read(KEY)).bars.bought).toBeUndefined()
    }, 300_000)

    test('a bar that comes again leaves all others, wherever it stands', async () => {
      const all = minuteBars(0, 9_000, { price: 1 })
      await store.upsert(KEY, all)
      // Chunks of any size that divides into these begin with one of them.
      for (const place of [0, 1, 512, 1_024, 2_048, 4_096, 8_192, 8_999]) {
        const again = minuteBars(place, place + 1, { price: 1 })
        expect(await store.upsert(KEY, again)).toMatchObject({ inserted: 0, updated: 1 })
        expect((await store.info(KEY))?.count).toBe(9_000)
      }
      expect(rows((await store.read(KEY)).bars)).toEqual(rows(all))
      expect(await store.upsert(KEY, all)).toMatchObject({ inserted: 0, updated: 9_000 })
    })

    test('random writes agree with a plain merge', async () => {
      const seed = Number(Bun.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31))
      let state = seed
      const random = (limit: number) => {
        state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff
        return state % limit
      }
      let model = emptyBars(0)
      for (let round = 0; round < rounds(60); round++) {
        const from = random(40_000) - 10_000
        const bars = minuteBars(from, from + 1 + random(6_000), { step: 1 + random(3), price: round })
        const before = model.length
        model = mergeBars(model, bars)
        const result = await store.upsert(KEY, bars)
        expect({ seed, round, inserted: result.inserted }).toEqual({
          seed,
          round,
          inserted: model.length - before,
        })
        const range = { from: (random(40_000) - 10_000) * MINUTE, last: 1 + random(9_000) }
        expect({
          seed,
          round,
          rows: Bun.hash(JSON.stringify(rows((await store.read(KEY, range)).bars))),
        }).toEqual({
          seed,
          round,
          rows: Bun.hash(JSON.stringify(rows(selectBars(model, range)))),
        })
      }
      expect(rows((await store.read(KEY)).bars)).toEqual(rows(model))
      expect(await store.info(KEY)).toMatchObject({ count: model.length, first: model.time[0] ?? 0 })
    })

    describe('a draft', () => {
      const size = 20_000
      const old = minuteBars(0, 10_000, { step: 3, price: 50 })

      test('is seen by nobody before it is committed, and as one write then', async () => {
        const draft = store.draft(KEY)
        // Newest first, as some exchanges send them.
        await draft.add(minuteBars(size / 2, size))
        await draft.add(minuteBars(0, size / 2))
        expect([await store.info(KEY), await store.list(), (await store.read(KEY)).bars.length]).toEqual([
          null,
          [],
          0,
        ])
        expect(rows(await draft.read())).toEqual(rows(minuteBars(0, size)))
        const range = { from: 5_000 * MINUTE, to: 15_001 * MINUTE }
        expect(rows(await draft.read(range))).toEqual(rows(minuteBars(5_000, 15_001)))
        expect(await draft.commit()).toMatchObject({ inserted: size, updated: 0 })
        expect(rows((await store.read(KEY)).bars)).toEqual(rows(minuteBars(0, size)))
        expect(await store.info(KEY)).toMatchObject({ count: size, first: 0, last: (size - 1) * MINUTE })
      })

      test.each([
        ['over all of it', 0, size],
        ['in its middle', 4_000, 9_000],
        ['before it', -size, -1],
        ['behind it', 40_000, 60_000],
        ['over its end', 20_000, 50_000],
      ])('goes into a series that is there: %s', async (_where, from, to) => {
        await store.upsert(KEY, old)
        const bars = minuteBars(from, to, { step: 2 })
        const expected = mergeBars(old, bars)
        const draft = store.draft(KEY)
        for (let at = 0; at < bars.length; at += 6_000)
          await draft.add(sliceBars(bars, at, Math.min(bars.length, at + 6_000)))
        const inserted = expected.length - old.length
        expect(await draft.commit()).toMatchObject({ inserted, updated: bars.length - inserted })
        expect(rows((await store.read(KEY)).bars)).toEqual(rows(expected))
        expect(await store.info(KEY)).toMatchObject({
          count: expected.length,
          first: expected.time[0] ?? 0,
          last: expected.time.at(-1) ?? 0,
        })
        // It is a series like any other.
        await store.upsert(KEY, minuteBars(70_000, 70_001))
        expect((await store.read(KEY)).bars.length).toBe(expected.length + 1)
      })

      test('loses nothing that is written meanwhile', async () => {
        await store.upsert(KEY, old)
        const draft = store.draft(KEY)
        await draft.add(minuteBars(0, size))
        const committing = draft.commit()
        await store.upsert(KEY, minuteBars(50_000, 50_010))
        await committing
        expect(await store.info(KEY)).toMatchObject({ last: 50_009 * MINUTE })
        const expected = mergeBars(mergeBars(old, minuteBars(0, size)), minuteBars(50_000, 50_010))
        expect(rows((await store.read(KEY)).bars)).toEqual(rows(expected))
      })

      test('that is discarded, or stays empty, changes nothing', async () => {
        await store.upsert(KEY, old)
        const draft = store.draft(KEY)
        await draft.add(minuteBars(0, size))
        await draft.discard()
        expect(await store.draft(KEY).commit()).toMatchObject({ inserted: 0, updated: 0 })
        await store.sweep()
        expect(rows((await store.read(KEY)).bars)).toEqual(rows(old))
      })
    })

    test('series and facts of one name are kept apart by their owners', async () => {
      const mine = { ...KEY, owner: 'usr_1' }
      await store.upsert(KEY, minuteBars(0, 3))
      await store.upsert(mine, minuteBars(0, 5))
      const draft = store.draft({ ...KEY, owner: 'usr_2' })
      await draft.add(minuteBars(0, 7))
      await draft.commit()
      expect((await store.list()).map(({ owner, count }) => [owner, count])).toEqual([
        [undefined, 3],
        ['usr_1', 5],
        ['usr_2', 7],
      ])
      await store.putSymbol(SYMBOL)
      await store.putSymbol({ ...SYMBOL, owner: 'usr_1', mintick: 0.5 })
      expect((await store.symbol('BINANCE', 'BTCUSDT'))?.mintick).toBe(0.01)
      expect((await store.symbol('BINANCE', 'BTCUSDT', 'usr_1'))?.mintick).toBe(0.5)
      expect(await store.symbol('BINANCE', 'BTCUSDT', 'usr_2')).toBeNull()
      expect((await store.symbols()).map(({ owner }) => owner)).toEqual([undefined, 'usr_1'])
      expect(await store.remove(mine)).toBe(true)
      expect([(await store.read(mine)).bars.length, (await store.read(KEY)).bars.length]).toEqual([0, 3])
      await store.removeSymbol('BINANCE', 'BTCUSDT', 'usr_1')
      expect((await store.symbols()).map(({ owner }) => owner)).toEqual([undefined])
    })

    test('a series knows what it began with, until it is removed', async () => {
      const begun = async () => ((await store.info(KEY))?.begun ?? Number.NaN) / MINUTE
      await store.upsert(KEY, minuteBars(10, 20))
      await store.upsert(KEY, minuteBars(15, 30))
      await store.upsert(KEY, minuteBars(0, 5))
      expect(await begun()).toBe(19)
      await store.remove(KEY)
      const draft = store.draft(KEY)
      await draft.add(minuteBars(0, 5))
      await draft.add(minuteBars(5, 8))
      await draft.commit()
      expect(await begun()).toBe(7)
    })

    describe('a note', () => {
      const noted = async () => (await store.notes()).map(({ from, to }) => [from / MINUTE, to / MINUTE])

      test('of what changed is there as soon as the bars are, and grows', async () => {
        expect(await store.notes()).toEqual([])
        await store.upsert(KEY, minuteBars(0, 0))
        expect(await store.notes()).toEqual([])
        await store.upsert(KEY, minuteBars(10, 20))
        const { change } = await store.upsert(KEY, minuteBars(15, 30))
        const key = { exchange: KEY.exchange, symbol: KEY.symbol, interval: KEY.interval }
        expect(await store.notes()).toEqual([{ key, from: 10 * MINUTE, to: 29 * MINUTE, change }])
        const draft = store.draft(KEY)
        await draft.add(minuteBars(-5, 3))
        expect(await noted()).toEqual([[10, 29]])
        const drafted = await draft.commit()
        expect(await noted()).toEqual([[-5, 29]])
        expect((await store.notes())[0]?.change).toBe(drafted.change)
      })

      test('of each series stands for itself, and of one that was removed, too', async () => {
        const other = seriesKey('BINANCE', 'ETHUSDT', '1m')
        await store.upsert(KEY, minuteBars(0, 3))
        await store.upsert(other, minuteBars(5, 8))
        for (const note of await store.notes()) await store.clearNote(note)
        expect(await store.notes()).toEqual([])
        await store.remove(other)
        await store.remove(other)
        expect(await store.notes()).toMatchObject([
          { key: { symbol: 'ETHUSDT' }, from: 5 * MINUTE, to: 7 * MINUTE },
        ])
      })

      test('is cleared only while nothing came after it', async () => {
        await store.upsert(KEY, minuteBars(0, 3))
        const [note] = await store.notes()
        if (!note) throw new Error('no note')
        await store.upsert(KEY, minuteBars(3, 4))
        await store.clearNote(note)
        expect(await noted()).toEqual([[0, 3]])
        for (const newer of await store.notes()) await store.clearNote(newer)
        expect(await noted()).toEqual([])
      })
    })

    test('symbols are kept', async () => {
      expect(await store.symbol('BINANCE', 'BTCUSDT')).toBeNull()
      await store.putSymbol(SYMBOL)
      await store.putSymbol({ ...SYMBOL, exchange: 'ACME' })
      await store.putSymbol({ ...SYMBOL, mintick: 0.1 })
      expect(await store.symbol('BINANCE', 'BTCUSDT')).toEqual({ ...SYMBOL, mintick: 0.1 })
      expect((await store.symbols()).map(({ exchange }) => exchange)).toEqual(['ACME', 'BINANCE'])
    })
  })
}
