// `chartroom backtest … --compare EXPORT.csv`: compares the run with TradingView's list of trades.

import { compareTrades, type ComparedTrade } from '../broker/compare.ts'
import type { Report } from '../wire/report.ts'
import { parseTradeList, type ExportedTrade } from '../broker/trade-csv.ts'
import type { Bars } from '../market/bars.ts'
import { UsageError } from './command.ts'

/** `agrees`: every closed trade of both lists agrees. A `timezone` of null = detect it. */
export function comparisonLines(
  csv: string,
  report: Report,
  bars: Bars,
  timezone: string | null,
): {
  readonly agrees: boolean
  readonly lines: readonly string[]
  readonly exported: readonly ExportedTrade[]
} {
  const { trades, problems } = parseTradeList(csv)
  if (trades.length === 0)
    throw new UsageError(
      problems[0]
        ? `--compare: row ${problems[0].row}: ${problems[0].message}`
        : '--compare: no trade in it.',
    )
  const found = compareTrades(trades, report.trades, bars, {
    mintick: report.mintick,
    timezone,
    exchangeTimezone: report.timezone,
  })
  const agrees = found.exact === found.expected && found.expected === found.found
  const lines = [
    `${found.exact} of ${found.expected} trades of the export agree; the run has ${found.found}.`,
    `Times of the export: ${found.timezone}${found.timezoneDetected ? ' (detected)' : ''}.`,
    ...problems.slice(0, 10).map(({ row, message }) => `Row ${row} is no trade: ${message}`),
  ]
  const { firstDivergence: first } = found
  if (first)
    lines.push(
      `First divergence: trade ${first.n}, bar ${first.bar}, ${new Date(first.time).toISOString()}`,
      ...differenceLines(first),
    )
  return { agrees, lines, exported: trades }
}

function differenceLines({ differences }: ComparedTrade): string[] {
  return differences.map(({ field, expected, found }) =>
    field === 'missing' || field === 'extra'
      ? `  ${field === 'missing' ? 'only in the export' : 'only in the run'}`
      : `  ${field}: ${expected ?? '—'} in the export, ${found ?? '—'} here`,
  )
}
