// Edge or luck: the bars that are held out, figures of a part of a backtest, and the judgement on it.

import type { EdgeFound } from '../broker/statistics/edge.ts'
import { percentText } from '../broker/statistics/luck-text.ts'
import { lazily } from '../lib/memo.ts'
import { Problem } from '../lib/problem.ts'
import { barsNotFound } from '../market/bar-cache.ts'
import { seriesKey, type SeriesKey } from '../market/bar-store.ts'
import { requireInterval } from '../market/interval.ts'
import { barsSeenBy } from '../market/seen-bars.ts'
import type { Judgement } from '../wire/judgement.ts'
import type { ApiDeps } from './access.ts'
import { timeOf } from './bars.ts'
import type { Routes } from './route.ts'

/** Statistics bring a library, which is loaded with the first judgement. */
const statistics = lazily(() => import('../broker/statistics/edge.ts'))

export const JUDGEMENT_ROUTES: Routes = {
  'GET /api/platform/hold-out': async ({ deps, caller, query }) => {
    const interval = requireInterval(query.interval, 'query')
    const key = seriesKey(query.exchange, query.symbol, interval)
    return { holdOut: await holdOutOf(deps, caller.user.id, key) }
  },
  'GET /api/platform/backtests/{id}/stretch': {
    handle: async ({ deps, caller, params: { id }, query, request, server }) => {
      server?.timeout(request, 0)
      const from = timeOf('start', query.start) ?? -Infinity
      const to = timeOf('end', query.end) ?? Infinity
      const found = await deps.runs.looks.stretch(caller.user.id, id, { from, to }, request.signal)
      return { id, stretch: found?.stretch ?? null }
    },
  },
  'POST /api/platform/backtests/{id}/judge': {
    rate: 'backtests',
    emptyBody: true,
    handle: async ({ deps, caller, params: { id }, request, server }) => {
      server?.timeout(request, 0)
      return { id, judgement: await judged(deps, caller.user.id, id, request.signal) }
    },
  },
}

async function holdOutOf({ features, bars }: ApiDeps, userId: string, key: SeriesKey) {
  const found = await features.holdOuts.of(userId, key)
  if (!found) throw await barsNotFound(barsSeenBy(bars, userId), key)
  return found
}

async function judged(deps: ApiDeps, userId: string, id: string, signal: AbortSignal): Promise<Judgement> {
  const { runs, features } = deps
  const run = await runs.get(userId, id)
  const { exchange, symbol, interval } = run
  const { from } = await holdOutOf(deps, userId, { exchange, symbol, interval })
  const before = await runs.looks.stretch(userId, id, { from: -Infinity, to: from }, signal)
  const heldOut = await runs.looks.stretch(userId, id, { from, to: Infinity }, signal)
  if (!before || !heldOut)
    throw new Problem(
      409,
      'conflict',
      `The backtest has no bars ${before ? 'among' : 'before'} those held out, which begin at ${new Date(from).toISOString()}. Run it on more bars.`,
    )
  const look = await features.holdOuts.look(userId, run, from, id)
  const tried = Math.max(1, await features.ledger.countOn(userId, run))
  const { edgeOf, EDGE_TRADES } = await statistics()
  const found = edgeOf(
    { record: before.record, trades: before.stretch.trades },
    { record: heldOut.record, trades: heldOut.stretch.trades },
    { tried, look },
  )
  const { edge, ...chances } = found
  const shown = { tried, look, ...chances, before: before.stretch, heldOut: heldOut.stretch }
  return { verdict: edge ? 'edge' : 'no edge', sentence: sentenceOf(found, shown, EDGE_TRADES), ...shown }
}

function sentenceOf(
  { edge, luck, luckHeldOut, allowed }: EdgeFound,
  { tried, before, heldOut }: Pick<Judgement, 'tried' | 'before' | 'heldOut'>,
  least: number,
): string {
  const tries = tried === 1 ? 'one try' : `${tried.toLocaleString('en')} tries`
  if (edge)
    return `Edge: after ${tries} on this market luck does as well in ${percentText(luck ?? 1)} of the cases, and on the bars held out in ${percentText(luckHeldOut ?? 1)}. It earned ${percentText(heldOut.netProfitPct)} there.`
  const few = Math.min(before.trades, heldOut.trades)
  if (few < least)
    return `No edge shown: ${before.trades} trades before the bars held out and ${heldOut.trades} on them are too few to tell; it takes ${least} on either side.`
  if (luck === null || luckHeldOut === null) return 'No edge shown: there are too few bars to tell.'
  const reasons = [
    ...(luck > 0.05
      ? [`the best of ${tries} on this market does as well by luck in ${percentText(luck)} of the cases`]
      : []),
    ...(luckHeldOut > allowed
      ? [
          `on the bars held out luck does as well in ${percentText(luckHeldOut)} of the cases, where ${(allowed * 100).toPrecision(2)}% are allowed`,
        ]
      : []),
  ]
  return `No edge: ${reasons.join(', and ')}.`
}
