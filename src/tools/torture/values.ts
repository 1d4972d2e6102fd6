// Values for the fuzz: mostly valid for a schema, sometimes ones that nobody should send.

import type { Random } from './random.ts'
import type { Schema } from './openapi.ts'

const TEXTS = [
  'SPX',
  'SP',
  '1d',
  '1h',
  '2024-01-01T00:00:00Z',
  '2024-02-30',
  'https://127.0.0.1:9/hook',
  '//@version=6\nstrategy("x")\nplot(close)',
  'Ворота',
  '価格警報',
  '🦀🏴‍☠️',
  'e\u0301\u0323',
  '\ud800',
  'a\udfffb',
  'nul\u0000l',
  '\u202e\ufeff',
  '__proto__',
  'constructor',
  '../../etc/passwd',
  "' OR 1=1 --",
  '<script>alert(1)</script>',
  '=1+1',
  '%00',
  '\r\nX-Injected: 1',
  '1e400',
  '-0',
  '',
]
const NUMBERS = [0, -0, 1, -1, 0.1, 1e300, -1e300, 5e-324, 2 ** 31, 2 ** 53, 8.64e15, 8.64e15 + 1, 1_000_000]
const KEYS = ['a', '', '__proto__', 'constructor', 'toString', 'id', '\ud800', 'ключ']

export class Values {
  readonly #random: Random
  /** Contained in every generated text, so that an echo of it can be found. */
  readonly #mark: string
  /** Ids seen in answers, so that the fuzz gets past "not found". */
  readonly #ids: readonly string[]

  constructor(random: Random, mark: string, ids: readonly string[]) {
    this.#random = random
    this.#mark = mark
    this.#ids = ids
  }

  /** A valid value for the schema, or nine times in a hundred something else. */
  like(schema: Schema, depth = 0): unknown {
    if (this.#random.chance(0.09)) return this.anything(depth)
    const variants = schema.anyOf ?? schema.oneOf
    if (variants && variants.length > 0) return this.like(this.#random.pick(variants), depth)
    if ('const' in schema) return schema.const
    if (schema.enum && schema.enum.length > 0) return this.#random.pick(schema.enum)
    return this.#ofType(schema, depth)
  }

  #ofType(schema: Schema, depth: number): unknown {
    switch (schema.type) {
      case 'object':
        return this.#object(schema, depth)
      case 'array':
        return Array.from({ length: this.#random.integer(0, 4) }, () =>
          this.like(schema.items ?? {}, depth + 1),
        )
      case 'integer':
        return this.#integer(schema)
      case 'number':
        return this.#random.pick(NUMBERS)
      case 'boolean':
        return this.#random.chance(0.5)
      case 'string':
        return this.text(schema)
      case 'null':
        return null
      default:
        return this.anything(depth)
    }
  }

  #object({ properties = {}, required = [] }: Schema, depth: number): unknown {
    const entries = Object.entries(properties).filter(([name]) =>
      this.#random.chance(required.includes(name) ? 0.97 : 0.4),
    )
    return Object.fromEntries(entries.map(([name, schema]) => [name, this.like(schema, depth + 1)]))
  }

  #integer({ minimum = -10, maximum = 1000 }: Schema): number {
    const [low, high] = [Math.max(minimum, -1e6), Math.min(maximum, 1e6)]
    return this.#random.pick([minimum, maximum, minimum - 1, maximum + 1, this.#random.integer(low, high)])
  }

  text({ pattern, maxLength = 100 }: Schema): string {
    const prefix = /^\^([a-z]+_)/.exec(pattern ?? '')?.[1]
    if (prefix !== undefined && this.#random.chance(0.9)) return this.id(prefix)
    if (pattern?.includes('[0-9]') && this.#random.chance(0.8)) return String(this.#random.integer(0, 100))
    const kind = this.#random.next()
    if (kind < 0.45) return this.#random.pick(TEXTS)
    if (kind < 0.5)
      return (this.#mark + 'x')
        .repeat(Math.min(4000, maxLength))
        .slice(0, maxLength + this.#random.integer(-1, 1))
    return this.#mark + this.#random.pick(TEXTS)
  }

  /** An id with this prefix that was seen, or one that never existed. */
  id(prefix: string): string {
    const seen = this.#ids.filter((id) => id.startsWith(prefix))
    return seen.length > 0 && this.#random.chance(0.85) ? this.#random.pick(seen) : `${prefix}0000000000`
  }

  anything(depth = 0): unknown {
    const random = this.#random
    const leaf = () =>
      random.pick<() => unknown>([
        () => this.text({}),
        () => random.pick(NUMBERS),
        () => random.chance(0.5),
        () => null,
      ])()
    if (depth > 2 || random.chance(0.6)) return leaf()
    if (random.chance(0.1)) return nested(random.integer(10, 2000))
    const many = random.integer(0, 4)
    return random.chance(0.5)
      ? Array.from({ length: many }, () => this.anything(depth + 1))
      : Object.fromEntries(Array.from({ length: many }, () => [random.pick(KEYS), this.anything(depth + 1)]))
  }

  /** A body as text: mostly JSON that fits the schema, sometimes with doubled keys, cut off, or not JSON at all. */
  body(schema: Schema): string {
    const text = JSON.stringify(this.like(schema)) ?? ''
    const kind = this.#random.next()
    if (kind < 0.88) return text
    if (kind < 0.91) return text.slice(0, this.#random.integer(0, text.length))
    if (kind < 0.94) return text.startsWith('{"') ? `{"name":1,${text.slice(1)}` : text
    return this.#random.pick([
      '',
      'null',
      '[]',
      '"x"',
      `{"a":"${this.#mark}`,
      '\ufeff{}',
      '{"a":01}',
      '\u0000',
    ])
  }
}

function nested(depth: number): unknown {
  let value: unknown = 1
  for (let i = 0; i < depth; i++) value = i % 2 === 0 ? [value] : { a: value }
  return value
}

/** Text for an address; half of a surrogate pair becomes the bytes that an old encoder would make of it. */
export function encoded(text: string): string {
  return Array.from(text)
    .map((char) => {
      const code = char.codePointAt(0) ?? 0
      if (code < 0xd800 || code > 0xdfff) return encodeURIComponent(char)
      return [0xe0 | (code >> 12), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63)]
        .map((byte) => `%${byte.toString(16).toUpperCase()}`)
        .join('')
    })
    .join('')
}
