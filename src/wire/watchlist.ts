// Watchlists.

import { Type } from '@sinclair/typebox'
import { MARKET_NAME_MAX } from '../lib/text.ts'
import type { OperationTable } from './operation.ts'
import { idOf, Listed, nullable, PageQuery, Prose, Text, Time, type Wire } from './schema.ts'

const ItemBodies = Type.Array(
  Type.Object({
    // It may name the exchange in front: `NASDAQ:AAPL`.
    symbol: Text(2 * MARKET_NAME_MAX + 1, 0),
    exchange: Type.Optional(Text(MARKET_NAME_MAX, 0)),
    note: Type.Optional(nullable(Prose(1000, 0))),
  }),
  { maxItems: 5000 },
)
export type WatchlistItemBody = Wire<typeof ItemBodies>[number]

const Watchlist = Type.Object(
  {
    id: idOf('wl'),
    name: Type.String(),
    items: Type.Array(
      Type.Object({ symbol: Type.String(), exchange: Type.String(), note: nullable(Type.String()) }),
    ),
    createdAt: Time,
    updatedAt: Time,
  },
  { $id: 'Watchlist' },
)
export type Watchlist = Wire<typeof Watchlist>

export const WATCHLISTS = {
  'POST /api/platform/watchlists/import': {
    access: 'session watchlists:write',
    summary: 'Import a watchlist',
    description: 'All rows or none; bad ones are named by /items/N.',
    body: Type.Object({ name: Text(200), items: ItemBodies }),
    answer: { id: idOf('wl'), watchlist: Watchlist },
  },
  'GET /api/platform/watchlists': {
    access: 'session watchlists:read',
    summary: 'List watchlists',
    query: PageQuery,
    answer: Listed('watchlists', Watchlist),
  },
  'GET /api/platform/watchlists/{id}': {
    access: 'session watchlists:read',
    summary: 'One watchlist',
    answer: { watchlist: Watchlist },
  },
  'GET /api/platform/watchlists/{id}/export': {
    access: 'session watchlists:read',
    summary: 'Export a watchlist as CSV',
  },
  'PATCH /api/platform/watchlists/{id}': {
    access: 'session watchlists:write',
    summary: 'Change a watchlist',
    body: Type.Object({ name: Type.Optional(Text(200)), items: Type.Optional(ItemBodies) }),
    answer: { watchlist: Watchlist },
  },
  'DELETE /api/platform/watchlists/{id}': {
    access: 'session watchlists:write',
    summary: 'Delete a watchlist',
    answer: { id: idOf('wl') },
  },
} as const satisfies OperationTable
