import { describe, expect, test } from 'bun:test'
import { expectText } from '../expected.ts'
import { parse } from '../../src/language/1-parse/parser.ts'
import * as messages from '../../src/language/messages/parsing.ts'
import { Source } from '../../src/language/source.ts'
import { scriptText } from './tree-text.ts'

function errorsOf(source: string): string {
  const lines = new Source(source)
  return parse(source)
    .diagnostics.map(({ code, start }) => {
      const { line, column } = lines.position(start)
      return `${code}@${line}:${column}`
    })
    .join(' ')
}

function checkTrees(rows: readonly (readonly [source: string, tree: string])[]): void {
  for (const [source, tree] of rows) {
    test(JSON.stringify(source), () => {
      const { script } = parse(source)
      expectText(import.meta.path, source, `${scriptText(script)} ${errorsOf(source)}`.trim(), tree)
    })
  }
}

describe('expressions', () => {
  checkTrees([
    ['1 + 2 * 3 - 4', '((1 + (2 * 3)) - 4)'],
    ['a or b and c', '(a or (b and c))'],
    ['not a == b', '((not a) == b)'],
    ['a == b > c', '(a == (b > c))'],
    ['-a * b', '((- a) * b)'],
    ['not not -x[1]', '(not (not (- x[1])))'],
    ['a ? b : c ? d : e', '(a ? b : (c ? d : e))'],
    ['a ? b ? c : d : e', '(a ? (b ? c : d) : e)'],
    ['a?.5:1.', '(a ? 0.5 : 1.)'],
    ['close[1][2]', 'close[1][2]'],
    ['f()[1]', 'f()[1]'],
    ['(a - b)[n]', '(a - b)[n]'],
    ['a.b.c()[1].d', 'a.b.c()[1].d'],
    ['strategy.position_size[1]', 'strategy.position_size[1]'],
    ['array.new<float>(10, na)', 'array.new<float>(10, na)'],
    ['map.new<string, array<lib.Trade>>()', 'map.new<string, array<lib.Trade>>()'],
    ['f(a < b, c > (d))', 'f((a < b), (c > d))'],
    ['a < b and c > (d)', '((a < b) and (c > d))'],
    ['plot(close, title = "C", color=#ff0000)', 'plot(close, title="C", color=#ff0000ff)'],
    ['[a, b[1]]', '[a b[1]]'],
    ["'it\\'s' + \"a\\nb\\\\\"", '("it\'s" + "a\\nb\\\\")'],
    ['"""a\n"b" """', '"a\\n\\"b\\" "'],
    ['1e3 + 1.5E-2 + 007', '((1000. + 0.015) + 7)'],
    ['#FF00007F', '#ff00007f'],
    ['true and false', '(true and false)'],
  ])
})

