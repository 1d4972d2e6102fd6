// Three questions about a finished backtest: does it come out the same today, does it see the future, and does TradingView
// agree.

import { Elysia } from 'elysia'
import { Problem } from '../lib/problem.ts'
import { access, type ApiDeps } from './access.ts'
import { bodyBytes } from './body.ts'
import { JsonText } from './json-text.ts'
import { route } from './route.ts'

const CSV_BYTES = 32 * 1024 * 1024

export function backtestCheckRoutes(deps: ApiDeps) {
  const { runs, bars, gate } = deps
  const { texts } = deps.rooms
  return new Elysia({ prefix: '/api/platform/backtests', tags: ['Backtests'], normalize: false })
    .use(access(deps))
    .post(
      '/:id/verify',
      async ({ caller, params: { id }, request, server }) => {
        server?.timeout(request, 0)
        return { id, verification: { ...(await runs.verify(caller.user.id, id, request.signal)) } }
      },
      route('POST /api/platform/backtests/{id}/verify', { rate: 'backtests' }),
    )
    .post(
      '/:id/repaint',
      async ({ caller, params: { id }, request, server }) => {
        server?.timeout(request, 0)
        return { id, repaint: new JsonText(await runs.repaint(caller.user.id, id, request.signal)) }
      },
      route('POST /api/platform/backtests/{id}/repaint', { rate: 'backtests' }),
    )
    .post(
      '/:id/compare',
      async ({ caller, params: { id }, request, visit }) => {
        const run = await runs.get(caller.user.id, id)
        const report = await runs.report(caller.user.id, id)
        if (report === null) throw new Problem(409, 'conflict', 'The backtest is not done: it has no report.')
        const held = gate.bodies.open(caller.user.id)
        try {
          const job = {
            body: await bodyBytes(request, CSV_BYTES, { large: { clock: deps.clock, held } }),
            bars: await runs.barsOf(caller.user.id, id),
            exchangeTimezone: (await bars.symbol(run.exchange, run.symbol, caller.user.id)).timezone,
          }
          const { comparison, warnings, unknown } = await texts.compare(
            caller.user.id,
            job,
            { report: report.parts },
            request.signal,
          )
          visit.unknownFields.push(...unknown)
          return {
            id,
            comparison: new JsonText(comparison),
            ...(warnings.length > 0 && { warnings }),
          }
        } finally {
          held.release()
        }
      },
      // Up to 32 MiB of one text, which are not looked into here.
      route('POST /api/platform/backtests/{id}/compare', { streams: true }),
    )
}
