// Scans: request one, follow it, choose from its rows, run it again.

import { Problem } from '../lib/problem.ts'
import { csvHead, csvLine } from '../work/scans/rows.ts'
import type { Scan } from '../work/scans/scans.ts'
import { positionAt, encodeCursor } from '../store/collection.ts'
import type { Scan as ScanWire } from '../wire/scan.ts'
import { csvAnswer } from './csv-answer.ts'
import { listed, pageOf } from './fields.ts'
import { jobEvents } from './progress-events.ts'
import type { Routes } from './route.ts'

const BODY_BYTES = 2 << 20
const PAGE_MAX = 1000

export const SCAN_ROUTES: Routes = {
  'POST /api/platform/scans': {
    rate: 'backtests',
    bodyBytes: BODY_BYTES,
    handle: ({ deps, caller, body, once, may }) => {
      if (body.watchlistId !== undefined && !may('watchlists:read'))
        throw new Problem(
          403,
          'insufficient_scope',
          'The access token needs the scope watchlists:read to look at the symbols of a watchlist.',
        )
      return once(
        (scan: Scan) => ({ id: scan.id, scan: shown(scan) }),
        (also) => deps.features.scans.create(caller.user.id, body, also),
      )
    },
  },
  'GET /api/platform/scans': async ({ deps, caller, query }) =>
    listed('scans', await deps.features.scans.list(caller.user.id, pageOf(query, 100)), shown),
  'GET /api/platform/scans/{id}': async ({ deps, caller, params: { id } }) => {
    const scan = await deps.features.scans.get(caller.user.id, id)
    const { symbols: _symbols, ...script } = await deps.features.scans.script(caller.user.id, id)
    return { scan: { ...shown(scan), ...script } }
  },
  'GET /api/platform/scans/{id}/results': async ({ deps, caller, params: { id }, query }) => {
    const { limit, cursor } = pageOf(query, PAGE_MAX)
    const from = positionAt(cursor)
    const { rows } = await deps.features.scans.rows(caller.user.id, id, query)
    const next = from + limit
    return {
      rows: rows.slice(from, next),
      nextCursor: next < rows.length ? encodeCursor([next]) : null,
      found: rows.length,
    }
  },
  'GET /api/platform/scans/{id}/results.csv': async ({ deps, caller, params: { id }, query }) => {
    const { scan, rows } = await deps.features.scans.rows(caller.user.id, id, query)
    const lines = [csvHead(scan), ...rows.map((row) => csvLine(scan, row))]
    return csvAnswer(scan.id, `${lines.join('\n')}\n`, scan)
  },
  'PATCH /api/platform/scans/{id}': async ({ deps, caller, params: { id }, body: { name, watch } }) => ({
    scan: shown(
      await deps.features.scans.update(caller.user.id, id, {
        name,
        watch: watch && { conditions: [], webhookIds: [], ...watch },
      }),
    ),
  }),
  'POST /api/platform/scans/{id}/run': {
    rate: 'backtests',
    handle: async ({ deps, caller, params: { id } }) => ({
      id,
      scan: shown(await deps.features.scans.again(caller.user.id, id)),
    }),
  },
  'POST /api/platform/scans/{id}/cancel': async ({ deps, caller, params: { id } }) => ({
    id,
    scan: shown(await deps.features.scans.cancel(caller.user.id, id)),
  }),
  'DELETE /api/platform/scans/{id}': async ({ deps, caller, params: { id } }) => {
    await deps.features.scans.remove(caller.user.id, id)
    return { id, deleted: true }
  },
  'GET /api/platform/scans/{id}/events': ({ deps, caller, params, request, server }) =>
    jobEvents(deps, deps.features.scans, { caller, params, request, server }, (scan) => ({
      scan: shown(scan),
    })),
}

function shown({ userId: _owner, batches: _batches, ...scan }: Scan): ScanWire {
  return scan
}
