// Time is handed to whoever needs it, so that a test can turn the hands. Only `main.ts` plugs in the real one.

export interface Clock {
  /** UTC milliseconds since 1970. */
  now(): number
  /** Resolves after `ms`; rejects never. An aborted signal resolves it at once. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}
