// What a strategy can ask of its own trades, by hand.
//
// The first story: 1,000 of capital, one contract long from the open of bar 1 at 100. Bar 1 falls to 90, rises to 110 and
// closes at 105 (both extremes are equally near, so the low comes first); on bar 2 it is closed at the open, 120.

import { describe, expect, test } from 'bun:test'
import { emptyBars } from '../../../src/market/bars.ts'
import { runScript, SYMBOL } from './script.ts'

function barsFrom(text: string, step = 3_600_000) {
  const rows = text.split(' ').map((bar) => bar.split('/').map(Number))
  const bars = emptyBars(rows.length)
  for (const [i, [open, high, low, close]] of rows.entries()) {
    bars.time[i] = Date.UTC(2024, 0, 8, 14, 30) + i * step
    bars.open[i] = open!
    bars.high[i] = high!
    bars.low[i] = low!
    bars.close[i] = close!
  }
  return bars
}

const CRYPTO = { ...SYMBOL, type: 'crypto', timezone: 'UTC', session: '24x7', minQuantity: 0.001 } as const

/** The value of each expression on each bar. */
function valuesOf(
  expressions: readonly string[],
  orders: string,
  bars: string,
  settings = 'initial_capital = 1000',
): Record<string, readonly (number | null)[]> {
  const plots = expressions.map((expression, i) => `plot(${expression}, "${i}")`).join('\n')
  const { plots: values } = runScript(`${orders}\n${plots}`, {
    bars: barsFrom(bars),
    symbol: CRYPTO,
    declaration: `strategy("t", ${settings})`,
  })
  return Object.fromEntries(expressions.map((expression, i) => [expression, values[String(i)] ?? []]))
}

const round = (values: readonly (number | null)[] | undefined) =>
  values?.map((value) => (value === null ? null : Math.round(value * 1e6) / 1e6))

describe('one trade that is open and then closed', () => {
  const ORDERS =
    'if bar_index == 0\n    strategy.entry("A", strategy.long, comment = "first")\nif bar_index == 1\n    strategy.close("A")'
  const BARS = '100/100/100/100 100/110/90/105 120/120/120/120'
  test.each<[string, (number | null)[]]>([
    // 5 of 1,000.
    ['strategy.openprofit_percent', [0, 0.5, 0]],
    ['strategy.opentrades.profit_percent(0)', [NaN, 5, NaN]],
    ['strategy.opentrades.max_runup_percent(0)', [NaN, 10, NaN]],
    ['strategy.opentrades.max_drawdown_percent(0)', [NaN, 10, NaN]],
    ['strategy.netprofit_percent', [0, 0, 2]],
    ['strategy.avg_trade_percent', [NaN, NaN, 20]],
    ['strategy.avg_winning_trade_percent', [NaN, NaN, 20]],
    ['strategy.avg_losing_trade_percent', [NaN, NaN, NaN]],
    // From a peak of 1,000 down to 990.
    ['strategy.max_drawdown', [0, 10, 10]],
    ['strategy.max_drawdown_percent', [0, 1, 1]],
    ['strategy.opentrades.capital_held', [0, 100, 0]],
  ])('%s', (expression, expected) => {
    expect(round(valuesOf([expression], ORDERS, BARS)[expression])).toEqual(expected)
  })
  test('strategy.opentrades.entry_comment', () => {
    const { logs } = runScript(`${ORDERS}\nlog.info("[{0}]", strategy.opentrades.entry_comment(0))`, {
      bars: barsFrom(BARS),
      symbol: CRYPTO,
      declaration: 'strategy("t")',
    })
    expect(logs).toEqual(['[NaN]', '[first]', '[NaN]'])
  })
})

describe('two trades that won and one that lost', () => {
  // Entered at the open of bars 1, 3 and 5, closed a bar later: 100 → 110, 100 → 80, 50 → 60.
  const ORDERS =
    'if bar_index % 2 == 0 and bar_index < 5\n    strategy.entry("A", strategy.long)\nif bar_index % 2 == 1\n    strategy.close("A")'
  const BARS =
    '100/100/100/100 100/100/100/100 110/110/110/110 100/100/100/100 80/80/80/80 50/50/50/50 60/60/60/60'
  test.each([
    ['strategy.avg_trade_percent', (10 - 20 + 20) / 3],
    ['strategy.avg_winning_trade_percent', (10 + 20) / 2],
    // What was lost is a positive number, and the mean of what trades made in per cent a negative one.
    ['strategy.avg_losing_trade_percent', -20],
    ['strategy.avg_losing_trade', 20],
    ['strategy.grossprofit_percent', 2],
    ['strategy.grossloss_percent', 2],
    // 1,010 is the peak, 990 the end of the loss.
    ['strategy.max_drawdown_percent', (20 / 1010) * 100],
    // From 1,000 to 1,010, and from 990 to 1,000.
    ['strategy.max_runup', 10],
    // The larger share of the two: that from 990.
    ['strategy.max_runup_percent', (10 / 990) * 100],
  ])('%s', (expression, expected) => {
    expect(valuesOf([expression], ORDERS, BARS)[expression]?.at(-1)).toBeCloseTo(expected, 9)
  })
})

