// What the XLSX of TradingView's strategy tester set on the run, and its figures beside the report's.

import type { ExportFigure, ExportSettings } from '../../wire/export.ts'
import { count } from '../format.ts'
import { DataTable } from '../ui/data-table.tsx'
import { Badge } from '../ui/ui.tsx'
import { valueText } from './value-text.ts'
import s from './report.module.css'

export interface Held {
  /** null of a chart, which has plots alone. */
  readonly settings: ExportSettings | null
  readonly figures: readonly ExportFigure[]
}

const SIDE_WORDS: Readonly<Record<ExportFigure['of'], string>> = { all: '', long: ', long', short: ', short' }
const rounded = (value: number | null, isShare: boolean) =>
  value === null ? '—' : `${value.toLocaleString('en', { maximumFractionDigits: 4 })}${isShare ? '%' : ''}`

export function ExportHeld({ settings, figures }: Held) {
  const set = settings ? settingsText(settings) : []
  const differ = figures.filter(({ agrees }) => !agrees)
  return (
    <section aria-label="What the file says of the run">
      {set.length > 0 && <p class="muted">Set from the file: {set.join(' · ')}</p>}
      {figures.length > 0 && (
        <p class={s.verdict}>
          <Badge tone={differ.length === 0 ? 'up' : 'warn'}>
            {count(figures.length - differ.length)} of {count(figures.length)} figures agree
          </Badge>
        </p>
      )}
      {differ.length > 0 && (
        <DataTable
          label="Figures that differ"
          rows={differ}
          fixed
          class={s.columns}
          columns={({ own }) => [
            own('name', 'Figure', 'head', (one) => one.name + SIDE_WORDS[one.of]),
            own('expected', 'TradingView', 'number', ({ expected, isShare }) => rounded(expected, isShare)),
            own('found', 'Here', 'number', ({ found, isShare }) => rounded(found, isShare)),
            own('agrees', 'Difference', 'number', ({ expected, found, isShare }) =>
              rounded(found === null ? null : found - expected, isShare),
            ),
          ]}
        />
      )}
      {settings !== null && settings.unknown.length > 0 && (
        <details>
          <summary>What was left aside of the file: {count(settings.unknown.length)}</summary>
          <ul>
            {settings.unknown.map((line) => (
              <li key={line}>{line}</li>
            ))}
          </ul>
        </details>
      )}
    </section>
  )
}

function settingsText({ exchange, symbol, interval, range, inputs, overrides }: ExportSettings): string[] {
  return [
    ...(symbol === null ? [] : [`${exchange}:${symbol}`]),
    ...(interval === null ? [] : [interval]),
    ...(range === null ? [] : [`${range.from} to ${range.to}`]),
    ...Object.entries({ ...inputs, ...overrides }).map(([name, value]) => `${name} ${valueText(value)}`),
  ]
}
