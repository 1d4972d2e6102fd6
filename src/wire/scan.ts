// Scans: one script over many markets, with its results on each right now, and which of its conditions hold there.

import { Type } from '@sinclair/typebox'
import { MARKET_NAME_MAX } from '../lib/text.ts'
import type { OperationTable } from './operation.ts'
import { ReportSummary } from './report.ts'
import {
  asksDay,
  hasDay,
  hasError,
  hasScript,
  idOf,
  IntervalName,
  Listed,
  nullable,
  oneOf,
  PageQuery,
  Raw,
  Setting,
  Text,
  Time,
  type Wire,
} from './schema.ts'
import { JOB_STATES } from './job-state.ts'

const ScanBody = Type.Object({
  name: Text(200),
  interval: IntervalName,
  bars: Type.Integer({ minimum: 1, maximum: 50_000 }),
  source: Raw(1 << 20),
  inputs: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  overrides: Type.Optional(Type.Record(Type.String(), Setting)),
  ...asksDay,
  watchlistId: Type.Optional(idOf('wl')),
  symbols: Type.Optional(
    Type.Array(
      Type.Object({
        symbol: Text(2 * MARKET_NAME_MAX + 1),
        exchange: Type.Optional(Text(MARKET_NAME_MAX, 0)),
      }),
      { minItems: 1, maxItems: 10_000 },
    ),
  ),
})
export type ScanBody = Wire<typeof ScanBody>

const ScanWatch = Type.Object({
  conditions: Type.Array(Text(200, 0), {
    maxItems: 20,
    description: 'Titles of those that are told of; empty = all.',
  }),
  channels: Type.Array(oneOf(['email', 'webhook']), { maxItems: 10 }),
  webhookIds: Type.Array(idOf('wh'), {
    maxItems: 10,
    description: 'Empty = all webhooks that listen to alerts.',
  }),
})

const ScanState = oneOf(JOB_STATES)

const Scan = Type.Object(
  {
    id: idOf('scan'),
    name: Type.String(),
    interval: Type.String(),
    bars: Type.Integer({ description: 'The last so many of each market.' }),
    watchlistId: nullable(Type.String()),
    symbols: nullable(
      Type.Integer({
        description: 'How many were named; null: those of a watchlist, or all that are cached.',
      }),
    ),
    state: ScanState,
    createdAt: Time,
    startedAt: nullable(Time),
    finishedAt: nullable(Time),
    kind: nullable(oneOf(['strategy', 'indicator'])),
    values: Type.Array(Type.String(), { description: 'Titles of the plots.' }),
    conditions: Type.Array(
      Type.Object({ title: Type.String(), holds: Type.Integer({ description: 'On so many markets.' }) }),
    ),
    markets: Type.Integer({ description: 'There are so many to look at; 0 before it began.' }),
    done: Type.Integer(),
    failed: Type.Integer({ description: 'Of those done: no bars, or the script ended with an error.' }),
    ...hasError,
    ...hasDay,
    watch: nullable(ScanWatch),
    news: Type.Array(
      Type.Object({
        exchange: Type.String(),
        symbol: Type.String(),
        condition: Type.String(),
        time: Time,
        close: Type.Number(),
        at: Time,
      }),
      { description: 'What became true while it was watched, the newest first; 100 at most.' },
    ),
    ...hasScript,
  },
  { $id: 'Scan' },
)
export type Scan = Wire<typeof Scan>

const ScanRow = Type.Object(
  {
    exchange: Type.String(),
    symbol: Type.String(),
    bars: Type.Integer({ description: 'That there were; 0 where none are cached.' }),
    time: nullable(Time),
    close: nullable(Type.Number()),
    change: nullable(
      Type.Number({ description: 'Of the close, since the bar before, as a fraction: 0.05 = 5%.' }),
    ),
    values: Type.Array(nullable(Type.Number()), { description: 'In the order of `values` of the scan.' }),
    holds: Type.Array(Type.Integer(), {
      description: 'Places in `conditions` of the scan: those that hold on the last bar.',
    }),
    summary: nullable(ReportSummary),
    position: nullable(
      Type.Number({ description: 'What the strategy holds at the end, negative where short.' }),
    ),
    error: nullable(Type.Object({ code: Type.String(), message: Type.String() })),
  },
  { $id: 'ScanRow' },
)
export type ScanRow = Wire<typeof ScanRow>

const Choosing = {
  where: Type.Optional(Type.String({ minLength: 1, maxLength: 2000 })),
  sort: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
  order: Type.Optional(oneOf(['asc', 'desc'])),
}

