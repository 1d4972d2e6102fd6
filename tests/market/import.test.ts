import { describe, expect, test } from 'bun:test'
import { Problem } from '../../src/lib/problem.ts'
import { type Bars, emptyBars } from '../../src/market/bars.ts'
import { parseTime } from '../../src/market/bar-time.ts'
import { marketOfFile } from '../../src/market/files/file-market.ts'
import { BarCache } from '../../src/market/bar-cache.ts'
import { seriesKey } from '../../src/market/bar-store.ts'
import { seededRandom } from '../../src/lib/seeded-random.ts'
import { importBars, inferInterval, inspectBars, readBars } from '../../src/market/import.ts'
import { loadSamples } from '../../src/market/sample.ts'
import { defaultSymbol } from '../../src/market/symbols.ts'
import { minuteBars, rows } from './bar-store.conformance.ts'
import { testBars } from '../store/test-store.ts'

const COIN = defaultSymbol('BINANCE', 'BTCUSDT')
const STOCK = defaultSymbol('NASDAQ', 'AAPL')

async function show(text: string, format: 'csv' | 'json' = 'csv', symbol = COIN): Promise<string[]> {
  const bars = await readBars([Buffer.from(text)], { format, symbol })
  return rows(bars).map(([time = 0, ...rest]) =>
    [new Date(time).toISOString().slice(0, 19), ...rest].join(' '),
  )
}

async function mistakes(text: string, format: 'csv' | 'json' = 'csv'): Promise<string[]> {
  try {
    await readBars([Buffer.from(text)], { format, symbol: COIN })
  } catch (error) {
    if (error instanceof Problem) return (error.details.fields ?? []).map(({ message }) => message)
    throw error
  }
  return []
}

/** The bars, bit for bit, or what is wrong with them. */
async function outcome(text: string): Promise<unknown> {
  const found = await mistakes(text)
  return found.length > 0
    ? found
    : rows(await readBars([Buffer.from(text)], { format: 'csv', symbol: STOCK }))
}

const EXPECTED = ['2024-03-05T10:00:00 10 12 9 11 5', '2024-03-05T10:01:00 11 13 10 12 6']

