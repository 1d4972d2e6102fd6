// Bars from providers.

import { Type } from '@sinclair/typebox'
import type { OperationTable } from './operation.ts'
import { Instant, Listed, namesSeries, nullable, oneOf, Time, type Wire } from './schema.ts'

const Feed = Type.Object(
  {
    exchange: Type.String(),
    symbol: Type.String(),
    interval: Type.String(),
    state: oneOf(
      ['waiting', 'live', 'fresh', 'retrying', 'stopped'],
      '`live`: its stream is there and nothing is missing; `fresh`: the last request went well; `stopped`: nobody is asked, and `lastError` says why.',
    ),
    way: oneOf(['stream', 'poll'], 'How it is kept fresh.'),
    followed: Type.Boolean(),
    provider: nullable(Type.String()),
    lastSuccessAt: nullable(Time),
    lastError: nullable(Type.String()),
    failures: Type.Integer(),
    nextAt: nullable(Time),
    newestBar: nullable(Time),
    cuts: Type.Integer({ description: 'How often its stream was cut since the server started.' }),
    mended: Type.Integer({
      description:
        'Bars that were fetched since then because the stream had not brought them, or otherwise; where they are polled, those that were corrected.',
    }),
    said: Type.String({ description: 'How it goes, as a sentence.' }),
  },
  { $id: 'Feed' },
)
export type Feed = Wire<typeof Feed>

export const FEEDS = {
  'POST /api/platform/bars/fetch': {
    access: 'session bars:write',
    summary: 'Fetch bars from a provider',
    description:
      'From the newest cached bar, or from `from`. What arrived before a failure is kept, so the same request goes on. As with an import, what a member fetches is private, unless the series is followed.',
    body: Type.Object({
      ...namesSeries,
      from: Type.Optional(nullable(Instant)),
      to: Type.Optional(nullable(Instant)),
    }),
    answer: { ...namesSeries, inserted: Type.Integer(), updated: Type.Integer(), pages: Type.Integer() },
  },
  'GET /api/platform/feeds': {
    access: 'session bars:read',
    summary: 'How followed series are doing',
    description:
      "A member sees the followed ones and those that wait on the member's own alerts and watchlists; the owner and admins see all.",
    answer: {
      ...Listed('feeds', Feed),
      providers: Type.Array(Type.Object({ name: Type.String(), exchanges: Type.Array(Type.String()) })),
    },
  },
  'POST /api/platform/feeds': {
    access: 'session bars:write',
    summary: 'Follow a series',
    description:
      'It is kept up to date from its provider, for everybody: by a stream of Binance, Bybit, Coinbase, Hyperliquid, Kraken or OKX, else by polling. This chooses the provider, which from then on is also asked for what alerts and watchlists wait for. For the owner and admins.',
    body: Type.Object(namesSeries),
    answer: namesSeries,
  },
  'DELETE /api/platform/feeds': {
    access: 'session bars:write',
    summary: 'Stop following a series',
    description: 'For the owner and admins.',
    query: Type.Object(namesSeries),
    answer: { deleted: Type.Boolean() },
  },
} as const satisfies OperationTable
