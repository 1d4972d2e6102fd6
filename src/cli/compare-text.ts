// `chartroom backtest … --compare EXPORT.csv`: compares the run with TradingView's list of trades, or a chart's plots with its own.

import { compareTrades, type ComparedTrade } from '../broker/compare.ts'
import { heldAgainst, untilOf } from '../broker/exported/held.ts'
import { plotsHeld } from '../broker/exported/plots.ts'
import type { Settings } from '../broker/exported/properties.ts'
import type { ExportFigure } from '../wire/export.ts'
import type { Report } from '../wire/report.ts'
import type { Track } from '../wire/track.ts'
import type { Bars } from '../market/bars.ts'
import { zoneOf } from '../market/zone.ts'
import type { ExportFile } from './export-file.ts'

/** So many lines of a kind are printed. */
const LINES_MAX = 20
const ROWS_MAX = 10

/** `agrees`: every closed trade of both lists agrees. A `timezone` of null = detect it. */
export function comparisonLines(
  { list, tester }: ExportFile,
  report: Report,
  bars: Bars,
  timezone: string | null,
): { readonly agrees: boolean; readonly lines: readonly string[] } {
  const { trades, problems, lost, unknown } = list
  const found = compareTrades(trades, report.trades, bars, {
    mintick: report.mintick,
    timezone,
    exchangeTimezone: report.timezone,
    until: tester ? untilOf(tester) : undefined,
    lost: lost.trades,
  })
  const agrees = found.exact === found.expected && found.expected === found.found
  const lines = [
    `${found.exact} of ${found.expected} trades of the export agree; the run has ${found.found}.`,
    `Times of the export: ${found.timezone}${found.timezoneDetected ? ' (detected)' : ''}.`,
    ...unknown.map((heading) => `The heading "${heading}" is not understood: its column is left out.`),
    ...(lost.rows > 0 ? [`${lost.rows} rows of the export could not be read.`] : []),
    ...problems.slice(0, ROWS_MAX).map(({ row, message }) => `  Row ${row}: ${message}`),
    ...(lost.rows > ROWS_MAX ? [`  and ${lost.rows - ROWS_MAX} more`] : []),
  ]
  const { firstDivergence: first } = found
  if (first)
    lines.push(
      `First divergence: trade ${first.n}, bar ${first.bar}, ${new Date(first.time).toISOString()}`,
      ...differenceLines(first),
    )
  const zone = zoneOf(found.timezone)
  if (tester && zone) {
    const { figures, settings } = heldAgainst(tester, report, bars, zone)
    lines.push(...figureLines(figures), ...few(settings.unknown.map((line) => `Left aside: ${line}`)))
  }
  return { agrees, lines }
}

/** `agrees`: every column that a plot is called as has its values. Nothing agrees where none is. */
export function chartLines(
  chart: string,
  tracks: readonly Track[],
  bars: Bars,
): { readonly agrees: boolean; readonly said: readonly string[] } {
  const held = plotsHeld(chart, tracks, bars)
  const left = held.unknown.map((name) => `No plot of this run is called "${name}": that column is left out.`)
  if (held.bars === 0)
    return { agrees: false, said: ['No row of the export is at the time of a bar of this run.'] }
  return {
    agrees: held.figures.length > 0 && held.figures.every(({ agrees }) => agrees),
    said: [...figureLines(held.figures), ...few(left)],
  }
}

/** What the export set, for the user to see before the report; a line each. */
export function settingsLines({ exchange, symbol, interval, range, inputs, overrides }: Settings): string[] {
  const named = Object.entries({ ...inputs, ...overrides }).map(([name, value]) => `${name} ${String(value)}`)
  const market = [symbol === null ? '' : `${exchange}:${symbol}`, interval ?? ''].filter(Boolean).join(' ')
  const all = [market, range ? `${range.from} to ${range.to}` : '', ...named].filter(Boolean)
  return all.length === 0 ? [] : [`Set from the export: ${all.join(' · ')}`]
}

function figureLines(figures: readonly ExportFigure[]): string[] {
  if (figures.length === 0) return []
  const differ = figures.filter(({ agrees }) => !agrees)
  const text = (value: number | null, isShare: boolean) =>
    value === null ? '—' : `${Number(value.toFixed(6))}${isShare ? '%' : ''}`
  return [
    `${figures.length - differ.length} of ${figures.length} figures of the export agree.`,
    ...few(
      differ.map(
        ({ name, of, isShare, expected, found }) =>
          `  ${name}${of === 'all' ? '' : `, ${of}`}: ${text(expected, isShare)} in the export, ${text(found, isShare)} here`,
      ),
    ),
  ]
}

const few = (lines: readonly string[]) =>
  lines.length > LINES_MAX ? [...lines.slice(0, LINES_MAX), `  and ${lines.length - LINES_MAX} more`] : lines

function differenceLines({ differences }: ComparedTrade): string[] {
  return differences.map(({ field, expected, found }) =>
    field === 'missing' || field === 'extra'
      ? `  ${field === 'missing' ? 'only in the export' : 'only in the run'}`
      : `  ${field}: ${expected ?? '—'} in the export, ${found ?? '—'} here`,
  )
}
