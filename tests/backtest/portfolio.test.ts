// A portfolio's parts trade with the same money: what one holds another cannot spend, and together they are the whole.

import { describe, expect, test } from 'bun:test'
import { runPortfolio, type PortfolioRun } from '../../src/backtest/portfolio.ts'
import { runBacktest, type BacktestRequest } from '../../src/backtest/run.ts'
import { seededRandom } from '../../src/lib/seeded-random.ts'
import { emptyBars, type Bars } from '../../src/market/bars.ts'
import { DEFAULT_LIMITS } from '../../src/pine/runtime/runtime.ts'
import { TEST_SYMBOL } from './drive.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31))
console.log(`SEED=${seed}`)

const START = Date.UTC(2024, 0, 1)

function priced(closes: readonly number[], step = HOUR, start = START): Bars {
  const bars = emptyBars(closes.length)
  for (const [i, close] of closes.entries()) {
    const open = closes[i - 1] ?? close
    bars.time[i] = start + i * step
    bars.open[i] = open
    bars.high[i] = Math.max(open, close)
    bars.low[i] = Math.min(open, close)
    bars.close[i] = close
    bars.volume[i] = 1
  }
  return bars
}

function walk(count: number, salt: number, step = HOUR, start = START): Bars {
  const random = seededRandom(seed + salt)
  let price = 100
  return priced(
    Array.from({ length: count }, () => (price = Math.max(5, price + random.normal()))),
    step,
    start,
  )
}

const request = (source: string, bars: Bars, more: Partial<BacktestRequest> = {}): BacktestRequest => ({
  source,
  inputs: {},
  bars,
  symbol: { ...TEST_SYMBOL, timezone: 'UTC', session: '24x7' },
  interval: '1h',
  limits: DEFAULT_LIMITS,
  series: () => null,
  ...more,
})

function run(
  parts: readonly (BacktestRequest | readonly [request: BacktestRequest, priority: number])[],
  capital: number | null = 1000,
): PortfolioRun {
  return runPortfolio({
    capital,
    currency: null,
    parts: parts.map((part) =>
      'source' in part ? { request: part, priority: 1 } : { request: part[0], priority: part[1] },
    ),
  })
}

const buys = (qty: string, bar = 1, more = '') => `//@version=6
strategy("x", initial_capital = 1000${more})
if bar_index == ${bar}
    strategy.entry("L", strategy.long, qty = ${qty})
`
const CROSS = `//@version=6
strategy("x", initial_capital = 1000, default_qty_type = strategy.percent_of_equity, default_qty_value = 100, margin_long = 50, margin_short = 50, commission_type = strategy.commission.percent, commission_value = 0.05)
if ta.crossover(ta.sma(close, 3), ta.sma(close, 9))
    strategy.entry("L", strategy.long)
if ta.crossunder(ta.sma(close, 3), ta.sma(close, 9))
    strategy.entry("S", strategy.short)
plot(strategy.equity)
plot(strategy.margin_liquidation_price)
`
const RISKS = `//@version=6
strategy("x", initial_capital = 1000, calc_on_order_fills = true, pyramiding = 2)
strategy.risk.max_intraday_loss(3, strategy.percent_of_equity)
strategy.risk.max_drawdown(40, strategy.percent_of_equity)
if close > open
    strategy.entry("L", strategy.long, qty = strategy.equity / close / 3, limit = close - 0.3)
strategy.exit("X", "L", profit = 150, loss = 90)
`
const EVERY_TICK = `//@version=6
strategy("x", initial_capital = 1000, calc_on_every_history_tick = true, process_orders_on_close = true)
if bar_index % 7 == 3
    strategy.entry("S", strategy.short, qty = 3)
if bar_index % 7 == 6
    strategy.close_all()
`
const ALL = { CROSS, RISKS, EVERY_TICK }

const without = (text: string) => text.replace(/"timings":\{[^}]*\}/, '')
const reportOf = (result: PortfolioRun['parts'][number]) => without([...result.reportTexts()].join(''))
const filled = ({ parts }: PortfolioRun) => parts.map(({ report }) => report.orders.length)

