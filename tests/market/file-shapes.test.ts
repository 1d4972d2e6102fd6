// Shapes of files as public repositories have them, each made small here: what is read, and what is refused with a remedy
// that exists.

import { describe, expect, test } from 'bun:test'
import { tableFromArrays, tableToIPC, vectorFromArray, Null, Table } from 'apache-arrow'
import { parquetWriteBuffer } from 'hyparquet-writer'
import { BarCache } from '../../src/market/bar-cache.ts'
import { seriesKey } from '../../src/market/bar-store.ts'
import { importBars, type ReadHints, stageBars } from '../../src/market/import.ts'
import { defaultSymbol } from '../../src/market/symbols.ts'
import { testBars } from '../store/test-store.ts'
import { rows } from './bar-store.conformance.ts'

const SYMBOL = defaultSymbol('E', 'S')

async function read(content: string | Uint8Array, interval = '1d', hints: ReadHints = {}) {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content
  const { bars, read: found } = await stageBars([bytes], { symbol: SYMBOL, interval, hints }, null)
  return {
    kind: found.files[0]?.kind,
    bars: rows(bars).map(([time = 0, ...rest]) =>
      [new Date(time).toISOString().slice(0, 16), ...rest].join(' '),
    ),
    said: found.findings.map(({ kind, message, done }) => `${kind}: ${message}; ${done}`),
  }
}

const said = async (content: string, interval = '1d') => {
  try {
    await read(content, interval)
  } catch (error) {
    return error instanceof Error ? error.message : ''
  }
  return ''
}

const DAYS = ['2024-01-02T00:00 10 12 9 11 5', '2024-01-03T00:00 11 13 10 12 6']

test.each([
  ['quantmod', 'Date,AAPL.Open,AAPL.High,AAPL.Low,AAPL.Close,AAPL.Volume,AAPL.Adjusted,up', ',1,2'],
  ['pandas with flat names', 'Date,Open_AAPL,High_AAPL,Low_AAPL,Close_AAPL,Volume_AAPL', ''],
  ['rows that are counted', 'Index,Open Price,High Price,Low Price,Close Price,Volume,Start Date', ''],
  ['MOEX', 'begin,open,high,low,close,volume', ''],
  ['Tushare', 'trade_date,open,high,low,close,vol,ts_code', ',600519.SH'],
  ['a date of something', 'CHART_DATE,OPEN,HIGH,LOW,CLOSE,VOLUME', ''],
  ['Investing.com in English, renamed', 'date,opening,max,min,last,vol', ''],
  ['Portuguese', 'Data,Abertura,Máxima,Mínima,Fechamento,Volume', ''],
  ['Japanese', '日付,始値,高値,安値,終値,出来高', ''],
  ['Korean', '날짜,시가,고가,저가,종가,거래량', ''],
  ['Turkish', 'Tarih,Açılış,Yüksek,Düşük,Şimdi,Hac.', ''],
])('names of columns: %s', async (_, names, rest) => {
  const isCounted = names.startsWith('Index')
  const lines = ['10,12,9,11,5', '11,13,10,12,6'].map((prices, i) => {
    const day = `2024-01-0${i + 2}`
    return isCounted ? `${i},${prices},${day}` : `${day},${prices}${rest}`
  })
  expect((await read(`${names}\n${lines.join('\n')}\n`)).bars).toEqual(DAYS)
})

test('bid and ask side by side give bars of the bid, and several symbols are refused by name', async () => {
  const csv = (a: string, b: string) =>
    `Date,${a}Open,${a}High,${a}Low,${a}Close,${b}Open,${b}High,${b}Low,${b}Close\n2024-01-02,10,12,9,11,20,22,19,21\n2024-01-03,11,13,10,12,21,23,20,22\n`
  expect((await read(csv('Bid', 'Ask'))).bars).toEqual(DAYS.map((day) => day.replace(/\d$/, '0')))
  expect(await said(csv('AAPL.', 'MSFT.'))).toContain('several symbols, aapl.…, msft.…: say which')
})

test.each([
  ['2-Jan-24', '3-Jan-24', '2024'],
  ['02-Jan-90', '03-Jan-90', '1990'],
  ['02-Jan-2024', '03-Jan-2024', '2024'],
])('a day such as %s', async (first, second, year) => {
  const { bars } = await read(`Date,Open,High,Low,Close\n${first},10,12,9,11\n${second},11,13,10,12\n`)
  expect(bars).toEqual([`${year}-01-02T00:00 10 12 9 11 0`, `${year}-01-03T00:00 11 13 10 12 0`])
})

