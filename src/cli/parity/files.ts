// Reads bars and tables from CSV files, each once.

import { readFileSync } from 'node:fs'
import { csvRows, delimiterOf } from '../../lib/csv-rows.ts'
import { memo } from '../../lib/memo.ts'
import { emptyBars, type Bars } from '../../market/bars.ts'

export type ListRow = Readonly<Record<string, string>>

export function rowsOf(file: string): ListRow[] {
  const text = readFileSync(file, 'utf8').trim()
  const [head, ...rows] = csvRows(text, delimiterOf(text))
  const names = head?.cells ?? []
  return rows.map(({ cells }) =>
    Object.fromEntries(cells.slice(0, names.length).map((cell, i) => [names[i]!, cell])),
  )
}

/** Kept, since many cases run on the same bars. */
export const readBars = memo(100, (file): Bars => {
  return barsOf(
    rowsOf(file).map((row) => [
      timeOf(row['time'] ?? row['timestamp'] ?? ''),
      ...[row['open'], row['high'], row['low'], row['close'], row['volume']].map(Number),
    ]),
  )
})

/** UTC milliseconds, seconds as in TradingView's chart export, or ISO 8601. */
function timeOf(text: string): number {
  const time = Number(text)
  if (Number.isNaN(time)) return Date.parse(text)
  return Math.abs(time) < 1e11 ? time * 1000 : time
}

export function barsOf(rows: readonly (readonly number[])[]): Bars {
  const bars = emptyBars(rows.length)
  for (const [i, row] of rows.entries()) {
    bars.time[i] = row[0]!
    bars.open[i] = row[1]!
    bars.high[i] = row[2]!
    bars.low[i] = row[3]!
    bars.close[i] = row[4]!
    bars.volume[i] = row[5] ?? 0
  }
  return bars
}
