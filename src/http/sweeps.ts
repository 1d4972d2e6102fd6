// Sweeps: request one, follow it, page through its trials, stop it and resume it.

import { Elysia } from 'elysia'
import { Problem } from '../lib/problem.ts'
import { decodeCursor, encodeCursor } from '../store/collection.ts'
import { csvHead, csvLine, stitchedCsv } from '../work/sweeps/trials.ts'
import type { Sweep } from '../work/sweeps/sweeps.ts'
import type { Sweep as SweepWire } from '../wire/sweep.ts'
import { triedOf, triedScript } from '../work/sweeps/tries.ts'
import { access, type ApiDeps } from './access.ts'
import { csvAnswer, textStream } from './csv-answer.ts'
import { listed, pageOf } from './fields.ts'
import { jobEvents } from './progress-events.ts'
import { route } from './route.ts'

const BODY_BYTES = (1 << 20) + (256 << 10)
const PAGE_MAX = 1000

export function sweepRoutes(deps: ApiDeps) {
  const { sweeps } = deps.features
  const wire = (sweep: Sweep) => wireOf(deps, sweep)
  return new Elysia({ prefix: '/api/platform', tags: ['Sweeps'], normalize: false })
    .use(access(deps))
    .post(
      '/sweeps',
      ({ caller, body, once }) =>
        once(
          (sweep: Sweep) => ({ id: sweep.id, sweep: shown(sweep, null, 0) }),
          (also) => sweeps.create(caller.user.id, body, also),
        ),
      route('POST /api/platform/sweeps', { rate: 'backtests', bodyBytes: BODY_BYTES }),
    )
    .get(
      '/sweeps',
      async ({ caller, query }) => {
        const page = await sweeps.list(caller.user.id, pageOf(query, 100))
        const items = await Promise.all(page.items.map(wire))
        return listed('sweeps', { ...page, items }, (item) => item)
      },
      route('GET /api/platform/sweeps'),
    )
    .get(
      '/sweeps/:id',
      async ({ caller, params: { id } }) => {
        const sweep = await sweeps.get(caller.user.id, id)
        const script = await sweeps.script(caller.user.id, id)
        return {
          sweep: { ...(await wire(sweep)), ...script },
          verdict: sweep.state === 'done' ? await sweeps.verdict(caller.user.id, id) : null,
        }
      },
      route('GET /api/platform/sweeps/{id}'),
    )
    .get(
      '/sweeps/:id/results',
      async ({ caller, params: { id }, query }) => {
        const { limit, cursor } = pageOf(query, PAGE_MAX)
        const from = cursor === undefined ? 0 : Number(decodeCursor(cursor)[0])
        const { sweep, trials } = await sweeps.results(caller.user.id, id, { limit, from })
        const next = from + trials.length
        return { trials, nextCursor: next < sweep.tried && trials.length > 0 ? encodeCursor([next]) : null }
      },
      route('GET /api/platform/sweeps/{id}/results'),
    )
    .get(
      '/sweeps/:id/results.csv',
      async ({ caller, params: { id } }) => {
        const sweep = await sweeps.get(caller.user.id, id)
        return csvAnswer(sweep.id, textStream(csvOf(deps, sweep)))
      },
      route('GET /api/platform/sweeps/{id}/results.csv'),
    )
    .get(
      '/sweeps/:id/walk-forward',
      async ({ caller, params: { id }, query }) => ({
        stitched: await sweeps.stitched(caller.user.id, id, cellOf(query)),
      }),
      route('GET /api/platform/sweeps/{id}/walk-forward'),
    )
    .get(
      '/sweeps/:id/walk-forward.csv',
      async ({ caller, params: { id }, query }) => {
        const stitched = await sweeps.stitched(caller.user.id, id, cellOf(query))
        if (!stitched)
          throw new Problem(404, 'sweep_not_found', 'The sweep has no equity out of sample of such a cell.')
        const verdict = await sweeps.verdict(caller.user.id, id)
        return csvAnswer(
          `${id}-walk-forward`,
          stitchedCsv(stitched, verdict?.walkForward ?? null, cellOf(query)),
        )
      },
      route('GET /api/platform/sweeps/{id}/walk-forward.csv'),
    )
    .post(
      '/sweeps/:id/cancel',
      async ({ caller, params: { id } }) => ({
        id,
        sweep: await wire(await sweeps.cancel(caller.user.id, id)),
      }),
      route('POST /api/platform/sweeps/{id}/cancel'),
    )
    .post(
      '/sweeps/:id/resume',
      async ({ caller, params: { id } }) => ({
        id,
        sweep: await wire(await sweeps.resume(caller.user.id, id)),
      }),
      route('POST /api/platform/sweeps/{id}/resume'),
    )
    .delete(
      '/sweeps/:id',
      async ({ caller, params: { id } }) => {
        await sweeps.remove(caller.user.id, id)
        return { id, deleted: true }
      },
      route('DELETE /api/platform/sweeps/{id}'),
    )
    .get(
      '/sweeps/:id/events',
      ({ caller, params, request, server }) =>
        jobEvents(deps, sweeps, { caller, params, request, server }, async (sweep) => ({
          sweep: await wire(sweep),
        })),
      route('GET /api/platform/sweeps/{id}/events'),
    )
    .get(
      '/backtests/:id/verdict',
      async ({ caller, params: { id }, request, server }) => {
        server?.timeout(request, 0)
        const verdict = await verdictOf(deps, caller.user.id, id, request.signal)
        return { id, verdict }
      },
      route('GET /api/platform/backtests/{id}/verdict', { rate: 'backtests' }),
    )
    .get(
      '/trials',
      async ({ caller, query }) => ({ counted: await countedOf(deps, caller.user.id, query.of) }),
      route('GET /api/platform/trials'),
    )
}

const cellOf = ({ cell }: { readonly cell?: string }) => Number(cell ?? 0)

async function verdictOf({ features, runs }: ApiDeps, userId: string, id: string, signal: AbortSignal) {
  const tried = await triedOf(features.ledger, await runs.get(userId, id))
  // For a backtest from before trials were counted, only the backtest itself counts.
  return runs.verdict(userId, id, signal, tried ?? { counted: 1, deviation: 0 })
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
