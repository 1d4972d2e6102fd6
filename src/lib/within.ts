// Waiting with a time limit.

import type { Clock } from './clock.ts'

/** What `work` resolves to, or null after `ms`, in which case `work` goes on. Rejects when `work` does. */
export async function within<T>(clock: Clock, ms: number, work: Promise<T>): Promise<T | null> {
  const enough = new AbortController()
  const late = clock.sleep(ms, enough.signal).then(() => null)
  try {
    return await Promise.race([work, late])
  } finally {
    enough.abort(null)
  }
}
