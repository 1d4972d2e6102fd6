import { expect, test } from 'bun:test'
import { JsonError, JsonReader, type JsonListener } from '../../src/lib/json-stream.ts'

/** Makes the value, as JSON.parse does. */
class Builder implements JsonListener {
  result: unknown = undefined
  readonly #open: (unknown[] | Record<string, unknown>)[] = []
  #names: string[] = []

  open(kind: 'list' | 'object'): void {
    const made = kind === 'list' ? [] : {}
    this.value(made)
    this.#open.push(made)
    this.#names.push('')
  }
  close(): void {
    this.#open.pop()
    this.#names.pop()
  }
  name(name: string): void {
    this.#names[this.#names.length - 1] = name
  }
  value(value: unknown): void {
    const around = this.#open.at(-1)
    if (!around) this.result = value
    else if (Array.isArray(around)) around.push(value)
    else around[this.#names.at(-1) ?? ''] = value
  }
}

function read(text: string, piece: number): unknown {
  const builder = new Builder()
  const reader = new JsonReader(builder, { depth: 20 })
  try {
    for (let at = 0; at < text.length; at += piece) reader.write(text.slice(at, at + piece))
    reader.end()
    return builder.result
  } catch (error) {
    if (error instanceof JsonError) return 'refused'
    throw error
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return 'refused'
  }
}

const VALUES = [
  '0',
  '-1.5e+3',
  '12',
  '""',
  String.raw`"a\"\\"`,
  String.raw`"é€"`,
  'true',
  'false',
  'null',
  '{}',
  '[ ]',
]
const BROKEN = [
  '',
  '01',
  '1.',
  '.5',
  '-',
  'tru',
  'nul',
  '"',
  String.raw`"\x"`,
  '{1:2}',
  '{"a"}',
  '[1 2]',
  '[,]',
  '[1,]',
  '{"a":1,}',
  ']',
  '1 2',
  'NaN',
  '"\n"',
]

test.each([...VALUES, ...BROKEN, `{"a":[${VALUES.join(',')}],"b":{"c":[[]]}}`])(
  '%s is read as JSON.parse reads it',
  (text) => {
    for (const piece of [1, 2, 3, 1000]) expect(read(text, piece)).toEqual(parsed(text))
  },
)

test('random text is read as JSON.parse reads it, wherever it is cut', () => {
  const seed = Math.floor(Math.random() * 2 ** 31)
  let state = seed | 1
  const next = (below: number) => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) % below
  }
  const make = (depth: number): string => {
    const shape = depth > 4 ? 0 : next(4)
    const items = () => Array.from({ length: next(4) }, () => make(depth + 1))
    if (shape === 1) return `[${items().join(', ')}]`
    if (shape === 2)
      return `{${items()
        .map((item, i) => `"n${i}" :${item}`)
        .join(',')}}`
    return VALUES[next(VALUES.length)] ?? '1'
  }
  for (let i = 0; i < 500; i++) {
    let text = make(0)
    // Every third is broken somewhere.
    if (i % 3 === 0)
      text =
        text.slice(0, next(text.length + 1)) +
        (BROKEN[next(BROKEN.length)] ?? '') +
        text.slice(next(text.length + 1))
    expect([seed, text, read(text, 1 + next(5))]).toEqual([seed, text, parsed(text)])
  }
})

test('brackets in brackets end where the bound is, and a text that never ends', () => {
  const nowhere: JsonListener = { open() {}, close() {}, name() {}, value() {} }
  expect(() => new JsonReader(nowhere, { depth: 4 }).write('[[[[[')).toThrow('is nested more than 4 deep')
  const reader = new JsonReader(nowhere, { depth: 4 })
  const piece = 'a'.repeat(300_000)
  reader.write('"')
  expect(() => {
    for (let i = 0; i < 5; i++) reader.write(piece)
  }).toThrow('has a text of more than 1000000 characters')
})
