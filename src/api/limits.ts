// Rate limits: one token bucket for each client and policy. It holds the tokens of one window and refills evenly, so a
// client may burst once and then proceeds at the policy's pace.
//
// Answers carry the headers of draft-ietf-httpapi-ratelimit-headers: `RateLimit-Policy: "user";q=1200;w=60` and `RateLimit:
// "user";r=1199;t=1`.

import type { Clock } from '../lib/clock.ts'
import { Problem } from '../lib/problem.ts'

export const RATES = [
  'anonymous',
  'user',
  'backtests',
  'search',
  'contact',
  'chat',
  'errors',
  'tokens',
] as const
export type Rate = (typeof RATES)[number]

interface RatePolicy {
  /** Requests in a window; 0 = no limit. */
  readonly quota: number
  readonly windowSeconds: number
}

export type RatePolicies = Readonly<Record<Rate, RatePolicy>>

export const DEFAULT_RATES: RatePolicies = {
  anonymous: { quota: 120, windowSeconds: 60 },
  user: { quota: 1200, windowSeconds: 60 },
  backtests: { quota: 60, windowSeconds: 60 },
  search: { quota: 60, windowSeconds: 60 },
  contact: { quota: 5, windowSeconds: 3600 },
  chat: { quota: 30, windowSeconds: 60 },
  errors: { quota: 60, windowSeconds: 60 },
  tokens: { quota: 20, windowSeconds: 3600 },
}

interface Bucket {
  readonly tokens: number
  readonly at: number
}

/** With more buckets than this some are forgotten, full ones first, since a full bucket means nothing. */
export const BUCKETS_MAX = 100_000

export class RateLimiter {
  readonly #clock: Clock
  readonly #policies: RatePolicies
  readonly #buckets = new Map<string, Bucket>()

  constructor(clock: Clock, policies: RatePolicies) {
    this.#clock = clock
    this.#policies = policies
  }

  /** The number of clients and policies with a bucket. */
  get size(): number {
    return this.#buckets.size
  }

  /** Takes one token from `client`'s bucket and answers the headers to send. Throws 429 if the bucket is empty. */
  take(rate: Rate, client: string): Readonly<Record<string, string>> {
    const { quota, windowSeconds } = this.#policies[rate]
    if (quota === 0) return {}
    const now = this.#clock.now()
    const key = `${rate} ${client}`
    const before = this.#buckets.get(key) ?? { tokens: quota, at: now }
    // A clock that was set back must not take tokens away.
    const passedMs = Math.max(0, now - before.at)
    const refilled = before.tokens + (passedMs / 1000) * (quota / windowSeconds)
    const tokens = Math.min(quota, refilled)
    const allowed = tokens >= 1
    const left = allowed ? tokens - 1 : tokens
    // Moves to the end, since the buckets unused for longest are forgotten first.
    this.#buckets.delete(key)
    this.#buckets.set(key, { tokens: left, at: now })
    if (this.#buckets.size > BUCKETS_MAX) this.#forget(now)
    // Seconds until the next token; at least 1, since 0 would say "now".
    const seconds = Math.max(1, Math.ceil(((1 - (left % 1)) * windowSeconds) / quota))
    const headers = {
      'ratelimit-policy': `"${rate}";q=${quota};w=${windowSeconds}`,
      ratelimit: `"${rate}";r=${Math.floor(left)};t=${seconds}`,
    }
    if (allowed) return headers
    const per = windowSeconds === 3600 ? 'an hour' : windowSeconds === 60 ? 'a minute' : `${windowSeconds} s`
    throw new Problem(
      429,
      'rate_limited',
      `At most ${quota} requests of this kind ${per}. Wait ${seconds} s.`,
      {
        retryAfter: seconds,
        headers,
      },
    )
  }

  #forget(now: number): void {
    for (const [key, { tokens, at }] of this.#buckets) {
      const rate = key.slice(0, key.indexOf(' ')) as Rate
      const { quota, windowSeconds } = this.#policies[rate]
      if (tokens + ((now - at) / 1000) * (quota / windowSeconds) >= quota) this.#buckets.delete(key)
    }
    // All are in use: drop the oldest tenth rather than grow.
    let excess = this.#buckets.size - BUCKETS_MAX * 0.9
    for (const key of this.#buckets.keys()) {
      if (excess-- <= 0) break
      this.#buckets.delete(key)
    }
  }
}
