// One search over everything the caller may see.

import { Type } from '@sinclair/typebox'
import type { OperationTable } from './operation.ts'
import { Listed, MarketName, nullable, oneOf, QueryInteger, Text, type Wire } from './schema.ts'

const Hit = Type.Object(
  {
    type: oneOf(['script', 'idea', 'backtest', 'watchlist']),
    id: Type.String(),
    title: Type.String(),
    snippet: Type.String(),
    score: Type.Number(),
    symbol: nullable(Type.String()),
    tags: Type.Array(Type.String()),
    author: Type.String(),
  },
  { $id: 'Hit' },
)
export type Hit = Wire<typeof Hit>

export const SEARCH = {
  'GET /api/search': {
    access: 'none search:read',
    summary: 'Search',
    description:
      'Finds public scripts and ideas, and for those who are signed in their own backtests, watchlists and private items too. A token with `search:read` finds private items of the kinds whose `:read` scope it has; `warnings` name the others.',
    query: Type.Object({
      q: Text(256),
      limit: Type.Optional(QueryInteger),
      type: Type.Optional(oneOf(['script', 'idea', 'backtest', 'watchlist'])),
      symbol: Type.Optional(MarketName),
      tag: Type.Optional(Text(50)),
      author: Type.Optional(Text(100)),
    }),
    answer: Listed('results', Hit),
  },
} as const satisfies OperationTable
