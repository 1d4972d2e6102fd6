// Errors that browsers and integrations report by themselves.

import { Elysia } from 'elysia'
import type { ClientErrorGroup } from '../people/errors/client-errors.ts'
import { Problem } from '../lib/problem.ts'
import { access, type ApiDeps } from './access.ts'
import { listed, pageOf } from './fields.ts'
import { route } from './route.ts'

export function errorRoutes(deps: ApiDeps) {
  const { clientErrors } = deps.features
  return new Elysia({ prefix: '/api/errors', tags: ['Errors'], normalize: false })
    .use(access(deps))
    .post(
      '',
      ({ body, once }) =>
        once(
          ({ id }: ClientErrorGroup) => ({ id }),
          (also) => clientErrors.report(body, also),
        ),
      route('POST /api/errors', {
        rate: 'errors',
        bodyBytes: 32 * 1024, // navigator.sendBeacon cannot send application/json across origins.
        bodyTypes: ['application/json', 'text/plain'],
      }),
    )
    .get(
      '',
      async ({ caller, query }) => {
        if (caller.user.role !== 'owner') throw new Problem(404, 'not_found', 'There is nothing here.')
        return listed('errors', await clientErrors.list(pageOf(query, 500)), (group) => ({
          ...group,
          sample: { ...group.sample },
        }))
      },
      route('GET /api/errors'),
    )
}
