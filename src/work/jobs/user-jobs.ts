// Long jobs of users that are kept in the store: they wait in a queue, and can be watched, ended and resumed.
//
// A job's record holds its results. This file only knows which jobs wait, and what to do when one fails, so a server that
// starts again resumes every record that is not finished. A store that is away for a while is no failure of the job either:
// the job goes on from its record once the store answers.

import { Backoff } from '../../lib/backoff.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import { Problem } from '../../lib/problem.ts'
import { isUnderWay } from '../../wire/job-state.ts'
import { LiveJobs, type JobProgress, type LiveJob, type LiveJobsOptions } from './live-jobs.ts'
import { UserQueue } from './queue.ts'
import type { JobFailure, KeptJob } from './records.ts'

export interface UserJobsOptions<Job extends KeptJob, Progress extends JobProgress> extends LiveJobsOptions<
  Job,
  Progress
> {
  /** The noun for one job and for many, for use in messages. */
  readonly noun: readonly [one: string, many: string]
  readonly clock: Clock
  readonly log: Log
  readonly queue?: UserQueue
  /** How many jobs of the user wait or run, wherever. */
  readonly countUnderWay: (userId: string) => Promise<number>
  /** Does the job from its record to its end and writes the result; throws if it cannot. Called again after a store was away. */
  readonly work: (id: string, live: LiveJob<Job, Progress>) => Promise<unknown>
  readonly fail: (id: string, failure: JobFailure) => Promise<unknown>
  /** Called when this server stops before the job is over; without it, the record stays as it is, for the next server. */
  readonly interrupt?: (id: string) => Promise<unknown>
  /** Called when a job is over. */
  readonly over?: (job: Job) => void
}

/** The most jobs of a user that may wait or run. */
const UNDER_WAY_MAX = 20
/** The longest pause before a job looks whether the store is back. */
const AWAY_PAUSE_MS = 10_000

export class UserJobs<Job extends KeptJob, Progress extends JobProgress> extends LiveJobs<Job, Progress> {
  readonly #options: UserJobsOptions<Job, Progress>
  /** Users whose jobs are being stored, one entry for each job. */
  readonly #arriving: string[] = []
  readonly #queue: UserQueue
  readonly #away: Backoff
  #isStopping = false

  constructor(options: UserJobsOptions<Job, Progress>) {
    super(options)
    this.#options = options
    this.#queue = options.queue ?? new UserQueue()
    this.#away = new Backoff(options, `storing ${options.noun[1]}`, { mostMs: AWAY_PAUSE_MS })
  }

  /**
   * Begins the job, after `store` has stored it or answered null. Throws Problem 429 if too many of the user's jobs wait already;
   * those that are being stored count too, or many requests at once would pass the limit.
   */
  async admit<Stored extends Job | null>(job: Job, store: () => Promise<Stored>): Promise<Stored> {
    const { noun, isOurs, countUnderWay } = this.#options
    const { userId } = job
    const live = this.of(userId).length
    const others = isOurs(job) ? live : await countUnderWay(userId)
    const here = this.#arriving.filter((one) => one === userId).length
    if (others + here >= UNDER_WAY_MAX)
      throw new Problem(
        429,
        'concurrency_limited',
        `You have ${UNDER_WAY_MAX} ${noun[1]} waiting already. Wait for one to end.`,
        { retryAfter: 10 },
      )
    this.#arriving.push(userId)
    let stored: Stored
    try {
      stored = await store()
    } finally {
      this.#arriving.splice(this.#arriving.indexOf(userId), 1)
    }
    if (stored && isOurs(stored)) this.begin(stored)
    return stored
  }

  /** Goes on with a job, unless it is under way here already. */
  resume(job: Job): void {
    if (this.get(job.id)?.signal.aborted ?? true) this.begin(job)
  }

  begin(job: Job): void {
    this.start(this.enter(job))
  }