describe('CSV as it comes', () => {
  test.each([
    ['our own', 'time,open,high,low,close,volume\n1709632800000,10,12,9,11,5\n1709632860000,11,13,10,12,6\n'],
    [
      "TradingView's export, with a plot and seconds",
      'time,open,high,low,close,Volume,MA\n1709632800,10,12,9,11,5,NaN\n1709632860,11,13,10,12,6,10.5',
    ],
    [
      "TradingView's export, ISO times with an offset, a plot before the volume",
      'time,open,high,low,close,"Plot, fast",Volume\r\n2024-03-05T11:00:00+01:00,10,12,9,11,,5\r\n2024-03-05T11:01:00+01:00,11,13,10,12,,6\r\n',
    ],
    [
      "Binance's dump in ms",
      '1709632800000,10,12,9,11,5,1709632859999,55,3,2,22,0\n1709632860000,11,13,10,12,6,1709632919999,66,3,2,22,0\n',
    ],
    [
      "Binance's dump in microseconds",
      '1709632800000000,10,12,9,11,5,1709632859999999,55,3,2,22,0\n1709632860000000,11,13,10,12,6,1709632919999999,66,3,2,22,0\n',
    ],
    [
      "Binance's futures dump with names",
      'open_time,open,high,low,close,volume,close_time,quote_volume,count\n1709632800000,10,12,9,11,5,1,2,3\n1709632860000,11,13,10,12,6,1,2,3\n',
    ],
    [
      'MetaTrader, tabs, date and clock apart',
      '<DATE>\t<TIME>\t<OPEN>\t<HIGH>\t<LOW>\t<CLOSE>\t<TICKVOL>\n2024.03.05\t10:00:00\t10\t12\t9\t11\t5\n2024.03.05\t10:01:00\t11\t13\t10\t12\t6\n',
    ],
    [
      'newest first, with a link above the names',
      'https://www.example.com\nunix,date,symbol,open,high,low,close,Volume BTC\n1709632860,2024-03-05 10:01:00,BTC/USD,11,13,10,12,6\n1709632800,2024-03-05 10:00:00,BTC/USD,10,12,9,11,5\n',
    ],
    [
      'semicolons and decimal commas',
      'Date;Open;High;Low;Close;Volume\n2024-03-05 10:00;10,0;12;9;11;5\n2024-03-05 10:01;11;13;10;12;6\n',
    ],
    [
      'a byte order mark and blank lines',
      '\uFEFFtime,open,high,low,close,volume\n\n1709632800,10,12,9,11,5\n\n1709632860,11,13,10,12,6\n\n',
    ],
    [
      'no volume for one bar is 0',
      'time,open,high,low,close,volume\n1709632800,10,12,9,11,5\n1709632860,11,13,10,12,6',
    ],
  ])('%s', async (_name, text) => {
    expect(await show(text)).toEqual(EXPECTED)
  })

  test('is the same however it is cut into pieces', async () => {
    const text = 'time,open,high,low,close,volume\r\n1709632800,10,12,9,11,5\r\n1709632860,11,13,10,12,6'
    for (let size = 1; size < 20; size++) {
      const pieces: Buffer[] = []
      for (let at = 0; at < text.length; at += size) pieces.push(Buffer.from(text.slice(at, at + size)))
      const bars = await readBars(pieces, { format: 'csv', symbol: COIN })
      expect({ size, length: bars.length, last: bars.close[1] }).toEqual({ size, length: 2, last: 12 })
    }
  })

  test('rows of plain numbers mean what a parser of CSV makes of them, and so does what is not plain', async () => {
    const seed = Math.floor(Math.random() * 2 ** 32)
    const source = seededRandom(seed)
    const random = () => source.uniform()
    const pick = (from: readonly string[]) => from[Math.floor(random() * from.length)] ?? ''
    const cells = [
      '',
      ' ',
      '0',
      '-0',
      '7',
      ' 7',
      '7 ',
      '+7',
      '7.',
      '.7',
      '.',
      '-',
      '1e2',
      '0x10',
      '1_0',
      'NaN',
      '7,5',
    ]
    const long = [
      '0.1',
      '123.45',
      '0.000001',
      '1234567.12345678',
      '99999999999999999',
      '1.0000000000000001',
      '123456789.123456789',
      '220.64771135518377548',
    ]
    const times = [
      '1709632800',
      '1709632800000',
      '1709632800.5',
      '-1709632800',
      '20240305',
      '2024-03-05 10:00',
    ]
    const others = [';', ',,', '\r', '\0', 'é', '\uFEFF', '-1.5', 'x'.repeat(20)]
    for (let round = 0; round < 300; round++) {
      const delimiter = pick([',', ';', '\t'])
      const end = pick(['\n', '\n', '\r\n'])
      const order = pick([
        'time,open,high,low,close,volume',
        'close,x,open,time,low,high',
        'volume,time,open,high,low,close',
      ])
      // With every other text all is well, so that its bars are compared rather than its mistakes.
      const odd = round % 2 === 0 ? 0 : 0.1
      const row = (i: number) => {
        const price = pick(long)
        const cell = () => (random() >= odd ? price : pick(random() < 0.5 ? cells : others))
        const time = () => (random() < odd ? pick(times) : String(1_709_632_800 + 60 * i))
        const wanted = order.split(',').map((name) => (name === 'time' ? time() : cell()))
        return (
          wanted.slice(0, random() < odd / 2 ? 3 : 6).join(delimiter) + (random() < 0.05 ? delimiter : '')
        )
      }
      const lines = Array.from({ length: 12 }, (_, i) => (random() < 0.05 ? ' ' : row(i)))
      const ending = () => (random() < 0.02 ? pick(['\n', '\r\n', '\r']) : end)
      const text = lines.map((line) => line + ending()).join('')
      // A quote, and all of the text is the parser's.
      const [plain, quoted] = [order, order.replace('time', '"time"')].map(
        (names) => `${names.replaceAll(',', delimiter)}${end}${text}`,
      )
      const [ours, theirs] = await Promise.all([plain, quoted].map((one = '') => outcome(one)))
      expect({ seed, round, ours }).toEqual({ seed, round, ours: theirs })
    }
  })

  test("a bare date is that day's session open", async () => {
    const text = 'Date,Open,High,Low,Close,Adj Close,Volume\n2024-03-05,10,12,9,11,3,5\n'
    expect(await show(text, 'csv', STOCK)).toEqual(['2024-03-05T14:30:00 10 12 9 11 5'])
    expect(await show(text, 'csv', COIN)).toEqual(['2024-03-05T00:00:00 10 12 9 11 5'])
  })
})

