// The list of sweeps, with what each varied and its result.

import { call } from '../api-client.ts'
import { count, marketText } from '../format.ts'
import { JobList } from '../jobs/job-list.tsx'
import type { Column } from '../ui/data-table.tsx'
import { Badge } from '../ui/ui.tsx'
import type { Sweep } from '../../wire/sweep.ts'
import { nameOf } from './sweep-model.ts'

const LOOK_MS = 2000

const COLUMNS: readonly Column<Sweep>[] = [
  { of: 'market', head: 'Market', cell: marketText },
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
    look: 'note',
    cell: (one) => one.sentence ?? one.error?.message ?? <Badge tone="accent">{one.state}</Badge>,
  },
]

export function SweepList() {
  return (
    <JobList
      title="Sweeps"
      about="A script run with many choices of its inputs, and how much of the best is luck."
      path="/sweeps"
      load={async (query, signal) => {
        const { sweeps, nextCursor } = await call('GET /api/platform/sweeps', { query, signal })
        return { items: sweeps, nextCursor }
      }}
      event="sweep"
      lookMs={LOOK_MS}
      make={['Optimise the open script', 'tune']}
      nameHead="Script"
      columns={COLUMNS}
    >
      A sweep finds the best inputs of a script, and says whether they are more than luck.
    </JobList>
  )
}
