// The figures of a report that are worked out of others, each at its bounds and by hand.

import { describe, expect, test } from 'bun:test'
import { closeToClose } from '../../src/broker/report/drawdowns.ts'
import { annualGrowth, buyAndHold } from '../../src/broker/report/growth.ts'
import { daysOf, monthsOf, periodReturns, reportMonths } from '../../src/broker/report/months.ts'
import { riskRatios } from '../../src/broker/report/sharpe.ts'
import { reportSummary } from '../../src/broker/report/summary.ts'
import { barsOf, shareOf, type TradeTable } from '../../src/broker/report/trades.ts'
import { emptyBars, type Bars } from '../../src/market/bars.ts'
import type { ReportColumn, ReportEquity } from '../../src/wire/report.ts'

const YEAR = 365 * 86_400_000
const NONE = { sharpe: null, sharpeAnnualized: null, sortino: null }

function barsAt(...times: string[]): Bars {
  const bars = emptyBars(times.length)
  for (const [i, time] of times.entries()) bars.time[i] = Date.parse(time)
  return bars
}
/** Closed trades by the bar of their exit and their profit; `open` of them behind. */
const table = (closed: readonly (readonly [number, number])[], open = 0) =>
  ({
    count: closed.length + open,
    closed: closed.length,
    exitBar: Int32Array.from([...closed.map(([bar]) => bar), ...Array<number>(open).fill(0)]),
    profit: Float64Array.from([...closed.map(([, profit]) => profit), ...Array<number>(open).fill(1e9)]),
  }) as unknown as TradeTable

describe('the ratios', () => {
  const near = (found: Record<string, number | null>, expected: Record<string, number>) => {
    for (const [name, value] of Object.entries(expected)) expect(found[name]).toBeCloseTo(value, 10)
  }
  test('are of the mean above what is free of risk: over all deviation, and over what lies below it', () => {
    // Mean 0.1, deviation 0.2; below: √(0.01 / 2).
    near(
      { ...riskRatios([0.3, -0.1], 0, 'month') },
      { sharpe: 0.5, sharpeAnnualized: 0.5 * Math.sqrt(12), sortino: Math.SQRT2 },
    )
    // One percent a month is free; below: √(0.11² / 2).
    near({ ...riskRatios([0.3, -0.1], 12, 'month') }, { sharpe: 0.45, sortino: 0.09 / (0.11 / Math.SQRT2) })
    near(
      { ...riskRatios([0.3, -0.1], 36.5, 'day') },
      { sharpe: 0.495, sharpeAnnualized: 0.495 * Math.sqrt(365) },
    )
  })
  test('are none of one return, or of an account that was wiped out', () => {
    expect([
      riskRatios([0.3], 0, 'day'),
      riskRatios([], 0, 'day'),
      riskRatios([0.1, Infinity], 0, 'day'),
    ]).toEqual([NONE, NONE, NONE])
    expect(riskRatios([0.5, NaN, 0.1], 0, 'month')).toEqual(NONE)
  })
  test('are none each where there is nothing to divide by', () => {
    expect(riskRatios([0.25, 0.25], 0, 'month')).toEqual(NONE)
    expect(riskRatios([-0.25, -0.25], 0, 'month')).toEqual({ ...NONE, sortino: -1 })
    expect(riskRatios([0.5, 0.25], 0, 'month')).toMatchObject({ sharpe: 3, sortino: null })
  })
})

describe('growth', () => {
  test('a year is of 365 days, and none where there is no time or no money', () => {
    expect(annualGrowth(100, 121, 0, 2 * YEAR)).toBeCloseTo(0.1, 12)
    expect(annualGrowth(100, 50, YEAR, 2 * YEAR)).toBeCloseTo(-0.5, 12)
    expect([annualGrowth(100, 121, 5, 5), annualGrowth(100, 121, 5, 4)]).toEqual([null, null])
    expect([
      annualGrowth(100, 0, 0, YEAR),
      annualGrowth(100, -1, 0, YEAR),
      annualGrowth(0, 1, 0, YEAR),
    ]).toEqual([null, null, null])
    expect(annualGrowth(1, 1e300, 0, 1)).toBeNull()
  })
  test('of buying and holding is of all the capital from the first entry', () => {
    expect([buyAndHold(1000, 50, 75), buyAndHold(1000, 50, 25)]).toEqual([500, -500])
    expect([buyAndHold(1000, 0, 75), buyAndHold(1000, -5, 75)]).toEqual([null, null])
  })
})

