// All that a server has of the world around it, as one value: `main.ts` and `cli/serve.ts` make the real one, and
// `simulation/` one that comes out of a seed. A server reaches nothing beside it, so that several are several values in
// one process, and what has happened to one happens again.

import type { Clock } from '../lib/clock.ts'
import type { Random } from '../lib/random.ts'
import type { OpenSocket } from '../market/live/connection.ts'
import type { Http } from '../market/providers/provider.ts'
import type { Transport } from '../notify/mail/mail.ts'
import type { PostDeps } from '../notify/webhooks/post.ts'
import type { PasswordHasher } from '../people/accounts/passwords.ts'
import type { SearchThread } from '../people/search/search.ts'
import type { PoolOptions } from '../work/workers/pool.ts'
import type { WorkerThread } from '../work/workers/task.ts'

export interface World {
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly version: string
  readonly clock: Clock
  /** Nobody can set it back: how long something takes is measured by it. */
  readonly steady: Clock
  readonly random: Random
  readonly passwords: PasswordHasher
  readonly network: Network
  readonly spawnWorker: () => WorkerThread
  readonly spawnSearch: () => SearchThread
  readonly machine: Machine
  readonly print: (line: string) => void
  readonly warn: (line: string) => void
  /** Resolves with the name of the signal that asks for a stop; `stopping` aborts before. */
  stopAsked(stopping: AbortController): Promise<string>
  /** Ends the process; what is answered never comes. */
  exit(code: number): Promise<never>
}

export interface Network extends Pick<PostDeps, 'resolve' | 'send'> {
  readonly http: Http
  readonly openSocket: OpenSocket
  /** How letters go out by the mail server at this address. */
  mail(url: string, sender: string | null): Promise<Transport>
}

/** What jobs are run on. */
interface Machine extends Pick<PoolOptions, 'threadMs' | 'memory' | 'memoryMax' | 'every'> {
  readonly processors: number
}
