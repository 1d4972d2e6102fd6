// Keeps to the limits of a provider that counts requests: so many a minute, an hour, a day, however many series are asked for.

import type { Clock } from '../../lib/clock.ts'
import { ProviderError } from './provider-error.ts'

export interface PaceLimit {
  readonly count: number
  readonly perMs: number
}

/** A request that would wait longer than this is refused instead, so that whoever asked is told when to come back. */
const WAIT_MAX_MS = 60_000
const RESERVE = 0.1

export class Pace {
  readonly #limits: readonly PaceLimit[]
  readonly #longest: number
  /** When requests were begun or will be, oldest first, as far as a limit looks back. */
  #begun: number[] = []

  constructor(limits: readonly PaceLimit[]) {
    this.#limits = limits
    this.#longest = Math.max(...limits.map(({ perMs }) => perMs))
  }

  /** When `count` requests more may be sent. */
  freeAt(now: number, count = 1): number {
    // What lies ahead was written before the clock was set back.
    this.#begun = this.#begun.filter((at) => at > now - this.#longest && at <= now + WAIT_MAX_MS)
    return Math.max(now, ...this.#limits.map((limit) => this.#freeBy(limit, count)))
  }

  /** How far apart requests have to be to last for `ms` from now on. */
  gapMs(now: number, ms: number): number {
    const gaps = this.#limits.map(({ count, perMs }) => {
      const span = Math.min(ms, perMs)
      // Those that still count when the span is over.
      const begun = this.#begun.filter((at) => at > now + span - perMs && at <= now)
      // Of what a day allows a part is left for when it is over: for the last bar, and for what somebody asks for by hand.
      const usable = span < perMs ? count * (1 - RESERVE) : count
      return span / Math.max(1, usable - begun.length)
    })
    return Math.max(...gaps)
  }

  /** Resolves when `count` requests may be sent. Throws ProviderError if that is a long way off. */
  async turn(
    name: string,
    clock: Clock,
    { signal, count = 1 }: { readonly signal?: AbortSignal | undefined; readonly count?: number } = {},
  ): Promise<void> {
    const now = clock.now()
    const at = this.freeAt(now, count)
    if (at - now > WAIT_MAX_MS)
      throw new ProviderError(
        'rate_limited',
        `The requests that ${name} allows are used up until ${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC.`,
        at - now,
      )
    for (let i = 0; i < count; i++) this.#begun.push(at)
    if (at > now) await clock.sleep(at - now, signal)
  }

  #freeBy({ count, perMs }: PaceLimit, wanted: number): number {
    const before = this.#begun.at(Math.min(wanted, count) - 1 - count)
    return before === undefined ? 0 : before + perMs
  }
}
