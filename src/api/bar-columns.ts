// Bars on the wire: columns, as everywhere. Written as text, since there may be fifty thousand of them.

import { Type } from '@sinclair/typebox'
import { BAR_FIELDS, type Bars } from '../market/bars.ts'

export const BarColumns = Type.Object(
  Object.fromEntries(BAR_FIELDS.map((field) => [field, Type.Array(Type.Number())])),
  { $id: 'Bars' },
)

export function barColumns(bars: Bars): string {
  return `{${BAR_FIELDS.map((field) => `"${field}":[${bars[field].join(',')}]`).join(',')}}`
}