describe('money and quantities', () => {
  const ENTER = 'if bar_index == 0\n    strategy.entry("A", strategy.long, qty = 5)'
  const BARS = '100/100/100/100 100/100/100/100 100/100/100/100'
  test.each([
    // Equity is the margin where 300 + 5 (P - 100) = 5 P / 2: 2.5 P = 200.
    ['initial_capital = 300, margin_long = 50', ENTER, 80],
    // 300 + 5 (P - 100) = 5 P / 4: 3.75 P = 200, cut to a cent below.
    ['initial_capital = 300, margin_long = 25', ENTER, 53.33],
    // Short: 300 - 5 (P - 100) = 5 P / 2: 7.5 P = 800, cut to a cent above.
    ['initial_capital = 300, margin_short = 50', ENTER.replace('long', 'short'), 106.67],
  ])('strategy.margin_liquidation_price of %s', (settings, orders, expected) => {
    const name = 'strategy.margin_liquidation_price'
    const values = valuesOf([name], orders, BARS, settings)[name]
    expect(round(values)).toEqual([NaN, expected, expected])
  })
  test.each([
    ['default_qty_type = strategy.fixed, default_qty_value = 3', 3],
    // 500 at 40.
    ['default_qty_type = strategy.cash, default_qty_value = 500', 12.5],
    // A tenth of 1,000 at 40.
    ['default_qty_type = strategy.percent_of_equity, default_qty_value = 10', 2.5],
  ])('strategy.default_entry_qty(40) of %s', (settings, expected) => {
    const name = 'strategy.default_entry_qty(40)'
    const values = valuesOf([name], '', BARS, `initial_capital = 1000, ${settings}`)[name]
    expect(values).toEqual([expected, expected, expected])
  })
  test('an account in the currency of the symbol converts one to one', () => {
    const names = ['strategy.convert_to_account(7)', 'strategy.convert_to_symbol(7)']
    const values = valuesOf(names, '', BARS)
    expect(names.map((name) => values[name]?.at(-1))).toEqual([7, 7])
  })
})

describe('orders that are not to be', () => {
  const size = (orders: string, bars: string, settings?: string) =>
    valuesOf(['strategy.position_size'], orders, bars, settings)['strategy.position_size']

  test('strategy.cancel_all() takes back entries and exits that wait', () => {
    const orders =
      'if bar_index == 0\n    strategy.entry("M", strategy.long)\nif bar_index == 1\n    strategy.entry("L", strategy.long, limit = 95)\n    strategy.exit("X", "M", stop = 90)\n    strategy.cancel_all()'
    // Bar 2 would fill both.
    expect(size(orders, '100/100/100/100 100/100/100/100 100/100/80/100 100/100/100/100')).toEqual([
      0, 1, 1, 1,
    ])
  })
  test('strategy.risk.max_position_size() cuts the entry that would be over it', () => {
    const orders =
      'strategy.risk.max_position_size(3)\nif bar_index == 0\n    strategy.entry("A", strategy.long, qty = 2)\nif bar_index == 1\n    strategy.entry("B", strategy.long, qty = 2)'
    const bars = '100/100/100/100 100/100/100/100 100/100/100/100'
    expect(size(orders, bars, 'initial_capital = 1000, pyramiding = 5')).toEqual([0, 2, 3])
  })
  test('strategy.risk.max_intraday_loss() closes for the day, and not the next', () => {
    const enter = 'strategy.risk.max_intraday_loss(50, strategy.cash)\nstrategy.entry("A", strategy.long)'
    // Bar 2 falls to 40: with 60 lost the day is over. The bars are 8 hours apart from 14:30 UTC: bar 2 is the next day's
    // first, bar 4 its last, bar 5 the first of the day after.
    const { plots } = runScript(`${enter}\nplot(strategy.position_size, "x")`, {
      bars: barsFrom(
        '100/100/100/100 100/100/100/100 100/100/40/60 60/60/60/60 60/60/60/60 60/60/60/60 60/60/60/60',
        8 * 3_600_000,
      ),
      symbol: CRYPTO,
      declaration: 'strategy("t", initial_capital = 1000)',
    })
    expect(plots['x']).toEqual([0, 1, 0, 0, 0, 0, 1])
  })
})
