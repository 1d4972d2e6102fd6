// Health, readiness and metrics, for orchestrators and Prometheus.

import { Elysia } from 'elysia'
import { ranges } from '../lib/shards.ts'
import { Problem } from '../lib/problem.ts'
import { access, type ApiDeps } from './access.ts'
import type { Metrics } from './metrics.ts'
import type { Backup } from '../wire/backup.ts'
import type { Routes } from './route.ts'

/** Monitors must never be told to wait, least of all during a flood. */
const UNLIMITED = { unlimited: true } as const

export const HEALTH_ROUTES: Routes = {
  'GET /api/health': {
    ...UNLIMITED,
    handle: ({ deps }) => ({ status: 'ok', version: deps.settings.version }),
  },
  'GET /api/ready': {
    ...UNLIMITED,
    handle: async ({ deps }) => {
      if (deps.stopping.aborted)
        throw new Problem(503, 'shutting_down', 'The server is stopping.', { retryAfter: 5 })
      // A successful read shows that the store is open.
      await deps.kv.get(['meta', 'schema'])
      const { backup, fleet } = deps
      if (!fleet) return { status: 'ready', ...(backup && { backup: withoutPlace(backup.status()) }) }
      const shards = ranges(fleet.held)
      return { status: 'ready', node: fleet.node, shards: { symbols: shards, users: shards } }
    },
  },
}

/** Prometheus reads it, which is no operation of the API. */
export function metricsRoute(deps: ApiDeps, metrics: Metrics) {
  const { settings } = deps
  return new Elysia({ normalize: false }).use(access(deps)).get(
    '/metrics',
    ({ visit, set }) => {
      if (settings.metrics === 'off' || (settings.metrics === 'local' && !visit.peer.local))
        throw new Problem(404, 'not_found', 'There is nothing at this address.')
      set.headers['content-type'] = 'text/plain; version=0.0.4; charset=utf-8'
      return metrics.text()
    },
    { access: { to: 'none', ...UNLIMITED }, detail: { hide: true } },
  )
}

/** Anybody may ask, but where the backup is, and what its place says, is for those who run the server. */
const withoutPlace = ({ state, lagSeconds, lastAt, since }: Backup) => ({ state, lagSeconds, lastAt, since })
