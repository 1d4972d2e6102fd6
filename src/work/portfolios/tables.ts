// A portfolio's result as CSV: its equity, and what each part did.

import { csvRow } from '../../lib/csv-text.ts'
import { MONEY_FIGURES } from '../../broker/portfolio-figures.ts'
import type { PortfolioResult } from '../../wire/portfolio.ts'
import type { Portfolio } from './records.ts'

export function equityCsv({ parts }: Pick<Portfolio, 'parts'>, { curve }: PortfolioResult): string {
  const head = ['time', 'equity', ...parts.map(({ name }, i) => `${i + 1} ${name}`)]
  const rows = curve.time.map((time, at) => [
    new Date(time).toISOString(),
    curve.equity[at]!,
    ...curve.parts.map((earned) => earned[at]!),
  ])
  return csvOf([head, ...rows])
}

const FIGURES = [...MONEY_FIGURES, 'maxDrawdown'] as const
const SHARES = ['contribution', 'risk', 'correlation'] as const

export function partsCsv(
  { parts }: Pick<Portfolio, 'parts'>,
  { whole, parts: found }: PortfolioResult,
): string {
  const known = (value: number | null) => value ?? ''
  return csvOf([
    ['part', 'name', 'exchange', 'symbol', 'interval', 'priority', ...FIGURES, ...SHARES],
    ...parts.map(({ name, exchange, symbol, interval, priority }, i) => [
      i + 1,
      name,
      exchange,
      symbol,
      interval,
      priority,
      ...FIGURES.map((figure) => known(found[i]![figure])),
      ...SHARES.map((share) => known(found[i]![share])),
    ]),
    ['all', '', '', '', '', '', ...FIGURES.map((figure) => known(whole[figure])), 1, 1, ''],
  ])
}

const csvOf = (rows: readonly (readonly (string | number)[])[]) => `${rows.map(csvRow).join('\n')}\n`
