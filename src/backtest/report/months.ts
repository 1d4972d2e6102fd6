// Calendar months and days, UTC: the equity realised by the end of each, which Sharpe and Sortino are made of.

import type { ReportMonth, ReportTrade } from './report.ts'

const DAY = 86_400_000

export interface PeriodEnd {
  /** First instant of the period. */
  readonly start: number
  readonly label: string
  /** Profit of the trades that closed in it. */
  readonly profit: number
  readonly trades: number
}

/** Every UTC month from the one `from` lies in to the one of `to`, with what was realised in it. */
export function monthsBetween(from: number, to: number, trades: readonly ReportTrade[]): PeriodEnd[] {
  const first = new Date(from)
  const starts: number[] = []
  for (let month = 0; ; month++) {
    const start = Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + month, 1)
    if (start > to) break
    starts.push(start)
  }
  return collect(starts, trades, (start) => new Date(start).toISOString().slice(0, 7))
}

/** The same for days. */
export function daysBetween(from: number, to: number, trades: readonly ReportTrade[]): PeriodEnd[] {
  const starts: number[] = []
  for (let start = Math.floor(from / DAY) * DAY; start <= to; start += DAY) starts.push(start)
  return collect(starts, trades, (start) => new Date(start).toISOString().slice(0, 10))
}

/** `trades`: the closed ones come first. */
function collect(
  starts: readonly number[],
  trades: readonly ReportTrade[],
  label: (start: number) => string,
): PeriodEnd[] {
  let k = 0
  // Trades are listed as they closed, but parts of one bar may swap: only the bar's time matters here.
  return starts.map((start, i) => {
    const end = starts[i + 1] ?? Infinity
    let profit = 0
    let count = 0
    for (let trade = trades[k]; trade?.status === 'closed' && trade.exitTime < end; trade = trades[++k]) {
      profit += trade.profit
      count++
    }
    return { start, label: label(start), profit, trades: count }
  })
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
export function periodReturns(periods: readonly PeriodEnd[], initialCapital: number): number[] {
  let equity = initialCapital
  return periods.map(({ profit }) => {
    const value = profit / equity
    equity += profit
    return value
  })
}
