// The report's Properties view: everything its numbers depend on, and what the script logged.

import type { Report } from '../../wire/report.ts'
import { asOfText } from '../as-of.ts'
import { zone } from '../chart/chart-state.ts'
import { showsClock } from '../chart/bars.ts'
import { count, duration, money, time as timeText, intervalText } from '../format.ts'
import { rangeText } from '../ui/period.tsx'
import { Badge } from '../ui/ui.tsx'
import { lookAt } from '../workspace.ts'
import { valueText } from './value-text.ts'
import s from './report.module.css'

const LOGS_SHOWN = 200

export function Properties({ report }: { readonly report: Report }) {
  const market: Rows = [
    ['Symbol', `${report.exchange}:${report.symbol}`],
    ['Interval', intervalText(report.interval)],
    ['Range', `${rangeText(report.range, zone.value, showsClock(report.interval))} (${zone.value})`],
    ['Bars', count(report.range.bars)],
    ['Tick size', String(report.mintick)],
    ['Point value', String(report.pointvalue)],
    ['Exchange time zone', report.timezone],
    ['Initial capital', money(report.initialCapital, report.currency)],
  ]
  const made: Rows = [
    ['Script', `${report.script.title} (${report.script.kind}, version ${report.script.pineVersion})`],
    ['Rules', asOfText(report.asOf)],
    ['Engine', `${report.engine.name} ${report.engine.version}`],
    ['Compiled in', duration(report.timings.compileMs)],
    ['Ran in', duration(report.timings.runMs)],
    ['Fingerprint', report.hash],
  ]
  const declared = Object.entries(report.script.declaration).filter(
    ([name, value]) => value !== null && name !== 'title' && name !== 'shorttitle',
  )
  return (
    <div class={s.properties}>
      <Rows title="Market" rows={market} />
      <Rows title="Inputs" rows={valuesOf(Object.entries(report.inputs))} empty="The script has no inputs." />
      <Rows title="Declaration" rows={valuesOf(declared)} />
      <Rows title="Made by" rows={made} />
      <Log title="Warnings" rows={report.warnings.map((one) => ({ ...one, time: null, level: 'warning' }))} />
      <Log title="Log" rows={report.logs} />
      <Log
        title="Alerts"
        rows={report.alerts.map(({ time, message, title }) => ({
          time,
          level: 'info',
          message: message || title,
        }))}
      />
    </div>
  )
}

const valuesOf = (all: readonly (readonly [string, unknown])[]): Rows =>
  all.map(([name, value]) => [name, valueText(value)])

type Rows = readonly (readonly [string, string])[]

const Rows = ({ title, rows, empty }: { title: string; rows: Rows; empty?: string }) => (
  <section>
    <h3>{title}</h3>
    {rows.length === 0 && <p class="muted">{empty}</p>}
    <dl class={s.rows}>
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  </section>
)

interface LogRow {
  readonly time: number | null
  readonly level: string
  readonly message: string
}

function Log({ title, rows }: { readonly title: string; readonly rows: readonly LogRow[] }) {
  if (rows.length === 0) return null
  return (
    <section class={s.log}>
      <h3>
        {title}{' '}
        <span class="muted">
          {rows.length > LOGS_SHOWN && `the last ${LOGS_SHOWN} of `}
          {count(rows.length)}
        </span>
      </h3>
      <ul>
        {rows.slice(-LOGS_SHOWN).map((row, i) => (
          <li key={i}>
            {row.time !== null && (
              <button type="button" class={s.link} onClick={() => (lookAt.value = { time: row.time! })}>
                <span class="num">{timeText(row.time, zone.value, true)}</span>
              </button>
            )}
            {row.level !== 'info' && (
              <Badge tone={row.level === 'error' ? 'down' : 'warn'}>{row.level}</Badge>
            )}
            <span>{row.message}</span>
          </li>
        ))}
      </ul>
    </section>
  )
}
