// Bun macros: they run while the page is bundled, or loaded from source, and only their results become part of it.
//
// Forms and tables learn from the schemas of the wire what a field accepts and means. The schemas themselves, with their
// library, would be half of the page's bytes; all that is needed is a few plain values for each field.

import { Kind, type TSchema } from '@sinclair/typebox'
import type { Operation } from '../../wire/operation.ts'
import { OPERATIONS, type Answer, type Args, type OperationName } from '../../wire/operations.ts'
import type { SymbolFacts } from '../../wire/bars.ts'
import {
  ReportColumn,
  ReportEquity,
  ReportMonth,
  ReportTrade,
  type Shown,
  type Unit,
} from '../../wire/report.ts'
import { textBounds } from '../../wire/schema.ts'

export interface WireField extends Shown {
  readonly kind: 'text' | 'number' | 'integer' | 'time' | 'flag' | 'list' | 'other'
  readonly required: boolean
  /** Characters of a text, items of a list, or the least and greatest number. */
  readonly min?: number
  readonly max?: number
  /** The number must be greater than this. */
  readonly above?: number
  /** The text may have several lines. */
  readonly lines?: boolean
  /** The unit of a number of the report. */
  readonly unit?: Unit
  readonly meaning?: string
}
export type WireFields<T> = { readonly [F in keyof T & string]-?: WireField }

type Body<K extends OperationName> = Args<K> extends { readonly body?: infer B } ? NonNullable<B> : never
type RowOf<T> = T extends readonly (infer R)[] ? R : never

/** The fields of an operation's body: `bodyFields('POST /api/platform/tokens')`. */
export function bodyFields<K extends OperationName>(operation: K): WireFields<Body<K>> {
  return fieldsOf((OPERATIONS as Record<string, Operation>)[operation]?.body) as WireFields<Body<K>>
}

export function seriesFields(): WireFields<RowOf<SymbolFacts['series']>> {
  const symbols = OPERATIONS['GET /api/platform/symbols'].answer.symbols
  return fieldsOf(symbols.items.properties.series.items) as WireFields<RowOf<SymbolFacts['series']>>
}

/** The fields of the items that an answer lists: `rowFields('GET /api/auth/sessions', 'sessions')`. */
export function rowFields<K extends OperationName, N extends keyof Answer<K>>(
  operation: K,
  list: N,
): WireFields<RowOf<Answer<K>[N]>> {
  const answer = (OPERATIONS as Record<string, Operation>)[operation]?.answer
  return fieldsOf(answer?.[String(list)]?.['items'] as TSchema | undefined) as WireFields<RowOf<Answer<K>[N]>>
}

export const reportFields = () => ({
  column: fieldsOf(ReportColumn) as WireFields<ReportColumn>,
  equity: fieldsOf(ReportEquity) as WireFields<ReportEquity>,
  month: fieldsOf(ReportMonth) as WireFields<ReportMonth>,
  trade: fieldsOf(ReportTrade) as WireFields<ReportTrade>,
})

function fieldsOf(schema: TSchema | undefined): Record<string, WireField> {
  const properties = Object.entries((schema?.['properties'] ?? {}) as Record<string, TSchema>)
  const required = (schema?.['required'] ?? []) as readonly string[]
  return Object.fromEntries(
    properties.map(([name, property]) => [name, fieldOf(property, required.includes(name))]),
  )
}

function fieldOf(schema: TSchema, required: boolean): WireField {
  const variants = schema['anyOf'] as TSchema[] | undefined
  const inner = variants?.find((one) => one[Kind] !== 'Null' && !('const' in one)) ?? schema
  const text = textBounds(inner)
  const facts = {
    min: text?.minLength ?? inner['minimum'] ?? inner['minItems'],
    max: text?.maxLength ?? inner['maximum'] ?? inner['maxItems'],
    above: inner['exclusiveMinimum'],
    lines: text?.form === 'prose' || text?.form === 'raw' || undefined,
    unit: inner['unit'],
    means: inner['means'],
    title: inner['title'],
    meaning: schema.description ?? inner.description,
  }
  const known = Object.entries(facts).filter(([, value]) => value !== undefined)
  return { kind: kindOf(inner), required, ...Object.fromEntries(known) }
}

function kindOf(schema: TSchema): WireField['kind'] {
  if (String(schema['expected'] ?? '').startsWith('a time') || schema['unit'] === 'time') return 'time'
  if (schema['anyOf']) return 'text'
  const { type } = schema as { type?: string }
  if (type === 'string') return 'text'
  if (type === 'number' || type === 'integer') return type
  return type === 'boolean' ? 'flag' : type === 'array' ? 'list' : 'other'
}
