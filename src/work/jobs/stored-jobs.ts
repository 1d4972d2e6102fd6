// Jobs that are stored before they begin and go on where they were, on the server whose user's they are: sweeps, scans and
// portfolios.
//
// The record of a job says how far it got, and is changed only while the job is under way: one that was cancelled or
// removed is told to stop, but may be writing its next result at that moment.

import type { Clock } from '../../lib/clock.ts'
import type { NewId } from '../../lib/ids.ts'
import type { Log } from '../../lib/log.ts'
import { ALL_SHARDS, type Shards } from '../../lib/shards.ts'
import type { Key, Kv, Reader } from '../../store/kv.ts'
import type { Also } from '../../store/transaction.ts'
import { isUnderWay } from '../../wire/job-state.ts'
import type { JobProgress, LiveJob } from './live-jobs.ts'
import { KeptJobs, type JobFailure, type JobNoun, type JobScript, type KeptJob } from './records.ts'
import { UserJobs } from './user-jobs.ts'

export interface JobDeps {
  readonly kv: Kv
  readonly clock: Clock
  readonly newId: NewId
  readonly log: Log
  /** The users whose jobs this server does. */
  readonly shards?: Shards
}

export interface StoredJob extends KeptJob {
  readonly startedAt: number | null
  readonly finishedAt: number | null
  readonly error: JobFailure | null
}

export abstract class StoredJobs<
  Job extends StoredJob,
  Progress extends JobProgress,
  Script = JobScript,
> extends KeptJobs<Job, Script> {
  protected readonly jobs: UserJobs<Job, Progress>
  readonly #deps: JobDeps
  readonly #noun: JobNoun<Job>

  constructor(deps: JobDeps, noun: JobNoun<Job>) {
    super(deps.kv, noun)
    this.#deps = deps
    this.#noun = noun
    const { clock, log, shards = ALL_SHARDS } = deps
    this.jobs = new UserJobs<Job, Progress>({
      noun: [noun.one, noun.many],
      clock,
      log,
      find: (id) => this.records.get(id),
      progressOf: (job) => this.progressOf(job),
      isOurs: ({ userId }) => shards.holds(userId),
      countUnderWay: (userId) => this.#countUnderWay(userId),
      work: (id, live) => this.work(id, live),
      fail: (id, error) => this.#finish(id, 'failed', error),
      over: (job) => this.over(job),
    })
    shards.onGained(() => {
      this.recover().catch((error: unknown) =>
        log('error', `${noun.many} could not be gone on with`, { error: String(error) }),
      )
    })
    shards.beforeGiving(
      () => this.jobs.giveUp(),
      () => this.jobs.underWay(),
    )
  }

  protected abstract progressOf(job: Job): Progress
  /** Does the job to its end and writes the result; throws if it cannot. */
  protected abstract work(id: string, live: LiveJob<Job, Progress>): Promise<void>
  /** The keys of all that is stored beside record and script. */
  protected abstract keysOf(job: Job, reader: Reader): readonly Key[] | Promise<readonly Key[]>
  /** Called when a job is over. */
  protected over(_job: Job): void {}

  /** Stops the job, which keeps what it has found. */
  async cancel(userId: string, id: string): Promise<Job> {
    await this.get(userId, id)
    const changed = await this.#finish(id, 'cancelled', null)
    this.jobs.end(id)
    return changed ?? this.get(userId, id)
  }

  async remove(userId: string, id: string): Promise<void> {
    await this.get(userId, id)
    const isGone = await this.records.delete(id, async (job, tx) => ({
      deletes: [this.#noun.scriptKey(id), ...(await this.keysOf(job, tx))],
    }))
    this.jobs.end(id)
    if (!isGone) throw await this.missing()
  }

  /** Calls `watch` with the present progress and with every change, until the job is over or the signal aborts. */
  async watch(
    userId: string,
    id: string,
    signal: AbortSignal,
    watch: (progress: Progress) => void,
  ): Promise<void> {
    await this.jobs.watch(await this.get(userId, id), signal, watch)
  }

  /** Resumes what another server, or an earlier one, did not finish. */
  async recover(): Promise<void> {
    const { shards = ALL_SHARDS } = this.#deps
    for await (const job of this.records.each('unfinished'))
      if (shards.holds(job.userId)) this.jobs.resume(job)
  }

  /** Another process has changed a record. */
  async heard(id: string): Promise<void> {
    this.jobs.heard(id, await this.records.get(id))
  }

  async #countUnderWay(userId: string): Promise<number> {
    let count = 0
    for await (const job of this.records.each('unfinished')) if (job.userId === userId) count++
    return count
  }

  /** The server is stopping. What was found is written already, and the next server goes on from there. */
  stop(): Promise<void> {
    return this.jobs.stop()
  }

  /** Stores a new job with its script, and begins it. */
  protected add(job: Job, script: Script, also?: Also<Job>): Promise<Job> {
    return this.jobs.admit(job, () => this.store(job, script, also))
  }

  /** Begins a job again that is over. One that is under way already stays as it is. */
  protected async restart(job: Job, change: (job: Job) => Job, also?: Also<Job>): Promise<Job> {
    if (isUnderWay(job)) return job
    const changed = await this.jobs.admit(job, () =>
      this.records.update(job.id, (before) => (isUnderWay(before) ? null : change(before)), also),
    )
    return changed ?? this.get(job.userId, job.id)
  }

  /** Marks the job as running. Answers null if it is over already, or was removed. */
  protected started(id: string, also?: Also<Job>, more: Partial<Job> = {}): Promise<Job | null> {
    const { clock } = this.#deps
    return this.change(
      id,
      (job) => ({ ...job, ...more, state: 'running', startedAt: job.startedAt ?? clock.now() }),
      also,
    )
  }

  /** Ends the job with what it has found. */
  protected done(id: string, more: Partial<Job> = {}, also?: Also<Job>): Promise<Job | null> {
    const finishedAt = this.#deps.clock.now()
    return this.change(id, (job) => ({ ...job, state: 'done', finishedAt, ...more }), also)
  }

  #finish(id: string, state: 'failed' | 'cancelled', error: JobFailure | null): Promise<Job | null> {
    const finishedAt = this.#deps.clock.now()
    return this.change(id, (job) => ({ ...job, state, finishedAt, ...(error && { error }) }))
  }
}
