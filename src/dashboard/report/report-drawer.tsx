// The drawer of the report: its views, and buttons that verify it, test it for repainting and share it.

import { signal } from '@preact/signals'
import { useState } from 'preact/hooks'
import { call } from '../api-client.ts'
import { lowerBound } from '../../market/bars.ts'
import { replayOnChart, shown, zone } from '../chart/chart-state.ts'
import { isSameMarket } from '../charts.ts'
import { showsClock } from '../chart/bars.ts'
import { lazy } from '../frame/lazy.tsx'
import { attempt } from '../frame/page.tsx'
import { Segments } from '../ui/segments.tsx'
import { count, counted, duration, marketText } from '../format.ts'
import { isRepeated, keptRun, rerunWith, runScript } from '../run-script.ts'
import { Badge, Button, cx, Empty, Failure, Said, Skeleton, toast } from '../ui/ui.tsx'
import { Icon } from '../ui/icon.tsx'
import { rangeText } from '../ui/period.tsx'
import { bottom, diagnostics, run, running, runProblem, script, type ShownRun } from '../workspace.ts'
import { doubt, share } from './asked.tsx'
import { Overview } from './overview.tsx'
import type { Verification } from '../../wire/backtest.ts'
import s from './report.module.css'

const Performance = lazy(async () => (await import('./performance.tsx')).Performance)
const Properties = lazy(async () => (await import('./properties.tsx')).Properties)
const Compare = lazy(async () => (await import('./compare.tsx')).Compare)
const ReportVerdict = lazy(async () => (await import('../sweeps/report-verdict.tsx')).ReportVerdict)
const ChangedSince = lazy(async () => (await import('./changed-since.tsx')).ChangedSince)

const VIEWS = {
  overview: 'Overview',
  performance: 'Performance',
  luck: 'Luck',
  properties: 'Properties',
  compare: 'Compare',
}
const view = signal<keyof typeof VIEWS>('overview')

/** Hash of the report that the user asked to see in spite of its replay. */
const spoiled = signal('')

export function ReportDrawer() {
  const current = run.value
  if (!current) return <NoReport />
  if (replayOnChart.value?.withTrades && spoiled.value !== current.report.hash)
    return (
      <Empty
        title="A replay is on"
        action={<Button onClick={() => (spoiled.value = current.report.hash)}>Show the report anyway</Button>}
      >
        The report would give away how it ends. The Replay drawer shows what is known at the cursor.
      </Empty>
    )
  return <ReportOf run={current} />
}

function NoReport() {
  if (running.value)
    return (
      <div class={s.loading} aria-busy="true" aria-label="The script is running">
        <Skeleton width={220} height={28} />
        <Skeleton height={160} />
      </div>
    )
  if (runProblem.value) return <Failure error={runProblem.value} onRetry={() => void runScript()} />
  if (diagnostics.value.length > 0)
    return (
      <Empty
        title="The script has an error"
        action={<Button onClick={() => (bottom.value = 'script')}>Show it</Button>}
      >
        Line {diagnostics.value[0]!.line}: <Said text={diagnostics.value[0]!.message} />
      </Empty>
    )
  const empty = script.value.source.trim() === ''
  return (
    <Empty
      title="No report yet"
      action={
        empty ? (
          <Button variant="primary" onClick={() => (bottom.value = 'script')}>
            Open a script
          </Button>
        ) : (
          <Button variant="primary" icon="play" onClick={() => void runScript()}>
            Run the script
          </Button>
        )
      }
    >
      Run a strategy over the bars on the chart and see what it would have made.
    </Empty>
  )
}

