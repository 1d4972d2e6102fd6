// The list of resources, and everything that happens around each request.
//
// A resource is one file: a table of its operations and what answers them (`route.ts`). What an operation takes and answers,
// who may call it, and its documentation are in `wire/`:
//
//     // wire/alert.ts
//     'POST /api/platform/alerts': {
//       access: 'session alerts:write',
//       summary: 'Create an alert',
//       body: AlertBody,
//       answer: { id: idOf('al'), alert: Alert },
//     },
//
//     // http/alerts.ts
//     export const ALERT_ROUTES: Routes = {
//       'POST /api/platform/alerts': ({ deps, caller, body, once }) =>
//         once(
//           (alert: Alert) => ({ id: alert.id, alert: wire(alert) }),
//           (also) => deps.features.alerts.create(caller.user.id, body, also),
//         ),
//     }
//
// The frame does the rest: credentials, scopes, rate limits, strict JSON, unknown fields (set aside, with a warning), 422
// with field paths, `ok: true`, idempotency keys of POSTs, ETags, request ids, errors, metrics, the log and the OpenAPI
// document. A handler answers a plain object or throws a Problem; `route-codes.ts` lists the codes it may refuse with.
// `caller` is the signed-in user; on `none` routes use `visitor`, which is null for anonymous callers and for tokens
// without the route's scope. `visit.peer` has address, scheme and host.
//
// Then add the table to `RESOURCES` below.

import { isIP } from 'node:net'
import type { TSchema } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { memo } from '../lib/memo.ts'
import { Problem } from '../lib/problem.ts'
import { Gate, type ApiDeps } from './access.ts'
import type { Visit } from './visit.ts'
import { AUTH_ROUTES } from './auth.ts'
import { ALERT_ROUTES } from './alerts.ts'
import { BACKTEST_CHECK_ROUTES } from './backtest-checks.ts'
import { BACKTEST_ROUTES } from './backtests.ts'
import { BAR_ROUTES } from './bars.ts'
import { addCommonHeaders } from './common-headers.ts'
import type { BackupView, FleetView, LastKnownView, Services } from './deps.ts'
import { docsRoutes } from './docs.ts'
import { BACKUP_ROUTES } from './backup.ts'
import { ERROR_ROUTES } from './errors.ts'
import { FEED_ROUTES } from './feeds.ts'
import { SYMBOL_ROUTES } from './symbols.ts'
import { PROVIDER_ROUTES } from './providers.ts'
import { cookieRoutesOf, routesOf, type Resources } from './route.ts'
import { HEALTH_ROUTES, metricsRoute } from './health.ts'
import { IDEA_ROUTES } from './ideas.ts'
import type { Handle } from './inner-request.ts'
import { mcpRoutes } from './mcp.ts'
import { KeptAnswers } from './kept-answers.ts'
import { Metrics } from './metrics.ts'
import type { Route } from './openapi.ts'
import { hostName } from './peer.ts'
import { skipRest } from './pace.ts'
import { pageHead } from './page-head.ts'
import { asProblem, internalError, problemResponse } from './problem.ts'
import { REPLAY_ROUTES } from './replay.ts'
import { SCRIPT_ROUTES } from './scripts.ts'
import { SEARCH_ROUTES } from './search.ts'
import { streamLog, STREAM_ROUTES } from './stream.ts'
import { StreamSlots } from './stream-slots.ts'
import { SUPPORT_ROUTES } from './support.ts'
import { FORWARD_RUN_ROUTES } from './forward-runs.ts'
import { PORTFOLIO_ROUTES } from './portfolios.ts'
import { SCAN_ROUTES } from './scans.ts'
import { SIGN_IN_WAY_ROUTES } from './sign-in-ways.ts'
import { SWEEP_ROUTES } from './sweeps.ts'
import { TOKEN_ROUTES } from './tokens.ts'
import { DRAWING_ROUTES } from './drawings.ts'
import { LAYOUT_ROUTES } from './layouts.ts'
import { TRANSFER_ROUTES } from './transfer.ts'
import { WATCHLIST_ROUTES } from './watchlists.ts'
import { CHANNEL_ROUTES } from './channels.ts'
import { INBOX_ROUTES } from './inboxes.ts'
import { LINK_ROUTES } from './links.ts'
import { WEBHOOK_ROUTES } from './webhooks.ts'

