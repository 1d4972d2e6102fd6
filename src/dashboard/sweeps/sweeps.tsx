// The list of sweeps, with what each varied and its result.

import { useEffect } from 'preact/hooks'
import { call } from '../api-client.ts'
import { ago, count } from '../format.ts'
import { onLive } from '../live.ts'
import { href, navigate } from '../router.ts'
import { DataTable, type Column } from '../ui/data-table.tsx'
import { Badge, Button, Empty } from '../ui/ui.tsx'
import { Page, Show, usePages, useReloadWhile } from '../frame/page.tsx'
import type { Sweep } from '../../wire/sweep.ts'
import { nameOf } from './sweep-model.ts'
import { isUnderWay } from '../../wire/job-state.ts'

const LOOK_MS = 2000

const COLUMNS: readonly Column<Sweep>[] = [
  {
    of: 'name',
    head: 'Script',
    look: 'main',
    cell: (one) => <a href={href(`/sweeps/${one.id}`)}>{one.name}</a>,
  },
  { of: 'market', head: 'Market', cell: (one) => `${one.exchange}:${one.symbol} ${one.interval}` },
  { of: 'space', head: 'Varied', look: 'muted', cell: ({ space }) => space.map(nameOf).join(', ') },
  {
    of: 'tried',
    head: 'Trials',
    look: 'number',
    cell: ({ tried }) => count(tried),
    sort: ({ tried }) => tried,
  },
  {
    of: 'sentence',
    head: 'Verdict',
    cell: (one) => one.sentence ?? one.error?.message ?? <Badge tone="accent">{one.state}</Badge>,
  },
  {
    of: 'createdAt',
    head: 'Made',
    look: 'date',
    cell: ({ createdAt }) => ago(createdAt),
    sort: ({ createdAt }) => createdAt,
  },
]

export function SweepList() {
  const list = usePages(async (query, signal) => {
    const { sweeps, nextCursor } = await call('GET /api/platform/sweeps', { query, signal })
    return { items: sweeps, nextCursor }
  }, [])
  useEffect(() => onLive('sweep', list.reload, list.reload), [])
  const waits = list.data?.items.some(isUnderWay) ?? false
  useReloadWhile(waits, list, LOOK_MS)
  return (
    <Page
      title="Sweeps"
      about="A script run with many choices of its inputs, and how much of the best is luck."
      wide
      actions={
        <Button variant="primary" icon="tune" onClick={() => navigate('/sweeps/new')}>
          Optimise the open script
        </Button>
      }
    >
      <Show of={list}>
        {({ items, onMore }) => (
          <DataTable
            label="Sweeps"
            rows={items}
            onMore={onMore}
            keyOf={({ id }) => id}
            columns={COLUMNS}
            empty={
              <Empty
                title="No sweeps yet"
                action={<Button onClick={() => navigate('/sweeps/new')}>Optimise the open script</Button>}
              >
                A sweep finds the best inputs of a script, and says whether they are more than luck.
              </Empty>
            }
          />
        )}
      </Show>
    </Page>
  )
}
