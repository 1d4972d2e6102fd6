// Trades that tell who was in a hurry: from the files of exchanges to bars that know what was bought, and back.

import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { parquetWriteBuffer } from 'hyparquet-writer'
import { BarCache } from '../../src/market/bar-cache.ts'
import { BarStage } from '../../src/market/bar-stage.ts'
import { type BarStore, seriesKey, type SeriesKey } from '../../src/market/bar-store.ts'
import { type Bars, concatBars, copyBars, emptyBars, mergeBars, sliceBars } from '../../src/market/bars.ts'
import { barWindows, EXPORT_FORMATS, exportPieces } from '../../src/market/files/export-bars.ts'
import { readingText } from '../../src/market/files/reading-text.ts'
import { importBars, stageBars } from '../../src/market/import.ts'
import { shareSeries } from '../../src/market/sharing.ts'
import { defaultSymbol } from '../../src/market/symbols.ts'
import { zip } from './archives.ts'
import { testBars } from '../store/test-store.ts'

// A busy machine takes its time over 400,000 bars.
setDefaultTimeout(300_000)

const COIN = defaultSymbol('BINANCE', 'BTCUSDT')
const START = Date.UTC(2024, 2, 5, 10)
const KEY = seriesKey('BINANCE', 'BTCUSDT', '1s')
const PRIVATE = { ...KEY, owner: 'somebody' }

/** Time in ms, price, quantity, and whether it was bought. */
type Trade = readonly [at: number, price: number, quantity: number, bought: boolean | null]
const TRADES: readonly Trade[] = [
  [100, 10, 5, false],
  [500, 12, 1, true],
  [1000, 9, 2, true],
  [1900, 11, 0.1, true],
  [1950, 11, 0.2, true],
  [2000, 11, 6, false],
]
const UNDERSTOOD =
  'understood are buy and sell, bought and sold, b and s, and flags of a buyer who is the maker'
/** Seconds, volume and what of it was bought. */
const SECONDS = [
  [0, 6, 1],
  [1, 2.3, 2.3],
  [2, 6, 0],
]

const lines = (trades: readonly Trade[], line: (trade: Trade, i: number) => string, names?: string) =>
  [...(names === undefined ? [] : [names]), ...trades.map(line), ''].join('\n')
const word = (bought: boolean | null, [buy, sell]: readonly [string, string] = ['buy', 'sell']) =>
  bought === null ? '' : bought ? buy : sell
const binance = (trades: readonly Trade[]) =>
  lines(
    trades,
    ([at, price, quantity, bought], i) =>
      `${i},${price},${quantity},50,${START + at}000,${word(bought, ['False', 'True'])},True`,
  )
const generic = (trades: readonly Trade[]) =>
  lines(
    trades,
    ([at, price, quantity, bought]) => `${START + at},${price},${quantity},${word(bought)}`,
    'time,price,amount,side',
  )
/** The same without sides. */
const bare = (trades: readonly Trade[]) =>
  lines(trades, ([at, price, quantity]) => `${START + at},${price},${quantity}`, 'time,price,amount')

async function read(text: string, options: { interval?: string; volumePerBar?: string } = {}) {
  const { interval = '1s', ...hints } = options
  const staged = await stageBars([Buffer.from(text)], { symbol: COIN, interval, hints }, null)
  return { ...staged, says: staged.read.files.map((file) => readingText(file)).join(' ') }
}

const sides = ({ length, time, volume, bought }: Bars) =>
  Array.from({ length }, (_, i) => [(time[i]! - START) / 1000, volume[i]!, bought?.[i] ?? Number.NaN])

async function put(cache: BarCache, text: string, key: SeriesKey = KEY) {
  await importBars(cache, key, [Buffer.from(text)], { hints: { duplicates: 'last' } })
}

