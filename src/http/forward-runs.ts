// Forward runs: begin one, look at it, compare it with a backtest of today, stop it.

import type { ForwardRun } from '../work/forward/records.ts'
import type { ForwardRun as ForwardRunWire } from '../wire/forward-run.ts'
import { listed, pageOf } from './fields.ts'
import { JsonText } from './json-text.ts'
import type { Routes } from './route.ts'

const LISTED = 50

export const FORWARD_RUN_ROUTES: Routes = {
  'POST /api/platform/forward-runs': {
    rate: 'backtests',
    bodyBytes: 2 << 20,
    handle: ({ deps, caller, body, once }) =>
      once(
        (run: ForwardRun) => ({ id: run.id, forwardRun: shown(run) }),
        (also) => deps.features.forwardRuns.create(caller.user.id, body, also),
      ),
  },
  'GET /api/platform/forward-runs': async ({ deps, caller, query }) =>
    listed('forwardRuns', await deps.features.forwardRuns.list(caller.user.id, pageOf(query, LISTED)), shown),
  'GET /api/platform/forward-runs/{id}': async ({ deps, caller, params: { id } }) => ({
    forwardRun: shown(await deps.features.forwardRuns.get(caller.user.id, id)),
  }),
  'GET /api/platform/forward-runs/{id}/report': async ({ deps, caller, params: { id } }) => ({
    report: new JsonText([await deps.features.forwardRuns.report(caller.user.id, id)]),
  }),
  'GET /api/platform/forward-runs/{id}/tracks': async ({ deps, caller, params: { id }, query }) => ({
    tracks: new JsonText([
      await deps.features.forwardRuns.tracks(caller.user.id, id, query.bars === 'stored' ? 'stored' : 'seen'),
    ]),
  }),
  'GET /api/platform/forward-runs/{id}/orders': async ({ deps, caller, params: { id } }) => ({
    orders: await deps.features.forwardRuns.orders(caller.user.id, id),
  }),
  'GET /api/platform/forward-runs/{id}/divergence': async ({ deps, caller, params: { id } }) => ({
    divergence: await deps.features.forwardRuns.divergence(caller.user.id, id),
  }),
  'POST /api/platform/forward-runs/{id}/stop': async ({ deps, caller, params: { id } }) => ({
    id,
    forwardRun: shown(await deps.features.forwardRuns.stop(caller.user.id, id)),
  }),
  'DELETE /api/platform/forward-runs/{id}': async ({ deps, caller, params: { id } }) => {
    await deps.features.forwardRuns.remove(caller.user.id, id)
    return { id, deleted: true }
  },
}

function shown({
  userId: _owner,
  seriesOwner: _series,
  events: _events,
  foreseen: _foreseen,
  turn: _turn,
  begun: _begun,
  close: _close,
  day: _day,
  provisional = false,
  ...run
}: ForwardRun): ForwardRunWire {
  return { ...run, provisional }
}
