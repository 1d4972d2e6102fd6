// Symbols that providers have, whether or not bars of them are stored.

import { Type } from '@sinclair/typebox'
import { SYMBOL_TYPES } from '../lib/symbol-type.ts'
import type { OperationTable } from './operation.ts'
import { MarketName, nullable, oneOf, QueryInteger, Text, Time, type Wire } from './schema.ts'

const FoundSymbol = Type.Object(
  {
    exchange: Type.String(),
    symbol: Type.String(),
    description: Type.String(),
    type: Type.String({ description: '`stock`, `fund`, `crypto`, `swap`, `forex`, `index` and others.' }),
    stored: Type.Boolean({ description: 'Whether the caller sees bars of it here.' }),
  },
  { $id: 'FoundSymbol' },
)
export type FoundSymbol = Wire<typeof FoundSymbol>

const SymbolList = Type.Object(
  {
    provider: Type.String(),
    exchanges: Type.Array(Type.String()),
    state: oneOf(
      ['unchosen', 'waiting', 'fetching', 'ready', 'failed', 'off'],
      '`unchosen`: nobody has chosen the provider, so it is not asked; `off`: requests to providers are switched off.',
    ),
    count: Type.Integer({ description: 'Symbols in it; so far, while it is fetched for the first time.' }),
    fetchedAt: nullable(Time),
    lastError: nullable(Type.String()),
    nextAt: nullable(Time),
  },
  { $id: 'SymbolList' },
)
export type SymbolList = Wire<typeof SymbolList>

export const SYMBOL_SEARCH = {
  'GET /api/platform/symbols/search': {
    access: 'session bars:read',
    summary: 'Find symbols in the lists of providers',
    description:
      'By ticker, by words of the name, or with an exchange before a colon as TradingView writes it: `AAPL`, `apple nasdaq`, `BINANCE:BTCUSDT`, `KRAKEN:`. Exact tickers come first, then those that begin with the text, then names. The list of a provider is fetched by the first search after somebody has chosen the provider, and a day later by another one; `lists` says how that goes. A provider that nobody has chosen is never asked.',
    query: Type.Object({
      q: Type.Optional(Text(100, 0)),
      exchange: Type.Optional(MarketName),
      type: Type.Optional(oneOf(SYMBOL_TYPES)),
      limit: Type.Optional(QueryInteger),
    }),
    answer: { symbols: Type.Array(FoundSymbol), lists: Type.Array(SymbolList) },
  },
  'POST /api/platform/symbols/lists': {
    access: 'session bars:write',
    summary: 'Use the list of symbols of a provider',
    description:
      'Chooses the provider, as following or fetching one of its series does, and begins to fetch its list.',
    body: Type.Object({ provider: Text(40) }),
    answer: { list: SymbolList },
  },
} as const satisfies OperationTable
