// Files of trades and bars as their providers document them, made here: what a column is for is found by its name.

import { describe, expect, test } from 'bun:test'
import { gzipSync } from 'node:zlib'
import { parquetWriteBuffer } from 'hyparquet-writer'
import { Problem } from '../../src/lib/problem.ts'
import { type ReadBarsOptions, stageBars } from '../../src/market/import.ts'
import { defaultSymbol } from '../../src/market/symbols.ts'
import { rows } from './bar-store.conformance.ts'

const COIN = defaultSymbol('OKX', 'BTCUSDT')
const STOCK = defaultSymbol('NASDAQ', 'AAPL')

/** Who writes it, and each bar: minutes and seconds, prices, volume, and what of it was bought. */
async function read(content: string | Uint8Array, options: Partial<ReadBarsOptions> = {}) {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content
  const { bars, read: found } = await stageBars([bytes], { symbol: COIN, interval: '1m', ...options }, null)
  return {
    by: found.files[0]?.dialect?.origin,
    kind: found.files[0]?.kind,
    bars: rows(bars).map(([time = 0, ...rest]) =>
      [new Date(time).toISOString().slice(0, 19), ...rest].join(' '),
    ),
    bought: bars.bought && Array.from(bars.bought),
    findings: found.findings.map(({ kind }) => kind),
  }
}

async function refusal(content: string, options: Partial<ReadBarsOptions> = {}): Promise<string> {
  try {
    await read(content, options)
  } catch (error) {
    if (error instanceof Problem) return error.message
    throw error
  }
  return ''
}

describe('TradeStation', () => {
  const head = '"Date","Time","Open","High","Low","Close","Up","Down"\n'
  const bars = '01/12/2024,09:31,10,12,9,11,300,200\n01/16/2024,09:31,11,13,10,12,,7\n'

  test('has the volume in two columns', async () => {
    const told = await read(head + bars)
    expect(told).toMatchObject({
      by: 'TradeStation',
      bars: ['2024-01-12T09:31:00 10 12 9 11 500', '2024-01-16T09:31:00 11 13 10 12 7'],
      bought: undefined,
    })
    expect(told.findings).toContain('unknown_zone')
    expect(await read(gzipSync(`\uFEFF${head}${bars}`))).toMatchObject({
      by: 'TradeStation',
      bars: told.bars,
    })
    // What a chart plots beside them is none of it.
    const plotted = (head + bars).replace('"Down"', '"Down","Plot1"').replaceAll(/(?<=\d)\n(?=.)/g, ',99\n')
    expect((await read(plotted)).bars[0]).toBe(told.bars[0])
  })

  test('has one column where there is one, and its days are sessions', async () => {
    const days =
      '"Date","Time","Open","High","Low","Close","Vol","OI"\n01/12/2024,16:00,10,12,9,11,500,0\n01/16/2024,16:00,11,13,10,12,7,0\n'
    expect(await read(days, { symbol: STOCK, interval: '1d' })).toMatchObject({
      by: 'TradeStation',
      bars: ['2024-01-12T14:30:00 10 12 9 11 500', '2024-01-16T14:30:00 11 13 10 12 7'],
    })
  })

  test('volumes that are no numbers are refused by their rows', async () => {
    expect(await refusal(`${head}01/13/2024,09:31,10,12,9,11,x,200\n`)).toContain(
      'row 2: volume is not a number',
    )
    expect(await refusal(`${head}01/13/2024,09:31,10,12,9,11,100,-200\n`)).toContain(
      'row 2: volume is negative',
    )
  })
})

describe('trades of', () => {
  const BARS = ['2024-03-05T10:00:00 10.5 12 10.5 12 3', '2024-03-05T10:01:00 11 11 11 11 4']

  test.each([
    [
      'OKX',
      'instrument_name,trade_id,side,price,size,created_time\nBTC-USDT,1,buy,10.5,1,1709632800100\nBTC-USDT,2,sell,12,2,1709632810000\nBTC-USDT,3,sell,11,4,1709632860000\n',
    ],
    [
      'OKX',
      'instrument_name,trade_id,side,price,size,created_time,source\nBTC-USDT,1,buy,10.5,1,1709632800100,0\nBTC-USDT,2,sell,12,2,1709632810000,1\nBTC-USDT,3,sell,11,4,1709632860000,0\n',
    ],
    [
      'OKX',
      'trade_id,side,size,price,created_time\n1,buy,1,10.5,1709632800100\n2,sell,2,12,1709632810000\n3,sell,4,11,1709632860000\n',
    ],
    [
      'Databento',
      'ts_recv,ts_event,rtype,publisher_id,instrument_id,action,side,depth,price,size,flags,ts_in_delta,sequence,symbol\n2024-03-05T10:00:00.100000123Z,2024-03-05T09:59:59.999999999Z,0,2,5,T,B,0,10.500000000,1,130,1,1,AAPL\n2024-03-05T10:00:10.000000001Z,2024-03-05T10:00:09.000000000Z,0,2,5,T,A,0,12.000000000,2,130,1,2,AAPL\n2024-03-05T10:01:00.000000000Z,2024-03-05T10:00:59.999000000Z,0,2,5,T,A,0,11.000000000,4,130,1,3,AAPL\n',
    ],
    [
      'Databento',
      'ts_recv,ts_event,rtype,publisher_id,instrument_id,action,side,depth,price,size,flags,ts_in_delta,sequence\n1709632800100000123,1709632799999999999,0,2,5,T,B,0,10500000000,1,130,1,1\n1709632810000000001,1709632809000000000,0,2,5,T,A,0,12000000000,2,130,1,2\n1709632860000000000,1709632859999000000,0,2,5,T,A,0,11000000000,4,130,1,3\n',
    ],
    ['Gate.io', '1709632800.100000,1,10.5,1,2\n1709632810.000000,2,12,2,1\n1709632860.000000,3,11.0,4,1\n'],
    [
      'Gate.io',
      '1709632860.000000, 3, 11.0, 4, 1\n1709632810.000000, 2, 12, 2, 1\n1709632800.100000, 1, 10.5, 1, 2\n',
    ],
    ['Gate.io', '1709632800.100000,1,10.5,1\n1709632810.000000,2,12,-2\n1709632860.000000,3,11.0,-4\n'],
  ])('%s: %j', async (by, text) => {
    expect(await read(text)).toMatchObject({ by, kind: 'trades', bars: BARS, bought: [1, 0], findings: [] })
    expect(await read(gzipSync(`\uFEFF${text}`.replaceAll('\n', '\r\n')))).toMatchObject({ by, bars: BARS })
  })

  test('Databento without a side are of nobody', async () => {
    const text =
      'ts_recv,ts_event,rtype,publisher_id,instrument_id,action,side,depth,price,size,flags,ts_in_delta,sequence\n2024-03-05T10:00:00Z,2024-03-05T10:00:00Z,0,2,5,T,N,0,10.5,1,130,1,1\n'
    expect((await read(text)).findings).toEqual(['unknown_side'])
    const order = text.replace(',T,', ',A,')
    expect(await refusal(order)).toContain('row 2: this is an order and no trade; export the trades alone')
  })

  test('others that have a trade_id and a side name the side of the taker', async () => {
    const text = 'trade_id,trade_time,price,size,side\n1,1709632800100,10,1,buy\n'
    expect(await read(text)).toMatchObject({ by: null, bought: [1] })
  })

  test('several instruments in one file are refused', async () => {
    const text =
      'instrument_name,trade_id,side,price,size,created_time\nBTC-USDT,1,buy,10,1,1709632800100\nETH-USDT,2,sell,12,2,1709632810000\n'
    expect(await refusal(text)).toContain('row 3: is of another symbol than the rows above')
  })
})

