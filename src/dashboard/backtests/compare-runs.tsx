// Several stored runs beside each other: their equity as curves over one axis, and their figures in a table. Which runs is in
// the address, so the page can be kept and sent.

import { useComputed } from '@preact/signals'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { Backtest } from '../../wire/backtest.ts'
import type { Report } from '../../wire/report.ts'
import { ofKind } from '../../lib/of-kind.ts'
import { call } from '../api-client.ts'
import { ago, marketText, money, time, gain } from '../format.ts'
import { attempt, Page, pageStyles as p, readPages, Show, useLoad } from '../frame/page.tsx'
import { asRead, FIGURES, figureName, figureText, figureTone } from '../report/figure-text.ts'
import { scaleOf } from '../report/curve-scales.ts'
import { ScaleChoice } from '../report/scale-choice.tsx'
import { valueText } from '../report/value-text.ts'
import { navigate, query } from '../router.ts'
import { openReport } from '../open-report.ts'
import { remembered, timezone } from '../settings.ts'
import { Combobox } from '../ui/combobox.tsx'
import { actions, DataTable, own, type Column } from '../ui/data-table.tsx'
import { Button, cx, Empty, uiStyles as ui, IconButton } from '../ui/ui.tsx'
import type { WireField } from '../ui/wire-fields.ts'
import { Period } from '../ui/period.tsx'
import { differingInputs, idsOf, offered, RUNS_MAX, spanOf, toldApart, valueAt } from './compare-model.ts'
import s from './compare-runs.module.css'
import { CurvesCanvas } from './curves-canvas.tsx'

type ComparedRun = NonNullable<Awaited<ReturnType<typeof loadRun>>>

const chosenScale = remembered('compare.scale', 'percent')
/** The figures of the table: of all trades, and of equity. */
const OF_ALL = ['netProfit', 'netProfitPct', 'profitFactor', 'winRate', 'trades', 'averageTrade'] as const
const OF_EQUITY = ['maxDrawdownPct', 'sharpe', 'cagr'] as const

/** Below a run's name: what tells it from the others. */
const notesOf = (runs: readonly ComparedRun[]): ReadonlyMap<string, string> => {
  const texts = toldApart(
    runs.map(({ name, report, createdAt }) => ({
      name,
      market: marketText(report),
      inputs: report.inputs,
      made: `made ${time(createdAt, timezone.value || 'UTC', true)}`,
    })),
    valueText,
  )
  return new Map(runs.map(({ id }, i) => [id, texts[i]!]))
}

const show = (ids: readonly string[]): void =>
  navigate(`/research/compare?runs=${ids.join(',')}`, { replace: true })

export function CompareRuns() {
  const ids = useComputed(() => idsOf(query.value.get('runs'))).value
  /** All that the user keeps, the newest first. */
  const list = useLoad(async (signal) => {
    const load = (query: object) => call('GET /api/platform/backtests', { query, signal })
    return (await readPages('backtests', load, { limit: 500 })).items
  }, [])
  const { runs, lost } = useRuns(ids)
  const [hidden, setHidden] = useState<readonly string[]>([])
  const drawn = runs.filter(({ id, equity }) => equity.length > 0 && !hidden.includes(id))
  return (
    <Page
      title="Compare runs"
      about="Equity of any of your runs, over one axis of time, and their figures."
      back={['/research?kind=backtest', 'Backtests']}
    >
      <Show of={list}>{(all) => <AddRun all={all} ids={ids} />}</Show>
      {lost.length > 0 && (
        <p class="muted" role="status">
          {lost.length === 1 ? 'One run is' : `${lost.length} runs are`} not there any more, or not finished.{' '}
          <Button size="small" onClick={() => show(ids.filter((id) => !lost.includes(id)))}>
            Leave {lost.length === 1 ? 'it' : 'them'} out
          </Button>
        </p>
      )}
      {ids.length === 0 ? (
        <Empty title="No runs chosen yet">Search for the runs that you want to see together.</Empty>
      ) : (
        <>
          <Curves runs={drawn} all={runs} hidden={hidden} onHide={setHidden} />
          <DataTable
            label="Figures of the runs"
            rows={runs}
            columns={columnsOf(runs, (id) => {
              setHidden(hidden.filter((one) => one !== id))
              show(ids.filter((one) => one !== id))
            })}
          />
        </>
      )}
    </Page>
  )
}