describe('what was bought is read from', () => {
  test.each([
    ['Binance', binance(TRADES), 'side in column 6'],
    [
      'Binance, aggregated',
      lines(
        TRADES,
        ([at, price, qty, bought], i) => `${i},${price},${qty},${i},${i},${START + at},${!bought},true`,
      ),
      'side in column 7',
    ],
    [
      'Binance futures, with names',
      lines(
        TRADES,
        ([at, price, qty, bought], i) => `${i},${price},${qty},50,${START + at},${!bought}`,
        'id,price,qty,quote_qty,time,is_buyer_maker',
      ),
      'side from is_buyer_maker',
    ],
    ['a column of sides', generic(TRADES), ', side'],
    ['words of the past', generic(TRADES).replaceAll('buy', 'Bought').replaceAll('sell', 'Sold'), ', side'],
    [
      'Kraken’s letters, newest first',
      lines(
        TRADES.toReversed(),
        ([at, price, qty, bought]) => `${price},${qty},${(START + at) / 1000},${word(bought, ['b', 's'])},m`,
        'price,volume,time,side,type',
      ),
      ', side',
    ],
    [
      'Bybit, with capitals',
      lines(
        TRADES,
        ([at, price, qty, bought]) =>
          `${(START + at) / 1000},BTCUSDT,${word(bought, ['Buy', 'Sell'])},${qty},${price}`,
        'timestamp,symbol,side,size,price',
      ),
      ', side',
    ],
    [
      'quoted cells',
      lines(
        TRADES,
        ([at, price, qty, bought]) => `"${START + at}","${price}","${qty}","${word(bought)}"`,
        'time,price,amount,side',
      ),
      ', side',
    ],
    [
      'Coinbase, which names the side of the order that waited',
      lines(
        TRADES,
        ([at, price, qty, bought], i) =>
          `${new Date(START + at).toISOString()},${i},${price},${qty},${word(bought, ['sell', 'buy'])}`,
        'time,trade_id,price,size,side',
      ),
      'CSV of trades as Coinbase writes it',
    ],
  ])('%s', async (_name, text, says) => {
    const told = await read(text)
    expect(sides(told.bars)).toEqual(SECONDS)
    expect(told.says).toContain(says)
    expect(told.read.findings.filter(({ kind }) => kind === 'unknown_side')).toEqual([])
  })

  test('bars of volume', async () => {
    // 5 + 1 fill the first, 2 + 0.1 + 0.2 + 6 the second.
    const { bars } = await read(binance(TRADES), { volumePerBar: '5.5' })
    expect(sides(bars)).toEqual([
      [0.1, 6, 1],
      [1, 8.3, 2.3],
    ])
  })

  test('klines, which say it of themselves', async () => {
    const kline = (minute: number, bought: string) =>
      `${START + minute * 60_000},10,12,9,11,5,${START + minute * 60_000 + 59_999},55,3,${bought},22,0`
    const text = `${kline(0, '2.25')}\n${kline(1, '5')}\n${kline(2, '5.5')}\n`
    for (const file of [
      text,
      `open_time,open,high,low,close,volume,close_time,quote_volume,count,taker_buy_volume,taker_buy_quote_volume,ignore\n${text}`,
    ]) {
      const { bars, says } = await read(file, { interval: '1m' })
      // More than there was is something else.
      expect(sides(bars)).toEqual([
        [0, 5, 2.25],
        [60, 5, 5],
        [120, 5, Number.NaN],
      ])
      expect(says).toMatch(/bought (?:in column 10|from taker_buy_volume)/)
    }
  })
})

describe('tables have sides as', () => {
  const column = (pick: (trade: Trade) => number) => TRADES.map(pick)
  const table = (name: string, data: readonly (string | boolean | null)[]) =>
    new Uint8Array(
      parquetWriteBuffer({
        columnData: [
          { name: 'time', data: column(([at]) => (START + at) / 1000), type: 'DOUBLE' },
          { name: 'price', data: column(([, price]) => price), type: 'DOUBLE' },
          { name: 'qty', data: column(([, , quantity]) => quantity), type: 'DOUBLE' },
          { name, data: [...data] },
        ],
      }),
    )

  test.each([
    [
      'words',
      table(
        'side',
        TRADES.map(([, , , bought]) => word(bought)),
      ),
    ],
    [
      'flags',
      table(
        'is_buyer_maker',
        TRADES.map(([, , , bought]) => bought === false),
      ),
    ],
  ])('%s', async (_name, bytes) => {
    const { bars } = await stageBars([bytes], { symbol: COIN, interval: '1s' }, null)
    expect(sides(bars)).toEqual(SECONDS)
  })
  test('words of some', async () => {
    const some = TRADES.map(([at, , , bought]) => (at === 500 ? null : word(bought)))
    const { bars } = await stageBars([table('side', some)], { symbol: COIN, interval: '1s' }, null)
    expect(sides(bars)).toEqual([[0, 6, Number.NaN], ...SECONDS.slice(1)])
  })
  test('words that nobody understands, and that is told', async () => {
    const odd = TRADES.map(([, , , bought]) => word(bought, ['long', 'short']))
    const { read: found } = await stageBars([table('side', odd)], { symbol: COIN, interval: '1s' }, null)
    expect(found.findings).toMatchObject([{ kind: 'unknown_side', count: 3 }])
  })
  test('none, of bars that do not know', async () => {
    const { bars } = await read(bare(TRADES))
    const windows = async function* () {
      yield bars
    }
    const bytes = Buffer.concat(await Array.fromAsync(exportPieces(windows, 'parquet')))
    const back = await stageBars([bytes], { symbol: COIN, interval: '1s' }, null)
    expect(back.bars.bought).toBeUndefined()
  })
})

