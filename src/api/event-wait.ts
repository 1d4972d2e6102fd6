// What every stream of server-sent events does between events: wait for the next, and say now and then that it is there.

/** Proxies and the server itself cut connections that are quiet for a minute. */
const HEARTBEAT_MS = 15_000

/** So long may nothing be taken from a connection before it is cut: what is written at every heartbeat piles up otherwise. */
export const SILENT_SECONDS = 60

export interface EventWait {
  /** Something happened: whoever waits goes on. */
  wake(): void
  /** Waits. true = nothing happened for so long that the reader should hear that the stream is alive. */
  quiet(): Promise<boolean>
}

/** The wait ends when `signal` aborts, too. */
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
