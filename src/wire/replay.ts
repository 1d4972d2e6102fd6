// Replays of the market and of backtests, with the caller's cursor and bookmarks.

import { Type } from '@sinclair/typebox'
import { BarColumns } from './bars.ts'
import type { OperationTable } from './operation.ts'
import { ReportTrade } from './report.ts'
import {
  idOf,
  IntervalName,
  IsoTime,
  Listed,
  MarketName,
  nullable,
  oneOf,
  Prose,
  QueryInteger,
  Text,
  Time,
  type Wire,
} from './schema.ts'
import { Track } from './track.ts'

const Cursor = Type.Object(
  {
    id: idOf('cur'),
    symbol: Type.String(),
    interval: Type.String(),
    exchange: nullable(Type.String()),
    cursorBar: Type.Integer(),
    barTime: nullable(Time),
    speed: Type.Number(),
    start: Type.String(),
    end: Type.String(),
    updatedAt: Time,
  },
  { $id: 'Cursor' },
)
export type Cursor = Wire<typeof Cursor>

const Bookmark = Type.Object(
  {
    id: idOf('bm'),
    symbol: Type.String(),
    interval: Type.String(),
    bar: Type.Integer(),
    note: nullable(Type.String()),
    createdAt: Time,
    updatedAt: Time,
  },
  { $id: 'Bookmark' },
)
export type Bookmark = Wire<typeof Bookmark>

export const Replay = Type.Object(
  {
    id: nullable(idOf('rp')),
    source: oneOf(['market', 'backtest']),
    backtestId: nullable(idOf('bt')),
    symbol: Type.String(),
    exchange: Type.String(),
    interval: Type.String(),
    timezone: Type.String(),
    mintick: Type.Number(),
    start: Type.String(),
    end: Type.String(),
    bars: BarColumns,
    trades: Type.Array(ReportTrade),
    tracks: Type.Array(Track),
    equity: Type.Array(nullable(Type.Number())),
    cursor: nullable(Cursor),
    bookmarks: Type.Array(Bookmark),
    barsHash: Type.String(),
  },
  { $id: 'Replay' },
)
export type Replay = Wire<typeof Replay>

const place = { symbol: MarketName, interval: IntervalName }

export const REPLAYS = {
  'GET /api/platform/replay': {
    access: 'none replay:read',
    summary: 'Fetch a replay session',
    description:
      'userId adds cursor and bookmarks, and counts only when it is the caller. Where the span has no bars the warning `no_bars_in_span` says which there are.',
    query: Type.Object({
      ...place,
      exchange: Type.Optional(MarketName),
      start: Type.Optional(IsoTime),
      end: Type.Optional(IsoTime),
      userId: Type.Optional(Text(100)),
    }),
    answer: { replay: Replay },
  },
  'GET /api/platform/replay/resume': {
    access: 'api-token replay:read',
    summary: 'The saved cursor',
    query: Type.Object(place),
    answer: { cursor: nullable(Cursor) },
  },
  'POST /api/platform/replay/resume': {
    access: 'api-token replay:write',
    summary: 'Save the cursor',
    description: 'cursorBar is counted from start; speed is in bars per second.',
    body: Type.Object({
      ...place,
      exchange: Type.Optional(nullable(MarketName)),
      cursorBar: Type.Integer({ minimum: 0, maximum: 2_000_000_000 }),
      speed: Type.Number({ exclusiveMinimum: 0, maximum: 100 }),
      start: IsoTime,
      end: IsoTime,
    }),
    answer: { id: idOf('cur'), cursor: Cursor },
  },
  'DELETE /api/platform/replay/resume': {
    access: 'api-token replay:write',
    summary: 'Clear the saved cursor',
    query: Type.Object(place),
    answer: { deleted: Type.Boolean() },
  },
  'GET /api/platform/replay/bookmarks': {
    access: 'api-token replay:read',
    summary: 'List bookmarks, by bar',
    query: Type.Object(place),
    answer: Listed('bookmarks', Bookmark),
  },
  'POST /api/platform/replay/bookmarks': {
    access: 'api-token replay:write',
    summary: 'Save a bookmark',
    query: Type.Object({ ...place, bar: QueryInteger }),
    body: Type.Object({ note: Type.Optional(nullable(Prose(1000, 0))) }),
    answer: { id: idOf('bm'), bookmark: Bookmark },
  },
  'DELETE /api/platform/replay/bookmarks': {
    access: 'api-token replay:write',
    summary: 'Remove a bookmark',
    query: Type.Object({ ...place, bar: QueryInteger }),
    answer: { deleted: Type.Boolean() },
  },
} as const satisfies OperationTable
