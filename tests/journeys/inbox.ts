// Waits for what arrives from outside, in order, without looking at a clock.

export class Inbox<T> {
  readonly all: T[] = []
  readonly #waiting: { readonly wanted: (item: T) => boolean; readonly resolve: (item: T) => void }[] = []

  put(item: T): void {
    this.all.push(item)
    for (const { wanted, resolve } of this.#waiting) if (wanted(item)) resolve(item)
  }

  /** The first item that is wanted, now or when it comes. */
  first(wanted: (item: T) => boolean): Promise<T> {
    const found = this.all.find(wanted)
    if (found !== undefined) return Promise.resolve(found)
    return new Promise((resolve) => this.#waiting.push({ wanted, resolve }))
  }
}
