// The report's Compare view: the way to other runs, and this one beside a list of trades exported from TradingView.

import { useState } from 'preact/hooks'
import { call } from '../api-client.ts'
import { zone } from '../chart/chart-state.ts'
import { showsClock } from '../chart/bars.ts'
import type { Comparison } from '../../wire/backtest.ts'
import type { Report } from '../../wire/report.ts'
import { count, time as timeText, tone } from '../format.ts'
import { DataTable } from '../ui/data-table.tsx'
import type { WireField } from '../ui/wire-fields.ts'
import { navigate } from '../router.ts'
import { attempt, DropZone } from '../frame/page.tsx'
import { Badge, Button, Empty, Failure, Progress } from '../ui/ui.tsx'
import { keptRun } from '../run-script.ts'
import { lookAt, type ShownRun } from '../workspace.ts'
import type { Explanation } from '../../wire/explanation.ts'
import { WhyItDiffers } from './explanation.tsx'
import { FIGURES, figureName, figureText } from './figure-text.ts'
import s from './report.module.css'

export function Compare({ run }: { readonly run: ShownRun }) {
  return (
    <div class={s.compare}>
      <WithRuns />
      <WithExport run={run} />
    </div>
  )
}

/** The page that shows runs beside each other, to which this one comes with it. */
function WithRuns() {
  const open = async () => navigate(`/research/compare?runs=${(await keptRun()) ?? ''}`)
  return (
    <section>
      <h3>With other runs</h3>
      <p class="muted">Their curves over one axis, their figures, and the inputs in which they differ.</p>
      <Button size="small" icon="report" onClick={() => attempt(open())}>
        Compare with other runs
      </Button>
    </section>
  )
}

/** Laying an exported list beside the run, and then looking for what was set otherwise. */
function useComparison() {
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<unknown>(null)
  const [result, setResult] = useState<Comparison | null>(null)
  const [csv, setCsv] = useState('')
  const [why, setWhy] = useState<Explanation | 'looking' | null>(null)
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
  return { busy, problem, result, why, compare, again: () => void compare(csv) }
}

function WithExport({ run }: { readonly run: ShownRun }) {
  const { busy, problem, result, why, compare, again } = useComparison()
  return (
    <section>
      <h3>With TradingView</h3>
      <DropZone
        accept=".csv,text/csv"
        label="TradingView's list of trades, as CSV"
        onFiles={([file]) => attempt((file?.text() ?? Promise.resolve('')).then(compare))}
      >
        <strong>Drop the list of trades exported from TradingView here</strong>
        <span>Every trade is laid beside this run’s; the first that differs is shown on the chart.</span>
      </DropZone>
      {busy && <Progress fraction={null} label="Comparing" />}
      {problem !== null && <Failure error={problem} />}
      {result && !busy && <Compared run={run} result={result} why={why} onRun={again} />}
    </section>
  )
}

interface ComparedProps {
  readonly run: ShownRun
  readonly result: Comparison
  readonly why: Explanation | 'looking' | null
  readonly onRun: () => void
}

function Compared({ run: { report }, result, why, onRun }: ComparedProps) {
  const { exact, expected, found, timezone, timezoneDetected, firstDivergence: first } = result
  return (
    <>
      <p class={s.verdict}>
        <Badge tone={exact === expected && expected === found ? 'up' : 'warn'}>
          {count(exact)} of {count(expected)} trades agree
        </Badge>
        <span class="muted">
          {count(found)} here · times in {timezone}
          {timezoneDetected ? ', found from the trades' : ''}
        </span>
      </p>
      {first ? (
        <>
          <Button
            size="small"
            icon="eye"
            onClick={() => (lookAt.value = { time: first.time, trade: first.n })}
          >
            First difference: trade {first.n}, {timeText(first.time, zone.value, showsClock(report.interval))}
          </Button>
          {why === 'looking' ? (
            <Progress fraction={null} label="Looking for what was set otherwise" />
          ) : (
            why && <WhyItDiffers found={why} onRun={onRun} />
          )}
          <DifferenceTable trades={result.trades} report={report} />
        </>
      ) : (
        <Empty title="Every trade agrees">Entry, exit, price, size, result and signal of all of them.</Empty>
      )}
    </>
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
