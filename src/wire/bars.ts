// Cached bars, and facts of their symbols.

import { Type } from '@sinclair/typebox'
import type { OperationTable } from './operation.ts'
import {
  idOf,
  Listed,
  MarketName,
  namesSeries,
  nullable,
  oneOf,
  QueryInteger,
  Text,
  Time,
  type Wire,
} from './schema.ts'

const column = Type.Array(Type.Number())

/** Columns with one value for each bar. */
export const BarColumns = Type.Object(
  {
    time: Type.Array(Type.Number(), { description: 'Openings, UTC milliseconds.' }),
    open: column,
    high: column,
    low: column,
    close: column,
    volume: column,
  },
  { $id: 'Bars' },
)
export type BarColumns = Wire<typeof BarColumns>

export const FormingBar = Type.Object(
  {
    time: Type.Integer({ description: 'Opening, UTC milliseconds.' }),
    open: Type.Number(),
    high: Type.Number(),
    low: Type.Number(),
    close: Type.Number(),
    volume: Type.Number(),
  },
  { $id: 'FormingBar' },
)
export type FormingBar = Wire<typeof FormingBar>

const Series = Type.Object(
  {
    interval: Type.String(),
    count: Type.Integer(),
    first: Time,
    last: Time,
    shared: Type.Boolean({ description: 'True if everybody sees it, false if only the caller does.' }),
  },
  { $id: 'Series' },
)
export type Series = Wire<typeof Series>

/** A series with its full name. */
const NamedSeries = Type.Object({
  exchange: Type.String(),
  symbol: Type.String(),
  ...Series.properties,
})

const SymbolType = oneOf([
  'stock',
  'fund',
  'dr',
  'right',
  'bond',
  'warrant',
  'structured',
  'index',
  'forex',
  'futures',
  'spread',
  'economic',
  'crypto',
  'swap',
])

const SymbolFacts = Type.Object(
  {
    exchange: Type.String(),
    symbol: Type.String(),
    description: Type.String(),
    type: SymbolType,
    currency: Type.String(),
    baseCurrency: Type.String(),
    mintick: Type.Number(),
    priceScale: Type.Number(),
    minMove: Type.Number(),
    pointValue: Type.Number(),
    minQuantity: Type.Number(),
    timezone: Type.String(),
    session: Type.String(),
    volumeType: Type.String(),
    shared: Type.Boolean({
      description: 'True if everybody sees these facts, false if only the caller does.',
    }),
    series: Type.Array(Series),
  },
  { $id: 'Symbol' },
)
export type SymbolFacts = Wire<typeof SymbolFacts>

export const BARS = {
  'POST /api/platform/bars/import': {
    access: 'session bars:write',
    summary: 'Import bars',
    description:
      'What the owner and admins import is shared: everybody reads it. What a member imports is private: found by that member before a shared series of the same name, and by nobody else. The body is CSV (`text/csv`; header time,open,high,low,close,volume) or JSON. Bars at times that are there already are replaced. One wrong row and nothing is stored. At most 512 MiB of CSV, 32 MiB of JSON.',
    query: Type.Object(namesSeries),
    answer: { series: NamedSeries, rows: Type.Integer(), inserted: Type.Integer(), updated: Type.Integer() },
  },
  'DELETE /api/platform/bars': {
    access: 'session bars:write',
    summary: 'Remove a series',
    description:
      "All its bars; `deleted` tells whether there were any. The caller's own series goes first; a shared one is for the owner and admins.",
    query: Type.Object(namesSeries),
    answer: { deleted: Type.Boolean() },
  },
  'POST /api/platform/bars/share': {
    access: 'session bars:write',
    summary: "Make a member's series everybody's",
    description:
      'For the owner and admins, with the id of the member whose it is. The facts of its symbol are shared too where nobody has set any for everybody. 409 while there is a shared series of the name.',
    body: Type.Object({ ...namesSeries, userId: idOf('usr') }),
    answer: { series: NamedSeries },
  },
  'GET /api/platform/bars': {
    access: 'session bars:read',
    summary: 'Cached bars as columns',
    description:
      '`start` and `end` (both inclusive) are ISO 8601 or UTC ms; at most 50,000 bars. An interval that is not cached is built from a finer one.',
    query: Type.Object({
      ...namesSeries,
      start: Type.Optional(Text(40)),
      end: Type.Optional(Text(40)),
      limit: Type.Optional(QueryInteger),
    }),
    answer: {
      exchange: Type.String(),
      symbol: Type.String(),
      interval: Type.String(),
      builtFrom: nullable(Type.String()),
      bars: BarColumns,
    },
  },
  'GET /api/platform/bars/forming': {
    access: 'session bars:read',
    summary: 'The bar that is not over yet',
    description:
      'Of a series that comes by a stream, or that is built from one: it is in memory and never stored before it is over, so backtests do not see it. `bar` is null while none is known, or where bars are polled: then the newest stored bar may be forming. Who asks is told of it for two and a half minutes as the event `forming` of the stream.',
    query: Type.Object(namesSeries),
    answer: {
      exchange: Type.String(),
      symbol: Type.String(),
      interval: Type.String(),
      live: Type.Boolean({ description: 'Whether a stream brings it now.' }),
      bar: nullable(FormingBar),
    },
  },
  'GET /api/platform/symbols': {
    access: 'session bars:read',
    summary: 'Symbols with cached bars or set facts',
    answer: Listed('symbols', SymbolFacts),
  },
  'GET /api/platform/symbols/{exchange}/{symbol}': {
    access: 'session bars:read',
    summary: 'One symbol',
    answer: { symbol: SymbolFacts },
  },
  'PUT /api/platform/symbols/{exchange}/{symbol}': {
    access: 'session bars:write',
    summary: 'Set facts of a symbol',
    description:
      'Fields that are not sent stay as they are. What the owner and admins set is for everybody, what a member sets for that member alone.',
    params: Type.Object({ exchange: MarketName, symbol: MarketName }),
    body: Type.Object({
      description: Type.Optional(Text(200, 0)),
      type: Type.Optional(SymbolType),
      currency: Type.Optional(Text(12)),
      baseCurrency: Type.Optional(Text(12, 0)),
      mintick: Type.Optional(Type.Number({ exclusiveMinimum: 0 })),
      pointValue: Type.Optional(Type.Number({ exclusiveMinimum: 0 })),
      minQuantity: Type.Optional(Type.Number({ exclusiveMinimum: 0 })),
      timezone: Type.Optional(Text(64)),
      session: Type.Optional(Text(200)),
      volumeType: Type.Optional(Text(8)),
    }),
    answer: { symbol: SymbolFacts },
  },
} as const satisfies OperationTable
