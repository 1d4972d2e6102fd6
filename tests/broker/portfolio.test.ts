// A portfolio's parts trade with the same money: what one holds another cannot spend, and together they are the whole.

import { describe, expect, test } from 'bun:test'
import { Pot } from '../../src/broker/emulator/pot.ts'
import { runPortfolio, type PortfolioRun } from '../../src/broker/portfolio.ts'
import type { BacktestRequest } from '../../src/broker/backtest.ts'
import { runBacktest } from '../../src/broker/run.ts'
import { seededRandom } from '../../src/lib/seeded-random.ts'
import { emptyBars, type Bars } from '../../src/market/bars.ts'
import { DEFAULT_LIMITS } from '../../src/language/runtime/limits.ts'
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
  test('where money is no matter, each trades as it would alone, over any number of bars and in turns of any length', () => {
    // More bars than are computed ahead at a time, and parts whose bars come in turns of one, of three and of four.
    const cross = `//@version=6
strategy("cross", initial_capital=1000000, default_qty_type=strategy.fixed, default_qty_value=1)
f = ta.sma(hl2, 3)
s = ta.ema(close, 11)
var swings = 0
if ta.crossover(f, s)
    swings += 1
    strategy.entry("L" + str.tostring(swings), strategy.long)
if ta.crossunder(f, s)
    strategy.close_all()
plot(s)`
    const asked = [
      request(cross, walk(9000, 1, HOUR / 4), { interval: '15m' }),
      request(cross, walk(2600, 2)),
      request(cross, walk(5000, 3, HOUR / 4, START + HOUR / 3), { interval: '15m' }),
    ]
    const { parts } = run(asked, null)
    for (const [i, part] of parts.entries()) {
      const alone = runBacktest(asked[i]!)
      expect(part.report.trades).toEqual(alone.report.trades)
      expect(part.tracks.filter(({ kind }) => kind === 'line')).toEqual(
        alone.tracks.filter(({ kind }) => kind === 'line'),
      )
    }
  })

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

  test('M6: max_drawdown of one looks at what all have realised, each counted once', () => {
    const flat = priced(Array.from({ length: 9 }, () => 100))
    const falling = priced([100, 100, 100, 100, 89, 89, 89, 89, 89])
    // Ten contracts lose 110 from the third bar to the sixth; a second entry follows.
    const careful = (allowed: number) => `//@version=6
strategy("x", margin_long = 1)
strategy.risk.max_drawdown(${allowed}, strategy.cash)
if bar_index == 1 or bar_index == 6
    strategy.entry("L", strategy.long, qty = 10)
if bar_index == 4
    strategy.close("L")
`
    const entries = (allowed: number, beside: string) =>
      run([request(careful(allowed), falling), request(beside, flat)], 5000).parts[0]!.report.orders.filter(
        ({ side }) => side === 'buy',
      ).length
    const idle = buys('1', 99)
    expect([109, 111, 219].map((allowed) => entries(allowed, idle))).toEqual([1, 2, 2])
    // After a win of 110 the peak is 110 higher, and the loss of 60 behind it is measured from there.
    const up = priced([100, 100, 100, 100, 111, 111, 111, 111, 105, 105, 105, 105])
    const again = (allowed: number) =>
      careful(allowed).replace('bar_index == 4\n', 'bar_index == 4 or bar_index == 8\n') +
      'if bar_index == 9\n    strategy.entry("L", strategy.long, qty = 10)\n'
    const after = (allowed: number) =>
      run([request(again(allowed), up), request(idle, flat)], 5000).parts[0]!.report.orders.filter(
        ({ side }) => side === 'buy',
      ).length
    expect([59, 61, 169].map(after)).toEqual([2, 3, 3])
    // What another has realised before is in it.
    const costs = `//@version=6
strategy("x", commission_type = strategy.commission.cash_per_order, commission_value = 25)
if bar_index == 0
    strategy.entry("L", strategy.long, qty = 1)
if bar_index == 1
    strategy.close("L")
`
    expect([159, 161].map((allowed) => entries(allowed, costs))).toEqual([1, 2])
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
        details: {
          fields: [
            expect.objectContaining({
              path: '/parts/1/source',
              message: 'Part 2: Only strategies trade; this is an indicator.',
            }),
          ],
        },
      }),
    )
    // One that is alone is not numbered.
    expect(() => run([request(broken, bars)])).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining('Part') }),
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

