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

test('what is multiplied by a direction is not divided by it, which comes to the same', () => {
  const divided = (text: string) => mutated(text).filter((one) => one.includes('/'))
  expect(divided('x = held * order.direction < 0; y = a * side')).toEqual([])
  expect(divided('x = direction * held; y = a * sides')).toEqual([
    'x = direction / held; y = a * sides',
    'x = direction * held; y = a / sides',
  ])
})

test('a mutant is placed by characters, whatever alphabet stands before it', () => {
  expect(mutated("x = '😀é'; y = a + b")).toContain("x = '😀é'; y = a - b")
})
