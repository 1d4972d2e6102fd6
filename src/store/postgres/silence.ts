// Whether the database answers at all, as whoever has something else to show than its answer needs to know early.
//
// A statement may take its time while others are answered, so none is judged by itself: the database is silent when
// statements have been sent for a while, and not one was answered. A server sends some every moment, be it only to ask what
// others have written. A process that stood still finds answers waiting for it, which come between two looks.

import type { Clock } from '../../lib/clock.ts'
import { Problem } from '../../lib/problem.ts'
import { within } from '../../lib/within.ts'

/** Longer than a database that is alive stands still now and then, and short for a person who waits for a page. */
const SILENT_MS = 1000
const LOOK_MS = 100
/** So many looks in a row have to find it silent. */
const LOOKS = 2
const RETRY_AFTER_SECONDS = 5

export class Silence {
  readonly #clock: Clock
  /** When the first statement was sent of those since the last answer; null: none was. */
  #since: number | null = null

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get isKnown(): boolean {
    return this.#since !== null && this.#clock.now() - this.#since >= SILENT_MS
  }

  /** A statement is sent. */
  asked(): void {
    this.#since ??= this.#clock.now()
  }

  /** An answer came, whatever it says. */
  answered(): void {
    this.#since = null
  }

  /** Waits for `answer`, but no longer than until the database is known to be silent: then it rejects with 503. */
  async bear<T>(answer: Promise<T>): Promise<T> {
    const found = answer.then((value) => ({ value }))
    for (let looks = 0; looks < LOOKS; looks = this.isKnown ? looks + 1 : 0) {
      const early = await within(this.#clock, LOOK_MS, found)
      if (early) return early.value
    }
    throw away()
  }
}

export function away(cause?: unknown): Problem {
  const problem = new Problem(
    503,
    'store_unavailable',
    'The database does not answer. Whether the change was stored is not known; nothing that was answered before is lost. Try again.',
    { retryAfter: RETRY_AFTER_SECONDS },
  )
  problem.cause = cause
  return problem
}
