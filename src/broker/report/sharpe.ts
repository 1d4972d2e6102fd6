// Sharpe and Sortino as TradingView computes them (J4): mean of the periods' returns less the risk-free rate, over their
// population deviation (Sortino: the deviation below the rate), not annualised. Periods are UTC months of realised equity,
// or days if the range is shorter than three months.

import type { ReportEquity } from '../../wire/report.ts'

const MONTHS_A_YEAR = 12
const DAYS_A_YEAR = 365

type RiskRatios = Pick<ReportEquity, 'sharpe' | 'sharpeAnnualized' | 'sortino'>

/** `riskFree` in percent a year. */
export function riskRatios(
  returns: readonly number[],
  riskFree: number,
  period: 'month' | 'day',
): RiskRatios {
  const none = { sharpe: null, sharpeAnnualized: null, sortino: null }
  if (returns.length < 2 || returns.some((value) => !Number.isFinite(value))) return none
  const perYear = period === 'month' ? MONTHS_A_YEAR : DAYS_A_YEAR
  const free = riskFree / 100 / perYear
  let total = 0
  for (const value of returns) total += value
  const mean = total / returns.length
  let squares = 0
  let below = 0
  for (const value of returns) {
    squares += (value - mean) ** 2
    below += Math.min(0, value - free) ** 2
  }
  const deviation = Math.sqrt(squares / returns.length)
  const downside = Math.sqrt(below / returns.length)
  const sharpe = deviation > 0 ? (mean - free) / deviation : null
  return {
    sharpe,
    sharpeAnnualized: sharpe === null ? null : sharpe * Math.sqrt(perYear),
    sortino: downside > 0 ? (mean - free) / downside : null,
  }
}
