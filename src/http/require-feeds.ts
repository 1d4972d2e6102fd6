// Refuses what needs a provider where the server may ask none.

import type { Feeds } from '../people/feeds/feeds.ts'
import { Problem } from '../lib/problem.ts'

/** Throws Problem 503 under `FEEDS=off`. */
export function requireFeeds({ enabled }: Pick<Feeds, 'enabled'>): void {
  if (enabled) return
  throw new Problem(
    503,
    'feeds_disabled',
    'Requests to providers are switched off on this server (FEEDS=off).',
    { retryAfter: 3600 },
  )
}
