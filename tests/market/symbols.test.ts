import { describe, expect, test } from 'bun:test'
import { Problem } from '../../src/lib/problem.ts'
import { emptyBars } from '../../src/market/bars.ts'
import {
  defaultSymbol,
  inferTick,
  symbolOfSyminfo,
  tickParts,
  withSymbolFields,
} from '../../src/market/symbols.ts'

test.each([
  [
    'BINANCE',
    'BTCUSDT',
    { type: 'crypto', currency: 'USDT', baseCurrency: 'BTC', session: '24x7', timezone: 'Etc/UTC' },
  ],
  ['BINANCE', 'ETHUSDT.P', { type: 'swap', currency: 'USDT', baseCurrency: 'ETH' }],
  ['COINBASE', 'BTCUSD', { type: 'crypto', currency: 'USD', baseCurrency: 'BTC' }],
  ['NASDAQ', 'AAPL', { type: 'stock', currency: 'USD', mintick: 0.01, minQuantity: 1, session: '0930-1600' }],
  ['SP', 'SPX', { type: 'index', timezone: 'America/New_York', session: '0930-1600' }],
  [
    'FX',
    'EURUSD',
    { type: 'forex', mintick: 0.00001, session: '1700-1700', baseCurrency: 'EUR', currency: 'USD' },
  ],
  ['OANDA', 'USDJPY', { type: 'forex', mintick: 0.001, currency: 'JPY' }],
  ['OANDA', 'SPX500USD', { type: 'index', session: '1700-1700' }],
  ['NYMEX', 'QM1!', { type: 'futures', mintick: 0.025, pointValue: 500, minMove: 25, priceScale: 1000 }],
  ['CME_MINI', 'ESZ2025', { type: 'futures', mintick: 0.25, pointValue: 50, timezone: 'America/Chicago' }],
  ['TSE', '7203', { currency: 'JPY', mintick: 1, timezone: 'Asia/Tokyo' }],
  ['TSX', 'RY', { currency: 'CAD', timezone: 'America/Toronto', session: '0930-1600' }],
  ['XETR', 'SAP', { currency: 'EUR', timezone: 'Europe/Berlin', session: '0900-1730' }],
  ['NSE', 'INFY', { currency: 'INR', timezone: 'Asia/Kolkata', session: '0915-1530', mintick: 0.05 }],
  ['ACME', 'WIDGET', { type: 'stock', session: '24x7', timezone: 'Etc/UTC', mintick: 0.01 }],
])('%s:%s', (exchange, symbol, expected) => {
  expect(defaultSymbol(exchange, symbol)).toMatchObject(expected)
})

test('a market whose bars tell no volume has none, whatever its venue has', () => {
  const bars = emptyBars(3)
  expect(defaultSymbol('NASDAQ', 'X', bars).volumeType).toBe('n/a')
  bars.volume[2] = 5
  expect(defaultSymbol('NASDAQ', 'X', bars).volumeType).toBe('base')
  expect(defaultSymbol('NASDAQ', 'X', emptyBars(0)).volumeType).toBe('base')
})

describe('a tick read off the prices', () => {
  const bars = (prices: readonly number[]) => {
    const made = emptyBars(prices.length)
    for (const field of ['open', 'high', 'low', 'close'] as const) made[field].set(prices)
    return made
  }
  const steps = (step: number, from = 1000) =>
    Array.from({ length: 300 }, (_, i) => (from + ((i * 7) % 90)) * step)
  test.each([
    ['cents', steps(0.01), 0.01],
    ['whole numbers', steps(1), 1],
    ['quarters', steps(0.25), 0.25],
    ['five digits', steps(0.00001, 100_000), 0.00001],
    ['32-bit noise is cents', [1438.359985, 1455.219971, 1399.420044], 0.01],
    ['one stray average among many', [...steps(0.01), 12.3456], 0.01],
    ['nothing', [], 0.01],
  ])('%s', (_name, prices, tick) => {
    expect(inferTick(bars(prices)).mintick).toBe(tick)
  })
})

test.each([
  [0.25, 25, 100],
  [0.00001, 1, 100_000],
  [1, 1, 1],
  [5, 5, 1],
  [0.03125, 3125, 100_000],
])('a tick of %p is %p / %p', (tick, minMove, priceScale) => {
  expect(tickParts(tick)).toEqual({ mintick: tick, minMove, priceScale })
})

test('fields are set, and the scale follows the tick', () => {
  const set = withSymbolFields(defaultSymbol('NYMEX', 'XX1!'), {
    mintick: 0.25,
    session: '0900-1430',
    exchange: 'no',
  })
  expect(set).toMatchObject({
    exchange: 'NYMEX',
    mintick: 0.25,
    priceScale: 100,
    minMove: 25,
    session: '0900-1430',
  })
})

test('every wrong field is named, and none is echoed', () => {
  const wrong = {
    mintick: 0,
    timezone: 'Mars/Olympus',
    session: '9-5',
    type: 'stonk',
    pointValue: '5',
    minQuantity: -1,
  }
  try {
    withSymbolFields(defaultSymbol('NASDAQ', 'AAPL'), wrong)
    throw new Error('was accepted')
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    expect(error.details.fields?.map(({ path }) => path)).toEqual([
      '/type',
      '/mintick',
      '/pointValue',
      '/minQuantity',
      '/timezone',
      '/session',
    ])
    expect(error.message).not.toContain('Mars')
  }
})

test("Pine's own names are read, remarks in the session forgiven", () => {
  const info = symbolOfSyminfo({
    prefix: 'CAPITALCOM',
    ticker: 'EURUSD',
    type: 'forex',
    currency: 'USD',
    basecurrency: 'EUR',
    mintick: 0.00001,
    pricescale: 100_000,
    minmove: 1,
    pointvalue: 1,
    mincontract: 0.1,
    timezone: 'America/New_York',
    session: '1700-1700 (Sun-Fri 17:00 ET open)',
    volumetype: 'tick',
  })
  expect(info).toMatchObject({
    exchange: 'CAPITALCOM',
    symbol: 'EURUSD',
    minQuantity: 0.1,
    session: '1700-1700',
  })
  expect(symbolOfSyminfo({ symbol: 'BINANCE:ETHUSDT.P', pricescale: 100 })).toMatchObject({
    exchange: 'BINANCE',
    symbol: 'ETHUSDT.P',
    mintick: 0.01,
  })
})

test('the smallest step there can be has a scale that JSON can say', () => {
  expect(Number.isFinite(tickParts(Number.MIN_VALUE).priceScale)).toBe(true)
})