describe('JSON', () => {
  test.each([
    [
      'objects',
      '[{"time":1709632800,"open":10,"high":12,"low":9,"close":11,"volume":5},{"time":"2024-03-05T10:01:00Z","open":11,"high":13,"low":10,"close":12,"volume":6}]',
    ],
    [
      'objects under bars, short names',
      '{"bars":[{"t":1709632800,"o":10,"h":12,"l":9,"c":11,"v":5},{"t":1709632860,"o":11,"h":13,"l":10,"c":12,"v":6}]}',
    ],
    [
      "lists, as Binance's API answers",
      '[[1709632800000,"10","12","9","11","5",1709632859999],[1709632860000,"11","13","10","12","6",1709632919999]]',
    ],
    [
      'columns',
      '{"time":[1709632800,1709632860],"open":[10,11],"high":[12,13],"low":[9,10],"close":[11,12],"volume":[5,6]}',
    ],
  ])('%s', async (_name, text) => {
    expect(await show(text, 'json')).toEqual(EXPECTED)
  })

  test.each([
    ['{', ['row 1: is not JSON']],
    ['"bars"', ['row 1: expected a list of bars, or an object of columns']],
    ['[1]', ['row 1: expected a bar as an object or a list']],
    ['{"time":[1,2],"open":[1]}', ['row 1: expected a column open as long as time']],
    ['[]', ['row 1: there are no bars']],
  ])('%s', async (text, expected) => {
    expect(await mistakes(text, 'json')).toEqual(expected)
  })
})

describe('what is refused, with its row', () => {
  const row = (text: string) => `time,open,high,low,close,volume\n1709632800,10,12,9,11,5\n${text}\n`
  test.each([
    ['1709632860,10,8,9,10,5', 'high is below low'],
    ['1709632860,13,12,9,11,5', 'open is outside of low to high'],
    ['1709632860,10,12,9,8,5', 'close is outside of low to high'],
    ['1709632860,10,12,9,11,-5', 'volume is negative'],
    ['1709632860,10,12,NaN,11,5', 'low is missing'],
    ['1709632860,10,12,nine,11,5', 'low is not a number'],
    ['1709632860,10,Infinity,9,11,5', 'high is not a number'],
    ['1709632860,10,12,9', 'close is missing'],
    ['1709632860,10,12,9,,5', 'close is missing'],
    ['yesterday,10,12,9,11,5', 'time is not a date'],
    ['2024-02-30T10:00:00Z,10,12,9,11,5', 'time is not a date'],
    ['9e12,10,12,9,11,5', 'time is not a date'],
    ['9000000000,10,12,9,11,5', 'time is out of range: expected seconds, ms or ISO 8601'],
    ['1709632800,10,12,9,11,5', 'has the same time as row 2'],
    ['1709632860,10,12,9,11,lots', 'volume is not a number'],
  ])('%s: %s', async (text, message) => {
    expect(await mistakes(row(text))).toEqual([`row 3: ${message}`])
  })

  test('a header without a column is named once', async () => {
    expect(await mistakes('time,open,high,close\n1,1,1,1\n2,2,2,2\n')).toEqual([
      'row 1: the header has no column low: say which they are, such as columns=low=… (--columns)',
    ])
  })

  test('an empty file', async () => {
    expect(await mistakes('')).toEqual(['row 1: there are no rows, the file is empty'])
    expect(await mistakes('time,open,high,low,close\n')).toEqual(['row 1: there are no bars'])
  })

  test('mistakes are collected, up to twenty', async () => {
    const bad = Array.from({ length: 50 }, (_, i) => `${1709632800 + i * 60},10,8,9,10,5`)
    const found = await mistakes(`time,open,high,low,close,volume\n${bad.join('\n')}`)
    expect(found.length).toBe(20)
    expect(found.at(-1)).toBe('row 21: high is below low')
  })

  test('nothing of the file is stored', async () => {
    const cache = new BarCache(testBars())
    const key = seriesKey('BINANCE', 'BTCUSDT', '1m')
    const attempt = importBars(cache, key, [Buffer.from(row('1709632860,10,8,9,10,5'))], { format: 'csv' })
    expect(attempt).rejects.toThrow('Nothing was imported: row 3: high is below low.')
    await attempt.catch(() => null)
    expect(await cache.store.list()).toEqual([])
    expect(await cache.store.symbols()).toEqual([])
  })
})

