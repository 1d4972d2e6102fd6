// The dialog that lists where a script sees the future or repaints, as the server finds by running it on fewer bars.

import { useEffect, useState } from 'preact/hooks'
import { call } from '../api-client.ts'
import { zone } from '../chart/chart-state.ts'
import { showsClock } from '../chart/bars.ts'
import { count, time as timeText } from '../format.ts'
import { keptRun } from '../run-script.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Badge, Failure, Progress, Said } from '../ui/ui.tsx'
import type { ShownRun } from '../workspace.ts'
import type { Repaint, RepaintFinding } from '../../wire/repaint.ts'
import s from './report.module.css'

/** The findings on the last report, so that opening the dialog again does not test it again. */
let known: { readonly hash: string; readonly result: Repaint } | null = null

export function RepaintDialog({ run: { report } }: { readonly run: ShownRun }) {
  const [result, setResult] = useState(known?.hash === report.hash ? known.result : null)
  const [error, setError] = useState<unknown>(null)
  const ask = async () => {
    setError(null)
    try {
      const id = (await keptRun()) ?? ''
      const { repaint } = await call('POST /api/platform/backtests/{id}/repaint', { path: { id } })
      known = { hash: report.hash, result: repaint }
      setResult(repaint)
    } catch (problem) {
      setError(problem)
    }
  }
  useEffect(() => {
    if (result === null) void ask()
  }, [])
  return (
    <Dialog title="Does it see the future?">
      {error !== null ? (
        <Failure error={error} onRetry={() => void ask()} />
      ) : result === null ? (
        <Progress fraction={null} label="Running it on fewer bars" />
      ) : (
        <Findings result={result} clock={showsClock(report.interval)} />
      )}
    </Dialog>
  )
}

function Findings({ result, clock }: { readonly result: Repaint; readonly clock: boolean }) {
  if (result.clean)
    return (
      <p>
        <Badge tone="up">Clean</Badge> With fewer bars, and with the last one still forming, it shows the
        same. Tested at {count(result.samples)} bars.
      </p>
    )
  return (
    <ul class={s.findings}>
      {result.findings.map((one) => (
        <li key={`${one.line} ${one.column} ${one.cause}`}>
          <Badge tone="down">{one.kind === 'lookahead' ? 'Sees the future' : 'Repaints'}</Badge>{' '}
          {one.line !== null && <span class="num">Line {one.line}: </span>}
          <code>{one.cause}</code>
          <p>
            <Said text={one.message} />
          </p>
          <p class="muted">{whereOf(one, result.samples, clock)}</p>
          <p>{one.remedy}</p>
        </li>
      ))}
    </ul>
  )
}

function whereOf({ evidence, plots, trades, samples, time }: RepaintFinding, all: number, clock: boolean) {
  if (evidence === 'text') return 'Found in the text: past bars cannot show it.'
  const what = [...(trades ? ['orders'] : []), ...plots].join(', ')
  const first = time === null ? '' : `, first on ${timeText(time, zone.value, clock)}`
  return `Differs: ${what}; on ${samples} of ${all} bars tested${first}.`
}
