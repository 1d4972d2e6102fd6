// What the editor knows without a screen: colours, signatures, inputs, differences.

import { describe, expect, test } from 'bun:test'
import { StringStream } from '@codemirror/language'
import * as fc from 'fast-check'
import { diffLines } from '../../src/dashboard/editor/diff.ts'
import { fixesOf } from '../../src/dashboard/editor/fixes.ts'
import { token } from '../../src/dashboard/editor/highlight.ts'
import { aboutScript } from '../../src/dashboard/editor/about-script.ts'
import {
  groupsOf,
  readNumber,
  toDateTime,
  toHex,
  type ScriptInput,
} from '../../src/dashboard/editor/input-model.ts'
import { sampleOf, SAMPLES } from '../../src/dashboard/editor/samples.ts'
import { nameFollower, titleOf } from '../../src/dashboard/editor/title-of.ts'
import { partsOf } from '../../src/dashboard/editor/signature-parts.ts'
import { rounds } from '../long.ts'

/** `word:style` of every coloured piece of a text. */
function coloured(text: string): string {
  const state = { inside: '' as const }
  const found: string[] = []
  for (const line of text.split('\n')) {
    const stream = new StringStream(line, 4, 4)
    while (!stream.eol()) {
      stream.start = stream.pos
      const style = token(stream, state)
      expect(stream.pos).toBeGreaterThan(stream.start)
      if (style !== null) found.push(`${stream.current()}:${style}`)
    }
  }
  return found.join(' ')
}

test('colours follow the language', () => {
  expect(coloured('//@version=6')).toBe('//@version=6:meta')
  expect(coloured('x = ta.ema(close, 14) // mean')).toBe(
    'x:variableName =:operator ta:namespace ema:function close:series 14:number // mean:comment',
  )
  expect(coloured('if na(x) or not true')).toBe(
    'if:keyword na:function x:variableName or:keyword not:keyword true:atom',
  )
  expect(coloured('float x = 1.5e-3')).toBe('float:typeName x:variableName =:operator 1.5e-3:number')
  expect(coloured('c = color.new(#ff0000, 20)')).toBe(
    'c:variableName =:operator color:namespace new:function #ff0000:color 20:number',
  )
  expect(coloured('s = "a \\" b" + \'c\'')).toBe(
    's:variableName =:operator "a \\" b":string +:operator \'c\':string',
  )
  expect(coloured('a = array.new<float>(0)')).toContain('new:function')
})

test('a comment or a string may cross lines', () => {
  expect(coloured('/* a\nb */ c')).toBe('/* a:comment b */:comment c:variableName')
  expect(coloured('x = """a\nb""" + 1')).toBe(
    'x:variableName =:operator """a:string b""":string +:operator 1:number',
  )
})

test('every sample names and describes itself', () => {
  expect(SAMPLES.length).toBeGreaterThanOrEqual(8)
  for (const sample of SAMPLES) {
    expect(sample.about.length).toBeGreaterThan(40)
    expect(sample.source).toContain(`"${sample.name}"`)
  }
  expect(sampleOf('//@version=6\n// Tells.\nindicator("Mine")')).toMatchObject({
    name: 'Mine',
    kind: 'indicator',
    about: 'Tells.',
  })
})

test('the argument one is writing is lit', () => {
  const lit = (text: string, argument: number, name: string | null = null) =>
    partsOf(text, { argument, argumentName: name })
      .filter((part) => part.current)
      .map((part) => part.text.trim())
  const ema = '(series float source, simple int length) series float'
  expect(lit(ema, 0)).toEqual(['series float source'])
  expect(lit(ema, 1)).toEqual(['simple int length'])
  expect(lit(ema, 0, 'length')).toEqual(['simple int length'])
  expect(lit(ema, 5)).toEqual([])
  expect(lit('(int|float ...numbers) float', 7)).toEqual(['int|float ...numbers'])
  expect(lit('(map<string, float> id, string key = "a") float', 1)).toEqual(['string key = "a"'])
  expect(
    partsOf(ema, { argument: 0, argumentName: null })
      .map((part) => part.text)
      .join(''),
  ).toBe(ema)
})

const input = (fields: Partial<ScriptInput>): ScriptInput => ({
  label: 'Length',
  kind: 'int',
  default: 14,
  minval: null,
  maxval: null,
  step: null,
  options: null,
  tooltip: '',
  group: '',
  inline: '',
  active: true,
  ...fields,
})

test('inputs stand in their groups, those of one line beside each other', () => {
  const list = [
    input({ label: 'a' }),
    input({ label: 'b', group: 'G', inline: '1' }),
    input({ label: 'c' }),
    input({ label: 'd', group: 'G', inline: '1' }),
  ]
  expect(
    groupsOf(list).map(({ name, rows }) => [name, rows.map((row) => row.map((one) => one.label))]),
  ).toEqual([
    ['', [['a'], ['c']]],
    ['G', [['b', 'd']]],
  ])
})

