// The list of scans: the script and the markets of each, and what held.

import { call } from '../api-client.ts'
import { count, intervalText } from '../format.ts'
import { JobList } from '../jobs/job-list.tsx'
import type { Column } from '../ui/data-table.tsx'
import { Badge } from '../ui/ui.tsx'
import type { Scan } from '../../wire/scan.ts'

const LOOK_MS = 1000

const COLUMNS: readonly Column<Scan>[] = [
  { of: 'interval', head: 'Interval', cell: ({ interval }) => intervalText(interval) },
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
]

export function ScanList() {
  return (
    <JobList
      title="Scans"
      about="A script run over many markets, and where its conditions hold now."
      path="/scans"
      load={async (query, signal) => {
        const { scans, nextCursor } = await call('GET /api/platform/scans', { query, signal })
        return { items: scans, nextCursor }
      }}
      lookMs={LOOK_MS}
      make={['Scan with the open script', 'search']}
      nameHead="Script"
      columns={COLUMNS}
    >
      A scan shows what a script says of every market of a watchlist, or of all that have bars.
    </JobList>
  )
}
