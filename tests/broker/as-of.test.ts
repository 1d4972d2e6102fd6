// Runs as of a day: the defaults that TradingView had then (F13), and what a run says of its day.

import { describe, expect, test } from 'bun:test'
import type { BacktestRequest } from '../../src/broker/backtest.ts'
import { Explainer } from '../../src/broker/explain/explain.ts'
import { runBacktest } from '../../src/broker/run.ts'
import { trialName } from '../../src/broker/trial-name.ts'
import { parseTradeList } from '../../src/broker/exported/trade-list.ts'
import { compareReports } from '../../src/broker/report/difference.ts'
import { DEFAULT_LIMITS } from '../../src/language/runtime/limits.ts'
import { seededRandom } from '../../src/lib/seeded-random.ts'
import { emptyBars } from '../../src/market/bars.ts'
import type { Report } from '../../src/wire/report.ts'
import { barsFrom, TEST_SYMBOL } from './drive.ts'

// The price of the first entry of PineForge's seven exports.
const BARS = barsFrom('1910/1910/1910/1910 '.repeat(6))

function request(given: string, change: Partial<BacktestRequest> = {}, version = 6): BacktestRequest {
  const source = `//@version=${version}
strategy("S"${given})
if bar_index == 1
    strategy.entry("L", strategy.long)
if bar_index == 3
    strategy.close("L")
`
  return {
    source,
    inputs: {},
    bars: BARS,
    symbol: TEST_SYMBOL,
    interval: '1m',
    limits: DEFAULT_LIMITS,
    series: () => null,
    ...change,
  }
}

const sizeOf = (given: string, asOf?: string, version = 6) =>
  runBacktest(request(given, { asOf }, version)).report.trades[0]?.qty

describe('an order without a size', () => {
  test.each([
    // What the exports of TradingView of after the change show.
    ['', 52.356],
    [', default_qty_type = strategy.percent_of_equity, default_qty_value = 100', 52.356],
    [', initial_capital = 1000000, default_qty_value = 1', 5.2356],
    [', initial_capital = 1000000, default_qty_type = strategy.fixed', 100],
    [', initial_capital = 1000000, default_qty_type = strategy.cash', 0.0523],
    [', initial_capital = 1000000, default_qty_type = strategy.fixed, default_qty_value = 1', 1],
    [
      ', default_qty_type = strategy.percent_of_equity, default_qty_value = 100, initial_capital = 1000000',
      523.5602,
    ],
  ])('F13: as of 24 September 2026, where strategy() has "%s"', (given, qty) => {
    expect(sizeOf(given, '2026-09-24')).toBeCloseTo(qty, 8)
  })

  test('F13: is one contract before that day, in versions before 6, and in runs from before runs had a day', () => {
    expect(sizeOf('', '2026-09-23')).toBe(1)
    expect(sizeOf('', '2026-09-24', 5)).toBe(1)
    expect(sizeOf('', undefined)).toBe(1)
    expect(sizeOf(', default_qty_value = 1', '2026-09-23')).toBe(1)
  })

  test('follows settings from outside of the script as it follows the script', () => {
    const sized = (overrides: NonNullable<BacktestRequest['overrides']>) =>
      runBacktest(request('', { asOf: '2026-09-24', overrides })).report
    expect(sized({ default_qty_type: 'fixed', initial_capital: 500_000 }).trades[0]!.qty).toBe(100)
    expect(sized({ default_qty_value: 10 }).trades[0]!.qty).toBeCloseTo(5.2356, 8)
    expect(sized({ initial_capital: 1_000_000 }).trades[0]!.qty).toBeCloseTo(523.5602, 8)
  })
})

const withoutTimings = ({ timings: _timings, ...report }: Report) => report