describe('times that are none', () => {
  test('numbers that are too short are refused, unless the user says what they count', async () => {
    const years = 'Year,t,open,high,low,close\n1990,1990,10,12,9,11\n1991,1991,11,13,10,12\n'
    expect(await said(years)).toContain('such as 1990, are too short for dates')
    const { bars } = await read('t,open,high,low,close\n60,10,12,9,11\n120,11,13,10,12\n', '1m', {
      unit: 's',
    })
    expect(bars).toEqual(['1970-01-01T00:01 10 12 9 11 0', '1970-01-01T00:02 11 13 10 12 0'])
  })
  test('Excel’s days that are counted on are times all the same', async () => {
    expect(
      (await read('Date,Open,High,Low,Close,Volume\n45293,10,12,9,11,5\n45294,11,13,10,12,6\n')).bars,
    ).toEqual(DAYS)
  })
})

describe('columns that the user names', () => {
  const CSV = 'when,first,top,bottom,last price,sold\n2024-01-02,10,12,9,11,5\n2024-01-03,11,13,10,12,6\n'
  const NAMED = 'time=when,open=first,high=top,low=bottom,close=Last Price,volume=sold'
  test('are taken by name or by number, with names or without', async () => {
    expect(await said(CSV)).toContain('say which they are, such as columns=time=…,open=…')
    expect((await read(CSV, '1d', { columns: NAMED })).bars).toEqual(DAYS)
    const columns = 'time=1,open=2,high=3,low=4,close=5,volume=6'
    expect((await read(CSV, '1d', { columns })).bars).toEqual(DAYS)
    expect((await read(CSV.slice(CSV.indexOf('\n') + 1), '1d', { columns })).bars).toEqual(DAYS)
  })
  test('may be the same for several, as of a file of closes', async () => {
    const closes = 'Date,t,Close\n2024-01-02,1,10\n2024-01-03,2,11\n'
    const columns = 'open=Close,high=Close,low=Close'
    expect((await read(closes, '1d', { columns })).bars).toEqual([
      '2024-01-02T00:00 10 10 10 10 0',
      '2024-01-03T00:00 11 11 11 11 0',
    ])
    const table = new Uint8Array(
      parquetWriteBuffer({
        columnData: [
          { name: 'timestamp', data: [2, 3].map((day) => BigInt(Date.UTC(2024, 0, day))), type: 'INT64' },
          { name: 'SPY', data: [10, 11], type: 'DOUBLE' },
        ],
      }),
    )
    const all = 'open=SPY,high=SPY,low=SPY,close=SPY'
    expect((await read(table, '1d', { columns: all })).bars[1]).toBe('2024-01-03T00:00 11 11 11 11 0')
    expect((await read(closes, '1d', { columns: 'price=Close' })).bars[1]).toBe(
      '2024-01-03T00:00 11 11 11 11 0',
    )
  })
  test('make trades of a file where they name a price', async () => {
    const { kind, bars } = await read('id,px,amount\n1704186000000,10,2\n1704186001000,12,3\n', '1m', {
      columns: 'time=id,price=px',
    })
    expect([kind, bars]).toEqual(['trades', ['2024-01-02T09:00 10 12 10 12 5']])
  })
  test.each([
    ['open', 'must be like time=Date'],
    ['opening=first', 'must be like time=Date'],
    ['open=7', 'names 7, but the columns are when, first, top'],
    ['open=Öffnung', 'names Öffnung, but'],
    [`open=${'x'.repeat(5000)}`, 'but the columns are'],
  ])('are refused where there are none: %#', async (columns, message) => {
    const refused = await read(CSV, '1d', { columns }).catch((error: Error) => error.message)
    expect(refused).toContain(message)
    expect(typeof refused === 'string' ? refused.length : 0).toBeLessThan(700)
  })
  test('are needed where rows have more cells than there are names', async () => {
    const csv = 'Date,Open,High,Low,Close\n2024-01-02,09:00:00,10,12,9,11\n2024-01-02,09:01:00,11,13,10,12\n'
    expect(await said(csv, '1m')).toContain('line 1 names 5 columns, but the rows have 6: say which has what')
    const columns = 'time=1,clock=2,open=3,high=4,low=5,close=6'
    expect((await read(csv, '1m', { columns })).bars[1]).toBe('2024-01-02T09:01 11 13 10 12 0')
    // A delimiter at the end of each row is no cell.
    expect(
      (await read('Date,Open,High,Low,Close\n2024-01-02,10,12,9,11,\n2024-01-03,11,13,10,12,\n')).bars,
    ).toHaveLength(2)
  })
})

