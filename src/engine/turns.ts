// Whose turn it is: users take turns, whatever they ask for and however often (round robin; Nagle's fair queueing,
// RFC 970, with users for senders).
//
// A user has a queue for each lane. Of those who wait, who was served longest ago is next, so that a thousand jobs of
// one user hold up another's first for one job at most.

/** Users whose last turn is remembered; one who was forgotten counts as never served. */
const REMEMBERED = 1000

export class Turns<T> {
  // Only users with something waiting are in it.
  readonly #queues = new Map<string, T[]>()
  // Number of each user's last turn, oldest first.
  readonly #turns = new Map<string, number>()
  #turn = 0
  #length = 0

  get length(): number {
    return this.#length
  }

  lengthOf(user: string): number {
    return this.#queues.get(user)?.length ?? 0
  }

  push(user: string, item: T): void {
    const queue = this.#queues.get(user)
    if (queue) queue.push(item)
    else this.#queues.set(user, [item])
    this.#length++
  }

  /** The next item of a user who may have one now. */
  take(may: (user: string) => boolean): T | null {
    let next: string | null = null
    let oldest = Infinity
    for (const user of this.#queues.keys()) {
      const turn = this.#turns.get(user) ?? 0
      if (turn >= oldest || !may(user)) continue
      next = user
      oldest = turn
    }
    const item = next === null ? undefined : this.#queues.get(next)?.[0]
    if (next === null || item === undefined) return null
    this.remove(next, item)
    this.#served(next)
    return item
  }

  /** false where it was not waiting. */
  remove(user: string, item: T): boolean {
    const queue = this.#queues.get(user)
    const at = queue?.indexOf(item) ?? -1
    if (!queue || at < 0) return false
    queue.splice(at, 1)
    if (queue.length === 0) this.#queues.delete(user)
    this.#length--
    return true
  }

  /** Takes out everything that waits. */
  clear(): T[] {
    const all = [...this.#queues.values()].flat()
    this.#queues.clear()
    this.#length = 0
    return all
  }

  #served(user: string): void {
    this.#turns.delete(user)
    this.#turns.set(user, ++this.#turn)
    const [oldest] = this.#turns.keys()
    if (this.#turns.size > REMEMBERED && oldest !== undefined) this.#turns.delete(oldest)
  }
}
