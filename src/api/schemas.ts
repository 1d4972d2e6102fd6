// Words that schemas of several resources are made of, and the three shapes an answer has.
//
// Query values are text on the wire and stay text in their schemas: what Elysia would coerce, it coerces too kindly
// (`0x5`, ` 5`). `numberOf` reads them.

import { Kind, Type, TypeRegistry, type Static, type TProperties, type TSchema } from '@sinclair/typebox'
import { Problem } from '../lib/problem.ts'
import { textFault, type TextBounds } from '../lib/text.ts'
import type { Page } from '../store/collection.ts'

/** A name, a title, a symbol: one line of at most `maxLength` characters, kept in NFC; not blank unless `minLength` is 0. */
export const Text = (maxLength: number, minLength = 1) => textOf({ form: 'line', minLength, maxLength })

/** A note, a message: it may have lines. */
export const Prose = (maxLength: number, minLength = 1) => textOf({ form: 'prose', minLength, maxLength })

/** Code, an address, a file: kept as it came. */
export const Raw = (maxLength: number, minLength = 1) => textOf({ form: 'raw', minLength, maxLength })

// TypeBox measures strings in UTF-16 units, where JSON Schema and people count characters: so texts are a kind of their own.
TypeRegistry.Set<TextBounds>(
  'Text',
  (bounds, value) => typeof value === 'string' && textFault(value, bounds) === null,
)

const textOf = (bounds: TextBounds) => Type.Unsafe<string>({ [Kind]: 'Text', type: 'string', ...bounds })

/** The bounds of a schema that one of these made; null for others. */
export function textBounds(schema: TSchema): TextBounds | null {
  return schema[Kind] === 'Text' ? (schema as unknown as TextBounds) : null
}

/** `idOf('al')`: an id of that kind. */
export const idOf = (prefix: string) => Type.String({ pattern: `^${prefix}_[0-9a-zA-Z]{1,64}$` })

/** A closed set, from the array that defines it. */
export const oneOf = <const V extends string>(values: readonly V[]) =>
  Type.Union(values.map((value) => Type.Literal(value)))

export const nullable = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()])

/** UTC milliseconds since 1970. */
export const Time = Type.Integer({
  minimum: -8.64e15,
  maximum: 8.64e15,
  expected: 'a time in UTC milliseconds',
})

/** A moment in a body: UTC milliseconds, or ISO 8601 text. `instantOf` reads it. */
export const Instant = Type.Union([Time, Type.String({ maxLength: 40 })], {
  expected: 'a time in UTC milliseconds or as ISO 8601',
})
/** ISO 8601 text, as queries and a cursor's start and end have it. `isoTimeOf` reads it. */
export const IsoTime = Type.String({ minLength: 4, maxLength: 40, expected: 'a time as ISO 8601' })

/** UTC ms. Throws Problem 422 naming `path`. Temporal takes what is a date and nothing else: no 30th of February. */
export function isoTimeOf(text: string, where: 'body' | 'query', path: string): number {
  const day = /^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00:00Z` : text
  try {
    return Temporal.Instant.from(day).epochMilliseconds
  } catch {
    const message = 'Expected a time as ISO 8601 with its zone: 2024-01-31T09:30:00Z.'
    throw new Problem(422, 'validation_failed', message, {
      fields: [{ in: where, path, code: 'format', message }],
    })
  }
}

export function instantOf(value: number | string | null | undefined, path: string): number | null {
  return typeof value === 'string' ? isoTimeOf(value, 'body', path) : (value ?? null)
}

/** A whole number in a query. */
export const QueryInteger = Type.String({ pattern: '^(0|[1-9][0-9]{0,14})$', expected: 'a whole number' })

/** `?limit=&cursor=` of every list. */
export const PageQuery = {
  limit: Type.Optional(QueryInteger),
  cursor: Type.Optional(Type.String({ minLength: 1, maxLength: 2000 })),
}

/** The page a list query asks for: `max` rows unless it says fewer. */
export function pageOf(
  query: { limit?: string; cursor?: string },
  max: number,
): { limit: number; cursor?: string } {
  const limit = Math.min(max, Math.max(1, Number(query.limit ?? max)))
  return { limit, ...(query.cursor !== undefined && { cursor: query.cursor }) }
}

const Warning = Type.Object(
  { code: Type.String(), path: Type.Optional(Type.String()), message: Type.String() },
  { $id: 'Warning' },
)
const warnings = Type.Optional(Type.Array(Warning))

export const Answer = (properties: TProperties): TSchema =>
  Type.Object({ ok: Type.Literal(true), ...properties, warnings })

export interface RouteDoc {
  readonly summary: string
  readonly description?: string
  readonly 'x-answer'?: TSchema
}

/** `detail: doc('Create an alert', { id: Type.String(), alert: Alert })`: what the OpenAPI document says of a route. */
export function doc(summary: string, answer: TProperties = {}, description?: string): RouteDoc {
  return { summary, ...(description !== undefined && { description }), 'x-answer': Answer(answer) }
}

/** The answer of a list. */
export function listed<N extends string, T, W>(noun: N, page: Page<T>, wire: (item: T) => W) {
  return { [noun]: page.items.map(wire), nextCursor: page.nextCursor } as Record<N, W[]> & {
    nextCursor: string | null
  }
}
export const Listed = (noun: string, item: TSchema) => ({
  [noun]: Type.Array(item),
  nextCursor: nullable(Type.String()),
})

export type WireOf<S extends TSchema> = Static<S>