export const SCANS = {
  'POST /api/platform/scans': {
    access: 'session backtests:write',
    summary: 'Run a script over many markets',
    description:
      'A screener. Answers at once; follow it at `/events`, or ask until `state` is `done`. Which markets: those of a watchlist (`watchlistId`; a token needs `watchlists:read` too), those of `symbols` (on every exchange where none is named), or else all that have bars of this `interval` or finer ones; 10,000 at most. Each is run over its last `bars` bars. A row has the last value of every plot(), the conditions that hold on the last bar (of alertcondition(), shapes, characters and arrows, and `alert()` where that was called), and of a strategy the head of its report and its position. A market of which there are no bars, or on which the script fails, is a row with `error`. The bar magnifier is not used. One scan of a user runs at a time, twenty may wait, and a hundred are kept.',
    body: ScanBody,
    answer: { id: idOf('scan'), scan: Scan },
  },
  'GET /api/platform/scans': {
    access: 'session backtests:read',
    summary: 'List scans, newest first',
    description: 'Without source and inputs.',
    query: PageQuery,
    answer: Listed('scans', Scan),
  },
  'GET /api/platform/scans/{id}': {
    access: 'session backtests:read',
    summary: 'One scan',
    answer: { scan: Scan },
  },
  'GET /api/platform/scans/{id}/results': {
    access: 'session backtests:read',
    summary: 'The markets of a scan',
    description:
      'Up to 1,000 a page, in the order they were looked at, or by `sort`: a title of a plot or condition, `symbol`, `exchange`, `close`, `change`, `time`, `bars`, and of a strategy `position` and the figures of the summary (`netProfit`, `winRate` …); `order` is `desc` for numbers if not said. `where` chooses rows: a condition between those names, such as `RSI < 30 and close > "EMA 200"`; a title with blanks stands in double quotes, a condition by itself is true where it holds. A name that means nothing is 422 and lists those that do.',
    query: Type.Object({ ...PageQuery.properties, ...Choosing }),
    answer: {
      ...Listed('rows', ScanRow),
      found: Type.Integer({ description: 'Rows that `where` chooses.' }),
    },
  },
  'GET /api/platform/scans/{id}/results.csv': {
    access: 'session backtests:read',
    summary: 'The markets of a scan as CSV',
    description: 'A row a market, chosen and sorted as for `results`.',
    query: Type.Object(Choosing),
  },
  'PATCH /api/platform/scans/{id}': {
    access: 'session backtests:write alerts:write',
    summary: 'Rename or watch a scan',
    description:
      'With `watch` a scan that is done looks at each of its markets again when bars of it come, and tells when one of `conditions` (all if empty) becomes true that was not: by a letter that names all markets of the moment, and by a webhook event `alert.triggered` of each, whose `alertId` is the scan’s id; 50 of one moment at most. Judged on the newest bar, forming or not; a condition of a market is told once a bar. What was true when the scan was run is not told. `null` ends it. Ten scans of a user are watched at most. Its markets are those of its last run.',
    body: Type.Object({
      name: Type.Optional(Text(200)),
      watch: Type.Optional(
        nullable(
          Type.Object({
            conditions: Type.Optional(ScanWatch.properties.conditions),
            channels: ScanWatch.properties.channels,
            webhookIds: Type.Optional(ScanWatch.properties.webhookIds),
          }),
        ),
      ),
    }),
    answer: { scan: Scan },
  },
  'POST /api/platform/scans/{id}/run': {
    access: 'session backtests:write',
    summary: 'Run a scan again',
    description:
      'Over the bars there are now, and the markets that its watchlist has now; also one that was stopped or failed. What it found before is gone as soon as it begins. One under way stays as it is.',
    answer: { id: idOf('scan'), scan: Scan },
  },
  'POST /api/platform/scans/{id}/cancel': {
    access: 'session backtests:write',
    summary: 'Stop a scan',
    description: 'The rows that it has stay.',
    answer: { id: idOf('scan'), scan: Scan },
  },
  'DELETE /api/platform/scans/{id}': {
    access: 'session backtests:write',
    summary: 'Stop and remove a scan',
    answer: { id: idOf('scan'), deleted: Type.Boolean() },
  },
  'GET /api/platform/scans/{id}/events': {
    access: 'session backtests:read',
    summary: 'Follow a scan',
    description:
      'Server-sent events: `progress` with `state`, `done`, `markets` and `failed`, then `end` with `scan`.',
  },
} as const satisfies OperationTable
