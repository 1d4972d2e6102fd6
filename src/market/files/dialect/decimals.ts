// How the numbers of a file are written.

import type { DecimalSign, Shape } from './dialect.ts'
import type { Line } from './lines.ts'
import { badHint } from './refusals.ts'

/** `1 142,40` and `1’142.40` without what stands between thousands. */
export function withoutSpaces(text: string): string {
  return text.replace(/(\d)[ \u00A0\u202F'’](?=\d{3}(?!\d))/g, '$1')
}

/** Whether prices have a decimal comma. Where commas are also the delimiter, only a quoted price can show one. */
export function decimalOf(
  given: string | undefined,
  rows: readonly Line[],
  { columns }: Shape,
  delimiter: string,
): DecimalSign {
  if (given !== undefined) {
    if (given === 'comma' || given === ',') return ','
    if (given === 'point' || given === '.') return '.'
    throw badHint('decimal', 'must be point or comma')
  }
  const prices = (['open', 'high', 'low', 'close', 'price', 'bid'] as const).flatMap(
    (role) => columns[role] ?? [],
  )
  const cells = rows.flatMap((row) => prices.map((index) => withoutSpaces((row.cells[index] ?? '').trim())))
  const isComma = (text: string) =>
    /^-?\d{1,3}(?:\.\d{3})+,\d+$/.test(text) ||
    (/^-?\d+,\d+$/.test(text) && (delimiter !== ',' || !/^-?\d{1,3},\d{3}$/.test(text)))
  const commas = cells.filter(isComma).length
  const points = cells.filter((text) => /^-?[\d,]*\.\d+$/.test(text))
  if (commas > points.length) return ','
  // Each price is like `115.592`, which may be in thousands: then a volume such as `18,86M` tells.
  const areUnclear = commas === 0 && points.every((text) => /^-?\d{1,3}(?:\.\d{3})+$/.test(text))
  const volume = columns.volume ?? -1
  return areUnclear && rows.some((row) => /^\d+,\d{1,2}[kmb]$/i.test(row.cells[volume]?.trim() ?? ''))
    ? ','
    : '.'
}