function ReportOf({ run: current }: { readonly run: ShownRun }) {
  const { report, trials } = current
  return (
    <div class={s.report} aria-busy={running.value}>
      <header class={s.head}>
        <div class={s.headText}>
          <h2 title={current.name}>{current.name}</h2>
          <span class="muted">
            {marketText(report)} · {counted(report.range.bars, 'bar')},{' '}
            <span class="num">{rangeText(report.range, zone.value, showsClock(report.interval))}</span>
            <span class={s.wideOnly}> · ran in {duration(report.timings.runMs)}</span>
          </span>
          {trials && report.script.kind === 'strategy' && (
            <span class={cx('muted', s.tried)}>
              <Said text={trials.sentence} />
            </span>
          )}
        </div>
        {running.value && <Badge tone="accent">Running…</Badge>}
        <div class={s.tools}>
          <Segments
            class={s.views}
            label="View of the report"
            options={VIEWS}
            value={view.value}
            onChange={(id) => (view.value = id)}
          />
          <VerifyButton run={current} />
          <Button size="small" onClick={() => attempt(doubt())} title="Does the script see the future?">
            Repaint
          </Button>
          <Button size="small" icon="external" onClick={() => attempt(share())}>
            Share
          </Button>
        </div>
      </header>
      {current.replaced && <ChangedSince run={current} />}
      <BarsSince run={current} />
      {view.value === 'overview' && <Overview run={current} />}
      {view.value === 'performance' && <Performance run={current} />}
      {view.value === 'luck' && <ReportVerdict run={current} />}
      {view.value === 'properties' && <Properties report={report} />}
      {view.value === 'compare' && <Compare run={current} />}
    </div>
  )
}

/** A run that was opened to be read stays as it is: its plots and trades end where its bars did. */
function BarsSince({ run: { id, report } }: { readonly run: ShownRun }) {
  const { to } = report.range
  const on = shown.value
  if (to === null || !on || !isSameMarket(on.market, report) || isRepeated() || replayOnChart.value)
    return null
  const { time, length } = on.bars
  const since = length - lowerBound(time.subarray(0, length), to + 1)
  if (since <= 0) return null
  return (
    <p class={s.changedSince} role="status">
      {since === 1 ? 'One bar has' : `${count(since)} bars have`} come since: plots and trades of this run end
      before {since === 1 ? 'it' : 'them'}.{' '}
      {id !== null && (
        <Button size="small" onClick={() => attempt(rerunWith({}, null, null))}>
          Run on all bars
        </Button>
      )}
    </p>
  )
}

function tellOutcome({ equal, newFields, hash, ranOnOther, difference }: Verification): void {
  const added = newFields.length > 0 ? ` Reports have since got ${newFields.join(', ')}.` : ''
  if (equal) toast(`Run again: every number is the same.${added}`, { tone: 'up', detail: hash.slice(0, 16) })
  else if (ranOnOther)
    toast('The bars or the engine have changed since: run it again for an up-to-date report.', {
      tone: 'down',
    })
  else toast(`Run again, and it differs at ${difference ?? 'some value'}.`, { tone: 'down' })
}

const verified = signal<{ readonly hash: string; readonly result: Verification } | null>(null)

/** Runs the stored backtest again on the server and compares every number. */
function VerifyButton({ run: { report } }: { readonly run: ShownRun }) {
  const [busy, setBusy] = useState(false)
  const known = verified.value?.hash === report.hash ? verified.value.result : null
  const verify = async () => {
    const id = await keptRun()
    if (id === null)
      return toast('Only a backtest can be verified. This is part of a portfolio or a forward run.')
    const { verification } = await call('POST /api/platform/backtests/{id}/verify', { path: { id } })
    verified.value = { hash: report.hash, result: verification }
    tellOutcome(verification)
  }
  if (known?.equal)
    return (
      <Badge tone="up">
        <Icon name="check" size={12} /> Verified
      </Badge>
    )
  return (
    <Button
      size="small"
      icon="check"
      disabled={busy}
      onClick={() => {
        setBusy(true)
        attempt(verify().finally(() => setBusy(false)))
      }}
    >
      {busy ? 'Verifying…' : 'Verify'}
    </Button>
  )
}
