// Errors that browsers and integrations report by themselves.

import type { ClientErrorGroup } from '../people/errors/client-errors.ts'
import { Problem } from '../lib/problem.ts'
import { listed, pageOf } from './fields.ts'
import type { Routes } from './route.ts'

export const ERROR_ROUTES: Routes = {
  'POST /api/errors': {
    rate: 'errors',
    bodyBytes: 32 * 1024, // navigator.sendBeacon cannot send application/json across origins.
    bodyTypes: ['application/json', 'text/plain'],
    handle: ({ deps, body, once }) =>
      once(
        ({ id }: ClientErrorGroup) => ({ id }),
        (also) => deps.features.clientErrors.report(body, also),
      ),
  },
  'GET /api/errors': async ({ deps, caller, query }) => {
    if (caller.user.role !== 'owner') throw new Problem(404, 'not_found', 'There is nothing here.')
    return listed('errors', await deps.features.clientErrors.list(pageOf(query, 500)), (group) => ({
      ...group,
      sample: { ...group.sample },
    }))
  },
}
