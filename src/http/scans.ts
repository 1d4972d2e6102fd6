// Scans: request one, follow it, choose from its rows, run it again.

import { Elysia } from 'elysia'
import { Problem } from '../lib/problem.ts'
import { csvHead, csvLine } from '../work/scans/rows.ts'
import type { Scan } from '../work/scans/scans.ts'
import { decodeCursor, encodeCursor } from '../store/collection.ts'
import type { Scan as ScanWire } from '../wire/scan.ts'
import { access, type ApiDeps } from './access.ts'
import { csvAnswer } from './csv-answer.ts'
import { listed, pageOf } from './fields.ts'
import { jobEvents } from './progress-events.ts'
import { route } from './route.ts'

const BODY_BYTES = 2 << 20
const PAGE_MAX = 1000

export function scanRoutes(deps: ApiDeps) {
  const { scans } = deps.features
  return new Elysia({ prefix: '/api/platform', tags: ['Scans'], normalize: false })
    .use(access(deps))
    .post(
      '/scans',
      ({ caller, body, once, may }) => {
        if (body.watchlistId !== undefined && !may('watchlists:read'))
          throw new Problem(
            403,
            'insufficient_scope',
            'The access token needs the scope watchlists:read to look at the symbols of a watchlist.',
          )
        return once(
          (scan: Scan) => ({ id: scan.id, scan: shown(scan) }),
          (also) => scans.create(caller.user.id, body, also),
        )
      },
      route('POST /api/platform/scans', { rate: 'backtests', bodyBytes: BODY_BYTES }),
    )
    .get(
      '/scans',
      async ({ caller, query }) =>
        listed('scans', await scans.list(caller.user.id, pageOf(query, 100)), shown),
      route('GET /api/platform/scans'),
    )
    .get(
      '/scans/:id',
      async ({ caller, params: { id } }) => {
        const scan = await scans.get(caller.user.id, id)
        const { symbols: _symbols, ...script } = await scans.script(caller.user.id, id)
        return { scan: { ...shown(scan), ...script } }
      },
      route('GET /api/platform/scans/{id}'),
    )
    .get(
      '/scans/:id/results',
      async ({ caller, params: { id }, query }) => {
        const { limit, cursor } = pageOf(query, PAGE_MAX)
        const from = cursor === undefined ? 0 : Number(decodeCursor(cursor)[0])
        const { rows } = await scans.rows(caller.user.id, id, query)
        const next = from + limit
        return {
          rows: rows.slice(from, next),
          nextCursor: next < rows.length ? encodeCursor([next]) : null,
          found: rows.length,
        }
      },
      route('GET /api/platform/scans/{id}/results'),
    )
    .get(
      '/scans/:id/results.csv',
      async ({ caller, params: { id }, query }) => {
        const { scan, rows } = await scans.rows(caller.user.id, id, query)
        const lines = [csvHead(scan), ...rows.map((row) => csvLine(scan, row))]
        return csvAnswer(scan.id, `${lines.join('\n')}\n`)
      },
      route('GET /api/platform/scans/{id}/results.csv'),
    )
    .patch(
      '/scans/:id',
      async ({ caller, params: { id }, body: { name, watch } }) => ({
        scan: shown(
          await scans.update(caller.user.id, id, {
            name,
            watch: watch && { conditions: [], webhookIds: [], ...watch },
          }),
        ),
      }),
      route('PATCH /api/platform/scans/{id}'),
    )
    .post(
      '/scans/:id/run',
      async ({ caller, params: { id } }) => ({ id, scan: shown(await scans.again(caller.user.id, id)) }),
      route('POST /api/platform/scans/{id}/run', { rate: 'backtests' }),
    )
    .post(
      '/scans/:id/cancel',
      async ({ caller, params: { id } }) => ({ id, scan: shown(await scans.cancel(caller.user.id, id)) }),
      route('POST /api/platform/scans/{id}/cancel'),
    )
    .delete(
      '/scans/:id',
      async ({ caller, params: { id } }) => {
        await scans.remove(caller.user.id, id)
        return { id, deleted: true }
      },
      route('DELETE /api/platform/scans/{id}'),
    )
    .get(
      '/scans/:id/events',
      ({ caller, params, request, server }) =>
        jobEvents(deps, scans, { caller, params, request, server }, (scan) => ({ scan: shown(scan) })),
      route('GET /api/platform/scans/{id}/events'),
    )
}

function shown({ userId: _owner, batches: _batches, ...scan }: Scan): ScanWire {
  return scan
}