describe('a file of several symbols', () => {
  const CSV = `date,open,high,low,close,volume,Name\n2024-01-02,1,2,0.5,1.5,5,AAL\n2024-01-02,10,12,9,11,5,AAPL\n2024-01-03,11,13,10,12,6,AAPL\n`
  test('is refused with the remedy, which takes the rows of one', async () => {
    expect(await said(CSV)).toMatch(/row 3: is of another symbol .*, AAPL.*ticker=… \(--ticker\)/)
    expect((await read(CSV, '1d', { ticker: 'AAPL' })).bars).toEqual(DAYS)
    expect(read(CSV, '1d', { ticker: 'MSFT' })).rejects.toThrow('no row is of MSFT')
  })
  test('is not mixed in JSON either, whether each bar says its symbol or each list', async () => {
    const bar = (date: number, open: number, symbol?: string) => ({
      ...(symbol !== undefined && { symbol }),
      date: `2024-01-0${date}`,
      open,
      high: open + 2,
      low: open - 1,
      close: open + 1,
      volume: open - 5,
    })
    const flat = JSON.stringify([bar(1, 1, 'AAL'), bar(2, 10, 'AAPL'), bar(3, 11, 'AAPL')])
    expect(await said(flat)).toContain('row 2: is of another symbol than the rows above, AAPL')
    expect((await read(flat, '1d', { ticker: 'AAPL' })).bars).toEqual(DAYS)
    const lists = JSON.stringify({ AAL: [bar(1, 7)], AAPL: [bar(2, 10), bar(3, 11)] })
    expect(await said(lists)).toContain('has two lists of bars, AAL and AAPL; say which, such as ticker=AAPL')
    expect((await read(lists, '1d', { ticker: 'AAPL' })).bars).toEqual(DAYS)
    expect(read(lists, '1d', { ticker: 'MSFT' })).rejects.toThrow('no row is of MSFT')
  })
  test('is not mixed in Parquet either', async () => {
    const day = (date: number) => BigInt(Date.UTC(2024, 0, date))
    const column = (name: string, data: number[]) => ({ name, data, type: 'DOUBLE' as const })
    const bytes = new Uint8Array(
      parquetWriteBuffer({
        columnData: [
          { name: 'timestamp', data: [day(1), day(2), day(3)], type: 'INT64' },
          { name: 'symbol', data: ['AAL', 'AAPL', 'AAPL'], type: 'STRING' },
          column('open', [1, 10, 11]),
          column('high', [2, 12, 13]),
          column('low', [1, 9, 10]),
          column('close', [1, 11, 12]),
          column('volume', [1, 5, 6]),
        ],
      }),
    )
    expect(read(bytes)).rejects.toThrow('is of another symbol than the rows above, AAPL')
    expect((await read(bytes, '1d', { ticker: 'AAPL' })).bars).toEqual(DAYS)
  })
})

describe('an open or a close outside of low to high', () => {
  test('by less than a price can be told to, is rounding', async () => {
    const { bars, said: findings } = await read(
      'Date,Open,High,Low,Close\n2024-01-02,0.1,0.10128898918628692,0.1,0.10128898918628693\n',
    )
    expect(bars).toEqual(['2024-01-02T00:00 0.1 0.10128898918628693 0.1 0.10128898918628693 0'])
    expect(findings.filter((one) => one.startsWith('widened'))).toEqual([])
  })
  test('is refused with the remedy, which is counted', async () => {
    const csv = 'Date,Open,High,Low,Close\n2024-01-02,14,12,9,8\n2024-01-03,11,13,10,12\n2024-01-04,1,2,3,2\n'
    const sound = csv.slice(0, csv.indexOf('2024-01-04'))
    expect(await said(csv)).toContain('say widen=true (--widen)')
    const { bars, said: findings } = await read(sound, '1d', { widen: 'true' })
    expect(bars[0]).toBe('2024-01-02T00:00 14 14 8 8 0')
    expect(findings).toContain(
      'widened: 1 bar whose open or close was outside of low to high; low and high were widened to hold them',
    )
    // A high below the low is no bar however wide.
    expect(read(csv, '1d', { widen: 'true' })).rejects.toThrow('row 4: high is below low')
  })
  test('rows of one time name their remedy, too', async () => {
    expect(await said('Date,Open,High,Low,Close\n2024-01-02,1,1,1,1\n2024-01-02,1,1,1,1\n')).toContain(
      'say duplicates=first or last (--duplicates)',
    )
  })
})

