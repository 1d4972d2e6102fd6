// Sends answers as columns. Parts that are already packed are sent unchanged, piece by piece. The format is described in
// `wire/columns.ts`.

import { turn } from '../lib/turn.ts'
import { BAR_FIELDS, type Bars } from '../market/bars.ts'
import type { Chunk } from './chunks.ts'
import { COLUMNS_TYPE, columnPieces, pack, type Packed } from '../wire/columns.ts'

/** The fields of an answer, some of which may be columns or JSON text. */
export type AnswerFields = Readonly<Record<string, unknown>>

/** A field of an answer whose long lists are sent as columns. */
export class Columns {
  readonly packed: readonly Packed[]
  /** JSON text of the field without the columns. */
  readonly text: string
  /** Identifies the content as well as its bytes would, for the ETag. */
  readonly tag: string
  /** Id of the backtest that has this result; see `JsonTextOptions`. */
  readonly resultOf: string | undefined

  constructor(
    packed: readonly Packed[],
    {
      text,
      tag = '',
      resultOf,
    }: { readonly text: string; readonly tag?: string; readonly resultOf?: string },
  ) {
    this.packed = packed
    this.text = text
    this.tag = tag
    this.resultOf = resultOf
  }
}

/** True for bars, false for results of a run. */
export function areBars(answer: AnswerFields): boolean {
  return 'bars' in answer
}

/** Whether the client names columns in `Accept`; a wildcard is not enough. */
export function wantsColumns({ headers }: Request): boolean {
  return (headers.get('accept') ?? '')
    .toLowerCase()
    .split(',')
    .some((part) => {
      const [type = '', ...parameters] = part.split(';').map((one) => one.trim())
      return type === COLUMNS_TYPE && !parameters.some((one) => /^q=0(\.0*)?$/.test(one))
    })
}

/** Packs bars a column a turn, since packing all six of fifty thousand bars at once would hold everybody up. */
export async function packedBars(bars: Bars, tag: string): Promise<Columns> {
  const packed: Packed[] = []
  for (const field of BAR_FIELDS) {
    packed.push(pack(bars[field], ['bars', field]))
    if (bars.length > FEW) await turn()
  }
  const text = JSON.stringify(Object.fromEntries(BAR_FIELDS.map((field) => [field, null])))
  return new Columns(packed, { text, tag })
}
const FEW = 1000

export function hasColumns(answer: AnswerFields): boolean {
  return Object.values(answer).some((value) => value instanceof Columns)
}

/** The text that the ETag is made from; it differs from that of the same answer as JSON. */
export function columnsTag(answer: AnswerFields): string {
  return (
    COLUMNS_TYPE +
    JSON.stringify(answer, (_name, value: unknown) => (value instanceof Columns ? value.tag : value))
  )
}

export function columnsAnswer(answer: AnswerFields): readonly Uint8Array<ArrayBuffer>[] {
  const fields = Object.entries(answer).flatMap(([name, value]) => {
    const text = value instanceof Columns ? value.text : JSON.stringify(value)
    return text === undefined ? [] : [`${JSON.stringify(name)}:${text}`]
  })
  const packed = Object.values(answer).flatMap((value) => (value instanceof Columns ? value.packed : []))
  return columnPieces(`{${fields.join(',')}}`, packed)
}

/** Bytes sent at a time. */
const CHUNK = 1 << 20

/** Cuts the pieces of an answer into chunks. `given` says that nobody else has the pieces. */
export async function* columnChunks(
  pieces: readonly Uint8Array<ArrayBuffer>[],
  given: boolean,
): AsyncGenerator<Chunk> {
  // Two columns may share a buffer.
  const last = new Map(pieces.map(({ buffer }, i) => [buffer, i]))
  for (const [i, piece] of pieces.entries())
    for (let from = 0; from < piece.length; from += CHUNK) {
      const ends = from + CHUNK >= piece.length && last.get(piece.buffer) === i
      yield { content: piece.subarray(from, from + CHUNK), frees: given && ends ? piece.buffer : null }
    }
}