describe('declarations', () => {
  checkTrees([
    ['x = 1', 'x = 1'],
    ['var x = 1, varip int y = 2', 'var x = 1; varip int y = 2'],
    ['float x = na', 'float x = na'],
    ['series float x = na', 'series float x = na'],
    ['array<float> x = na', 'array<float> x = na'],
    ['float[] x = na', 'array<float> x = na'],
    ['var chart.point[] x = na', 'var array<chart.point> x = na'],
    ['map<string, my.Type> x = na', 'map<string, my.Type> x = na'],
    ['simple x = 1', 'simple x = 1'],
    ['const string title = "a"', 'const string title = "a"'],
    ['[a, _, c] = f(x)', '[a _ c] = f(x)'],
    ['a\n[b, c] = f()', 'a; [b c] = f()'],
    ['a\n[b, c]', 'a; [b c]'],
    ['x := 1\nx += 2, x -= 3\nx *= 4\nx /= 5\nx %= 6', 'x := 1; x += 2; x -= 3; x *= 4; x /= 5; x %= 6'],
    ['a.b.c := 1', 'a.b.c := 1'],
    ['f(a, b = 1, simple int c, float[] d) => a', 'f(a, b = 1, simple int c, array<float> d) => {a}'],
    ['f() =>\n    a = 1\n    a + 2\nb', 'f() => {a = 1; (a + 2)}; b'],
    ['f() => a = 1, a + 2\nb', 'f() => {a = 1; (a + 2)}; b'],
    ['f() =>\n     a +\n     b\nc', 'f() => {(a + b)}; c'],
    ['f(series x, type, to, by) => x', 'f(series x, type, to, by) => {x}'],
    ['f() => [a, b]', 'f() => {[a b]}'],
    ['f() =>\n    [a, b]', 'f() => {[a b]}'],
    [
      'method add(Trade this, int n = 1) => this.n + n',
      'method add(Trade this, int n = 1) => {(this.n + n)}',
    ],
    ['export method add(lib.T this) =>\n    this', 'export method add(lib.T this) => {this}'],
    ['export f(float x) => x', 'export f(float x) => {x}'],
    ['export const int N = 3', 'export const int N = 3'],
    [
      'export type Trade\n    float price = 0.0\n    varip int n\n    array<Trade> parts\nx',
      'export type Trade {float price = 0.; varip int n; array<Trade> parts}; x',
    ],
    ['enum Side\n    long = "Long side"\n    short\nx', 'enum Side {long = "Long side"; short}; x'],
    ['import TradingView/ta/7 as tv', 'import TradingView/ta/7 as tv'],
    ['import user_1/lib/12\nx', 'import user_1/lib/12; x'],
    ['import user/\u200blib/1\u00a0as a', 'import user/lib/1 as a'],
    ['//@version=4\nstrategy.initial_capital = 50000', 'strategy.initial_capital = 50000'],
  ])
})

describe('blocks', () => {
  checkTrees([
    ['if a\n    b\n    c\nd', 'if a {b; c}; d'],
    ['if a\n\tb\n\tif c\n\t\td\nelse\n\te', 'if a {b; if c {d}} else {e}'],
    ['if a\n    b\nelse if c\n    d\nelse\n    e', 'if a {b} else {if c {d} else {e}}'],
    ['if a\n   b := 1\nc', 'if a {b := 1}; c'],
    ['if a\n   b := 1, c := 2\nelse\n  d', 'if a {b := 1; c := 2} else {d}'],
    ['if a\n  [b, c] = f()', 'if a {[b c] = f()}'],
    ['if a and\n     b\n    c', 'if (a and b) {c}'],
    ['if a\n     and b\n    c', 'if (a and b) {c}'],
    ['if (a and\n    b)\n    c', 'if (a and b) {c}'],
    ['if a\n    // nothing\n\n    b\n// c\n    d', 'if a {b; d}'],
    ['x = if a\n    1\nelse\n    2\ny', 'x = if a {1} else {2}; y'],
    ['x := if a\n    1', 'x := if a {1}'],
    ['if a\n    if b\n        c\n    else\n        d\ne', 'if a {if b {c} else {d}}; e'],
    ['for i = 0 to 10\n    a', 'for i = 0 to 10 {a}'],
    ['for int i = n - 1 to 0 by -1\n    break', 'for int i = (n - 1) to 0 by (- 1) {break}'],
    ['for var i = 0 to 1\n    continue', 'for i = 0 to 1 {continue}'],
    ['for x in xs\n    a', 'for x in xs {a}'],
    ['for [i, x] in m.rows()\n    a', 'for [i x] in m.rows() {a}'],
    ['x = for i = 0 to 1\n    i', 'x = for i = 0 to 1 {i}'],
    ['//@version=6\nonce a < 5\n    a += 1\nb', 'once (a < 5) {a += 1}; b'],
    ['//@version=6\nonce(a) and (b)\n    a += 1', 'once (a and b) {a += 1}'],
    ['//@version=6\nonce\n    once = 1\n    once := once + 1', 'once {once = 1; once := (once + 1)}'],
    ['//@version=6\nint once = 1\nif once > 0\n    x := once', 'int once = 1; if (once > 0) {x := once}'],
    ['//@version=5\nonce(1)\n    x', 'once(1); x unexpected-indent@3:5'],
    ['//@version=6\nonce(1)\nx', 'once(1); x'],
    ['while a < 5\n    a += 1', 'while (a < 5) {a += 1}'],
    [
      'switch x\n    1 => a\n    2 =>\n        b\n        c\n    => d',
      'switch x {1 => {a}; 2 => {b; c}; => {d}}',
    ],
    ['x = switch\n    a > 1 => "b"\n    => "c"\ny', 'x = switch {(a > 1) => {"b"}; => {"c"}}; y'],
    ['switch\n    f("W") => g("W")\n    => h\n', 'switch {f("W") => {g("W")}; => {h}}'],
    [
      'switch a\n    1 => b := 1, c := 2\n    2 => if d\n        e\n',
      'switch a {1 => {b := 1; c := 2}; 2 => {if d {e}}}',
    ],
  ])
})

