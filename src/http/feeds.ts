// Bars from providers: fetch a series now, or follow it.

import type { User } from '../people/accounts/accounts.ts'
import type { Scope } from '../wire/scopes.ts'
import { mayChangeShared } from '../people/accounts/users.ts'
import type { Feed } from '../people/feeds/feeds.ts'
import { saidOf } from '../people/feeds/said.ts'
import { invalidField, Problem } from '../lib/problem.ts'
import { bareKey, seriesKey, seriesName, type SeriesKey } from '../market/bar-store.ts'
import { requireInterval } from '../market/interval.ts'
import { fetchSeries } from '../market/providers/fetch-bars.ts'
import { streams } from '../market/live/live-providers.ts'
import { ProviderError } from '../market/providers/provider-error.ts'
import { seriesOf } from '../market/seen-bars.ts'
import { notSeriesOwner } from '../market/sharing.ts'
import type { ApiDeps } from './access.ts'
import { WATCHED_INTERVAL } from '../people/watchlists/watchlists.ts'
import { instantOf } from './fields.ts'
import { requireFeeds } from './require-feeds.ts'
import type { Routes } from './route.ts'

function wire(feed: Feed, now: number) {
  const { key, stream, poll, ...shown } = feed
  return {
    ...bareKey(key),
    ...shown,
    way: stream || streams(key) ? ('stream' as const) : ('poll' as const),
    cuts: stream?.cuts ?? 0,
    mended: (stream ?? poll)?.mended ?? 0,
    said: saidOf(feed, now),
  }
}

export const FEED_ROUTES: Routes = {
  'POST /api/platform/bars/fetch': async ({ deps, caller, body, request, server }) => {
    requireFeeds(deps.features.feeds)
    server?.timeout(request, 0)
    const key = keyOf(body)
    await deps.features.feeds.choose(key)
    // The bars of a followed series come from the provider, so it does not matter who asks for them.
    const into =
      mayChangeShared(caller.user) || (await deps.features.feeds.isFollowed(key))
        ? key
        : seriesOf(key, caller.user.id)
    const from = instantOf(body.from, '/from')
    const to = instantOf(body.to, '/to')
    try {
      const options = {
        ...(from !== null && { from }),
        ...(to !== null && { to }),
        signal: request.signal,
        closedOnly: await deps.features.feeds.keeps(key),
      }
      const { inserted, updated, pages } = await fetchSeries(
        deps.bars,
        into,
        {
          http: deps.features.http,
          clock: deps.clock,
          providerOf: (exchange) => deps.features.providerKeys.of(exchange),
        },
        options,
      )
      return { ...key, inserted, updated, pages }
    } catch (error) {
      throw error instanceof ProviderError ? problemOf(error) : error
    }
  },
  'GET /api/platform/feeds': async ({ deps, caller, may }) => ({
    feeds: (await feedsSeenBy(deps, caller.user, may)).map((feed) => wire(feed, deps.clock.now())),
    nextCursor: null,
    providers: (await deps.features.providerKeys.list())
      .filter(({ asked }) => asked.length > 0)
      .map(({ name, exchanges }) => ({ name, exchanges: [...exchanges] })),
  }),
  'POST /api/platform/feeds': async ({ deps, caller, body }) => {
    const key = keyOf(body)
    if (!mayChangeShared(caller.user)) throw notSeriesOwner()
    await deps.features.feeds.follow(key)
    return key
  },
  'DELETE /api/platform/feeds': async ({ deps, caller, query }) => {
    const key = keyOf(query, 'query')
    if (!mayChangeShared(caller.user)) throw notSeriesOwner()
    return { deleted: await deps.features.feeds.unfollow(key) }
  },
}

function keyOf(
  fields: { exchange: string; symbol: string; interval: string },
  where: 'body' | 'query' = 'body',
): SeriesKey {
  const interval = requireInterval(fields.interval, where)
  return seriesKey(fields.exchange, fields.symbol, interval)
}

/** The whole list of feeds would reveal others' alerts and watchlists, so members see only the feeds of their own. */
async function feedsSeenBy(
  { features: { feeds, alerts, watchlists } }: ApiDeps,
  user: User,
  may: (scope: Scope) => boolean,
): Promise<Feed[]> {
  const all = await feeds.list()
  if (mayChangeShared(user)) return all
  const own = new Set<string>()
  if (may('alerts:read'))
    for (const alert of (await alerts.list(user.id, { limit: 5000 })).items) own.add(seriesName(alert))
  if (may('watchlists:read'))
    for await (const { items } of watchlists.eachOf(user.id))
      for (const item of items) own.add(seriesName({ ...item, interval: WATCHED_INTERVAL }))
  return all.filter(({ followed, key }) => followed || own.has(seriesName(key)))
}

/** Translates a provider's refusal into ours. */
function problemOf({ kind, message, retryAfterMs }: ProviderError): Problem {
  if (kind === 'unknown_symbol') return new Problem(404, 'symbol_not_found', message)
  if (kind === 'unsupported_interval') return invalidField('/interval', 'unsupported_interval', message)
  const retryAfter = Math.ceil((retryAfterMs ?? 30_000) / 1000)
  return new Problem(503, 'provider_unavailable', message, { retryAfter })
}