describe('bars of', () => {
  const BARS = ['2024-03-05T10:00:00 10.5 12 9 11 5', '2024-03-05T10:01:00 11 13 10 12 6']
  const databento = 'ts_event,rtype,publisher_id,instrument_id,open,high,low,close,volume,symbol\n'

  test('Databento, with points and as whole billionths', async () => {
    const pretty = `${databento}2024-03-05T10:00:00.000000000Z,33,1,5,10.500000000,12.000000000,9.000000000,11.000000000,5,ESH4\n2024-03-05T10:01:00.000000000Z,33,1,5,11.000000000,13.000000000,10.000000000,12.000000000,6,ESH4\n`
    const raw = `${databento}1709632800000000000,33,1,5,10500000000,12000000000,9000000000,11000000000,5,ESH4\n1709632860000000000,33,1,5,11000000000,13000000000,10000000000,12000000000,6,ESH4\n`
    for (const text of [pretty, raw])
      expect(await read(text)).toMatchObject({ by: 'Databento', bars: BARS, findings: [] })
    // Whole prices of others are what they say.
    expect((await read(raw.replace('publisher_id', 'venue'))).bars[0]).toContain(' 10500000000 ')
    expect(await refusal(pretty.replace('6,ESH4', '6,ESM4'))).toContain('of another symbol')
  })

  test('the nanosecond before a minute is none of it', async () => {
    const row = (time: string) => `${time},33,1,5,1,1,1,1,5,ESH4\n`
    const text = databento + row('1709632859999999999') + row('1709632860000000000')
    const { bars } = await stageBars([Buffer.from(text)], { symbol: COIN }, null)
    expect(Array.from(bars.time)).toEqual([1_709_632_859_999, 1_709_632_860_000])
  })

  test.each([['INT64'], ['DOUBLE']] as const)('Databento in Parquet, prices of type %s', async (type) => {
    const price = (...prices: number[]) =>
      type === 'INT64' ? prices.map((one) => BigInt(one * 1e9)) : prices
    const bytes = parquetWriteBuffer({
      columnData: [
        { name: 'ts_event', data: [1_709_632_800_000_000_000n, 1_709_632_860_000_000_000n], type: 'INT64' },
        { name: 'rtype', data: [33, 33], type: 'INT32' },
        { name: 'publisher_id', data: [1, 1], type: 'INT32' },
        { name: 'instrument_id', data: [5, 5], type: 'INT32' },
        { name: 'open', data: price(10.5, 11), type },
        { name: 'high', data: price(12, 13), type },
        { name: 'low', data: price(9, 10), type },
        { name: 'close', data: price(11, 12), type },
        { name: 'volume', data: [5n, 6n], type: 'INT64' },
      ],
    })
    expect((await read(new Uint8Array(bytes))).bars).toEqual(BARS)
  })

  test('Barchart, whose last line is none of the table', async () => {
    for (const [head, start] of [
      ['Time,Open,High,Low,Last,Change,%Chg,Volume,"Open Int"', ''],
      ['Symbol,Time,Open,High,Low,Latest,Change,%Change,Volume', 'ESH24,'],
    ] as const) {
      const text = `${head}\n${start}"2024-03-05 10:01",11,13,10,12,+1,+9.09%,6\n${start}"2024-03-05 10:00",10.5,12,9,11,-0.5,-4.35%,5\n"Downloaded from Barchart.com as of 03-06-2024 05:30pm CST"\n`
      expect(await read(text)).toMatchObject({ by: 'Barchart', bars: BARS, findings: ['unknown_zone'] })
    }
  })
})
