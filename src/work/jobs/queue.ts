// The queue of users' long work: a user's is done one after another, that of several users side by side.

export class UserQueue {
  /** The last that each user has in the queue. */
  readonly #lines = new Map<string, Promise<unknown>>()
  readonly #isTogether: boolean

  /** `isTogether`: also what one user has is done side by side, since the pool has it wait. */
  constructor({ isTogether = false }: { readonly isTogether?: boolean } = {}) {
    this.#isTogether = isTogether
  }

  /** Does `work` in the user's turn. */
  enter<T>(userId: string, work: () => Promise<T>): Promise<T> {
    const before = this.#lines.get(userId) ?? Promise.resolve()
    const done = this.#isTogether ? Promise.resolve().then(work) : before.then(work)
    const ended = Promise.allSettled([before, done]).then(() => {
      if (this.#lines.get(userId) === ended) this.#lines.delete(userId)
    })
    this.#lines.set(userId, ended)
    return done
  }

  /** The users who have something in it. */
  users(): Iterable<string> {
    return this.#lines.keys()
  }

  /** Resolves when all is done that these users have in it now; missing: all users. */
  async settled(users: Iterable<string> = this.users()): Promise<void> {
    for (const line of Array.from(users, (userId) => this.#lines.get(userId))) await line
  }
}