describe('one part', () => {
  for (const [name, source] of Object.entries(ALL))
    test(`is to the last byte the backtest that it would be by itself: ${name}`, () => {
      const alone = request(source, walk(600, 1))
      const single = runBacktest(alone)
      const { result, parts } = run([alone], null)
      expect(reportOf(parts[0]!)).toBe(reportOf(single))
      expect([...parts[0]!.trackTexts()].join('')).toBe([...single.trackTexts()].join(''))
      expect(single.report.trades.length).toBeGreaterThan(5)
      expect(result.whole.netProfit).toBe(single.report.all.netProfit)
      expect(result.whole.sharpe).toBe(single.report.equity.sharpe)
      expect(result.whole.cagr).toBe(single.report.equity.cagr)
      expect(result.months).toEqual(single.report.equity.months)
      expect(result.curve.equity.at(-1)).toBeCloseTo(single.report.equity.final, 6)
    })
})

describe('several parts', () => {
  test('add up to the whole to the cent, at every moment and at the end', () => {
    const { result, parts } = run(
      [
        request(CROSS, walk(900, 1)),
        request(RISKS, walk(700, 2, HOUR, START + 100 * HOUR)),
        request(EVERY_TICK, walk(40, 3, DAY), { interval: '1d' }),
      ],
      30_000,
    )
    const { whole, curve } = result
    const trades = parts.flatMap(({ report }) => report.trades).filter(({ status }) => status === 'closed')
    expect(trades.length).toBeGreaterThan(20)
    expect(whole.trades).toBe(trades.length)
    expect(whole.netProfit).toBeCloseTo(
      trades.reduce((sum, trade) => sum + trade.profit, 0),
      2,
    )
    expect(whole.final).toBeCloseTo(30_000 + whole.netProfit + whole.openProfit, 2)
    for (const [t, equity] of curve.equity.entries())
      expect(equity).toBeCloseTo(
        curve.parts.reduce((sum, part) => sum + part[t]!, 30_000),
        2,
      )
    expect(curve.equity.at(-1)).toBeCloseTo(whole.final, 2)
    expect(result.parts.reduce((sum, part) => sum + part.contribution!, 0)).toBeCloseTo(1, 9)
    expect(result.parts.reduce((sum, part) => sum + part.risk!, 0)).toBeCloseTo(1, 9)
    expect(result.correlation.map((row, i) => row[i])).toEqual([1, 1, 1].map((one) => expect.closeTo(one, 9)))
    expect(result.period).toBe('day')
    expect(result.months.reduce((sum, { profit }) => sum + profit, 0)).toBeCloseTo(whole.netProfit, 2)
  })

  test('M4: cannot spend what another has bound: of equals the first goes first, else the higher priority', () => {
    const flat = priced([100, 100, 100, 100, 100])
    const [a, b] = [request(buys('8'), flat), request(buys('5'), flat)]
    expect(filled(run([a, b]))).toEqual([1, 0])
    expect(filled(run([b, a]))).toEqual([1, 0])
    expect(filled(run([a, [b, 2]]))).toEqual([0, 1])
    expect(filled(run([a, b], 1300))).toEqual([1, 1])
  })

  test('M3: leave each other what a smaller margin leaves', () => {
    const flat = priced([100, 100, 100, 100, 100])
    const half = ', margin_long = 50'
    expect(filled(run([request(buys('12', 1, half), flat), request(buys('8', 2, half), flat)]))).toEqual([
      1, 1,
    ])
    expect(filled(run([request(buys('12', 1, half), flat), request(buys('9', 2, half), flat)]))).toEqual([
      1, 0,
    ])
  })

  test('M1: are sized by what all have earned, open profit included', () => {
    const first = request(buys('10'), priced([100, 100, 100, 150, 150, 150]))
    const tenth = `//@version=6
strategy("x", default_qty_type = strategy.percent_of_equity, default_qty_value = 10)
if bar_index == 4
    strategy.entry("L", strategy.long)
plot(strategy.equity, "equity")
plot(strategy.netprofit, "own")
`
    const { parts } = run([first, request(tenth, priced([30, 30, 30, 30, 30, 30]))], 2000)
    // 2,000 and 10 × 50.
    expect(parts[1]!.report.orders[0]!.qty).toBeCloseTo(250 / 30, 3)
  })

  test('M5: are called for margin by priority, on their own bars and for no more than is missing', () => {
    const falling = priced([100, 100, 100, 60, 60, 60, 60])
    const flat = priced([100, 100, 100, 100, 100, 100, 100])
    const quarter = ', margin_long = 25'
    const [loser, holder] = [request(buys('20', 1, quarter), falling), request(buys('19', 1, quarter), flat)]
    const calls = (of: PortfolioRun) => of.result.parts.map(({ marginCalls }) => marginCalls)
    // 1,000 - 20 × 40 = 200 is left; 20 × 60 and 19 × 100 bind 300 and 475.
    expect(
      calls(
        run([
          [loser, 2],
          [holder, 1],
        ]),
      )[1],
    ).toBeGreaterThan(0)
    const kept = run([
      [loser, 1],
      [holder, 2],
    ])
    expect(calls(kept)[0]).toBeGreaterThan(0)
    // At the close of the second bar: 20 × 100 and 19 × 100 at a quarter each, of 1,000; later there is less equity.
    expect(kept.result.whole.marginPeakPct).toBeGreaterThanOrEqual(0.975)
    // Alone neither would be called as much: the holder has nothing to lose.
    expect(calls(run([holder]))).toEqual([0])
  })

  test('M2: run in the order in which bars close: a day is not known before it is over', () => {
    const hours = priced(Array.from({ length: 72 }, () => 100))
    const days = priced([100, 100, 200], DAY)
    const daily = request(buys('5', 0), days, { interval: '1d' })
    const equityAt = (bar: number) => `//@version=6
strategy("x")
if bar_index == ${bar}
    strategy.entry("L", strategy.long, qty = strategy.equity / 1000)
`
    const seen = (bar: number) => run([daily, request(equityAt(bar), hours)]).parts[1]!.report.orders[0]!.qty
    // The third day, on which its price doubles, closes with the 72nd hour.
    expect(seen(69)).toBe(1)
    expect(seen(70)).toBe(1)
    const after = run([
      daily,
      request(equityAt(71).replace('strategy("x"', 'strategy("x", process_orders_on_close = true'), hours),
    ])
    expect(after.parts[1]!.report.orders[0]!.qty).toBe(1.5)
  })

  test('M6: that lose together stop by their own risk rules only', () => {
    const falling = priced([100, 100, 100, 50, 50, 50, 50, 50])
    const careful = `//@version=6
strategy("x")
strategy.risk.max_intraday_loss(200, strategy.cash)
if bar_index == 1 or bar_index == 5
    strategy.entry("L", strategy.long, qty = 1)
`
    const flat = priced([100, 100, 100, 100, 100, 100, 100, 100])
    const { parts } = run([request(buys('6'), falling), request(careful, flat)])
    expect(parts[0]!.report.trades[0]!.status).toBe('open')
    expect(parts[1]!.report.trades[0]!.exitComment).toContain('intraday loss')
    expect(parts[1]!.report.orders.length).toBe(2)
  })

  test('M7: are counted in one currency, each by its own rates', () => {
    const bars = priced([100, 100, 100, 110, 110], DAY)
    const rates = priced([2, 2, 2, 2, 2, 2], DAY, START - DAY)
    const symbol = { ...TEST_SYMBOL, timezone: 'UTC', session: '24x7' }
    const euro = request(buys('1'), bars, {
      interval: '1d',
      symbol: { ...symbol, currency: 'EUR' },
      series: (_exchange, name) => (name === 'EURUSD' ? { bars: rates, symbol, interval: '1d' } : null),
    })
    const { result } = run([request(buys('1'), bars, { interval: '1d' }), euro])
    expect(result.currency).toBe('USD')
    expect(result.parts.map(({ openProfit }) => openProfit)).toEqual([10, 20])
  })

  test('say which of them it is that fails', () => {
    const bars = walk(50, 1)
    const broken = `//@version=6\nstrategy("x")\nif bar_index == 9\n    runtime.error("no")\n`
    expect(() => run([request(CROSS, bars), request(broken, bars)])).toThrow('Part 2: ')
    expect(() => run([request(CROSS, bars), request('//@version=6\nstrategy("x"', bars)])).toThrow('Part 2: ')
    expect(() =>
      run([request(CROSS, bars), request('//@version=6\nindicator("x")\nplot(close)', bars)]),
    ).toThrow(
      expect.objectContaining({
        details: { fields: [expect.objectContaining({ path: '/parts/1/source' })] },
      }),
    )
  })

  test('without trades, or without bars, have no figures to divide by', () => {
    const { result } = run([request(CROSS, priced([])), request(buys('1', 99), priced([1, 2, 3]))])
    expect(result.whole).toMatchObject({ netProfit: 0, final: 1000, sharpe: null, cagr: null, winRate: null })
    expect(result.parts.map(({ contribution, risk }) => [contribution, risk])).toEqual([
      [null, null],
      [null, null],
    ])
    expect(result.correlation).toEqual([
      [null, null],
      [null, null],
    ])
  })
})
