// Long jobs of users that are kept in the store: a user's jobs of a kind run one after another, and can be watched, ended
// and resumed.
//
// A job's record holds its results. This file only knows which jobs wait, who watches them, and what to do when one fails,
// so a server that starts again resumes every record that is not finished. A store that is away for a while is no failure
// of the job either: the job goes on from its record once the store answers.

import { Backoff } from '../../lib/backoff.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import { Problem } from '../../lib/problem.ts'
import { isUnderWay, type JobState } from '../../wire/job-state.ts'

export interface KeptJob {
  readonly id: string
  readonly userId: string
  readonly state: JobState
}

/** A job that waits or runs. */
export class LiveJob<Progress extends { readonly state: JobState }> {
  readonly userId: string
  readonly signal: AbortSignal
  progress: Progress
  readonly #abort = new AbortController()
  readonly #watchers = new Set<(progress: Progress) => void>()
  readonly #endings = new Set<() => void>()

  constructor(userId: string, progress: Progress) {
    this.userId = userId
    this.progress = progress
    this.signal = this.#abort.signal
  }

  tell(progress: Progress): void {
    this.progress = progress
    for (const watcher of this.#watchers) watcher(progress)
  }

  end(): void {
    this.#abort.abort()
  }

  /** Nobody is told anything more, though the job is not over. */
  dismiss(): void {
    for (const end of this.#endings) end()
  }

  /** Calls `watch` until the job is over, `isGone` answers true, or the signal aborts. */
  watched(watch: (progress: Progress) => void, signal: AbortSignal, isGone: () => boolean): Promise<void> {
    watch(this.progress)
    // The last news has been told: the job is over, and nothing more would come.
    if (!isUnderWay(this.progress)) return Promise.resolve()
    return new Promise((resolve) => {
      const done = () => {
        this.#watchers.delete(listen)
        this.#endings.delete(done)
        resolve()
      }
      const listen = (progress: Progress) => {
        watch(progress)
        if (!isUnderWay(progress)) done()
      }
      this.#watchers.add(listen)
      this.#endings.add(done)
      signal.addEventListener('abort', done, { once: true })
      if (signal.aborted || isGone()) done()
    })
  }
}

/** What a record keeps of an error. */
export interface JobFailure {
  readonly code: string
  readonly message: string
  readonly diagnostics?: readonly unknown[]
}

export interface UserJobsOptions<Job extends KeptJob, Progress extends { readonly state: JobState }> {
  /** The noun for one job and for many, for use in messages. */
  readonly noun: readonly [one: string, many: string]
  readonly clock: Clock
  readonly log: Log
  readonly find: (id: string) => Promise<Job | null>
  readonly progressOf: (job: Job) => Progress
  /** Whether this server is the one to do jobs of the user; jobs of others are only watched here. */
  readonly isOurs: (userId: string) => boolean
  /** How many jobs of the user wait or run, wherever. */
  readonly countUnderWay: (userId: string) => Promise<number>
  /** Does the job from its record to its end and writes the result; throws if it cannot. Called again after a store was away. */
  readonly work: (id: string, live: LiveJob<Progress>) => Promise<void>
  readonly fail: (id: string, failure: JobFailure) => Promise<unknown>
  /** Called when a job is over. */
  readonly over?: (job: Job) => void
}

/** The most jobs of a user that may wait or run. */
const UNDER_WAY_MAX = 20
/** The longest pause before a job looks whether the store is back. */
const AWAY_PAUSE_MS = 10_000

export class UserJobs<Job extends KeptJob, Progress extends { readonly state: JobState }> {
  readonly #options: UserJobsOptions<Job, Progress>
  readonly #live = new Map<string, LiveJob<Progress>>()
  /** Users whose jobs are being stored, one entry for each job. */
  readonly #arriving: string[] = []
  /** The last job of each user's queue. */
  readonly #queues = new Map<string, Promise<void>>()
  /** Who watches jobs that another server does. */
  readonly #afar = new Map<string, Set<LiveJob<Progress>>>()
  readonly #away: Backoff
  #isStopping = false

  constructor(options: UserJobsOptions<Job, Progress>) {
    this.#options = options
    this.#away = new Backoff(options, `storing ${options.noun[1]}`, { mostMs: AWAY_PAUSE_MS })
  }

  /**
   * Begins the job that `store` stores, if it stores one. Throws Problem 429 if too many of the user's jobs wait already;
   * those that are being stored count too, or many requests at once would pass the limit.
   */
  async admit<Stored extends Job | null>(userId: string, store: () => Promise<Stored>): Promise<Stored> {
    const isOurs = this.#options.isOurs(userId)
    const live = [...this.#live.values()].filter((one) => one.userId === userId).length
    const here = () => this.#arriving.filter((one) => one === userId).length
    const others = isOurs ? live : await this.#options.countUnderWay(userId)
    if (others + here() >= UNDER_WAY_MAX)
      throw new Problem(
        429,
        'concurrency_limited',
        `You have ${UNDER_WAY_MAX} ${this.#options.noun[1]} waiting already. Wait for one to end.`,
        { retryAfter: 10 },
      )
    this.#arriving.push(userId)
    let stored: Stored
    try {
      stored = await store()
    } finally {
      this.#arriving.splice(this.#arriving.indexOf(userId), 1)
    }
    if (stored && this.#options.isOurs(userId)) this.begin(stored)
    return stored
  }

  /** Goes on with a job, unless it is under way here already. */
  resume(job: Job): void {
    if (this.#live.get(job.id)?.signal.aborted ?? true) this.begin(job)
  }

  begin(job: Job): void {
    const { id, userId } = job
    const { noun, log, progressOf } = this.#options
    const live = new LiveJob(userId, progressOf(job))
    this.#live.set(id, live)
    const ended = (this.#queues.get(userId) ?? Promise.resolve())
      .then(() => this.#run(id, live))
      .catch((error: unknown) =>
        log('error', `a ${noun[0]} could not be stored`, { id, error: String(error) }),
      )
      .finally(() => {
        live.dismiss()
        if (this.#live.get(id) === live) this.#live.delete(id)
        if (this.#queues.get(userId) === ended) this.#queues.delete(userId)
      })
    this.#queues.set(userId, ended)
  }

  /** Ends the work on a job, whose record the caller has already changed. */
  end(id: string): void {
    this.#live.get(id)?.end()
  }

  /** Calls `watch` with the job's present progress and with every change, until the job is over or the signal aborts. */
  async watch(job: Job, signal: AbortSignal, watch: (progress: Progress) => void): Promise<void> {
    const live = this.#live.get(job.id)
    if (live) await live.watched(watch, signal, () => !this.#live.has(job.id))
    else if (this.#options.isOurs(job.userId)) watch(this.#options.progressOf(job))
    if (!signal.aborted && !this.#options.isOurs(job.userId)) await this.#watchAfar(job, signal, watch)
  }

  /** A record was changed by another process: the job may be new here, ended, or watched here. */
  async heard(id: string): Promise<void> {
    const { find, progressOf, isOurs, over } = this.#options
    const job = await find(id)
    const watchers = this.#afar.get(id)
    if (watchers)
      for (const watcher of watchers)
        watcher.tell(job ? progressOf(job) : { ...watcher.progress, state: 'cancelled' })
    if (job && isUnderWay(job)) {
      if (isOurs(job.userId)) this.resume(job)
      return
    }
    const live = this.#live.get(id)
    if (live) live.end()
    else if (job) over?.(job)
  }

  /** Stops jobs that are not this server's any more. The server whose they are now goes on from what is written. */
  async giveUp(): Promise<void> {
    const given = [...this.#live.values()].filter(({ userId }) => !this.#options.isOurs(userId))
    for (const live of given) live.end()
    for (const { userId } of given) await this.#queues.get(userId)
  }

  /** The users who have jobs here. */
  underWay(): Iterable<string> {
    return this.#queues.keys()
  }

  async #watchAfar(job: Job, signal: AbortSignal, watch: (progress: Progress) => void): Promise<void> {
    const { find, progressOf } = this.#options
    const afar = new LiveJob(job.userId, progressOf(job))
    const all = this.#afar.get(job.id) ?? new Set()
    this.#afar.set(job.id, all.add(afar))
    try {
      // The job may have ended before anybody listened.
      const now = await find(job.id)
      if (!now) return
      afar.progress = progressOf(now)
      await afar.watched(watch, signal, () => false)
    } finally {
      all.delete(afar)
      if (all.size === 0 && this.#afar.get(job.id) === all) this.#afar.delete(job.id)
    }
  }

  /** The server is stopping; the next one goes on from what is written. */
  async stop(): Promise<void> {
    this.#isStopping = true
    for (const live of this.#live.values()) live.end()
    await Promise.all(this.#queues.values())
  }

  async #run(id: string, live: LiveJob<Progress>): Promise<void> {
    const { work, fail } = this.#options
    try {
      // One that was ended while it waited has watchers too.
      if (!live.signal.aborted) await this.#oncePresent(live, () => work(id, live))
    } catch (error) {
      // If the job was cancelled or removed, its record says so already. If the server is stopping, the next one goes on.
      if (live.signal.aborted || this.#isStopping || isShuttingDown(error)) return
      const failure = this.#failureOf(id, error)
      await this.#oncePresent(live, () => fail(id, failure))
    } finally {
      await this.#oncePresent(live, () => this.#tellEnd(id, live))
    }
  }

  /** Does `step` again for as long as the store is away, unless the job is ended meanwhile. */
  async #oncePresent(live: LiveJob<Progress>, step: () => Promise<unknown>): Promise<void> {
    do
      try {
        await step()
        return this.#away.worked()
      } catch (error) {
        if (!isAway(error) || live.signal.aborted) throw error
        this.#away.failed(error)
        await this.#options.clock.sleep(this.#away.waitMs, live.signal)
      }
    while (!live.signal.aborted)
  }

  async #tellEnd(id: string, live: LiveJob<Progress>): Promise<void> {
    const { find, progressOf, over, isOurs } = this.#options
    const job = await find(id)
    // Another server has it now.
    if (job && isUnderWay(job) && !isOurs(job.userId)) return live.dismiss()
    live.tell(job ? progressOf(job) : { ...live.progress, state: 'cancelled' })
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

const isShuttingDown = (error: unknown) => error instanceof Problem && error.code === 'shutting_down'
const isAway = (error: unknown) => error instanceof Problem && error.code === 'store_unavailable'
