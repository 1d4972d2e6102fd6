// Limits how many streams of events a user holds open at once. Each takes a connection and a timer while it lives, and one
// forgotten loop in a client would take them all.

import { Problem } from '../lib/problem.ts'

export const STREAMS_PER_USER = 20

export class StreamSlots {
  readonly #open = new Map<string, number>()

  /**
   * Takes a slot until the returned function is called or `signal` aborts. The newest stream is refused, because ending the
   * oldest would make its client open it again, which would end the next one, and so on for ever.
   */
  enter(userId: string, signal: AbortSignal): () => void {
    const open = this.#open.get(userId) ?? 0
    if (open >= STREAMS_PER_USER)
      throw new Problem(
        429,
        'concurrency_limited',
        `You have ${STREAMS_PER_USER} streams of events open, the most there may be. Close one, or follow everything over one.`,
        { retryAfter: 30 },
      )
    this.#open.set(userId, open + 1)
    let left = false
    const leave = () => {
      signal.removeEventListener('abort', leave)
      if (left) return
      left = true
      const rest = (this.#open.get(userId) ?? 1) - 1
      if (rest > 0) this.#open.set(userId, rest)
      else this.#open.delete(userId)
    }
    signal.addEventListener('abort', leave)
    if (signal.aborted) leave()
    return leave
  }

  get size(): number {
    return [...this.#open.values()].reduce((sum, open) => sum + open, 0)
  }
}