describe('a report', () => {
  test('says as of which day it is, and verifies only as of that day', () => {
    const asked = request('', { asOf: '2026-09-24' })
    const { report } = runBacktest(asked)
    expect(report.asOf).toBe('2026-09-24')
    const stored = structuredClone({ ...report })
    expect(compareReports(stored, runBacktest(asked).report).equal).toBe(true)
    expect(compareReports(stored, runBacktest(request('')).report).equal).toBe(false)
  })

  test('of a run without a day says none', () => {
    expect('asOf' in runBacktest(request('')).report).toBe(false)
  })

  test('of a script that says all of it is the same on both sides, and one trial', () => {
    const all = ', initial_capital = 5000, default_qty_type = strategy.cash, default_qty_value = 500'
    const sides = ['2026-09-23', '2026-09-24'].map((asOf) => runBacktest(request(all, { asOf })).report)
    const [before, since] = sides.map((report) => ({ ...withoutTimings({ ...report }), asOf: null }))
    expect(before).toEqual(since)
    expect(new Set(sides.map(({ inputs, script }) => trialName(inputs, script.declaration))).size).toBe(1)
  })

  test('of one that does not differs, and is a trial of its own', () => {
    const sides = ['2026-09-23', '2026-09-24'].map((asOf) => runBacktest(request('', { asOf })).report)
    expect(new Set(sides.map(({ hash }) => hash)).size).toBe(2)
    expect(new Set(sides.map(({ inputs, script }) => trialName(inputs, script.declaration))).size).toBe(2)
  })
})

describe('an export from the other side of a change', () => {
  const SCRIPT = `//@version=6
strategy("S")
if ta.crossover(ta.sma(close, 3), ta.sma(close, 8))
    strategy.entry("L", strategy.long)
if ta.crossunder(ta.sma(close, 3), ta.sma(close, 8))
    strategy.close("L")
`
  const random = seededRandom(5)
  const bars = emptyBars(400)
  let price = 100
  for (let i = 0; i < bars.length; i++) {
    bars.time[i] = Date.UTC(2026, 0, 1) + i * 3_600_000
    bars.open[i] = price
    price = Math.round((price + random.normal()) * 100) / 100
    bars.close[i] = price
    bars.high[i] = Math.max(bars.open[i]!, price)
    bars.low[i] = Math.min(bars.open[i]!, price)
  }
  const asked = (asOf: string, source = SCRIPT): BacktestRequest => ({
    ...request('', { asOf, bars, interval: '1h' }),
    source,
  })
  const exported = (asOf: string) => {
    const rows = runBacktest(asked(asOf)).report.trades.flatMap((one) => {
      const wall = (time: number) => new Date(time).toISOString().slice(0, 16).replace('T', ' ')
      const tail = `${one.qty},${one.profit.toFixed(2)}`
      return [
        `${one.n},Exit long,${wall(one.exitTime)},${one.status === 'open' ? 'Open' : one.exitId},${one.exitPrice},${tail}`,
        `${one.n},Entry long,${wall(one.entryTime)},${one.entryId},${one.entryPrice},${tail}`,
      ]
    })
    return ['Trade #,Type,Date and time,Signal,Price USD,Position size (qty),Net P&L USD', ...rows].join('\n')
  }
  const explained = (csv: string, own: BacktestRequest) =>
    new Explainer({
      exported: parseTradeList(csv).trades,
      timezone: 'UTC',
      earlier: null,
      finer: null,
    }).explain(own)

  test('is told to be of before, where that side fits', () => {
    const found = explained(exported('2026-09-01'), asked('2026-09-24'))
    expect(found).toMatchObject({ agrees: true, asOf: '2026-09-23', overrides: {} })
    expect(found?.causes.map(({ kind }) => kind)).toEqual(['as_of'])
    expect(found?.message).toMatch(
      /^This export was made before 24 September 2026\. All \d+ trades agree with: TradingView as it was before 24 September 2026\.$/,
    )
  })

  test('is told to be of since, where that side fits', () => {
    const found = explained(exported('2026-09-24'), asked('2026-09-01'))
    expect(found).toMatchObject({ agrees: true, asOf: '2026-09-24' })
    expect(found?.message).toStartWith('This export was made on 24 September 2026 or later.')
  })

  test('is told nothing of where another setting is the cause', () => {
    const full = SCRIPT.replace(
      '"S"',
      '"S", initial_capital = 9000, default_qty_type = strategy.fixed, default_qty_value = 3',
    )
    const found = explained(exported('2026-09-01'), asked('2026-09-24', full))
    expect(found).toMatchObject({ agrees: true, asOf: null })
    expect(found?.causes.map(({ kind }) => kind)).toEqual(['default_qty'])
  })
})
