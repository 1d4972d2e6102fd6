// Writes the text of an answer and measures it on the way, since a script of ten lines can plot and draw a gigabyte.
//
// The text is made in pieces and abandoned at the first one too many, so that neither the text nor what it is made of is
// ever wholly in memory before its size was checked.

import { Problem } from '../../lib/problem.ts'

/** The lengths of the buffers that texts are put into, one after the other; the last length repeats. */
const BUFFERS = [1 << 16, 1 << 18, 1 << 20] as const
/** More than was expected, since the next run of a script has a trade more or less. */
const SPARE = 1.05
/** A longer text is better sent piece by piece. */
const EXPECTED_MAX = 2 << 20
/** Short pieces are joined up to this many letters before they go into a buffer. */
const JOINED = 1 << 14

/** Left alone, the engine lets as much garbage accumulate as there is text. Collecting it takes some 12 ms, writing it 80. */
const GARBAGE_BYTES = 32 << 20

/** A text as UTF-8, in pieces that never end within a character. */
export type TextBytes = Uint8Array<ArrayBuffer>[]

/** How many bytes the last answer of a thread took. Whoever tries a script has one answer after the other of about one size. */
export interface LastAnswer {
  report: number
  tracks: number
}

export const lengthOf = (text: TextBytes): number => text.reduce((sum, { length }) => sum + length, 0)

export class AnswerScales {
  readonly #most: number
  readonly #weighed: (bytes: number) => void
  readonly #collect: () => void
  #bytes = 0
  #collectAt = GARBAGE_BYTES

  /** `weighed` is told how much there is so far. `collect` is called now and then, when the texts have left much garbage. */
  constructor(most: number, weighed: (bytes: number) => void, collect: () => void = () => {}) {
    this.#most = most
    this.#weighed = weighed
    this.#collect = collect
  }

  /**
   * Encodes the pieces into buffers: into one, if there are about as many bytes as expected. Throws Problem 422
   * `script_limit_exceeded` if all texts together exceed the limit.
   */
  bytes(pieces: Iterable<string | Uint8Array>, expected = 0): TextBytes {
    const full: TextBytes = []
    const room = Math.min(Math.ceil(expected * SPARE), EXPECTED_MAX)
    let buffer = new Uint8Array(Math.max(BUFFERS[0], room))
    let length = 0
    const next = () => {
      full.push(buffer.subarray(0, length))
      this.add(length)
      if (this.#bytes >= this.#collectAt) {
        this.#collectAt = this.#bytes + GARBAGE_BYTES
        this.#collect()
      }
      buffer = new Uint8Array(BUFFERS[full.length] ?? BUFFERS[2])
      length = 0
    }
    const put = (text: string) => {
      for (let rest = text; rest !== ''; next()) {
        const { read, written } = encoder.encodeInto(rest, buffer.subarray(length))
        length += written
        rest = rest.slice(read)
        if (rest === '') return
      }
    }
    // They are numbers, which may be cut anywhere.
    const copy = (bytes: Uint8Array) => {
      for (let from = 0; ; next()) {
        const part = bytes.subarray(from, from + buffer.length - length)
        buffer.set(part, length)
        length += part.length
        from += part.length
        if (from === bytes.length) return
      }
    }
    let short = ''
    for (const piece of pieces) {
      // A long piece is encoded by itself, since joining would copy it once more.
      if (typeof piece === 'string' && short.length + piece.length < JOINED) short += piece
      else {
        put(short)
        if (typeof piece === 'string') put(piece)
        else copy(piece)
        short = ''
      }
    }
    put(short)
    this.add(length)
    return [...full, buffer.subarray(0, length)]
  }

  /** Counts bytes that were made elsewhere. */
  add(bytes: number): void {
    this.#bytes += bytes
    this.#weighed(this.#bytes)
    if (this.#bytes <= this.#most) return
    const megabytes = Math.round(this.#most / 2 ** 20).toLocaleString('en')
    throw new Problem(
      422,
      'script_limit_exceeded',
      `The report and the tracks would be more than ${megabytes} MB, the most that a run may answer. Plot and draw less, log and alert less, or run it on fewer bars; who runs the server can raise SCRIPT_ANSWER_MB.`,
    )
  }
}

const encoder = new TextEncoder()
