// What the features of a server are made of, and what they are told by and tell.

import type { AccountDeps } from '../people/accounts/accounts.ts'
import type { Article } from '../people/support/support.ts'
import type { SearchThread } from '../people/search/search.ts'
import type { Log } from '../lib/log.ts'
import type { Shards } from '../lib/shards.ts'
import type { BarCache } from '../market/bar-cache.ts'
import type { OpenSocket } from '../market/live/connection.ts'
import type { Http } from '../market/providers/provider.ts'
import type { Limits } from '../language/runtime/limits.ts'
import type { Transport } from '../notify/mail/mail.ts'
import type { PostDeps } from '../notify/webhooks/post.ts'
import type { SweepNodes } from '../work/sweeps/offers.ts'
import type { JobPool } from '../work/workers/pool.ts'

export interface FeatureDeps extends AccountDeps, Pick<PostDeps, 'box' | 'allow' | 'resolve' | 'send'> {
  readonly bars: BarCache
  readonly log: Log
  readonly mailTransport: Transport | null
  readonly articles: readonly Article[]
  readonly version: string
  /** Where browsers reach the server, for links in notifications; null or missing = not known. */
  readonly publicUrl?: string | null
  readonly http: Http
  /** How many alerts a user may have; 0 = any number. */
  readonly alertsMax: number
  /** Opens a connection to a provider that streams. */
  readonly openSocket: OpenSocket
  /** Whether series are kept fresh from providers. */
  readonly feeds: boolean
  /** Runs alerts' scripts, with the same budget as any other. */
  readonly pool: JobPool
  /** Starts a thread that searches. */
  readonly spawnSearch: () => SearchThread
  readonly limits: Limits
  /** What of the work behind requests this server does; all of it if it is alone. */
  readonly shards?: Shards
  /** The servers on the same database; null or missing = there can be no others. */
  readonly nodes?: SweepNodes | null
}

/** The same for the functions that make what is in a room. */
export interface Wiring extends FeatureDeps {
  readonly shards: Shards
  /** `loop` runs as long as the server does, until `signal` aborts; what sends, until `sending` does. */
  readonly during: (loop: (signal: AbortSignal, sending: AbortSignal) => Promise<unknown>) => void
}

/** A random number in [0, 1). */
export const spreadOf =
  ({ random }: Pick<FeatureDeps, 'random'>) =>
  (): number =>
    (random.bytes(1)[0] ?? 0) / 256
