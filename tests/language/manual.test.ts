// What TradingView's manual says of the language, claim by claim: a script and what it answers.
//
// Five hourly bars from 9:30 in New York on Monday, 8 January 2024, closing at 10, 11, 12, 13, 14; the answer is that of
// the last one.

import { describe, expect, test } from 'bun:test'

import { answer, barsOfCloses, runScript } from './library/script.ts'
import { walk } from './run-script.ts'

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

claims('strings', [
  ['an empty target stands between all characters', '', 'str.replace_all("abc", "", "-")', '-a-b-c-'],
  ['a look behind', '', 'str.match("NASDAQ:AAPL", "(?<=:).+")', 'AAPL'],
  ['a negative look behind', '', 'str.match("ab cb", "(?<!a)b")', 'b'],
  ['a look ahead', '', 'str.match("foo bar baz", "\\\\w+(?= baz)")', 'bar'],
  ['a negative look ahead', '', 'str.match("a1 b2 c", "[a-z](?!\\\\d)")', 'c'],
  ['a look ahead that goes far', '', 'str.match("axx bxy", "[ab](?=x*y)")', 'b'],
  ['three apostrophes are for several lines as well', "s = '''a\n  b'''", 's', 'a\n  b'],
])

claims('strings: regular expressions', [
  ['a code of any length', '', 'str.match("xa", "\\\\x{0061}")', 'a'],
  ['a script', '', 'str.match("Яa", "\\\\p{IsLatin}")', 'a'],
  ['a script by its key', '', 'str.match("aЯ", "\\\\p{Script=Cyrillic}")', 'Я'],
  ['a block', '', 'str.match("Яa", "\\\\p{InBasicLatin}")', 'a'],
  ['a category by its key', '', 'str.match("1a", "\\\\p{gc=L}")', 'a'],
  ['a category', '', 'str.match("aB", "\\\\p{Lu}")', 'B'],
  ['a class of POSIX', '', 'str.match("xyF", "\\\\p{XDigit}")', 'F'],
  ['white space within a line', '', 'str.match("a\\n\\tb", "\\\\hb")', '\tb'],
  ['comments', '', 'str.match("zb123", "(?x)[a-f ] 1 2\\n3 # this is a comment!")', 'b123'],
  ['digits of all scripts', '', 'str.match("x１", "(?U)\\\\d")', '１'],
  ['an intersection', '', 'str.match("defa", "[a-z&&[^def]]")', 'a'],
])

claims('time: format_time', [
  ['a quote within a quoted text', '', `str.format_time(0, "HH 'o''clock'", "UTC")`, "00 o'clock"],
  ['two quotes alone', '', `str.format_time(0, "HH''", "UTC")`, "00'"],
])

claims('arrays: slices', [
  [
    'a slice loses what its array loses',
    'a = array.from(1, 2, 3, 4)\nb = a.slice(1, 4)\na.pop()',
    'b',
    '[2, 3]',
  ],
  [
    'and has it again when the array grows',
    'a = array.from(1, 2, 3, 4)\nb = a.slice(1, 4)\na.pop()\na.pop()\na.push(7)\na.push(8)\na.push(9)',
    'b',
    '[2, 7, 8]',
  ],
  ['a slice of nothing is empty', 'a = array.from(1, 2, 3, 4)\nb = a.slice(2, 4)\na.clear()', 'b', '[]'],
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

describe('a call under a condition works on the bars it is executed on', () => {
  const seed = Math.floor(Math.random() * 1e9)
  const closes = walk(300, seed)
  const executed = closes.flatMap((_, i) => (i % 3 === 0 || i % 7 === 2 ? [] : [i]))
  const condition = 'bar_index % 3 != 0 and bar_index % 7 != 2'
  const plotted = (body: string, of: readonly number[]) =>
    runScript(`plot(${body}, "x")`, { bars: barsOfCloses(of) }).plots['x'] ?? []
  for (const call of [
    'ta.sma(close, 7)',
    'ta.ema(close, 7)',
    'ta.median(close, 7)',
    'ta.mode(close, 7)',
    'ta.percentile_linear_interpolation(close, 7, 40)',
    'ta.percentile_nearest_rank(close, 7, 40)',
    'ta.percentrank(close, 7)',
    'ta.stdev(close, 7)',
    'ta.linreg(close, 7, 0)',
    'math.sum(close, 7)',
  ])
    test(`${call} (seed ${seed})`, () => {
      const under = plotted(`${condition} ? ${call} : na`, closes)
      const alone = plotted(
        call,
        executed.map((i) => closes[i] ?? 0),
      )
      for (const [place, i] of executed.entries()) {
        const expected = alone[place] ?? Number.NaN
        if (Number.isNaN(expected)) expect(under[i] ?? Number.NaN).toBeNaN()
        else expect(under[i]).toBeCloseTo(expected, 9)
      }
    })

  test(`ta.change looks back at bars, of which those without a call hold the value before (seed ${seed})`, () => {
    const under = plotted(`${condition} ? ta.change(close, 3) : na`, closes)
    for (const i of executed) {
      const held = executed.findLast((bar) => bar <= i - 3)
      if (held === undefined) expect(under[i]).toBeNaN()
      else expect(under[i]).toBe((closes[i] ?? 0) - (closes[held] ?? 0))
    }
  })
})