test('a file in no order is sorted', async () => {
  const lines = ['1709632920,3,3,3,3,0', '1709632800,1,1,1,1,0', '1709632860,2,2,2,2,0']
  const shown = await show(`time,open,high,low,close,volume\n${lines.join('\n')}`)
  expect(shown.map((line) => line.slice(11, 21))).toEqual(['10:00:00 1', '10:01:00 2', '10:02:00 3'])
})

describe('a file larger than memory should hold', () => {
  const key = seriesKey('BINANCE', 'BTCUSDT', '1m')
  const COUNT = 200_000
  const HEADER = 'time,open,high,low,close,volume'
  const lineOf = (minute: number) =>
    `${(1_600_000_000 + minute * 60) * 1000},1,${2 + (minute % 9)},0.5,1.25,${minute}`
  const inOrder = Array.from({ length: COUNT }, (_, minute) => lineOf(minute))
  const load = async (lines: readonly string[]) => {
    const cache = new BarCache(testBars())
    let added = 0
    const target = {
      store: cache.store,
      upsert: cache.upsert.bind(cache),
      draft(of: typeof key) {
        const draft = cache.draft(of)
        return { ...draft, add: (bars: Bars) => ((added += bars.length), draft.add(bars)) }
      },
    }
    const text = Buffer.from(`${HEADER}\n${lines.join('\n')}\n`)
    const result = await importBars(target, key, [text], { format: 'csv' })
    const { time, volume } = await cache.read(key)
    // The volume says which minute a row was written for.
    expect(volume.every((minute, i) => minute === i && time[i] === (1_600_000_000 + i * 60) * 1000)).toBe(
      true,
    )
    return { result, added, count: time.length }
  }

  test('goes to the store in blocks, oldest or newest first', async () => {
    for (const lines of [inOrder, inOrder.toReversed()]) {
      const { result, added, count } = await load(lines)
      expect([added, count, result.rows, result.inserted]).toEqual([COUNT, COUNT, COUNT, COUNT])
    }
  })

  test('is sorted when a row breaks the order late', async () => {
    for (const lines of [inOrder, inOrder.toReversed()]) {
      const moved = [...lines.slice(0, 150_000), ...lines.slice(150_001), lines[150_000] ?? '']
      expect((await load(moved)).count).toBe(COUNT)
    }
  })

  test('is sorted in runs when it is in no order', async () => {
    // Every 7th row after the other, so that each run is of all times.
    const mixed = Array.from({ length: COUNT * 2 }, (_, i) => lineOf((i * 7) % (COUNT * 2 - 1)))
    mixed[COUNT * 2 - 1] = lineOf(COUNT * 2 - 1)
    const { result, count } = await load(mixed)
    expect([count, result.rows, result.inserted]).toEqual([COUNT * 2, COUNT * 2, COUNT * 2])
    const twice = mixed.with(COUNT * 2 - 5, mixed[3] ?? '')
    expect(load(twice)).rejects.toThrow(`row ${COUNT * 2 - 3}: has the same time as row 5`)
    await load(twice).catch(() => null)
  })

  test('names the rows of a time that comes twice, and those that are wrong, and stores nothing', async () => {
    const cache = new BarCache(testBars())
    const attempt = (lines: readonly string[]) =>
      importBars(cache, key, [Buffer.from(`${HEADER}\n\n${lines.join('\n')}`)], { format: 'csv' })
    const twice = inOrder.with(150_000, lineOf(70_000))
    // The header and a blank line come first.
    expect(attempt(twice)).rejects.toThrow('row 150003: has the same time as row 70003')
    await attempt(twice).catch(() => null)
    const wrong = inOrder.with(180_000, '1,2,3')
    expect(attempt(wrong)).rejects.toThrow('row 180003')
    await attempt(wrong).catch(() => null)
    expect([await cache.store.list(), await cache.store.symbols()]).toEqual([[], []])
  })
})

