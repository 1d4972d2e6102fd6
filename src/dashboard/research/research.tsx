// Research: the scripts on the left, and on the right the chosen one, or all runs of all scripts.

import { lazy } from '../frame/lazy.tsx'
import { Page } from '../frame/page.tsx'
import { visiting } from '../session.ts'
import { cx } from '../ui/ui.tsx'
import { FirstRun } from './first-run.tsx'
import s from './research.module.css'
import { Runs } from './runs-table.tsx'
import { ScriptList } from './script-list.tsx'
import { WantedLibraries } from './wanted-libraries.tsx'

const ScriptPlace = lazy(async () => (await import('./script-place.tsx')).ScriptPlace)

export function Research({ script, tab = 'code' }: { readonly script?: string; readonly tab?: string }) {
  return (
    <div class={cx(s.place, visiting() && s.alone)}>
      {!visiting() && <ScriptList chosen={script} />}
      {script === undefined ? <AllRuns /> : <ScriptPlace key={script} id={script} tab={tab} />}
    </div>
  )
}

function AllRuns() {
  return (
    <Page
      title="Research"
      about="Everything that was run, the newest first. Backtests are kept until newer ones need their place; a star keeps one for good."
    >
      <Runs empty={<FirstRun />} />
      <WantedLibraries />
    </Page>
  )
}
