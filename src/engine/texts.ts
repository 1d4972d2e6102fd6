// What is asked of users' texts and of reports, as jobs that never wait behind a script that runs for a minute.

import type {
  CheckOutput,
  CompareJob,
  CompareOutput,
  Host,
  PackOutput,
  Picked,
  ReplayJob,
  ReplayOutput,
} from './job.ts'
import { storedHost } from './stored-text.ts'
import type { Budget, JobOptions, JobPool, Lane } from './pool.ts'

/** The compiler's caps end a check long before. */
const TIME_MS = 10_000

/** Parts of the JSON text of a report, and of its tracks where they are needed. */
type Stored = Parameters<typeof storedHost>[0]

export interface Texts {
  /** Compiles it with the libraries that the user may import. */
  check(userId: string, source: string, signal?: AbortSignal): Promise<CheckOutput>
  /** Tidies its spaces. */
  format(userId: string, source: string, signal?: AbortSignal): Promise<string>
  /** TradingView's list of trades against a report. */
  compare(userId: string, job: CompareJob, stored: Stored, signal?: AbortSignal): Promise<CompareOutput>
  /** Trades and equity as a replay on these bars shows them. */
  replay(userId: string, job: ReplayJob, stored: Stored, signal?: AbortSignal): Promise<ReplayOutput>
  /** Stored tracks as columns of an answer, in which they are at `tracks`. */
  columns(userId: string, stored: Stored, signal?: AbortSignal): Promise<PackOutput>
  /** JSON text of a part of an answer with a report, of which `bytes` are all. */
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
    format: (userId, source, signal) => pool.do('format', { source }, options('quick', userId, signal)),
    compare: (userId, job, stored, signal) =>
      pool.do('compare', job, { ...options('prompt', userId, signal), host: storedHost(stored) }),
    replay: (userId, job, stored, signal) =>
      pool.do('replay', job, { ...options('prompt', userId, signal), host: storedHost(stored) }),
    columns: (userId, stored, signal) =>
      pool.do('pack', { at: ['tracks'] }, { ...options('prompt', userId, signal), host: storedHost(stored) }),
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
