// Waits for long work on behalf of an agent, for as long as a client waits for an answer.

import type { Agent } from './call.ts'

const WAIT_MS = 40_000

/** `watch` resolves when the work is over or its signal aborts. */
export async function waitedFor(
  { deps, signal }: Agent,
  watch: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const ending = new AbortController()
  const until = AbortSignal.any([signal, ending.signal])
  const late = deps.clock.sleep(WAIT_MS, until).catch(() => undefined)
  try {
    // Whoever watches is to stop with the time, too.
    await Promise.race([watch(until), late])
  } finally {
    ending.abort()
  }
}