describe('lines', () => {
  checkTrees([
    ['a = b +\n  c', 'a = (b + c)'],
    ['a = b\n  + c\n     + d', 'a = ((b + c) + d)'],
    ['a = b\n  ? c\n  : d', 'a = (b ? c : d)'],
    ['f(\n    a,\n    b\n    )', 'f(a, b)'],
    ['f(\na,\nb)\nc', 'f(a, b); c'],
    ['strategy\n (\n x)', 'strategy(x)'],
    ['a = 1,\nb = 2', 'a = 1; b = 2'],
    ['if x\n    a = 1,\n    b = 2', 'if x {a = 1; b = 2}'],
    ['f() => 1,\nb = 2', 'f() => {1}; b = 2'],
    ['a = "one\n     two"', 'a = "one two"'],
    ['f("one\n    two", 3)', 'f("one two", 3)'],
    ['\ufeffa\r\nb\rc', 'a; b; c'],
    ['a\u00a0=\u200b1', 'a = 1'],
    ['a // b\n// c', 'a'],
    ['a = b and\n    c', 'a = (b and c) wrap-indent@2:5'],
  ])
})

describe('words that are names as well', () => {
  checkTrees([
    ['type = 1\nmethod = type\nenum = 1', 'type = 1; method = type; enum = 1'],
    [
      'to = 1, by = 2, in = 3\nfor i = to to to by by\n    in',
      'to = 1; by = 2; in = 3; for i = to to to by by {in}',
    ],
    ['export = 1, import = export, series = 2', 'export = 1; import = export; series = 2'],
    ['input(1, type=input.integer)', 'input(1, type=input.integer)'],
    ['return = 1\nreturn := return + 1', 'return = 1; return := (return + 1)'],
    ['switch = input(true)\nplot(switch ? 1 : 0)', 'switch = input(true); plot((switch ? 1 : 0))'],
    ['continue = 1\ncontinue := 2', 'continue = 1; continue := 2'],
    ['method(x) => x', 'method(x) => {x}'],
    ['type(1)', 'type(1)'],
    [
      'constructor = 1\ntoString := __proto__ + hasOwnProperty',
      'constructor = 1; toString := (__proto__ + hasOwnProperty)',
    ],
  ])
})

