// Loops that run as long as the server does: do what is due, nap, look again.
//
//     const loop = createLoop({ clock, log }, 'sending mail', async () => {
//       await sendWhatIsDue()
//       return 60_000
//     })
//     void loop.run(signal)
//     loop.wake()
//
// A step that throws ends neither the loop nor the server: the loop backs off. A `wake` does not cut the wait short,
// or a busy caller would repeat the failure at its own pace.

import { Backoff, type BackoffOptions } from './backoff.ts'
import type { Clock } from './clock.ts'
import type { Log } from './log.ts'

export interface Loop {
  /** Says that there is work: ends the nap, or skips the next one if a step is under way. */
  wake(): void
  /** Resolves once the signal has aborted and the step under way has ended. */
  run(signal: AbortSignal): Promise<void>
}

/** `step` does what is due and answers how many milliseconds to nap. */
export function createLoop(
  deps: { readonly clock: Clock; readonly log: Log },
  what: string,
  step: (signal: AbortSignal) => Promise<number>,
  options: BackoffOptions = {},
): Loop {
  const { clock } = deps
  const backoff = new Backoff(deps, what, options)
  let woken = new AbortController()
  // With a reason given, none is made: that would be an error with a stack.
  const wake = () => woken.abort(null)
  return {
    wake,
    async run(signal) {
      signal.addEventListener('abort', wake, { once: true })
      while (!signal.aborted) {
        if (woken.signal.aborted) woken = new AbortController()
        try {
          const napMs = await step(signal)
          backoff.worked()
          // A signal that aborted during the step is seen here; one that aborts later also aborts `woken`.
          if (!signal.aborted) await clock.sleep(napMs, woken.signal)
        } catch (error) {
          backoff.failed(error)
          await clock.sleep(backoff.waitMs, signal)
        }
      }
      signal.removeEventListener('abort', wake)
    },
  }
}
