import { describe, expect, test } from 'bun:test'
import { stringValue, tokenize } from '../../src/language/1-parse/lexer.ts'
import { Source } from '../../src/language/source.ts'

/** Tokens apart by spaces; the first of a line after its indentation, `|4:x`. */
function tokensOf(source: string): string {
  return tokenize(source)
    .tokens.filter(({ kind }) => kind !== 'end')
    .map(({ indent, text }) => (indent < 0 ? text : `|${indent}:${text}`))
    .join(' ')
}

describe('tokens', () => {
  const rows: readonly (readonly [source: string, tokens: string])[] = [
    ['x=1', '|0:x = 1'],
    ['a:=b+=c', '|0:a := b += c'],
    ['a<=b>=c==d!=e=>f', '|0:a <= b >= c == d != e => f'],
    ['a?b:c', '|0:a ? b : c'],
    ['1 1. .5 1e10 1.5E-3 1.e2', '|0:1 1. .5 1e10 1.5E-3 1.e2'],
    ['x.y 1.x', '|0:x . y 1.x'],
    ['#FF0000 #00ff007F', '|0:#FF0000 #00ff007F'],
    ['"a\'b" \'a"b\' ""', '|0:"a\'b" \'a"b\' ""'],
    ['"a\\"b" \'\\\\\'', '|0:"a\\"b" \'\\\\\''],
    ['a // b "c"\nd//', '|0:a |0:d'],
    ['a\n\n  \n// x\n    b', '|0:a |4:b'],
    ['\ta\n\t  b\n  \tc', '|4:a |6:b |6:c'],
    ['\ufeffa\r\n  b\rc', '|0:a |2:b |0:c'],
    ['a\u00a0\u200bb\n\u200b\u00a0c', '|0:a b |1:c'],
    ['"a\n     b" c', '|0:"a\n     b" c'],
    // A tab is four spaces, which continue no line; the quote behind it opens a string that the script ends in.
    ['"a\n\t b" c', '|0:"a\n\t b" c'],
    ['"a\n\tb" c', '|0:"a |4:b " c'],
    ['"""a "b"\n""" c', '|0:"""a "b"\n""" c'],
    ['a||b&&c', '|0:a || b && c'],
    ['Az aZ _9 A_ z0', '|0:Az aZ _9 A_ z0'],
    ['0z', '|0:0z'],
    // Behind a backslash a quote is the string's, and a backslash no longer guards what follows.
    ['"""a\\\\""" b', '|0:"""a\\\\""" b'],
    ['"""a\\"""" b', '|0:"""a\\"""" b'],
    // A string that no quote ends goes to the end of its first line.
    ['"a\n b\nc', '|0:"a |1:b |0:c'],
    ['"a', '|0:"a'],
    ['"a\\', '|0:"a\\'],
  ]
  for (const [source, tokens] of rows) {
    test(JSON.stringify(source), () => {
      expect(tokensOf(source)).toBe(tokens)
    })
  }
})

test('a bracket knows what closes it', () => {
  const pairs = (source: string): string =>
    tokenize(source)
      .tokens.flatMap(({ close }, index) => (close < 0 ? [] : [`${index}-${close}`]))
      .join(' ')
  expect(pairs('f(a[1], (b))')).toBe('1-10 3-5 7-9')
  expect(pairs('f(a\ng(b)')).toBe('4-6')
  expect(pairs('(a]')).toBe('')
})

describe('the version', () => {
  const rows: readonly (readonly [source: string, version: number | null])[] = [
    ['//@version=5', 5],
    ['// a comment\n// @version = 6\n//@version=4', 6],
    ['plot(close)', null],
    ['"//@version=5"', null],
    ['x = 1 //@version=4', 4],
  ]
  for (const [source, version] of rows) {
    test(JSON.stringify(source), () => {
      expect(tokenize(source).version).toBe(version)
    })
  }
})

describe('the value of a string', () => {
  const rows: readonly (readonly [text: string, value: string])[] = [
    ['"abc"', 'abc'],
    ["'it\\'s'", "it's"],
    ['"a\\nb\\tc\\\\n"', 'a\nb\tc\\n'],
    ['"one  \n     two"', 'one two'],
    ['"one\r\n     two"', 'one two'],
    ['"""a\n\\\\n"b"\n"""', 'a\n\\n"b"\n'],
    ['"""a\\n\\"\\"\\" b"""', 'a\n""" b'],
    ["'''it's\r\n  here'''", "it's\n  here"],
    ['"open', 'open'],
    ['"', ''],
  ]
  for (const [text, value] of rows) {
    test(JSON.stringify(text), () => {
      expect(stringValue(text)).toBe(value)
    })
  }
})

test('a string is looked for over 64 lines, and no further', () => {
  const over = (lines: number) => tokenize(`"${'\n x'.repeat(lines)}"`).diagnostics.map(({ code }) => code)
  expect(over(64)).toEqual([])
  expect(over(65)).toContain('unterminated-string')
})

test('comments stand in the order of the text, those that Pine does not have among them', () => {
  const { comments, diagnostics } = tokenize('// a\n/* b */ x // c\n/* d')
  expect(comments).toEqual([
    { start: 0, end: 4 },
    { start: 5, end: 12 },
    { start: 15, end: 19 },
    { start: 20, end: 24 },
  ])
  expect(diagnostics.map(({ code, start, end }) => [code, start, end])).toEqual([
    ['block-comment', 5, 7],
    ['block-comment', 20, 22],
  ])
})

test('one missing quote costs one line', () => {
  const { tokens, diagnostics } = tokenize('a = "b\nc = d\ne = "f"')
  expect(diagnostics.map(({ code }) => code)).toEqual(['unterminated-string'])
  expect(tokens.map(({ text }) => text).join(' ')).toBe('a = "b c = d e = "f" ')
})

test('a word in letters that Pine does not have is one mistake, shown by its beginning', () => {
  const messages = (text: string) =>
    tokenize(text).diagnostics.map(({ message, start, end }) => [message, start, end])
  expect(messages('x = цена + 価格$😀y')).toEqual([
    ['`цена` means nothing here.', 4, 8],
    ['`価格$😀` means nothing here.', 11, 16],
  ])
  expect(messages('😀'.repeat(200_000))).toEqual([
    [`\`${'😀'.repeat(19)}…\` means nothing here.`, 0, 400_000],
  ])
})

test('an offset is a line and a column', () => {
  const source = new Source('ab\r\nc\n\rd')
  const text = [0, 1, 3, 4, 5, 6, 7, 8, 99, -1].map((offset) => {
    const { line, column } = source.position(offset)
    return `${line}:${column}`
  })
  expect(text.join(' ')).toBe('1:1 1:2 1:4 2:1 2:2 3:1 4:1 4:2 4:2 1:1')
})
