// Building blocks for the schemas of several resources.
//
// Query values are text on the wire and stay text in their schemas: Elysia would convert them, but too tolerantly
// (`0x5`, ` 5`). The handler reads the number.

import {
  Kind,
  Type,
  TypeRegistry,
  type Static,
  type TArray,
  type TNull,
  type TSchema,
  type TString,
  type TUnion,
} from '@sinclair/typebox'
import { MARKET_NAME_MAX, textFault, type TextBounds } from '../lib/text.ts'

/** A name, a title, a symbol: one line of at most `maxLength` characters, kept in NFC; not blank unless `minLength` is 0. */
export const Text = (maxLength: number, minLength = 1) => textOf({ form: 'line', minLength, maxLength })

/** A note, a message: it may have lines. */
export const Prose = (maxLength: number, minLength = 1) => textOf({ form: 'prose', minLength, maxLength })

/** Code, an address, a file: stored unchanged. */
export const Raw = (maxLength: number, minLength = 1) => textOf({ form: 'raw', minLength, maxLength })

// TypeBox measures strings in UTF-16 units, where JSON Schema and people count characters: so texts are a kind of their own.
TypeRegistry.Set<TextBounds>(
  'Text',
  (bounds, value) => typeof value === 'string' && textFault(value, bounds) === null,
)

const textOf = (bounds: TextBounds) => Type.Unsafe<string>({ [Kind]: 'Text', type: 'string', ...bounds })

/** The bounds of a schema made by one of these functions; null for other schemas. */
export function textBounds(schema: TSchema): TextBounds | null {
  return schema[Kind] === 'Text' ? (schema as unknown as TextBounds) : null
}

/** An exchange or a ticker. */
export const MarketName = textOf({ form: 'market', minLength: 1, maxLength: MARKET_NAME_MAX })

/** `15m`, or TradingView's spelling; the handler refuses other texts. */
export const IntervalName = Text(16)

/** The fields that name a series in a body or a query. */
export const namesSeries = { symbol: MarketName, exchange: MarketName, interval: IntervalName }

/** `idOf('al')`: an id of that kind. */
export const idOf = (prefix: string) => Type.String({ pattern: `^${prefix}_[0-9a-zA-Z]{1,64}$` })

/** A closed set, from the array that defines it. */
export const oneOf = <const V extends string>(values: readonly V[], description?: string) =>
  Type.Union(
    values.map((value) => Type.Literal(value)),
    description === undefined ? {} : { description },
  )

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

/** In a body: the day of whose TradingView a run is made. `askedDay` of `language/behaviour.ts` reads it. */
export const asksDay = {
  asOf: Type.Optional(
    Type.String({
      maxLength: 40,
      description:
        'The day of whose TradingView it is, such as `2026-09-01`: what TradingView changed until that day is in force. The newest change that is known if not given. From 2024-12-10 to today.',
    }),
  ),
}

/** For lists, which leave source and inputs out. */
export const hasGiven = {
  given: Type.Optional(
    Type.Record(Type.String(), Type.Union([Type.Number(), Type.String(), Type.Boolean()]), {
      description:
        'What of inputs and overrides was set for it, as far as they are short: twelve at most. Missing in those from before it was kept.',
    }),
  ),
}

/** In a record: what ended it. */
export const hasError = {
  error: nullable(
    Type.Object({
      code: Type.String(),
      message: Type.String(),
      diagnostics: Type.Optional(Type.Array(Type.Unknown())),
    }),
  ),
}

/** In a record that is asked for alone: the script that was run, and with what. */
export const hasScript = {
  source: Type.Optional(Type.String()),
  inputs: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  overrides: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
}

/** The value of an input or of a property of strategy(). */
export const Setting = Type.Union([Type.Number(), Type.String({ maxLength: 200 }), Type.Boolean()])

/** In a record: that day. */
export const hasDay = {
  asOf: Type.Optional(
    Type.String({
      description:
        'The day of whose TradingView it is. Missing in those of versions that knew no days: they are as of before 24 September 2026.',
    }),
  ),
}

/** A whole number in a query. */
export const QueryInteger = Type.String({
  pattern: '^(0|[1-9][0-9]{0,14})$',
  expected: 'a whole number, 0 or more',
})

/** `?limit=&cursor=` of every list. */
export const PageQuery = Type.Object({
  limit: Type.Optional(QueryInteger),
  cursor: Type.Optional(Type.String({ minLength: 1, maxLength: 2000 })),
})

/** How the result differs from what was asked for, although the request succeeded. */
export const Warning = Type.Object(
  { code: Type.String(), path: Type.Optional(Type.String()), message: Type.String() },
  { $id: 'Warning' },
)

/** The answer of a list: one page of items, under their name. */
export const Listed = <N extends string, S extends TSchema>(noun: N, item: S) =>
  ({ [noun]: Type.Array(item), nextCursor: nullable(Type.String()) }) as Record<N, TArray<S>> & {
    readonly nextCursor: TUnion<[TString, TNull]>
  }

/** A value that fits the schema, with a type that does not let its reader change it. */
export type Wire<S extends TSchema> = Unchanged<Static<S>>
export type Unchanged<T> = T extends object ? { readonly [K in keyof T]: Unchanged<T[K]> } : T
