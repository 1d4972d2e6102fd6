// The list of scans: the script and the markets of each, and what held.

import { call } from '../api-client.ts'
import { ago, count } from '../format.ts'
import { href, navigate } from '../router.ts'
import { DataTable, type Column } from '../ui/data-table.tsx'
import { Badge, Button, Empty } from '../ui/ui.tsx'
import { Page, Show, usePages, useReloadWhile } from '../frame/page.tsx'
import type { Scan } from '../../wire/scan.ts'
import { isUnderWay } from '../../wire/job-state.ts'

const LOOK_MS = 1000

const COLUMNS: readonly Column<Scan>[] = [
  {
    of: 'name',
    head: 'Script',
    look: 'main',
    cell: (one) => <a href={href(`/scans/${one.id}`)}>{one.name}</a>,
  },
  { of: 'interval', head: 'Interval' },
  { of: 'markets', head: 'Markets', look: 'number', cell: ({ markets }) => count(markets) },
  {
    of: 'conditions',
    head: 'Holds on',
    sort: false,
    cell: (one) =>
      one.state === 'done'
        ? one.conditions.map(({ title, holds }) => `${title}: ${count(holds)}`).join(' · ')
        : (one.error?.message ?? <Badge tone="accent">{one.state}</Badge>),
  },
  {
    of: 'createdAt',
    head: 'Made',
    look: 'date',
    cell: ({ createdAt }) => ago(createdAt),
    sort: ({ createdAt }) => createdAt,
  },
]

export function ScanList() {
  const list = usePages(async (query, signal) => {
    const { scans, nextCursor } = await call('GET /api/platform/scans', { query, signal })
    return { items: scans, nextCursor }
  }, [])
  const waits = list.data?.items.some(isUnderWay) ?? false
  useReloadWhile(waits, list, LOOK_MS)
  return (
    <Page
      title="Scans"
      about="A script run over many markets, and where its conditions hold now."
      wide
      actions={
        <Button variant="primary" icon="search" onClick={() => navigate('/scans/new')}>
          Scan with the open script
        </Button>
      }
    >
      <Show of={list}>
        {({ items, onMore }) => (
          <DataTable
            label="Scans"
            rows={items}
            onMore={onMore}
            keyOf={({ id }) => id}
            columns={COLUMNS}
            empty={
              <Empty
                title="No scans yet"
                action={<Button onClick={() => navigate('/scans/new')}>Scan with the open script</Button>}
              >
                A scan shows what a script says of every market of a watchlist, or of all that have bars.
              </Empty>
            }
          />
        )}
      </Show>
    </Page>
  )
}
