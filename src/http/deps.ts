// What the API needs. `main.ts` passes in the real things, tests a store in memory and a clock that they move.

import type { BlockList } from 'node:net'
import type { AccountDeps } from '../people/accounts/accounts.ts'
import type { IdentityProvider } from '../people/accounts/openid.ts'
import type { TicketDeps } from '../people/accounts/tickets.ts'
import type { Firing } from '../notify/alerts/alert.ts'
import type { Alerts } from '../notify/alerts/alerts.ts'
import type { LookQueue } from '../notify/alerts/look-queue.ts'
import type { Texts } from '../work/workers/texts.ts'
import type { WantedLibraries } from '../people/scripts/wanted-libraries.ts'
import type { ClientErrors } from '../people/errors/client-errors.ts'
import type { Feeds } from '../people/feeds/feeds.ts'
import type { LiveBars } from '../people/feeds/live-bars.ts'
import type { ProviderKeys } from '../people/feeds/provider-keys.ts'
import type { SymbolLists } from '../people/feeds/symbol-lists.ts'
import type { Ideas } from '../people/ideas/ideas.ts'
import type { Log } from '../lib/log.ts'
import type { Mail } from '../notify/mail/mail.ts'
import type { BarCache } from '../market/bar-cache.ts'
import type { StageBars } from '../market/import.ts'
import type { Http } from '../market/providers/provider.ts'
import type { Places } from '../work/replay/places.ts'
import type { Run } from '../work/runs/records.ts'
import type { FinishedHook } from '../work/runs/commits.ts'
import type { HoldOuts } from '../work/runs/hold-outs.ts'
import type { Runs } from '../work/runs/runs.ts'
import type { Scripts } from '../people/scripts/scripts.ts'
import type { Search } from '../people/search/search.ts'
import type { Support } from '../people/support/support.ts'
import type { Ledger } from '../work/sweeps/ledger.ts'
import type { ForwardRuns } from '../work/forward/forward-runs.ts'
import type { Portfolios } from '../work/portfolios/portfolios.ts'
import type { Scans } from '../work/scans/scans.ts'
import type { Sweeps } from '../work/sweeps/sweeps.ts'
import type { Drawings } from '../people/charts/drawings.ts'
import type { Layouts } from '../people/charts/layouts.ts'
import type { Watchlists } from '../people/watchlists/watchlists.ts'
import type { Outbox } from '../notify/webhooks/deliveries.ts'
import type { Bridges } from '../notify/bridges/bridges.ts'
import type { Channels } from '../notify/channels/channels.ts'
import type { Inboxes } from '../notify/channels/inboxes.ts'
import type { Notice } from '../notify/channels/kind.ts'
import type { PushSigner } from '../notify/channels/push-keys.ts'
import type { Backup } from '../wire/backup.ts'
import type { AlertLink } from '../wire/link.ts'
import type { Receivers } from '../notify/webhooks/receivers.ts'
import type { Key } from '../store/kv.ts'
import type { RatePolicies, TakeShared } from './limits.ts'

/** Throws Problem 404 or 410 for a link that is none, or none any more. */
export interface Tapped {
  show(token: string): Promise<AlertLink>
  follow(token: string): Promise<AlertLink>
}

/** The features, tied together by `server/features.ts`. */
export interface Features {
  readonly alerts: Alerts
  readonly looks: LookQueue
  readonly clientErrors: ClientErrors
  readonly feeds: Feeds
  readonly symbolLists: SymbolLists
  readonly providerKeys: ProviderKeys
  /** Forming bars, for charts. */
  readonly live: LiveBars
  /** Sends requests to providers. */
  readonly http: Http
  readonly ideas: Ideas
  readonly mail: Mail
  readonly outbox: Outbox
  readonly places: Places
  readonly receivers: Receivers
  readonly channels: Channels
  readonly bridges: Bridges
  readonly pushSigner: PushSigner
  /** What links in messages do. */
  readonly tapped: Tapped
  /** The chart of a message, by the token of its link. */
  readonly pictureOf: (token: string) => Promise<Uint8Array<ArrayBuffer>>
  readonly inboxes: Inboxes
  readonly scripts: Scripts
  readonly search: Search
  readonly support: Support
  readonly sweeps: Sweeps
  readonly portfolios: Portfolios
  readonly forwardRuns: ForwardRuns
  readonly scans: Scans
  /** Counts how often scripts were tried on markets. */
  readonly ledger: Ledger
  readonly holdOuts: HoldOuts
  /** Jobs that work on users' texts. */
  readonly texts: Texts
  readonly wantedLibraries: WantedLibraries
  readonly watchlists: Watchlists
  readonly drawings: Drawings
  readonly layouts: Layouts
  /** Reads files of bars for a user. */
  readonly readerFor: (userId: string, signal: AbortSignal) => StageBars
  /** Called after something was added to the outbox of this user's webhooks. */
  wakeDeliveries(ownerId: string): void
  /** Does the same for their bridges. */
  wakeOrders(ownerId: string): void
  /** Does the same for their channels. */
  wakeNotifications(ownerId: string): void
  /** What a test of a channel with this name says. */
  testNotice(name: string): Notice
  /** `listener` is called for every firing after its commit. The returned function ends that. */
  onFired(listener: (firing: Firing) => void): () => void
  /** Does the same for every finished backtest. */
  onRunDone(listener: (run: Run) => void): () => void
  /** Told of what other processes have written. */
  readonly others: { hear(keys: readonly Key[]): void; settled(): Promise<void> }
  /** `listener` is called when another process has changed a backtest, or removed it (null). */
  onRunHeard(listener: (id: string, run: Run | null) => void): () => void
  /** Called when a backtest has finished. */
  readonly onFinished: FinishedHook
  /** Builds the index and runs the loops until the signal aborts, and those that send until `sending` does, where it is given. */
  start(signal: AbortSignal, sending?: AbortSignal): Promise<void>
}

