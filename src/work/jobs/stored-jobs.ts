// Long jobs of users with their records: what sweeps, scans and portfolios have in common.
//
// The record of a job says how far it got, and is changed only while the job is under way: one that was cancelled or
// removed is told to stop, but may be writing its next result at that moment. The script that the job runs is stored
// beside the record, so that lists stay small.

import type { Clock } from '../../lib/clock.ts'
import type { NewId } from '../../lib/ids.ts'
import type { Log } from '../../lib/log.ts'
import { Problem } from '../../lib/problem.ts'
import { ALL_SHARDS, type Shards } from '../../lib/shards.ts'
import type { ProblemCode } from '../../lib/problem-codes.ts'
import type { Collection, Page, PageOptions } from '../../store/collection.ts'
import type { Key, Kv, Reader } from '../../store/kv.ts'
import { transact, type Also } from '../../store/transaction.ts'
import { isUnderWay, type JobState } from '../../wire/job-state.ts'
import { UserJobs, type JobFailure, type KeptJob, type LiveJob } from './user-jobs.ts'

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

/** A script and what the user sets of it, as it is stored beside a record. */
export interface JobScript {
  readonly source: string
  readonly inputs: Readonly<Record<string, unknown>>
  readonly overrides: Readonly<Record<string, number | string | boolean>>
}

export interface JobNoun<Job extends StoredJob> {
  /** For use in messages. */
  readonly one: string
  readonly many: string
  /** The code of the problem that there is no such job. */
  readonly missing: ProblemCode
  /** Needs the indexes `user` and `unfinished`. */
  readonly records: Collection<Job>
  readonly scriptKey: (id: string) => Key
}

export abstract class StoredJobs<
  Job extends StoredJob,
  Progress extends { readonly state: JobState },
  Script,
> {
  protected readonly jobs: UserJobs<Job, Progress>
  readonly #deps: JobDeps
  readonly #noun: JobNoun<Job>

  constructor(deps: JobDeps, noun: JobNoun<Job>) {
    this.#deps = deps
    this.#noun = noun
    const { shards = ALL_SHARDS } = deps
    this.jobs = new UserJobs<Job, Progress>({
      noun: [noun.one, noun.many],
      clock: deps.clock,
      log: deps.log,
      find: (id) => noun.records.get(id),
      progressOf: (job) => this.progressOf(job),
      isOurs: (userId) => shards.holds(userId),
      countUnderWay: (userId) => this.#countUnderWay(userId),
      work: (id, live) => this.work(id, live),
      fail: (id, error) => this.#finish(id, 'failed', error),
      over: (job) => this.over(job),
    })
    shards.onGained(() => {
      this.recover().catch((error: unknown) =>
        deps.log('error', `${noun.many} could not be gone on with`, { error: String(error) }),
      )
    })
    shards.beforeGiving(
      () => this.jobs.giveUp(),
      () => this.jobs.underWay(),
    )
  }

  protected abstract progressOf(job: Job): Progress
  /** Does the job to its end and writes the result; throws if it cannot. */
  protected abstract work(id: string, live: LiveJob<Progress>): Promise<void>
  /** The keys of all that is stored beside record and script. */
  protected abstract keysOf(job: Job, reader: Reader): readonly Key[] | Promise<readonly Key[]>
  /** Called when a job is over. */
  protected over(_job: Job): void {}

  /** Throws Problem 404 if there is none, or if it belongs to somebody else. */
  async get(userId: string, id: string): Promise<Job> {
    const job = await this.find(userId, id)
    if (!job) throw this.missing()
    return job
  }

  async find(userId: string, id: string): Promise<Job | null> {
    const job = await this.#noun.records.get(id)
    return job?.userId === userId ? job : null
  }

  list(userId: string, page: PageOptions): Promise<Page<Job>> {
    return this.#noun.records.list('user', [userId], page)
  }

  async script(userId: string, id: string): Promise<Script> {
    await this.get(userId, id)
    return this.scriptOf(id)
  }

  /** Stops the job, which keeps what it has found. */
  async cancel(userId: string, id: string): Promise<Job> {
    await this.get(userId, id)
    const changed = await this.#finish(id, 'cancelled', null)
    this.jobs.end(id)
    return changed ?? this.get(userId, id)
  }

  async remove(userId: string, id: string): Promise<void> {
    const { records, scriptKey } = this.#noun
    await this.get(userId, id)
    const isGone = await records.delete(id, async (job, tx) => ({
      deletes: [scriptKey(id), ...(await this.keysOf(job, tx))],
    }))
    this.jobs.end(id)
    if (!isGone) throw this.missing()
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
    for await (const job of this.#noun.records.each('unfinished'))
      if (shards.holds(job.userId)) this.jobs.resume(job)
  }

  /** Another process has changed a record. */
  heard(id: string): Promise<void> {
    return this.jobs.heard(id)
  }

  async #countUnderWay(userId: string): Promise<number> {
    let count = 0
    for await (const job of this.#noun.records.each('unfinished')) if (job.userId === userId) count++
    return count
  }

  /** The server is stopping. What was found is written already, and the next server goes on from there. */
  stop(): Promise<void> {
    return this.jobs.stop()
  }

  /** Stores a new job with its script, and begins it. */
  protected add(job: Job, script: Script, also?: Also<Job>): Promise<Job> {
    const { records, scriptKey } = this.#noun
    return this.jobs.admit(job.userId, async () => {
      await transact(this.#deps.kv, (tx) => [
        records.insert(job),
        { sets: [{ key: scriptKey(job.id), value: JSON.stringify(script) }] },
        also?.(job, tx),
      ])
      return job
    })
  }

  /** Begins a job again that is over. One that is under way already stays as it is. */
  protected async restart(job: Job, change: (job: Job) => Job, also?: Also<Job>): Promise<Job> {
    if (isUnderWay(job)) return job
    const { id, userId } = job
    const { records } = this.#noun
    const changed = await this.jobs.admit(userId, () =>
      records.update(id, (before) => (isUnderWay(before) ? null : change(before)), also),
    )
    return changed ?? this.get(userId, id)
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

  /** Changes a job that is under way. Answers null if it is over already, or was removed. */
  protected change(id: string, change: (job: Job) => Job, also?: Also<Job>): Promise<Job | null> {
    return this.#noun.records.update(id, (job) => (isUnderWay(job) ? change(job) : null), also)
  }

  protected async scriptOf(id: string): Promise<Script> {
    const entry = await this.#deps.kv.get(this.#noun.scriptKey(id))
    if (!entry) throw this.missing()
    return JSON.parse(entry.value) as Script
  }

  protected missing(): Problem {
    return new Problem(404, this.#noun.missing, `There is no such ${this.#noun.one}.`)
  }

  #finish(id: string, state: 'failed' | 'cancelled', error: JobFailure | null): Promise<Job | null> {
    const finishedAt = this.#deps.clock.now()
    return this.change(id, (job) => ({ ...job, state, finishedAt, ...(error && { error }) }))
  }
}
