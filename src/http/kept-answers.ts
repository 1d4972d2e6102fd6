// Keeps the texts of answers that are requested again and again, as a dashboard does: if the records of a list have not
// changed, its text has not either, and need not be read, parsed and printed again.
//
// A text is kept under a name, which says who asked for what, and with a stamp, which every write to its records changes. A
// request first reads the present stamp, and only then the records. So a text may be newer than its stamp, and is then made
// again, but never older; writes by other processes count as well. While nothing at all was written to the store, which is
// known without a read, the stamp of its records is not even asked for.
//
// The gate has checked the credential before, as for any other request, so keeping texts gives nobody access.

import { encoded, type Encoding } from './encode.ts'
import { answerText, isLarge } from './json-text.ts'
import { hasColumns } from './columns.ts'

/** The limit for all texts together; the text used longest ago makes room. */
const BYTES_MAX = 32 << 20

/** The limit for one text: a longer one would take everybody else's room. */
const LETTERS_MAX = 1 << 20

/** Reads the present stamp. */
export type StampOf = () => Promise<string>

/** An answer `A` as a whole text, for the one who asked; the text may be everybody's. */
export interface WholeAnswer<A extends object = object> {
  readonly name: string
  readonly stampOf: StampOf
  readonly text: KeptText
  /** Only for the compiler: the type of the answer. */
  readonly answer?: A
}

/** Routes answer plain objects too, so kept ones are told by their class. */
class KeptAnswer<A extends object> implements WholeAnswer<A> {
  readonly name: string
  readonly stampOf: StampOf
  readonly text: KeptText
  declare readonly answer?: A

  constructor(name: string, stampOf: StampOf, text: KeptText) {
    this.name = name
    this.stampOf = stampOf
    this.text = text
  }
}

export function isKept(value: unknown): value is WholeAnswer {
  return value instanceof KeptAnswer
}

export class KeptText {
  readonly stamp: string
  readonly json: string
  #etag: string | null = null
  readonly #encoded = new Map<Encoding, Promise<Uint8Array<ArrayBuffer>>>()
  readonly #grown: (bytes: number) => void

  constructor(json: string, stamp: string, grown: (bytes: number) => void) {
    this.json = json
    this.stamp = stamp
    this.#grown = grown
  }

  /** Lists have no ETag, and computing it for a long text takes as long as sending it. */
  get etag(): string {
    return (this.#etag ??= `"${Bun.hash(this.json).toString(36)}"`)
  }

  encoded(encoding: Encoding): Promise<Uint8Array<ArrayBuffer>> {
    const known = this.#encoded.get(encoding)
    if (known) return known
    const making = encoded(encoding, new TextEncoder().encode(this.json))
    this.#encoded.set(encoding, making)
    making.then(
      ({ byteLength }) => this.#grown(byteLength),
      () => this.#encoded.delete(encoding),
    )
    return making
  }
}

interface Held {
  readonly text: KeptText
  bytes: number
  /** The moment of the store at which its stamp stood; null for a stamp of something else. */
  at: number | null
}

/** The moment of the store; null where it does not tell. */
export type MomentOf = () => number | null

const UNTOLD: MomentOf = () => null

export class KeptAnswers {
  readonly #moment: MomentOf
  readonly #max: number
  /** In order of use; `#bytes` is the sum of their sizes. */
  readonly #held = new Map<string, Held>()
  #bytes = 0

  constructor(moment: MomentOf = UNTOLD, max = BYTES_MAX) {
    this.#moment = moment
    this.#max = max
  }

  get bytes(): number {
    return this.#bytes
  }

  /**
   * `make` makes the answer without `ok`. A large answer is not kept. `isOfStore`: the stamp depends on nothing but what is in
   * the store.
   */
  async answer<A extends object>(
    name: string,
    stampOf: StampOf,
    make: () => Promise<A>,
    { isOfStore = true }: { readonly isOfStore?: boolean } = {},
  ): Promise<A | WholeAnswer<A>> {
    const at = isOfStore ? this.#moment() : null
    const stamp = await stampOf()
    const known = this.#withStamp(name, stamp, at)
    if (known) return new KeptAnswer<A>(name, stampOf, known)
    const answer = { ok: true, ...(await make()) }
    if (isLarge(answer) || hasColumns(answer)) return answer
    const text = new KeptText(await answerText(answer), stamp, (bytes) => this.#grow(name, text, bytes))
    const made = new KeptAnswer<A>(name, stampOf, text)
    if (text.json.length > LETTERS_MAX) return made
    this.#drop(name)
    this.#held.set(name, { text, bytes: 0, at })
    // Letters may take two bytes each.
    this.#grow(name, text, 2 * (name.length + text.json.length))
    return made
  }

  /** The text that an earlier `answer` has kept, if it is known without a read that it still holds. */
  atOnce(name: string): KeptText | null {
    const held = this.#held.get(name)
    return held && held.at !== null && held.at === this.#moment() ? this.#used(name, held) : null
  }

  /** The text that an earlier `answer` has kept, if it still holds. */
  async again(name: string, stampOf: StampOf): Promise<KeptText | null> {
    const known = this.atOnce(name)
    if (known) return known
    const held = this.#held.get(name)
    if (!held) return null
    const at = held.at === null ? null : this.#moment()
    return this.#withStamp(name, await stampOf(), at)
  }

  #withStamp(name: string, stamp: string, at: number | null): KeptText | null {
    const held = this.#held.get(name)
    if (held?.text.stamp !== stamp) return null
    held.at = at
    return this.#used(name, held)
  }

  #used(name: string, held: Held): KeptText {
    this.#held.delete(name)
    this.#held.set(name, held)
    return held.text
  }

  #grow(name: string, text: KeptText, bytes: number): void {
    const held = this.#held.get(name)
    if (held?.text !== text) return
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
