// The report's Compare view: the way to other runs, and this one beside a list of trades exported from TradingView.

import { useState } from 'preact/hooks'
import { call } from '../api-client.ts'
import { zone } from '../chart/chart-state.ts'
import type { Market } from '../charts.ts'
import { showsClock } from '../chart/bars.ts'
import type { Comparison } from '../../wire/backtest.ts'
import type { Report } from '../../wire/report.ts'
import { count, counted, time as timeText } from '../format.ts'
import { DataTable } from '../ui/data-table.tsx'
import type { WireField } from '../ui/wire-fields.ts'
import { navigate } from '../router.ts'
import { DropZone } from '../frame/drop-zone.tsx'
import { attempt, useLoad } from '../frame/page.tsx'
import { Badge, Button, Empty, Failure, Progress } from '../ui/ui.tsx'
import { keptRun, rerunWith } from '../run-script.ts'
import { lookAt, type ShownRun } from '../workspace.ts'
import { WhyItDiffers } from './explanation.tsx'
import { Comparing, NOTHING, type Shown } from './comparing.ts'
import { ExportHeld } from './export-held.tsx'
import { FIGURES, figureName, figureText } from './figure-text.ts'
import s from './report.module.css'

export function Compare({ run }: { readonly run: ShownRun }) {
  // The page that shows runs beside each other, to which this one comes with it.
  const open = async () => navigate(`/research/compare?runs=${(await keptRun()) ?? ''}`)
  return (
    <div class={s.compare}>
      <section>
        <h3>With other runs</h3>
        <p class="muted">Their curves over one axis, their figures, and the inputs in which they differ.</p>
        <Button size="small" icon="report" onClick={() => attempt(open())}>
          Compare with other runs
        </Button>
      </section>
      <WithExport run={run} />
    </div>
  )
}

/** With the settings of the file, and then with as many bars as its range has of that interval. */
const RERUNS = 2

function useComparison() {
  const [shown, show] = useState(NOTHING)
  const [comparing] = useState(
    () =>
      new Comparing({
        ask: async (body, explain, signal) =>
          call('POST /api/platform/backtests/{id}/compare', {
            path: { id: (await keptRun()) ?? '' },
            query: { explain: explain ? 'true' : 'false' },
            body,
            signal,
          }),
        rerun: (settings) => rerunWith(settings.overrides, settings.bars, null, settings),
        lookAt: ({ time, n }) => (lookAt.value = { time, trade: n }),
        show,
      }),
  )
  return { ...shown, comparing }
}

const PLOTS_SHOWN = 6

/** The chart with plots that was imported as the run's bars, if one was: it is held against the run without its file. */
function ImportedChart({ market, onText }: { market: Market; onText: (csv: string) => Promise<void> }) {
  const ask = (query: { readonly text?: 'true' }, signal?: AbortSignal) =>
    call('GET /api/platform/bars/chart', { query: { ...market, ...query }, ...(signal && { signal }) })
  const chart = useLoad((signal) => ask({}, signal), []).data?.chart
  if (!chart) return null
  const hold = async () => {
    const { chart: whole } = await ask({ text: 'true' })
    if (whole?.text) await onText(whole.text)
  }
  return (
    <p>
      <Button size="small" icon="upload" onClick={() => attempt(hold())}>
        Hold against the chart that came with the bars
      </Button>{' '}
      <span class="muted">
        {[chart.fileName, chart.plots.slice(0, PLOTS_SHOWN).join(', ')].filter(Boolean).join(' · ')}
      </span>
    </p>
  )
}

