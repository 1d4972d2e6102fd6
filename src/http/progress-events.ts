// Sends the progress of a run or a sweep as server-sent events.

import { sse } from 'elysia'
import { stands, type ApiDeps } from './access.ts'
import type { Caller } from './visit.ts'
import { eventWait, SILENT_SECONDS } from './event-wait.ts'

/** Jobs of users, as far as one can be watched. */
interface Watchable<J, P extends object> {
  /** Throws a 404 Problem for another user's job. */
  readonly get: (userId: string, id: string) => Promise<J>
  readonly find: (userId: string, id: string) => Promise<J | null>
  /** Resolves when the work is over, or at once if it already is. */
  readonly watch: (
    userId: string,
    id: string,
    signal: AbortSignal,
    told: (progress: P) => void,
  ) => Promise<unknown>
}

interface WatchRequest {
  readonly caller: Caller
  readonly params: { readonly id: string }
  readonly request: Request
  readonly server: { timeout: (request: Request, seconds: number) => void } | null
}

/** Opens the stream of a job's progress. `shown` makes the data of the last event. */
export async function jobEvents<J, P extends object>(
  deps: ApiDeps,
  jobs: Watchable<J, P>,
  { caller, params: { id }, request, server }: WatchRequest,
  shown: (job: J) => object | Promise<object>,
) {
  const userId = caller.user.id
  await jobs.get(userId, id)
  server?.timeout(request, SILENT_SECONDS)
  const signal = AbortSignal.any([request.signal, deps.stopping])
  const leave = deps.streams.enter(userId, signal)
  const watched: Watched<P> = {
    watch: (until, told) => jobs.watch(userId, id, until, told),
    async end() {
      const job = await jobs.find(userId, id)
      return job && (await shown(job))
    },
  }
  return progressEvents(deps, caller, watched, signal, leave)
}

interface Watched<P extends object> {
  /** Resolves when the work is over, or at once if it already is. */
  readonly watch: (signal: AbortSignal, told: (progress: P) => void) => Promise<unknown>
  /** The data of the last event; null if the object was removed meanwhile, which ends the stream without an event. */
  readonly end: () => Promise<object | null>
}

/**
 * Yields `progress` at each change, `alive` if nothing changes, and `end`. `leave` is called when nobody listens any more.
 */
async function* progressEvents<P extends object>(
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