const DEEP = `x = ${'('.repeat(20_000)}1${')'.repeat(20_000)}`
const ERRORS: readonly (readonly [source: string, errors: string, tree?: string])[] = [
  // Operators of other languages
  ['a || b', 'wrong-operator@1:3', '(a or b)'],
  ['a && b && c', 'wrong-operator@1:3 wrong-operator@1:8', '((a and b) and c)'],
  ['x = !a', 'wrong-operator@1:5', 'x = (not a)'],
  ['if a =< b\n    c', 'wrong-operator@1:6', 'if (a <= b) {c}'],
  ['if a => b\n    c', 'expected-line-end@1:6', 'if a {c}'],
  ['if a = b\n    c', 'expected-line-end@1:6', 'if a {c}'],
  ['i++', 'expected-line-end@1:2', 'i'],
  ['a === b', 'wrong-operator@1:3', '(a == b)'],
  ['a = 1; b = 2', 'wrong-operator@1:6', 'a = 1; b = 2'],
  ['if a {\n    b\n}', 'expected-line-end@1:6 expected-expression@3:1', 'if a {b}; ?!'],
  // Values
  ['x = ', 'expected-expression@1:4', 'x = ?!'],
  ['x = \ny = 1', 'expected-expression@1:4', 'x = ?!; y = 1'],
  ['x = 1 +', 'expected-expression@1:8', 'x = (1 + ?!)'],
  ['x = * 2', 'expected-expression@1:5', 'x = ?!'],
  ['x = a ? b', 'missing-colon@1:10', 'x = (a ? b : ?!)'],
  ['x = 1 + if a\n    2', 'block-in-expression@1:9', 'x = (1 + ?!); 2'],
  ['f(a,)', 'expected-expression@1:5', 'f(a, ?!)'],
  ['f(a b)', 'missing-comma@1:5', 'f(a)'],
  ['a.', 'expected-name@1:3', 'a.'],
  // Brackets
  ['x = f(a\ny = 2', 'unclosed-bracket@1:6', 'x = f(a); y = 2'],
  ['x = (a + b\ny = 2\nz = c[1', 'unclosed-bracket@1:5 unclosed-bracket@3:6', 'x = (a + b); y = 2; z = c[1]'],
  ['x = a)', 'unopened-bracket@1:6', 'x = a'],
  ['x = f(a]\ny', 'unclosed-bracket@1:6', 'x = f(a); y'],
  ['x = f(\n    a b,\n    c)\ny = )', 'missing-comma@2:7 expected-expression@4:5', 'x = f(a); y = ?!'],
  // Literals
  ['x = "abc\ny = 1', 'unterminated-string@1:5', 'x = "abc"; y = 1'],
  ['x = """abc', 'unterminated-string@1:5', 'x = "abc"'],
  ['x = \u201cabc\u201d', 'curly-quote@1:5', 'x = "abc"'],
  ['/* a\nb */ x = 1', 'block-comment@1:1', 'x = 1'],
  ['x = 1 /* a', 'block-comment@1:7', 'x = 1'],
  ['x = 12abc', 'malformed-number@1:5', 'x = 12'],
  ['x = #12', 'malformed-color@1:5', 'x = #00000012'],
  ['x = 1 @ 2', 'unknown-character@1:7 expected-line-end@1:9', 'x = 1'],
  // Lines and blocks
  ['if a\n  b := 1\n  c := 2\nd', 'indent-width@3:3', 'if a {b := 1; c := 2}; d'],
  [
    'f(x) =>\n  a = 1\n  if a\n    b\n  a + x\ny',
    'indent-width@3:3',
    'f(x) => {a = 1; if a {b}; (a + x)}; y',
  ],
  ['if a\n  if b\n    c\n  else\n    d\ne', 'indent-width@4:3', 'if a {if b {c} else {d}}; e'],
  ['if a\nb', 'missing-body@1:5', 'if a {}; b'],
  ['if a', 'missing-body@1:5', 'if a {}'],
  ['if a\n    b\nelse\nc', 'missing-body@3:5', 'if a {b} else {}; c'],
  ['f() =>\n', 'missing-body@1:7', 'f() => {}'],
  ['switch x\ny', 'missing-body@1:9', 'switch x {}; y'],
  ['if a b := 1', 'body-on-new-line@1:6', 'if a {b := 1}'],
  ['if a\n    b\nelse c', 'body-on-new-line@3:6', 'if a {b} else {c}'],
  ['else\n    a', 'misplaced-else@1:1', '?!; a'],
  ['else if a\n    b\nc', 'misplaced-else@1:1', '?!; b; c'],
  ['if a\n    b\n    else\n        c', 'misplaced-else@3:5', 'if a {b; ?!; c}'],
  ['    a', 'unexpected-indent@1:5', 'a'],
  ['a\n    + b\nc', 'wrap-indent@2:5', 'a; c'],
  ['if a\n  \tb', 'mixed-indent@2:1', 'if a {b}'],
  // Tabs after four spaces leave no doubt, and a line without anything on it is none.
  ['if a\n\tif b\n    \tc', '', 'if a {if b {c}}'],
  ['if a\n  \t\n  \t// c\n    b', '', 'if a {b}'],
  // Declarations
  ['f(x)\n    x', 'unexpected-indent@2:5', 'f(x); x'],
  ['f(x) = x * 2', 'not-a-declaration@1:6', 'f(x) := (x * 2)'],
  ['export f(x)\n    x', 'missing-arrow@1:12', 'export f(x) => {x}'],
  ['//@version=6\na.b = 1', 'not-a-declaration@2:5', 'a.b := 1'],
  ['export if a\n    b', 'not-exportable@1:8', '?!; b'],
  ['import user/lib', 'malformed-import@1:8', 'import //0'],
  ['type T\n    = 1\n    int x', 'expected-type@2:5', 'type T { ; int x}'],
  ['for i 0 to 10\n    a', 'expected-token@1:7', 'for i = ?! to ?! {a}'],
  ['switch x\n    1 -> a\n    2 => b', 'expected-expression@2:8', 'switch x {2 => {b}}'],
  ['f() =>\n    return a', 'no-return@2:5', 'f() => {a}'],
  ['f(1) => x', 'expected-name@1:3', 'f() => {}'],
  ['int x\ny = x', 'expected-token@1:6', 'int x = ?!; y = x'],
  ['float x, y = 1', 'expected-token@1:8', 'float x = ?!; y = 1'],
  ['a = 1\n  b = 2\n  c = 3\nd', 'indent-width@2:3', 'a = 1; b = 2; c = 3; d'],
  ['if a\n    b\n  else\n    c', 'misplaced-else@3:3', 'if a {b; c}'],
  ['a\n    b\n    c\nd', 'unexpected-indent@2:5', 'a; b; c; d'],
  ['elif a\n    b\n    c', 'expected-line-end@1:6', 'elif; b; c'],
  ['a constructor b', 'expected-line-end@1:3', 'a'],
  ['var = 1', 'expected-name@1:1', ' = ?!'],
]

