// Watchlists: imported all or nothing, exported as CSV.

import { Type, type Static } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import {
  exportCsv,
  ITEMS_MAX,
  WATCHLISTS_PER_USER,
  type ImportWarning,
  type Watchlist,
  type WatchlistMade,
} from '../watchlists/watchlists.ts'
import { access, type ApiDeps } from './access.ts'
import { watchlistItem } from './rooms.ts'
import { doc, idOf, Listed, listed, nullable, PageQuery, pageOf, Text, Time, Prose } from './schemas.ts'

const BODY_BYTES = 2 * 1024 * 1024

const Items = Type.Array(
  Type.Object({
    symbol: Text(100, 0),
    exchange: Type.Optional(Text(60, 0)),
    note: Type.Optional(nullable(Prose(1000, 0))),
  }),
  { maxItems: ITEMS_MAX },
)

export const WatchlistWire = Type.Object(
  {
    id: idOf('wl'),
    name: Type.String(),
    items: Type.Array(
      Type.Object({ symbol: Type.String(), exchange: Type.String(), note: nullable(Type.String()) }),
    ),
    createdAt: Time,
    updatedAt: Time,
  },
  { $id: 'Watchlist' },
)

const wire = ({ ownerId: _owner, items, ...shown }: Watchlist): Static<typeof WatchlistWire> => ({
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
  const { watchlists, search } = deps.rooms
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
      {
        access: { to: 'session watchlists:write', bodyBytes: BODY_BYTES },
        body: Type.Object({ name: Text(200), items: Items }),
        detail: doc(
          'Import a watchlist',
          { id: idOf('wl'), watchlist: WatchlistWire },
          'All rows or none; bad ones are named by /items/N.',
        ),
      },
    )
    .get(
      '',
      ({ caller, query }) =>
        listed('watchlists', watchlists.list(caller.user.id, pageOf(query, WATCHLISTS_PER_USER)), wire),
      {
        access: 'session watchlists:read',
        query: Type.Object(PageQuery),
        detail: doc('List watchlists', Listed('watchlists', WatchlistWire)),
      },
    )
    .get('/:id', ({ caller, params }) => ({ watchlist: wire(watchlists.get(caller.user.id, params.id)) }), {
      access: { to: 'session watchlists:read', etag: true },
      detail: doc('One watchlist', { watchlist: WatchlistWire }),
    })
    .get(
      '/:id/export',
      ({ caller, params }) => {
        const list = watchlists.get(caller.user.id, params.id)
        return new Response(exportCsv(list), {
          headers: {
            'content-type': 'text/csv; charset=utf-8',
            'content-disposition': `attachment; filename="${list.id}.csv"`,
          },
        })
      },
      { access: 'session watchlists:read', detail: doc('Export a watchlist as CSV') },
    )
    .patch(
      '/:id',
      async ({ caller, params, body }) => {
        const { watchlist, warnings } = await watchlists.change(caller.user.id, params.id, body)
        search.put(watchlistItem(watchlist))
        return { watchlist: wire(watchlist), ...explained(warnings) }
      },
      {
        access: { to: 'session watchlists:write', bodyBytes: BODY_BYTES },
        body: Type.Object({ name: Type.Optional(Text(200)), items: Type.Optional(Items) }),
        detail: doc('Change a watchlist', { watchlist: WatchlistWire }),
      },
    )
    .delete(
      '/:id',
      async ({ caller, params }) => {
        await watchlists.remove(caller.user.id, params.id)
        search.remove('watchlist', params.id, caller.user.id)
        return { id: params.id }
      },
      { access: 'session watchlists:write', detail: doc('Delete a watchlist', { id: idOf('wl') }) },
    )
}
