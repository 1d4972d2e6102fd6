// The report's Compare view: this run beside another stored one, or beside a list of trades exported from TradingView.

import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { call } from '../api-client.ts'
import { zone } from '../chart/chart-state.ts'
import { showsClock } from '../chart/bars.ts'
import type { Backtest, Comparison } from '../../wire/backtest.ts'
import type { Report } from '../../wire/report.ts'
import { ago, count, time as timeText, tone, intervalText } from '../format.ts'
import { DataTable } from '../ui/data-table.tsx'
import type { WireField } from '../ui/wire-fields.ts'
import { found } from '../backtests/backtest-list.ts'
import { everyRun } from '../backtests/every-run.ts'
import { href } from '../router.ts'
import { Badge, Button, Empty, Failure, Field, Progress, Select, Skeleton } from '../ui/ui.tsx'
import { keptRun } from '../run-script.ts'
import { lookAt, type ShownRun } from '../workspace.ts'
import type { Explanation } from '../../wire/explanation.ts'
import { WhyItDiffers } from './explanation.tsx'
import { EquityChart } from './equity-chart.tsx'
import { asRead, FIGURES, figureName, figureText, type EquityFigure } from './figure-text.ts'
import { valueText } from './properties.tsx'
import s from './report.module.css'

export function Compare({ run }: { readonly run: ShownRun }) {
  return (
    <div class={s.compare}>
      <WithRun run={run} />
      <WithExport run={run} />
    </div>
  )
}

function WithRun({ run }: { readonly run: ShownRun }) {
  const [listed, setListed] = useState<readonly Backtest[] | null>(null)
  const [chosen, setChosen] = useState('')
  const [wanted, setWanted] = useState('')
  const [other, setOther] = useState<ShownRun | null>(null)
  const [problem, setProblem] = useState<unknown>(null)
  useEffect(() => {
    const abort = new AbortController()
    everyRun(abort.signal).then(
      (all) => setListed(all.filter((one) => one.state === 'done' && one.id !== run.id)),
      (error: unknown) => {
        if (!abort.signal.aborted) setProblem(error)
      },
    )
    return () => abort.abort()
  }, [run.id])
  useEffect(() => {
    setOther(null)
    const abort = new AbortController()
    if (chosen === '') return () => undefined
    const options = { path: { id: chosen }, signal: abort.signal }
    Promise.all([
      call('GET /api/platform/backtests/{id}', options),
      call('GET /api/platform/backtests/{id}/tracks', options),
    ]).then(
      ([{ backtest, result }, { tracks }]) =>
        result && setOther({ id: chosen, name: backtest.name, report: result.report, tracks }),
      (error: unknown) => {
        if (!abort.signal.aborted) setProblem(error)
      },
    )
    return () => abort.abort()
  }, [chosen])
  const shown = found(listed ?? [], wanted).filter(({ id }) => id !== chosen)
  const own = listed?.find(({ id }) => id === chosen)
  if (own) shown.unshift(own)
  return (
    <section>
      <h3>With another run</h3>
      {run.id !== null && (
        <p class="muted">
          Figure by figure with one, or{' '}
          <a href={href(`/backtests/compare?runs=${run.id}`)}>the curves of several</a>.
        </p>
      )}
      {problem ? (
        <Failure error={problem} onRetry={() => setProblem(null)} />
      ) : listed === null ? (
        <Skeleton height={32} />
      ) : listed.length === 0 ? (
        <p class="muted">This is the only run there is. Change an input and run again to have two.</p>
      ) : (
        <>
          {listed.length > SEARCHED_FROM && (
            <Field
              label="Search your runs"
              value={wanted}
              placeholder="Name, symbol or interval"
              onInput={setWanted}
              hint={`${count(shown.length)} of ${count(listed.length)}`}
            />
          )}
          <Select
            label="The other run"
            value={chosen}
            onChange={setChosen}
            options={[
              ['', shown.length === 0 ? 'No run is called that' : 'Choose a run…'],
              ...shown
                .slice(0, OFFERED_MAX)
                .map(
                  (one) =>
                    [
                      one.id,
                      `${one.name} · ${one.symbol} ${intervalText(one.interval)} · ${ago(one.createdAt)}`,
                    ] as const,
                ),
            ]}
          />
        </>
      )}
      {chosen !== '' && !other && !problem && <Skeleton height={180} />}
      {other && (
        <>
          {sameRange(run, other) && <EquityChart run={run} other={other} compactHeight />}
          <Differences run={run} other={other} />
        </>
      )}
    </section>
  )
}