test.each(EXPORT_FORMATS)(
  '%s begins with bars that do not know, and one that does comes late',
  async (format) => {
    const { bars: known } = await read(binance(TRADES))
    const { bars: plain } = await read(bare(TRADES.slice(0, 2)))
    const windows = async function* () {
      yield plain
      yield sliceBars(known, 1, 3)
    }
    const exported = Buffer.concat(await Array.fromAsync(exportPieces(windows, format)))
    const expected = [[0, 6, Number.NaN], ...SECONDS.slice(1)]
    const back = await stageBars([exported], { symbol: COIN, interval: '1s' }, null)
    expect(sides(back.bars)).toEqual(expected)
    // And behind it in an archive a file without the column.
    const late = concatBars([plain, emptyBars(0)])
    late.time[0] = START + 3000
    const other = async function* () {
      yield late
    }
    const last = Buffer.concat(await Array.fromAsync(exportPieces(other, format)))
    const both = zip([
      { name: 'a', text: exported },
      { name: 'b', text: last },
    ])
    const joined = await stageBars([both], { symbol: COIN, interval: '1s' }, null)
    expect(sides(joined.bars)).toEqual([...expected, [3, 6, Number.NaN]])
  },
)

test('a file with sides and one without, in one archive, in either order', async () => {
  const entries = [
    ['a.csv', generic(TRADES.slice(0, 2))],
    ['b.csv', bare(TRADES.slice(2, 5))],
    ['c.csv', generic(TRADES.slice(5))],
  ] as const
  const expected = [SECONDS[0]!, [1, 2.3, Number.NaN], SECONDS[2]!]
  const readZip = async (files: readonly (readonly [string, string])[]) => {
    const bytes = zip(files.map(([name, text]) => ({ name, text })))
    return stageBars([bytes], { symbol: COIN, interval: '1s' }, null)
  }
  expect(sides((await readZip(entries)).bars)).toEqual(expected)
  expect(sides((await readZip([entries[1], entries[0], entries[2]])).bars)).toEqual(expected)
})

test('a row without price and quantity is left out, whatever its side', async () => {
  const text = generic(TRADES).replace('\n', `\n${START},,,buy\n`)
  const { bars, read: found } = await read(text)
  expect(sides(bars)).toEqual(SECONDS)
  expect(found.skipped).toBe(1)
})

test('a bar with one trade of which nobody knows is one of which nobody knows, and that is told', async () => {
  const some = TRADES.map(([at, price, quantity, bought]): Trade => [
    at,
    price,
    quantity,
    at === 1900 ? null : bought,
  ])
  const { bars, read: found } = await read(generic(some))
  expect(sides(bars)).toEqual([
    [0, 6, 1],
    [1, 2.3, Number.NaN],
    [2, 6, 0],
  ])
  expect(found.findings).toContainEqual({
    kind: 'unknown_side',
    count: 1,
    examples: [],
    message: `1 bar with trades that do not tell whether they were bought or sold; ${UNDERSTOOD}`,
    done: 'stored as it is; footprint and volume delta go by the move of the price there',
  })
})

test('trades without a side leave the bars as they always were', async () => {
  const plain = await read(bare(TRADES))
  expect(plain.bars.bought).toBeUndefined()
  expect(plain.read.findings).toEqual([])
})

