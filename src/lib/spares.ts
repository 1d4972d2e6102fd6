// Memory that a piece of work leaves to the next one of its thread, where to ask for new memory each time, which the system
// has to find and clear, costs more than the work.

/** At most `max` things that nobody uses any more. Who takes one finds in it what was left there. */
export class Spares<T> {
  readonly #left: T[] = []
  readonly #max: number

  constructor(max: number) {
    this.#max = max
  }

  take(): T | undefined {
    return this.#left.pop()
  }

  /** Nobody may read or write it any more. */
  leave(one: T): void {
    if (this.#left.length < this.#max) this.#left.push(one)
  }
}
