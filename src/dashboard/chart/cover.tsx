// What lies over the chart: while it has no bars to show, after a run that failed, and at a trade under the pointer.

import { Fragment } from 'preact'
import { ApiError } from '../api-client.ts'
import { counted, exitName, money, percent, price, quantity, time as timeText, gain } from '../format.ts'
import { lazy } from '../frame/lazy.tsx'
import { runScript } from '../run-script.ts'
import { Button, cx, Failure, Said, IconButton } from '../ui/ui.tsx'
import { run, runProblem } from '../workspace.ts'
import { showsClock } from './bars.ts'
import type { Cell } from './cell.ts'
import { cutOf } from './cell-scene.ts'
import { isActive, replayOnChart } from './chart-state.ts'
import s from './chart.module.css'

const NoBars = lazy(async () => (await import('./fetch-symbol.tsx')).NoBars)

/** What covers the chart while it has no bars to show. */
export function Cover({ cell }: { readonly cell: Cell }) {
  const problem = cell.problem.value
  const replay = replayOnChart.value
  const isHidden = replay !== null && !isActive(cell) && (replay.blind || cutOf(cell) === -1)
  if (cell.shown.value && !problem && !isHidden) return null
  return (
    <div class={s.cover} aria-busy={!problem && !isHidden ? true : undefined}>
      {problem instanceof ApiError && problem.status === 404 ? (
        <NoBars cell={cell} about={problem.message} />
      ) : problem ? (
        <Failure error={problem} onRetry={() => (cell.market.value = { ...cell.market.value })} />
      ) : (
        <span class="muted">{isHidden ? 'Hidden during this replay' : 'Loading bars…'}</span>
      )}
    </div>
  )
}

export function RunProblem() {
  const problem = runProblem.value
  if (!problem) return null
  const id = problem instanceof ApiError ? problem.requestId : ''
  return (
    <div class={s.runProblem} role="alert">
      <span>
        <Said text={problem.message} />
      </span>
      {id && <code class="muted">{id}</code>}
      <Button size="small" onClick={() => void runScript()}>
        Run again
      </Button>
      <IconButton icon="close" label="Dismiss" onClick={() => (runProblem.value = null)} />
    </div>
  )
}

export function TradeTooltip({ cell }: { readonly cell: Cell }) {
  const now = cell.hover.value
  const trade = now?.trade
  const report = run.value?.report
  if (!now || !trade || !report) return null
  const clock = showsClock(report.interval)
  const box = cell.paneBoxes.value[0]
  const right = now.x > (box?.width ?? 800) - 260
  const at = (of: number, when: number) =>
    [price(of, report.mintick), timeText(when, cell.zone.value, clock)] as const
  const exit = trade.status === 'open' ? 'Still open' : exitName(trade)
  const facts = [
    [trade.entryComment || trade.entryId, ...at(trade.entryPrice, trade.entryTime)],
    [exit, ...at(trade.exitPrice, trade.exitTime)],
    ['Result', gain(trade.profitPct), `in ${counted(trade.bars, 'bar')}`],
  ] as const
  return (
    <div
      class={s.tooltip}
      style={{ left: `${right ? now.x - 252 : now.x + 16}px`, top: `${Math.max(8, now.y - 60)}px` }}
      aria-hidden="true"
    >
      <div class={s.tooltipHead}>
        <span>
          #{trade.n} {trade.side === 'long' ? 'Long' : 'Short'} {quantity(trade.qty)}
        </span>
        <span class={cx('num', trade.profit >= 0 ? 'up' : 'down')}>
          {money(trade.profit, report.currency, { plus: true })}
        </span>
      </div>
      <dl class={s.tooltipList}>
        {facts.map(([name, value, note]) => (
          <Fragment key={name}>
            <dt>{name}</dt>
            <dd class="num">
              {value}
              <span class="muted"> {note}</span>
            </dd>
          </Fragment>
        ))}
        <dt>Best, worst</dt>
        <dd class="num">
          {gain(trade.runupPct)} <span class="muted">/</span> {percent(trade.drawdownPct)}
        </dd>
      </dl>
    </div>
  )
}