export interface ApiSettings {
  readonly version: string
  /** The address under which browsers reach this server, without a final slash; null = take it from each request. */
  readonly publicUrl: string | null
  readonly trustedProxies: BlockList
  /** Host names that are answered in addition to localhost, IP addresses and PUBLIC_URL's host; `*` = any. */
  readonly allowedHosts: readonly string[]
  /** Origins whose pages may call the API with a token; `*` = any. */
  readonly corsOrigins: readonly string[]
  readonly signUpOpen: boolean
  readonly rates: RatePolicies
  /** Who may read /metrics: `local` = over loopback only. */
  readonly metrics: 'local' | 'open' | 'off'
}

/** `/charts` if a proxy serves us under that path (which it removes before it forwards a request), else ''. */
export function basePath({ publicUrl }: Pick<ApiSettings, 'publicUrl'>): string {
  return publicUrl === null ? '' : new URL(publicUrl).pathname.replace(/\/$/, '')
}

/**
 * Answers a request for the dashboard's page or one of its files; null = no such file. `head` is HTML that takes
 * the place of the page's title.
 */
export type ServeDashboard = (
  request: Request,
  path: string,
  head: string | null,
) => Response | null | Promise<Response>

/** The servers on one database, as one of them sees them. */
export interface FleetView {
  /** This one. */
  readonly node: string
  /** Shards whose work this one does. */
  readonly held: readonly number[]
  /** Those that were alive a moment ago, this one among them. */
  readonly members: readonly string[]
  /** How old a write of another server may be that this one has not heard of. */
  readonly lagMs: number
  /** How many others it has found gone. */
  readonly buried: number
  /** How often it has sent the database a statement again. */
  readonly retries: number
  /** Those that nobody has found gone, as the database knows it now. */
  aliveNodes(): Promise<ReadonlySet<string>>
  /** Takes tokens out of the buckets of limits, which all servers share. */
  readonly takeShared: TakeShared
}

/** The continuous backup of the data directory. */
export interface BackupView {
  status(): Backup
}

/** While the store does not answer, shows what it said last. */
export interface LastKnownView {
  /** `work` must change nothing. Answers how old the oldest of what it was shown is; 0 = all of it was new. */
  show<T>(work: () => T): Promise<{ readonly answer: Awaited<T>; readonly ageMs: number }>
}

export interface Services extends AccountDeps {
  readonly log: Log
  /** null: this server is alone on its store. */
  readonly fleet: FleetView | null
  /** null: there is no continuous backup. */
  readonly backup: BackupView | null
  /** null: the store cannot be away. */
  readonly lastKnown: LastKnownView | null
  readonly settings: ApiSettings
  /** null: there is none. */
  readonly identityProvider: IdentityProvider | null
  /** Seals what a browser keeps for this server. */
  readonly box: TicketDeps['box']
  readonly bars: BarCache
  readonly runs: Runs
  readonly features: Features
  /** The code that the setup link carries as long as there is no owner. */
  readonly setupCode: string
  readonly dashboard: ServeDashboard
  /** The licence texts of all that is built in, as UTF-8. */
  readonly licences: () => Promise<Uint8Array<ArrayBuffer>>
  /** Called with every request of a signed-in user, who will most likely run something soon. */
  readonly userCame: () => void
  /** Called after each request but those about sweeps, scans and portfolios: whoever follows one is not held up by it. */
  readonly asked?: () => void
  /** Aborts when the server begins to stop: streams end, and it is no longer ready. */
  readonly stopping: AbortSignal
}
