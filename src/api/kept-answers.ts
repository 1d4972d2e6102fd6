// Texts of answers that are asked for again and again, as a dashboard does: a list whose records did not change is the text
// that it was, and need not be read, parsed and printed once more.
//
// A text is kept under a name, which says who asked for what, and with a stamp, which every write of what it tells of
// changes. Whoever asks reads the stamp of now first, and only then what the answer is made of. So a text may be newer than
// its stamp, and is made again then, but never older; and what another process writes counts as well.
//
// The gate has judged the credential by then, as for any other request: what is kept opens nothing.

import { encoded, type Encoding } from './encode.ts'
import { answerText, isLarge } from './json-text.ts'
import { hasColumns } from './columns.ts'

/** Of all texts together; the one used longest ago makes room. */
const BYTES_MAX = 32 << 20

/** Of one text: a longer one would be everybody else's room. */
const LETTERS_MAX = 1 << 20

/** The whole text of an answer `A`. */
export class Kept<A extends object = object> {
  readonly stamp: string
  readonly text: string
  #etag: string | null = null
  readonly #encoded = new Map<Encoding, Promise<Uint8Array<ArrayBuffer>>>()
  readonly #grown: (bytes: number) => void
  /** For the compiler alone: what the text is of. */
  declare readonly answer: A

  constructor(text: string, stamp: string, grown: (bytes: number) => void) {
    this.text = text
    this.stamp = stamp
    this.#grown = grown
  }

  /** Lists have none, and of a long text it takes as long as sending it. */
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
  /** In order of use; `#bytes` is the sum of theirs. */
  readonly #held = new Map<string, Held>()
  #bytes = 0

  constructor(max = BYTES_MAX) {
    this.#max = max
  }

  get bytes(): number {
    return this.#bytes
  }

  /** `stamp` was read before this is called; `make` makes the answer without `ok`. A large one is not kept. */
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