/** A list that is longer has a search. */
const SEARCHED_FROM = 8
const OFFERED_MAX = 200

/** Two equity curves can share an axis only if they cover the same bars; an indicator has no curve. */
const sameRange = (a: ShownRun, b: ShownRun): boolean =>
  a.report.script.kind === 'strategy' &&
  b.report.script.kind === 'strategy' &&
  a.report.symbol === b.report.symbol &&
  a.report.interval === b.report.interval &&
  a.report.range.from === b.report.range.from &&
  a.report.range.to === b.report.range.to

interface Compared {
  readonly name: string
  readonly field: WireField
  readonly of: (report: Report) => number | null
  /** 0 if neither direction is better. */
  readonly better: 1 | 0
}

const ofAll = (key: keyof Report['all'], better: 1 | 0 = 1): Compared => ({
  name: figureName(key, FIGURES.column[key]),
  field: FIGURES.column[key],
  of: ({ all }) => all[key],
  better,
})
const ofEquity = (key: EquityFigure, better: 1 | 0 = 1): Compared => ({
  name: figureName(key, FIGURES.equity[key]),
  field: FIGURES.equity[key],
  of: ({ equity }) => equity[key],
  better,
})
const COMPARED: readonly Compared[] = [
  ofAll('netProfit'),
  { ...ofAll('netProfitPct'), name: 'Net profit, %' },
  { ...ofEquity('maxDrawdownPct'), name: 'Max drawdown' },
  ofAll('profitFactor'),
  ofAll('winRate'),
  ofAll('trades', 0),
  ofAll('averageTrade'),
  ofEquity('sharpe'),
  ofEquity('cagr'),
  ofEquity('timeInMarketPct', 0),
]

interface Side {
  readonly name: string
  readonly meaning?: string | undefined
  readonly one: string
  readonly two: string
  readonly difference: ComponentChildren
}

/** The figures of both runs, and the inputs that differ. */
function Differences({ run, other }: { readonly run: ShownRun; readonly other: ShownRun }) {
  const [a, b] = [run.report, other.report]
  const changed = [...new Set([...Object.keys(a.inputs), ...Object.keys(b.inputs)])].filter(
    (name) => JSON.stringify(a.inputs[name]) !== JSON.stringify(b.inputs[name]),
  )
  const rows: readonly Side[] = [
    ...COMPARED.map((compared) => figureRow(compared, a, b)),
    ...changed.map((name) => ({
      name: `Input ${name}`,
      one: name in a.inputs ? valueText(a.inputs[name]) : '—',
      two: name in b.inputs ? valueText(b.inputs[name]) : '—',
      difference: <Badge tone="accent">changed</Badge>,
    })),
  ]
  return (
    <DataTable
      label={`This run and ${other.name}`}
      rows={rows}
      keyOf={({ name }) => name}
      fixed
      class={s.columns}
      columns={[
        {
          of: 'name',
          head: 'Figure',
          bare: true,
          look: 'head',
          cell: ({ name }) => name,
          title: ({ meaning }) => meaning,
        },
        { of: 'one', head: 'This run', look: 'number', sort: false },
        { of: 'two', head: 'The other', look: 'number', sort: false },
        { of: 'difference', head: 'Difference', look: 'number', cell: ({ difference }) => difference },
      ]}
    />
  )
}

function figureRow({ name, field, of, better }: Compared, a: Report, b: Report): Side {
  const [one, two] = [of(a), of(b)]
  const difference = asRead(one === null || two === null ? null : one - two, field) ?? 0
  return {
    name,
    meaning: field.meaning,
    one: figureText(one, field, a),
    two: figureText(two, field, a),
    difference: (
      <span class={tone(difference * better)}>
        {Math.abs(difference) < 1e-12
          ? '='
          : `${difference > 0 ? '+' : ''}${figureText(asRead(difference, field), field, a)}`}
      </span>
    ),
  }
}