/**
 * Worked out by hand. A contract of A has no costs: 5 from 10 to 14, then 4 from 12 to 12. One of B is worth 2 a point and
 * costs 3 an order: 5 short from 20 to 22, then 5 short from 20, still open at 19.
 */
describe('every figure of a portfolio', () => {
  const orders = (name: string, rows: readonly (readonly [bar: number, call: string])[], more: string) =>
    `//@version=6\nstrategy("${name}"${more})\n${rows.map(([bar, call]) => `if bar_index == ${bar}\n    ${call}\n`).join('')}`
  const A = orders(
    'A',
    [
      [0, 'strategy.entry("L", strategy.long, qty = 5)'],
      [3, 'strategy.close("L")'],
      [5, 'strategy.entry("L", strategy.long, qty = 4)'],
      [6, 'strategy.close("L")'],
    ],
    '',
  )
  const B = orders(
    'B',
    [
      [1, 'strategy.entry("S", strategy.short, qty = 5)'],
      [3, 'strategy.close("S")'],
      [4, 'strategy.entry("S", strategy.short, qty = 5)'],
    ],
    ', margin_short = 50, commission_type = strategy.commission.cash_per_order, commission_value = 3',
  )
  const symbol = { ...TEST_SYMBOL, timezone: 'UTC', session: '24x7', pointValue: 2 }
  const both = (capital: number | null = 1000) =>
    run(
      [
        request(A, priced([10, 10, 10, 14, 12, 12, 12, 12])),
        request(B, priced([20, 20, 20, 22, 20, 18, 18, 19]), { symbol }),
      ],
      capital,
    ).result

  // What each has earned when a bar closes.
  const EARNED = [
    [0, 0, 0, 20, 20, 20, 20, 20],
    [0, 0, -3, -23, -26, -9, -9, -19],
  ]
  const EQUITY = [1000, 1000, 997, 997, 994, 1011, 1011, 1001]
  // Changes from bar to bar: of A 20 once, of B 0 0 −3 −20 −3 17 0 −10, of both 0 0 −3 0 −3 17 0 −10.
  const VARIANCE = 9 + 9 + 289 + 100 - 1 / 8
  const RISK = -(20 * 1) / 8 / VARIANCE
  const CORRELATION =
    (-400 + (20 * 19) / 8) / Math.sqrt((400 - 400 / 8) * (9 + 400 + 9 + 289 + 100 - 361 / 8))

  test('of the whole', () => {
    const { whole, capital, range, period, months, curve } = both()
    expect(whole).toEqual({
      netProfit: -6,
      netProfitPct: -0.006,
      openProfit: 7,
      final: 1001,
      grossProfit: 20,
      grossLoss: 26,
      profitFactor: 20 / 26,
      commissionPaid: 9,
      trades: 3,
      winningTrades: 1,
      losingTrades: 1,
      winRate: 1 / 3,
      marginCalls: 0,
      maxDrawdown: 10,
      maxDrawdownPct: 10 / 1011,
      // One day has no deviation.
      sharpe: null,
      sortino: null,
      cagr: 1.001 ** ((365 * 24) / 7) - 1,
      // On the fourth bar: 5 at 14, and 5 at 22 for 2 a point, of which half is bound.
      marginPeakPct: (70 + 110) / 997,
    })
    expect([capital, range, period]).toEqual([1000, { from: START, to: START + 7 * HOUR, bars: 8 }, 'bar'])
    expect(months).toEqual([{ month: '2024-01', profit: -6, profitPct: -0.006, trades: 3 }])
    const time = EQUITY.map((_, i) => START + (i + 1) * HOUR)
    expect(curve).toEqual({ time, equity: EQUITY, parts: EARNED })
  })

  test('of one that lost nothing there is no profit factor, and of one that traded nothing no rate', () => {
    const winner = orders(
      'W',
      [
        [0, 'strategy.entry("L", strategy.long)'],
        [3, 'strategy.close("L")'],
      ],
      '',
    )
    const bars = priced([10, 10, 10, 14, 14])
    const { whole } = run([request(winner, bars), request(winner, bars)], 1000).result
    expect([whole.grossProfit, whole.grossLoss + 0, whole.profitFactor, whole.winRate]).toEqual([
      8,
      0,
      null,
      1,
    ])
    const idle = run([request(orders('I', [], ''), bars)], 1000).result.whole
    expect([idle.trades, idle.profitFactor, idle.winRate, idle.sharpe]).toEqual([0, null, null, null])
  })

  test('of its parts', () => {
    const { parts, correlation } = both()
    expect(parts.map(({ netProfit, openProfit }) => [netProfit, openProfit])).toEqual([
      [20, 0],
      [-26, 7],
    ])
    expect(
      parts.map((part) => [part.grossProfit, part.grossLoss + 0, part.profitFactor, part.commissionPaid]),
    ).toEqual([
      [20, 0, null, 0],
      [0, 26, 0, 9],
    ])
    expect(parts.map((part) => [part.trades, part.winningTrades, part.losingTrades, part.winRate])).toEqual([
      [2, 1, 0, 1 / 2],
      [1, 0, 1, 0],
    ])
    expect(parts.map((part) => [part.maxDrawdown, part.marginCalls])).toEqual([
      [0, 0],
      [26, 0],
    ])
    // Of the 1 that was earned, open profit included.
    expect(parts.map((part) => part.contribution)).toEqual([20, -19])
    expect(parts.map((part) => part.risk)).toEqual([expect.closeTo(RISK, 12), expect.closeTo(1 - RISK, 12)])
    expect(parts.map((part) => part.correlation)).toEqual([
      expect.closeTo(CORRELATION, 12),
      expect.closeTo(CORRELATION, 12),
    ])
    expect(correlation).toEqual([
      [expect.closeTo(1, 12), expect.closeTo(CORRELATION, 12)],
      [expect.closeTo(CORRELATION, 12), expect.closeTo(1, 12)],
    ])
  })

  test('capital and currency are those of the first part where none are given', () => {
    const first = `//@version=6\nstrategy("x", initial_capital = 700, currency = currency.EUR)\n`
    const { capital, currency, whole } = run(
      [request(first, priced([1, 2])), request(buys('1', 99), priced([1, 2]))],
      null,
    ).result
    expect([capital, currency, whole.final]).toEqual([700, 'EUR', 700])
  })

  test('margin calls of all parts are added up', () => {
    const quarter = buys('39', 1, ', margin_long = 25')
    const falling = priced([100, 100, 100, 80, 80, 80])
    const { whole, parts } = run([request(quarter, falling), request(buys('1', 99), falling)]).result
    expect(parts[0]!.marginCalls).toBeGreaterThan(0)
    expect(whole.marginCalls).toBe(parts[0]!.marginCalls)
  })

  test('margin of another currency counts at its rate', () => {
    const rates = priced([3, 3, 3, 3, 3], DAY, START - DAY)
    const euro = request(buys('1'), priced([100, 100, 100, 100], DAY), {
      interval: '1d',
      symbol: { ...symbol, currency: 'EUR' },
      series: (_exchange, name) => (name === 'EURUSD' ? { bars: rates, symbol, interval: '1d' } : null),
    })
    const idle = request(buys('1', 99), priced([1, 1, 1, 1], DAY), { interval: '1d' })
    expect(run([idle, euro], 1200).result.whole.marginPeakPct).toBe((100 * 2 * 3) / 1200)
  })

  test('the deepest fall in per cent may be another than the deepest', () => {
    // 1,000 to 800, up to 1,800, and down to 1,550.
    const { whole } = run([
      request(buys('10', 0), priced([100, 100, 80, 180, 155])),
      request(buys('1', 99), priced([1, 1])),
    ]).result
    expect([whole.maxDrawdown, whole.maxDrawdownPct]).toEqual([250, 0.2])
    // What the first bar costs is a fall too.
    const costs =
      ', process_orders_on_close = true, commission_type = strategy.commission.cash_per_order, commission_value = 7'
    const first = run([
      request(buys('1', 0, costs), priced([10, 10])),
      request(buys('1', 99), priced([1, 1])),
    ])
    expect([first.result.whole.maxDrawdown, first.result.parts[0]!.maxDrawdown]).toEqual([7, 7])
  })

  test('months, their ratios and growth are those of one backtest over all trades, by time', () => {
    const days = (count: number) =>
      priced(
        Array.from({ length: count }, (_, i) => 100 + (i % 9)),
        DAY,
      )
    const trade = (bar: number) =>
      request(
        orders(
          'x',
          [
            [bar, 'strategy.entry("L", strategy.long, qty = 1)'],
            [bar + 4, 'strategy.close("L")'],
          ],
          '',
        ),
        days(120),
        { interval: '1d' },
      )
    // Each earns 4: bought in March and in January, and in April.
    const { months, whole } = run([trade(63), trade(9), trade(99)]).result
    expect(months.map(({ month, profit, trades }) => [month, profit, trades])).toEqual([
      ['2024-01', 4, 1],
      ['2024-02', 0, 0],
      ['2024-03', 4, 1],
      ['2024-04', 4, 1],
    ])
    const returns = [4 / 1000, 0, 4 / 1004, 4 / 1008]
    const mean = returns.reduce((a, b) => a + b) / 4
    const deviation = Math.sqrt(returns.reduce((sum, one) => sum + (one - mean) ** 2, 0) / 4)
    expect(whole.sharpe).toBeCloseTo((mean - 0.02 / 12) / deviation, 10)
    expect(whole.sortino).toBeCloseTo((mean - 0.02 / 12) / Math.sqrt((0.02 / 12) ** 2 / 4), 10)
    expect(whole.cagr).toBeCloseTo(1.012 ** (365 / 119) - 1, 10)
    // Three months are enough; two are too few, so days are taken for them.
    const three = { ...trade(63), bars: days(90) }
    const single = runBacktest({ ...three, overrides: { initial_capital: 1000 } }).report.equity
    const flat = request(buys('1', 99), days(20), { interval: '1d' })
    expect(run([three, flat]).result.whole).toMatchObject({ sharpe: single.sharpe, sortino: single.sortino })
    expect(single.sharpe).not.toBeNull()
    expect(run([{ ...flat, bars: days(90) }, flat]).result.whole).toMatchObject({
      sharpe: null,
      sortino: null,
    })
    const short = runBacktest({ ...trade(9), bars: days(59), overrides: { initial_capital: 1000 } }).report
    const idle = request(buys('1', 99), days(20), { interval: '1d' })
    const pair = run([{ ...trade(9), bars: days(59) }, idle]).result
    expect(pair.whole.sharpe).toBe(short.equity.sharpe)
    expect(pair.whole.sharpe).not.toBeNull()
  })

  test('changes are measured from day to day where there are thirty; midnight belongs to the day before', () => {
    // What is bought for the last bar earns on the last day alone.
    const hours = (count: number) => priced([...Array.from({ length: count * 24 - 1 }, () => 100), 110])
    const late = (count: number) => request(buys('1', count * 24 - 3), hours(count))
    const idle = (count: number) => request(buys('1', 9999), hours(count))
    for (const [count, period] of [
      [29, 'bar'],
      [30, 'day'],
    ] as const) {
      const { result } = run([late(count), idle(count)])
      expect([count, result.period]).toEqual([count, period])
      expect(result.parts.map(({ risk }) => risk)).toEqual([expect.closeTo(1, 12), 0])
    }
  })

  test('a curve of many moments is thinned, and ends with the last', () => {
    const bars = priced(Array.from({ length: 1501 }, (_, i) => 100 + (i % 5)))
    const { curve, range } = run([request(buys('1'), bars), request(buys('1', 9999), bars)]).result
    expect(range.bars).toBe(1501)
    expect(curve.time).toHaveLength(751)
    expect(curve.time.slice(-2)).toEqual([START + 1500 * HOUR, START + 1501 * HOUR])
  })
})

test('a member of a pot sees what the others earn and hold, and what those before it hold', () => {
  const pot = new Pot()
  const [a, b, c] = [1, 10, 100].map((n) => ({
    closedProfit: n,
    netProfit: n - 1,
    openProfit: 2 * n + 1,
    marginHeld: 3 * n,
  }))
  pot.join(a!)
  expect([pot.isShared, pot.profitBeside(a!), pot.marginBefore(a!)]).toEqual([false, 0, 0])
  pot.join(b!)
  pot.join(c!)
  expect(pot.isShared).toBe(true)
  // They see what each has shown, at the end of its turn.
  expect(pot.profitBeside(b!)).toBe(0)
  for (const one of [c!, a!, b!]) pot.show(one)
  const seen = [a!, b!, c!].map((one) => [
    pot.profitBeside(one),
    pot.closedProfitBeside(one),
    pot.marginBeside(one),
    pot.marginBefore(one),
  ])
  expect(seen).toEqual([
    [330, 110, 330, 0],
    [303, 101, 303, 3],
    [33, 11, 33, 33],
  ])
})
