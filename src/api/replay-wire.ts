// A replay session on the wire; for converted backtests and for sessions of the market.

import { Type } from '@sinclair/typebox'
import type { LargeText } from '../store/large-text.ts'
import { REPLAY_SOURCES, type ReplaySession } from '../replay/session.ts'
import { BarColumns, barColumns } from './bar-columns.ts'
import { idOf, nullable, oneOf, Time } from './schemas.ts'

export const CursorWire = Type.Object(
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
export const BookmarkWire = Type.Object(
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

export const ReplayWire = Type.Object(
  {
    id: nullable(idOf('rp')),
    source: oneOf(REPLAY_SOURCES),
    backtestId: nullable(idOf('bt')),
    symbol: Type.String(),
    exchange: Type.String(),
    interval: Type.String(),
    timezone: Type.String(),
    mintick: Type.Number(),
    start: Type.String(),
    end: Type.String(),
    bars: BarColumns,
    trades: Type.Array(Type.Object({})),
    tracks: Type.Array(Type.Object({})),
    equity: Type.Array(Type.Number()),
    cursor: nullable(CursorWire),
    bookmarks: Type.Array(BookmarkWire),
    barsHash: Type.String(),
  },
  { $id: 'Replay' },
)

/** Pieces of JSON text; `places` is where the caller stands in it. */
export function replayPieces(
  { bars, trades, tracks, equity, ...session }: ReplaySession,
  places: { readonly cursor: object | null; readonly bookmarks: readonly object[] } = {
    cursor: null,
    bookmarks: [],
  },
): (string | LargeText)[] {
  const rest = JSON.stringify({ ...session, ...places })
  return [
    `{"bars":${barColumns(bars)},"trades":`,
    trades,
    ',"tracks":',
    tracks,
    ',"equity":',
    equity,
    `,${rest.slice(1)}`,
  ]
}
