// Sweeps: request one, follow it, page through its trials, stop it and resume it.

import { Problem } from '../lib/problem.ts'
import { positionAt, encodeCursor } from '../store/collection.ts'
import { csvHead, csvLine, stitchedCsv } from '../work/sweeps/trials.ts'
import type { Sweep } from '../work/sweeps/sweeps.ts'
import type { Sweep as SweepWire } from '../wire/sweep.ts'
import { triedOf, triedScript } from '../work/sweeps/tries.ts'
import type { ApiDeps } from './access.ts'
import { csvAnswer, textStream } from './csv-answer.ts'
import { listed, pageOf } from './fields.ts'
import { jobEvents } from './progress-events.ts'
import type { Routes } from './route.ts'

const BODY_BYTES = (1 << 20) + (256 << 10)
const PAGE_MAX = 1000

export const SWEEP_ROUTES: Routes = {
  'POST /api/platform/sweeps': {
    rate: 'backtests',
    bodyBytes: BODY_BYTES,
    handle: ({ deps, caller, body, once }) =>
      once(
        (sweep: Sweep) => ({ id: sweep.id, sweep: shown(sweep, null, 0) }),
        (also) => deps.features.sweeps.create(caller.user.id, body, also),
      ),
  },
  'GET /api/platform/sweeps': async ({ deps, caller, query }) => {
    const page = await deps.features.sweeps.list(caller.user.id, pageOf(query, 100))
    const items = await Promise.all(page.items.map((sweep) => wireOf(deps, sweep)))
    return listed('sweeps', { ...page, items }, (item) => item)
  },
  'GET /api/platform/sweeps/{id}': async ({ deps, caller, params: { id } }) => {
    const sweep = await deps.features.sweeps.get(caller.user.id, id)
    const script = await deps.features.sweeps.script(caller.user.id, id)
    return {
      sweep: { ...(await wireOf(deps, sweep)), ...script },
      verdict: sweep.state === 'done' ? await deps.features.sweeps.verdict(caller.user.id, id) : null,
    }
  },
  'GET /api/platform/sweeps/{id}/results': async ({ deps, caller, params: { id }, query }) => {
    const { limit, cursor } = pageOf(query, PAGE_MAX)
    const from = positionAt(cursor)
    const { sweep, trials } = await deps.features.sweeps.results(caller.user.id, id, { limit, from })
    const next = from + trials.length
    return { trials, nextCursor: next < sweep.tried && trials.length > 0 ? encodeCursor([next]) : null }
  },
  'GET /api/platform/sweeps/{id}/results.csv': async ({ deps, caller, params: { id } }) => {
    const sweep = await deps.features.sweeps.get(caller.user.id, id)
    return csvAnswer(sweep.id, textStream(csvOf(deps, sweep)), sweep)
  },
  'GET /api/platform/sweeps/{id}/walk-forward': async ({ deps, caller, params: { id }, query }) => ({
    stitched: await deps.features.sweeps.stitched(caller.user.id, id, cellOf(query)),
  }),
  'GET /api/platform/sweeps/{id}/walk-forward.csv': async ({ deps, caller, params: { id }, query }) => {
    const stitched = await deps.features.sweeps.stitched(caller.user.id, id, cellOf(query))
    if (!stitched)
      throw new Problem(404, 'sweep_not_found', 'The sweep has no equity out of sample of such a cell.')
    const verdict = await deps.features.sweeps.verdict(caller.user.id, id)
    const csv = stitchedCsv(stitched, verdict?.walkForward ?? null, cellOf(query))
    return csvAnswer(`${id}-walk-forward`, csv, await deps.features.sweeps.get(caller.user.id, id))
  },
  'POST /api/platform/sweeps/{id}/cancel': async ({ deps, caller, params: { id } }) => ({
    id,
    sweep: await wireOf(deps, await deps.features.sweeps.cancel(caller.user.id, id)),
  }),
  'POST /api/platform/sweeps/{id}/resume': async ({ deps, caller, params: { id } }) => ({
    id,
    sweep: await wireOf(deps, await deps.features.sweeps.resume(caller.user.id, id)),
  }),
  'DELETE /api/platform/sweeps/{id}': async ({ deps, caller, params: { id } }) => {
    await deps.features.sweeps.remove(caller.user.id, id)
    return { id, deleted: true }
  },
  'GET /api/platform/sweeps/{id}/events': ({ deps, caller, params, request, server }) =>
    jobEvents(deps, deps.features.sweeps, { caller, params, request, server }, async (sweep) => ({
      sweep: await wireOf(deps, sweep),
    })),
  'GET /api/platform/backtests/{id}/verdict': {
    rate: 'backtests',
    handle: async ({ deps, caller, params: { id }, request, server }) => {
      server?.timeout(request, 0)
      const verdict = await verdictOf(deps, caller.user.id, id, request.signal)
      return { id, verdict }
    },
  },
  'GET /api/platform/trials': async ({ deps, caller, query }) => ({
    counted: await countedOf(deps, caller.user.id, query.of),
  }),
}

const cellOf = ({ cell }: { readonly cell?: string }) => Number(cell ?? 0)

async function verdictOf({ features, runs }: ApiDeps, userId: string, id: string, signal: AbortSignal) {
  const tried = await triedOf(features.ledger, await runs.get(userId, id))
  // For a backtest from before trials were counted, only the backtest itself counts.
  return runs.looks.verdict(userId, id, signal, tried ?? { counted: 1, deviation: 0 })
}

/** How many trials are counted for the script of a sweep or a backtest on its market. */
async function countedOf({ features, runs }: ApiDeps, userId: string, id: string): Promise<number> {
  if (id.startsWith('sw_')) return (await features.sweeps.counted(await features.sweeps.get(userId, id))) ?? 0
  const of = triedScript(await runs.get(userId, id))
  return of ? features.ledger.count(of) : 0
}

/** The trials as CSV, a page at a time. */
async function* csvOf({ features }: ApiDeps, sweep: Sweep): AsyncGenerator<string> {
  yield `${csvHead(
    sweep,
    sweep.space.map(({ input, property }) => input ?? property ?? ''),
  )}\n`
  for (let from = 0; from < sweep.tried;) {
    const { trials } = await features.sweeps.results(sweep.userId, sweep.id, { limit: PAGE_MAX, from })
    if (trials.length === 0) return
    yield trials.map((trial) => `${csvLine(trial)}\n`).join('')
    from += trials.length
  }
}

async function wireOf({ features }: ApiDeps, sweep: Sweep): Promise<SweepWire> {
  return shown(sweep, await features.sweeps.counted(sweep), features.sweeps.trying(sweep.id))
}

function shown(sweep: Sweep, counted: number | null, trying: number): SweepWire {
  const {
    userId: _owner,
    seriesOwner: _seriesOwner,
    barsHash: _hash,
    measured: _measured,
    batches: _batches,
    script: _script,
    ...rest
  } = sweep
  return { ...rest, halving: rest.halving ?? null, filtered: rest.filtered ?? 0, counted, trying }
}
