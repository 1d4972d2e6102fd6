// Bars on the wire: columns, as everywhere. Written as text, since there may be fifty thousand of them.

import { BAR_FIELDS, type Bars } from '../market/bars.ts'

export function barColumns(bars: Bars): string {
  return `{${BAR_FIELDS.map((field) => `"${field}":[${bars[field].join(',')}]`).join(',')}}`
}
