// The report's Performance view: figures of all, long and short trades side by side, and of the account as a whole. Both tables
// have a row for each figure that the wire declares.

import type { Report } from '../../wire/report.ts'
import { href } from '../router.ts'
import type { ShownRun } from '../workspace.ts'
import { DataTable, own } from '../ui/data-table.tsx'
import { cx } from '../ui/ui.tsx'
import type { WireField } from '../ui/wire-fields.ts'
import { curveFallOf } from './equity-chart.tsx'
import { CURVE_FALL, CURVE_FALL_PCT, FIGURES, figureName, figureText, figureTone } from './figure-text.ts'
import s from './report.module.css'

type FigureFields = Readonly<Record<string, WireField>>
type Figures = Readonly<Record<string, unknown>>
interface FigureRow {
  readonly key: string
  readonly field: WireField
  /** The field with the same figure as a fraction, shown in small print below it. */
  readonly share: WireField | undefined
}

const isShare = (key: string, fields: FigureFields): boolean =>
  key.endsWith('Pct') && key.slice(0, -3) in fields

function rowsOf(fields: FigureFields, besides: FigureFields = {}): readonly FigureRow[] {
  return Object.entries(fields)
    .filter(([key, { unit }]) => unit !== undefined && !isShare(key, fields) && !(key in besides))
    .map(([key, field]) => ({ key, field, share: fields[`${key}Pct`] }))
}

const BY_SIDE = rowsOf(FIGURES.column)
const WHOLE = rowsOf(FIGURES.equity, FIGURES.column).flatMap((row) =>
  row.key === 'maxDrawdown' ? [row, { key: 'curveFall', field: CURVE_FALL, share: CURVE_FALL_PCT }] : [row],
)

export function Performance({ run }: { readonly run: ShownRun }) {
  const { report } = run
  const column = (head: string, figures: Figures, more = {}) =>
    own<FigureRow>(head, head, 'number', (row) => cellOf(row, figures, report), more)
  const bySide = [
    { ...NAME, head: 'Figure', bare: true },
    column('All', report.all),
    column('Long', report.long),
    column('Short', report.short),
  ]
  const whole = [
    { ...NAME, head: 'Whole account' },
    column('Value', { ...report.equity, ...curveFallOf(run) }, { bare: true }),
  ]
  return (
    <div class={s.performance}>
      <DataTable label="Figures by side" rows={BY_SIDE} columns={bySide} {...AS_FIGURES} />
      <div>
        <DataTable label="Figures of the whole account" rows={WHOLE} columns={whole} {...AS_FIGURES} />
        <a href={href('/help/drawdown')}>How the drawdowns differ</a>
      </div>
    </div>
  )
}

const NAME = {
  of: 'name',
  look: 'head',
  cell: ({ key, field }: FigureRow) => figureName(key, field),
  title: ({ field }: FigureRow) => field.meaning,
} as const
const AS_FIGURES = { keyOf: ({ key }: FigureRow) => key, fixed: true, class: s.columns }

function cellOf({ key, field, share }: FigureRow, figures: Figures, report: Report) {
  const value = figures[key] as number | null
  return (
    <>
      <span class={figureTone(value, field)}>{figureText(value, field, report)}</span>
      {share && (
        <span class={cx('muted', s.under)}>
          {figureText(figures[`${key}Pct`] as number | null, share, report)}
        </span>
      )}
    </>
  )
}
