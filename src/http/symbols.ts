// Symbols of providers: found in their lists, which are fetched where somebody chose the provider.

import { barsSeenBy } from '../market/seen-bars.ts'
import type { SymbolListStatus } from '../people/feeds/symbol-lists.ts'
import type { SymbolList } from '../wire/symbol-search.ts'
import { pageOf } from './fields.ts'
import { requireFeeds } from './require-feeds.ts'
import type { Routes } from './route.ts'

const FOUND_MAX = 100

const wire = (status: SymbolListStatus): SymbolList => ({ ...status, exchanges: [...status.exchanges] })

export const SYMBOL_ROUTES: Routes = {
  'GET /api/platform/symbols/search': async ({ deps, caller, query: { q = '', exchange, type, limit } }) => {
    const page = pageOf(limit === undefined ? {} : { limit }, FOUND_MAX)
    const { symbols, lists } = await deps.features.symbolLists.search({
      text: q,
      exchange,
      type,
      limit: page.limit,
    })
    const seen = await barsSeenBy(deps.bars, caller.user.id).list()
    const stored = new Set(seen.map((one) => `${one.exchange}:${one.symbol}`))
    return {
      symbols: symbols.map(({ name, ...one }) => ({
        ...one,
        description: name,
        stored: stored.has(`${one.exchange}:${one.symbol}`),
      })),
      lists: lists.map(wire),
    }
  },
  'POST /api/platform/symbols/lists': async ({ deps, body }) => {
    requireFeeds(deps.features.feeds)
    return { list: wire(await deps.features.symbolLists.choose(body.provider)) }
  },
}
