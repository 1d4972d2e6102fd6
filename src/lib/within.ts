// Waiting no longer than one wants to.

import type { Clock } from './clock.ts'

/** What `work` resolves to, or null when that takes longer than `ms`. Rejects as it does; `work` itself goes on. */
export async function within<T>(clock: Clock, ms: number, work: Promise<T>): Promise<T | null> {
  const enough = new AbortController()
  const late = clock.sleep(ms, enough.signal).then(() => null)
  try {
    return await Promise.race([work, late])
  } finally {
    enough.abort()
  }
}
