import { expect, test } from 'bun:test'
import { jsonExcess } from '../../src/lib/json-bounds.ts'

const bounds = { depth: 3, values: 6 }
const excess = (text: string) => jsonExcess(new TextEncoder().encode(text), bounds)

test.each([
  ['[[[]]]', null],
  ['[[[[', 'is nested more than 3 deep.'],
  ['{"a":{"b":[{}]}}', 'is nested more than 3 deep.'],
  ['[1,2,3,4,5]', null],
  ['[1,2,3,4,5,6,7]', 'has more than 6 values.'],
  [String.raw`["[[[[,,,,,,,,","\"[[[[[","\\"]`, null],
  ['"[[[[', null],
  ['', null],
])('%s: %p', (text, expected) => {
  expect(excess(text)).toBe(expected)
})
