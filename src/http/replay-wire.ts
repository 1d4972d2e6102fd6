// The wire form of a replay session, both for converted backtests and for sessions of the market.

import type { ReplaySession } from '../work/replay/session.ts'
import { barColumns } from './bar-columns.ts'
import type { Pieces } from './json-text.ts'

/** The session as pieces of JSON text; `places` says where the caller is in it. */
export function replayPieces(
  { bars, trades, tracks, equity, ...session }: ReplaySession,
  places: { readonly cursor: object | null; readonly bookmarks: readonly object[] } = {
    cursor: null,
    bookmarks: [],
  },
): Pieces[] {
  const rest = JSON.stringify({ ...session, ...places })
  return [
    '{"bars":',
    barColumns(bars),
    ',"trades":',
    trades,
    ',"tracks":',
    tracks,
    ',"equity":',
    equity,
    `,${rest.slice(1)}`,
  ]
}