test.each([
  ['maybe', 'never'],
  ['1', '-1'],
  ['1', '0'],
  ['bid', 'ask'],
  ['long', 'short'],
  ['bottom', 'soul'],
])('sides called %s and %s are not guessed at, and that is told', async (buy, sell) => {
  const { bars, read: found } = await read(generic(TRADES).replaceAll('buy', buy).replaceAll('sell', sell))
  expect(sides(bars).map(([, , bought]) => bought)).toEqual([Number.NaN, Number.NaN, Number.NaN])
  expect(found.findings).toEqual([
    {
      kind: 'unknown_side',
      count: 3,
      examples: [],
      message: `3 bars with trades that do not tell whether they were bought or sold; ${UNDERSTOOD}`,
      done: 'stored as they are; footprint and volume delta go by the move of the price there',
    },
  ])
})

describe('stored bars know what was bought', () => {
  const stored = async (key: SeriesKey = KEY) => {
    const cache = new BarCache(testBars())
    await put(cache, binance(TRADES), key)
    return cache
  }

  test('and so do bars that are built from them', async () => {
    const cache = await stored()
    expect(sides(await cache.read(KEY))).toEqual(SECONDS)
    expect(sides(await cache.read({ ...KEY, interval: '2s' }))).toEqual([
      [0, 8.3, 3.3],
      [2, 6, 0],
    ])
    await put(cache, bare(TRADES.slice(0, 2)))
    expect(sides(await cache.read({ ...KEY, interval: '2s' }))).toEqual([
      [0, 8.3, Number.NaN],
      [2, 6, 0],
    ])
  })

  test('also after the same file again', async () => {
    const cache = await stored()
    await put(cache, binance(TRADES))
    expect(sides(await cache.read(KEY))).toEqual(SECONDS)
  })

  test('and no more where they were written again without', async () => {
    const cache = await stored()
    await put(cache, bare(TRADES.slice(2, 5)))
    expect(sides(await cache.read(KEY))).toEqual([
      [0, 6, 1],
      [1, 2.3, Number.NaN],
      [2, 6, 0],
    ])
    await put(cache, bare(TRADES))
    expect(sides(await cache.read(KEY)).map(([, , bought]) => bought)).toEqual([
      Number.NaN,
      Number.NaN,
      Number.NaN,
    ])
  })

  test('where bars without were there before, in the cache too', async () => {
    const cache = new BarCache(testBars())
    await put(cache, bare(TRADES.slice(0, 2)))
    expect(sides(await cache.read(KEY))).toEqual([[0, 6, Number.NaN]])
    await put(cache, binance(TRADES.slice(2)))
    const expected = [[0, 6, Number.NaN], ...SECONDS.slice(1)]
    expect(sides(await cache.read(KEY))).toEqual(expected)
    expect(sides(await cache.read(KEY, { last: 1 }))).toEqual(expected.slice(2))
    await put(cache, binance(TRADES))
    expect(sides(await cache.read(KEY))).toEqual(SECONDS)
  })

  test('and not when the series was removed and imported without', async () => {
    const cache = await stored()
    await cache.remove(KEY)
    await put(cache, bare(TRADES))
    expect((await cache.read(KEY)).bought).toBeUndefined()
  })

  test('of one user alone, until the series is everybody’s', async () => {
    const cache = await stored(PRIVATE)
    await put(cache, bare(TRADES))
    expect(sides(await cache.read(PRIVATE))).toEqual(SECONDS)
    expect((await cache.read(KEY)).bought).toBeUndefined()
    await cache.remove(KEY)
    await shareSeries(cache, { userId: 'admin', keeper: true }, KEY, 'somebody')
    expect(sides(await cache.read(KEY))).toEqual(SECONDS)
    expect(await cache.store.info(PRIVATE)).toBeNull()
  })

  test.each(EXPORT_FORMATS)('and export it as %s, which an import reads back', async (format) => {
    const cache = await stored()
    await put(cache, bare(TRADES.slice(2, 5)))
    const windows = (step: number) => () => barWindows((range) => cache.read(KEY, range), {}, step)
    for (const step of [1, 2, 100]) {
      const bytes = Buffer.concat(await Array.fromAsync(exportPieces(windows(step), format)))
      const back = await stageBars([bytes], { symbol: COIN, interval: '1s' }, null)
      expect(sides(back.bars)).toEqual(sides(await cache.read(KEY)))
    }
  })
  test('and a file of bars without looks as it always did', async () => {
    const cache = new BarCache(testBars())
    await put(cache, bare(TRADES))
    const bytes = await Array.fromAsync(
      exportPieces(() => barWindows((range) => cache.read(KEY, range)), 'csv'),
    )
    expect(Buffer.concat(bytes).toString()).toStartWith(
      'time,open,high,low,close,volume\n1709632800000,10,12,10,12,6\n',
    )
  })
})

