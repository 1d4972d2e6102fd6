// The properties of a strategy as a form has them, against what a run takes.

import { describe, expect, test } from 'bun:test'
import { runBacktest } from '../../src/broker/run.ts'
import { settingRefusal } from '../../src/broker/setting-values.ts'
import {
  declaredValue,
  PROPERTIES,
  readProperty,
  withProperty,
  type Declaration,
} from '../../src/dashboard/editor/properties-model.ts'
import { argsAsOf } from '../../src/language/behaviour.ts'
import { compile } from '../../src/language/compile.ts'
import { DEFAULT_LIMITS } from '../../src/language/runtime/limits.ts'
import { barsOf, SYMBOL, walk } from '../language/run-script.ts'

const script = (more = '', version = 6) => `//@version=${version}
strategy("S"${more})
if bar_index % 10 == 0
    strategy.entry("L", strategy.long)
if bar_index % 10 == 5
    strategy.close("L")`
/** As of before the defaults changed, as the runs below are. */
const declarationOf = (source: string): Declaration => {
  const { declaration, version } = compile(source).script!.program
  return argsAsOf(declaration, version, undefined)
}
const run = (source: string, overrides = {}) =>
  runBacktest({
    source,
    inputs: {},
    overrides,
    bars: barsOf(walk(200, 3)),
    symbol: SYMBOL,
    interval: '15m',
    limits: DEFAULT_LIMITS,
    series: () => null,
  }).report

describe('the properties of a strategy', () => {
  test('show what the script says, or what applies where it says nothing', () => {
    const given = declarationOf(
      script(
        ', initial_capital = 5000, commission_type = strategy.commission.cash_per_order, default_qty_type = strategy.cash, currency = currency.EUR, use_bar_magnifier = true',
      ),
    )
    const shown = (name: string, of: Declaration, version = 6) => declaredValue(name, of, version)
    expect(
      ['initial_capital', 'commission_type', 'default_qty_type', 'currency', 'use_bar_magnifier'].map(
        (name) => shown(name, given),
      ),
    ).toEqual([5000, 'cash_per_order', 'cash', 'EUR', true])
    const bare = declarationOf(script())
    expect(Object.fromEntries(PROPERTIES.map(({ name }) => [name, shown(name, bare)]))).toEqual({
      initial_capital: 1_000_000,
      currency: 'NONE',
      default_qty_value: 1,
      default_qty_type: 'fixed',
      pyramiding: 0,
      close_entries_rule: 'FIFO',
      commission_value: 0,
      commission_type: 'percent',
      slippage: 0,
      margin_long: 100,
      margin_short: 100,
      backtest_fill_limits_assumption: 0,
      use_bar_magnifier: false,
      process_orders_on_close: false,
      calc_on_order_fills: false,
    })
    expect(shown('margin_long', declarationOf(script('', 5)), 5)).toBe(0)
  })

  test('refuse what a run refuses', () => {
    for (const { name, ...property } of PROPERTIES) {
      const accepts = (value: unknown) => settingRefusal(name, value) === null
      if (property.kind === 'number')
        expect([name, accepts(property.min), accepts(property.min - 1), accepts(property.min + 0.5)]).toEqual(
          [name, true, false, !property.whole],
        )
      else if (property.kind === 'flag')
        expect([name, accepts(true), accepts('yes')]).toEqual([name, true, false])
      else expect([name, accepts(property.options[0]![0]), accepts(7)]).toEqual([name, true, false])
    }
    expect(['any', 'FIFO', 'LIFO'].map((rule) => settingRefusal('close_entries_rule', rule))).toEqual([
      null,
      null,
      'takes "FIFO", "ANY"',
    ])
  })

  test('are taken by a run of any script, and with the script’s own values change nothing', () => {
    const bare = declarationOf(script())
    const own = Object.fromEntries(PROPERTIES.map(({ name }) => [name, declaredValue(name, bare, 6)]))
    expect(run(script(), own).summary).toEqual(run(script()).summary)
    for (const property of PROPERTIES) {
      const options = property.kind === 'choice' ? property.options.map(([option]) => option) : []
      const values =
        property.kind === 'number' ? [property.min, 50] : property.kind === 'flag' ? [true] : options
      for (const value of values) expect(run(script(), { [property.name]: value }).version).toBe(1)
    }
    expect(run(script(), { slippage: 50 }).summary.netProfit).toBeLessThan(run(script()).summary.netProfit)
  })

  test('keep only what differs', () => {
    expect(withProperty({ slippage: 2 }, 'initial_capital', 500, 1000)).toEqual({
      slippage: 2,
      initial_capital: 500,
    })
    expect(withProperty({ slippage: 2 }, 'slippage', 0, 0)).toEqual({})
  })

  test('say what is wrong with a number', () => {
    const slippage = PROPERTIES.find(({ name }) => name === 'slippage')!
    if (slippage.kind !== 'number') throw new Error('It is one.')
    expect(['', 'x', '1.5', '-1', '3'].map((text) => readProperty(slippage, text, 'percent'))).toEqual([
      'Not a number.',
      'Not a number.',
      'A whole number, please.',
      '0 or more.',
      3,
    ])
    const commission = PROPERTIES.find(({ name }) => name === 'commission_value')!
    if (commission.kind !== 'number') throw new Error('It is one.')
    expect(readProperty(commission, '100', 'percent')).toBe(100)
    expect(readProperty(commission, '101', 'percent')).toContain('Give 100 or less')
    expect(readProperty(commission, '101', 'cash_per_order')).toBe(101)
  })
})
