// The first lines of a file as cells, without what stands above its names, and what separates them.

import { splitCsvLine } from '../../../lib/csv-rows.ts'
import { badHint, notRead } from './refusals.ts'

export interface Line {
  readonly row: number
  readonly cells: readonly string[]
}

const DELIMITERS = [',', ';', '\t', '|'] as const

export const DELIMITER_NAMES: Readonly<Record<string, string>> = {
  comma: ',',
  semicolon: ';',
  tab: '\t',
  pipe: '|',
}

/** How many lines of a sample are looked at. */
const LINES = 200

export function linesOf(text: string, delimiter: string): Line[] {
  const lines: Line[] = []
  let row = 0
  for (const line of text.replace(/^\uFEFF/, '').split(/\r\n|\n|\r/)) {
    row++
    if (line.trim() === '') continue
    // Some vendors put a link above the names.
    if (lines.length === 0 && /^"?https?:/i.test(line)) continue
    lines.push({ row, cells: splitCsvLine(line, delimiter) })
    if (lines.length === LINES) break
  }
  return lines
}

/** What stands in a cell of its own above the names, as the market or the day of the download, is none of them. */
export function withoutCaption(lines: readonly Line[]): readonly Line[] {
  const at = lines.findIndex(({ cells }) => cells.length > 1)
  return at > 0 && at < lines.length - 1 && !isData(lines[at]!.cells) ? lines.slice(at) : lines
}

/** yfinance writes `Price,Close,High,…`, `Ticker,AAPL,AAPL,…` and `Date,,,…` above its rows: one line of names of three. */
export function withoutTickers(lines: readonly Line[]): readonly Line[] {
  const [names, tickers, times, ...rows] = lines
  const isHead =
    names?.cells[0] === 'Price' &&
    tickers?.cells[0] === 'Ticker' &&
    times !== undefined &&
    times.cells.slice(1).every((cell) => cell.trim() === '')
  if (!isHead) return lines
  if (new Set(tickers.cells.slice(1)).size > 1)
    throw notRead(tickers.row, 'there are several symbols; write a file for each')
  return [{ row: times.row, cells: [times.cells[0] ?? '', ...names.cells.slice(1)] }, ...rows]
}

/** The delimiter that cuts the most lines into the same number of cells, two or more. */
export function delimiterIn(text: string): string {
  const lines = text
    .replace(/^\uFEFF/, '')
    .split(/\r\n|\n|\r/)
    .filter((line) => line.trim() !== '' && !/^"?https?:/i.test(line))
    .slice(0, LINES)
  let best: { readonly delimiter: string; readonly score: number } = { delimiter: ',', score: 0 }
  for (const delimiter of DELIMITERS) {
    const counts = new Map<number, number>()
    for (const line of lines) {
      const { length } = splitCsvLine(line, delimiter)
      counts.set(length, (counts.get(length) ?? 0) + 1)
    }
    const [most] = [...counts].sort((a, b) => b[1] - a[1] || b[0] - a[0])
    if (!most || most[0] < 2) continue
    // Lines that agree count most, then the number of cells: `1,5;2,5;3,5` has four commas and two semicolons.
    const score = (most[1] / lines.length) * 1000 + Math.min(most[0], 50) + (delimiter === ',' ? 0 : 10)
    if (score > best.score) best = { delimiter, score }
  }
  return best.delimiter
}

export function delimiterNamed(text: string): string {
  const found = DELIMITER_NAMES[text] ?? text
  if (DELIMITERS.some((one) => one === found)) return found
  throw badHint('delimiter', `must be one of ${Object.keys(DELIMITER_NAMES).join(', ')}`)
}

/** Whether a row is data rather than names: most of its cells are numbers, and one of the first is a time or an id. */
export function isData(cells: readonly string[]): boolean {
  const filled = cells.filter((cell) => cell.trim() !== '')
  const numbers = filled.filter((cell) => /^[-+]?[\d.,\s:/-]*\d[\d.,eE+-]*$/.test(cell.trim()))
  return numbers.length >= Math.max(2, filled.length / 2)
}
