// What the pages know without a screen: ranking, files of watchlists and bars, alerts in words.

import { expect, test } from 'bun:test'
import {
  barText,
  conditionText,
  destinationsText,
  symbolMeant,
  toldText,
} from '../../src/dashboard/alerts/alert-model.ts'
import { isFound, NEWEST_FIRST, ofBacktest, SORTS } from '../../src/dashboard/research/runs.ts'
import type { Backtest } from '../../src/wire/backtest.ts'
import { marketOfFile } from '../../src/market/files/file-market.ts'
import { fuzzy, ranked } from '../../src/dashboard/frame/palette-model.ts'
import { parseWatchlist } from '../../src/market/files/watchlist-text.ts'
import { orderAfterClick, sorted } from '../../src/dashboard/ui/sorting.ts'

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

test('a text is found by its letters in order, whatever lies between them', () => {
  expect(fuzzy('abc', 'a xb b c')).not.toBeNull()
  expect(fuzzy('tst', 'test')).not.toBeNull()
  expect(fuzzy('cba', 'abc')).toBeNull()
})

const rows = (text: string) =>
  parseWatchlist(text).rows.map(({ exchange, symbol, note, line }) => `${line} ${exchange}:${symbol} ${note}`)

test('a note that is longer than may be is refused with its whole length, not stored without its end', () => {
  const [row] = parseWatchlist(`symbol,note\nABC,"${'n'.repeat(1500)}"`).rows
  expect(row?.note).toHaveLength(1500)
})

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
  // Each row of it would be a symbol that is called as a date.
  expect(parseWatchlist('Date;Open;High;Low;Close\n04.01.2021;1;2;1;2')).toEqual({
    rows: [],
    problem: 'These are bars, not a list of symbols: Bring bars reads them.',
  })
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
  const alert: Parameters<typeof conditionText>[0] = {
    kind: 'price',
    op: 'crossing_up',
    price: 4200,
    price2: null,
    percent: null,
    bars: 1,
    plot: '',
  }
  expect(conditionText(alert)).toBe('Price crosses above 4,200')
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

const backtest = (id: string, profit: number | null, trades = 5, more: Partial<Backtest> = {}): Backtest => ({
  id,
  name: `Run ${id}`,
  exchange: 'SP',
  symbol: 'SPX',
  interval: '1d',
  state: profit === null ? 'failed' : 'done',
  pinned: false,
  createdAt: id.charCodeAt(0),
  error: null,
  currency: 'USD',
  bars: 2,
  ownBars: false,
  startedAt: null,
  finishedAt: null,
  range: profit === null ? null : { from: 0, to: 1, bars: 2 },
  summary:
    profit === null
      ? null
      : {
          trades,
          netProfit: profit * 100,
          netProfitPct: profit,
          winRate: 0.5,
          profitFactor: trades === 0 ? 0 : 1 + profit,
          maxDrawdownPct: -profit / 2,
          sharpe: profit,
        },
  ...more,
})
const order = (all: readonly Backtest[], by: keyof typeof SORTS, down: boolean, query = '') =>
  sorted(
    all.map(ofBacktest).filter((run) => isFound(run, query)),
    Object.values(SORTS),
    { by, down },
  )
    .map((one) => one.id)
    .join('')

test('backtests are put in order by any column, those without a value last', () => {
  const all = [backtest('a', 0.1), backtest('b', null), backtest('c', 0.3), backtest('d', 0, 0)]
  expect(order(all, 'profit', true)).toBe('cadb')
  expect(order(all, 'profit', false)).toBe('dacb')
  expect(order(all, 'drawdown', false)).toBe('dacb')
  // A strategy that never traded has no profit factor to be judged by.
  expect(order(all, 'factor', true)).toBe('cabd')
  expect(order(all, 'createdAt', true)).toBe('dcba')
  expect(order(all, 'name', false)).toBe('abcd')
})

test('a column shows its best first, then its worst', () => {
  const once = orderAfterClick(NEWEST_FIRST, SORTS.profit)
  expect(once).toEqual({ by: 'profit', down: true })
  expect(orderAfterClick(once, SORTS.profit)).toEqual({ by: 'profit', down: false })
  expect(orderAfterClick(once, SORTS.drawdown)).toEqual({ by: 'drawdown', down: false })
})

test('backtests are found by words of name, market and interval', () => {
  const all = [backtest('a', 1), backtest('b', 1, 5, { exchange: 'NASDAQ', symbol: 'AAPL', interval: '1h' })]
  expect(order(all, 'createdAt', true, 'aapl run')).toBe('b')
  expect(order(all, 'createdAt', true, ' nasdaq:aapl 1h ')).toBe('b')
  expect(order(all, 'createdAt', true, '  ')).toBe('ba')
  expect(order(all, 'createdAt', true, 'gold')).toBe('')
})

test('an alert says where it goes', () => {
  const to = (
    channels: ('email' | 'webhook')[],
    webhookIds: string[] = [],
    channelIds: string[] = [],
    mails = true,
  ) => destinationsText({ channels, webhookIds, channelIds }, mails)
  expect(to([])).toBe('only listed here')
  expect(to(['email'])).toBe('to e-mail')
  expect(to(['email'], [], [], false)).toBe('only listed here')
  expect(to(['email', 'webhook'])).toBe('to e-mail, all webhooks')
  expect(to(['webhook'], ['wh_1'])).toBe('to 1 webhook')
  expect(to(['email'], [], ['ch_1'])).toBe('to e-mail, a channel')
  expect(to(['email'], [], ['ch_1', 'ch_2'], false)).toBe('to 2 channels')
  // Receivers without the channel are none.
  expect(to(['email'], ['wh_1'])).toBe('to e-mail')
})

test('a firing says by what it was told, and of which bar it is if not of now', () => {
  expect([toldText(['email', 'webhook'], true), toldText(['email', 'webhook'], false)]).toEqual([
    ' · e-mail · webhook',
    ' · webhook',
  ])
  expect(toldText(['email'], false)).toBe('')
  const day = 86_400_000
  const firing = { barTime: 0, firedAt: 3 * day, interval: '1d' } as Parameters<typeof barText>[0]
  expect(barText(firing, '')).toBe(' · bar of 1970-01-01')
  expect(barText({ ...firing, firedAt: day }, '')).toBe('')
  expect(barText({ ...firing, interval: '1h' }, 'UTC')).toBe(' · bar of 1970-01-01 00:00')
})

test('a symbol may be typed without its exchange where one alone can be meant', () => {
  const names = ['BINANCE:BTCUSDT', 'BINANCE:BTCUSDC', 'NASDAQ:AAPL', 'XETR:APC', 'SP:SPX', 'OTC:SPX']
  const meant = (typed: string) => symbolMeant(typed, names)
  expect(meant('aapl ')).toEqual({ name: 'NASDAQ:AAPL' })
  expect(meant('btcusd')).toEqual({
    name: 'btcusd',
    problem: 'Which one: BINANCE:BTCUSDT, BINANCE:BTCUSDC?',
  })
  expect(meant('BTCUSDT')).toEqual({ name: 'BINANCE:BTCUSDT' })
  expect(meant('SPX').problem).toBe('Which one: SP:SPX, OTC:SPX?')
  expect(meant('APC').name).toBe('XETR:APC')
  expect(meant('ETH').problem).toBe('Write its exchange too, like NASDAQ:AAPL.')
  expect(meant('NYSE:IBM')).toEqual({ name: 'NYSE:IBM' })
})
