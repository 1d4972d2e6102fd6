// Errors of browsers and integrations, reported by themselves.

import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import type { ClientErrorGroup } from '../errors/client-errors.ts'
import { Problem } from '../lib/problem.ts'
import { access, type ApiDeps } from './access.ts'
import { doc, idOf, Listed, listed, PageQuery, pageOf, Time } from './schemas.ts'

const GroupWire = Type.Object(
  {
    id: idOf('err'),
    fingerprint: Type.String(),
    message: Type.String(),
    count: Type.Integer(),
    firstAt: Time,
    lastAt: Time,
    sample: Type.Record(Type.String(), Type.Unknown()),
  },
  { $id: 'ClientError' },
)

export function errorRoutes(deps: ApiDeps) {
  const { clientErrors } = deps.rooms
  return new Elysia({ prefix: '/api/errors', tags: ['Errors'], normalize: false })
    .use(access(deps))
    .post(
      '',
      ({ body, once }) =>
        once(
          ({ id }: ClientErrorGroup) => ({ id }),
          (also) => clientErrors.report(body, also),
        ),
      {
        access: {
          to: 'none',
          rate: 'errors',
          bodyBytes: 32 * 1024,
          // navigator.sendBeacon cannot send application/json across origins.
          bodyTypes: ['application/json', 'text/plain'],
        },
        body: Type.Record(Type.String(), Type.Unknown()),
        detail: doc(
          'Report a client-side error',
          { id: idOf('err') },
          'Any JSON object; known fields are kept, trimmed.',
        ),
      },
    )
    .get(
      '',
      ({ caller, query }) => {
        if (caller.user.role !== 'owner') throw new Problem(404, 'not_found', 'There is nothing here.')
        return listed('errors', clientErrors.list(pageOf(query, 500)), (group) => ({
          ...group,
          sample: { ...group.sample },
        }))
      },
      {
        access: 'session only',
        query: Type.Object(PageQuery),
        detail: doc('List client-side errors (owner)', Listed('errors', GroupWire)),
      },
    )
}
