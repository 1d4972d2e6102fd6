// When a job takes too much time or memory, and what is said about it.

import { Problem } from '../../lib/problem.ts'
import { UNKNOWN_THREAD, USED } from './job.ts'
import type { Running } from './task.ts'

/** The most time that an import may take from the first byte to the last: a client that sends just fast enough takes days. */
const IMPORT_MS = 2 * 3_600_000
/** The engine stops itself at the limit and can name the line, so the pool waits this much longer before it does. */
const GRACE_MS = 500
/** A job that needs more than this many times its budget by the clock is given up: the machine has no room for it. */
const PATIENCE = 7

/** Processor time of a thread in milliseconds; null if the system does not tell, and then the clock's time counts. */
export type ThreadMs = (thread: number) => number | null

/** What it counts as its own. */
export function bytesOf({ used }: Pick<Running, 'used'>): number {
  return used[USED.bytes] ?? 0
}

/** Milliseconds of processor time that the job took; null if that is unknown. */
function timeTaken(used: Float64Array, threadMs: ThreadMs): number | null {
  const thread = used[USED.thread] ?? 0
  // A thread that has not started yet has done nothing for the job.
  if (thread === 0) return 0
  const taken = thread === UNKNOWN_THREAD ? null : threadMs(thread)
  return taken === null ? null : taken - (used[USED.threadMs] ?? 0)
}

/** Why the job's time is over; null = it is not. */
export function tooLate({ task, used, startedAt }: Running, now: number, threadMs: ThreadMs): Problem | null {
  const { timeMs } = task.options.budget
  // Their time passes while clients send, and while others of the same thread are served: see `JobPool`.
  if (task.options.lane === 'imports') return now - startedAt > IMPORT_MS ? importTooLong() : null
  // Processor time never exceeds the clock's time, so this check mostly suffices.
  if (now - startedAt <= timeMs + GRACE_MS) return null
  const taken = timeTaken(used, threadMs)
  if (taken === null || taken > timeMs + GRACE_MS)
    return task.options.lane === 'tables'
      ? fileTooLong(timeMs)
      : limitExceeded(`The script ran for more than ${timeMs / 1000} s and was stopped.`)
  if (now - startedAt <= PATIENCE * (timeMs + GRACE_MS)) return null
  return new Problem(
    503,
    'overloaded',
    'The server is too busy to finish this in reasonable time. Try again later.',
    { retryAfter: 10 },
  )
}

function fileTooLong(timeMs: number): Problem {
  return limitExceeded(
    `Nothing was imported: reading the file took more than ${timeMs / 1000} s without progress, and was stopped. It may be damaged; write it again, or as CSV.`,
  )
}

function importTooLong(): Problem {
  return new Problem(
    408,
    'upload_too_slow',
    `Nothing was imported within ${IMPORT_MS / 3_600_000} hours. Send the file over a faster connection, or in parts; \`chartroom bars import\` takes any time.`,
  )
}

export function readerEnded(): Problem {
  return new Problem(
    503,
    'overloaded',
    'Nothing was imported: a file held up the reader, which was started again. Try again. Parquet or Arrow that does so again may be damaged: write it as CSV.',
    { retryAfter: 1 },
  )
}

export function tooMuchMemory(memoryBytes: number): Problem {
  const megabytes = Math.round(memoryBytes / 2 ** 20)
  return limitExceeded(`The script took more than ${megabytes} MB of memory and was stopped.`)
}

function limitExceeded(message: string): Problem {
  return new Problem(422, 'script_limit_exceeded', message)
}

export function shuttingDown(): Problem {
  return new Problem(503, 'shutting_down', 'The server is stopping. Try again when it is back.', {
    retryAfter: 5,
  })
}

export function cancelled(): Problem {
  return new Problem(409, 'conflict', 'The backtest was cancelled.')
}
