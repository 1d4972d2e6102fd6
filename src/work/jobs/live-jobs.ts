// Jobs that wait or run in this process, how far each is, and who watches them. It also knows who watches a job of another
// server, about which only the stored record tells anything.

import { isUnderWay, type WorkState } from '../../wire/job-state.ts'
import type { KeptJob } from './records.ts'

export interface JobProgress {
  readonly state: WorkState
}

type Watch<Progress> = (progress: Progress) => void

export class LiveJob<Job extends KeptJob, Progress extends JobProgress> {
  readonly job: Job
  readonly signal: AbortSignal
  progress: Progress
  readonly #abort = new AbortController()
  readonly #watchers = new Set<Watch<Progress>>()
  readonly #endings = new Set<() => void>()

  constructor(job: Job, progress: Progress) {
    this.job = job
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
  watched(watch: Watch<Progress>, signal: AbortSignal, isGone: () => boolean): Promise<void> {
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

export interface LiveJobsOptions<Job extends KeptJob, Progress extends JobProgress> {
  readonly find: (id: string) => Promise<Job | null>
  /** `before` is what was told last. */
  readonly progressOf: (job: Job, before?: Progress) => Progress
  /** Whether this server is the one to do the job; others are only watched here. */
  readonly isOurs: (job: Job) => boolean
}

export class LiveJobs<Job extends KeptJob, Progress extends JobProgress> {
  readonly #options: LiveJobsOptions<Job, Progress>
  readonly #live = new Map<string, LiveJob<Job, Progress>>()
  /** Who watches jobs that another server does. */
  readonly #afar = new Map<string, Set<LiveJob<Job, Progress>>>()

  constructor(options: LiveJobsOptions<Job, Progress>) {
    this.#options = options
  }

  all(): Iterable<LiveJob<Job, Progress>> {
    return this.#live.values()
  }

  of(userId: string): LiveJob<Job, Progress>[] {
    return [...this.#live.values()].filter(({ job }) => job.userId === userId)
  }

  get(id: string): LiveJob<Job, Progress> | undefined {
    return this.#live.get(id)
  }

  enter(job: Job, progress = this.#options.progressOf(job)): LiveJob<Job, Progress> {
    const live = new LiveJob(job, progress)
    this.#live.set(job.id, live)
    return live
  }

  leave(live: LiveJob<Job, Progress>): void {
    live.dismiss()
    if (this.#live.get(live.job.id) === live) this.#live.delete(live.job.id)
  }

  /** Calls `watch` with the job's present progress and with every change, until the job is over or the signal aborts. */
  async watch(job: Job, signal: AbortSignal, watch: Watch<Progress>): Promise<void> {
    const { find, progressOf, isOurs } = this.#options
    const live = this.#live.get(job.id)
    if (live) {
      await live.watched(watch, signal, () => this.#live.get(job.id) !== live)
      if (signal.aborted || !isUnderWay(live.progress) || isOurs(job)) return
    }
    const afar = new LiveJob(job, progressOf(job))
    const all = this.#afar.get(job.id) ?? new Set()
    this.#afar.set(job.id, all.add(afar))
    try {
      // Read again: the job may have ended before anybody listened.
      const now = await find(job.id)
      if (!now) return
      afar.progress = progressOf(now)
      if (isOurs(now)) watch(afar.progress)
      else await afar.watched(watch, signal, () => false)
    } finally {
      all.delete(afar)
      if (all.size === 0 && this.#afar.get(job.id) === all) this.#afar.delete(job.id)
    }
  }

  /** Another process has changed a record; null: it was removed. */
  heard(id: string, job: Job | null): void {
    for (const watcher of this.#afar.get(id) ?? [])
      watcher.tell(
        job ? this.#options.progressOf(job, watcher.progress) : { ...watcher.progress, state: 'cancelled' },
      )
  }
}
