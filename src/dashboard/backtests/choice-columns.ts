// What a list to choose kept backtests from says of each: what it made, and when it was run.

import { ago, percent } from '../format.ts'
import type { Column } from '../ui/data-table.tsx'
import type { Backtest } from '../../wire/backtest.ts'

export const madeColumns = (profitHead: string): readonly Column<Backtest>[] => [
  {
    of: 'netProfitPct',
    head: profitHead,
    look: 'number',
    sort: ({ summary }) => summary?.netProfitPct ?? null,
    cell: ({ summary }) => percent(summary?.netProfitPct, { plus: true }),
  },
  {
    of: 'createdAt',
    head: 'Made',
    look: 'muted',
    sort: ({ createdAt }) => createdAt,
    cell: ({ createdAt }) => ago(createdAt),
  },
]
