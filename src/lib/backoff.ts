// Backing off: what fails is tried again after 1 s, 2 s, 4 s … up to a minute, and is logged when it begins to fail and when it
// works again. A line for each try would fill what is left of a full disk.

import type { Clock } from './clock.ts'
import type { Log } from './log.ts'

export interface BackoffOptions {
  readonly firstMs?: number
  readonly mostMs?: number
}

/** One for each thing that can fail as a whole. Failures that several callers find at the same time count as one. */
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

  /** `what` as it reads in the log: `delivering webhooks`. */
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

  /** For how long it is not worth trying; 0 = try. A clock that was set back says nothing of how long that has been. */
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

/** Calls `work` until it succeeds. false = the signal aborted first. */
export async function untilDone(
  clock: Clock,
  backoff: Backoff,
  signal: AbortSignal,
  work: () => Promise<void>,
): Promise<boolean> {
  for (;;) {
    if (signal.aborted) return false
    try {
      await work()
      backoff.worked()
      return true
    } catch (error) {
      backoff.failed(error)
      await clock.sleep(backoff.waitMs, signal)
    }
  }
}
