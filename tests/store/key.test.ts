// Encoded keys sort as the keys do, and come back as they were.

import { expect, test } from 'bun:test'
import * as fc from 'fast-check'
import { decodeKey, decodeLetters, encodeKey, prefixRange } from '../../src/store/key.ts'
import type { Key, KeyPart } from '../../src/store/kv.ts'
import { rounds } from '../long.ts'

const part: fc.Arbitrary<KeyPart> = fc.oneof(
  fc.boolean(),
  fc.double({ noNaN: true }).map((value) => value + 0),
  fc.integer(),
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.constantFrom('', '\0', '\0\0', 'a\0', '\0\uFFFD', '\uFFFF', '😀'),
)
const key = fc.array(part, { minLength: 1, maxLength: 4 })

/** The order as `kv.ts` states it, slow and plain. */
function compare(a: Key, b: Key): number {
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const order = comparePart(a[i] ?? '', b[i] ?? '')
    if (order !== 0) return order
  }
  return Math.sign(a.length - b.length)
}

function comparePart(a: KeyPart, b: KeyPart): number {
  const kinds = ['boolean', 'number', 'string']
  if (typeof a !== typeof b) return Math.sign(kinds.indexOf(typeof a) - kinds.indexOf(typeof b))
  if (typeof a === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(String(b)))
  return Math.sign(Number(a) - Number(b))
}

// fast-check prints the seed of what it finds.
test('bytes sort as keys do', () => {
  fc.assert(
    fc.property(key, key, (a, b) => {
      expect(Math.sign(Buffer.compare(encodeKey(a), encodeKey(b)))).toBe(compare(a, b))
    }),
    { numRuns: rounds(2000) },
  )
})

test('a key comes back as it was; -0 as 0', () => {
  fc.assert(
    fc.property(key, (a) => {
      expect(decodeKey(encodeKey(a))).toEqual(a.map((item) => (item === 0 ? 0 : item)))
    }),
  )
})

test('a key that was read as letters comes back the same, behind any prefix', () => {
  fc.assert(
    fc.property(fc.array(part, { maxLength: 2 }), key, (prefix, rest) => {
      const bytes = encodeKey([...prefix, ...rest])
      const known = prefix.length > 0 ? encodeKey(prefix).length : 0
      expect(decodeLetters(bytes.toString('latin1'), prefix, known)).toEqual(decodeKey(bytes, prefix, known))
    }),
    { numRuns: rounds(1000) },
  )
})

test('each character comes back, in one byte or in several', () => {
  for (const code of [...Array(0x200).keys(), 0x7ff, 0x800, 0xd7ff, 0xe000, 0xffff, 0x10000, 0x10ffff]) {
    const text = `a${String.fromCodePoint(code)}b`
    expect(decodeKey(encodeKey([text, code]))).toEqual([text, code])
  }
})

test('a prefix holds exactly its extensions', () => {
  fc.assert(
    fc.property(fc.array(part, { maxLength: 2 }), key, (prefix, other) => {
      const { start, end } = prefixRange(prefix)
      const bytes = encodeKey(other)
      const inside = Buffer.compare(start, bytes) <= 0 && Buffer.compare(bytes, end) < 0
      const below = other.length > prefix.length && compare(other.slice(0, prefix.length), prefix) === 0
      expect(inside).toBe(below)
    }),
    { numRuns: rounds(1000) },
  )
})

test('half a surrogate pair, NaN and a key that is too long are our mistakes', () => {
  for (const wrong of [['\uD800'], [Number.NaN], ['x'.repeat(2000)], []])
    expect(() => encodeKey(wrong)).toThrow('assertion')
})
