// The line of those that one provider has to be asked for: who is next, and when.
//
// Whoever has been due for longest is next, so that a thousand series on a key that allows five requests a minute are each
// asked for in their turn. They share what the key allows from now until their markets close.

import type { Provider } from '../providers/provider.ts'
import type { ProviderError } from '../providers/provider-error.ts'
import type { KeptSeries } from './kept-series.ts'
import type { PolledSeries } from './polled-series.ts'

export interface Member {
  readonly series: KeptSeries
  /** null: it has a stream. */
  readonly polled: PolledSeries | null
  askedAt: number
  retryAt: number
  isStopped: boolean
}

/** A line that has nothing to do looks up again after so long. */
export const IDLE_MS = 60_000
const DAY = 86_400_000
const RETRY_MS = 5000
export const RETRY_MOST_MS = 15 * 60_000

/** The wait after so many failures in a row, which doubles, and is not the same for everybody. */
export const backOff = (failures: number, spread: number): number =>
  Math.min(RETRY_MOST_MS, RETRY_MS * 2 ** Math.min(20, failures - 1)) * (0.75 + spread / 2)

export class Line<M extends Member> {
  readonly members = new Set<M>()
  /** Another one once another key is given. */
  provider: Provider
  /** Wakes it from its nap, which lasts until then. */
  wake = new AbortController()
  napUntil = 0
  /** Why nobody is asked for, and until when. */
  error: string | null = null
  #until = 0
  #failures = 0
  #lookedAt = 0
  #polled = 0
  #roundMs = 0

  constructor(provider: Provider) {
    this.provider = provider
  }

  /** How many series share its requests. */
  get polled(): number {
    return this.#polled
  }

  /** How long it takes to ask for each of them once, without asking for more than may be asked for. */
  get roundMs(): number {
    return this.#roundMs
  }

  next(now: number): { readonly member: M; readonly at: number } | null {
    if (now < this.#lookedAt) this.#setBack(this.#lookedAt - now)
    this.#lookedAt = now
    this.#count(now)
    let next: { readonly member: M; readonly at: number } | null = null
    for (const member of this.members) {
      if (member.isStopped) continue
      const round = member.polled ? this.#roundMs : 0
      const at = Math.max(member.retryAt, member.series.dueAt(now), member.askedAt + round)
      if (!next || at < next.at) next = { member, at }
    }
    return next && { ...next, at: Math.max(next.at, this.heldUntil(now)) }
  }

  /** Nobody is asked for before. */
  heldUntil(now: number): number {
    return Math.max(this.#until, this.provider.pace?.freeAt(now) ?? 0)
  }

  worked(): void {
    this.#failures = 0
    this.#until = 0
    this.error = null
  }

  /** A failure may be of one series alone; several in a row, or a refusal that says so, are of the provider. */
  failed({ kind, retryAfterMs, message }: ProviderError, now: number, spread: number): void {
    this.#failures++
    const isSaid = kind === 'rate_limited' || kind === 'banned' || retryAfterMs !== null
    if (!isSaid && this.#failures < 2) return
    const wait = kind === 'banned' ? RETRY_MOST_MS : backOff(this.#failures, spread)
    this.#until = now + Math.max(retryAfterMs ?? 0, wait)
    this.error = message
  }

  /** Asks for all that wait at once. */
  again(): void {
    this.worked()
    for (const member of this.members)
      if (member.retryAt > 0) {
        member.retryAt = 0
        member.askedAt = -Infinity
      }
    this.wake.abort()
  }

  #count(now: number): void {
    let until = 0
    this.#polled = 0
    for (const { polled, isStopped } of this.members)
      if (polled && !isStopped) {
        this.#polled++
        until = Math.max(until, polled.openUntil)
      }
    const { pace, gapMs, batch } = this.provider
    const gap = pace?.gapMs(now, until > now ? until - now : DAY) ?? gapMs
    const aRequest = batch && !batch.isPaidBySymbol ? batch.most : 1
    this.#roundMs = gap * Math.ceil(this.#polled / aRequest)
  }

  /** The clock was set back, and what was planned by the old time with it. */
  #setBack(ms: number): void {
    this.#until -= ms
    for (const member of this.members) {
      member.retryAt -= ms
      member.askedAt -= ms
    }
  }
}
