// Sends the progress of a run or a sweep as server-sent events.

import { sse } from 'elysia'
import { stands, type ApiDeps, type Caller } from './access.ts'
import { eventWait } from './event-wait.ts'

export interface Watched<P extends object> {
  /** Resolves when the work is over, or at once if it already is. */
  readonly watch: (signal: AbortSignal, told: (progress: P) => void) => Promise<unknown>
  /** The data of the last event; null if the object was removed meanwhile, which ends the stream without an event. */
  readonly end: () => Promise<object | null>
}

/**
 * Yields `progress` at each change, `alive` if nothing changes, and `end`. `leave` is called when nobody listens any more.
 */
export async function* progressEvents<P extends object>(
  deps: ApiDeps,
  caller: Caller,
  { watch, end }: Watched<P>,
  signal: AbortSignal,
  leave: () => void,
) {
  // The credential may be revoked while the work goes on.
  const mayHear = async () => !signal.aborted && (await stands(deps, caller))
  const waiting: P[] = []
  const wait = eventWait(signal)
  let over = false
  const watching = watch(signal, (progress) => {
    // Only the newest progress matters to a slow reader.
    waiting[0] = progress
    wait.wake()
  }).finally(() => {
    over = true
    wait.wake()
  })
  try {
    while (!signal.aborted) {
      if (waiting.length === 0 && over) break
      const isQuiet = waiting.length === 0 && (await wait.quiet())
      const progress = waiting.shift()
      if ((progress || isQuiet) && !(await mayHear())) return
      if (progress) yield sse({ event: 'progress', data: { ...progress } })
      else if (isQuiet) yield sse({ event: 'alive', data: {} })
    }
    await watching
    const data = (await mayHear()) ? await end() : null
    if (data) yield sse({ event: 'end', data })
  } finally {
    leave()
  }
}
