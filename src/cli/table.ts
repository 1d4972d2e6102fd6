// Text tables and numbers for people at a terminal.

import { zoneOf } from '../market/zone.ts'
import { PLAIN, type Ink } from './ink.ts'

/** A column of numbers, by its title; one of texts is its title alone. */
export const right = (title: string) => ({ right: title }) as const
export type TextColumn = string | ReturnType<typeof right>

/** Lines of an aligned table, titles first. Two spaces between columns, none behind the last one. Cells may be coloured. */
export function tableLines(
  columns: readonly TextColumn[],
  rows: readonly (readonly string[])[],
  { faint }: Ink = PLAIN,
): string[] {
  const cells = [columns.map((column) => faint(typeof column === 'string' ? column : column.right)), ...rows]
  const widths = columns.map((_, i) => Math.max(...cells.map((row) => Bun.stringWidth(row[i] ?? ''))))
  return cells.map((row) =>
    columns
      .map((column, i) => {
        const cell = row[i] ?? ''
        const padding = ' '.repeat((widths[i] ?? 0) - Bun.stringWidth(cell))
        return typeof column === 'string' ? cell + padding : padding + cell
      })
      .join('  ')
      .trimEnd(),
  )
}

/** `1,234.50`; a dash if there is no number. */
export function formatNumber(value: number | null | undefined, digits = 2): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return '–'
  const fixed = value.toFixed(digits)
  const [whole = '', fraction] = fixed.replace('-', '').split('.')
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',')
  const sign = value < 0 && Number(fixed) !== 0 ? '-' : ''
  return sign + grouped + (fraction === undefined ? '' : `.${fraction}`)
}

/** A fraction as a percentage: `12.35%`. */
export function formatPercent(fraction: number | null | undefined): string {
  const text = formatNumber(fraction === null || fraction === undefined ? fraction : fraction * 100)
  return text === '–' ? text : `${text}%`
}

/** `2024-03-05 14:30` in a zone (UTC if its name is unknown); without the time of day if the caller does not want it. */
export function formatTime(time: number, { date = false, zone = 'UTC' } = {}): string {
  const text = new Date(time + (zoneOf(zone)?.offsetAt(time) ?? 0)).toISOString()
  return date ? text.slice(0, 10) : `${text.slice(0, 10)} ${text.slice(11, 16)}`
}

export function formatBytes(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB']
  const power = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3))
  return `${formatNumber(bytes / 1000 ** power, power === 0 ? 0 : 1)} ${units[power]}`
}

/** `[=====>    ]  52%`, for a line that is overwritten again and again. */
export function progressBar(fraction: number, width = 30): string {
  const part = Math.max(0, Math.min(1, fraction))
  const filled = Math.round(part * width)
  const bar = filled === 0 ? '' : `${'='.repeat(filled - 1)}${part < 1 ? '>' : '='}`
  return `[${bar.padEnd(width)}] ${String(Math.round(part * 100)).padStart(3)}%`
}