/** A second for each trade of 2, of which every third is sold; prices go up and down. */
function many(count: number, from = 0): Trade[] {
  return Array.from({ length: count }, (_, i) => [(from + i) * 1000, 100 + (i % 7), 2, (from + i) % 3 !== 0])
}
const expectedOf = (count: number) => Array.from({ length: count }, (_, i) => [i, 2, i % 3 === 0 ? 0 : 2])

describe('large imports', () => {
  const COUNT = 150_000

  test.each([
    ['oldest first', many(COUNT)],
    ['newest first', many(COUNT).toReversed()],
  ])('%s, keep what was bought with its bar', async (_name, trades) => {
    const store: BarStore = testBars()
    const cache = new BarCache(store)
    await put(cache, binance(trades))
    const { length, bought } = await cache.read(KEY)
    expect(length).toBe(COUNT)
    expect(bought!.findIndex((value, i) => value !== (i % 3 === 0 ? 0 : 2))).toBe(-1)
    // Merged with what is there.
    await put(cache, bare(many(10)))
    const merged = sides(await cache.read(KEY, { first: 12 }))
    expect(merged).toEqual(
      expectedOf(12).map(([at, volume, bought], i) => [at!, volume!, i < 10 ? Number.NaN : bought!]),
    )
  })

  test('in no order', async () => {
    // So many that they are sorted in several runs.
    const count = 400_003
    const cache = new BarCache(testBars())
    const stage = new BarStage(() => cache.draft(KEY))
    stage.expectSides()
    for (let n = 0; n < count; n++) {
      const i = (n * 7919) % count
      stage.add(n + 1, START + i * 1000, 1, 1, 1, 1, 2, i % 3 === 0 ? 0 : 2)
      if (n % 10_000 === 0) await stage.spill()
    }
    const { bars, draft } = await stage.finish()
    await draft!.add(bars)
    await draft!.commit()
    const { length, bought } = await cache.read(KEY)
    expect(length).toBe(count)
    expect(bought!.findIndex((value, i) => value !== (i % 3 === 0 ? 0 : 2))).toBe(-1)
  })
})

test('of rows of one time that come in no order the one that is kept has its own side', async () => {
  const stage = new BarStage(null, 'last')
  stage.expectSides()
  for (const [row, [second, bought]] of [
    [2, 1],
    [0, 2],
    [2, 3],
    [1, 4],
    [0, 5],
  ].entries())
    stage.add(row + 1, START + second! * 1000, 1, 1, 1, 1, 9, bought)
  expect(sides((await stage.finish()).bars)).toEqual([
    [0, 9, 5],
    [1, 9, 4],
    [2, 9, 3],
  ])
})

test('bars with and without what was bought are joined, merged and cut', async () => {
  const { bars: known } = await read(binance(TRADES))
  const plain = emptyBars(1)
  plain.time[0] = START + 1000
  plain.volume[0] = 7
  const nobody = [1, 7, Number.NaN]
  expect(sides(mergeBars(known, plain))).toEqual([SECONDS[0]!, nobody, SECONDS[2]!])
  expect(sides(mergeBars(plain, known))).toEqual(SECONDS)
  const copy = concatBars([known, emptyBars(0)])
  copyBars(copy, 1, plain)
  expect(sides(copy)).toEqual([SECONDS[0]!, nobody, SECONDS[2]!])
  expect(sides(concatBars([sliceBars(known, 0, 1), plain, sliceBars(known, 2, 3)]))).toEqual([
    SECONDS[0]!,
    nobody,
    SECONDS[2]!,
  ])
})
