// What the HTTP room is handed. `main.ts` fills it with real things, tests with a map and a clock they turn.

import type { BlockList } from 'node:net'
import type { AccountDeps } from '../accounts/accounts.ts'
import type { Log } from '../lib/log.ts'
import type { BarCache } from '../market/bar-cache.ts'
import type { Runs } from '../runs/runs.ts'
import type { Rooms } from './rooms.ts'
import type { RatePolicies } from './limits.ts'

export interface ApiSettings {
  readonly version: string
  /** Where browsers reach this server, without a slash at the end; null = wherever they came from. */
  readonly publicUrl: string | null
  readonly trustedProxies: BlockList
  /** Host names answered besides localhost, IP addresses and PUBLIC_URL's; `*` = any. */
  readonly allowedHosts: readonly string[]
  /** Origins whose pages may call the API with a token; `*` = any. */
  readonly corsOrigins: readonly string[]
  readonly signUpOpen: boolean
  readonly rates: RatePolicies
  /** Who may read /metrics: `local` = over loopback only. */
  readonly metrics: 'local' | 'open' | 'off'
}

/** `/charts` where a proxy serves us under that path (and takes it off before it asks us), else nothing. */
export function basePath({ publicUrl }: Pick<ApiSettings, 'publicUrl'>): string {
  return publicUrl === null ? '' : new URL(publicUrl).pathname.replace(/\/$/, '')
}

/** Answers a request for the dashboard's page or one of its files; null = there is no such file. */
export type ServeDashboard = (request: Request, path: string) => Response | null

/** A file of the documentation's page, swagger-ui-dist's or one of our two, read when asked for; null = there is no such file. */
export type DocsFile = (name: string) => Promise<Uint8Array | null>

export interface Services extends AccountDeps {
  readonly log: Log
  readonly settings: ApiSettings
  readonly bars: BarCache
  readonly runs: Runs
  readonly rooms: Rooms
  /** What the setup link carries while there is no owner. */
  readonly setupCode: string
  readonly dashboard: ServeDashboard
  readonly docsFile: DocsFile
  /** Aborts when the server begins to stop: streams end, and it is not ready any more. */
  readonly stopping: AbortSignal
}
