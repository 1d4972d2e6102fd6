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
/**
 * How often one delivery waits just as long as it was asked to, or goes at once when its receiver works again; after that, or
 * when one that was asked to wait is older than the whole schedule, the schedule goes on, so that a service which asks for ever is
 * not asked for ever.
 */
export const WAITS = 20
/** From the first attempt to the last, without the spread. */
export const SPAN_MS = DELAYS.reduce((sum, delay) => sum + delay)
/** The longest Retry-After that is honoured: a receiver must not park a delivery for ever. */
const RETRY_AFTER_MOST = 24 * HOUR

/**
 * Milliseconds to wait after attempt `attempt` (1 = the first) failed; null = it was the last. `random` in [0, 1) spreads
 * the delay; `retryAfterMs` is what the receiver asked for, if it did.
 */
export function retryDelay(
  attempt: number,
  random: number,
  retryAfterMs: number | null,
  delays: readonly number[] = DELAYS,
): number | null {
  const delay = delays[attempt - 1]
  if (delay === undefined) return null
  const spread = Math.round(delay * (0.8 + 0.4 * random))
  return retryAfterMs === null ? spread : Math.max(spread, Math.min(retryAfterMs, RETRY_AFTER_MOST))
}

/** Milliseconds to wait for a service that said how long: never less, and up to a fifth more. */
export function askedDelay(random: number, retryAfterMs: number): number {
  return Math.round(Math.min(Math.max(retryAfterMs, SECOND), RETRY_AFTER_MOST) * (1 + 0.2 * random))
}

/** A Retry-After header (seconds or an HTTP date) as milliseconds from `now`; null if it is missing or makes no sense. */
export function parseRetryAfter(header: string | null, now: number): number | null {
  if (header === null) return null
  if (/^\d{1,9}$/.test(header.trim())) return Number(header) * SECOND
  const date = Date.parse(header)
  return Number.isFinite(date) ? Math.max(0, date - now) : null
}
