// One sweep: its progress, its verdict, and its trials as a map, as plots and as a table.

import { useEffect, useRef, useState } from 'preact/hooks'
import { call } from '../api-client.ts'
import { asOfText } from '../as-of.ts'
import { unsaved } from '../editor/documents.ts'
import { count, counted, factorText, marketText, percent, ratio, gain } from '../format.ts'
import { attempt, useAnswer } from '../frame/page.tsx'
import { JobPage, JobProgress } from '../jobs/job-page.tsx'
import j from '../jobs/jobs.module.css'
import { navigate } from '../router.ts'
import { openBacktest } from '../run-script.ts'
import { openDialog } from '../ui/dialogs.tsx'
import { DataTable, numbers, own, type Column } from '../ui/data-table.tsx'
import { Badge, Select, toast } from '../ui/ui.tsx'
import { bottom, script } from '../workspace.ts'
import type { Sweep, SweepTrial, Verdict } from '../../wire/sweep.ts'
import { drawdownName, trialFigure } from '../../wire/sweep-figures.ts'
import { inWords, wantedText } from './figure-words.ts'
import { HeatMap } from './heat-map.tsx'
import { Parallel, useBands } from './parallel.tsx'
import { ShareSweep } from './share-sweep.tsx'
import { heatOf, nameOf, scoreText, shownChoice, trialRun, type Choice } from './sweep-model.ts'
import s from './sweeps.module.css'
import { TrialButton } from './trial-button.tsx'
import { VerdictView, type VerdictProps } from './verdict-view.tsx'
import { downloadItem } from '../ui/buttons.tsx'
import { item } from '../ui/menu.tsx'
import { Section } from '../frame/section.tsx'

const PAGE = 1000

export function SweepPage({ id = '' }: { readonly id?: string }) {
  const path = { id }
  const sweep = useAnswer('GET /api/platform/sweeps/{id}', { path })
  const trials = useTrials(id, sweep.data?.sweep.tried ?? 0)
  const resume = async () => {
    await call('POST /api/platform/sweeps/{id}/resume', { path })
    sweep.reload()
  }
  return (
    <JobPage
      kind="sweep"
      id={id}
      loaded={sweep}
      job={sweep.data?.sweep}
      about={({ sweep: one }) => aboutOf(one)}
      actions={({ sweep: one, sweep: { state }, verdict }) => [
        (state === 'cancelled' || state === 'failed') && item('Go on', 'play', () => attempt(resume())),
        // It is shared with the values of a trial, which come after the sweep.
        verdict &&
          state === 'done' &&
          trials.length >= one.tried &&
          item('Share', 'bulb', () =>
            openDialog(<ShareSweep sweep={one} verdict={verdict} trials={trials} />),
          ),
        downloadItem('CSV', `/api/platform/sweeps/${id}/results.csv`),
      ]}
    >
      {({ sweep: one, verdict }) => <Body sweep={one} verdict={verdict} trials={trials} />}
    </JobPage>
  )
}

function aboutOf(sweep: Sweep): string {
  const { range, asOf, space, filtered } = sweep
  const sorted = filtered > 0 ? ` ${count(filtered)} sorted out by the first bars.` : ''
  return `${space.map(nameOf).join(', ')} on ${marketText(sweep)}, ${counted(range.bars, 'bar')}, ${asOfText(asOf)}. Wanted: ${wantedText(sweep)}.${sorted}`
}

/** The trials as they come: those loaded stay, and the last page is read again when there are more. */
function useTrials(id: string, tried: number): readonly SweepTrial[] {
  const [trials, setTrials] = useState<readonly SweepTrial[]>([])
  const none = { id, cursor: null as string | null, before: [] as readonly SweepTrial[] }
  const last = useRef(none)
  useEffect(() => {
    const abort = new AbortController()
    if (last.current.id !== id) last.current = none
    const read = async () => {
      for (;;) {
        const { cursor, before } = last.current
        const asked = { path: { id }, query: { limit: PAGE, cursor }, signal: abort.signal }
        const page = await call('GET /api/platform/sweeps/{id}/results', asked)
        const all = [...before, ...page.trials]
        setTrials(all)
        if (page.nextCursor === null) return
        last.current = { id, cursor: page.nextCursor, before: all }
      }
    }
    if (tried > 0) read().catch(() => undefined)
    return () => abort.abort()
  }, [id, tried])
  return trials
}

const BEST_FIRST = { by: 'score', down: true }

type BodyProps = Omit<VerdictProps, 'verdict' | 'open'> & { readonly verdict: Verdict | null }

function Body({ sweep, verdict, trials }: BodyProps) {
  const open = (trial: number) => attempt(openTrial(sweep, trials, trial))
  const brush = useBands(sweep.space.map(nameOf), trials, drawdownName(sweep))
  return (
    <div class={j.job}>
      <TrialsDone sweep={sweep} />
      {verdict && <VerdictView sweep={sweep} verdict={verdict} trials={trials} open={open} />}
      {trials.length > 0 && (
        <>
          <Map sweep={sweep} trials={trials} open={open} />
          <Parallel {...brush} trials={trials} open={open} />
          <Section class={j.section} title="Trials">
            <DataTable
              label="Trials"
              rows={brush.chosen}
              keyOf={({ trial }) => String(trial)}
              columns={columnsOf(sweep, open)}
              first={BEST_FIRST}
              page={50}
            />
          </Section>
        </>
      )}
    </div>
  )
}

