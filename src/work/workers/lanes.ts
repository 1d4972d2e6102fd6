// Which job may begin: how many threads a lane may use, and how many running jobs a user may have in it.

import type { Clock } from '../../lib/clock.ts'
import { OWN_THREADS, rankOf, type Lane, type Running } from './task.ts'

/** A preview that runs longer than this is a slow one, beside which its user may have another: indicators do not wait for it. */
const SLOW_MS = 1000
/** The most previews and runs together that one user may have running. */
const SHOWN_AT_ONCE = 2
/** Whoever asked this recently is still at it. */
const ASKING_MS = 1000
/** The most imports that are active at a time; a user without one may still start one. Each may keep 15 MB in memory. */
const IMPORTS = 16
/** The most of these that one user may have. */
const IMPORTS_A_USER = 8
/** The most imports if nearly all wait for bytes: they hinder nobody, but each keeps in memory what has arrived. */
const IMPORTS_HELD = 64
/** The most files that are read in threads of their own: one for each of so many users. */
const TABLES = 4

export interface LanesOptions {
  /** Threads that run scripts; up to two more serve jobs that must not wait for them. */
  readonly workers: number
  /** How many threads the machine can run at a time; missing = enough for all. */
  readonly processors?: number
  /** Only differences count, so pass a clock that cannot be set (monotonic). */
  readonly clock: Clock
}

export class Lanes {
  readonly #options: LanesOptions
  readonly #running: ReadonlyMap<number, Running>
  #askedAt = -Infinity

  constructor(options: LanesOptions, running: ReadonlyMap<number, Running>) {
    this.#options = options
    this.#running = running
  }

  /** Somebody asks the server for something else than long work: while people do, sweeps leave them a processor. */
  asked(): void {
    this.#askedAt = this.#options.clock.now()
  }

  runningOf(lane: Lane, user: string): number {
    let count = 0
    for (const { task } of this.#running.values())
      if (task.options.lane === lane && task.options.user === user) count++
    return count
  }

  /** Whether the user may have one more job of the lane running, if a thread is free. */
  mayStart(lane: Lane, user: string): boolean {
    const running = this.runningOf(lane, user)
    if (running < this.#mostOf(lane)) return true
    if (lane !== 'prompt' || running + this.runningOf('long', user) >= SHOWN_AT_ONCE) return false
    const now = this.#options.clock.now()
    return [...this.#running.values()]
      .filter(({ task }) => task.options.lane === lane && task.options.user === user)
      .every(({ startedAt }) => now - startedAt > SLOW_MS)
  }

  /** How many threads the lane may use together with those slower than it. */
  threadsFor(lane: Lane): number {
    const long = Math.max(1, this.#options.workers - 1)
    return lane === 'quick' ? long + 2 : lane === 'prompt' ? long + 1 : long
  }

  /** Whether one more job of the lane may run now. */
  isFree(lane: Lane): boolean {
    if (lane === 'imports') return this.importsHeld().held < IMPORTS_HELD
    const lanes = [...this.#running.values()].map(({ task }) => task.options.lane)
    if (lane === 'tables') return lanes.filter((other) => other === lane).length < TABLES
    if (lane === 'sweeps' && lanes.filter((other) => other === lane).length >= this.#sweepsMost())
      return false
    const rank = rankOf(lane)
    const busy = lanes.filter((other) => !OWN_THREADS.includes(other) && rankOf(other) >= rank)
    return busy.length < this.threadsFor(lane)
  }

  #sweepsMost(): number {
    const { clock, processors = Infinity } = this.#options
    return clock.now() - this.#askedAt < ASKING_MS ? Math.max(1, processors - 1) : Infinity
  }

  /** The most jobs of this lane that a user may have running now. */
  #mostOf(lane: Lane): number {
    if (lane === 'sweeps') return Infinity
    if (lane !== 'imports') return 1
    const { held, busy } = this.importsHeld()
    // An upload takes as long as its sender likes, so a user with none active does not wait for those of others.
    return busy < IMPORTS && held < IMPORTS_HELD / 2 ? IMPORTS_A_USER : 1
  }

  /** A client that sends a byte now and then takes no place that somebody else could use. */
  importsHeld(): { readonly held: number; readonly busy: number } {
    let held = 0
    let busy = 0
    for (const { task } of this.#running.values()) {
      if (task.options.lane !== 'imports') continue
      held++
      if (!task.options.waits?.()) busy++
    }
    return { held, busy }
  }
}
