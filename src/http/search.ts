// One search over everything the caller may see.

import { HIT_TYPES, type HitType } from '../people/search/indexes.ts'
import type { ApiToken } from '../people/accounts/accounts.ts'
import type { Scope } from '../wire/scopes.ts'
import { pageOf } from './fields.ts'
import type { Routes } from './route.ts'

const RESULTS_MAX = 100
const RESULTS_DEFAULT = 20

export const SEARCH_ROUTES: Routes = {
  'GET /api/search': {
    rate: 'search',
    handle: async ({ deps, visit: { caller }, visitor, may, query }) => {
      const { q, type, symbol, tag, author } = query
      const { limit } = pageOf({ limit: query.limit ?? String(RESULTS_DEFAULT) }, RESULTS_MAX)
      const warnings = caller?.via === 'api-token' ? leftOut(caller.token, type) : []
      const results = await deps.features.search.find(
        q.normalize('NFC'),
        visitor?.user.id ?? null,
        { type, symbol, tag, author },
        limit,
        HIT_TYPES.filter((one) => may(`${one}s:read`)),
      )
      return { results, nextCursor: null, ...(warnings.length > 0 && { warnings }) }
    },
  },
}

/** Says which private items a token does not find. Everybody may search: it is not refused. */
function leftOut(token: ApiToken, type: HitType | undefined) {
  const needed = (one: HitType): Scope[] => ['search:read', `${one}s:read`]
  const lacks = (scope: Scope) => !token.scopes.includes(scope)
  const left = (type ? [type] : HIT_TYPES).filter((one) => needed(one).some(lacks))
  if (left.length === 0) return []
  const scopes = [...new Set(left.flatMap(needed).filter(lacks))].join(', ')
  const kinds = left.map((one) => `${one}s`).join(', ')
  const message = `The access token lacks ${scopes}. Of its user’s ${kinds} only what is public was searched.`
  return [{ code: 'insufficient_scope', message }]
}
