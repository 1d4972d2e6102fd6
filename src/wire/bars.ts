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
import { SYMBOL_TYPES } from '../lib/symbol-type.ts'

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

const SymbolType = oneOf(SYMBOL_TYPES)

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

/** What a file says of itself, or what the sender says of it where it does not. */
const readingHints = {
  fileName: Type.Optional(
    Type.String({ maxLength: 400, description: 'Tells programs apart whose files look alike.' }),
  ),
  timesIn: Type.Optional(
    Type.String({
      maxLength: 64,
      description: 'Zone of times that state none: `America/New_York`, `UTC-5`.',
    }),
  ),
  unit: Type.Optional(
    Type.String({ maxLength: 2, description: 'Of times that are numbers: `s`, `ms`, `us` or `ns`.' }),
  ),
  dates: Type.Optional(
    Type.String({ maxLength: 3, description: 'Order of day, month and year: `ymd`, `dmy` or `mdy`.' }),
  ),
  delimiter: Type.Optional(
    Type.String({ maxLength: 9, description: '`comma`, `semicolon`, `tab` or `pipe`.' }),
  ),
  decimal: Type.Optional(Type.String({ maxLength: 5, description: '`point` or `comma`.' })),
  duplicates: Type.Optional(
    oneOf(['refuse', 'first', 'last'], 'What is done with a second row of a time; `refuse` if missing.'),
  ),
  columns: Type.Optional(
    Type.String({
      maxLength: 1000,
      description: 'Which column has what, by name or by number from 1: `time=Index,open=First`.',
    }),
  ),
  ticker: Type.Optional(
    Type.String({ maxLength: 100, description: 'The rows to take of a file of several symbols.' }),
  ),
  dated: Type.Optional(
    oneOf(['start', 'end'], 'What the time of a bar is, where the times do not tell or not rightly.'),
  ),
  widen: Type.Optional(
    oneOf(['true', 'false'], '`true`: highs and lows that an open or a close is outside of are widened.'),
  ),
  volumePerBar: Type.Optional(
    Type.String({
      maxLength: 24,
      description:
        'Of trades, oldest first: makes bars of so much volume each (`1000`, `0.5`), which open with their first trade and may have a part of a trade more. The interval then only names the series; `1s` suits, since longer ones are built from it.',
    }),
  ),
  sha256: Type.Optional(
    Type.String({
      pattern: '^[0-9a-fA-F]{64}$',
      expected: '64 hexadecimal digits',
      description: 'Check sum of the body, as a CHECKSUM file has it; 422 if it does not agree.',
    }),
  ),
}

/** How one file was read. */
const FileReading = Type.Object(
  {
    name: Type.String({ description: 'As the archive names it; empty if nobody said.' }),
    text: Type.String({ description: 'All of this in words.' }),
    packing: Type.Array(Type.String(), { description: '`zip`, `gzip`, `zstd`, outermost first.' }),
    format: Type.String({ description: '`csv`, `json`, `parquet` or `arrow`.' }),
    kind: Type.String({ description: '`bars`, `trades` or `quotes`.' }),
    rows: Type.Integer(),
    encoding: Type.Optional(Type.String({ description: 'Of its text, where it is not UTF-8.' })),
    dialect: nullable(
      Type.Object(
        {
          origin: nullable(Type.String({ description: 'The program that writes files like this.' })),
          delimiter: Type.String(),
          decimal: Type.String(),
          header: Type.Integer({
            description: 'The line with the names of the columns; 0 if there is none.',
          }),
          columns: Type.Record(Type.String(), Type.String(), {
            description: 'By value, the name of its column, or its number from 1.',
          }),
          unused: Type.Array(Type.String(), {
            description: 'The names of columns that nothing was read from, the first hundred.',
          }),
          times: Type.String({ description: '`epoch`, `date`, or `date and time`.' }),
          unit: nullable(Type.String({ description: 'Of epoch times: `s`, `ms`, `us`, `ns`.' })),
          order: Type.String({ description: '`ymd`, `dmy` or `mdy`.' }),
          timezone: Type.String(),
          zoneBy: Type.String({
            description:
              'Why that zone: `offsets` (each time has its own), `file`, `format` (the program is known for it), `user`, `assumed`.',
          }),
        },
        { description: 'Of CSV; of Parquet and Arrow without a delimiter. Null for JSON.' },
      ),
    ),
  },
  { $id: 'FileReading' },
)

/** What is odd about the bars of a file. */
const Finding = Type.Object(
  {
    kind: Type.String({
      description:
        '`gap`, `missing_days`, `outside_session`, `same_session`, `zero_volume`, `no_volume`, `spike`, `split`, `duplicate`, `empty_row`, `unknown_zone`, `unknown_side`, `finer_bars`, `coarser_bars` or `period_end`.',
    }),
    count: Type.Integer(),
    message: Type.String(),
    done: Type.String({ description: 'What was done about it.' }),
    examples: Type.Array(Type.Object({ time: Time, text: Type.String() }), { description: 'The first ten.' }),
  },
  { $id: 'Finding' },
)

/** How files were read, and what is odd about their bars. */
const ReadFiles = Type.Object(
  {
    files: Type.Array(FileReading, { description: 'At most 50.' }),
    fileCount: Type.Integer(),
    findings: Type.Array(Finding),
  },
  { $id: 'ReadFiles' },
)
export type ReadFiles = Wire<typeof ReadFiles>

