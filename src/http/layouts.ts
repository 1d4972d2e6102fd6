// Layouts of the chart.

import { Elysia } from 'elysia'
import { LAYOUTS_PER_USER, type Layout } from '../people/charts/layouts.ts'
import type { Layout as LayoutWire } from '../wire/layout.ts'
import { access, type ApiDeps } from './access.ts'
import { listed, pageOf } from './fields.ts'
import { route } from './route.ts'

const BODY_BYTES = 2 * 1024 * 1024

const wire = ({ ownerId: _owner, ...shown }: Layout): LayoutWire => shown

export function layoutRoutes(deps: ApiDeps) {
  const { layouts } = deps.features
  return new Elysia({ prefix: '/api/platform/layouts', tags: ['Layouts'], normalize: false })
    .use(access(deps))
    .post(
      '',
      ({ caller, body, once }) =>
        once(
          (layout: Layout) => ({ id: layout.id, layout: wire(layout) }),
          (also) => layouts.create(caller.user.id, body.name, body.chart, also),
        ),
      route('POST /api/platform/layouts', { bodyBytes: BODY_BYTES }),
    )
    .get(
      '',
      async ({ caller, query }) =>
        listed('layouts', await layouts.list(caller.user.id, pageOf(query, LAYOUTS_PER_USER)), wire),
      route('GET /api/platform/layouts'),
    )
    .get(
      '/:id',
      async ({ caller, params }) => ({ layout: wire(await layouts.get(caller.user.id, params.id)) }),
      route('GET /api/platform/layouts/{id}', { etag: true }),
    )
    .patch(
      '/:id',
      async ({ caller, params, body }) => ({
        layout: wire(await layouts.change(caller.user.id, params.id, body)),
      }),
      route('PATCH /api/platform/layouts/{id}', { bodyBytes: BODY_BYTES }),
    )
    .delete(
      '/:id',
      async ({ caller, params }) => {
        await layouts.remove(caller.user.id, params.id)
        return { id: params.id }
      },
      route('DELETE /api/platform/layouts/{id}'),
    )
}
