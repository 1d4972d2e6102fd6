// The report's figures as a trader reads them. A field's declaration on the wire decides its name, format and colour, so a
// new field of the report needs no line here.

import type { Report } from '../../wire/report.ts'
import { count, money, percent, price, quantity, ratio, tone } from '../format.ts'
import { wordsOf } from '../ui/refusal-words.ts'
import { reportFields, type WireField } from '../ui/wire-fields.ts' with { type: 'macro' }

export const FIGURES = reportFields()

/** The one figure that is read off the curve (`fallOf`), as the others are declared. */
const OF_CURVE = {
  means: 'loss',
  title: 'Max drawdown (curve)',
  meaning:
    'The deepest fall of the curve below its highest point before, at closes and with open trades. TradingView counts from the most that closed trades had brought.',
} as const
export const CURVE_FALL = { ...OF_CURVE, unit: 'money', kind: 'number', required: true } as const
export const CURVE_FALL_PCT = { ...CURVE_FALL, unit: 'fraction' } as const

export type EquityFigure = Exclude<keyof Report['equity'], 'months' | 'drawdowns'>

type Value = number | null | undefined

/** The report has a loss of 5 as 5; people expect to read −5. */
export const asRead = <V extends Value>(value: V, { means }: WireField): V =>
  means === 'loss' && value ? (-value as V) : value

export function figureText(
  value: Value,
  field: WireField,
  { currency, mintick }: Pick<Report, 'currency' | 'mintick'>,
  options: { readonly plus?: boolean } = {},
): string {
  const read = asRead(value, field)
  if (field.unit === 'money') return money(read, currency, options)
  if (field.unit === 'price') return price(read, mintick)
  if (field.unit === 'fraction') return percent(read, options)
  if (field.unit === 'contracts') return quantity(read)
  if (field.unit === 'count') return count(read)
  return ratio(read, field.unit === 'bars' ? 1 : 3)
}

/** The class of its colour: only profits and losses have a good and a bad side. */
export const figureTone = (value: Value, field: WireField): string =>
  field.means ? tone(asRead(value, field)) : ''

export const figureName = (name: string, { title }: Pick<WireField, 'title'>): string =>
  title ?? wordsOf(name)
