// One search over everything the caller may see.

import { Elysia } from 'elysia'
import { HIT_TYPES } from '../people/search/indexes.ts'
import { access, type ApiDeps } from './access.ts'
import { pageOf } from './fields.ts'
import { route } from './route.ts'

const RESULTS_MAX = 100
const RESULTS_DEFAULT = 20

export function searchRoutes(deps: ApiDeps) {
  const { search } = deps.features
  return new Elysia({ prefix: '/api/search', tags: ['Search'], normalize: false }).use(access(deps)).get(
    '',
    async ({ visitor, may, query }) => {
      const { q, type, symbol, tag, author } = query
      const { limit } = pageOf({ limit: query.limit ?? String(RESULTS_DEFAULT) }, RESULTS_MAX)
      const userId = visitor?.user.id ?? null
      const ownTypes = HIT_TYPES.filter((one) => may(`${one}s:read`))
      const results = await search.find(
        q.normalize('NFC'),
        userId,
        { type, symbol, tag, author },
        limit,
        ownTypes,
      )
      return { results, nextCursor: null }
    },
    route('GET /api/search', { rate: 'search' }),
  )
}