describe('bars of minutes that are dated by their end', () => {
  const line = (time: number) => `${new Date(time).toISOString().slice(0, 16).replace('T', ' ')},10,12,9,11,5`
  /** Sessions of New York's hours on five days. */
  const sessions = (minutes: number, by: 'start' | 'end', open = 570, close = 960) => {
    const lines: string[] = []
    for (let day = 0; day < 5; day++)
      for (let at = open; at < close; at += minutes)
        lines.push(line(Date.UTC(2024, 0, 8 + day) + (by === 'end' ? at + minutes : at) * 60_000))
    return `time,open,high,low,close,volume\n${lines.join('\n')}\n`
  }
  test.each([1, 5, 15])('%i min: the sessions tell, and each is moved', async (minutes) => {
    const { bars, said: findings } = await read(sessions(minutes, 'end'), `${minutes}m`)
    const begun = await read(sessions(minutes, 'start'), `${minutes}m`)
    expect(bars).toEqual(begun.bars)
    const told = `moved to its beginning, ${minutes}m earlier; if these were beginnings say dated=start`
    expect(findings.filter((one) => one.includes(told))).toHaveLength(1)
    expect(begun.said.filter((one) => one.startsWith('period_end'))).toEqual([])
    const kept = await read(sessions(minutes, 'end'), `${minutes}m`, { dated: 'start' })
    expect(kept.bars[0]).toContain(minutes === 1 ? 'T09:31' : minutes === 5 ? 'T09:35' : 'T09:45')
  })
  test('half hours are as they are, and any are as the user says', async () => {
    expect((await read(sessions(30, 'end'), '30m')).bars[0]).toContain('T10:00')
    expect((await read(sessions(30, 'end'), '30m', { dated: 'end' })).bars[0]).toContain('T09:30')
    expect(read(sessions(30, 'end'), '30m', { dated: 'middle' })).rejects.toThrow('must be start or end')
  })
  test('weeks on Sundays are as the user says, and of a single month, too', async () => {
    const csv = 'Date,Open,High,Low,Close\n2024-01-07,1,1,1,1\n2024-01-14,1,1,1,1\n2024-01-21,1,1,1,1\n'
    expect((await read(csv, '1w')).bars[0]).toContain('2024-01-07')
    expect((await read(csv, '1w', { dated: 'end' })).bars[0]).toContain('2024-01-01')
    const month = 'Date,Open,High,Low,Close\n2024-01-31,1,1,1,1\n'
    expect((await read(month, '1M', { dated: 'end' })).bars[0]).toContain('2024-01-01')
    expect((await read(csv, '1w', { dated: 'start' })).bars[0]).toContain('2024-01-07')
  })
  test('more bars than memory keeps are moved in their draft', async () => {
    const lines: string[] = []
    for (let day = 0; lines.length < 70_000; day++)
      for (let at = 571; at <= 960; at++) lines.push(line(Date.UTC(2024, 0, 1 + day) + at * 60_000))
    const cache = new BarCache(testBars())
    const csv = `time,open,high,low,close,volume\n${lines.join('\n')}\n`
    const { series } = await importBars(cache, seriesKey('E', 'S', '1m'), [Buffer.from(csv)])
    expect([series.count, new Date(series.first).toISOString()]).toEqual([
      lines.length,
      '2024-01-01T09:30:00.000Z',
    ])
  })
})

test('days in front of finer bars are told of', async () => {
  const days = Array.from({ length: 40 }, (_, i) => Date.UTC(2024, 0, 1 + i))
  const hours = Array.from({ length: 100 }, (_, i) => Date.UTC(2024, 2, 1) + i * 3_600_000)
  const line = (time: number) => `${time},10,12,9,11,5`
  const csv = `time,open,high,low,close,volume\n${[...days, ...hours].map(line).join('\n')}\n`
  const { said: findings } = await read(csv, '1h')
  expect(findings.find((one) => one.startsWith('coarser_bars'))).toContain(
    '40 bars that are a day apart, among those of 1h',
  )
})

test('ticks that are written as bars are trades, though some are of one time', async () => {
  const tick = (second: string, price: number) =>
    `2024-01-02T09:00:${second},${price},${price},${price},${price},2`
  const csv = `Datetime,Open,High,Low,Close,Volume\n${tick('01.146', 10)}\n${tick('01.146', 12)}\n${tick('05.500', 11)}\n`
  const { kind, bars } = await read(csv, '1m')
  expect([kind, bars]).toEqual(['trades', ['2024-01-02T09:00 10 12 10 11 6']])
})

