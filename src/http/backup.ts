// How the continuous backup is doing, for those who run the server.

import { Problem } from '../lib/problem.ts'
import type { Routes } from './route.ts'

export const BACKUP_ROUTES: Routes = {
  'GET /api/platform/backup': ({ deps, caller }) => {
    if (caller.user.role === 'member') throw new Problem(404, 'not_found', 'There is nothing here.')
    return { backup: deps.backup?.status() ?? null }
  },
}
