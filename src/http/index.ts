// The list of resources, and how they become one application; what happens around each request is in `frame.ts`.
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

import { Elysia } from 'elysia'
import { Gate, type ApiDeps } from './access.ts'
import { AUTH_ROUTES } from './auth.ts'
import { ALERT_ROUTES } from './alerts.ts'
import { BACKTEST_CHECK_ROUTES } from './backtest-checks.ts'
import { BACKTEST_ROUTES } from './backtests.ts'
import { BAR_ROUTES } from './bars.ts'
import type { BackupView, FleetView, Services } from './deps.ts'
import { dashboardPage, enter, frameOf, refuse, wholeWay } from './frame.ts'
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
import { Metrics, type Gauge } from './metrics.ts'
import type { Route } from './openapi.ts'
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
import { JUDGEMENT_ROUTES } from './judgements.ts'
import { TOKEN_ROUTES } from './tokens.ts'
import { DRAWING_ROUTES } from './drawings.ts'
import { LAYOUT_ROUTES } from './layouts.ts'
import { TRANSFER_ROUTES } from './transfer.ts'
import { WATCHLIST_ROUTES } from './watchlists.ts'
import { BRIDGE_ROUTES } from './bridges.ts'
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
  ['Backtests', JUDGEMENT_ROUTES],
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
  ['Bridges', BRIDGE_ROUTES],
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

/** The whole HTTP side: API, documentation, metrics and the dashboard's files. */
export function createApi(services: Services) {
  const metrics = new Metrics()
  const moment = () => services.kv.moment?.() ?? null
  const kept = new KeptAnswers(moment)
  const deps: ApiDeps = {
    ...services,
    gate: new Gate(services, kept),
    streams: new StreamSlots(),
    events: streamLog(services),
    // It is called by what a request asks for, so the app is there.
    inner: (request) => app.handle(request),
    kept,
    moment,
  }
  // Filled below, once the routes are known; read when a request asks.
  const routes: Route[] = []
  const app = new Elysia({ normalize: false })
    .wrap((route) => (request: Request) => wholeWay(frame, route as unknown as Handle, request))
    .onRequest(({ request, set }) => enter(frame, request, set.headers))
    .onError(({ error, code, request, path, set }) =>
      refuse(frame, { error, code, request, path }, set.headers),
    )
    .use(cookieRoutesOf(deps, ACCOUNTS))
    .use(routesOf(deps, RESOURCES))
    .use(metricsRoute(deps, metrics))
    .use(docsRoutes(deps, routes))
    .use(mcpRoutes(deps))
    .get('/*', ({ request, path }) => dashboardPage(frame, request, path))
  routes.push(...app.routes)
  // Handed over as a function, since Elysia would define it on each request's context.
  const frame = frameOf(deps, metrics, routes, () => app.server)
  metrics.gauge(gaugesOf(deps))
  return Object.assign(app, { gate: deps.gate, metrics })
}

function gaugesOf({ runs, streams, backup, fleet, features, clock }: ApiDeps): () => readonly Gauge[] {
  const startedAt = clock.now()
  return () => [
    ['chartroom_resident_memory_bytes', 'Memory of the process.', process.memoryUsage.rss()],
    ['chartroom_backtests_running', 'Scripts running.', runs.running],
    ['chartroom_backtests_waiting', 'Backtests waiting for a worker.', runs.waiting],
    ['chartroom_event_streams', 'Streams of events open.', streams.size],
    ...backupGauges(backup),
    ...fleetGauges(fleet, features.sweeps.helped),
    ['chartroom_start_time_seconds', 'When the server started, Unix time.', startedAt / 1000],
  ]
}

/** Nothing where there is none. */
function backupGauges(backup: BackupView | null): Gauge[] {
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
function fleetGauges(fleet: FleetView | null, helped: number): Gauge[] {
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
