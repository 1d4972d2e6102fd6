// Backing off: work that fails is tried again after 1 s, 2 s, 4 s … up to a minute. Only the first failure and the
// recovery are logged, since a line for each try would fill up a disk that is nearly full.

import type { Clock } from './clock.ts'
import type { Log } from './log.ts'

export interface BackoffOptions {
  readonly firstMs?: number
  readonly mostMs?: number
}

/**
 * Make one for each thing that can fail as a whole. Failures that several callers meet at the same time count as one.
 */
export class Backoff {
  readonly #clock: Clock
  readonly #log: Log
  readonly #what: string
  readonly #firstMs: number
  readonly #mostMs: number
  #failures = 0
  #since = 0
  #failedAt = 0
  #until = 0

  /** `what` names the work as the log should read: `delivering webhooks`. */
  constructor(
    { clock, log }: { readonly clock: Clock; readonly log: Log },
    what: string,
    { firstMs = 1000, mostMs = 60_000 }: BackoffOptions = {},
  ) {
    this.#clock = clock
    this.#log = log
    this.#what = what
    this.#firstMs = firstMs
    this.#mostMs = mostMs
  }

  /**
   * How long to wait before the next try; 0 = try now. If the clock was set back, nobody knows how long has passed,
   * so we try.
   */
  get waitMs(): number {
    const now = this.#clock.now()
    return now < this.#failedAt ? 0 : Math.max(0, this.#until - now)
  }

  failed(error: unknown): void {
    if (this.waitMs > 0) return
    const now = this.#clock.now()
    if (this.#failures === 0) {
      this.#since = now
      this.#log('error', `${this.#what} fails and is tried again`, { error: String(error) })
    }
    this.#failedAt = now
    this.#until = now + Math.min(this.#mostMs, this.#firstMs * 2 ** this.#failures)
    this.#failures++
  }

  worked(): void {
    if (this.#failures > 0)
      this.#log('info', `${this.#what} works again`, {
        failures: this.#failures,
        seconds: Math.round((this.#clock.now() - this.#since) / 1000),
      })
    this.#failures = 0
    this.#until = 0
  }
}

/**
 * Calls `work` until it succeeds. Answers false if the signal aborted first; once it is called in any case, since what is to
 * be written down may have come about while the server was stopping already.
 */
export async function untilDone(
  clock: Clock,
  backoff: Backoff,
  signal: AbortSignal,
  work: () => Promise<void>,
): Promise<boolean> {
  do
    try {
      await work()
      backoff.worked()
      return true
    } catch (error) {
      backoff.failed(error)
      await clock.sleep(backoff.waitMs, signal)
    }
  while (!signal.aborted)
  return false
}
