// Loops that go on for as long as the server runs: do what is due, nap, look again.
//
//     const loop = createLoop({ clock, log }, 'sending mail', async () => {
//       await sendWhatIsDue()
//       return 60_000
//     })
//     void loop.run(signal)
//     loop.wake()
//
// What a step throws ends neither the loop nor the server: the loop backs off, and a `wake` does not cut that short, since
// it would bring the failure back at the pace of whoever calls it.

import { Backoff, type BackoffOptions } from './backoff.ts'
import type { Clock } from './clock.ts'
import type { Log } from './log.ts'

export interface Loop {
  /** There is something to do: ends the nap, or keeps the next one from being taken. */
  wake(): void
  /** Resolves when the signal has aborted and the step that was under way is over. */
  run(signal: AbortSignal): Promise<void>
}

/** `step` does what is due and answers for how many milliseconds there is nothing else. */
export function createLoop(
  deps: { readonly clock: Clock; readonly log: Log },
  what: string,
  step: (signal: AbortSignal) => Promise<number>,
  options: BackoffOptions = {},
): Loop {
  const { clock } = deps
  const backoff = new Backoff(deps, what, options)
  let woken = new AbortController()
  return {
    wake: () => woken.abort(),
    async run(signal) {
      const stop = () => woken.abort()
      signal.addEventListener('abort', stop, { once: true })
      while (!signal.aborted) {
        woken = new AbortController()
        try {
          const napMs = await step(signal)
          backoff.worked()
          // A signal that came during the step is seen here; one that came after it has aborted `woken`.
          if (!signal.aborted) await clock.sleep(napMs, woken.signal)
        } catch (error) {
          backoff.failed(error)
          await clock.sleep(backoff.waitMs, signal)
        }
      }
      signal.removeEventListener('abort', stop)
    },
  }
}