function WithExport({ run }: { readonly run: ShownRun }) {
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<unknown>(null)
  const [result, setResult] = useState<Comparison | null>(null)
  const [csv, setCsv] = useState('')
  const [why, setWhy] = useState<Explanation | 'looking' | null>(null)
  const [over, setOver] = useState(false)
  const clock = showsClock(run.report.interval)
  const compare = async (text: string) => {
    setBusy(true)
    setProblem(null)
    setWhy(null)
    setCsv(text)
    try {
      const path = { id: (await keptRun()) ?? '' }
      const options = { path, body: { csv: text } }
      const answer = await call('POST /api/platform/backtests/{id}/compare', {
        ...options,
        query: { explain: 'false' },
      })
      const { comparison } = answer
      setResult(comparison)
      setBusy(false)
      const first = comparison.firstDivergence
      if (!first) return
      lookAt.value = { time: first.time, trade: first.n }
      setWhy('looking')
      setWhy((await call('POST /api/platform/backtests/{id}/compare', options)).explanation)
    } catch (error) {
      setProblem(error)
      setWhy(null)
    } finally {
      setBusy(false)
    }
  }
  const compareFile = async (file: File | undefined) => {
    if (file) await compare(await file.text())
  }
  const first = result?.firstDivergence
  return (
    <section>
      <h3>With TradingView</h3>
      <label
        class={s.drop}
        data-over={over}
        onDragOver={(event) => {
          event.preventDefault()
          setOver(true)
        }}
        onDragLeave={() => setOver(false)}
        onDrop={(event) => {
          event.preventDefault()
          setOver(false)
          void compareFile(event.dataTransfer?.files[0])
        }}
      >
        <input
          class="visually-hidden"
          type="file"
          accept=".csv,text/csv"
          aria-label="TradingView's list of trades, as CSV"
          onChange={(event) => void compareFile((event.target as HTMLInputElement).files?.[0])}
        />
        <span>
          Drop the <b>List of trades</b> exported from TradingView here, or{' '}
          <span class={s.link}>choose the file</span>
        </span>
        <span class="muted">
          Every trade is laid beside this run’s; the first that differs is shown on the chart.
        </span>
      </label>
      {busy && <Progress fraction={null} label="Comparing" />}
      {problem !== null && <Failure error={problem} />}
      {result && !busy && (
        <>
          <p class={s.verdict}>
            <Badge
              tone={result.exact === result.expected && result.expected === result.found ? 'up' : 'warn'}
            >
              {count(result.exact)} of {count(result.expected)} trades agree
            </Badge>
            <span class="muted">
              {count(result.found)} here · times in {result.timezone}
              {result.timezoneDetected ? ', found from the trades' : ''}
            </span>
          </p>
          {first ? (
            <>
              <Button
                size="small"
                icon="eye"
                onClick={() => (lookAt.value = { time: first.time, trade: first.n })}
              >
                First difference: trade {first.n}, {timeText(first.time, zone.value, clock)}
              </Button>
              {why === 'looking' ? (
                <Progress fraction={null} label="Looking for what was set otherwise" />
              ) : (
                why && <WhyItDiffers found={why} onRun={() => void compare(csv)} />
              )}
              <DifferenceTable trades={result.trades} report={run.report} />
            </>
          ) : (
            <Empty title="Every trade agrees">
              Entry, exit, price, size, result and signal of all of them.
            </Empty>
          )}
        </>
      )}
    </section>
  )
}

type ComparedTrade = Comparison['trades'][number]
type Difference = ComparedTrade['differences'][number] & Pick<ComparedTrade, 'n'>

function DifferenceTable({
  trades,
  report,
}: {
  readonly trades: readonly ComparedTrade[]
  readonly report: Report
}) {
  const text = ({ field }: Difference, value: string | number | null): string => {
    if (value === null) return '—'
    if (field === 'missing' || field === 'extra') return timeText(Date.parse(String(value)), zone.value, true)
    const known = FIELDS[field]
    return typeof value === 'number' && known ? figureText(value, known, report) : String(value)
  }
  return (
    <DataTable
      label="Trades that differ"
      rows={trades.flatMap(({ n, differences }) => differences.map((one) => ({ ...one, n })))}
      keyOf={({ n, field }) => `${n} ${field}`}
      fixed
      class={s.columns}
      columns={[
        { of: 'n', head: 'Trade', look: 'head', sort: false, cell: ({ n }) => `#${n}` },
        {
          of: 'field',
          head: 'What',
          sort: false,
          cell: ({ field }) => WHAT[field] ?? figureName(field, FIELDS[field] ?? {}),
        },
        { of: 'expected', head: 'TradingView', look: 'number', cell: (one) => text(one, one.expected) },
        { of: 'found', head: 'Here', look: 'number', cell: (one) => text(one, one.found) },
      ]}
    />
  )
}

const FIELDS: Readonly<Record<string, WireField>> = FIGURES.trade
const WHAT: Readonly<Record<string, string>> = {
  missing: 'Only in TradingView',
  extra: 'Only here',
} satisfies Partial<Record<Difference['field'], string>>
