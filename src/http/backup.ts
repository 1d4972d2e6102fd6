// How the continuous backup is doing, for those who run the server.

import { Elysia } from 'elysia'
import { Problem } from '../lib/problem.ts'
import { access, type ApiDeps } from './access.ts'
import { route } from './route.ts'

export function backupRoutes(deps: ApiDeps) {
  return new Elysia({ prefix: '/api/platform/backup', tags: ['Service'], normalize: false })
    .use(access(deps))
    .get(
      '',
      ({ caller }) => {
        if (caller.user.role === 'member') throw new Problem(404, 'not_found', 'There is nothing here.')
        return { backup: deps.backup?.status() ?? null }
      },
      route('GET /api/platform/backup'),
    )
}
