// TradingView's export of a chart: its columns of plots, held against those of a run, bar by bar.

import { csvRows, delimiterOf } from '../../lib/csv-rows.ts'
import { headerOf } from '../../lib/csv-rows.ts'
import { isPlot } from '../../market/files/chart-export.ts'
import { type Bars, lowerBound } from '../../market/bars.ts'
import type { ExportFigure } from '../../wire/export.ts'
import type { Track } from '../../wire/track.ts'

interface HeldPlots {
  readonly figures: readonly ExportFigure[]
  /** Columns that no plot of the run is called as. */
  readonly unknown: readonly string[]
  /** Rows at the time of a bar of the run. */
  readonly bars: number
}

interface Held {
  readonly column: number
  readonly name: string
  readonly ours: readonly (number | null)[]
  compared: number
  wrong: number
  /** Of the first bar that differs, or else of the last; `expected` is null where the file has none. */
  shown: { readonly time: number; readonly expected: number | null; readonly found: number | null } | null
}

/** What TradingView calls a plot that has no title. [measured by PyneCore, 2026-08-10] */
const UNTITLED: Readonly<Record<string, string>> = { plot: 'Plot', shape: 'Shapes', char: 'Chars' }

/** One figure a column. Two plots of one title are paired in their order. */
export function plotsHeld(csv: string, tracks: readonly Track[], { time }: Bars): HeldPlots {
  const header = headerOf(csv)
  const plots = tracks.flatMap((track) =>
    'data' in track && 'title' in track ? [{ ...track, isTaken: false }] : [],
  )
  const unknown: string[] = []
  const held = header.flatMap((name, column): Held[] => {
    if (!isPlot(name)) return []
    const plot = plots.find(({ title, kind, isTaken }) => !isTaken && (title || UNTITLED[kind]) === name)
    if (!plot) {
      unknown.push(name)
      return []
    }
    plot.isTaken = true
    return [
      { column, name, ours: plot.data as readonly (number | null)[], compared: 0, wrong: 0, shown: null },
    ]
  })
  let bars = 0
  const delimiter = delimiterOf(csv)
  for (const { row, cells } of csvRows(csv, delimiter)) {
    if (row === 1) continue
    const bar = barAt(time, cells[0] ?? '')
    if (bar === null) continue
    bars++
    for (const one of held) compare(one, time[bar]!, cells[one.column] ?? '', one.ours[bar])
  }
  return { figures: held.flatMap(figureOf), unknown, bars }
}

function compare(one: Held, time: number, text: string, ours: number | null | undefined): void {
  // A run of this process has NaN where one that was stored has null.
  const found = typeof ours === 'number' && Number.isFinite(ours) ? ours : null
  const expected = text.trim() === '' || /^nan$/i.test(text.trim()) ? null : Number(text)
  if (expected !== null && !Number.isFinite(expected)) return
  if (expected === null && found === null) return
  one.compared++
  const agrees =
    expected !== null && found !== null && Math.abs(expected - found) <= toleranceOf(text, expected)
  if (agrees && one.wrong > 0) return
  if (!agrees && one.wrong++ > 0) return
  one.shown = { time, expected, found }
}

/** Half of the last digit that is written, and the noise of sums. */
function toleranceOf(text: string, value: number): number {
  const digits = /\.(\d+)$/.exec(text.trim())?.[1]?.length ?? 0
  return Math.max(0.5000001 * 10 ** -digits, 1e-9 * Math.abs(value))
}

/** A session may open in the evening before its day, and in the west late on it. */
const BEFORE = 3 * 3_600_000
const AFTER = 21 * 3_600_000

/** The bar that a row is of; null if there is none. Charts of days and longer write dates alone. */
function barAt(time: Bars['time'], text: string): number | null {
  const isDate = /^\s*\d{4}-\d{2}-\d{2}\s*$/.test(text)
  const at = isDate ? Date.parse(text.trim()) : timeOf(text)
  if (at === null || Number.isNaN(at)) return null
  const bar = lowerBound(time, isDate ? at - BEFORE : at)
  const found = time[bar]
  return found !== undefined && (isDate ? found < at + AFTER : found === at) ? bar : null
}

/** Seconds since 1970, or ISO 8601 with its offset. */
function timeOf(text: string): number | null {
  const cell = text.trim()
  if (/^-?\d{1,11}$/.test(cell)) return Number(cell) * 1000
  const time = /^\d{4}-\d{2}-\d{2}T[\d:.]+(?:Z|[+-]\d{2}:?\d{2})$/.test(cell) ? Date.parse(cell) : Number.NaN
  return Number.isFinite(time) ? time : null
}

function figureOf({ name, compared, wrong, shown }: Held): ExportFigure[] {
  if (shown === null) return []
  const when = new Date(shown.time).toISOString().slice(0, 16).replace('T', ' ')
  const none = shown.expected === null ? ', where the file has no value' : ''
  return [
    {
      sheet: 'Plots',
      name:
        wrong === 0
          ? `${name}: all of ${compared} bars`
          : `${name}: ${wrong} of ${compared} bars differ, first ${when} UTC${none}`,
      of: 'all',
      isShare: false,
      expected: shown.expected ?? 0,
      found: shown.found,
      agrees: wrong === 0,
    },
  ]
}
