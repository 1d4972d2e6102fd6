// What the export tells about its bars without any run.

import { lowerBound, type Bars } from '../../market/bars.ts'
import type { Zone } from '../../market/zone.ts'
import type { ExportedTrade } from '../exported/trade-list.ts'

export interface Note {
  readonly code: string
  readonly message: string
}

type ExportedFill = ExportedTrade['entry']

const DAY = 86_400_000

export function notesOn(expected: readonly ExportedTrade[], bars: Bars, zone: Zone, slack: number): Note[] {
  const notes: Note[] = []
  const fills = expected.flatMap(({ entry, exit }) => [entry, exit])
  const times = fills.map(({ wall }) => zone.toUtc(wall))
  const first = bars.time[0] ?? NaN
  const last = bars.time[bars.length - 1] ?? NaN
  const before = times.filter((time) => time < first - DAY).length
  const after = times.filter((time) => time > last + DAY).length
  if (before > 0)
    notes.push({
      code: 'history_missing',
      message: `The export begins before your bars: ${before} of ${fills.length} fills are older than ${day(first)}. Import or fetch earlier bars, and run on them.`,
    })
  if (after > 0)
    notes.push({
      code: 'newer_bars_missing',
      message: `The export goes on behind your bars: ${after} of ${fills.length} fills are newer than ${day(last)}.`,
    })
  let missing = 0
  let outside = 0
  for (const [i, fill] of fills.entries()) {
    if (times[i]! < first || times[i]! > last + DAY) continue
    if (barAt(bars, zone, fill) < 0) missing++
    else if (barOutside(bars, zone, fill, slack) >= 0) outside++
  }
  if (missing > 0)
    notes.push({
      code: 'bars_missing',
      message: `${missing} of ${fills.length} fills are at times at which you have no bar: other hours (session), gaps in your bars, or another time zone of the chart than ${zone.name}.`,
    })
  if (outside > 0)
    notes.push({
      code: 'other_prices',
      message: `${outside} of ${fills.length} fills of the export lie outside the bar they are stamped with: its bars are others (another feed, adjusted prices), or the bar magnifier was on.`,
    })
  return notes
}

/** The bar that a fill is stamped with, or -1. */
export function barAt(bars: Bars, zone: Zone, { wall, dateOnly }: ExportedFill): number {
  const time = zone.toUtc(wall)
  const at = lowerBound(bars.time, dateOnly ? Math.floor(time / DAY) * DAY : time)
  const found = bars.time[at]
  if (found === undefined) return -1
  return dateOnly ? (found < time + DAY ? at : -1) : Math.abs(found - time) < 60_000 ? at : -1
}

/** The bar that a fill is stamped with and whose range it lies outside of, or -1. */
export function barOutside(bars: Bars, zone: Zone, fill: ExportedFill, slack: number): number {
  const bar = barAt(bars, zone, fill)
  return bar >= 0 && (fill.price > bars.high[bar]! + slack || fill.price < bars.low[bar]! - slack) ? bar : -1
}

/** The zone in which most fills of the export lie within their bars, and how many do. */
export function fitOf(fills: readonly ExportedFill[], bars: Bars, zone: Zone, slack: number): number {
  return fills.filter((fill) => barAt(bars, zone, fill) >= 0 && barOutside(bars, zone, fill, slack) < 0)
    .length
}

function day(time: number): string {
  return Number.isFinite(time) ? new Date(time).toISOString().slice(0, 10) : '—'
}