function TrialsDone({ sweep }: Pick<VerdictProps, 'sweep'>) {
  const seen = sweep.tried + sweep.trying + sweep.filtered
  const began = useRef({ at: Date.now(), seen })
  const seconds = (Date.now() - began.current.at) / 1000
  const rate = seconds > 1 ? (seen - began.current.seen) / seconds : 0
  const left = rate > 0 ? Math.ceil((sweep.trials - seen) / rate) : null
  return (
    <JobProgress
      job={sweep}
      stopped={`Stopped after ${count(sweep.tried)} of ${count(sweep.trials)} trials. Go on when you like.`}
      label="Trials done"
      fraction={seen / sweep.trials}
    >
      {count(seen)} of {count(sweep.trials)} tried
      {rate > 0 && `, ${ratio(rate, rate < 10 ? 1 : 0)} a second`}
      {left !== null && `, about ${left < 100 ? `${left} s` : `${Math.ceil(left / 60)} min`} left`}
    </JobProgress>
  )
}

const OF_OTHERS = [
  ['best', 'the best'],
  ['median', 'the median'],
] as const

function Map({ sweep, trials, open }: Omit<VerdictProps, 'verdict'>) {
  const names = sweep.space.map(nameOf)
  const [across, setAcross] = useState('0')
  const [down, setDown] = useState(names.length > 1 ? '1' : '')
  const [of, setOf] = useState<'best' | 'median'>('best')
  const options = names.map((name, i) => [String(i), name] as const)
  const heat = heatOf(trials, Number(across), down === '' ? null : Number(down), of)
  const left =
    sweep.constraints.length === 0 ? 0 : trials.filter(({ score, error }) => score === null && !error).length
  return (
    <Section class={j.section} title="Map of the scores">
      {names.length > 1 && (
        <div class={s.choices}>
          <Select label="Across" value={across} options={options} onChange={setAcross} />
          <Select label="Down" value={down} options={options} onChange={setDown} />
          {names.length > 2 && (
            <Select label="Of the others" value={of} options={OF_OTHERS} onChange={setOf} />
          )}
        </div>
      )}
      <HeatMap
        heat={heat}
        across={names[Number(across)] ?? ''}
        down={down === '' ? null : (names[Number(down)] ?? '')}
        open={open}
      />
      {left > 0 && (
        <p class="muted">
          Without a score: {counted(left, 'trial')} that {left === 1 ? 'does' : 'do'} not meet{' '}
          {sweep.constraints.map(inWords).join(' and ')}.
        </p>
      )}
    </Section>
  )
}

function columnsOf(sweep: Sweep, open: (trial: number) => void): Column<SweepTrial>[] {
  const figure = (name: string, head: string, shown: (value: number | null | undefined) => string) =>
    numbers<SweepTrial>(name, head, ({ figures }) => figures[name], shown)
  const trialCell = ({ trial, error }: SweepTrial) => (
    <>
      <TrialButton trial={trial} open={open} />
      {error && (
        <span title={error.message}>
          <Badge tone="down">failed</Badge>
        </span>
      )}
    </>
  )
  const sortable = (value: Choice) => (typeof value === 'boolean' ? String(value) : value)
  return [
    own('trial', 'Trial', 'main', trialCell, { sort: ({ trial }) => trial }),
    ...sweep.space.map((varied, i) =>
      own<SweepTrial>(`choice ${i}`, nameOf(varied), 'number', ({ choices }) => shownChoice(choices[i]!), {
        sort: ({ choices }) => sortable(choices[i]!),
      }),
    ),
    own('score', 'Score', 'number', ({ score }) => scoreText(score), {
      sort: ({ score }) => score ?? -Infinity,
    }),
    figure('trades', 'Trades', count),
    figure('netProfitPct', trialFigure('Net profit', sweep), gain),
    figure('profitFactor', 'Profit factor', factorText),
    figure('maxDrawdownPct', drawdownName(sweep), percent),
    ...(sweep.windows.kind === 'holdout'
      ? [numbers<SweepTrial>('outside', 'Profit held out', ({ outside }) => outside?.['netProfitPct'], gain)]
      : []),
  ]
}

/** Runs a trial once more, stores it, and shows it with its report. */
async function openTrial(sweep: Sweep, trials: readonly SweepTrial[], number: number): Promise<void> {
  const trial = trials.find((one) => one.trial === number)
  if (!trial || sweep.source === undefined) return
  const body = trialRun(sweep, trial)
  const { id } = await call('POST /api/platform/backtests', { body })
  await openBacktest(id)
  if (script.peek().source === sweep.source) {
    script.value = { ...script.peek(), inputs: body.inputs, overrides: body.overrides }
    if (unsaved.peek()) toast('Its values are the script’s inputs now. Save the script to keep them.')
  }
  bottom.value = 'report'
  navigate('/')
}
