// What TradingView's manual says of the language, claim by claim: a script and what it answers.
//
// Five hourly bars from 9:30 in New York on Monday, 8 January 2024, closing at 10, 11, 12, 13, 14; the answer is that of
// the last one.

import { describe, expect, test } from 'bun:test'

import { answer, runScript } from './library/script.ts'

type Row = readonly [claim: string, setup: string, expression: string, expected: string]

function claims(page: string, rows: readonly Row[], options: Parameters<typeof answer>[2] = {}): void {
  describe(page, () => {
    for (const [claim, setup, expression, expected] of rows)
      test(claim, () => {
        expect(answer(expression, setup, options)).toBe(expected)
      })
  })
}

claims('conditional structures: once', [
  [
    'runs its block the first time the condition is true',
    'var n = 0\nonce close > 11\n    n := bar_index',
    'n',
    '2',
  ],
  ['and never again', 'var n = 0\nonce close > 11\n    n += 1', 'n', '1'],
  ['without a condition on the first bar', 'var n = 0\nonce\n    n += bar_index + 1', 'n', '1'],
  [
    'in a function once for each call',
    'var n = array.new<int>()\nf(x) =>\n    once\n        n.push(x)\nf(1)\nf(2)',
    'n',
    '[1, 2]',
  ],
  ['in a loop once in all', 'var n = 0\nfor i = 0 to 9\n    once i == 5\n        n += 1', 'n', '1'],
  [
    'inside an if that comes later',
    'var n = 0\nif bar_index > 2\n    once\n        n += bar_index',
    'n',
    '3',
  ],
  ['is a name where no block follows', 'once = 1\nonce := once + 1', 'once', '2'],
])

claims('arrays: sorting and searching objects', [
  [
    'sort takes the first field',
    'type T\n    int a\n    string b\nx = array.from(T.new(2, "a"), T.new(1, "b"))\nx.sort()',
    'x.first().b',
    'b',
  ],
  [
    'or one by its place',
    'type T\n    int a\n    string b\nx = array.from(T.new(2, "d"), T.new(3, "c"))\nx.sort(sort_field = 1)',
    'x.first().a',
    '3',
  ],
  [
    'or by its name',
    'type T\n    int a\n    string b\nx = array.from(T.new(2, "d"), T.new(3, "c"))\nx.sort(sort_field = "b")',
    'x.first().a',
    '3',
  ],
  [
    'binary_search compares a field with a value',
    'type T\n    int a\n    float b\nx = array.from(T.new(2, 5.5), T.new(3, 6.5))',
    'x.binary_search(3) * 10 + x.binary_search(5.5, sort_field = "b")',
    '10',
  ],
  [
    'leftmost and rightmost do too',
    'type T\n    int a\nx = array.from(T.new(2), T.new(4), T.new(4))',
    'x.binary_search_leftmost(4) * 10 + x.binary_search_rightmost(4, 0)',
    '12',
  ],
])

describe('arrays: sorting and searching objects', () => {
  test('a field that cannot be compared is an error', () => {
    expect(() =>
      runScript(
        'type T\n    color c\n    bool b\nx = array.from(T.new(color.red, true))\nx.sort(sort_field = "b")',
      ),
    ).toThrow('Cannot sort by the field')
  })
})
