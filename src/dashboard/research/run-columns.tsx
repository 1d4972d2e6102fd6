// The columns of the table of runs. What only backtests have is shown where they are all there is.

import type { ComponentChildren } from 'preact'
import { call } from '../api-client.ts'
import { count, factorText, percent, ratio, tone, gain } from '../format.ts'
import { attempt, pageStyles as p } from '../frame/page.tsx'
import { openReport } from '../open-report.ts'
import { href, navigate } from '../router.ts'
import { Ago } from '../ui/ago.tsx'
import { actions, own, type Column } from '../ui/data-table.tsx'
import { item, Menu, type MenuItem } from '../ui/menu.tsx'
import { Period } from '../ui/period.tsx'
import { Spark } from '../ui/spark.tsx'
import { Badge, Progress, IconButton } from '../ui/ui.tsx'
import s from './research.module.css'
import { share } from '../report/asked.tsx'
import { isGoing, KINDS, pageOf, profitText, SORTS, stopRun, type Run, type RunKind } from './runs.ts'
import { dayToRepeat } from '../../language/behaviour.ts'
import type { Backtest } from '../../wire/backtest.ts'
import type { PortfolioBody } from '../../wire/portfolio.ts'
import type { Sweep } from '../../wire/sweep.ts'
import type { Overrides } from '../workspace.ts'

interface Acts<R = Run> {
  /** `again`: the id of the run that came of it. */
  readonly onChanged: (again?: string) => void
  readonly onDelete: (run: R) => void
}

export function runColumns(kind: RunKind | 'all', acts: Acts): readonly Column<Run>[] {
  const isOf = (...some: readonly RunKind[]) => kind === 'all' || some.includes(kind)
  return [
    ...(isOf('backtest') ? [pin(acts)] : []),
    own('name', 'Name', 'main', (run) => <Title run={run} isAmong={kind === 'all'} />, {
      ...SORTS.name,
      tone: () => (kind === 'backtest' ? undefined : s.wide),
    }),
    ...(kind === 'all' ? [CURVE] : []),
    ...(isOf('backtest', 'portfolio', 'forward') ? [PROFIT] : []),
    ...(isOf('backtest', 'portfolio') ? [DRAWDOWN] : []),
    ...(isOf('backtest', 'forward') ? [TRADES] : []),
    ...(kind === 'backtest' ? FIGURES : []),
    ...(kind === 'backtest' || kind === 'sweep' ? [TRIED, PERIOD] : []),
    // Among the figures of backtests there is little room for when it was made.
    own('createdAt', 'Made', 'muted', (run) => madeCell(run, kind), {
      ...SORTS.createdAt,
      tone: () => s.oneLine,
    }),
    actions('More', (run) => <RunMenu run={run} {...acts} />),
  ]
}

const madeCell = ({ createdAt }: Run, kind: RunKind | 'all') => (
  <Ago at={createdAt} {...(kind === 'backtest' && { style: 'narrow' })} />
)

const figure = (
  of: keyof typeof SORTS,
  head: string,
  cell: (run: Run) => ComponentChildren,
  more: Pick<Column<Run>, 'tone' | 'title'> = {},
): Column<Run> => own(of, head, 'number', cell, { ...SORTS[of], ...more })

const CURVE: Column<Run> = {
  of: 'curve',
  head: 'Equity',
  bare: true,
  cell: ({ curve }) => curve && <Spark values={[1, ...curve]} baseline />,
}
const PROFIT = figure(
  'profit',
  'Net profit',
  (run) =>
    typeof run.profitPct === 'number' ? (
      <>
        {gain(run.profitPct)}
        <br />
        <span class="muted">{profitText(run)}</span>
      </>
    ) : (
      profitText(run)
    ),
  { tone: ({ profit }) => tone(profit) },
)
const DRAWDOWN = figure(
  'drawdown',
  'Max drawdown',
  ({ drawdown, kind }) =>
    typeof drawdown === 'number' && (
      <>
        {percent(-drawdown)}
        <br />
        <span class="muted">{kind === 'portfolio' ? 'curve' : 'TradingView'}</span>
      </>
    ),
)
const TRADES = figure('trades', 'Trades', ({ trades }) => typeof trades === 'number' && count(trades))
const TRIED = figure('tried', 'Tried in all', ({ tried }) => typeof tried === 'number' && count(tried))
const PERIOD = own<Run>(
  'period',
  'Period',
  'date',
  ({ range }) => range && <Period of={range} />,
  SORTS.period,
)

/** The figure of a run that has trades, otherwise a dash. */
const ofTrades = (
  of: keyof typeof SORTS,
  head: string,
  text: (summary: NonNullable<Run['summary']>) => string,
) => figure(of, head, ({ summary }) => (summary && summary.trades > 0 ? text(summary) : '—'))
const FIGURES = [
  ofTrades('wins', 'Win rate', ({ winRate }) => percent(winRate, { places: 1 })),
  ofTrades('factor', 'Profit factor', ({ profitFactor }) => factorText(profitFactor)),
  ofTrades('sharpe', 'Sharpe', ({ sharpe }) => ratio(sharpe)),
]

const pin = ({ onChanged }: Acts): Column<Run> => {
  const turn = ({ id, pinned }: Run) =>
    call('PATCH /api/platform/backtests/{id}', { path: { id }, body: { pinned: !pinned } })
  const cell = (run: Run) =>
    run.kind === 'backtest' && (
      <IconButton
        icon="star"
        class={s.pin}
        label={`Keep ${run.name} for good`}
        pressed={run.pinned ?? false}
        onClick={() => attempt(turn(run), () => onChanged())}
      />
    )
  return own('pinned', 'Star', 'pin', cell, { bare: true })
}

