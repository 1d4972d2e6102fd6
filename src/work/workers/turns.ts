// Decides whose turn it is: users take turns, whatever they ask for and however often (round robin; Nagle's fair queueing,
// RFC 970, with users for senders).
//
// A user has a queue for each lane. Of the waiting users the one whose last turn is longest ago is next, so a thousand jobs
// of one user delay another user's first job by one job at most.

/** How many users' last turns are remembered; a forgotten user counts as never served. */
const REMEMBERED = 1000

export class Turns<T> {
  // Has only users with waiting items.
  readonly #queues = new Map<string, T[]>()
  // The number of each user's last turn, oldest first.
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

  /** The next item of a user for whom `may` says yes. */
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

  /** Answers false if the item was not waiting. */
  remove(user: string, item: T): boolean {
    const queue = this.#queues.get(user)
    const at = queue?.indexOf(item) ?? -1
    if (!queue || at < 0) return false
    queue.splice(at, 1)
    if (queue.length === 0) this.#queues.delete(user)
    this.#length--
    return true
  }

  /** Removes and answers everything that waits. */
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
