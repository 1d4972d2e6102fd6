// What the mutation tool takes for a mistake worth making.

import { expect, test } from 'bun:test'
import { mutantsOf } from '../../src/tools/mutate/mutants.ts'

function mutated(text: string): string[] {
  return mutantsOf('a.ts', text).map(
    ({ start, end, replacement }) => text.slice(0, start) + replacement + text.slice(end),
  )
}

test.each([
  ['x = a < 2', ['x = a <= 2', 'x = a > 2', 'x = a < (2 + 1)']],
  ['x = a ?? b', ['x = a']],
  ['x = !a && b', ['x = !a || b', 'x = a && b']],
  ['if (a) f(b, c)', ['if (true) f(b, c)', 'if (false) f(b, c)', 'if (a) ;', 'if (a) f(c, b)']],
  ['x = a ? -1 : true', ['x = true ? -1 : true', 'x = false ? -1 : true', 'x = a ? 1 : true']],
  ['x = Math.min(a, b)', ['x = Math.max(a, b)']],
  ['while (a) i++', ['while (false) i++', 'while (a) ;', 'while (a) i--']],
] as const)('%s', (text, expected) => {
  const found = mutated(text)
  for (const one of expected) expect(found).toContain(one)
})

test('types, imports, texts and what only asserts stay as they are', () => {
  const text = [
    "import { a } from './a.ts'",
    "type Side = 1 | -1 | 'both'",
    "const x: 1 | 2 = <1 | 2>y as 1 | 2, text = 'a < b'",
    'assert(a < 1)',
  ]
  expect(mutated(text.join('\n')).filter((one) => !one.includes('\n;'))).toEqual([])
})

test('a mutant is placed by characters, whatever alphabet stands before it', () => {
  expect(mutated("x = '😀é'; y = a + b")).toContain("x = '😀é'; y = a - b")
})
