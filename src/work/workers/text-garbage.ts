// Collects what compiled texts leave on a thread's heap.
//
// Code that nobody calls any more is garbage of the kind that the engine collects last: left alone, a thread grew by 120 kB
// with each text it had never seen, to 700 MB after 2,500 of them, of which 130 were in use. A collection takes 25 ms, so it
// waits for a pause; only a thread without any pause collects between two jobs.

import { later, type Later } from './later.ts'

/** How many texts are worth a collection in a pause, and how many do not wait for one: some 60 MB. */
const TEXTS = 50
const TEXTS_MAX = 500
/** A thread that had nothing to do for so long is in a pause. */
const PAUSE_MS = 300

export class TextGarbage {
  readonly #later: Later
  readonly #collect: () => void
  #collectedAt = 0
  #cancel = () => {}

  constructor(wait: Later = later, collect = () => Bun.gc(true)) {
    this.#later = wait
    this.#collect = collect
  }

  /** To be called when a job begins. */
  busy(): void {
    this.#cancel()
  }

  /** To be called after each job, with how many texts the thread has compiled so far. */
  rest(texts: number): void {
    this.#cancel()
    const fresh = texts - this.#collectedAt
    if (fresh >= TEXTS_MAX) this.#collected(texts)
    else if (fresh >= TEXTS) this.#cancel = this.#later(() => this.#collected(texts), PAUSE_MS)
  }

  #collected(texts: number): void {
    this.#collectedAt = texts
    this.#collect()
  }
}