/** The runs of the address as they come, in its order; `lost`: those that cannot be had. */
function useRuns(ids: readonly string[]) {
  const [loaded, setLoaded] = useState<Readonly<Record<string, ComparedRun | null>>>({})
  const asked = useRef(new Set<string>())
  useEffect(() => {
    for (const id of ids)
      if (!asked.current.has(id)) {
        const color = asked.current.size
        asked.current.add(id)
        loadRun(id, color % RUNS_MAX).then(
          (run) => setLoaded((before) => ({ ...before, [id]: run })),
          () => setLoaded((before) => ({ ...before, [id]: null })),
        )
      }
  }, [ids.join()])
  return {
    runs: ids.flatMap((id) => loaded[id] ?? []),
    lost: ids.filter((id) => loaded[id] === null),
  }
}

/** `color`: which of the colours is its own. */
async function loadRun(id: string, color: number) {
  const path = { id }
  const [{ backtest, result }, { tracks }] = await Promise.all([
    call('GET /api/platform/backtests/{id}', { path }),
    call('GET /api/platform/backtests/{id}/tracks', { path, query: { tracks: 'time,equity' } }),
  ])
  if (!result) return null
  return {
    id,
    name: backtest.name,
    createdAt: backtest.createdAt,
    report: result.report,
    times: ofKind(tracks, 'time')?.data ?? [],
    equity: ofKind(tracks, 'equity')?.data ?? [],
    color,
  }
}

/** How many of the runs found are listed at once. */
const OFFERED_MAX = 50

function AddRun({ all, ids }: { readonly all: readonly Backtest[]; readonly ids: readonly string[] }) {
  const [text, setText] = useState('')
  const [at, setAt] = useState(0)
  const [open, setOpen] = useState(false)
  const found = offered(all, text, ids).slice(0, OFFERED_MAX)
  const full = ids.length >= RUNS_MAX
  const add = (one: Backtest | undefined) => {
    if (!one || full) return
    show([...ids, one.id])
    setAt(0)
  }
  return (
    <div
      class={s.add}
      onFocusOut={(event) => !isWithin(event) && setOpen(false)}
      onKeyDown={(event) => event.key === 'Escape' && setOpen(false)}
    >
      <Combobox
        class={cx(ui['input'], s.search)}
        aria-label="Add a run"
        list="runs-found"
        found={open ? found.length : 0}
        at={at}
        placeholder={
          full ? `${RUNS_MAX} runs are shown, the most there can be` : 'Add a run: name, market, interval'
        }
        disabled={full}
        maxLength={200}
        value={text}
        onFocus={() => setOpen(true)}
        onMove={(next) => {
          setOpen(true)
          setAt(next)
        }}
        onText={(typed) => {
          setText(typed)
          setOpen(true)
          setAt(0)
        }}
        onEnter={() => open && add(found[at])}
      />
      {open && !full && (
        <ul id="runs-found" class={s.found} role="listbox" aria-label="Runs">
          {found.map((one, i) => (
            <li
              key={one.id}
              id={`runs-found-${i}`}
              role="option"
              aria-selected={i === at}
              onPointerMove={() => setAt(i)}
              // Before the field loses the focus, which closes the list.
              onMouseDown={(event) => {
                event.preventDefault()
                add(one)
              }}
            >
              <span>
                <strong>{one.name}</strong> <span class="muted">{marketText(one)}</span>
              </span>
              <span class="num">{gain(one.summary?.netProfitPct)}</span>
              <span class="muted">{ago(one.createdAt)}</span>
            </li>
          ))}
          {found.length === 0 && (
            <li class={s.none} role="option" aria-disabled="true" aria-selected={false}>
              {text.trim() === ''
                ? 'All runs that are done are shown.'
                : `No run is called “${text.trim()}”.`}
            </li>
          )}
        </ul>
      )}
    </div>
  )
}

const isWithin = (event: FocusEvent): boolean =>
  (event.currentTarget as Element).contains(event.relatedTarget as Node | null)

interface CurvesProps {
  readonly runs: readonly ComparedRun[]
  readonly all: readonly ComparedRun[]
  readonly hidden: readonly string[]
  readonly onHide: (ids: readonly string[]) => void
}