describe('errors', () => {
  for (const [source, errors, tree] of ERRORS) {
    test(JSON.stringify(source), () => {
      const { script } = parse(source)
      expect([errorsOf(source), scriptText(script)]).toEqual([errors, tree ?? ''])
    })
  }
})

test('every syntax message is shown by an error of the tables', () => {
  const shown = new Set(
    [...ERRORS.map(([source]) => source), DEEP, 'a\n    + b'].flatMap((source) =>
      parse(source).diagnostics.map(({ code }) => code),
    ),
  )
  const codes = Object.values(messages).map(
    (message) => (message as (...texts: string[]) => { code: string })('', '', '').code,
  )
  expect(codes.filter((code) => !shown.has(code))).toEqual([])
})

describe('depth', () => {
  const deep: readonly (readonly [what: string, source: string, code?: string])[] = [
    ['parentheses', DEEP],
    ['open parentheses', '('.repeat(20_000)],
    ['brackets', `${'a['.repeat(20_000)}1`],
    ['calls', 'f('.repeat(20_000)],
    ['calls of calls', `f${'()'.repeat(20_000)}`],
    ['members', `a${'.b'.repeat(20_000)}`],
    ['sums', `a${'+a'.repeat(20_000)}`],
    ['signs', `${'-'.repeat(1)}${' -'.repeat(20_000)}a`],
    ['not', `${'not '.repeat(20_000)}a`],
    ['ternaries', `a${' ? b : a'.repeat(20_000)}`],
    ['tests of ternaries', `${'a ? '.repeat(20_000)}b`],
    ['else if', `if a\n    b\n${'else if a\n    b\n'.repeat(20_000)}`],
    ['blocks', Array.from({ length: 2000 }, (_, i) => `${'    '.repeat(i)}if a`).join('\n')],
    ['two-space blocks', Array.from({ length: 2000 }, (_, i) => `${'  '.repeat(i)}if a`).join('\n')],
    ['functions in functions', 'f() => '.repeat(20_000)],
    ['generics', 'a<'.repeat(20_000)],
    ['types', `${'array<'.repeat(20_000)}int${'>'.repeat(20_000)} x = 1`],
    ['if after if', 'if a '.repeat(20_000)],
    ['switch in switch', `switch${'\n    a => switch'.repeat(2000)}`, 'missing-body'],
  ]
  for (const [what, source, code = 'too-deep'] of deep) {
    test(`${what} nested without end are refused`, () => {
      const { script, diagnostics } = parse(source)
      expect(diagnostics.some(({ severity }) => severity === 'error')).toBe(true)
      expect(diagnostics.some((one) => one.code === code)).toBe(true)
      expect(() => scriptText(script)).not.toThrow()
    })
  }
})
