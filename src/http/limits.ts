// Rate limits: one token bucket for each client and policy. It holds the tokens of one window and refills evenly, so a
// client may burst once and then proceeds at the policy's pace.
//
// Answers carry the headers of draft-ietf-httpapi-ratelimit-headers: `RateLimit-Policy: "user";q=1200;w=60` and `RateLimit:
// "user";r=1199;t=1`.

import { assert } from '../lib/assert.ts'
import type { Clock } from '../lib/clock.ts'
import { Problem } from '../lib/problem.ts'
import { words } from '../lib/words.ts'

export const RATES = words('anonymous user backtests search contact chat errors tokens')
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

/** Takes tokens out of a bucket that several servers share. Answers how many it gave, and how many are left in it. */
export type TakeShared = (
  bucket: string,
  policy: { readonly quota: number; readonly windowSeconds: number },
  wanted: number,
) => Promise<{ readonly granted: number; readonly left: number }>

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
    return answered(rate, this.#policies[rate], allowed, left)
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

/** What a request is told of its bucket. Throws 429 if it got no token. */
function answered(
  rate: Rate,
  { quota, windowSeconds }: RatePolicy,
  isAllowed: boolean,
  left: number,
): Readonly<Record<string, string>> {
  // Seconds until the next token; at least 1, since 0 would say "now".
  const seconds = Math.max(1, Math.ceil(((1 - (left % 1)) * windowSeconds) / quota))
  const headers = {
    'ratelimit-policy': `"${rate}";q=${quota};w=${windowSeconds}`,
    ratelimit: `"${rate}";r=${Math.floor(left)};t=${seconds}`,
  }
  if (isAllowed) return headers
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

interface Share {
  /** Tokens that this server has taken and not given to a request yet. */
  held: number
  /** As many as were left for all servers when it took them. */
  left: number
  at: number
  /** There is no token before this time, so that nobody need be asked. */
  emptyUntil: number
  taking: Promise<void> | null
}

/** So much of a bucket a server takes at a time: what several of them hold unused is less than a tenth of it. */
const SHARE = 0.02
/** Another server may give tokens back by taking none, so an empty bucket is asked for again before long. */
const EMPTY_MS = 1000

/**
 * The same limits for several servers together: the buckets are in their database, and each server takes a few tokens at a
 * time, so that most requests are answered without asking. While the database does not answer, each counts by itself.
 */
export class SharedLimiter {
  readonly #clock: Clock
  readonly #policies: RatePolicies
  readonly #take: TakeShared
  readonly #alone: RateLimiter
  readonly #shares = new Map<string, Share>()

  constructor(clock: Clock, policies: RatePolicies, take: TakeShared) {
    this.#clock = clock
    this.#policies = policies
    this.#take = take
    this.#alone = new RateLimiter(clock, policies)
  }

  /** As `RateLimiter.take`. */
  async take(rate: Rate, client: string): Promise<Readonly<Record<string, string>>> {
    const policy = this.#policies[rate]
    if (policy.quota === 0) return {}
    const bucket = `${rate} ${client}`
    const share = this.#shareOf(bucket, policy)
    while (share.held < 1) {
      if (this.#clock.now() < share.emptyUntil) return answered(rate, policy, false, share.left)
      try {
        await (share.taking ??= this.#refill(bucket, policy, share))
      } catch {
        return this.#alone.take(rate, client)
      }
    }
    share.held--
    return answered(rate, policy, true, share.left + share.held)
  }

  #shareOf(bucket: string, { windowSeconds }: RatePolicy): Share {
    const now = this.#clock.now()
    const known = this.#shares.get(bucket)
    // What was taken long ago has flowed back into the bucket since.
    const share =
      known && now - known.at < windowSeconds * 1000
        ? known
        : { held: 0, left: 0, at: now, emptyUntil: 0, taking: null }
    this.#shares.delete(bucket)
    this.#shares.set(bucket, share)
    const [oldest] = this.#shares.keys()
    if (this.#shares.size > BUCKETS_MAX && oldest !== undefined) this.#shares.delete(oldest)
    return share
  }

  async #refill(bucket: string, policy: RatePolicy, share: Share): Promise<void> {
    const wanted = Math.max(1, Math.floor(policy.quota * SHARE))
    try {
      const { granted, left } = await this.#take(bucket, policy, wanted)
      assert(granted <= wanted, 'more tokens than were asked for')
      share.held += granted
      share.left = left
      share.at = this.#clock.now()
      const nextMs = ((1 - (left % 1)) * policy.windowSeconds * 1000) / policy.quota
      if (granted < 1) share.emptyUntil = share.at + Math.min(EMPTY_MS, nextMs)
    } finally {
      share.taking = null
    }
  }
}
