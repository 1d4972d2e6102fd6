// Bars as exchanges answer them: in whatever envelope, by names, or in an order that the rows show.

import { describe, expect, test } from 'bun:test'
import { gzipSync } from 'node:zlib'
import { Problem } from '../../src/lib/problem.ts'
import { readingText } from '../../src/market/files/reading-text.ts'
import { type ReadBarsOptions, stageBars } from '../../src/market/import.ts'
import { defaultSymbol } from '../../src/market/symbols.ts'
import { rows } from './bar-store.conformance.ts'

const COIN = defaultSymbol('BYBIT', 'BTCUSDT')

async function read(content: unknown, options: Partial<ReadBarsOptions> = {}) {
  const text = typeof content === 'string' ? content : JSON.stringify(content)
  const { bars, read: found } = await stageBars(
    [Buffer.from(text)],
    { symbol: COIN, interval: '1m', ...options },
    null,
  )
  return {
    bars: rows(bars).map(([time = 0, ...rest]) =>
      [new Date(time).toISOString().slice(0, 19), ...rest].join(' '),
    ),
    findings: found.findings.map(({ kind, message, done }) => `${kind}: ${message}; ${done}`),
    says: found.files.map((file) => readingText(file)).join(' '),
  }
}

async function refusal(content: unknown): Promise<string> {
  try {
    await read(content)
  } catch (error) {
    if (error instanceof Problem) return error.message
    throw error
  }
  return ''
}

const AT = 1_709_632_800
const BARS = ['2024-03-05T10:00:00 10 12 9 11 5', '2024-03-05T10:01:00 11 13 10 12 6']
const KRAKENS = [
  [AT, '10', '12', '9', '11', '10.7', '5', 42],
  [AT + 60, '11', '13', '10', '12', '11.7', '6', 43],
]
const LISTS = KRAKENS.map(([time = 0, open, high, low, close, , volume]) => [
  String(Number(time) * 1000),
  open,
  high,
  low,
  close,
  volume,
])
const quote = {
  open: [10, null, 11],
  high: [12, null, 13],
  low: [9, null, 10],
  close: [11, null, 12],
  volume: [5, null, 6],
}
const yahoo = {
  chart: {
    result: [
      {
        meta: {
          currency: 'USD',
          symbol: 'AAPL',
          regularMarketPrice: 12,
          currentTradingPeriod: { pre: { timezone: 'EST', start: 1, end: 2, gmtoffset: -18_000 } },
          tradingPeriods: [[{ timezone: 'EST', start: 1, end: 2, gmtoffset: -18_000 }]],
          validRanges: ['1d', '5d'],
        },
        timestamp: [AT, AT + 30, AT + 60],
        indicators: { quote: [quote], adjclose: [{ adjclose: [11, null, 12] }] },
      },
    ],
    error: null,
  },
}

describe('an answer of', () => {
  test.each([
    [
      'Bybit, newest first',
      {
        retCode: 0,
        retMsg: 'OK',
        result: { symbol: 'BTCUSDT', category: 'spot', list: LISTS.map((row) => [...row, '55']).reverse() },
        retExtInfo: {},
        time: AT,
      },
    ],
    ['OKX', { code: '0', msg: '', data: LISTS.map((row) => [...row, '55', '55', '1']).reverse() }],
    ['Kraken, whose sixth column is a price', { error: [], result: { XXBTZUSD: KRAKENS, last: AT } }],
    [
      'Polygon, or Massive',
      {
        ticker: 'AAPL',
        queryCount: 2,
        resultsCount: 2,
        adjusted: true,
        results: [
          { v: 5, vw: 10.7, o: 10, c: 11, h: 12, l: 9, t: AT * 1000, n: 3 },
          { v: 6, vw: 11.7, o: 11, c: 12, h: 13, l: 10, t: AT * 1000 + 60_000, n: 3 },
        ],
        status: 'OK',
        count: 2,
      },
    ],
    [
      'Coinbase Exchange: time, low, high, open, close, volume',
      [
        [AT + 60, 10, 13, 11, 12, 6],
        [AT, 9, 12, 10, 11, 5],
      ],
    ],
    [
      'jesse: time, open, close, high, low, volume',
      [
        [AT * 1000, 10, 11, 12, 9, 5],
        [AT * 1000 + 60_000, 11, 12, 13, 10, 6],
      ],
    ],
    [
      'Coinbase Advanced Trade',
      {
        candles: [
          { start: String(AT + 60), low: '10', high: '13', open: '11', close: '12', volume: '6' },
          { start: String(AT), low: '9', high: '12', open: '10', close: '11', volume: '5' },
        ],
      },
    ],
    [
      'Hyperliquid, where T is when a bar closes',
      KRAKENS.map(([t, o, h, l, c, , v]) => ({
        T: 7,
        t: Number(t) * 1000,
        s: 'BTC',
        i: '1m',
        o,
        c,
        h,
        l,
        v,
        n: 3,
      })),
    ],
    [
      'Alpaca, of one symbol',
      {
        bars: {
          AAPL: KRAKENS.map(([t, o, h, l, c, , v]) => ({ t: new Date(Number(t) * 1000), o, c, h, l, v })),
        },
        next_page_token: null,
      },
    ],
    ['an envelope in a list', [{ symbol: 'AAPL', data: LISTS }]],
    [
      'bars with lists of their own',
      { bars: LISTS.map((row) => [...row, [[1, 2, 3, 4, 5, 6]], { o: [1] }]) },
    ],
  ])('%s', async (_name, answer) => {
    const told = await read(answer)
    expect(told.bars).toEqual(BARS)
    expect(told.findings).toEqual([])
    const text = `\uFEFF${JSON.stringify(answer, null, 2)}`
    const { bars } = await stageBars([gzipSync(text)], { symbol: COIN, interval: '1m' }, null)
    expect(bars.length).toBe(2)
  })

  test('Yahoo: columns in several objects, with nulls where nothing was traded', async () => {
    const told = await read(yahoo)
    expect(told.bars).toEqual(BARS)
    expect(told.findings).toEqual(['empty_row: one row without a price; left out'])
    const broken = JSON.stringify(yahoo).replace('"open":[10,null,11]', '"open":[10,"x",11]')
    expect(await refusal(broken)).toContain('row 2: open is not a number')
    expect(await refusal([yahoo, yahoo])).toContain('has the column time twice')
  })

  test('the order of hundreds of lists is seen in the first, and holds for all', async () => {
    const many = Array.from({ length: 700 }, (_, i) => [AT + i * 60, 9, 12, 10, 11, i])
    const { bars } = await read(many)
    expect([bars.length, bars[0], bars.at(-1)]).toEqual([
      700,
      '2024-03-05T10:00:00 10 12 9 11 0',
      '2024-03-05T21:39:00 10 12 9 11 699',
    ])
    expect(await refusal([...many, [AT + 1e6, 12, 9, 10, 11, 1]])).toContain('row 701: high is below low')
  })
})

