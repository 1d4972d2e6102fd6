// Drawings on charts.

import { Elysia } from 'elysia'
import { access, type ApiDeps } from './access.ts'
import { listed, pageOf } from './fields.ts'
import { route } from './route.ts'

const BODY_BYTES = 2 * 1024 * 1024
/** A sheet is read whole to count its drawings, so a page must be short. */
const PAGE_MAX = 50

export function drawingRoutes(deps: ApiDeps) {
  const { drawings } = deps.features
  return new Elysia({ prefix: '/api/platform/drawings', tags: ['Drawings'], normalize: false })
    .use(access(deps))
    .get(
      '',
      async ({ caller, query }) => {
        const { exchange, symbol, revision, drawings: shown } = await drawings.of(caller.user.id, query)
        return { exchange, symbol, revision, drawings: shown }
      },
      route('GET /api/platform/drawings', { etag: true }),
    )
    .patch(
      '',
      async ({ caller, body }) => {
        const { put = [], remove = [] } = body
        const sheet = await drawings.change(caller.user.id, body, { put, remove })
        return { revision: sheet.revision, count: sheet.drawings.length }
      },
      route('PATCH /api/platform/drawings', { bodyBytes: BODY_BYTES }),
    )
    .get(
      '/markets',
      async ({ caller, query }) =>
        listed(
          'markets',
          await drawings.markets(caller.user.id, pageOf(query, PAGE_MAX)),
          ({ exchange, symbol, drawings: drawn, updatedAt }) => ({
            exchange,
            symbol,
            drawings: drawn.length,
            updatedAt,
          }),
        ),
      route('GET /api/platform/drawings/markets'),
    )
}
