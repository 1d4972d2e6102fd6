// The text of an answer, weighed while it is made: a script of ten lines can plot and draw a gigabyte.
//
// It is made in pieces and given up at the first one too many, so that neither what it is made of nor what it is made
// into ever lies in memory whole before somebody has looked at how much it is.

import { listTexts } from '../backtest/tracks.ts'
import { Problem } from '../lib/problem.ts'

/** Letters joined at a time: a list of a million short texts takes three times what one long text does. */
const JOINED = 1 << 20

export class AnswerScales {
  readonly #most: number
  readonly #weighed: (bytes: number) => void
  #bytes = 0

  /** `weighed` is told how much there is so far. */
  constructor(most: number, weighed: (bytes: number) => void) {
    this.#most = most
    this.#weighed = weighed
  }

  /** Puts pieces together. Throws Problem 422 `script_limit_exceeded` when all texts are more than may be. */
  text(pieces: Iterable<string>): string {
    const joined: string[] = []
    let waiting: string[] = []
    let length = 0
    const join = () => {
      this.add(length)
      joined.push(waiting.join(''))
      waiting = []
      length = 0
    }
    for (const piece of pieces) {
      waiting.push(piece)
      length += piece.length
      if (length >= JOINED) join()
    }
    join()
    return joined.join('')
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

/** JSON text of an object whose lists are long. */
export function* objectTexts(object: Readonly<Record<string, unknown>>): Generator<string> {
  let before = '{'
  for (const [name, value] of Object.entries(object)) {
    const text = Array.isArray(value) ? '' : JSON.stringify(value)
    if (text === undefined) continue
    yield `${before}${JSON.stringify(name)}:${text}`
    before = ','
    if (Array.isArray(value)) yield* listTexts(value)
  }
  yield before === '{' ? '{}' : '}'
}
