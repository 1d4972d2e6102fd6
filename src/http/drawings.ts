// Drawings on charts.

import { listed, pageOf } from './fields.ts'
import type { Routes } from './route.ts'

const BODY_BYTES = 2 * 1024 * 1024
/** A sheet is read whole to count its drawings, so a page must be short. */
const PAGE_MAX = 50

export const DRAWING_ROUTES: Routes = {
  'GET /api/platform/drawings': {
    etag: true,
    handle: async ({ deps, caller, query }) => {
      const {
        exchange,
        symbol,
        revision,
        drawings: shown,
      } = await deps.features.drawings.of(caller.user.id, query)
      return { exchange, symbol, revision, drawings: shown }
    },
  },
  'PATCH /api/platform/drawings': {
    bodyBytes: BODY_BYTES,
    handle: async ({ deps, caller, body }) => {
      const { put = [], remove = [] } = body
      const sheet = await deps.features.drawings.change(caller.user.id, body, { put, remove })
      return { revision: sheet.revision, count: sheet.drawings.length }
    },
  },
  'GET /api/platform/drawings/markets': async ({ deps, caller, query }) =>
    listed(
      'markets',
      await deps.features.drawings.markets(caller.user.id, pageOf(query, PAGE_MAX)),
      ({ exchange, symbol, drawings: drawn, updatedAt }) => ({
        exchange,
        symbol,
        drawings: drawn.length,
        updatedAt,
      }),
    ),
}
