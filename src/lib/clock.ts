// Every room is handed the clock, so that a test can set the time. Only `main.ts` plugs in the real one.

export interface Clock {
  /** UTC milliseconds since 1970. */
  now(): number
  /** Resolves after `ms`, or at once when the signal aborts. It never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}
