// Rooms of stored jobs (sweeps, scans, portfolios) without a server: over a store in memory and workers of this process.
// What they find is printed, and nothing is kept.

import { totalmem } from 'node:os'
import process from 'node:process'
import { JobPool } from '../work/workers/pool.ts'
import { threadMs } from '../work/workers/thread-time.ts'
import type { JobProgress } from '../work/jobs/live-jobs.ts'
import type { JobDeps, StoredJob, StoredJobs } from '../work/jobs/stored-jobs.ts'
import { idSource } from '../lib/ids.ts'
import { silentLog } from '../lib/log.ts'
import { DEFAULT_LIMITS, type Limits } from '../language/runtime/limits.ts'
import { memoryKv } from '../store/memory.ts'
import type { CommandContext } from './command.ts'

/** Owns what belongs to nobody else. */
export const USER = 'cli'

export interface JobsHere extends JobDeps {
  readonly pool: JobPool
  readonly limits: Limits
}

/** Calls `work` with what a room of jobs needs, and ends the workers after it. */
export async function withJobs<T>(
  { clock, random, progress, spawnWorker }: CommandContext,
  workers: number,
  work: (here: JobsHere) => Promise<T>,
): Promise<T> {
  const pool = new JobPool({
    workers,
    clock: { now: () => performance.now(), sleep: (ms) => Bun.sleep(ms) },
    threadMs,
    spawn: spawnWorker,
    memory: () => process.memoryUsage.rss(),
    memoryMax: totalmem(),
  })
  try {
    return await work({
      kv: memoryKv(),
      clock: { now: () => performance.now(), sleep: clock.sleep },
      newId: idSource({ clock, random }),
      log: silentLog,
      pool,
      limits: DEFAULT_LIMITS,
    })
  } finally {
    progress?.(null)
    pool.close()
  }
}

/** The job when it is over; until then `line` says how far it is. */
export async function overOf<Job extends StoredJob, Progress extends JobProgress, Script>(
  jobs: StoredJobs<Job, Progress, Script>,
  { userId, id }: Job,
  { progress }: CommandContext,
  line: (progress: Progress) => string,
): Promise<Job> {
  await jobs.watch(userId, id, new AbortController().signal, (found) => progress?.(line(found)))
  progress?.(null)
  return jobs.get(userId, id)
}