  start(live: LiveJob<Job, Progress>, work = this.#options.work): void {
    const { noun, log } = this.#options
    const { id, userId } = live.job
    void this.#queue.enter(userId, () =>
      this.#run(id, live, work)
        .catch((error: unknown) =>
          log('error', `a ${noun[0]} could not be stored`, { id, error: String(error) }),
        )
        .finally(() => this.leave(live)),
    )
  }

  /** Ends the work on a job, whose record the caller has already changed. */
  end(id: string): void {
    this.get(id)?.end()
  }

  /** A record was changed by another process: the job may be new here, ended, or watched here. */
  override heard(id: string, job: Job | null): void {
    super.heard(id, job)
    if (job && isUnderWay(job)) {
      if (this.#options.isOurs(job)) this.resume(job)
      return
    }
    const live = this.get(id)
    if (live) live.end()
    else if (job) this.#options.over?.(job)
  }

  /** Stops jobs that are not this server's any more. The server whose they are now goes on from what is written. */
  async giveUp(): Promise<void> {
    const given = [...this.all()].filter(({ job }) => !this.#options.isOurs(job))
    for (const live of given) live.end()
    await this.#queue.settled(given.map(({ job }) => job.userId))
  }

  /** The users who have jobs here. */
  underWay(): Iterable<string> {
    return this.#queue.users()
  }

  /** Resolves when what became of all jobs is stored. */
  settled(): Promise<void> {
    return this.#queue.settled()
  }

  /** The server is stopping; the next one goes on from what is written. */
  async stop(): Promise<void> {
    this.#isStopping = true
    for (const live of this.all()) live.end()
    await this.settled()
  }

  async #run(
    id: string,
    live: LiveJob<Job, Progress>,
    work: UserJobsOptions<Job, Progress>['work'],
  ): Promise<void> {
    const { fail, interrupt } = this.#options
    try {
      // One that was ended while it waited has watchers too.
      if (!live.signal.aborted) await this.#oncePresent(live, () => work(id, live))
    } catch (error) {
      // If the job was cancelled or removed, its record says so already.
      if (live.signal.aborted || this.#isStopping) return
      if (isProblem(error, 'shutting_down')) {
        await interrupt?.(id)
        return
      }
      const failure = this.#failureOf(id, error)
      // A full disk, or one that fails, takes it later. Until then the record says that somebody works on it.
      await this.#oncePresent(live, () => fail(id, failure), true)
    } finally {
      await this.#oncePresent(live, () => this.#tellEnd(id, live))
    }
  }

  /**
   * Does `step` again for as long as the store is away, unless the job is ended meanwhile. `whyever`: also where it fails
   * otherwise.
   */
  async #oncePresent(
    live: LiveJob<Job, Progress>,
    step: () => Promise<unknown>,
    whyever = false,
  ): Promise<void> {
    do
      try {
        await step()
        return this.#away.worked()
      } catch (error) {
        if (live.signal.aborted || !(whyever || isProblem(error, 'store_unavailable'))) throw error
        this.#away.failed(error)
        await this.#options.clock.sleep(this.#away.waitMs, live.signal)
      }
    while (!live.signal.aborted)
  }

  async #tellEnd(id: string, live: LiveJob<Job, Progress>): Promise<void> {
    const { find, progressOf, over, isOurs } = this.#options
    const job = await find(id)
    // Another server has it now.
    if (job && isUnderWay(job) && !isOurs(job)) return live.dismiss()
    live.tell(job ? progressOf(job, live.progress) : { ...live.progress, state: 'cancelled' })
    if (job && !isUnderWay(job)) over?.(job)
  }

  #failureOf(id: string, error: unknown): JobFailure {
    if (!(error instanceof Problem)) {
      this.#options.log('error', `a ${this.#options.noun[0]} failed`, { id, error: String(error) })
      return { code: 'internal_error', message: 'Something went wrong on our side.' }
    }
    const { code, message, details } = error
    return {
      code,
      // If a field is to blame, its own message says more than that of the problem.
      message: details.fields?.[0]?.message ?? message,
      ...(details.diagnostics && { diagnostics: [...details.diagnostics] }),
    }
  }
}

const isProblem = (error: unknown, code: Problem['code']) => error instanceof Problem && error.code === code
