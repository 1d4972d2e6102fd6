// An export that was made with other settings than the script states: which ones is found by trying.

import { describe, expect, test } from 'bun:test'
import { Explainer, type ExplainOptions } from '../../src/broker/explain/explain.ts'
import type { BacktestRequest } from '../../src/broker/backtest.ts'
import { runBacktest } from '../../src/broker/run.ts'
import { parseTradeList } from '../../src/broker/exported/trade-list.ts'
import { emptyBars, selectBars } from '../../src/market/bars.ts'
import { defaultSymbol } from '../../src/market/symbols.ts'
import { DEFAULT_LIMITS } from '../../src/language/runtime/limits.ts'
import { exportOf, market, requestOn, START, SYMBOL } from './exported-lists.ts'

const { bars: BARS, minutes } = market(1500)
const FINER = { bars: minutes, interval: '1m' }

/** Crossings at the market, limits that rest, brackets that a bar may reach both of, adds. */
const SCRIPT = `//@version=6
strategy("S", initial_capital = 100000, default_qty_type = strategy.percent_of_equity, default_qty_value = 10)
fast = ta.ema(close, 5)
slow = ta.ema(close, 20)
if ta.crossover(fast, slow)
    strategy.entry("L", strategy.long)
if ta.crossunder(fast, slow)
    strategy.entry("S", strategy.short, limit = close * 1.001)
if close > slow and bar_index % 4 == 0
    strategy.entry("L" + str.tostring(bar_index % 3), strategy.long)
strategy.exit("X", "L", profit = 60, loss = 40)
strategy.exit("Y", "S", profit = 50, trail_points = 40, trail_offset = 20)
if bar_index % 50 == 0
    strategy.close_all()
`

const request = (change: Partial<BacktestRequest> = {}) => requestOn(BARS, SCRIPT, change)

function explained(csv: string, own: BacktestRequest = request(), options: Partial<ExplainOptions> = {}) {
  const { trades } = parseTradeList(csv)
  return new Explainer({ exported: trades, timezone: null, earlier: null, finer: FINER, ...options }).explain(
    own,
  )
}

const made = (overrides: NonNullable<BacktestRequest['overrides']>, change: Partial<BacktestRequest> = {}) =>
  exportOf(runBacktest(request({ overrides, ...change })).report)