const ACCOUNTS: Resources = [
  ['Accounts', AUTH_ROUTES],
  ['Accounts', SIGN_IN_WAY_ROUTES],
]

/** The others, in the order in which the documentation tells of them. */
const RESOURCES: Resources = [
  ['Tokens', TOKEN_ROUTES],
  ['Backtests', BACKTEST_ROUTES],
  ['Backtests', BACKTEST_CHECK_ROUTES],
  ['Sweeps', SWEEP_ROUTES],
  ['Portfolios', PORTFOLIO_ROUTES],
  ['Forward runs', FORWARD_RUN_ROUTES],
  ['Scans', SCAN_ROUTES],
  ['Alerts', ALERT_ROUTES],
  ['Ideas', IDEA_ROUTES],
  ['Scripts', SCRIPT_ROUTES],
  ['Watchlists', WATCHLIST_ROUTES],
  ['Drawings', DRAWING_ROUTES],
  ['Layouts', LAYOUT_ROUTES],
  ['Replays', REPLAY_ROUTES],
  ['Webhooks', WEBHOOK_ROUTES],
  ['Channels', CHANNEL_ROUTES],
  ['Inboxes', INBOX_ROUTES],
  ['Alerts', LINK_ROUTES],
  ['Search', SEARCH_ROUTES],
  ['Support', SUPPORT_ROUTES],
  ['Service', BACKUP_ROUTES],
  ['Errors', ERROR_ROUTES],
  ['Bars', SYMBOL_ROUTES],
  ['Bars', PROVIDER_ROUTES],
  ['Bars', FEED_ROUTES],
  ['Stream', STREAM_ROUTES],
  ['Bars', BAR_ROUTES],
  ['Service', HEALTH_ROUTES],
  ['Account', TRANSFER_ROUTES],
]

const LONG_WORK = /^\/api\/(?:platform\/(?:sweeps|scans|portfolios)|health|ready)/

