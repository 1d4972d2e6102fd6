// Writes large values as JSON a piece at a time, so that memory never holds the whole text, nor everything it is made
// from.
//
// The text equals that of `JSON.stringify`, letter by letter. In addition, a typed array of doubles becomes a list of
// numbers, and any other iterable becomes a list of its items: each is made, written and released.

import { NUMBERS_MAX, numbersBytes, numbersText } from './number-text.ts'

/** Numbers written at a time: some 70 kB of text. */
const NUMBERS = NUMBERS_MAX
/** Items of a list written at a time. */
const ITEMS = 64

export function jsonPieces(value: unknown): Generator<string> {
  return piecesOf(value, numbersText)
}

/** The same, with columns as UTF-8: such a piece stands in memory that the next one is written to, so use it before you go on. */
export function jsonBytes(value: unknown): Generator<string | Uint8Array> {
  return piecesOf<string | Uint8Array>(value, numbersBytes)
}

type PrintNumbers<Piece> = (numbers: Float64Array) => Piece

function* piecesOf<Piece>(value: unknown, print: PrintNumbers<Piece>): Generator<Piece | string> {
  if (value instanceof Float64Array) yield* columnPieces(value, print)
  else if (Array.isArray(value)) yield* listPieces(value)
  else if (typeof value !== 'object' || value === null) yield JSON.stringify(value) ?? 'null'
  else if (Symbol.iterator in value) yield* walkedPieces(value as Iterable<unknown>)
  else yield* objectPieces(value, print)
}

function* columnPieces<Piece>(column: Float64Array, print: PrintNumbers<Piece>): Generator<Piece | string> {
  yield '['
  for (let from = 0; from < column.length; from += NUMBERS) {
    if (from > 0) yield ','
    yield print(column.subarray(from, from + NUMBERS))
  }
  yield ']'
}

/** A million numbers pushed one by one take 14 ms more than a list that is known to hold doubles. */
export function listOf(column: Float64Array): number[] {
  const list = Array<number>(column.length).fill(0.5)
  for (let i = 0; i < column.length; i++) list[i] = column[i]!
  return list
}

function* listPieces(list: readonly unknown[]): Generator<string> {
  yield '['
  for (let from = 0; from < list.length; from += ITEMS) {
    const text = JSON.stringify(list.slice(from, from + ITEMS))
    yield from === 0 ? text.slice(1, -1) : `,${text.slice(1, -1)}`
  }
  yield ']'
}

function* walkedPieces(items: Iterable<unknown>): Generator<string> {
  let before = '['
  for (const item of items) {
    yield before + (JSON.stringify(item) ?? 'null')
    before = ','
  }
  yield before === '[' ? '[]' : ']'
}

function* objectPieces<Piece>(object: object, print: PrintNumbers<Piece>): Generator<Piece | string> {
  let before = '{'
  for (const [name, value] of Object.entries(object)) {
    if (value === undefined) continue
    yield `${before}${JSON.stringify(name)}:`
    before = ','
    yield* piecesOf(value, print)
  }
  yield before === '{' ? '{}' : '}'
}