test('prices of whole units and billionths, as T-Bank’s API answers them', async () => {
  const price = (units: number, nano: number) => ({ units: String(units), nano })
  const candle = (minute: number) => ({
    time: `2024-01-02T09:0${minute}:00Z`,
    open: price(124, 740_000_000),
    high: price(125, 0),
    low: price(123, 10_000_000),
    close: price(124, 50_000_000),
    volume: 7,
  })
  expect((await read(JSON.stringify({ candles: [candle(0), candle(1)] }), '1m')).bars).toEqual([
    '2024-01-02T09:00 124.74 125 123.01 124.05 7',
    '2024-01-02T09:01 124.74 125 123.01 124.05 7',
  ])
})

test('a column of Arrow with nothing but nulls takes no room', async () => {
  const table = tableFromArrays({ timestamp: BigInt64Array.of(1_704_186_000_000n, 1_704_186_001_000n) })
  const bytes = tableToIPC(
    new Table({
      timestamp: table.getChild('timestamp')!,
      type: vectorFromArray([null, null], new Null()),
      price: vectorFromArray([10, 12]),
      amount: vectorFromArray([1, 2]),
    }),
    'stream',
  )
  expect((await read(bytes, '1m')).bars).toEqual(['2024-01-02T09:00 10 12 10 12 3'])
})

test.each([
  [[[1_704_186_000_000, '1', null, 'sell', 10, 2, 20]], 'convert-trade-data'],
  [[[1_704_186_000_000, '1', 'limit', 'buy', 10, 2, 20]], 'convert-trade-data'],
])('freqtrade’s trades as JSON are refused with what writes them otherwise', async (trades, message) => {
  expect(await said(JSON.stringify(trades), '1m')).toContain(message)
})

test('DBN is refused with what Databento writes instead', async () => {
  const refused = read(Uint8Array.of(0x44, 0x42, 0x4e, 2, 0, 0, 0, 0))
  expect(refused).rejects.toThrow('ask Databento for CSV')
})

test('thousands with a space or an apostrophe, and a caption above the names', async () => {
  const csv =
    'Gold, monthly\nDate;Open;High;Low;Close\n2024-01-02;1 142,40;1 144,36;1\u00A0122,73;1\u202F127,91\n2024-01-03;1 142,40;1 144,36;1 122,73;1 127,91\n'
  expect((await read(csv)).bars[0]).toBe('2024-01-02T00:00 1142.4 1144.36 1122.73 1127.91 0')
  const swiss =
    "SMI\nDate,Open,High,Low,Close\n2024-01-02,1’142.40,1'144.36,1’122.73,1’127.91\n2024-01-03,1,1,1,1\n"
  expect((await read(swiss)).bars[0]).toBe('2024-01-02T00:00 1142.4 1144.36 1122.73 1127.91 0')
})

test('days that are dated by their last minute begin where they begin', async () => {
  const csv = `Date,Open,High,Low,Close\n${[29, 30, 31].map((day) => `${day}/05/2013 23:59,10,12,9,11`).join('\n')}\n`
  const { bars, said: findings } = await read(csv)
  expect(bars[0]).toBe('2013-05-29T00:00 10 12 9 11 0')
  expect(findings.filter((one) => one.includes('moved to the beginning of its day'))).toHaveLength(1)
  expect((await read(csv, '1d', { dated: 'start' })).bars[0]).toContain('T23:59')
})

test('bars of five minutes that are called minutes are told of, and those of a thin market are not', async () => {
  const told = async (distances: readonly number[]) => {
    let time = Date.UTC(2024, 0, 2)
    const rows = distances.map((minutes) => `${(time += minutes * 60_000)},1,1,1,1`)
    const found = await read(`time,open,high,low,close\n${rows.join('\n')}\n`, '1m')
    return found.said.some((one) => one.startsWith('coarser_bars'))
  }
  const five = Array.from({ length: 30 }, () => 5)
  expect(await told(five)).toBe(true)
  expect(await told([...five, 10, 500])).toBe(true)
  expect(await told([...five, 3])).toBe(false)
  expect(await told(five.map((minutes, i) => minutes + (i % 3)))).toBe(false)
  expect(await told(five.slice(0, 5))).toBe(false)
})

test('weeks that are called days are told of', async () => {
  const weeks = Array.from({ length: 10 }, (_, i) => Date.UTC(2024, 0, 1 + 7 * i))
  const csv = `time,open,high,low,close\n${weeks.map((time) => `${time},1,1,1,1`).join('\n')}\n`
  expect((await read(csv)).said.find((one) => one.startsWith('coarser_bars'))).toContain(
    '1w apart, in a series of 1d',
  )
})