/** The whole HTTP side: API, documentation, metrics and the dashboard's files. */
export function createApi(services: Services) {
  const { log, clock, settings } = services
  const metrics = new Metrics()
  const streams = new StreamSlots()
  const moment = () => services.kv.moment?.() ?? null
  const kept = new KeptAnswers(moment)
  const deps: ApiDeps = {
    ...services,
    gate: new Gate(services, kept),
    streams,
    events: streamLog(services),
    // It is called by what a request asks for, so the app is there.
    inner: (request) => app.handle(request),
    kept,
    moment,
  }
  const { gate } = deps
  const allowedHosts = hostCheck(settings)
  // Filled below, once the routes are known; read when a request asks.
  const routes: Route[] = []
  const patterns: { readonly method: string; readonly pattern: RegExp }[] = []

  // Kept outside, since Elysia would define it on each request's context.
  const listening = (): Elysia['server'] => app.server

  const peerOf = (request: Request) => listening()?.requestIP(request) ?? null

  function open(request: Request): Visit {
    return gate.open(request, {
      // Tests have no server. With one, an unknown address means that the client has gone.
      address: () => (listening() ? (peerOf(request)?.address ?? '') : '127.0.0.1'),
      isOpen: () => peerOf(request) !== null,
    })
  }

  /** What was answered at this address before, if it still holds; null for every other request, which goes its whole way. */
  function again(request: Request): Promise<Response | null> | null {
    const page = gate.keptAt(request)
    if (!page || request.headers.has('origin')) return null
    const visit = open(request)
    if (!allowedHosts(visit.peer.host)) return null
    return gate.again(request, page)
  }

  function noted(request: Request, response: Response): Response {
    const { requestId, startedAt, peer, caller, route } = gate.visit(request)
    const ms = Math.max(0, clock.now() - startedAt)
    const { method } = request
    const { status } = response
    metrics.request(method, route, status, ms / 1000)
    if (!LONG_WORK.test(route)) services.asked?.()
    log('debug', 'request', {
      requestId,
      method,
      // Mostly nobody reads them.
      get path() {
        return loggedPath(new URL(request.url).pathname)
      },
      status,
      ms,
      get ip() {
        return peer.ip
      },
      user: caller?.user.id,
    })
    return response
  }

  const app = new Elysia({ normalize: false })
    .wrap((answer) => {
      const route = answer as unknown as Handle
      const whole = async (request: Request) =>
        noted(request, (await again(request)) ?? (await route(request)))
      const { lastKnown } = services
      if (!lastKnown) return whole
      return (request: Request) =>
        onlyShows(request) ? shown(lastKnown, () => whole(request)) : whole(request)
    })
    .onRequest(({ request, set }) => {
      const visit = open(request)
      addCommonHeaders(set.headers, visit)
      if (!allowedHosts(visit.peer.host))
        throw new Problem(
          421,
          'misdirected_request',
          'This server does not answer to that host name. Set PUBLIC_URL or ALLOWED_HOSTS if it should.',
        )
      if (request.url.length > PATH_MAX) {
        const { pathname } = new URL(request.url)
        if (pathname.length > PATH_MAX) throw notFound(request, pathname)
      }
      const cors = corsHeaders(request, settings.corsOrigins)
      Object.assign(set.headers, cors)
      if (request.method === 'OPTIONS' && cors && request.headers.has('access-control-request-method')) {
        const allow = methodsOf(new URL(request.url).pathname).join(', ')
        return new Response(null, {
          status: 204,
          headers: { ...cors, ...PREFLIGHT, ...(allow && { allow }) },
        })
      }
      return undefined
    })
    .onError(async ({ error, code, request, path, set }) => {
      const visit = gate.visit(request)
      await gate.abandon(request)
      await skipRest(clock, request)
      let problem = asProblem(error, code)
      if (code === 'NOT_FOUND') problem = notFound(request, path)
      if (problem === null)
        log('error', 'a request failed', {
          requestId: visit.requestId,
          error: errorText(error),
          path: loggedPath(path),
        })
      problem ??= internalError()
      const response = problemResponse(problem, visit.requestId, request.headers.get('accept'))
      for (const [name, value] of Object.entries(set.headers))
        if (typeof value === 'string' && name !== 'content-type' && !response.headers.has(name))
          response.headers.set(name, value)
      return response
    })
    .use(cookieRoutesOf(deps, ACCOUNTS))
    .use(routesOf(deps, RESOURCES))
    .use(metricsRoute(deps, metrics))
    .use(docsRoutes(deps, routes))
    .use(mcpRoutes(deps, routes))
    .get('/*', async ({ request, path }) => {
      const visit = gate.visit(request)
      visit.route = '/*'
      const origin = settings.publicUrl ?? new URL(request.url).origin
      const found = /^\/+api(\/|$)/.test(path)
        ? null
        : services.dashboard(request, path, await pageHead(services.features, path, origin))
      if (!found) throw notFound(request, path)
      for (const [name, value] of Object.entries(addCommonHeaders({}, visit)))
        if (!found.headers.has(name)) found.headers.set(name, value)
      return found
    })

  /** A 404, or a 405 that lists the methods there are. */
  function notFound(request: Request, path: string): Problem {
    gate.limitAnonymous(request)
    const methods = methodsOf(path)
    if (methods.length === 0 || methods.includes(request.method))
      return new Problem(404, 'not_found', 'There is nothing at this address.')
    const allow = methods.join(', ')
    return new Problem(405, 'method_not_allowed', `This address takes ${allow}.`, { headers: { allow } })
  }

  function methodsOf(path: string): string[] {
    const methods = new Set(patterns.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method))
    if (methods.has('GET')) methods.add('HEAD')
    return [...methods]
  }

  routes.push(...app.routes)
  for (const { method, path, hooks } of routes) {
    const { body } = hooks as { body?: TSchema }
    if (body) gate.bodySchemas.set(`${method} ${path}`, body)
    if (path !== '/*') patterns.push({ method, pattern: new RegExp(`^${path.replace(/:\w+/g, '[^/]+')}/?$`) })
  }
  metrics.gauge(() => [
    ['chartroom_resident_memory_bytes', 'Memory of the process.', process.memoryUsage.rss()],
    ['chartroom_backtests_running', 'Scripts running.', services.runs.running],
    ['chartroom_backtests_waiting', 'Backtests waiting for a worker.', services.runs.waiting],
    ['chartroom_event_streams', 'Streams of events open.', streams.size],
    ...backupGauges(services.backup),
    ...fleetGauges(services.fleet, services.features.sweeps.helped),
    ['chartroom_start_time_seconds', 'When the server started, Unix time.', startedAt / 1000],
  ])
  const startedAt = clock.now()
  return Object.assign(app, { gate, metrics })
}

