// Requests about users' texts and reports, as jobs that never wait behind a script that runs for a minute.

import type { TrackKinds } from '../../broker/tracks.ts'
import type { Host } from './desk.ts'
import type {
  AskedCheck,
  CheckOutput,
  CompareJob,
  CompareOutput,
  PackOutput,
  Picked,
  ReplayJob,
  ReplayOutput,
} from './job.ts'
import { storedHost } from './stored-text.ts'
import type { JobPool } from './pool.ts'
import type { Budget, JobOptions, Lane } from './task.ts'

/** The compiler's own limits end a check long before this. */
const TIME_MS = 10_000

/** Parts of the JSON text of a report, and of its tracks if they are needed. */
type Stored = Parameters<typeof storedHost>[0]

export interface Texts {
  /** Compiles it with the libraries that the user may import. */
  check(userId: string, source: string, signal?: AbortSignal): Promise<CheckOutput>
  /** The first of the names that is no input of the script; null if all are, or if it does not compile. */
  wrongInput(userId: string, source: string, names: readonly string[]): Promise<AskedCheck['unknown']>
  format(userId: string, source: string, signal?: AbortSignal): Promise<string>
  /** Compares TradingView's list of trades with a report. */
  compare(userId: string, job: CompareJob, stored: Stored, signal?: AbortSignal): Promise<CompareOutput>
  /** The trades and the equity as a replay on these bars shows them. */
  replay(userId: string, job: ReplayJob, stored: Stored, signal?: AbortSignal): Promise<ReplayOutput>
  /** Stored tracks of some kinds, or all, as columns of an answer, which has them at `tracks`. */
  columns(userId: string, kinds: TrackKinds, stored: Stored, signal?: AbortSignal): Promise<PackOutput>
  /** JSON text of the stored tracks of some kinds. */
  tracks(userId: string, kinds: TrackKinds, stored: Stored, signal?: AbortSignal): Promise<string>
  /** JSON text of a part of an answer with a report; `bytes` are the whole answer. */
  pick(userId: string, what: Picked, bytes: AsyncIterable<Uint8Array>): Promise<string>
}

export function createTexts(
  pool: JobPool,
  limits: Budget,
  libraryFor: (userId: string) => Host['library'],
): Texts {
  const { timeMs, memoryBytes } = limits
  const options = (lane: Lane, user: string, signal: AbortSignal | undefined): JobOptions => ({
    user,
    lane,
    budget: { timeMs: lane === 'quick' ? Math.min(timeMs, TIME_MS) : timeMs, memoryBytes },
    host: { library: libraryFor(user) },
    signal,
  })
  return {
    check: (userId, source, signal) => pool.do('check', { source }, options('quick', userId, signal)),
    async wrongInput(userId, source, names) {
      const job = { source, names, overrides: {} }
      return (await pool.do('checkAsked', job, options('quick', userId, undefined)))?.unknown ?? null
    },
    format: (userId, source, signal) => pool.do('format', { source }, options('quick', userId, signal)),
    compare: (userId, job, stored, signal) =>
      pool.do('compare', job, { ...options('prompt', userId, signal), host: storedHost(stored) }),
    replay: (userId, job, stored, signal) =>
      pool.do('replay', job, { ...options('prompt', userId, signal), host: storedHost(stored) }),
    columns: (userId, kinds, stored, signal) =>
      pool.do(
        'pack',
        { at: ['tracks'], kinds },
        { ...options('prompt', userId, signal), host: storedHost(stored) },
      ),
    tracks: (userId, kinds, stored, signal) =>
      pool.do('tracks', { kinds }, { ...options('prompt', userId, signal), host: storedHost(stored) }),
    pick(userId, what, bytes) {
      const pieces = bytes[Symbol.asyncIterator]()
      const host = {
        async piece() {
          const { done, value } = await pieces.next()
          return done ? null : value
        },
      }
      return pool.do('pick', { what }, { ...options('prompt', userId, undefined), host })
    },
  }
}
