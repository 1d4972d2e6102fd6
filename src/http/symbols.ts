// Symbols of providers: found in their lists, which are fetched where somebody chose the provider.

import { type AnyElysia, Elysia } from 'elysia'
import { barsSeenBy } from '../market/seen-bars.ts'
import type { SymbolListStatus } from '../people/feeds/symbol-lists.ts'
import type { SymbolList } from '../wire/symbol-search.ts'
import { access, type ApiDeps } from './access.ts'
import { pageOf } from './fields.ts'
import { requireFeeds } from './require-feeds.ts'
import { route } from './route.ts'

const FOUND_MAX = 100

const wire = (status: SymbolListStatus): SymbolList => ({ ...status, exchanges: [...status.exchanges] })

export function symbolRoutes(deps: ApiDeps): AnyElysia {
  const { symbolLists, feeds } = deps.features
  return new Elysia({ prefix: '/symbols', tags: ['Bars'], normalize: false })
    .use(access(deps))
    .get(
      '/search',
      async ({ caller, query: { q = '', exchange, type, limit } }) => {
        const page = pageOf(limit === undefined ? {} : { limit }, FOUND_MAX)
        const { symbols, lists } = await symbolLists.search({
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
      route('GET /api/platform/symbols/search'),
    )
    .post(
      '/lists',
      async ({ body }) => {
        requireFeeds(feeds)
        return { list: wire(await symbolLists.choose(body.provider)) }
      },
      route('POST /api/platform/symbols/lists'),
    )
}
