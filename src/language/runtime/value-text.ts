// Any value of the language as text, as str.tostring(), str.format() and array.join() show it.

import { PineArray, PineMap } from './collections.ts'
import { PineMatrix } from './matrix.ts'
import { DEFAULT_PATTERN, formatNumber } from './number-format.ts'

const byDefault = (value: number) => formatNumber(value, DEFAULT_PATTERN, 'half-up')

/** `[1, 2]` for arrays, a line a row for matrices, the title of an enum's member; na is NaN. */
export function valueText(value: unknown, numberText: (value: number) => string = byDefault): string {
  if (typeof value === 'string') return value
  if (typeof value === 'number') return numberText(value)
  if (typeof value === 'boolean') return String(value)
  if (value === null || value === undefined) return 'NaN'
  if (value instanceof PineArray)
    return `[${value
      .values()
      .map((each) => valueText(each, numberText))
      .join(', ')}]`
  if (value instanceof PineMatrix) {
    const rows = Array.from({ length: value.rows }, (_, row) =>
      value
        .rowValues(row)
        .map((each) => valueText(each, numberText))
        .join(', '),
    )
    return `[${rows.join(']\n[')}]`
  }
  if (value instanceof PineMap)
    return `{${[...value.entries]
      .map(([key, each]) => `${valueText(key, numberText)}: ${valueText(each, numberText)}`)
      .join(', ')}}`
  if (typeof value === 'object' && 'enumName' in value && 'title' in value && typeof value.title === 'string')
    return value.title
  return 'NaN'
}