function Curves({ runs, all, hidden, onHide }: CurvesProps) {
  const [at, setAt] = useState<number | null>(null)
  const [lit, setLit] = useState<string | null>(null)
  const span = useMemo(() => spanOf(runs), [runs.map(({ id }) => id).join()])
  const scale = scaleOf(chosenScale.value)
  const notes = notesOf(all)
  const currencies = new Set(runs.map(({ report }) => report.currency))
  return (
    <section class={s.curves} aria-label="Equity">
      <div class={s.head}>
        <ul class={s.legend}>
          {all.map((run) => {
            const isHidden = hidden.includes(run.id)
            const value = at === null ? null : valueAt(run, at)
            const growth = value === null ? null : value / run.report.initialCapital - 1
            return (
              <li key={run.id}>
                <button
                  type="button"
                  class={s.key}
                  data-run={run.color}
                  disabled={run.equity.length === 0}
                  aria-pressed={!isHidden}
                  title={run.equity.length === 0 ? 'An indicator has no equity' : 'Show or hide the curve'}
                  onPointerEnter={() => setLit(run.id)}
                  onPointerLeave={() => setLit(null)}
                  onClick={() =>
                    onHide(isHidden ? hidden.filter((id) => id !== run.id) : [...hidden, run.id])
                  }
                >
                  <span>{run.name}</span>
                  <small>{notes.get(run.id)}</small>
                  {value !== null && (
                    <span class="num">
                      {scale === 'money' ? money(value, run.report.currency) : gain(growth)}
                    </span>
                  )}
                </button>
              </li>
            )
          })}
        </ul>
        <ScaleChoice scale={chosenScale} />
      </div>
      {span && <CurvesCanvas runs={runs} span={span} scale={scale} lit={lit} at={at} onAt={setAt} />}
      <p class={cx('muted', s.note)}>
        {at === null ? '' : time(at, 'UTC', true)}
        {at === null && scale === 'money' && currencies.size > 1
          ? `In ${[...currencies].join(', ')}, as each run has it.`
          : ''}
        {at === null && scale === 'own' ? 'Each curve fills the height: compare shapes, not amounts.' : ''}
      </p>
    </section>
  )
}

function columnsOf(
  runs: readonly ComparedRun[],
  onRemove: (id: string) => void,
): readonly Column<ComparedRun>[] {
  const [first] = runs
  const notes = notesOf(runs)
  const nameCell = (run: ComparedRun) => (
    <>
      <button
        type="button"
        class={s.open}
        data-run={run.color}
        title="Open with its chart and report"
        onClick={() => attempt(openReport(run.id))}
      >
        {run.name}
      </button>
      <span class={p['cellNote']}>{notes.get(run.id)}</span>
    </>
  )
  return [
    own('name', 'Run', 'main', nameCell, { sort: ({ name }) => name }),
    ...OF_ALL.map((of) => figureColumn(first, of, FIGURES.column[of], ({ all }) => all[of])),
    ...OF_EQUITY.map((of) => figureColumn(first, of, FIGURES.equity[of], ({ equity }) => equity[of])),
    own('range', 'Period', 'date', ({ report: { range } }) => <Period of={range} />, {
      sort: ({ report }) => report.range.from ?? 0,
    }),
    ...differingInputs(runs.map(({ report }) => report)).map((name) =>
      own<ComparedRun>(`input ${name}`, name, 'number', ({ report }) => inputText(report, name), {
        sort: ({ report }) => sortable(report.inputs[name]),
      }),
    ),
    actions('Remove', ({ id, name }) => (
      <IconButton icon="close" label={`Take ${name} out of the comparison`} onClick={() => onRemove(id)} />
    )),
  ]
}

const inputText = ({ inputs }: Report, name: string): string =>
  name in inputs ? valueText(inputs[name]) : '—'

const sortable = (value: unknown): number | string =>
  typeof value === 'number' ? value : value === undefined ? '' : valueText(value)

function figureColumn(
  first: ComparedRun | undefined,
  of: string,
  field: WireField,
  value: (report: Report) => number | null,
): Column<ComparedRun> {
  const head = of === 'netProfitPct' ? 'Net profit, %' : figureName(of, field)
  const cell = ({ id, report }: ComparedRun) => (
    <>
      {figureText(value(report), field, report, { plus: field.means === 'profit' })}
      {first && first.id !== id && differenceOf(value(first.report), value(report), field, first.report)}
    </>
  )
  return own(of, head, 'number', cell, {
    sort: ({ report }) => asRead(value(report), field) ?? undefined,
    tone: ({ report }) => figureTone(value(report), field),
  })
}

/** How far a figure is from that of the first run: as it is read, so that a deeper drawdown is less. */
function differenceOf(one: number | null, two: number | null, field: WireField, than: Report) {
  const difference = asRead(one === null || two === null ? null : two - one, field)
  if (difference === null || Math.abs(difference) < 1e-12) return null
  return (
    <small class={cx('muted', s.difference)} title="Than the first run">
      {difference > 0 ? '+' : ''}
      {figureText(asRead(difference, field), field, than)}
    </small>
  )
}
