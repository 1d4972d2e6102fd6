// One search over everything the caller may see.

import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { HIT_TYPES } from '../search/indexes.ts'
import { access, type ApiDeps } from './access.ts'
import { doc, Listed, nullable, oneOf, pageOf, QueryInteger, Text } from './schemas.ts'

const RESULTS_MAX = 100
const RESULTS_DEFAULT = 20

const Hit = Type.Object(
  {
    type: oneOf(HIT_TYPES),
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

export function searchRoutes(deps: ApiDeps) {
  const { search } = deps.rooms
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
    {
      access: { to: 'none search:read', rate: 'search' },
      query: Type.Object({
        q: Text(256),
        limit: Type.Optional(QueryInteger),
        type: Type.Optional(oneOf(HIT_TYPES)),
        symbol: Type.Optional(Text(60)),
        tag: Type.Optional(Text(50)),
        author: Type.Optional(Text(100)),
      }),
      detail: doc(
        'Search',
        Listed('results', Hit),
        "Public scripts and ideas; signed in, one's own backtests, watchlists and private items too. A token finds private items of the kinds that it has the `:read` scope of.",
      ),
    },
  )
}
