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

/** Where and when an exchange trades by its own rules, in what money and steps: names, a symbol, and what is known of it. */
const EXCHANGES = `
BINANCE BINANCEUS COINBASE KRAKEN BYBIT OKX BITSTAMP BITFINEX GEMINI KUCOIN BITMEX HTX HUOBI DERIBIT CRYPTO CRYPTOCOM POLONIEX MEXC GATEIO BITGET PHEMEX HYPERLIQUID BITTREX UPBIT BITHUMB | ETHEUR | crypto EUR Etc/UTC 24x7 0.01 0.000001 base
FX FX_IDC OANDA FOREXCOM CAPITALCOM PEPPERSTONE SAXO ICMARKETS FXCM EIGHTCAP VANTAGE FXOPEN | EURUSD | forex USD America/New_York 1700-1700 0.00001 1 tick
OANDA | USDJPY | forex JPY America/New_York 1700-1700 0.001 1 tick
OANDA | SPX500USD | index USD America/New_York 1700-1700 0.01 1 tick
NASDAQ NYSE AMEX ARCA NYSEARCA BATS OTC IEX | AAPL | stock USD America/New_York 0930-1600 0.01 1 base
SP DJ TVC INDEX CBOE | SPX | index USD America/New_York 0930-1600 0.01 1 base
CME CME_MINI CBOT CBOT_MINI | XX1! | futures USD America/Chicago 1700-1600 0.01 1 base
NYMEX NYMEX_MINI COMEX COMEX_MINI | XX1! | futures USD America/New_York 1800-1700 0.01 1 base
TSX TSXV NEO | RY | stock CAD America/Toronto 0930-1600 0.01 1 base
LSE | BP | stock GBX Europe/London 0800-1630 0.01 1 base
XETR FWB | SAP | stock EUR Europe/Berlin 0900-1730 0.01 1 base
EURONEXT | MC | stock EUR Europe/Paris 0900-1730 0.01 1 base
MIL | ENI | stock EUR Europe/Rome 0900-1730 0.01 1 base
BME | SAN | stock EUR Europe/Madrid 0900-1730 0.01 1 base
SIX | NESN | stock CHF Europe/Zurich 0900-1730 0.01 1 base
BIST | THYAO | stock TRY Europe/Istanbul 1000-1800 0.01 1 base
TSE | 7203 | stock JPY Asia/Tokyo 0900-1130,1230-1530 1 100 base
HKEX | 700 | stock HKD Asia/Hong_Kong 0930-1200,1300-1600 0.01 1 base
SSE SZSE | 600519 | stock CNY Asia/Shanghai 0930-1130,1300-1500 0.01 100 base
KRX | 005930 | stock KRW Asia/Seoul 0900-1530 1 1 base
NSE BSE | INFY | stock INR Asia/Kolkata 0915-1530 0.05 1 base
ASX | BHP | stock AUD Australia/Sydney 1000-1600 0.01 1 base
BMFBOVESPA | PETR4 | stock BRL America/Sao_Paulo 1000-1700 0.01 1 base
ACME | WIDGET | stock USD Etc/UTC 24x7 0.01 0.000001 base
ACME | ETHUSDT | crypto USDT Etc/UTC 24x7 0.01 0.000001 base
BINANCE | ETHUSDT.P | swap USDT Etc/UTC 24x7 0.01 0.000001 base
`
const rows = (table: string) =>
  table
    .trim()
    .split('\n')
    .map((line) => line.split(' | ') as [names: string, symbol: string, known: string])

test.each(rows(EXCHANGES))('%s: %s', (names, symbol, known) => {
  const [type, currency, timezone, session, mintick, minQuantity, volumeType] = known.split(' ')
  const texts = { type, currency, timezone, session, volumeType }
  const numbers = { mintick: Number(mintick), minQuantity: Number(minQuantity), pointValue: 1 }
  for (const name of names.split(' '))
    expect(defaultSymbol(name, symbol)).toMatchObject({
      ...texts,
      ...numbers,
    })
})

/** The smallest step of the price and the dollars that a whole point is worth, by the exchange's contract specifications. */
const CONTRACTS = `
ES 0.25 50, MES 0.25 5, NQ 0.25 20, MNQ 0.25 2, YM 1 5, MYM 1 0.5, RTY 0.1 50, M2K 0.1 5, CL 0.01 1000, MCL 0.01 100,
QM 0.025 500, NG 0.001 10000, GC 0.1 100, MGC 0.1 10, SI 0.005 5000, HG 0.0005 25000, ZN 0.015625 1000, ZB 0.03125 1000,
ZC 0.25 50, ZS 0.25 50, ZW 0.25 50, 6E 0.00005 125000, 6J 0.0000005 12500000, 6B 0.0001 62500, BTC 5 5`

test.each(CONTRACTS.trim().split(/,\s/))('a contract of %s', (text) => {
  const [root, mintick, pointValue] = text.split(' ')
  for (const month of ['1!', '2!', 'Z2025', 'H6'])
    expect(defaultSymbol('CME', `${root}${month}`)).toMatchObject({
      mintick: Number(mintick),
      pointValue: Number(pointValue),
    })
})

test.each([
  ['OANDA', 'EURUSD', 'EUR', 'EUR / USD'],
  ['BINANCE', 'ETHUSDT.P', 'ETH', 'ETH / USDT'],
  ['BINANCE', 'eth/btc', 'ETH', 'ETH / BTC'],
  ['NASDAQ', 'AAPL', '', 'AAPL'],
  // A coin that is called like a currency is not one of itself.
  ['BINANCE', 'EUR', '', 'EUR'],
  ['BINANCE', 'XEUR', '', 'XEUR'],
  ['BINANCE', 'XYEUR', 'XY', 'XY / EUR'],
  ['OANDA', 'EURUSDX', '', 'EURUSDX'],
])('of %s:%s the base is %p', (exchange, symbol, baseCurrency, description) => {
  expect(defaultSymbol(exchange, symbol)).toMatchObject({ baseCurrency, description })
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
