// What the pages of portfolios know without drawing anything.

import type { Backtest } from '../../wire/backtest.ts'
import type { PortfolioBody } from '../../wire/portfolio.ts'

type PortfolioPart = PortfolioBody['parts'][number]

/** A stored backtest as a part. Capital and currency are the portfolio's, so it leaves its own behind. */
export function partOf(backtest: Backtest, priority: number): PortfolioPart {
  const { name, symbol, exchange, interval, bars, source = '', inputs = {} } = backtest
  const { initial_capital: _capital, currency: _currency, ...rest } = backtest.overrides ?? {}
  const overrides = rest as NonNullable<PortfolioPart['overrides']>
  return { name, symbol, exchange, interval, bars, source, inputs, overrides, priority }
}

/** A correlation in words. */
export function togetherness(value: number | null): string {
  if (value === null) return 'nothing to compare'
  if (value > 0.7) return 'in step'
  if (value > 0.3) return 'partly together'
  return value < -0.3 ? 'against each other' : 'independent'
}
