// The text of an answer, weighed while it is made: a script of ten lines can plot and draw a gigabyte.
//
// It is made in pieces and given up at the first one too many, so that neither what it is made of nor what it is made
// into ever lies in memory whole before somebody has looked at how much it is.

import { Problem } from '../lib/problem.ts'

/** Texts are put into buffers of such lengths, one after the other, the last as often as need be. */
const BUFFERS = [1 << 16, 1 << 18, 1 << 20] as const
/** Letters of short pieces that are put into a buffer in one go. */
const JOINED = 1 << 14

/** Left to itself the engine lets as much garbage lie as there is text. To collect it takes some 12 ms, to write it 80. */
const GARBAGE_BYTES = 32 << 20

/** A text as UTF-8, in pieces that are whole characters each. */
export type TextBytes = Uint8Array<ArrayBuffer>[]

export class AnswerScales {
  readonly #most: number
  readonly #weighed: (bytes: number) => void
  readonly #collect: () => void
  #bytes = 0
  #collectAt = GARBAGE_BYTES

  /** `weighed` is told how much there is so far; `collect` called now and then, when the texts left much garbage. */
  constructor(most: number, weighed: (bytes: number) => void, collect: () => void = () => {}) {
    this.#most = most
    this.#weighed = weighed
    this.#collect = collect
  }

  /** Puts pieces together. Throws Problem 422 `script_limit_exceeded` when all texts are more than may be. */
  bytes(pieces: Iterable<string>): TextBytes {
    const full: TextBytes = []
    let buffer = new Uint8Array(BUFFERS[0])
    let length = 0
    const put = (text: string) => {
      for (let rest = text; rest !== '';) {
        const { read, written } = encoder.encodeInto(rest, buffer.subarray(length))
        length += written
        rest = rest.slice(read)
        if (rest === '') return
        full.push(buffer.subarray(0, length))
        this.add(length)
        if (this.#bytes >= this.#collectAt) {
          this.#collectAt = this.#bytes + GARBAGE_BYTES
          this.#collect()
        }
        buffer = new Uint8Array(BUFFERS[full.length] ?? BUFFERS[2])
        length = 0
      }
    }
    let short = ''
    for (const piece of pieces) {
      // Joined to others a long one would be copied once more.
      if (short.length + piece.length < JOINED) short += piece
      else {
        put(short)
        put(piece)
        short = ''
      }
    }
    put(short)
    this.add(length)
    return [...full, buffer.subarray(0, length)]
  }

  /** Weighs what was made elsewhere. */
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
