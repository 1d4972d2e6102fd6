// Watchlists: imported all or nothing, exported as CSV.

import { Elysia } from 'elysia'
import {
  exportCsv,
  WATCHLISTS_PER_USER,
  type ImportWarning,
  type Watchlist,
  type WatchlistMade,
} from '../people/watchlists/watchlists.ts'
import type { Watchlist as WatchlistWire } from '../wire/watchlist.ts'
import { access, type ApiDeps } from './access.ts'
import { csvAnswer } from './csv-answer.ts'
import { watchlistItem } from './search-items.ts'
import { listed, pageName, pageOf } from './fields.ts'
import { route } from './route.ts'

const BODY_BYTES = 2 * 1024 * 1024

const wire = ({ ownerId: _owner, items, ...shown }: Watchlist): WatchlistWire => ({
  ...shown,
  items: [...items],
})
const explained = (warnings: readonly ImportWarning[]) =>
  warnings.length === 0
    ? {}
    : {
        warnings: warnings.map((one) => ({
          ...one,
          message: 'The symbol is in the list already; this row was left out.',
        })),
      }

export function watchlistRoutes(deps: ApiDeps) {
  const { kept } = deps
  const { watchlists, search } = deps.features
  return new Elysia({ prefix: '/api/platform/watchlists', tags: ['Watchlists'], normalize: false })
    .use(access(deps))
    .post(
      '/import',
      ({ caller, body, once }) =>
        once(
          ({ watchlist, warnings }: WatchlistMade) => ({
            id: watchlist.id,
            watchlist: wire(watchlist),
            ...explained(warnings),
          }),
          async (also) => {
            const made = await watchlists.import(caller.user.id, body.name, body.items, also)
            search.put(watchlistItem(made.watchlist))
            return made
          },
        ),
      route('POST /api/platform/watchlists/import', { bodyBytes: BODY_BYTES }),
    )
    .get(
      '',
      async ({ caller: { user }, query }) => {
        const page = pageOf(query, WATCHLISTS_PER_USER)
        return kept.answer(
          pageName('watchlists', user.id, page),
          () => watchlists.listStamp(user.id),
          async () => listed('watchlists', await watchlists.list(user.id, page), wire),
        )
      },
      route('GET /api/platform/watchlists'),
    )
    .get(
      '/:id',
      async ({ caller: { user }, params: { id } }) =>
        kept.answer(
          `watchlist ${user.id} ${id}`,
          () => watchlists.stamp(id),
          async () => ({
            watchlist: wire(await watchlists.get(user.id, id)),
          }),
        ),
      route('GET /api/platform/watchlists/{id}', { etag: true }),
    )
    .get(
      '/:id/export',
      async ({ caller, params }) => {
        const list = await watchlists.get(caller.user.id, params.id)
        return csvAnswer(list.id, exportCsv(list))
      },
      route('GET /api/platform/watchlists/{id}/export'),
    )
    .patch(
      '/:id',
      async ({ caller, params, body }) => {
        const { watchlist, warnings } = await watchlists.change(caller.user.id, params.id, body)
        search.put(watchlistItem(watchlist))
        return { watchlist: wire(watchlist), ...explained(warnings) }
      },
      route('PATCH /api/platform/watchlists/{id}', { bodyBytes: BODY_BYTES }),
    )
    .delete(
      '/:id',
      async ({ caller, params }) => {
        await watchlists.remove(caller.user.id, params.id)
        search.remove('watchlist', params.id, caller.user.id)
        return { id: params.id }
      },
      route('DELETE /api/platform/watchlists/{id}'),
    )
}
