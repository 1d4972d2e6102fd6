// Forward runs: begin one, look at it, compare it with a backtest of today, stop it.

import { Elysia } from 'elysia'
import type { ForwardRun } from '../work/forward/forward-runs.ts'
import type { ForwardRun as ForwardRunWire } from '../wire/forward-run.ts'
import { access, type ApiDeps } from './access.ts'
import { listed, pageOf } from './fields.ts'
import { JsonText } from './json-text.ts'
import { route } from './route.ts'

const LISTED = 50

export function forwardRunRoutes(deps: ApiDeps) {
  const { forwardRuns } = deps.features
  return new Elysia({ prefix: '/api/platform/forward-runs', tags: ['Forward runs'], normalize: false })
    .use(access(deps))
    .post(
      '',
      ({ caller, body, once }) =>
        once(
          (run: ForwardRun) => ({ id: run.id, forwardRun: shown(run) }),
          (also) => forwardRuns.create(caller.user.id, body, also),
        ),
      route('POST /api/platform/forward-runs', { rate: 'backtests', bodyBytes: 2 << 20 }),
    )
    .get(
      '',
      async ({ caller, query }) =>
        listed('forwardRuns', await forwardRuns.list(caller.user.id, pageOf(query, LISTED)), shown),
      route('GET /api/platform/forward-runs'),
    )
    .get(
      '/:id',
      async ({ caller, params: { id } }) => ({
        forwardRun: shown(await forwardRuns.get(caller.user.id, id)),
      }),
      route('GET /api/platform/forward-runs/{id}'),
    )
    .get(
      '/:id/report',
      async ({ caller, params: { id } }) => ({
        report: new JsonText([await forwardRuns.report(caller.user.id, id)]),
      }),
      route('GET /api/platform/forward-runs/{id}/report'),
    )
    .get(
      '/:id/tracks',
      async ({ caller, params: { id }, query }) => ({
        tracks: new JsonText([
          await forwardRuns.tracks(caller.user.id, id, query.bars === 'stored' ? 'stored' : 'seen'),
        ]),
      }),
      route('GET /api/platform/forward-runs/{id}/tracks'),
    )
    .get(
      '/:id/orders',
      async ({ caller, params: { id } }) => ({ orders: await forwardRuns.orders(caller.user.id, id) }),
      route('GET /api/platform/forward-runs/{id}/orders'),
    )
    .get(
      '/:id/divergence',
      async ({ caller, params: { id } }) => ({
        divergence: await forwardRuns.divergence(caller.user.id, id),
      }),
      route('GET /api/platform/forward-runs/{id}/divergence'),
    )
    .post(
      '/:id/stop',
      async ({ caller, params: { id } }) => ({
        id,
        forwardRun: shown(await forwardRuns.stop(caller.user.id, id)),
      }),
      route('POST /api/platform/forward-runs/{id}/stop'),
    )
    .delete(
      '/:id',
      async ({ caller, params: { id } }) => {
        await forwardRuns.remove(caller.user.id, id)
        return { id, deleted: true }
      },
      route('DELETE /api/platform/forward-runs/{id}'),
    )
}

function shown({
  userId: _owner,
  seriesOwner: _series,
  events: _events,
  foreseen: _foreseen,
  turn: _turn,
  begun: _begun,
  provisional = false,
  ...run
}: ForwardRun): ForwardRunWire {
  return { ...run, provisional }
}