test('a number is taken when the input takes it', () => {
  expect(readNumber(input({}), '20')).toBe(20)
  expect(readNumber(input({}), '2.5')).toBe('A whole number, please.')
  expect(readNumber(input({ kind: 'float' }), '2.5')).toBe(2.5)
  expect(readNumber(input({ minval: 1 }), '0')).toBe('1 or more.')
  expect(readNumber(input({ maxval: 9 }), '10')).toBe('9 or less.')
  expect(readNumber(input({}), '')).toBe('Not a number.')
  expect(toHex('#2962FF80')).toEqual({ rgb: '#2962ff', alpha: 128 })
})

test('a difference leads from one text to the other', () => {
  expect(diffLines('a\nb\nc', 'a\nx\nc').map(({ kind, text }) => kind + text)).toEqual([
    ' a',
    '-b',
    '+x',
    ' c',
  ])
  const lines = fc
    .array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 30 })
    .map((list) => list.join('\n'))
  const seed = Number(process.env['SEED'] ?? Date.now() % 2 ** 31)
  fc.assert(
    fc.property(lines, lines, (before, after) => {
      const found = diffLines(before, after)
      expect(
        found
          .filter((line) => line.kind !== '+')
          .map((line) => line.text)
          .join('\n'),
      ).toBe(before)
      expect(
        found
          .filter((line) => line.kind !== '-')
          .map((line) => line.text)
          .join('\n'),
      ).toBe(after)
    }),
    { seed, numRuns: rounds(300) },
  )
})

test('a time that no date can hold leaves its field empty', () => {
  expect(toDateTime(Date.UTC(2024, 1, 29, 9, 30))).toBe('2024-02-29T09:30')
  expect([toDateTime(null), toDateTime(Number.NaN), toDateTime(1e18), toDateTime('x')]).toEqual([
    '',
    '',
    '',
    '',
  ])
})

test('a script says what it is in the comment it opens with', () => {
  const source = `//@version=6
// This source code is subject to the terms of the Mozilla Public License 2.0 at https://mozilla.org/MPL/2.0/
// © somebody

// ===========
// Rides a trend
// until it bends.
//
// Daily bars.
indicator("x")
// Not this.`
  expect(aboutScript(source)).toEqual(['Rides a trend until it bends.', 'Daily bars.'])
  expect(aboutScript('//@version=6\n// @description Sums of things\nlibrary("s")')).toEqual([
    'Sums of things',
  ])
  expect(aboutScript('indicator("x")\n// Later.')).toEqual([])
  expect(aboutScript('')).toEqual([])
})

test('a script goes by the name in its declaration until it is given one by hand', () => {
  const named = (title: string) =>
    `//@version=6\n// strategy("not this")\nindicator(${title}, overlay = true)\n`
  expect(titleOf(named('"Gold’s edge"'))).toBe('Gold’s edge')
  expect(titleOf(named(`'It\\'s'`))).toBe("It's")
  expect(titleOf(named('overlay = false, title = "趋势 📈"'))).toBe('趋势 📈')
  expect(titleOf('plot(close)')).toBe('')
  const [before, after] = [named('"One"'), named('"Two"')]
  const renamed = nameFollower()
  expect(renamed('', '', after)).toBe('Two')
  expect(renamed('One', before, after)).toBe('Two')
  expect(renamed('Mine', before, after)).toBe('Mine')
  // Half typed: the old name stays until there is another.
  expect(renamed('One', before, 'indicator("')).toBe('One')
  // Emptied, then another text pasted; a name given by hand stays.
  for (const [name, then] of [
    ['One', 'Two'],
    ['Mine', 'Mine'],
  ] as const) {
    const follow = nameFollower()
    expect(follow(name, before, '')).toBe(name)
    expect(follow(name, '', after)).toBe(then)
  }
})

describe('a fix writes', () => {
  test.each([
    ['undeclared-name', 'lenn', 'Did you mean `len`?', ['len']],
    ['undeclared-name', 'x', null, []],
    ['unknown-member', 'ta.smaa', 'Did you mean `sma`?', ['ta.sma']],
    ['unknown-member', 'chart.point.nw', 'Did you mean `new`?', ['chart.point.new']],
    ['renamed', 'sma', '`sma` is `ta.sma` since v5.', ['ta.sma']],
    ['renamed', 'other', '`sma` is `ta.sma` since v5.', []],
    ['na-without-type', 'var z = na', 'Write it: `float z = na`.', ['float z = na']],
    ['expected-line-end', '=', 'Use `==` to compare, `:=` to give a variable a new value.', ['==', ':=']],
    ['expected-line-end', ')', 'Use `==` to compare, `:=` to give a variable a new value.', []],
    [
      'no-version',
      '',
      'Write `//@version=6`, or the version that it is, into the first line.',
      ['//@version=6\n'],
    ],
    ['not-on-tradingview', 'color.redd', 'Did you mean `color`?', []],
  ])('of %s at %p, hinted %p: %p', (code, marked, hint, written) => {
    const fixes = fixesOf({ code, hint }, marked)
    expect(fixes.map(({ from, insert }) => marked.slice(0, from) + insert)).toEqual(written)
  })
})
