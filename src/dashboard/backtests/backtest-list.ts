// The list of backtests without its page: searching it, and the values its columns are sorted by.

import type { Backtest } from '../../wire/backtest.ts'
import type { Order, Sortable } from '../ui/sorting.ts'

export type { Backtest }

/** A row as the API lists it. */
export const NEWEST_FIRST: Order = { by: 'createdAt', down: true }

/** The value each column sorts by. */
export const SORTS = {
  name: { of: 'name', leastFirst: true },
  profit: { of: 'profit', sort: ({ summary }) => summary?.netProfitPct },
  drawdown: {
    of: 'drawdown',
    sort: ({ summary }) => (summary ? Math.abs(summary.maxDrawdownPct) : undefined),
    leastFirst: true,
  },
  trades: { of: 'trades', sort: ({ summary }) => summary?.trades },
  // Without a trade there is no win rate, which must not sort like a rate of zero.
  wins: { of: 'wins', sort: ({ summary }) => (summary?.trades ? summary.winRate : undefined) },
  factor: { of: 'factor', sort: ({ summary }) => (summary?.trades ? summary.profitFactor : undefined) },
  sharpe: { of: 'sharpe', sort: ({ summary }) => (summary?.trades ? summary.sharpe : undefined) },
  period: { of: 'period', sort: ({ range }) => range?.from },
  createdAt: { of: 'createdAt' },
} as const satisfies Readonly<Record<string, Sortable<Backtest>>>

/** Rows that have every word of `query` in their name, market or interval; the word `pinned` finds pinned ones. */
export function found(all: readonly Backtest[], query: string): readonly Backtest[] {
  const words = query.toLowerCase().split(/\s+/)
  return all.filter(({ name, exchange, symbol, interval, pinned }) => {
    const text = `${name} ${exchange}:${symbol} ${interval}${pinned ? ' pinned' : ''}`.toLowerCase()
    return words.every((word) => text.includes(word))
  })
}