export const BARS = {
  'POST /api/platform/bars/import': {
    access: 'session bars:write',
    summary: 'Import bars',
    description: `What the owner and admins import is shared: everybody reads it. What a member imports is private: found by that member before a shared series of the same name, and by nobody else. The body is one file: CSV of bars, trades or quotes as TradingView, Binance, MetaTrader, Yahoo Finance and many others write it, JSON, Parquet or Arrow; plain, or in zip, gzip or zstd. Delimiter, decimal sign, names of columns, the unit of times and their zone are found in its first lines; parameters overrule what was found. Where nobody says the zone of its clocks, it is among the \`warnings\` (\`zone_unknown\`). Trades and quotes are made into bars of the interval. \`read\` says how the file was read, and what is odd about its bars. Bars at times that are there already are replaced; only a piece, which a file of trades begins or ends with, leaves one that has more. One wrong row and nothing is stored. At most 512 MiB, 32 MiB of JSON; \`chartroom bars import\` takes files of any size.`,
    query: Type.Object({ ...namesSeries, ...readingHints }),
    answer: {
      series: NamedSeries,
      rows: Type.Integer(),
      inserted: Type.Integer(),
      updated: Type.Integer(),
      plots: Type.Array(Type.String(), {
        description:
          "Columns of plots of TradingView's chart, which is kept: `GET /api/platform/bars/chart`.",
      }),
      read: ReadFiles,
    },
  },
  'POST /api/platform/bars/inspect': {
    access: 'session bars:write',
    summary: 'Say how a file of bars would be read',
    description:
      'Reads and checks a file as `POST /api/platform/bars/import` does, and stores nothing. Names of the series that are missing are guessed from the name of the file and its bars (`market`). Rows of the same time are counted among the findings, where an import refuses them unless told otherwise.',
    query: Type.Object({
      ...Type.Partial(Type.Object(namesSeries)).properties,
      ...readingHints,
      partial: Type.Optional(oneOf(['true', 'false'], '`true`: the body is only the beginning of the file.')),
    }),
    answer: {
      market: Type.Object(
        { exchange: Type.String(), symbol: Type.String(), interval: Type.String() },
        { description: 'Empty where nothing tells.' },
      ),
      read: ReadFiles,
      rows: Type.Integer(),
      count: Type.Integer({ description: 'Bars.' }),
      first: Time,
      last: Time,
      bars: BarColumns,
    },
  },
  'DELETE /api/platform/bars': {
    access: 'session bars:write',
    summary: 'Remove a series',
    description:
      "All its bars; `deleted` tells whether there were any. The caller's own series goes first; a shared one is for the owner and admins.",
    query: Type.Object(namesSeries),
    answer: { deleted: Type.Boolean() },
  },
  'GET /api/platform/bars/chart': {
    access: 'session bars:read',
    summary: 'The chart that was imported into a series',
    description:
      "TradingView's chart with plots that was last imported into this very series by the caller, or else for everybody; null if there was none of at most 16 MiB. As `csv` of a comparison its `text` is held against a run's plots. It goes with the series.",
    query: Type.Object({
      ...namesSeries,
      text: Type.Optional(oneOf(['true', 'false'], '`true`: with the text of the file.')),
    }),
    answer: {
      chart: nullable(
        Type.Object({
          fileName: Type.String(),
          plots: Type.Array(Type.String()),
          importedAt: Time,
          text: nullable(Type.String()),
        }),
      ),
    },
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
      '`start` and `end` (both inclusive) are ISO 8601 or UTC ms; at most 50,000 bars. Where there are none the warning `no_bars_in_span` says which there are. An interval that is not cached is built from a finer one.',
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
      'Of a series that is kept fresh, or that is built from one: it is in memory and never stored before it is over, so backtests do not see it. `bar` is null while none is known. Who asks is told of it for two and a half minutes as the event `forming` of the stream.',
    query: Type.Object(namesSeries),
    answer: {
      exchange: Type.String(),
      symbol: Type.String(),
      interval: Type.String(),
      live: Type.Boolean({ description: 'Whether it is known now.' }),
      bar: nullable(FormingBar),
    },
  },
  'GET /api/platform/bars/export': {
    access: 'session bars:read',
    summary: 'Bars as a file',
    description:
      'All bars of a series, or those from `start` to `end` (both inclusive, ISO 8601 or UTC ms), as CSV or Parquet, with a column `bought` if it is known of any of them what of the volume was bought; an import reads both back bit for bit. An interval that is not cached is built from a finer one.',
    query: Type.Object({
      ...namesSeries,
      start: Type.Optional(Text(40)),
      end: Type.Optional(Text(40)),
      format: Type.Optional(oneOf(['csv', 'parquet'], '`csv` if missing.')),
    }),
  },
  'GET /api/platform/bars/contracts': {
    access: 'session bars:read',
    summary: 'The contracts of a continuous future',
    description:
      'Which contract a continuous future is when, oldest first. Contracts of an exchange that are stored as `ESH2025`, `ESM2025` … are one series to every request that names bars: `ES1!` is the one in front, `ES2!` the one behind it. `ES1!B` is back-adjusted by differences, `ES1!R` by ratios. It changes to a later contract on the day after that one traded more; `ES1!@-10` leaves each contract ten days before the first of its month instead. A series that is stored under such a name goes before.',
    query: Type.Object(namesSeries),
    answer: {
      contracts: Type.Array(
        Type.Object({
          symbol: Type.String(),
          from: nullable(Time),
          to: nullable(Time),
          shift: Type.Number({ description: 'What is added to its prices.' }),
          factor: Type.Number({ description: 'What its prices are multiplied by.' }),
        }),
        {
          description:
            'Each is the series from `from` (inclusive) to `to` (exclusive), UTC milliseconds; null = before the first and after the last change.',
        },
      ),
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
