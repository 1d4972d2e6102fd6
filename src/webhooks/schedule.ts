// When a delivery is tried again: after 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h, 24 h, each ± 20 %.
//
// The spread keeps receivers that failed together from being overloaded together again.

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

const DELAYS = [
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
]
/** All attempts: the first, and one after each delay. */
export const ATTEMPTS = DELAYS.length + 1
/** A receiver with only failures for this long is disabled. */
export const DEAD_AFTER_MS = 120 * HOUR
/** How long the log of deliveries is kept. */
export const LOG_MS = 30 * 24 * HOUR
/** The longest Retry-After that is honoured: a receiver must not park a delivery for ever. */
const RETRY_AFTER_MOST = 24 * HOUR

/**
 * Milliseconds to wait after attempt `attempt` (1 = the first) failed; null = it was the last. `random` in [0, 1) spreads
 * the delay; `retryAfterMs` is what the receiver asked for, if it did.
 */
export function retryDelay(attempt: number, random: number, retryAfterMs: number | null): number | null {
  const delay = DELAYS[attempt - 1]
  if (delay === undefined) return null
  const spread = Math.round(delay * (0.8 + 0.4 * random))
  return retryAfterMs === null ? spread : Math.max(spread, Math.min(retryAfterMs, RETRY_AFTER_MOST))
}

/** A Retry-After header (seconds or an HTTP date) as milliseconds from `now`; null if it is missing or makes no sense. */
export function parseRetryAfter(header: string | null, now: number): number | null {
  if (header === null) return null
  if (/^\d{1,9}$/.test(header.trim())) return Number(header) * SECOND
  const date = Date.parse(header)
  return Number.isFinite(date) ? Math.max(0, date - now) : null
}
