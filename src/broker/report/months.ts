// Profit by UTC calendar month and day, and the returns from which Sharpe and Sortino ratios are computed.

import type { Bars } from '../../market/bars.ts'
import type { ReportMonth } from '../../wire/report.ts'
import type { TradeTable } from './trades.ts'

const DAY = 86_400_000

export interface PeriodEnd {
  /** First instant of the period. */
  readonly start: number
  readonly label: string
  /** Profit of the trades that closed in it. */
  readonly profit: number
  readonly trades: number
}

type Times = Pick<Bars, 'time' | 'length'>
type Realised = Pick<TradeTable, 'profit' | 'exitBar' | 'closed'>

/** Every UTC month that has bars, with the profit realised in it. */
export function monthsOf(bars: Times, trades: Realised): PeriodEnd[] {
  if (bars.length === 0) return []
  const first = new Date(bars.time[0]!)
  const to = bars.time[bars.length - 1]!
  const starts: number[] = []
  for (let month = 0; ; month++) {
    const start = Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + month, 1)
    if (start > to) break
    starts.push(start)
  }
  return collect(starts, bars, trades, (start) => new Date(start).toISOString().slice(0, 7))
}

/** The same for days. */
export function daysOf(bars: Times, trades: Realised): PeriodEnd[] {
  if (bars.length === 0) return []
  const to = bars.time[bars.length - 1]!
  const starts: number[] = []
  for (let start = Math.floor(bars.time[0]! / DAY) * DAY; start <= to; start += DAY) starts.push(start)
  return collect(starts, bars, trades, (start) => new Date(start).toISOString().slice(0, 10))
}

function collect(
  starts: readonly number[],
  { time }: Times,
  { profit: profits, exitBar, closed }: Realised,
  label: (start: number) => string,
): PeriodEnd[] {
  const { length } = starts
  const ends: PeriodEnd[] = []
  let k = 0
  // Trades are in the order they closed, except within a bar, which does not matter here.
  for (let i = 0; i < length; i++) {
    const start = starts[i]!
    const end = i + 1 < length ? starts[i + 1]! : Infinity
    let profit = 0
    const first = k
    for (; k < closed && time[exitBar[k]!]! < end; k++) profit += profits[k]!
    ends.push({ start, label: label(start), profit, trades: k - first })
  }
  return ends
}

export function reportMonths(months: readonly PeriodEnd[], initialCapital: number): ReportMonth[] {
  let equity = initialCapital
  return months.map(({ label, profit, trades }) => {
    const row = { month: label, profit, profitPct: equity > 0 ? profit / equity : 0, trades }
    equity += profit
    return row
  })
}

/** Simple returns from period to period, starting from the initial capital. */
export function periodReturns(
  periods: readonly PeriodEnd[],
  initialCapital: number,
  openProfit: number,
): number[] {
  let equity = initialCapital
  return periods.map(({ profit }, i) => {
    const value = (i === periods.length - 1 ? profit + openProfit : profit) / equity
    equity += profit
    return value
  })
}
