// JSON that is text already: a stored report is sent as it was stored, without being parsed on the way.
//
// A report and tracks of millions of bars take a hundred megabytes. So the text consists of pieces that are never joined: a
// large answer is sent piece by piece, and others get their turn in between.

import { cutText } from '../lib/text-cut.ts'
import type { Chunk } from './chunks.ts'
import { Columns, type AnswerFields } from './columns.ts'

/** A text; its bytes, which are released as they are sent; or parts that are read one by one as they are sent. */
export type Pieces = string | Bytes | { readonly length: number; readonly parts: AsyncIterable<string> }
/** UTF-8, in pieces that never end within a character. */
type Bytes = Uint8Array<ArrayBuffer>[]

export interface JsonTextOptions {
  /** Stands for the content in the ETag: equal tags mean equal texts. */
  readonly tag?: string
  /** Id of the backtest that has this result: an answer kept for repetition names it instead of repeating the text. */
  readonly resultOf?: string
}

export class JsonText {
  readonly pieces: readonly Pieces[]
  readonly options: JsonTextOptions

  constructor(pieces: string | readonly Pieces[], options: JsonTextOptions = {}) {
    this.pieces = typeof pieces === 'string' ? [pieces] : pieces
    this.options = options
  }

  /** In characters; bytes count as one character each. */
  get length(): number {
    return this.pieces.reduce((sum, piece) => sum + lengthOf(piece), 0)
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<string | Uint8Array<ArrayBuffer>> {
    for (const piece of this.pieces) {
      if (typeof piece === 'string') yield piece
      else if (Array.isArray(piece)) yield* piece
      else yield* piece.parts
    }
  }

  /** The pieces, for one use: bytes are released as they are taken. */
  async *taken(): AsyncGenerator<string | Uint8Array<ArrayBuffer>> {
    for (const piece of this.pieces) {
      if (typeof piece === 'string') yield piece
      else if (!Array.isArray(piece)) yield* piece.parts
      else for (let next = piece.shift(); next; next = piece.shift()) yield next
    }
  }
}

function lengthOf(piece: Pieces): number {
  return Array.isArray(piece) ? piece.reduce((sum, { length }) => sum + length, 0) : piece.length
}

/** A backtest's result; null: without its tracks. */
export function resultText(report: Pieces, tracks: Pieces | null, resultOf?: string): JsonText {
  return new JsonText(['{"report":', report, ',"tracks":', tracks ?? '[]', '}'], resultOf ? { resultOf } : {})
}

/** The text of an answer whose own fields may be JsonText. */
export async function answerText(answer: AnswerFields): Promise<string> {
  if (!hasJsonText(answer)) return JSON.stringify(answer)
  const whole = wholeText(answer)
  if (whole !== null) return whole
  const pieces = await Array.fromAsync(answerPieces(answer))
  return pieces.map((piece) => (typeof piece === 'string' ? piece : utf8.decode(piece))).join('')
}

/** The same at once where every piece is a text already; null otherwise. */
function wholeText(answer: AnswerFields): string | null {
  const pieces = readyPieces(answer)
  // A list has hundreds of pieces and a hundred kilobytes, so it is copied only once.
  return pieces?.every((piece) => typeof piece === 'string') ? pieces.join('') : null
}

/** The pieces without a wait where all are here already; null if some are still to be read. */
function readyPieces(answer: AnswerFields): (string | Uint8Array<ArrayBuffer>)[] | null {
  const pieces: (string | Uint8Array<ArrayBuffer>)[] = []
  for (const [name, value] of Object.entries(answer)) {
    const text = value instanceof JsonText ? value.pieces : JSON.stringify(value)
    if (text === undefined) continue
    pieces.push(pieces.length === 0 ? '{' : ',', JSON.stringify(name), ':')
    for (const piece of typeof text === 'string' ? [text] : text) {
      if (typeof piece === 'string') pieces.push(piece)
      else if (Array.isArray(piece)) pieces.push(...piece)
      else return null
    }
  }
  pieces.push(pieces.length === 0 ? '{}' : '}')
  return pieces
}

/** A piece may begin with the character that would be a byte order mark at the start of a text. */
const utf8 = new TextDecoder('utf-8', { ignoreBOM: true })

/** The whole answer as UTF-8, in parts. */
export async function answerParts(answer: AnswerFields): Promise<Uint8Array<ArrayBuffer>[]> {
  const pieces = readyPieces(answer) ?? (await Array.fromAsync(answerPieces(answer)))
  const bytes: Uint8Array<ArrayBuffer>[] = []
  let text = ''
  for (const piece of pieces) {
    if (typeof piece === 'string') text += piece
    else {
      bytes.push(encoder.encode(text), piece)
      text = ''
    }
  }
  return [...bytes, encoder.encode(text)]
}

const encoder = new TextEncoder()

/** The answer as it is kept for a repeated request: without texts that are stored elsewhere. */
export function keptText(answer: AnswerFields): Promise<string> {
  return answerText(
    Object.fromEntries(
      Object.entries(answer).map(([name, value]) => {
        const id = resultOf(value)
        return [name, id === undefined ? value : { $resultOf: id }]
      }),
    ),
  )
}

function resultOf(value: unknown): string | undefined {
  if (value instanceof JsonText) return value.options.resultOf
  return value instanceof Columns ? value.resultOf : undefined
}

/** The id of the backtest whose result `keptText` left out here. */
export function keptResultOf(value: unknown): string | null {
  if (typeof value !== 'object' || value === null || !('$resultOf' in value)) return null
  return String(value.$resultOf)
}

/** The text that the ETag is made from: the answer's text, with the tags of large parts in their place. */
export function answerTag(answer: AnswerFields): Promise<string> {
  return answerText(
    Object.fromEntries(
      Object.entries(answer).map(([name, value]) => [
        name,
        value instanceof JsonText ? (value.options.tag ?? value) : value,
      ]),
    ),
  )
}

async function* answerPieces(
  answer: AnswerFields,
  piecesOf: (text: JsonText) => AsyncIterable<string | Uint8Array<ArrayBuffer>> = (text) => text,
): AsyncGenerator<string | Uint8Array<ArrayBuffer>> {
  let before = '{'
  for (const [name, value] of Object.entries(answer)) {
    const text = value instanceof JsonText ? value : JSON.stringify(value)
    if (text === undefined) continue
    yield `${before}${JSON.stringify(name)}:`
    if (typeof text === 'string') yield text
    else yield* piecesOf(text)
    before = ','
  }
  yield before === '{' ? '{}' : '}'
}

export function hasJsonText(answer: AnswerFields): boolean {
  return Object.values(answer).some((value) => value instanceof JsonText)
}

/** Answers with more characters than this are sent in pieces. */
const LARGE = 1 << 20
/** How many characters are encoded at a time, which takes some 0.1 ms. */
const CHUNK = 256 * 1024

export function isLarge(answer: AnswerFields): boolean {
  let length = 0
  for (const value of Object.values(answer)) if (value instanceof JsonText) length += value.length
  return length > LARGE
}

/** Cuts the answer into chunks. Bytes in it are released as they are taken. */
export async function* answerChunks(answer: AnswerFields): AsyncGenerator<Chunk> {
  let small = ''
  for await (const piece of answerPieces(answer, (text) => text.taken())) {
    if (typeof piece === 'string' && small.length + piece.length <= CHUNK) {
      small += piece
      continue
    }
    if (small !== '') yield { content: small, frees: null }
    small = ''
    if (typeof piece !== 'string') yield { content: piece, frees: piece.buffer }
    else for (const content of cutText(piece, CHUNK)) yield { content, frees: null }
  }
  if (small !== '') yield { content: small, frees: null }
}
