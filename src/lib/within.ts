// Waiting with a limit.

import type { Clock } from './clock.ts'

/** What `work` resolves to, or null after `ms`: `work` itself is not stopped. Rejects when it does. */
export async function within<T>(clock: Clock, ms: number, work: Promise<T>): Promise<T | null> {
  const enough = new AbortController()
  const late = clock.sleep(ms, enough.signal).then(() => null)
  try {
    return await Promise.race([work, late])
  } finally {
    enough.abort()
  }
}
