// One search over everything the caller may see.

import { HIT_TYPES } from '../people/search/indexes.ts'
import { pageOf } from './fields.ts'
import type { Routes } from './route.ts'

const RESULTS_MAX = 100
const RESULTS_DEFAULT = 20

export const SEARCH_ROUTES: Routes = {
  'GET /api/search': {
    rate: 'search',
    handle: async ({ deps, visitor, may, query }) => {
      const { q, type, symbol, tag, author } = query
      const { limit } = pageOf({ limit: query.limit ?? String(RESULTS_DEFAULT) }, RESULTS_MAX)
      const userId = visitor?.user.id ?? null
      const ownTypes = HIT_TYPES.filter((one) => may(`${one}s:read`))
      const results = await deps.features.search.find(
        q.normalize('NFC'),
        userId,
        { type, symbol, tag, author },
        limit,
        ownTypes,
      )
      return { results, nextCursor: null }
    },
  },
}
