// What is asked of users' texts and of reports, as jobs that never wait behind a script that runs for a minute.

import type { CheckOutput, CompareJob, CompareOutput, Host, ReplayJob, ReplayOutput } from './job.ts'
import type { Budget, JobOptions, JobPool, Lane } from './pool.ts'

/** The compiler's caps end a check long before. */
const TIME_MS = 10_000

export interface Texts {
  /** Compiles it with the libraries that the user may import. */
  check(userId: string, source: string, signal?: AbortSignal): Promise<CheckOutput>
  /** Tidies its spaces. */
  format(userId: string, source: string, signal?: AbortSignal): Promise<string>
  /** TradingView's list of trades against a report. */
  compare(userId: string, job: CompareJob, signal?: AbortSignal): Promise<CompareOutput>
  /** Trades and equity as a replay on these bars shows them. */
  replay(userId: string, job: ReplayJob, signal?: AbortSignal): Promise<ReplayOutput>
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
    compare: (userId, job, signal) => pool.do('compare', job, options('prompt', userId, signal)),
    replay: (userId, job, signal) => pool.do('replay', job, options('prompt', userId, signal)),
  }
}
