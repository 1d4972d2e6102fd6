// Filters and sorts a scan's rows by a condition and a name.
//
// A name is what the script calls one of its plots or conditions, or a field that every row has.

import { csvRow } from '../../lib/csv-text.ts'
import {
  ExpressionError,
  isTrue,
  parseExpression,
  type Expression,
  type Value,
} from '../../lib/expression.ts'
import { Problem } from '../../lib/problem.ts'
import { ReportSummary } from '../../wire/report.ts'
import type { ScanRow } from '../../wire/scan.ts'
import type { Scan } from './records.ts'

export interface Choosing {
  readonly where?: string | undefined
  readonly sort?: string | undefined
  readonly order?: 'asc' | 'desc' | undefined
}

type Read = (row: ScanRow) => Value

const FIGURES = Object.keys(ReportSummary.properties) as (keyof typeof ReportSummary.properties)[]
const FACTS: Readonly<Record<string, Read>> = {
  symbol: ({ symbol }) => symbol,
  exchange: ({ exchange }) => exchange,
  close: ({ close }) => close,
  change: ({ change }) => change,
  time: ({ time }) => time,
  bars: ({ bars }) => bars,
}

/** How a name reads a row; the script's own names go before the fields of every row. null = there is no such name. */
function reading({ values, conditions, kind }: Scan, name: string): Read | null {
  const value = values.indexOf(name)
  if (value >= 0) return (row) => row.values[value] ?? null
  const condition = conditions.findIndex(({ title }) => title === name)
  if (condition >= 0) return (row) => (row.error ? null : row.holds.includes(condition))
  if (Object.hasOwn(FACTS, name)) return FACTS[name]!
  // The script's names are unknown before it has run.
  if (kind === null) return () => null
  if (kind !== 'strategy') return null
  if (name === 'position') return ({ position }) => position
  const figure = FIGURES.find((one) => one === name)
  return figure ? ({ summary }) => summary?.[figure] ?? null : null
}

/** A test for rows and a comparison of them. Throws Problem 422 that lists the names there are. */
export function choosing(
  scan: Scan,
  { where, sort, order }: Choosing,
): {
  readonly holds: (row: ScanRow) => boolean
  readonly compare: ((a: ScanRow, b: ScanRow) => number) | null
} {
  const read = (name: string, path: string): Read => reading(scan, name) ?? unknown(scan, name, path)
  const compare = sort === undefined ? null : comparing(read(sort, '/sort'), order)
  if (where === undefined) return { holds: () => true, compare }
  const { names, evaluate } = parsed(where)
  const reads = new Map(names.map((name) => [name, read(name, '/where')]))
  return { holds: (row) => isTrue(evaluate((name) => reads.get(name)?.(row) ?? null)), compare }
}

function parsed(text: string): Expression {
  try {
    return parseExpression(text)
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error
    throw refused('/where', 'expression', `At character ${error.column}: ${error.message}`)
  }
}

/**
 * Texts sort from A, numbers and conditions from the greatest unless the order says otherwise; rows without a value come
 * last.
 */
function comparing(read: Read, order: Choosing['order']): (a: ScanRow, b: ScanRow) => number {
  return (a, b) => {
    const [x, y] = [read(a), read(b)]
    if (x === null || y === null) return Number(x === null) - Number(y === null)
    const isText = typeof x === 'string'
    const sign = (order ?? (isText ? 'asc' : 'desc')) === 'asc' ? 1 : -1
    if (x === y) return 0
    return x < y ? -sign : sign
  }
}

function unknown({ values, conditions, kind }: Scan, name: string, path: string): never {
  const known = [
    ...values,
    ...conditions.map(({ title }) => title),
    ...Object.keys(FACTS),
    ...(kind === 'strategy' ? ['position', ...FIGURES] : []),
  ].map((one) => (/^[\p{L}_][\p{L}\p{N}_.]*$/u.test(one) ? one : `"${one}"`))
  throw refused(path, 'unknown_name', `Nothing is called "${name}" here. There are: ${known.join(', ')}.`)
}

function refused(path: string, code: string, message: string): Problem {
  return new Problem(422, 'validation_failed', message, { fields: [{ in: 'query', path, code, message }] })
}

export function csvHead({ values, conditions, kind }: Scan): string {
  const figures = kind === 'strategy' ? ['position', ...FIGURES] : []
  return csvRow([
    'exchange',
    'symbol',
    'bars',
    'time',
    'close',
    'change',
    ...values,
    ...conditions.map(({ title }) => title),
    ...figures,
    'error',
  ])
}

export function csvLine({ conditions, values, kind }: Scan, row: ScanRow): string {
  const known = (value: number | null | undefined) => value ?? ''
  return csvRow([
    row.exchange,
    row.symbol,
    row.bars,
    row.time === null ? '' : new Date(row.time).toISOString(),
    known(row.close),
    known(row.change),
    ...values.map((_, i) => known(row.values[i])),
    ...conditions.map((_, i) => (row.error ? '' : String(row.holds.includes(i)))),
    ...(kind === 'strategy'
      ? [row.position, ...FIGURES.map((figure) => row.summary?.[figure] ?? null)].map(known)
      : []),
    row.error?.message ?? '',
  ])
}
