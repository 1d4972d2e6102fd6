// Counts the bytes of large request bodies in memory over all requests. A limit for each body does not bound how many come
// at once, and a body that is sent slowly stays as long as its sender likes.

import { Problem } from '../lib/problem.ts'

/** One client may hold at most half of it, so that nobody can take all. */
const BYTES_MAX = 128 << 20

/** The bytes of one request. */
export interface Held {
  /** Throws Problem 503 `overloaded` if there is no room for this many more. */
  add(bytes: number): void
  /** Gives the bytes back. */
  release(): void
}

export class Bodies {
  readonly #max: number
  readonly #clients = new Map<string, number>()
  #bytes = 0

  constructor(max = BYTES_MAX) {
    this.#max = max
  }

  get bytes(): number {
    return this.#bytes
  }

  /** `client` is a user, or the network of a client who is not signed in. */
  open(client: string): Held {
    let held = 0
    return {
      add: (bytes) => {
        const own = this.#clients.get(client) ?? 0
        if (this.#bytes + bytes > this.#max || own + bytes > this.#max / 2) throw overloaded()
        held += bytes
        this.#bytes += bytes
        this.#clients.set(client, own + bytes)
      },
      release: () => {
        const rest = (this.#clients.get(client) ?? 0) - held
        this.#bytes -= held
        held = 0
        if (rest > 0) this.#clients.set(client, rest)
        else this.#clients.delete(client)
      },
    }
  }
}

function overloaded(): Problem {
  return new Problem(
    503,
    'overloaded',
    'The server is taking as many large requests as it can. Try again later, or send fewer at a time.',
    { retryAfter: 5 },
  )
}