function WithExport({ run }: { readonly run: ShownRun }) {
  const { busy, problem, result, unread, held, why, comparing } = useComparison()
  const compareFile = async (file: File) => {
    const bytes = new Uint8Array(await file.arrayBuffer())
    // An archive is a workbook, whatever it is called.
    const isBook = /\.xlsx$/i.test(file.name) || (bytes[0] === 0x50 && bytes[1] === 0x4b)
    if (isBook) await comparing.compare({ xlsx: base64Of(bytes) }, RERUNS)
    else await comparing.compare({ csv: new TextDecoder().decode(bytes) })
  }
  const { symbol, exchange, interval } = run.report
  return (
    <section>
      <h3>With TradingView</h3>
      <ImportedChart
        key={`${exchange} ${symbol} ${interval}`}
        market={{ symbol, exchange, interval }}
        onText={(csv) => comparing.compare({ csv })}
      />
      <DropZone
        accept=".csv,.xlsx,text/csv"
        label="TradingView's list of trades, as CSV, or its report, as XLSX"
        onFiles={([file]) => file && attempt(compareFile(file))}
      >
        {result || held ? (
          'Drop another export of TradingView’s'
        ) : (
          <>
            <strong>
              Drop the list of trades (CSV), the report (XLSX) or the chart (CSV) exported from TradingView
            </strong>
            <span>
              Every trade is laid beside this run’s; the first that differs is shown on the chart. A report
              also sets symbol, interval, inputs and properties, and has its figures compared. The plots of a
              chart are held against this run’s, bar by bar.
            </span>
          </>
        )}
      </DropZone>
      {busy && <Progress fraction={null} label="Comparing" />}
      {problem !== null && <Failure error={problem} />}
      {held && !busy && <ExportHeld {...held} />}
      {result && !busy && (
        <Compared run={run} result={result} unread={unread} why={why} onRun={() => void comparing.again()} />
      )}
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

/** A low drawer has no room for it below what was said of the run. */
const intoView = (verdict: HTMLElement | null) => verdict?.scrollIntoView({ block: 'center' })

interface ComparedProps extends Pick<Shown, 'unread' | 'why'> {
  readonly run: ShownRun
  readonly result: Comparison
  readonly onRun: () => void
}

function Compared({ run: { report }, result, unread, why, onRun }: ComparedProps) {
  const { exact, expected, found, unreadable, timezone, timezoneDetected, firstDivergence: first } = result
  return (
    <>
      <p ref={intoView} class={s.verdict}>
        <Badge tone={exact === expected && expected === found && unread.length === 0 ? 'up' : 'warn'}>
          {count(exact)} of {count(expected)} trades agree
        </Badge>
        <span class="muted">
          {count(found)} here · times in {timezone}
          {timezoneDetected ? ', found from the trades' : ''}
        </span>
      </p>
      <Unread trades={unreadable} rows={unread} />
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
        unreadable === 0 && (
          <Empty title="Every trade agrees">
            Entry, exit, price, size, result and signal of all of them.
          </Empty>
        )
      )}
    </>
  )
}

/** Rows that no trade came of; what is only here may be of them. */
function Unread({ trades, rows }: { trades: number; rows: readonly string[] }) {
  if (rows.length === 0) return null
  return (
    <section class={s.why} aria-label="Rows that could not be read">
      <h4>{trades === 0 ? 'Rows' : `${counted(trades, 'trade')} of the file`} could not be read</h4>
      {trades > 0 && <p>They count as not agreeing, and trades that are “Only here” may be among them.</p>}
      <ul>
        {rows.map((row) => (
          <li key={row}>{row}</li>
        ))}
      </ul>
    </section>
  )
}

type ComparedTrade = Comparison['trades'][number]
type Difference = ComparedTrade['differences'][number] & Pick<ComparedTrade, 'n'>

function DifferenceTable({ trades, report }: { trades: readonly ComparedTrade[]; report: Report }) {
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
      fixed
      class={s.columns}
      columns={({ own }) => [
        own('n', 'Trade', 'head', ({ n }) => `#${n}`),
        own('field', 'What', '', ({ field }) => WHAT[field] ?? figureName(field, FIELDS[field] ?? {})),
        own('expected', 'TradingView', 'number', (one) => text(one, one.expected)),
        own('found', 'Here', 'number', (one) => text(one, one.found)),
      ]}
    />
  )
}

const FIELDS: Readonly<Record<string, WireField>> = FIGURES.trade
const WHAT: Readonly<Record<string, string>> = {
  missing: 'Only in TradingView',
  extra: 'Only here',
} satisfies Partial<Record<Difference['field'], string>>