/** What state a run is in, in all places; nothing where it is done. */
export function RunState({ run: { kind, state } }: { readonly run: Pick<Run, 'kind' | 'state'> }) {
  if (state === 'done') return null
  if (kind === 'forward' && state === 'running') return <Badge tone="up">followed</Badge>
  const tone = state === 'failed' ? 'down' : isGoing({ state }) ? 'accent' : undefined
  return <Badge tone={tone}>{state}</Badge>
}

/** `isAmong`: the list has runs of all kinds. */
function Title({ run, isAmong }: { readonly run: Run; readonly isAmong: boolean }) {
  const page = pageOf(run)
  return (
    <>
      {page === null ? (
        <button
          type="button"
          class={p['linkButton']}
          disabled={run.state !== 'done'}
          onClick={() => attempt(openReport(run.id))}
        >
          {run.name}
        </button>
      ) : (
        <a href={href(page)}>{run.name}</a>
      )}
      <span class={p['cellNote']}>
        {isAmong && `${KINDS[run.kind].text} · `}
        {run.where} <RunState run={run} />
        {run.said !== '' && <> · {run.said}</>}
      </span>
      {run.kind !== 'forward' && isGoing(run) && (
        <Progress fraction={run.fraction ?? null} label={`How far ${run.name} is`} />
      )}
    </>
  )
}

type Listed = Pick<Run, 'kind' | 'id' | 'name' | 'state'>

interface RunMenuProps<R> extends Acts<R> {
  readonly run: R
  /** On its own page, where a button stops it. */
  readonly isOpen?: true
}

/** What can be done with a run, the same in the list and on its page. */
export function RunMenu<R extends Listed>({ run, isOpen, onChanged, onDelete }: RunMenuProps<R>) {
  const page = pageOf(run)
  const isBacktest = run.kind === 'backtest'
  const isDone = run.state === 'done'
  const stop = () => attempt(stopRun(run), () => onChanged())
  const open = () => (page === null ? attempt(openReport(run.id)) : navigate(page))
  return (
    <Menu
      label={`More for ${run.name}`}
      size="small"
      items={[
        !isOpen && item('Open', 'report', open, { disabled: isBacktest && !isDone }),
        ...ofBacktest(run).map((one) => isBacktest && { ...one, disabled: !isDone }),
        item('Run again', 'replay', () => attempt(runAgain(run), onChanged), {
          disabled: !isRepeatable(run),
        }),
        !isOpen && !isBacktest && isGoing(run) && item('Stop', 'pause', stop),
        '-',
        item(isBacktest && isGoing(run) ? 'Cancel and delete' : 'Delete', 'trash', () => onDelete(run), {
          danger: true,
        }),
      ]}
    />
  )
}

const ofBacktest = ({ id }: Pick<Run, 'id'>): readonly MenuItem[] => [
  item('Follow from now on', 'play', () => attempt(followBacktest(id))),
  item('Put in a portfolio', 'layers', () => navigate(`/research/portfolios/new?runs=${id}`)),
  item('Share…', 'external', () => attempt(openReport(id).then(share))),
]

/** A forward run begins once: what it would be again is a new one. */
const isRepeatable = ({ kind, state }: Pick<Run, 'kind' | 'state'>): boolean =>
  kind !== 'forward' && state !== 'queued' && state !== 'running'

/** What every run over one market is asked for with, as it was for a kept one. */
function askedOf(run: Backtest | Sweep) {
  const { name, exchange, symbol, interval, source = '', inputs = {}, overrides = {}, asOf } = run
  const settings = { inputs, overrides: overrides as Overrides, asOf: dayToRepeat(asOf) }
  return { name, exchange, symbol, interval, source, ...settings }
}

/** The id of what runs then. */
async function runAgain({ kind, id }: Pick<Run, 'kind' | 'id'>): Promise<string> {
  const path = { id }
  if (kind === 'scan') return (await call('POST /api/platform/scans/{id}/run', { path })).id
  if (kind === 'backtest') {
    const { backtest } = await call('GET /api/platform/backtests/{id}', { path })
    const body = { ...askedOf(backtest), bars: backtest.bars }
    return (await call('POST /api/platform/backtests', { body })).id
  }
  if (kind === 'sweep') {
    const { sweep } = await call('GET /api/platform/sweeps/{id}', { path })
    const { bars, space, where, sampler, trials, seed, objective, constraints, windows, halving } = sweep
    const search = { space, where, sampler, trials, seed, objective, constraints, windows }
    const body = { ...askedOf(sweep), bars, ...search, ...(halving && { halving }) }
    return (await call('POST /api/platform/sweeps', { body })).id
  }
  const { portfolio } = await call('GET /api/platform/portfolios/{id}', { path })
  const { name, capital, currency, parts, asOf } = portfolio
  const body = {
    name,
    asOf: dayToRepeat(asOf),
    parts: parts.map((part) => ({ source: '', ...part })) as PortfolioBody['parts'],
    ...(capital !== null && { capital }),
    ...(currency !== null && { currency }),
  }
  return (await call('POST /api/platform/portfolios', { body })).id
}

/** Shows how it goes once it has begun. */
async function followBacktest(id: string): Promise<void> {
  const { backtest } = await call('GET /api/platform/backtests/{id}', { path: { id } })
  const made = await call('POST /api/platform/forward-runs', { body: askedOf(backtest) })
  navigate(`/research/forward/${made.id}`)
}