/**
 * Whether a request changes nothing, and may be told what was known before. That makes no server ready, and an export is
 * kept: it is whole and of its time, or breaks off.
 */
const onlyShows = ({ method, url }: Request) =>
  (method === 'GET' || method === 'HEAD') && !/\/api\/(?:ready|platform\/export)(?:\?|$)/.test(url)

/** An answer made of what the store said last tells its age, as an answer of any cache does. */
async function shown(lastKnown: LastKnownView, work: () => Promise<Response>): Promise<Response> {
  const { answer, ageMs } = await lastKnown.show(work)
  if (ageMs > 0) answer.headers.set('age', String(Math.ceil(ageMs / 1000)))
  return answer
}

/** Nothing where there is none. */
function backupGauges(backup: BackupView | null): (readonly [string, string, number])[] {
  if (!backup) return []
  const { state, lagSeconds, lastAt } = backup.status()
  return [
    ['chartroom_backup_failing', '1 while the continuous backup fails.', state === 'failing' ? 1 : 0],
    ['chartroom_backup_lag_seconds', 'How long the oldest change has waited for the backup.', lagSeconds],
    [
      'chartroom_backup_last_timestamp_seconds',
      'The newest state that can be restored, Unix time; 0 = none.',
      (lastAt ?? 0) / 1000,
    ],
  ]
}

/** Nothing where a server is alone. */
function fleetGauges(fleet: FleetView | null, helped: number): (readonly [string, string, number])[] {
  if (!fleet) return []
  return [
    ['chartroom_fleet_nodes', 'Servers alive on the database.', fleet.members.length],
    ['chartroom_fleet_shards', 'Shards of work that this server does, of 256.', fleet.held.length],
    ['chartroom_fleet_lag_seconds', 'For how long it may not have heard of changes.', fleet.lagMs / 1000],
    ['chartroom_fleet_buried', 'Servers that it found gone and took the leases of.', fleet.buried],
    [
      'chartroom_fleet_sweep_batches',
      'Batches of trials, or pieces of them, that it did for sweeps of other servers.',
      helped,
    ],
    ['chartroom_store_retries', 'Statements that it sent to the database again.', fleet.retries],
  ]
}

/** The address of an inbox is its password, and that of a picture all the permission it takes: they stand in no log. */
const loggedPath = (path: string): string => path.replace(/((?:hooks|links\/pictures)\/).*/is, '$1…')

/** Longer than any valid address, even with a symbol of 64 emoji, and shorter than the longest key of the store. */
const PATH_MAX = 1700

const PREFLIGHT = {
  'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE',
  'access-control-allow-headers': 'Authorization, Content-Type, Idempotency-Key, If-None-Match, Prefer',
  'access-control-max-age': '7200',
}

/** Pages of these origins may read answers, but may never send cookies. */
function corsHeaders(request: Request, origins: readonly string[]): Record<string, string> | null {
  const origin = request.headers.get('origin')
  if (origin === null || !(origins.includes('*') || origins.includes(origin))) return null
  return {
    'access-control-allow-origin': origin,
    'access-control-expose-headers':
      'ETag, Idempotent-Replayed, RateLimit, RateLimit-Policy, Retry-After, X-Request-Id',
    'cross-origin-resource-policy': 'cross-origin',
    vary: 'origin',
  }
}

/** A page that points its own host name at this address (DNS rebinding) sends that name, so only known names are answered. */
function hostCheck({ allowedHosts, publicUrl }: Services['settings']): (host: string) => boolean {
  const names = new Set(['localhost', ...allowedHosts.map((name) => name.toLowerCase())])
  if (publicUrl !== null) names.add(new URL(publicUrl).hostname)
  return memo(HOSTS_MAX, (host) => {
    const name = hostName(host)
    return (
      names.has('*') || names.has(name) || names.has(host) || isIP(name) > 0 || name.endsWith('.localhost')
    )
  })
}

/** How many names have their verdict kept; mostly there is one. */
const HOSTS_MAX = 100

function errorText(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
