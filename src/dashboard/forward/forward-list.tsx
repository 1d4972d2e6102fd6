// All forward runs: which strategies are followed, what they hold, and what they are worth.

import { call } from '../api-client.ts'
import { count, marketText, money } from '../format.ts'
import { Page, Show, useLoad, useReloadWhile } from '../frame/page.tsx'
import { href, navigate } from '../router.ts'
import { DataTable, type Column } from '../ui/data-table.tsx'
import { Badge, Button, Empty } from '../ui/ui.tsx'
import type { ForwardRun } from '../../wire/forward-run.ts'
import { positionText } from './order-columns.tsx'

const LOOK_MS = 5000
const MOST = 50

const COLUMNS: readonly Column<ForwardRun>[] = [
  {
    of: 'name',
    head: 'Forward run',
    look: 'main',
    cell: ({ id, name }) => <a href={href(`/forward/${id}`)}>{name}</a>,
  },
  { of: 'symbol', head: 'Market', cell: marketText },
  {
    of: 'state',
    head: 'State',
    cell: ({ state, error }) => (
      <span title={error?.message}>
        <Badge tone={state === 'running' ? 'up' : state === 'failed' ? 'down' : 'accent'}>{state}</Badge>
      </span>
    ),
  },
  { of: 'bars', head: 'Bars', look: 'number', sort: ({ bars }) => bars, cell: ({ bars }) => count(bars) },
  {
    of: 'position',
    head: 'Position',
    look: 'number',
    sort: ({ position }) => position,
    cell: ({ position }) => positionText(position),
  },
  {
    of: 'equity',
    head: 'Since it began',
    look: 'number',
    sort: ({ equity, startEquity }) => equity - startEquity,
    cell: ({ equity, startEquity, currency }) => money(equity - startEquity, currency, { plus: true }),
  },
]

export function ForwardList() {
  const list = useLoad(
    (signal) => call('GET /api/platform/forward-runs', { query: { limit: MOST }, signal }),
    [],
  )
  useReloadWhile(list.data?.forwardRuns.some(({ state }) => state === 'running') ?? false, list, LOOK_MS)
  const begin = (
    <Button variant="primary" icon="plus" onClick={() => navigate('/forward/new')}>
      Follow a strategy
    </Button>
  )
  return (
    <Page
      title="Forward runs"
      about="Strategies that are followed on paper from now on, a closed bar at a time."
      actions={begin}
    >
      <Show of={list}>
        {({ forwardRuns }) => (
          <DataTable
            label="Forward runs"
            rows={forwardRuns}
            keyOf={({ id }) => id}
            columns={COLUMNS}
            empty={
              <Empty title="No strategy is followed" action={begin}>
                A backtest says what a strategy would have done. A forward run says what it does, on bars that
                nobody knew when it began.
              </Empty>
            }
          />
        )}
      </Show>
    </Page>
  )
}
