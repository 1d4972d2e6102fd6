// Layouts of the chart.

import { LAYOUTS_PER_USER, type Layout } from '../people/charts/layouts.ts'
import type { Layout as LayoutWire } from '../wire/layout.ts'
import { listed, pageOf } from './fields.ts'
import type { Routes } from './route.ts'

const BODY_BYTES = 2 * 1024 * 1024

const wire = ({ ownerId: _owner, ...shown }: Layout): LayoutWire => shown

export const LAYOUT_ROUTES: Routes = {
  'POST /api/platform/layouts': {
    bodyBytes: BODY_BYTES,
    handle: ({ deps, caller, body, once }) =>
      once(
        (layout: Layout) => ({ id: layout.id, layout: wire(layout) }),
        (also) => deps.features.layouts.create(caller.user.id, body.name, body.chart, also),
      ),
  },
  'GET /api/platform/layouts': async ({ deps, caller, query }) =>
    listed(
      'layouts',
      await deps.features.layouts.list(caller.user.id, pageOf(query, LAYOUTS_PER_USER)),
      wire,
    ),
  'GET /api/platform/layouts/{id}': {
    etag: true,
    handle: async ({ deps, caller, params }) => ({
      layout: wire(await deps.features.layouts.get(caller.user.id, params.id)),
    }),
  },
  'PATCH /api/platform/layouts/{id}': {
    bodyBytes: BODY_BYTES,
    handle: async ({ deps, caller, params, body }) => ({
      layout: wire(await deps.features.layouts.change(caller.user.id, params.id, body)),
    }),
  },
  'DELETE /api/platform/layouts/{id}': async ({ deps, caller, params }) => {
    await deps.features.layouts.remove(caller.user.id, params.id)
    return { id: params.id }
  },
}
