// A lane of the queue of looks: the series that one kind of look is for, each in its turn, a few side by side.

import { Backoff } from '../../lib/backoff.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import { seriesName, type BarNote, type SeriesKey } from '../../market/bar-store.ts'

/** Looks at the alerts of a series, in short steps. */
export type Look = (source: SeriesKey) => AsyncGenerator<void>

/** A series to be looked at. */
export interface Job {
  readonly key: SeriesKey
  /** The newest note of the series. */
  note: BarNote
  /** For each lane, the change up to which the series was looked at. */
  readonly done: number[]
}

interface Turn {
  readonly job: Job
  steps: AsyncGenerator<void> | null
  /** The change that will have been looked at after the remaining steps. */
  covers: number
  readonly backoff: Backoff
  state: 'idle' | 'ready' | 'running' | 'failed'
}

/** The queue, as its lanes see it. */
export interface LaneHost {
  readonly clock: Clock
  readonly log: Log
  readonly isStopped: () => boolean
  /** Whether the job is still this server's; one that is not is forgotten. */
  readonly keeps: (job: Job) => boolean
  /** A look has come to its end. */
  readonly looked: (job: Job) => Promise<void>
  /** A step was made, and whether it was the last for now. */
  readonly stepped: (isLast: boolean) => void
}

/**
 * How many series of a lane are looked at side by side: a look mostly waits for a worker or the disk, and their commits go
 * together.
 */
const PARALLEL = 16

export class Lane {
  readonly #host: LaneHost
  readonly #look: Look
  readonly #index: number
  readonly #turns = new Map<Job, Turn>()
  readonly #line: Turn[] = []
  /** What a step is made of now. */
  readonly stepping = new Set<Job>()

  constructor(host: LaneHost, look: Look, index: number) {
    this.#host = host
    this.#look = look
    this.#index = index
  }

  want(job: Job): void {
    const turn = this.#turns.get(job) ?? {
      job,
      steps: null,
      covers: 0,
      backoff: new Backoff(this.#host, `looking at the alerts of ${seriesName(job.key)}`),
      state: 'idle' as const,
    }
    this.#turns.set(job, turn)
    const isDue = turn.state === 'failed' && turn.backoff.waitMs === 0
    if ((turn.state === 'idle' && this.#isBehind(job)) || isDue) this.#enqueue(turn)
  }

  get isBusy(): boolean {
    return this.stepping.size > 0 || (this.#line.length > 0 && !this.#host.isStopped())
  }

  #isBehind(job: Job): boolean {
    return (job.done[this.#index] ?? 0) < job.note.change
  }

  #enqueue(turn: Turn): void {
    turn.state = 'ready'
    this.#line.push(turn)
  }

  pump(): void {
    if (this.#host.isStopped()) return
    while (this.stepping.size < PARALLEL) {
      const turn = this.#line.shift()
      if (!turn) return
      this.stepping.add(turn.job)
      turn.state = 'running'
      void this.#step(turn).finally(() => {
        this.stepping.delete(turn.job)
        this.pump()
        this.#host.stepped(this.stepping.size === 0)
      })
    }
  }

  async #step(turn: Turn): Promise<void> {
    const { job } = turn
    if (!this.#host.keeps(job)) return void this.#turns.delete(job)
    try {
      if (!turn.steps) {
        turn.covers = job.note.change
        turn.steps = this.#look(job.key)
      }
      const { done } = await turn.steps.next()
      if (!done) {
        // Gives requests their turn.
        await this.#host.clock.sleep(0)
        return this.#enqueue(turn)
      }
      turn.steps = null
      job.done[this.#index] = turn.covers
      await this.#host.looked(job)
      turn.backoff.worked()
      turn.state = 'idle'
      if (this.#isBehind(job)) this.#enqueue(turn)
      else this.#turns.delete(job)
    } catch (error) {
      turn.steps = null
      turn.state = 'failed'
      // The note stays, and the look is repeated.
      job.done[this.#index] = Number.NEGATIVE_INFINITY
      turn.backoff.failed(error)
    }
  }
}