describe('the settings with which an export was made are found', () => {
  const cases: readonly (readonly [kind: string, overrides: NonNullable<BacktestRequest['overrides']>])[] = [
    ['commission', { commission_value: 0.1 }],
    ['commission', { commission_value: 0.075 }],
    ['commission', { commission_type: 'cash_per_order', commission_value: 2.5 }],
    ['commission', { commission_type: 'cash_per_contract', commission_value: 0.02 }],
    ['slippage', { slippage: 3 }],
    ['initial_capital', { initial_capital: 25_000 }],
    ['default_qty', { default_qty_type: 'fixed', default_qty_value: 7 }],
    ['default_qty', { default_qty_value: 25 }],
    ['default_qty', { default_qty_type: 'cash', default_qty_value: 5000 }],
    ['pyramiding', { pyramiding: 3 }],
    ['process_orders_on_close', { process_orders_on_close: true }],
    ['calc_on_order_fills', { calc_on_order_fills: true }],
    ['calc_on_every_history_tick', { calc_on_every_history_tick: true }],
    ['fill_limits', { backtest_fill_limits_assumption: 5 }],
    ['bar_magnifier', { use_bar_magnifier: true }],
  ]
  test.each(cases)('%s, of %j', (kind, overrides) => {
    const own = request()
    const csv = made(overrides, overrides['use_bar_magnifier'] ? { finer: FINER } : {})
    const found = explained(csv, own)
    expect(found).toMatchObject({ agrees: true, complete: true })
    expect(found?.causes.map((cause) => cause.kind)).toEqual([kind] as never)
    expect(found?.overrides).toEqual(overrides)
    expect(found?.exact).toBe(found!.expected)
    expect(found?.expected).toBeGreaterThan(30)
  })

  test('close_entries_rule and margin, which only some scripts feel', () => {
    const source = `//@version=6
strategy("S", initial_capital = 1000, default_qty_value = 3, pyramiding = 5)
if bar_index % 7 == 0
    strategy.entry("A", strategy.long)
if bar_index % 7 == 2
    strategy.entry("B", strategy.long)
if bar_index % 7 == 4
    strategy.close("B")
if bar_index % 20 == 6
    strategy.close("A")
`
    const any = exportOf(runBacktest(request({ source, overrides: { close_entries_rule: 'ANY' } })).report)
    expect(explained(any, request({ source }))?.causes.map(({ kind }) => kind)).toEqual([
      'close_entries_rule',
    ])
    const margin = { margin_long: 10, margin_short: 10 }
    const lent = exportOf(runBacktest(request({ source, overrides: margin })).report)
    const found = explained(lent, request({ source }))
    // Every margin that is low enough comes to the same.
    expect([found?.agrees, ...found!.causes.map(({ kind }) => kind)]).toEqual([true, 'margin'])
  })

  test.each([
    [{ default_qty_type: 'percent_of_equity', default_qty_value: 50 }],
    [{ default_qty_type: 'percent_of_equity', default_qty_value: 37, commission_value: 0.05 }],
    [{ default_qty_type: 'percent_of_equity', default_qty_value: 10, initial_capital: 50_000 }],
    [{ default_qty_type: 'cash', default_qty_value: 2500 }],
    [{ commission_type: 'cash_per_order', commission_value: 1.5 }],
  ] as const)(
    'an order size that whole contracts blur, and a fee that a reversal shares: %j',
    (overrides) => {
      const source = `//@version=6
strategy("S", initial_capital = 10000)
fast = ta.sma(close, 5)
slow = ta.sma(close, 15)
if ta.crossover(fast, slow)
    strategy.entry("L", strategy.long)
if ta.crossunder(fast, slow)
    strategy.entry("S", strategy.short)
`
      const own = request({ source, symbol: { ...SYMBOL, minQuantity: 1 } })
      const csv = exportOf(runBacktest({ ...own, overrides }).report)
      expect(explained(csv, own)).toMatchObject({ agrees: true, overrides })
    },
  )

  test('facts of the symbol: smallest quantity, tick, point value', () => {
    const of = (symbol: Partial<typeof SYMBOL>) => explained(made({}, { symbol: { ...SYMBOL, ...symbol } }))
    expect(of({ minQuantity: 0.1 })).toMatchObject({ agrees: true, symbol: { minQuantity: 0.1 } })
    expect(of({ mintick: 0.1, priceScale: 10 })).toMatchObject({ agrees: true, symbol: { mintick: 0.1 } })
    const fixed = request({ source: SCRIPT.replace('strategy.percent_of_equity', 'strategy.fixed') })
    const csv = exportOf(runBacktest({ ...fixed, symbol: { ...SYMBOL, pointValue: 50 } }).report)
    expect(explained(csv, fixed)).toMatchObject({ agrees: true, symbol: { pointValue: 50 } })
  })

  test('the session and the zone of the exchange', () => {
    const source = `//@version=6
strategy("S")
if hour == 10 and minute == 0
    strategy.entry("L", strategy.long)
if hour == 14 and minute == 30
    strategy.close("L")
`
    const there = { ...SYMBOL, timezone: 'America/New_York' }
    const csv = exportOf(runBacktest(request({ source, symbol: there })).report)
    expect(explained(csv, request({ source }))).toMatchObject({
      agrees: true,
      symbol: { timezone: 'America/New_York' },
    })
  })

  test('earlier history', () => {
    const csv = made({})
    const own = request({ bars: selectBars(BARS, { last: 400 }) })
    const found = explained(csv, own, { earlier: BARS })
    expect(found).toMatchObject({ agrees: true, bars: 1500 })
    expect(found?.causes.map(({ kind }) => kind)).toEqual(['more_history'])
  })

  test('later history, from the day of the first trade', () => {
    const from = (Math.floor(START / 864e5) + 5) * 864e5
    const later = selectBars(BARS, { from })
    const csv = exportOf(runBacktest(request({ bars: later })).report)
    const found = explained(csv)
    expect(found).toMatchObject({ agrees: true, bars: later.length })
    expect(found?.causes.map(({ kind }) => kind)).toEqual(['less_history'])
  })

  test('the currency of the account', () => {
    const rates = emptyBars(40)
    for (let i = 0; i < 40; i++) {
      rates.time[i] = START - 864e5 + i * 864e5 - ((START - 864e5) % 864e5)
      for (const name of ['open', 'high', 'low', 'close'] as const) rates[name][i] = 1.1 + 0.001 * i
    }
    const series = (_: string, symbol: string) =>
      symbol === 'EURUSD' ? { bars: rates, symbol: defaultSymbol('FX', 'EURUSD'), interval: '1d' } : null
    const symbol = { ...SYMBOL, currency: 'EUR' }
    const source = SCRIPT.replace('strategy("S"', 'strategy("S", currency = currency.NONE')
    const csv = exportOf(
      runBacktest(request({ source, symbol, series, overrides: { currency: 'USD' } })).report,
    )
    expect(explained(csv, request({ source, symbol, series }))).toMatchObject({
      agrees: true,
      overrides: { currency: 'USD' },
    })
  })

  test('a rate between currencies that nobody named', () => {
    const source = SCRIPT.replace('strategy.percent_of_equity', 'strategy.fixed')
    const own = request({ source, bars: selectBars(BARS, { last: 300 }) })
    const { report } = runBacktest(own)
    // Another on each day, as a stablecoin's.
    const trades = report.trades.map((one) => ({
      ...one,
      profit: one.profit * (0.998 + 0.001 * (one.n % 5)),
    }))
    const csv = exportOf({ ...report, trades })
    const found = explained(csv, own)
    expect([found?.agrees, found?.causes[0]?.kind]).toEqual([false, 'currency'])
  })

  test.each([
    [{ commission_value: 0.1, slippage: 2 }],
    [{ pyramiding: 3, commission_value: 0.05 }],
    [{ process_orders_on_close: true, default_qty_type: 'fixed', default_qty_value: 2 }],
    [{ initial_capital: 50_000, slippage: 1, commission_value: 0.04 }],
  ] as const)('several together: %j', (overrides) => {
    expect(explained(made(overrides))).toMatchObject({ agrees: true, overrides })
  })
})

