// What every stream of server-sent events does between events: it waits for the next one, and sends a heartbeat now and
// then.

/** Proxies and the server itself cut connections that are silent for a minute. */
const HEARTBEAT_MS = 15_000

/** A reader that takes nothing for this long is cut off, or its heartbeats would pile up. */
export const SILENT_SECONDS = 60

export interface EventWait {
  /** Something happened, so all waiting readers go on. */
  wake(): void
  /** Waits for the next event. true = it is time for a heartbeat instead. */
  quiet(): Promise<boolean>
}

/** The wait also ends when `signal` aborts. */
export function eventWait(signal: AbortSignal): EventWait {
  let wake = () => {}
  signal.addEventListener('abort', () => wake(), { once: true })
  return {
    wake: () => wake(),
    quiet: () =>
      new Promise((resolve) => {
        if (signal.aborted) return resolve(false)
        const timer = setTimeout(() => resolve(true), HEARTBEAT_MS)
        wake = () => {
          clearTimeout(timer)
          resolve(false)
        }
      }),
  }
}
