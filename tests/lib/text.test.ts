// Text is measured and cut by code points.

import { describe, expect, test } from 'bun:test'
import * as fc from 'fast-check'
import { characters, cutText, longerThan, textFault } from '../../src/lib/text.ts'

const SEED = Number(Bun.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31))
const any = fc.string({ unit: 'binary', maxLength: 30 })

describe(`any text, SEED=${SEED}`, () => {
  test('has as many characters as a walk over it', () => {
    fc.assert(
      fc.property(any, (text) => characters(text) === Array.from(text).length),
      { seed: SEED },
    )
  })
  test('is cut between characters, and is longer than what it was cut to', () => {
    fc.assert(
      fc.property(any, fc.nat(30), (text, max) => {
        expect(cutText(text, max)).toBe(Array.from(text).slice(0, max).join(''))
        expect(longerThan(text, max)).toBe(Array.from(text).length > max)
      }),
      { seed: SEED },
    )
  })
})

test.each([
  ['a name', 'line', 'Golden cross 金叉 🐎', null],
  ['an emoji of several', 'line', '👨‍👩‍👧', null],
  ['two lines as one', 'line', 'a\nb', 'control_character'],
  ['a line separator', 'line', 'a\u2028b', 'control_character'],
  ['NUL', 'line', 'a\0b', 'control_character'],
  ['NUL in prose', 'prose', 'a\0b', 'control_character'],
  ['a C1 control in prose', 'prose', 'a\u0085b', 'control_character'],
  ['lines and tabs in prose', 'prose', 'a\r\n\tb', null],
  ['anything in code', 'raw', 'a\0b', null],
  ['half a pair', 'raw', 'a\ud800', 'surrogate'],
  ['white space alone', 'line', ' \u3000 ', 'blank'],
  ['a market that grows in upper case', 'market', 'ß'.repeat(11), 'max_length'],
  ['a market that does not grow beyond what there is room for', 'market', 'ß'.repeat(10), null],
  ['a market of white space', 'market', ' ', 'blank'],
  ['nothing', 'line', '', 'min_length'],
  ['ten characters of two units', 'line', '🐎'.repeat(20), null],
  ['one too many', 'line', '🐎'.repeat(21), 'max_length'],
] as const)('%s', (_name, form, text, fault) => {
  expect(textFault(text, { form, minLength: 1, maxLength: 20 })).toBe(fault)
})