test('an import tells what it did, and makes finer bars into bars of its interval', async () => {
  const cache = new BarCache(testBars())
  const text = 'time,open,high,low,close,volume\n1709632800,10.25,12,9,11,5\n1709632860,11,13,10,12.5,6\n'
  const attempt = (interval: string, csv = text) =>
    importBars(cache, seriesKey('binance', 'btcusdt', interval), [Buffer.from(csv)], { format: 'csv' })
  const first = await attempt('1h')
  expect(first).toMatchObject({ inserted: 1, updated: 0, rows: 2 })
  expect(first.series).toMatchObject({ exchange: 'BINANCE', symbol: 'BTCUSDT', count: 1 })
  expect(first.symbol).toMatchObject({
    mintick: 0.01,
    currency: 'USDT',
    baseCurrency: 'BTC',
    timezone: 'Etc/UTC',
  })
  const said = [{ code: 'finer_bars', message: '2 bars of 1m: made into 1 of 1h.' }]
  expect(first.warnings).toEqual(said)
  const stored = await cache.read(seriesKey('BINANCE', 'BTCUSDT', '1h'))
  expect([stored.open[0], stored.high[0], stored.low[0], stored.close[0], stored.volume[0]]).toEqual([
    10.25, 13, 9, 12.5, 11,
  ])
  const looked = await inspectBars(cache, seriesKey('BINANCE', 'BTCUSDT', '1h'), [Buffer.from(text)])
  expect(looked).toMatchObject({ warnings: said, count: 1 })
  expect(await attempt('1m')).toMatchObject({ inserted: 2, warnings: [] })
  // Of which none can be made they are refused, and the remedy works.
  const sevens = text.replace('1709632860', '1709633220')
  expect(attempt('1h', sevens)).rejects.toThrow('bars of 7m, which would stand between those of 1h')
  expect(await attempt('7m', sevens)).toMatchObject({ inserted: 2 })
})

test('days that are called minutes are told before and when they are stored; a market that seldom trades is not', async () => {
  const cache = new BarCache(testBars())
  const csv = (times: readonly number[]) =>
    Buffer.from(
      ['time,open,high,low,close,volume', ...times.map((at) => `${1_709_596_800 + at},10,12,9,11,5`)].join(
        '\n',
      ),
    )
  const days = csv(Array.from({ length: 5 }, (_, i) => i * 86_400))
  const said = {
    code: 'coarser_bars',
    message:
      '5 bars that are 1d apart, in a series of 1m: stored as bars of 1m; if they are of 1d, import them so.',
  }
  const minutes = seriesKey('E', 'S', '1m')
  const told = async (read: typeof inspectBars | typeof importBars, key: typeof minutes, bytes: Buffer) =>
    (await read(cache, key, [bytes])).warnings.filter(({ code }) => code === 'coarser_bars')
  for (const read of [inspectBars, importBars]) {
    expect(await told(read, minutes, days)).toEqual([said])
    expect(await told(read, seriesKey('E', 'S', '1d'), days)).toEqual([])
    expect(await told(read, minutes, csv([0, 3600, 7200, 7260, 10_800, 14_400]))).toEqual([])
  }
})

test('a flat file of Polygon is read by the names of its columns', async () => {
  const csv =
    'ticker,volume,open,close,high,low,window_start,transactions\nAAPL,5,10,11,12,9,1709632800000000000,3\nAAPL,6,11,12,13,10,1709632860000000000,4\n'
  const found = await inspectBars(new BarCache(testBars()), { exchange: 'E', symbol: 'S', interval: '' }, [
    Buffer.from(csv),
  ])
  expect(found).toMatchObject({ count: 2, first: 1_709_632_800_000, last: 1_709_632_860_000, spacing: '1m' })
  const { open, high, low, close, volume } = found.sample
  expect([open[0], high[0], low[0], close[0], volume[0]]).toEqual([10, 12, 9, 11, 5])
})

test('stocks that a column names apart are no one series', () => {
  const rows = ['2024-01-02,1,2,0.5,1.5,5,AAL', '2024-01-03,1,2,0.5,1.5,5,AAPL']
  const csv = `date,open,high,low,close,volume,Name\n${rows.join('\n')}\n`
  expect(
    inspectBars(new BarCache(testBars()), { exchange: 'E', symbol: 'S', interval: '' }, [Buffer.from(csv)]),
  ).rejects.toThrow('is of another symbol than the rows above, AAPL')
})

