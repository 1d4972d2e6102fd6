// All portfolios: which strategies trade with the same money, and what came of it.

import { call } from '../api-client.ts'
import { money, percent } from '../format.ts'
import { JobList } from '../jobs/job-list.tsx'
import type { Column } from '../ui/data-table.tsx'
import { Badge } from '../ui/ui.tsx'
import type { Portfolio } from '../../wire/portfolio.ts'

const LOOK_MS = 1000

const COLUMNS: readonly Column<Portfolio>[] = [
  {
    of: 'parts',
    head: 'Parts',
    sort: ({ parts }) => parts.length,
    cell: ({ parts }) => parts.map(({ symbol }) => symbol).join(' · '),
  },
  {
    of: 'netProfit',
    head: 'Net profit',
    look: 'number',
    sort: ({ netProfit }) => netProfit,
    cell: (one) =>
      one.state === 'done' ? (
        money(one.netProfit, one.currency ?? '', { plus: true })
      ) : (
        <span title={one.error?.message}>
          <Badge tone={one.state === 'failed' ? 'down' : 'accent'}>{one.state}</Badge>
        </span>
      ),
  },
  {
    of: 'maxDrawdownPct',
    head: 'Max drawdown',
    look: 'number',
    sort: ({ maxDrawdownPct }) => maxDrawdownPct,
    cell: ({ maxDrawdownPct }) => percent(maxDrawdownPct),
  },
]

export function PortfolioList() {
  return (
    <JobList
      title="Portfolios"
      about="Several strategies, each on its market, that trade with the same money."
      path="/portfolios"
      load={async (query, signal) => {
        const { portfolios, nextCursor } = await call('GET /api/platform/portfolios', { query, signal })
        return { items: portfolios, nextCursor }
      }}
      lookMs={LOOK_MS}
      make={['New portfolio', 'plus']}
      nameHead="Portfolio"
      columns={COLUMNS}
    >
      A portfolio shows what several strategies would have made of one account, where adding up their
      backtests counts the same capital for each of them.
    </JobList>
  )
}