test.each([
  ['one list that is no bar', [[AT, 9, 12, 10, 11, 5]], 'row 1: open is outside of low to high'],
  [
    'lists of no order',
    [
      [AT, 9, 12, 10, 11, 5],
      [AT + 60, 12, 9, 10, 11, 5],
    ],
    'row 1: open is outside of low to high; row 2: high is below low.',
  ],
  [
    'two lists of bars',
    { bars: { AAPL: LISTS, MSFT: LISTS } },
    'has two lists of bars, AAPL and MSFT; say which, such as ticker=MSFT (--ticker)',
  ],
  ['an error', { retCode: 10_001, retMsg: 'params error', result: {} }, 'expected a list of bars'],
  ['an empty list', { result: { list: [] } }, 'expected a list of bars'],
  ['trades', { data: [{ price: 1, qty: 2, time: AT }] }, 'open is not a number'],
  ['a value among bars', { data: [LISTS[0], 5] }, 'expected a bar as an object or a list'],
  ['a short bar among bars', { data: [LISTS[0], [AT]] }, 'row 2: open is not a number'],
])('%s is refused', async (_name, answer, message) => {
  expect(await refusal(answer)).toContain(message)
})

describe('what was bought', () => {
  const klines = [
    [AT * 1000, '10', '12', '9', '11', '5', AT * 1000 + 59_999, '55', 3, '2', '22', '0'],
    [AT * 1000 + 60_000, '11', '13', '10', '12', '6', AT * 1000 + 119_999, '66', 3, '7', '22', '0'],
  ]
  const named = klines.map(([time, open, high, low, close, volume, , , , bought]) => ({
    time,
    open,
    high,
    low,
    close,
    volume,
    bought,
  }))
  const columns = Object.fromEntries(
    Object.keys(named[0] ?? {}).map((name) => [name, named.map((row) => Number(Object(row)[name]))]),
  )
  test.each([
    ['Binance’s klines', klines],
    ['names', named],
    ['columns', columns],
  ])('is kept of %s, but not where it is more than the volume', async (_name, content) => {
    const { bars } = await stageBars(
      [Buffer.from(JSON.stringify(content))],
      { symbol: COIN, interval: '1m' },
      null,
    )
    expect(Array.from(bars.bought ?? [])).toEqual([2, Number.NaN])
    expect((await read(content)).bars).toEqual(BARS)
  })

  test('is not known of other lists, however long', async () => {
    for (const content of [
      klines.map((row) => row.slice(0, 11)),
      klines.map((row) => row.with(6, 1)),
      KRAKENS,
      columns['time']?.map((time, i) => ({ ...named[i], time, bought: null })),
    ]) {
      const { bars } = await stageBars([Buffer.from(JSON.stringify(content))], { symbol: COIN }, null)
      expect([bars.length, bars.bought]).toEqual([2, undefined])
    }
  })
})

describe('times that are written out', () => {
  const values = (times: readonly string[]) => ({
    meta: { symbol: 'AAPL', exchange_timezone: 'America/New_York' },
    values: times.map((datetime) => ({
      datetime,
      open: '10',
      high: '12',
      low: '9',
      close: '11',
      volume: '5',
    })),
    status: 'ok',
  })

  test('without a zone are in doubt, unless the user says it', async () => {
    const told = await read(values(['2024-03-05 10:01:00', '2024-03-05 10:00:00']))
    expect(told.bars[0]).toBe(BARS[0])
    expect(told.findings).toEqual([
      'unknown_zone: the file does not say the zone of its times; taken as UTC; say the zone of its times if that is wrong, such as America/New_York',
    ])
    expect(told.says).toBe('JSON: times as year, month, day and clock in UTC, which the file does not say.')
    const hints = { timesIn: 'America/New_York' }
    const stated = await read(values(['2024-03-05 05:00:00', '2024-07-05 06:00']), { hints })
    expect(stated.bars.map((bar) => bar.slice(0, 19))).toEqual(['2024-03-05T10:00:00', '2024-07-05T10:00:00'])
    expect(stated.findings.join()).not.toContain('unknown_zone')
  })

  test('with a zone, and days, are not', async () => {
    for (const time of ['2024-03-05T10:00:00Z', '2024-03-05 11:00:00.000+01:00', '2024-03-05T05:00-0500'])
      expect(await read(values([time]), { hints: { timesIn: 'Asia/Tokyo' } })).toMatchObject({
        bars: [BARS[0]!],
        findings: [],
      })
    expect((await read(values(['2024-03-05']), { interval: '1d' })).findings).toEqual([])
  })
})
