// Research: the scripts on the left, and on the right the chosen one, or all runs of all scripts.

import { lazy } from '../frame/lazy.tsx'
import { Page, pageStyles as p, attempt, Show, useAnswer } from '../frame/page.tsx'
import { visiting, user } from '../session.ts'
import { cx } from '../ui/ui.tsx'
import s from './research.module.css'
import { Runs } from './runs-table.tsx'
import { ScriptList } from './script-list.tsx'
import { call } from '../api-client.ts'
import { AddLibrary } from '../editor/add-library.tsx'
import { DataTable } from '../ui/data-table.tsx'
import { openDialog } from '../ui/dialogs.tsx'
import { rangeText } from '../ui/period.tsx'
import { rowFields } from '../ui/wire-fields.ts' with { type: 'macro' }
import { count, counted, marketText, money, percent, tone, gain } from '../format.ts'
import { SAMPLES } from '../editor/samples.ts'
import { openReport } from '../open-report.ts'
import { navigate } from '../router.ts'
import { market } from '../workspace.ts'
import { Figures } from '../jobs/figures.tsx'
import j from '../jobs/jobs.module.css'
import type { Report } from '../../wire/report.ts'
import { buttons } from '../ui/buttons.tsx'
import { item } from '../ui/menu.tsx'
import { Section } from '../frame/section.tsx'

const ScriptPlace = lazy(async () => (await import('./script-place.tsx')).ScriptPlace)

export const Research = ({ script, tab = 'code' }: { readonly script?: string; readonly tab?: string }) => (
  <div class={cx(s.place, visiting() && s.alone)}>
    {!visiting() && <ScriptList chosen={script} />}
    {script === undefined ? <AllRuns /> : <ScriptPlace key={script} id={script} tab={tab} />}
  </div>
)

const AllRuns = () => (
  <Page
    title="Research"
    about="Everything that was run, the newest first. Backtests are kept until newer ones need their place; a star keeps one for good."
  >
    <Runs empty={<FirstRun />} />
    {(user.value?.role === 'owner' || user.value?.role === 'admin') && <WantedLibraries />}
  </Page>
)

const FIELDS = rowFields('GET /api/platform/scripts/libraries/wanted', 'libraries')

/** Libraries that scripts on this server import and that are missing here; shown to the owner and admins. */
function WantedLibraries() {
  const wanted = useAnswer('GET /api/platform/scripts/libraries/wanted', {}, 'libraries')
  const libraries = wanted.data ?? []
  const add = (path: string) => openDialog(<AddLibrary path={path} />, wanted.reload)
  if (libraries.length === 0) return null
  return (
    <Section class={p['section']} title="Libraries that scripts miss">
      <p class="muted">
        Asked for by scripts of everybody on this server. A library is added by each for themselves.
      </p>
      <DataTable
        label="Libraries that scripts miss"
        rows={libraries}
        wire={FIELDS}
        keyOf={({ path }) => path}
        columns={({ actions }) => [
          { of: 'path', head: 'Library', look: 'main' },
          { of: 'users', head: 'Users' },
          { of: 'asked', head: 'Times asked' },
          { of: 'lastAt', head: 'Last asked' },
          actions('More', ({ path }) => buttons([item('Add', '', () => add(path))], 'small')),
        ]}
      />
    </Section>
  )
}

function FirstRun() {
  const sample = SAMPLES[0]!
  const body = { name: sample.name, ...market.value, bars: 20_000, source: sample.source, inputs: {} }
  const run = useAnswer('POST /api/platform/backtests/preview', { body })
  const keep = async () => openReport((await call('POST /api/platform/backtests', { body })).id)
  return (
    <div class={j.job}>
      <section class={p['section']}>
        <h2>An example: {sample.name}</h2>
        <p>{sample.about}</p>
        <Show of={run}>{({ result: { report } }) => <ResultOf report={report} />}</Show>
        <div class={p['actions']} style={{ marginTop: '16px' }}>
          {buttons([
            item('Keep this run and open its report', 'report', () => attempt(keep()), {
              primary: true,
              disabled: run.data === null,
            }),
            item('Its code', 'code', () => navigate(`/research/sample:${encodeURIComponent(sample.name)}`)),
          ])}
        </div>
      </section>
    </div>
  )
}

function ResultOf({ report }: { report: Report }) {
  const { summary, range, currency } = report
  const netProfit = money(summary.netProfit, currency, { plus: true })
  return (
    <>
      <p class="muted">
        {marketText(report)} · {counted(range.bars, 'bar')}, {rangeText(range)}
      </p>
      <Figures
        of={[
          ['Net profit', gain(summary.netProfitPct), netProfit, tone(summary.netProfit)],
          ['Max drawdown (TradingView)', percent(-Math.abs(summary.maxDrawdownPct))],
          ['Trades', count(summary.trades)],
        ]}
      />
    </>
  )
}
