// How much of a report is luck: judges the run as one of all trials of its script on its market.

import { call } from '../api-client.ts'
import { keptRun } from '../run-script.ts'
import { Show, useLoad } from '../frame/page.tsx'
import { Empty } from '../ui/ui.tsx'
import { editedSubject } from '../research/subject.ts'
import { goTo } from '../research/subject-menu.ts'
import type { ShownRun } from '../workspace.ts'
import { VerdictFigures } from './verdict-figures.tsx'
import j from '../jobs/jobs.module.css'
import s from './sweeps.module.css'
import { buttons } from '../ui/buttons.tsx'
import { item } from '../ui/menu.tsx'

export function ReportVerdict({ run }: { readonly run: ShownRun }) {
  const { report } = run
  const hasTrades = report.script.kind === 'strategy' && report.all.trades > 0
  if (!hasTrades) return <Empty title="Nothing to judge">Luck is judged by trades, and there are none.</Empty>
  return <Judged key={report.hash} />
}

function Judged() {
  const judged = useLoad(async (signal) => {
    const id = await keptRun()
    if (id === null)
      throw new Error(
        'This is part of a portfolio or of a forward run. Run its script alone to see how much of it is luck.',
      )
    return call('GET /api/platform/backtests/{id}/verdict', { path: { id }, signal })
  }, [])
  return (
    <div class={s.inReport}>
      <Show of={judged}>
        {({ verdict }) => (
          <>
            <p class={j.sentence}>{verdict.sentence}</p>
            <VerdictFigures verdict={verdict} />
            <div>
              {buttons(
                [item('Optimise its inputs', 'tune', () => goTo(editedSubject(), 'optimise'))],
                'small',
              )}
            </div>
          </>
        )}
      </Show>
    </div>
  )
}