describe('what no setting explains', () => {
  test('is said honestly', () => {
    const csv = exportOf(runBacktest(request({ source: SCRIPT.replace('20)', '31)') })).report)
    const found = explained(csv)
    expect(found).toMatchObject({ agrees: false, complete: true })
    expect(found?.message).toMatch(/Nothing that was tried|has another cause/)
    expect(found!.runs).toBeLessThanOrEqual(400)
    // What agrees with no trade more than the run itself leads nowhere.
    const without = request({ source: SCRIPT.replace('20)', '31)').replace('5)', '9)') })
    const far = explained(exportOf(runBacktest(without).report), request({ overrides: { slippage: 7 } }))
    expect(far!.tried.filter(({ exact }) => exact === 0)).toEqual([])
    // A base currency that was only a guess is not said to be the account's.
    const notes = found!.notes.filter(({ code }) => code === 'rate_missing')
    expect(notes.map(({ message }) => message)).toEqual([
      expect.stringMatching(/^It was not tried with EUR, USDT, GBP as base currency/),
    ])
  })

  test.each(['commission_value', 'nothing'])(
    'a row that was altered is said to contradict itself, with %s',
    (fee) => {
      const own = request({
        bars: selectBars(BARS, { last: 300 }),
        overrides: fee === 'nothing' ? {} : { commission_value: 0.1 },
      })
      const { report } = runBacktest(own)
      const { n, side, qty, entryPrice, exitPrice, profit, exitTime } = report.trades[8]!
      const altered = (change: object) =>
        explained(
          exportOf({ ...report, trades: report.trades.with(8, { ...report.trades[8]!, ...change }) }),
          own,
        )!
      const price = (value: number) => String(Number(value.toFixed(6)))
      const cents = (value: number) => String(Number(value.toFixed(2)))
      const bar = BARS.time.indexOf(exitTime)
      const range = `${BARS.low[bar]} to ${BARS.high[bar]}`
      for (const [change, said] of [
        [{ profit: profit + 5 }, [`${cents(profit)}, not of ${cents(profit + 5)}`]],
        [
          { qty: qty * 2 },
          [`from ${price(entryPrice)} to ${price(exitPrice)} with ${qty * 2} is a profit of`],
        ],
        [
          { exitPrice: exitPrice + 7 },
          [`to ${price(exitPrice + 7)} with`, `its exit at ${price(exitPrice + 7)} lies`, range],
        ],
        // One that thought of the profit, too.
        [
          {
            exitPrice: exitPrice + 7,
            profit: profit + ((side === 'long' ? 7 : -7) - (fee === 'nothing' ? 0 : 0.007)) * qty,
          },
          [`Trade ${n} of the export contradicts itself: its exit`, range],
        ],
      ] as const) {
        const { message, causes, expected, exact } = altered(change)
        expect([exact, causes.map(({ kind }) => kind)]).toEqual([expected - 1, ['contradiction']])
        expect(message).toBe(`${causes[0]!.message}. ${exact} of ${expected} trades agree.`)
        for (const one of [`Trade ${n} of the export contradicts itself: `, ...said])
          expect(message).toContain(one)
        expect(message).not.toMatch(/another version|\d\.\d{9}/)
      }
    },
  )

  test('trades that only the run has are told apart from those that differ', () => {
    const { report } = runBacktest(request())
    const trades = report.trades.toSpliced(20, 3)
    const found = explained(exportOf({ ...report, trades }))
    const closed = trades.filter(({ status }) => status === 'closed').length
    expect(found).toMatchObject({ agrees: false, exact: closed, expected: closed })
    expect(found?.message).toStartWith(
      `All ${closed} trades of the export agree, but the run has 3 more among them, and nothing that was tried explains those.`,
    )
  })

  test('lists that agree need no explanation, in whatever zone the chart was', () => {
    const { report } = runBacktest(request())
    expect(explained(exportOf(report, 9))).toBeNull()
  })

  test('an export of fewer bars is told from one that differs', () => {
    const csv = exportOf(runBacktest(request()).report).split('\n').slice(0, 81).join('\n')
    expect(explained(csv)).toMatchObject({ agrees: true, causes: [], notes: [{ code: 'export_is_shorter' }] })
  })

  test('prices of another feed, and missing bars, are named', () => {
    const other = market(1500).bars
    for (const name of ['open', 'high', 'low', 'close'] as const)
      for (let i = 0; i < other.length; i++) other[name][i]! *= 1.2
    const codes = explained(made({}, { bars: other }))?.notes.map(({ code }) => code)
    expect(codes).toContain('other_prices')
    const late = request({ bars: selectBars(BARS, { last: 100 }) })
    expect(explained(made({}), late)?.notes.map(({ code }) => code)).toContain('history_missing')
  })

  test('the time that a run may take ends the search, which says so', () => {
    let clock = 0
    const own = request({ spent: () => (clock += 400), limits: { ...DEFAULT_LIMITS, timeMs: 20_000 } })
    const found = explained(made({ margin_long: 3, margin_short: 3, pyramiding: 4, slippage: 2 }), own)
    expect(found?.complete).toBe(false)
    expect(found!.runs).toBeLessThan(60)
  })

  test('a script that fails fails as it does without an export', () => {
    const source = '//@version=6\nstrategy("S")\nruntime.error("no")\n'
    expect(() => explained(made({}), request({ source }))).toThrow('no')
  })
})
