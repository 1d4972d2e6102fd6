// The list of backtests as data: its rows as the API sends them, found by a word and put in order by a column.

import type { Backtest } from '../../wire/backtest.ts'

export type { Backtest }

export const COLUMNS = [
  ['name', 'Name'],
  ['profit', 'Net profit'],
  ['drawdown', 'Max drawdown'],
  ['trades', 'Trades'],
  ['wins', 'Win rate'],
  ['factor', 'Profit factor'],
  ['sharpe', 'Sharpe'],
  ['period', 'Period'],
  ['when', 'Run'],
] as const
export type Column = (typeof COLUMNS)[number][0]

export interface Order {
  readonly by: Column
  readonly down: boolean
}
/** As the API lists them. */
export const NEWEST_FIRST: Order = { by: 'when', down: true }

/** A column's first click puts the best first; the second turns it round. */
export function orderAfterClick(before: Order, by: Column): Order {
  if (before.by === by) return { by, down: !before.down }
  return { by, down: by !== 'name' && by !== 'drawdown' }
}

const VALUES: Readonly<Record<Exclude<Column, 'name'>, (one: Backtest) => number | undefined>> = {
  period: ({ range }) => range?.from,
  profit: ({ summary }) => summary?.netProfitPct,
  drawdown: ({ summary }) => (summary ? Math.abs(summary.maxDrawdownPct) : undefined),
  trades: ({ summary }) => summary?.trades,
  // Without a trade there is no rate, which is not the same as a rate of zero.
  wins: ({ summary }) => (summary?.trades ? summary.winRate : undefined),
  factor: ({ summary }) => (summary?.trades ? summary.profitFactor : undefined),
  sharpe: ({ summary }) => (summary?.trades ? summary.sharpe : undefined),
  when: ({ createdAt }) => createdAt,
}

/** Those that have every word of `query` in their name, market or interval (or are `pinned`); without a value in the column: last. */
export function arranged(all: readonly Backtest[], { by, down }: Order, query = ''): readonly Backtest[] {
  const words = query.toLowerCase().split(/\s+/)
  const found = all.filter(({ name, exchange, symbol, interval, pinned }) => {
    const text = `${name} ${exchange}:${symbol} ${interval}${pinned ? ' pinned' : ''}`.toLowerCase()
    return words.every((word) => text.includes(word))
  })
  const turn = down ? -1 : 1
  if (by === 'name') return found.toSorted((a, b) => turn * a.name.localeCompare(b.name, 'en'))
  const value = VALUES[by]
  return found.toSorted((a, b) => {
    const [x, y] = [value(a), value(b)]
    if (x === undefined || y === undefined) return Number(x === undefined) - Number(y === undefined)
    return turn * (x - y)
  })
}
