// A report's numbers by name, as objectives and tables of a sweep use them: those of the summary and of equity by their own
// names (`netProfit`, `maxDrawdown`), all others behind the name of their part of the report (`equity.cagr`,
// `all.averageTrade`, `long.winRate`).

import type { Expression } from '../lib/expression.ts'
import { invalidField } from '../lib/problem.ts'
// A macro, so that what runs in a page does without the schemas.
import { figureFields } from '../wire/report.ts' with { type: 'macro' }
import type { Results } from './report/build.ts'
import { SPAN_FIGURES } from './span-figures.ts'

const { summary: SUMMARY, equity: EQUITY, column: COLUMN } = figureFields()
const NAMES: ReadonlySet<string> = new Set([
  ...SUMMARY,
  ...EQUITY,
  ...EQUITY.map((name) => `equity.${name}`),
  ...['all', 'long', 'short'].flatMap((side) => COLUMN.map((name) => `${side}.${name}`)),
])

type FigureValues = Readonly<Record<string, unknown>>

/** null if the figure has no value. */
export function figureNamed({ figures }: Pick<Results, 'figures'>, name: string): number | null {
  const [first = '', field] = name.split('.')
  const { summary, equity } = figures
  const value =
    field === undefined
      ? ((summary as FigureValues)[first] ?? (equity as unknown as FigureValues)[first])
      : (figures as unknown as Readonly<Record<string, FigureValues>>)[first]?.[field]
  return typeof value === 'number' && Number.isFinite(value) ? value : null
}

/** Throws Problem 422 for a name that is not a figure; `spans` permits only figures that a stretch of bars can have. */
export function checkFigures(
  names: readonly string[],
  path: string,
  { spans }: { readonly spans: boolean },
): void {
  const known = spans ? SPAN_NAMES : NAMES
  if (names.every((name) => known.has(name))) return
  throw invalidField(
    path,
    'unknown_figure',
    spans
      ? `With windows there are these figures: ${SPAN_FIGURES.join(', ')}.`
      : 'There is no such figure. Take one of the report: netProfit, sharpe, maxDrawdown, equity.cagr, all.averageTrade, long.winRate and so on.',
  )
}

const SPAN_NAMES: ReadonlySet<string> = new Set(SPAN_FIGURES)

/** The names in an objective and its constraints. */
export function namesOf(expressions: readonly Expression[]): string[] {
  return [...new Set(expressions.flatMap(({ names }) => names))]
}