describe('files of Lean', () => {
  const look = async (csv: string, fileName: string) =>
    inspectBars(new BarCache(testBars()), { exchange: 'E', symbol: 'S', interval: '' }, [Buffer.from(csv)], {
      fileName,
    })
  test('days and hours of shares are ten-thousandths, on the clock of New York', async () => {
    const found = await look(
      '20240102 00:00,4725000,4730000,4700000,4720000,100\n20240103 00:00,4720000,4721000,4600000,4650000,90\n',
      'spy.csv',
    )
    expect(found.files[0]!.dialect).toMatchObject({ origin: 'Lean' })
    const { open, high, low, close, volume } = found.sample
    expect([open[0], high[0], low[0], close[0], volume[0]]).toEqual([472.5, 473, 470, 472, 100])
  })
  test('minutes count from the midnight of the day in their name, in summer and in winter', async () => {
    const csv = '34200000,4725000,4730000,4700000,4720000,100\n34260000,4720000,4721000,4600000,4650000,90\n'
    for (const [day, first] of [
      ['20240102', '2024-01-02T14:30:00.000Z'],
      ['20240702', '2024-07-02T13:30:00.000Z'],
    ]) {
      const found = await look(csv, `equity/usa/minute/spy/${day}_spy_minute_trade.csv`)
      expect([new Date(found.first).toISOString(), found.spacing, found.sample.close[0]]).toEqual([
        first!,
        '1m',
        472,
      ])
    }
    expect(marketOfFile('20240102_spy_minute_trade.csv')).toMatchObject({ symbol: 'SPY', interval: '1m' })
  })
  test('prices of coins are as they stand, on the clock of UTC, which is in doubt', async () => {
    // Eight digits that could be a date of 1800 are milliseconds.
    const rows = '18000000,1.1,1.2,1.0,1.1,100\n18060000,1.1,1.2,1.0,1.1,100\n'
    const found = await look(rows, '20240102_btcusd_minute_trade.csv')
    expect([new Date(found.first).toISOString(), found.sample.close[0]]).toEqual([
      '2024-01-02T05:00:00.000Z',
      1.1,
    ])
    expect(found.warnings.map(({ code }) => code)).toEqual(['zone_unknown'])
  })
  test('its quotes are refused with what is read instead', () => {
    const row = '34200000,1.1,1.2,1.0,1.1,100\n34260000,1.1,1.2,1.0,1.1,100\n'
    expect(look(row, '20240102_eurusd_minute_quote.csv')).rejects.toThrow('import the days and hours')
  })
})

test.each([
  ['BTC_USDT-1h.feather', 'BTCUSDT', '1h'],
  ['BTC_USDT_USDT-4h-futures.feather', 'BTCUSDT', '4h'],
  ['ETH_BTC-1d.json', 'ETHBTC', '1d'],
])('freqtrade’s names tell the market: %s', (name, symbol, interval) => {
  expect(marketOfFile(name)).toEqual({ exchange: '', symbol, interval })
})

test('rows of jesse without names have the close behind the open', async () => {
  const times = [0, 1, 2, 3].map((i) => Date.UTC(2024, 0, 2) + i * 60_000)
  const own = times.map((time, i) => `${time},${10 + i},${11 + i},${12 + i},${9 + i},5`)
  const usual = times.map((time, i) => `${time},${10 + i},${12 + i},${9 + i},${11 + i},5`)
  expect(await show(own.join('\n'))).toEqual(
    await show(`time,open,high,low,close,volume\n${usual.join('\n')}`),
  )
})

