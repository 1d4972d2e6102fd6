// Keeps to the limits of a provider that counts requests: so many a minute, an hour, a day, however many series are asked for.

import type { Clock } from '../../lib/clock.ts'
import { ProviderError } from './provider.ts'

export interface PaceLimit {
  readonly count: number
  readonly perMs: number
}

/** A request that would wait longer than this is refused instead, so that whoever asked is told when to come back. */
const WAIT_MAX_MS = 60_000

export class Pace {
  readonly #limits: readonly PaceLimit[]
  readonly #longest: number
  /** When requests were begun or will be, oldest first, as far as a limit looks back. */
  #begun: number[] = []

  constructor(limits: readonly PaceLimit[]) {
    this.#limits = limits
    this.#longest = Math.max(...limits.map(({ perMs }) => perMs))
  }

  /** Resolves when a request may be sent. Throws ProviderError if that is a long way off. */
  async turn(name: string, clock: Clock, signal?: AbortSignal): Promise<void> {
    const now = clock.now()
    // What lies ahead was written before the clock was set back.
    this.#begun = this.#begun.filter((at) => at > now - this.#longest && at <= now + WAIT_MAX_MS)
    const at = Math.max(now, ...this.#limits.map((limit) => this.#freeAt(limit)))
    if (at - now > WAIT_MAX_MS)
      throw new ProviderError(
        'rate_limited',
        `The requests that ${name} allows are used up until ${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC.`,
        at - now,
      )
    this.#begun.push(at)
    if (at > now) await clock.sleep(at - now, signal)
  }

  #freeAt({ count, perMs }: PaceLimit): number {
    const before = this.#begun.at(-count)
    return before === undefined ? 0 : before + perMs
  }
}
