// Watchlists: imported all or nothing, exported as CSV.

import {
  exportCsv,
  WATCHLISTS_PER_USER,
  type ImportWarning,
  type Watchlist,
  type WatchlistMade,
} from '../people/watchlists/watchlists.ts'
import type { Watchlist as WatchlistWire } from '../wire/watchlist.ts'
import { csvAnswer } from './csv-answer.ts'
import { watchlistItem } from './search-items.ts'
import { listed, pageName, pageOf } from './fields.ts'
import type { Routes } from './route.ts'

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

export const WATCHLIST_ROUTES: Routes = {
  'POST /api/platform/watchlists/import': {
    bodyBytes: BODY_BYTES,
    handle: ({ deps, caller, body, once }) =>
      once(
        ({ watchlist, warnings }: WatchlistMade) => ({
          id: watchlist.id,
          watchlist: wire(watchlist),
          ...explained(warnings),
        }),
        async (also) => {
          const made = await deps.features.watchlists.import(caller.user.id, body.name, body.items, also)
          deps.features.search.put(watchlistItem(made.watchlist))
          return made
        },
      ),
  },
  'GET /api/platform/watchlists': async ({ deps, caller: { user }, query }) => {
    const page = pageOf(query, WATCHLISTS_PER_USER)
    return deps.kept.answer(
      pageName('watchlists', user.id, page),
      () => deps.features.watchlists.listStamp(user.id),
      async () => listed('watchlists', await deps.features.watchlists.list(user.id, page), wire),
    )
  },
  'GET /api/platform/watchlists/{id}': {
    etag: true,
    handle: async ({ deps, caller: { user }, params: { id } }) =>
      deps.kept.answer(
        `watchlist ${user.id} ${id}`,
        () => deps.features.watchlists.stamp(id),
        async () => ({
          watchlist: wire(await deps.features.watchlists.get(user.id, id)),
        }),
      ),
  },
  'GET /api/platform/watchlists/{id}/export': async ({ deps, caller, params }) => {
    const list = await deps.features.watchlists.get(caller.user.id, params.id)
    return csvAnswer(list.id, exportCsv(list))
  },
  'PATCH /api/platform/watchlists/{id}': {
    bodyBytes: BODY_BYTES,
    handle: async ({ deps, caller, params, body }) => {
      const { watchlist, warnings } = await deps.features.watchlists.change(caller.user.id, params.id, body)
      deps.features.search.put(watchlistItem(watchlist))
      return { watchlist: wire(watchlist), ...explained(warnings) }
    },
  },
  'DELETE /api/platform/watchlists/{id}': async ({ deps, caller, params }) => {
    await deps.features.watchlists.remove(caller.user.id, params.id)
    deps.features.search.remove('watchlist', params.id, caller.user.id)
    return { id: params.id }
  },
}
