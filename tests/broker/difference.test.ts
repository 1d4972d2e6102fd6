// Where two reports of one thing differ.

import { describe, expect, test } from 'bun:test'
import { compareReports } from '../../src/broker/report/difference.ts'
import { reportMonths } from '../../src/broker/report/months.ts'
import { runBacktest } from '../../src/broker/run.ts'
import { emptyBars } from '../../src/market/bars.ts'
import { DEFAULT_LIMITS } from '../../src/language/runtime/limits.ts'
import type { Report } from '../../src/wire/report.ts'
import { TEST_SYMBOL } from './drive.ts'

const BASE = {
  hash: 'h1',
  timings: { runMs: 1 },
  warnings: [{ code: 'order_fills_see_whole_bar', message: 'As on TradingView.' }],
  summary: { netProfit: 10, cagr: null },
  trades: [
    { n: 1, profit: 4 },
    { n: 2, profit: 6 },
  ],
}
const compared = (again: object, stored: object = BASE) =>
  compareReports(stored as unknown as Report, again as unknown as Report)

test('the same report is equal, however long the run took', () => {
  expect(compared({ ...BASE, timings: { runMs: 900 }, hash: 'h1' })).toEqual({
    equal: true,
    hash: 'h1',
    difference: null,
    newFields: [],
    ranOnOther: false,
  })
})

test.each<[string, object]>([
  ['/summary/netProfit', { ...BASE, summary: { netProfit: 11, cagr: null } }],
  ['/summary/cagr', { ...BASE, summary: { netProfit: 10, cagr: 0 } }],
  ['/summary', { ...BASE, summary: null }],
  ['/summary', { ...BASE, summary: 5 }],
  ['/trades/1/profit', { ...BASE, trades: [BASE.trades[0], { n: 2, profit: 7 }] }],
  ['/trades/1', { ...BASE, trades: [BASE.trades[0]] }],
  ['/trades/2', { ...BASE, trades: [...BASE.trades, { n: 3, profit: 0 }] }],
  ['/trades', { ...BASE, trades: { 0: BASE.trades[0], 1: BASE.trades[1] } }],
])('%s is the first difference', (difference, again) => {
  expect(compared(again)).toMatchObject({ equal: false, difference })
  expect(compared(BASE, again)).toMatchObject({ equal: false, difference })
})

describe('a report that grew', () => {
  const GROWN = {
    ...BASE,
    summary: { ...BASE.summary, calmar: 2 },
    trades: BASE.trades.map((trade) => ({ ...trade, mfe: trade.n })),
    notes: [{ text: 'new' }],
  }
  const newFields = ['/summary/calmar', '/trades/*/mfe', '/notes']

  test('is equal to what was stored before, and the new fields are named', () => {
    expect(compared(GROWN)).toMatchObject({ equal: true, difference: null, newFields })
  })

  test('is held against it in all else', () => {
    expect(compared({ ...GROWN, summary: { netProfit: 11, calmar: 2 } })).toMatchObject({
      equal: false,
      difference: '/summary/cagr',
    })
  })

  test('has lost what only the stored one has', () => {
    expect(compared(BASE, GROWN)).toMatchObject({ equal: false, difference: '/notes', newFields: [] })
  })

  test('knew a field that some of the stored rows have', () => {
    const some = { ...GROWN, trades: [GROWN.trades[0], BASE.trades[1]] }
    expect(compared(GROWN, some)).toMatchObject({ equal: false, difference: '/trades/*/mfe', newFields: [] })
  })
})

test('why nothing was filled is told since, and does not make old runs others', () => {
  const told = { code: 'orders_not_filled', message: 'One order was for more than there was money for.' }
  expect(compared({ ...BASE, warnings: [...BASE.warnings, told] })).toMatchObject({ equal: true })
  expect(compared({ ...BASE, warnings: [] })).toMatchObject({ equal: false, difference: '/warnings/0' })
})

test('who made it of what is told apart from what came out', () => {
  const other = { ...BASE, engine: { name: 'chartroom', version: '9.0.0' }, hash: 'h2' }
  expect(compared(other)).toMatchObject({ equal: true, hash: 'h2', ranOnOther: true })
})

test('a month’s profit is a share of what there was at its beginning, also of less than 1', () => {
  const months = [
    { start: 0, label: '2024-01', profit: 0.25, trades: 1 },
    { start: 1, label: '2024-02', profit: -0.75, trades: 2 },
    { start: 2, label: '2024-03', profit: 1, trades: 1 },
  ]
  expect(reportMonths(months, 0.5)).toEqual([
    { month: '2024-01', profit: 0.25, profitPct: 0.5, trades: 1 },
    { month: '2024-02', profit: -0.75, profitPct: -1, trades: 2 },
    // Nothing was left of which it could be a share.
    { month: '2024-03', profit: 1, profitPct: 0, trades: 1 },
  ])
})

test('a run over no bars has numbers all the same', () => {
  const { report } = runBacktest({
    source: '//@version=6\nstrategy("S")\nstrategy.entry("L", strategy.long)\n',
    inputs: {},
    bars: emptyBars(0),
    symbol: TEST_SYMBOL,
    interval: '1h',
    limits: DEFAULT_LIMITS,
    series: () => null,
  })
  expect(report.equity).toMatchObject({ timeInMarketPct: 0, months: [], drawdowns: [], cagr: null })
})
