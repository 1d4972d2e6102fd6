// All portfolios: which strategies trade with the same money, and what came of it.

import { call } from '../api-client.ts'
import { ago, money, percent } from '../format.ts'
import { Page, Show, useLoad, useReloadWhile } from '../frame/page.tsx'
import { href, navigate } from '../router.ts'
import { DataTable, type Column } from '../ui/data-table.tsx'
import { Badge, Button, Empty } from '../ui/ui.tsx'
import type { Portfolio } from '../../wire/portfolio.ts'
import { isUnderWay } from '../../wire/job-state.ts'

const LOOK_MS = 1000

const COLUMNS: readonly Column<Portfolio>[] = [
  {
    of: 'name',
    head: 'Portfolio',
    look: 'main',
    cell: (one) => <a href={href(`/portfolios/${one.id}`)}>{one.name}</a>,
  },
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
  {
    of: 'createdAt',
    head: 'Made',
    look: 'date',
    cell: ({ createdAt }) => ago(createdAt),
    sort: ({ createdAt }) => createdAt,
  },
]

export function PortfolioList() {
  const list = useLoad(
    (signal) => call('GET /api/platform/portfolios', { query: { limit: 100 }, signal }),
    [],
  )
  useReloadWhile(list.data?.portfolios.some(isUnderWay) ?? false, list, LOOK_MS)
  return (
    <Page
      title="Portfolios"
      about="Several strategies, each on its market, that trade with the same money."
      wide
      actions={
        <Button variant="primary" icon="plus" onClick={() => navigate('/portfolios/new')}>
          New portfolio
        </Button>
      }
    >
      <Show of={list}>
        {({ portfolios }) => (
          <DataTable
            label="Portfolios"
            rows={portfolios}
            keyOf={({ id }) => id}
            columns={COLUMNS}
            empty={
              <Empty
                title="No portfolios yet"
                action={<Button onClick={() => navigate('/portfolios/new')}>New portfolio</Button>}
              >
                A portfolio shows what several strategies would have made of one account, where adding up
                their backtests counts the same capital for each of them.
              </Empty>
            }
          />
        )}
      </Show>
    </Page>
  )
}
