// What the pages know without a screen: ranking, files of watchlists and bars, alerts in words.

import { expect, test } from 'bun:test'
import { conditionText } from '../../src/dashboard/pages/alert-model.ts'
import { marketOfFile } from '../../src/dashboard/pages/bar-file-name.ts'
import { fuzzy, ranked } from '../../src/dashboard/pages/palette-model.ts'
import { parseWatchlist } from '../../src/dashboard/pages/watchlist-files.ts'

const best = (query: string, ...texts: string[]) =>
  ranked(texts, query, (text) => text, 10).map(({ item }) => item)

test('the palette puts what one means first', () => {
  expect(best('set', 'Reset the view', 'Settings')).toEqual(['Settings', 'Reset the view'])
  expect(best('gd', 'Go to date', 'Save a picture of the grid')[0]).toBe('Go to date')
  expect(best('spx', 'Behind a reverse proxy', 'SPX SP S&P 500 Index')).toEqual(['SPX SP S&P 500 Index'])
  expect(best('zzz', 'Settings')).toEqual([])
  expect(best('', 'a', 'b')).toEqual(['a', 'b'])
  expect(fuzzy('run', 'Run script')?.at).toEqual([0, 1, 2])
})

test('letters are found whatever the ranking jumps to', () => {
  expect(fuzzy('abc', 'a xb b c')).not.toBeNull()
  expect(fuzzy('tst', 'test')).not.toBeNull()
  expect(fuzzy('cba', 'abc')).toBeNull()
})

const rows = (text: string) =>
  parseWatchlist(text).rows.map(({ exchange, symbol, note, line }) => `${line} ${exchange}:${symbol} ${note}`)

test('watchlists come as TradingView exports them, with sections as notes', () => {
  expect(rows('###Tech,NASDAQ:AAPL,NASDAQ:MSFT,###Index,SP:SPX')).toEqual([
    '1 NASDAQ:AAPL Tech',
    '1 NASDAQ:MSFT Tech',
    '1 SP:SPX Index',
  ])
  expect(rows('NASDAQ:AAPL\nSP:SPX\n')).toEqual(['1 NASDAQ:AAPL null', '2 SP:SPX null'])
})

test('watchlists come as CSV, in any order of columns, with what a spreadsheet adds', () => {
  expect(rows('symbol,exchange,note\nAAPL,NASDAQ,"fruit, big"\nSPX,SP,')).toEqual([
    '2 NASDAQ:AAPL fruit, big',
    '3 SP:SPX null',
  ])
  expect(rows('\uFEFFNote;Ticker\r\n"says ""hi""";NASDAQ:AAPL\r\n')).toEqual(['2 NASDAQ:AAPL says "hi"'])
  expect(rows("symbol,exchange,note\nX,Y,'=1+1")).toEqual(['2 Y:X =1+1'])
  expect(rows('AAPL\nMSFT')).toEqual(['1 :AAPL null', '2 :MSFT null'])
  expect(parseWatchlist('  ').problem).toBe('The file is empty.')
})

test('a file of bars says what it is of', () => {
  expect(marketOfFile('BINANCE_BTCUSDT, 60.csv')).toEqual({
    exchange: 'BINANCE',
    symbol: 'BTCUSDT',
    interval: '1h',
  })
  expect(marketOfFile('NASDAQ_AAPL, 1D.csv')).toEqual({ exchange: 'NASDAQ', symbol: 'AAPL', interval: '1d' })
  expect(marketOfFile('SP_SPX, 15_a1b2c.csv')).toEqual({ exchange: 'SP', symbol: 'SPX', interval: '15m' })
  expect(marketOfFile('ETHUSDT-15m-2024-01.csv')).toEqual({
    exchange: 'BINANCE',
    symbol: 'ETHUSDT',
    interval: '15m',
  })
  expect(marketOfFile('AAPL 1d.csv')).toEqual({ exchange: '', symbol: 'AAPL', interval: '1d' })
})

test('an alert reads as a sentence', () => {
  const alert = {
    kind: 'price',
    op: 'crossing_up',
    price: 4200,
    price2: null,
    percent: null,
    bars: 1,
    plot: '',
  }
  expect(conditionText(alert)).toBe('Price crosses up 4,200')
  expect(conditionText({ ...alert, op: 'inside_channel', price2: 4300 })).toBe(
    'Price is inside the channel 4,200 to 4,300',
  )
  expect(conditionText({ ...alert, op: 'moving_down_pct', percent: 5, bars: 3 })).toBe(
    'Price moves down by 5% within 3 bars',
  )
  expect(conditionText({ ...alert, kind: 'indicator', plot: 'RSI', op: 'above', price: 70 })).toBe(
    'RSI is above 70',
  )
  expect(conditionText({ ...alert, kind: 'strategy', op: null })).toBe('The strategy’s order fills')
})