describe('periods', () => {
  test('are all months from the first bar to the last, and what closes on their first instant is theirs', () => {
    const bars = barsAt('2023-12-31T23:00Z', '2024-02-01T00:00Z', '2024-02-29T23:59Z', '2024-03-01T00:00Z')
    const found = monthsOf(
      bars,
      table(
        [
          [0, 1],
          [1, 2],
          [2, 4],
          [3, 8],
        ],
        1,
      ),
    )
    expect(found).toEqual([
      { start: Date.UTC(2023, 11, 1), label: '2023-12', profit: 1, trades: 1 },
      { start: Date.UTC(2024, 0, 1), label: '2024-01', profit: 0, trades: 0 },
      { start: Date.UTC(2024, 1, 1), label: '2024-02', profit: 6, trades: 2 },
      { start: Date.UTC(2024, 2, 1), label: '2024-03', profit: 8, trades: 1 },
    ])
    expect([monthsOf(emptyBars(0), table([])), daysOf(emptyBars(0), table([]))]).toEqual([[], []])
  })
  test('are all days likewise, in UTC', () => {
    const bars = barsAt('2024-02-28T23:00Z', '2024-02-29T00:00Z', '2024-03-02T00:00Z')
    expect(
      daysOf(
        bars,
        table([
          [0, 1],
          [1, 2],
          [2, -4],
        ]),
      ).map(({ label, profit }) => `${label} ${profit}`),
    ).toEqual(['2024-02-28 1', '2024-02-29 2', '2024-03-01 0', '2024-03-02 -4'])
  })
  test('return a share of what there was before them; of nothing or less there is none in the list', () => {
    const months = [10, -220, 5].map((profit, i) => ({ start: i, label: `m${i}`, profit, trades: i }))
    expect(reportMonths(months, 100)).toEqual([
      { month: 'm0', profit: 10, profitPct: 0.1, trades: 0 },
      { month: 'm1', profit: -220, profitPct: -2, trades: 1 },
      { month: 'm2', profit: 5, profitPct: 0, trades: 2 },
    ])
    expect(reportMonths(months.slice(1), 220).map(({ profitPct }) => profitPct)).toEqual([-1, 0])
    expect(periodReturns(months, 100, 0)).toEqual([0.1, -2, 5 / -110])
    expect(periodReturns(months.slice(0, 1), 100, 30)).toEqual([0.4])
  })
})

test('from close to close equity falls from its peak and rises from its trough, trade by trade', () => {
  // 110, 80, 130, 120.
  const found = closeToClose(
    table(
      [
        [0, 10],
        [0, -30],
        [0, 50],
        [0, -10],
      ],
      1,
    ),
    100,
  )
  expect(found).toEqual({ drawdown: 30, drawdownPct: 30 / 110, runup: 50, runupPct: 50 / 80 })
  // -50, -40: no share of less than nothing.
  expect(
    closeToClose(
      table([
        [0, -150],
        [0, 10],
      ]),
      100,
    ),
  ).toEqual({ drawdown: 150, drawdownPct: 1.5, runup: 10, runupPct: 0 })
  expect(closeToClose(table([]), 100)).toEqual({ drawdown: 0, drawdownPct: 0, runup: 0, runupPct: 0 })
  // From nothing there is no share to fall by.
  expect(
    closeToClose(
      table([
        [0, -5],
        [0, 20],
      ]),
      0,
    ),
  ).toEqual({ drawdown: 5, drawdownPct: 0, runup: 20, runupPct: 0 })
})

test('a trade counts the bar of its entry, and has no share of a value of nothing', () => {
  const one = { entryBar: [3], exitBar: [3], value: [0] } as unknown as TradeTable
  expect([barsOf(one, 0), shareOf(one, 0, 5)]).toEqual([1, 0])
  expect(shareOf({ ...one, value: Float64Array.of(50) }, 0, 5)).toBe(0.1)
})

test('the head of a report has numbers only, whatever the report leaves open', () => {
  const column = (more: Partial<ReportColumn>) =>
    ({
      trades: 2,
      netProfit: 5,
      netProfitPct: 0.05,
      winRate: 0.5,
      profitFactor: 2,
      grossProfit: 10,
      ...more,
    }) as ReportColumn
  const equity = (more: Partial<ReportEquity>) =>
    ({ maxDrawdownPct: 0.1, sharpe: 0.7, ...more }) as ReportEquity
  const whole = {
    trades: 2,
    netProfit: 5,
    netProfitPct: 0.05,
    winRate: 0.5,
    profitFactor: 2,
    maxDrawdownPct: 0.1,
    sharpe: 0.7,
  }
  expect(reportSummary(column({}), equity({}))).toEqual(whole)
  expect(reportSummary(column({ profitFactor: null, winRate: null }), equity({ sharpe: null }))).toEqual({
    ...whole,
    winRate: 0,
    profitFactor: 1e6,
    sharpe: 0,
  })
  expect(
    reportSummary(
      column({ profitFactor: null, grossProfit: 0, netProfit: Infinity, netProfitPct: NaN }),
      equity({}),
    ),
  ).toEqual({ ...whole, profitFactor: 0, netProfit: 0, netProfitPct: 0 })
})
