// `UPDATE=1 bun test`: writes what came out into the test file, in place of what was expected. The diff is the review.
//
// Only where tests are data: a text beside the input that it is expected of, or a table row with a name and lists. Both are
// found in the file by input and name, which therefore stand there as they are, and once.

import { expect } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'

const isUpdating = Bun.env['UPDATE'] === '1'

/** For `check(input, expected)` and `[input, expected]`: the text that is expected stands behind its input. */
export function expectText(file: string, input: string, actual: string, expected: string): void {
  if (!isUpdating || actual === expected) return expect(actual).toBe(expected)
  const text = readFileSync(file, 'utf8')
  const literals = [...text.matchAll(LITERAL)]
  const at = literals.findIndex(([source]) => valueOf(source) === input)
  const old = literals.slice(at + 1).find(([source]) => valueOf(source) === expected)
  if (at < 0 || !old)
    throw new Error(`${file}: input and expected text are not both literals; write it by hand.`)
  const end = old.index + old[0].length
  writeFileSync(file, text.slice(0, old.index) + literalOf(actual) + text.slice(end))
}

/** For a row of a table: `{ rule: 'NAME', …, trades: ['…'] }`. */
export function expectList<T extends string | number>(
  file: string,
  name: string,
  field: string,
  actual: readonly T[],
  expected: readonly T[],
): void {
  if (!isUpdating || Bun.deepEquals(actual, expected)) return expect(actual).toEqual([...expected])
  const text = readFileSync(file, 'utf8')
  const row = [...text.matchAll(LITERAL)].find(([source]) => valueOf(source) === name)?.index
  const head = row === undefined ? null : new RegExp(`\\b${field}: \\[`).exec(text.slice(row))
  if (row === undefined || !head)
    throw new Error(`${file}: no "${field}" behind "${name}"; write it by hand.`)
  const start = row + head.index + head[0].length - 1
  const list = actual.map((one) => (typeof one === 'number' ? String(one) : literalOf(one))).join(', ')
  writeFileSync(file, `${text.slice(0, start)}[${list}]${text.slice(closing(text, start))}`)
}

/** A text between quotes; a comment too, so that an apostrophe in it opens none. */
const LITERAL = /\/\/[^\n]*|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\[^])*`/g

function valueOf(source: string): string {
  const inner = source.slice(1, -1).replaceAll(/\\(?=['`$])/g, '')
  const json = inner.replaceAll(/(?<!\\)((?:\\\\)*)"/g, '$1\\"').replaceAll('\n', '\\n')
  try {
    return JSON.parse(`"${json}"`) as string
  } catch {
    return source
  }
}

function literalOf(text: string): string {
  const body = JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"')
  return `'${body.replaceAll("'", "\\'")}'`
}

/** Behind the bracket that closes the one at `start`; brackets in texts do not count. */
function closing(text: string, start: number): number {
  let depth = 0
  for (const match of text.slice(start).matchAll(new RegExp(`${LITERAL.source}|[[\\]]`, 'g'))) {
    if (match[0] === '[') depth++
    if (match[0] === ']' && --depth === 0) return start + match.index + 1
  }
  throw new Error('the list is not closed')
}
