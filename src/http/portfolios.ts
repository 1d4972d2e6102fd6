// Portfolios: ask for one, follow it, look at the whole and at its parts.

import { Elysia } from 'elysia'
import { Problem } from '../lib/problem.ts'
import { equityCsv, partsCsv } from '../work/portfolios/tables.ts'
import type { Portfolio } from '../work/portfolios/portfolios.ts'
import type { Portfolio as PortfolioWire } from '../wire/portfolio.ts'
import { access, type ApiDeps } from './access.ts'
import { listed, pageOf } from './fields.ts'
import { csvAnswer, textStream } from './csv-answer.ts'
import { JsonText } from './json-text.ts'
import { jobEvents } from './progress-events.ts'
import { route } from './route.ts'

/** Scripts of twenty parts, of which few are long. */
const BODY_BYTES = 4 << 20

export function portfolioRoutes(deps: ApiDeps) {
  const { portfolios } = deps.features
  const done = async (userId: string, id: string) => {
    const portfolio = await portfolios.get(userId, id)
    const result = await portfolios.result(userId, id)
    if (!result) throw new Problem(404, 'portfolio_not_found', 'The portfolio has no result: it is not done.')
    return { portfolio, result }
  }
  return new Elysia({ prefix: '/api/platform', tags: ['Portfolios'], normalize: false })
    .use(access(deps))
    .post(
      '/portfolios',
      ({ caller, body, once }) =>
        once(
          (portfolio: Portfolio) => ({ id: portfolio.id, portfolio: shown(portfolio) }),
          (also) => portfolios.create(caller.user.id, body, also),
        ),
      route('POST /api/platform/portfolios', { rate: 'backtests', bodyBytes: BODY_BYTES }),
    )
    .get(
      '/portfolios',
      async ({ caller, query }) =>
        listed('portfolios', await portfolios.list(caller.user.id, pageOf(query, 100)), shown),
      route('GET /api/platform/portfolios'),
    )
    .get(
      '/portfolios/:id',
      async ({ caller, params: { id } }) => {
        const portfolio = shown(await portfolios.get(caller.user.id, id))
        const scripts = await portfolios.script(caller.user.id, id)
        const parts = portfolio.parts.map((part, i) => ({ ...part, ...scripts[i] }))
        return { portfolio: { ...portfolio, parts }, result: await portfolios.result(caller.user.id, id) }
      },
      route('GET /api/platform/portfolios/{id}'),
    )
    .get(
      '/portfolios/:id/parts/:part',
      async ({ caller, params: { id, part } }) => ({
        report: new JsonText([await portfolios.report(caller.user.id, id, Number(part))], {
          tag: `${id} ${part}`,
        }),
      }),
      route('GET /api/platform/portfolios/{id}/parts/{part}', { etag: true }),
    )
    .get(
      '/portfolios/:id/parts/:part/tracks',
      async ({ caller, params: { id, part } }) => ({
        tracks: new JsonText([await portfolios.tracks(caller.user.id, id, Number(part))], {
          tag: `${id} ${part} tracks`,
        }),
      }),
      route('GET /api/platform/portfolios/{id}/parts/{part}/tracks', { etag: true }),
    )
    .get(
      '/portfolios/:id/equity.csv',
      async ({ caller, params: { id } }) => {
        const { portfolio, result } = await done(caller.user.id, id)
        return csvAnswer(`${id}-equity`, equityCsv(portfolio, result))
      },
      route('GET /api/platform/portfolios/{id}/equity.csv'),
    )
    .get(
      '/portfolios/:id/parts.csv',
      async ({ caller, params: { id } }) => {
        const { portfolio, result } = await done(caller.user.id, id)
        return csvAnswer(`${id}-parts`, partsCsv(portfolio, result))
      },
      route('GET /api/platform/portfolios/{id}/parts.csv'),
    )
    .get(
      '/portfolios/:id/trades.csv',
      async ({ caller, params: { id } }) =>
        csvAnswer(`${id}-trades`, textStream((await portfolios.trades(caller.user.id, id)).parts)),
      route('GET /api/platform/portfolios/{id}/trades.csv'),
    )
    .post(
      '/portfolios/:id/cancel',
      async ({ caller, params: { id } }) => ({
        id,
        portfolio: shown(await portfolios.cancel(caller.user.id, id)),
      }),
      route('POST /api/platform/portfolios/{id}/cancel'),
    )
    .delete(
      '/portfolios/:id',
      async ({ caller, params: { id } }) => {
        await portfolios.remove(caller.user.id, id)
        return { id, deleted: true }
      },
      route('DELETE /api/platform/portfolios/{id}'),
    )
    .get(
      '/portfolios/:id/events',
      ({ caller, params, request, server }) =>
        jobEvents(deps, portfolios, { caller, params, request, server }, (portfolio) => ({
          portfolio: shown(portfolio),
        })),
      route('GET /api/platform/portfolios/{id}/events'),
    )
}

function shown({ userId: _owner, parts, ...portfolio }: Portfolio): PortfolioWire {
  return { ...portfolio, parts: parts.map(({ seriesOwner: _seriesOwner, ...part }) => part) }
}