describe('weeks and months that are dated by their end', () => {
  const DAY = 86_400_000
  const csvOf = (dates: readonly number[]) =>
    `Date,Open,High,Low,Close,Volume\n${dates.map((time, i) => `${new Date(time).toISOString().slice(0, 10)},${10 + i},${12 + i},${9 + i},${11 + i},5`).join('\n')}\n`
  const look = async (csv: string, interval = '') =>
    inspectBars(new BarCache(testBars()), { exchange: 'E', symbol: 'S', interval }, [Buffer.from(csv)])
  const fridays = Array.from({ length: 12 }, (_, i) => Date.UTC(2024, 0, 5) + 7 * i * DAY)
  const monthEnds = Array.from({ length: 24 }, (_, i) => Date.UTC(2023, i + 1, 0))
  const businessEnds = monthEnds.map((time) => {
    const day = new Date(time).getUTCDay()
    return time - (day === 6 ? 1 : day === 0 ? 2 : 0) * DAY
  })
  test.each([
    ['Fridays', fridays, '2024-01-01'],
    ['Fridays, a Thursday before a holiday among them', fridays.with(3, fridays[3]! - DAY), '2024-01-01'],
    ['Saturdays', fridays.map((time) => time + DAY), '2024-01-01'],
    ['last days', monthEnds, '2023-01-01'],
    ['last days that are no weekend', businessEnds, '2023-01-01'],
  ])('are moved to their beginning, which is said: %s', async (_name, dates, first) => {
    const found = await look(csvOf(dates))
    expect(new Date(found.first).toISOString().slice(0, 10)).toBe(first)
    expect(found).toMatchObject({
      count: dates.length,
      warnings: [{ code: 'bars_by_end', message: expect.stringContaining('moved to the beginning') }],
    })
    const interval = dates.length === 12 ? '1w' : '1M'
    expect((await look(csvOf(dates), interval)).first).toBe(found.first)
  })
  test.each([
    ['Mondays', fridays.map((time) => time - 4 * DAY)],
    ['first days', monthEnds.map((time) => time + DAY)],
  ])('those that are dated by their beginning stay: %s', async (_name, dates) => {
    expect(await look(csvOf(dates))).toMatchObject({ first: dates[0], warnings: [] })
  })
  test('of Sundays nobody knows, so they stay, and that is said', async () => {
    const sundays = fridays.map((time) => time + 2 * DAY)
    expect(await look(csvOf(sundays))).toMatchObject({
      first: sundays[0],
      warnings: [
        { code: 'bars_by_end', message: expect.stringContaining('first or the last day of a week') },
      ],
    })
  })
})

test.each([
  ['1m', minuteBars(0, 50)],
  ['15m', minuteBars(0, 900, { step: 15 })],
  ['1h', minuteBars(0, 900, { step: 60 })],
  ['1d', minuteBars(0, 14_400, { step: 1440 })],
  ['7m', minuteBars(0, 70, { step: 7 })],
])('bars %s apart are known by their distance', (text, bars) => {
  expect(inferInterval(bars)).toEqual({ count: Number.parseInt(text), unit: text.slice(-1) as 'm' })
})

test('it is the most frequent distance that tells, and of two as frequent the shorter', () => {
  const apart = (...hours: number[]) => {
    const bars = emptyBars(hours.length + 1)
    for (const [i, hour] of hours.entries()) bars.time[i + 1] = bars.time[i]! + hour * 3_600_000
    return inferInterval(bars)
  }
  // A weekend comes first.
  expect(apart(65, 1, 1, 4, 1)).toEqual({ count: 1, unit: 'h' })
  expect(apart(4, 4, 1, 1, 65)).toEqual({ count: 1, unit: 'h' })
  expect(apart(1, 4, 4)).toEqual({ count: 4, unit: 'h' })
  expect(apart()).toBeNull()
})

test.each([
  [1e11 - 1, (1e11 - 1) * 1000],
  [1e11, 1e11],
  [1e14 - 1, 1e14 - 1],
  [1e14, 1e11],
  [1e17 - 16, 99_999_999_999_999],
  [1e17, 1e11],
  [-1e11, -1e11],
])('the number %d of a file is the millisecond %d', (number, ms) => {
  expect([parseTime(number, null), parseTime(String(number), null)]).toEqual([ms, ms])
})

test.each([
  ['.5', 500],
  ['.123456789', 123],
  ['.9999', 999],
  ['', 0],
])('of a second%s the whole milliseconds count', (part, ms) => {
  const text = `2024-03-05 10:00:07${part}`
  expect(parseTime(text, null)).toBe(Date.UTC(2024, 2, 5, 10, 0, 7, ms))
  expect(parseTime(`${text}+02:30`, null)).toBe(Date.UTC(2024, 2, 5, 7, 30, 7, ms))
})

test('the samples are real bars, dated at the session open, loaded once', async () => {
  const cache = new BarCache(testBars())
  const loaded = await loadSamples(cache)
  expect(loaded.map(({ series }) => `${series.exchange}:${series.symbol} ${series.count}`)).toEqual([
    'SP:SPX 5105',
    'NASDAQ:AAPL 1260',
  ])
  expect(new Date(loaded[0]?.series.first ?? 0).toISOString()).toBe('2000-01-03T14:30:00.000Z')
  expect(await loadSamples(cache)).toEqual([])
  // Weeks come from the days.
  const weeks = await cache.read(seriesKey('SP', 'SPX', '1w'))
  expect(weeks.length).toBe(1059)
  expect(new Date(weeks.time.at(-1) ?? 0).toISOString()).toBe('2020-04-13T13:30:00.000Z')
})
