// Portfolios: ask for one, follow it, look at the whole and at its parts.

import { Problem } from '../lib/problem.ts'
import { equityCsv, partsCsv } from '../work/portfolios/tables.ts'
import type { Portfolio } from '../work/portfolios/portfolios.ts'
import type { Portfolio as PortfolioWire } from '../wire/portfolio.ts'
import type { ApiDeps } from './access.ts'
import { listed, pageOf } from './fields.ts'
import { csvAnswer, textStream } from './csv-answer.ts'
import { JsonText } from './json-text.ts'
import { jobEvents } from './progress-events.ts'
import type { Routes } from './route.ts'

/** Scripts of twenty parts, of which few are long. */
const BODY_BYTES = 4 << 20

async function done({ portfolios }: ApiDeps['features'], userId: string, id: string) {
  const portfolio = await portfolios.get(userId, id)
  const result = await portfolios.result(userId, id)
  if (!result) throw new Problem(404, 'portfolio_not_found', 'The portfolio has no result: it is not done.')
  return { portfolio, result }
}

export const PORTFOLIO_ROUTES: Routes = {
  'POST /api/platform/portfolios': {
    rate: 'backtests',
    bodyBytes: BODY_BYTES,
    handle: ({ deps, caller, body, once }) =>
      once(
        (portfolio: Portfolio) => ({ id: portfolio.id, portfolio: shown(portfolio) }),
        (also) => deps.features.portfolios.create(caller.user.id, body, also),
      ),
  },
  'GET /api/platform/portfolios': async ({ deps, caller, query }) =>
    listed('portfolios', await deps.features.portfolios.list(caller.user.id, pageOf(query, 100)), shown),
  'GET /api/platform/portfolios/{id}': async ({ deps, caller, params: { id } }) => {
    const portfolio = shown(await deps.features.portfolios.get(caller.user.id, id))
    const scripts = await deps.features.portfolios.script(caller.user.id, id)
    const parts = portfolio.parts.map((part, i) => ({ ...part, ...scripts[i] }))
    return {
      portfolio: { ...portfolio, parts },
      result: await deps.features.portfolios.result(caller.user.id, id),
    }
  },
  'GET /api/platform/portfolios/{id}/parts/{part}': {
    etag: true,
    handle: async ({ deps, caller, params: { id, part } }) => ({
      report: new JsonText([await deps.features.portfolios.report(caller.user.id, id, Number(part))], {
        tag: `${id} ${part}`,
      }),
    }),
  },
  'GET /api/platform/portfolios/{id}/parts/{part}/tracks': {
    etag: true,
    handle: async ({ deps, caller, params: { id, part } }) => ({
      tracks: new JsonText([await deps.features.portfolios.tracks(caller.user.id, id, Number(part))], {
        tag: `${id} ${part} tracks`,
      }),
    }),
  },
  'GET /api/platform/portfolios/{id}/equity.csv': async ({ deps, caller, params: { id } }) => {
    const { portfolio, result } = await done(deps.features, caller.user.id, id)
    return csvAnswer(`${id}-equity`, equityCsv(portfolio, result), portfolio)
  },
  'GET /api/platform/portfolios/{id}/parts.csv': async ({ deps, caller, params: { id } }) => {
    const { portfolio, result } = await done(deps.features, caller.user.id, id)
    return csvAnswer(`${id}-parts`, partsCsv(portfolio, result), portfolio)
  },
  'GET /api/platform/portfolios/{id}/trades.csv': async ({ deps, caller, params: { id } }) => {
    const { portfolios } = deps.features
    const { parts } = await portfolios.trades(caller.user.id, id)
    return csvAnswer(`${id}-trades`, textStream(parts), await portfolios.get(caller.user.id, id))
  },
  'POST /api/platform/portfolios/{id}/cancel': async ({ deps, caller, params: { id } }) => ({
    id,
    portfolio: shown(await deps.features.portfolios.cancel(caller.user.id, id)),
  }),
  'DELETE /api/platform/portfolios/{id}': async ({ deps, caller, params: { id } }) => {
    await deps.features.portfolios.remove(caller.user.id, id)
    return { id, deleted: true }
  },
  'GET /api/platform/portfolios/{id}/events': ({ deps, caller, params, request, server }) =>
    jobEvents(deps, deps.features.portfolios, { caller, params, request, server }, (portfolio) => ({
      portfolio: shown(portfolio),
    })),
}

function shown({ userId: _owner, parts, ...portfolio }: Portfolio): PortfolioWire {
  return { ...portfolio, parts: parts.map(({ seriesOwner: _seriesOwner, ...part }) => part) }
}
