// The table of tests/FIGURES.md: a line a row of a benchmark that says what is wanted of it. A run of some benchmarks
// writes their lines and leaves the others as they were.

import type { BenchRow } from '../../tests/bench-rows.ts'

const [BEGIN, END] = ['<!-- figures of `npm run bench -- --figures` -->', '<!-- end of figures -->'] as const
const HEAD = ['what', 'measured', 'limit', 'share of it', 'wanted'] as const

/** The text with the rows in its table; null if it has no place for one. */
export function withFigures(text: string, rows: readonly BenchRow[]): string | null {
  const [from, to] = [text.indexOf(BEGIN), text.indexOf(END)]
  if (from < 0 || to < from) return null
  const lines = new Map(linesOf(text.slice(from + BEGIN.length, to)).map((line) => [line[0], line]))
  for (const row of rows) if (row.wanted !== undefined) lines.set(row.name, lineOf(row, row.wanted))
  return `${text.slice(0, from)}${BEGIN}\n\n${tableOf([...lines.values()])}\n${text.slice(to)}`
}

function linesOf(table: string): string[][] {
  const lines = table.split('\n').filter((line) => line.startsWith('|'))
  const cells = (line: string) => line.split('|').slice(1, -1)
  return lines.slice(2).map((line) => cells(line).map((cell) => cell.trim()))
}

function lineOf({ name, value, unit, limit }: BenchRow, wanted: string): string[] {
  if (limit === undefined) return [name, figure(value, unit), '', '', wanted]
  return [name, figure(value, unit), figure(limit, unit), (limit / value).toFixed(2), wanted]
}

function figure(value: number, unit: string): string {
  const digits = value < 10 ? 1 : 0
  const options = { minimumFractionDigits: digits, maximumFractionDigits: digits }
  return `${value.toLocaleString('en', options)} ${unit}`
}

function tableOf(lines: readonly (readonly string[])[]): string {
  const all = [HEAD, ...lines]
  const widths = HEAD.map((_, i) => Math.max(...all.map((line) => (line[i] ?? '').length)))
  const isText = (i: number) => i === 0 || i === HEAD.length - 1
  const padded = (line: readonly string[]) =>
    widths.map((width, i) => (isText(i) ? (line[i] ?? '').padEnd(width) : (line[i] ?? '').padStart(width)))
  const rule = widths.map((width, i) => (isText(i) ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`))
  return [padded(HEAD), rule, ...lines.map(padded)].map((cells) => `| ${cells.join(' | ')} |\n`).join('')
}
