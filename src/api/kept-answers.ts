// Keeps the texts of answers that are requested again and again, as a dashboard does: if the records of a list have not
// changed, its text has not either, and need not be read, parsed and printed again.
//
// A text is kept under a name, which says who asked for what, and with a stamp, which every write to its records changes. A
// request first reads the present stamp, and only then the records. So a text may be newer than its stamp, and is then made
// again, but never older; writes by other processes count as well.
//
// The gate has checked the credential before, as for any other request, so keeping texts gives nobody access.

import { encoded, type Encoding } from './encode.ts'
import { answerText, isLarge } from './json-text.ts'
import { hasColumns } from './columns.ts'

/** The limit for all texts together; the text used longest ago makes room. */
const BYTES_MAX = 32 << 20

/** The limit for one text: a longer one would take everybody else's room. */
const LETTERS_MAX = 1 << 20

/** The whole text of an answer `A`. */
export class Kept<A extends object = object> {
  readonly stamp: string
  readonly text: string
  #etag: string | null = null
  readonly #encoded = new Map<Encoding, Promise<Uint8Array<ArrayBuffer>>>()
  readonly #grown: (bytes: number) => void
  /** Only for the compiler: the type of the answer. */
  declare readonly answer: A

  constructor(text: string, stamp: string, grown: (bytes: number) => void) {
    this.text = text
    this.stamp = stamp
    this.#grown = grown
  }

  /** Lists have no ETag, and computing it for a long text takes as long as sending it. */
  get etag(): string {
    return (this.#etag ??= `"${Bun.hash(this.text).toString(36)}"`)
  }

  encoded(encoding: Encoding): Promise<Uint8Array<ArrayBuffer>> {
    const known = this.#encoded.get(encoding)
    if (known) return known
    const making = encoded(encoding, new TextEncoder().encode(this.text))
    this.#encoded.set(encoding, making)
    making.then(
      ({ byteLength }) => this.#grown(byteLength),
      () => this.#encoded.delete(encoding),
    )
    return making
  }
}

interface Held {
  readonly kept: Kept
  bytes: number
}

export class KeptAnswers {
  readonly #max: number
  /** In order of use; `#bytes` is the sum of their sizes. */
  readonly #held = new Map<string, Held>()
  #bytes = 0

  constructor(max = BYTES_MAX) {
    this.#max = max
  }

  get bytes(): number {
    return this.#bytes
  }

  /** `stamp` was read before the call; `make` makes the answer without `ok`. A large answer is not kept. */
  async answer<A extends object>(name: string, stamp: string, make: () => Promise<A>): Promise<A | Kept<A>> {
    const held = this.#held.get(name)
    if (held?.kept.stamp === stamp) {
      this.#held.delete(name)
      this.#held.set(name, held)
      return held.kept as Kept<A>
    }
    const answer = { ok: true, ...(await make()) }
    if (isLarge(answer) || hasColumns(answer)) return answer
    const kept = new Kept<A>(await answerText(answer), stamp, (bytes) => this.#grow(name, kept, bytes))
    if (kept.text.length > LETTERS_MAX) return kept
    this.#drop(name)
    this.#held.set(name, { kept, bytes: 0 })
    // Letters may take two bytes each.
    this.#grow(name, kept, 2 * (name.length + kept.text.length))
    return kept
  }

  #grow(name: string, kept: Kept, bytes: number): void {
    const held = this.#held.get(name)
    if (held?.kept !== kept) return
    held.bytes += bytes
    this.#bytes += bytes
    for (const oldest of this.#held.keys()) {
      if (this.#bytes <= this.#max) return
      this.#drop(oldest)
    }
  }

  #drop(name: string): void {
    this.#bytes -= this.#held.get(name)?.bytes ?? 0
    this.#held.delete(name)
  }
}
