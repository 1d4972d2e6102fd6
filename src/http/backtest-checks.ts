// Three checks of a finished backtest: does it give the same result today, does it see the future, and does TradingView
// agree.

import { Problem } from '../lib/problem.ts'
import { withoutResult } from '../work/runs/records.ts'
import type { ApiDeps } from './access.ts'
import { bodyBytes } from './body.ts'
import { JsonText } from './json-text.ts'
import type { Routes } from './route.ts'

const CSV_BYTES = 32 * 1024 * 1024

async function compared(deps: ApiDeps, userId: string, id: string, request: Request) {
  const run = await deps.runs.get(userId, id)
  const report = await deps.runs.report(userId, id)
  if (report === null) throw withoutResult(run)
  const tracks = await deps.runs.tracks(userId, id)
  const held = deps.gate.bodies.open(userId)
  try {
    const job = {
      body: await bodyBytes(request, CSV_BYTES, { large: { clock: deps.clock, held } }),
      bars: await deps.runs.looks.barsOf(userId, id),
      exchangeTimezone: (await deps.bars.symbol(run.exchange, run.symbol, userId)).timezone,
    }
    return await deps.features.texts.compare(
      userId,
      job,
      { report: report.parts, ...(tracks && { tracks: tracks.parts }) },
      request.signal,
    )
  } finally {
    held.release()
  }
}

export const BACKTEST_CHECK_ROUTES: Routes = {
  'POST /api/platform/backtests/{id}/verify': {
    rate: 'backtests',
    handle: async ({ deps, caller, params: { id }, request, server }) => {
      server?.timeout(request, 0)
      return { id, verification: { ...(await deps.runs.looks.verify(caller.user.id, id, request.signal)) } }
    },
  },
  'POST /api/platform/backtests/{id}/repaint': {
    rate: 'backtests',
    handle: async ({ deps, caller, params: { id }, request, server }) => {
      server?.timeout(request, 0)
      return { id, repaint: new JsonText(await deps.runs.looks.repaint(caller.user.id, id, request.signal)) }
    },
  },
  // A comparison sends up to 32 MiB of one text, which a worker reads instead.
  'POST /api/platform/backtests/{id}/compare': {
    streams: true,
    handle: async ({ deps, caller, params: { id }, query, request, server, visit }) => {
      const { comparison, exported, lost, timezone, settings, figures, warnings, unknown } = await compared(
        deps,
        caller.user.id,
        id,
        request,
      )
      visit.unknownFields.push(...unknown)
      const said = [...warnings]
      let explanation = 'null'
      if (exported !== '' && query.explain !== 'false') {
        server?.timeout(request, 0)
        explanation = await deps.runs.looks
          .explain(caller.user.id, id, { exported, lost, timezone }, request.signal)
          .catch((error: unknown) => whyNot(error, said))
      }
      return {
        id,
        comparison: new JsonText(comparison),
        explanation: new JsonText(explanation),
        settings: new JsonText(settings),
        figures: new JsonText(figures),
        ...(said.length > 0 && { warnings: said }),
      }
    },
  },
}

/** The comparison is useful even if it cannot be explained. */
function whyNot(error: unknown, warnings: { code: string; message: string }[]): string {
  if (!(error instanceof Problem)) throw error
  warnings.push({ code: error.code, message: `It was not looked for why: ${error.message}` })
  return 'null'
}
