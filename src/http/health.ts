// Health, readiness and metrics, for orchestrators and Prometheus.

import { Elysia } from 'elysia'
import { ranges } from '../lib/shards.ts'
import { Problem } from '../lib/problem.ts'
import { access, type ApiDeps } from './access.ts'
import type { Metrics } from './metrics.ts'
import type { Backup } from '../wire/backup.ts'
import { route } from './route.ts'

/** Monitors must never be told to wait, least of all during a flood. */
const UNLIMITED = { unlimited: true } as const

export function healthRoutes(deps: ApiDeps, metrics: Metrics) {
  const { settings } = deps
  return new Elysia({ tags: ['Service'], normalize: false })
    .use(access(deps))
    .get(
      '/api/health',
      () => ({ status: 'ok', version: settings.version }),
      route('GET /api/health', UNLIMITED),
    )
    .get(
      '/api/ready',
      async () => {
        if (deps.stopping.aborted)
          throw new Problem(503, 'shutting_down', 'The server is stopping.', { retryAfter: 5 })
        // A successful read shows that the store is open.
        await deps.kv.get(['meta', 'schema'])
        const { backup, fleet } = deps
        if (!fleet) return { status: 'ready', ...(backup && { backup: withoutPlace(backup.status()) }) }
        const shards = ranges(fleet.held)
        return { status: 'ready', node: fleet.node, shards: { symbols: shards, users: shards } }
      },
      route('GET /api/ready', UNLIMITED),
    )
    .get(
      '/metrics',
      ({ visit, set }) => {
        if (settings.metrics === 'off' || (settings.metrics === 'local' && !visit.peer.local))
          throw new Problem(404, 'not_found', 'There is nothing at this address.')
        set.headers['content-type'] = 'text/plain; version=0.0.4; charset=utf-8'
        return metrics.text()
      },
      { access: { to: 'none', unlimited: true }, detail: { hide: true } },
    )
}

/** Anybody may ask, but where the backup is, and what its place says, is for those who run the server. */
const withoutPlace = ({ state, lagSeconds, lastAt, since }: Backup) => ({ state, lagSeconds, lastAt, since })
