// The report's Compare view: the way to other runs, and this one beside a list of trades exported from TradingView.

import { useState } from 'preact/hooks'
import { call } from '../api-client.ts'
import { zone } from '../chart/chart-state.ts'
import { showsClock } from '../chart/bars.ts'
import type { Comparison } from '../../wire/backtest.ts'
import type { Args } from '../../wire/operations.ts'
import type { Report } from '../../wire/report.ts'
import { count, time as timeText } from '../format.ts'
import { DataTable } from '../ui/data-table.tsx'
import type { WireField } from '../ui/wire-fields.ts'
import { navigate } from '../router.ts'
import { attempt, DropZone } from '../frame/page.tsx'
import { Badge, Button, Empty, Failure, Progress } from '../ui/ui.tsx'
import { keptRun, rerunWith } from '../run-script.ts'
import { lookAt, type ShownRun } from '../workspace.ts'
import type { Explanation } from '../../wire/explanation.ts'
import { WhyItDiffers } from './explanation.tsx'
import { ExportHeld, type Held } from './export-held.tsx'
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
  const [held, setHeld] = useState<Held | null>(null)
  const [file, setFile] = useState<ExportBody>({})
  const [why, setWhy] = useState<Explanation | 'looking' | null>(null)
  const compare = async (body: ExportBody, rerunsLeft = 0): Promise<void> => {
    setBusy(true)
    setProblem(null)
    setWhy(null)
    setHeld(null)
    setFile(body)
    try {
      const path = { id: (await keptRun()) ?? '' }
      const options = { path, body }
      const answer = await call('POST /api/platform/backtests/{id}/compare', {
        ...options,
        query: { explain: 'false' },
      })
      const { comparison, settings, figures } = answer
      if (rerunsLeft > 0 && settings?.differs.some((name) => !FACTS.includes(name))) {
        await rerunWith(settings.overrides, settings.bars, null, settings)
        return await compare(body, rerunsLeft - 1)
      }
      const isChart = settings === null && figures !== null
      setResult(isChart ? null : comparison)
      setHeld(figures && { settings, figures })
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
  return { busy, problem, result, held, why, compare, again: () => void compare(file) }
}

type ExportBody = NonNullable<Args<'POST /api/platform/backtests/{id}/compare'>['body']>

/** With the settings of the file, and then with as many bars as its range has of that interval. */
const RERUNS = 2
/** Of the symbol, which a run does not set. */
const FACTS: readonly string[] = ['mintick', 'pointvalue']

function WithExport({ run }: { readonly run: ShownRun }) {
  const { busy, problem, result, held, why, compare, again } = useComparison()
  const compareFile = async (file: File) => {
    const bytes = new Uint8Array(await file.arrayBuffer())
    // An archive is a workbook, whatever it is called.
    const isBook = /\.xlsx$/i.test(file.name) || (bytes[0] === 0x50 && bytes[1] === 0x4b)
    if (isBook) await compare({ xlsx: base64Of(bytes) }, RERUNS)
    else await compare({ csv: new TextDecoder().decode(bytes) })
  }
  return (
    <section>
      <h3>With TradingView</h3>
      <DropZone
        accept=".csv,.xlsx,text/csv"
        label="TradingView's list of trades, as CSV, or its report, as XLSX"
        onFiles={([file]) => file && attempt(compareFile(file))}
      >
        <strong>
          Drop the list of trades (CSV), the report (XLSX) or the chart (CSV) exported from TradingView
        </strong>
        <span>
          Every trade is laid beside this run’s; the first that differs is shown on the chart. A report also
          sets symbol, interval, inputs and properties, and has its figures compared. The plots of a chart are
          held against this run’s, bar by bar.
        </span>
      </DropZone>
      {busy && <Progress fraction={null} label="Comparing" />}
      {problem !== null && <Failure error={problem} />}
      {held && !busy && <ExportHeld {...held} />}
      {result && !busy && <Compared run={run} result={result} why={why} onRun={again} />}
    </section>
  )
}

/** In pieces, for a call takes only so many arguments. */
function base64Of(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += 0x8000)
    text += String.fromCharCode(...bytes.subarray(at, at + 0x8000))
  return btoa(text)
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
