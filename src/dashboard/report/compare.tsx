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
import { attempt } from '../frame/page.tsx'
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
