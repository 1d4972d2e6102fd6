// What the checker makes of a script: source → program, and source → mistakes, in tables.

import { describe, expect, test } from 'bun:test'
import { parse } from '../../src/language/1-parse/parser.ts'
import { checkBroken } from '../../src/language/2-check/broken.ts'
import { check } from '../../src/language/2-check/check.ts'
import type { CheckOptions } from '../../src/language/2-check/place.ts'
import { compile } from '../../src/language/compile.ts'
import { Source } from '../../src/language/source.ts'
import { programText } from './program-text.ts'

const LIBRARIES: Readonly<Record<string, string>> = {
  'me/Tools/1': `//@version=6
library("Tools")
int LENGTH = 14
export const float RATIO = 0.5
export enum Side
    up = "Up"
    down
export type Trade
    float price = 1.0
    int bars
hidden(float x) => x * 2
export double(float x) => hidden(x)
export average(float x) => ta.sma(x, LENGTH)
export bars(int n) => n * 2
export method value(Trade this) => this.price * this.bars
`,
  'me/Types/1': `//@version=6
library("Types")
type Inner
    float price = 1.0
export value(float x) => Inner.new(x).price
`,
  'me/Late/1': `//@version=6
library("Late")
export f(float x) => x + nothing
`,
  'me/Broken/1': `//@version=6
library("Broken")
export f(float x) => x
type T
    flaot x
`,
}

const OPTIONS: CheckOptions = {
  library: (user, library, version) => LIBRARIES[`${user}/${library}/${version}`] ?? null,
}

function checked(source: string): string {
  const { script, diagnostics } = parse(source)
  const result = check(script, OPTIONS)
  const lines = new Source(source)
  const found = [...diagnostics, ...result.diagnostics].map(({ code, start }) => {
    const { line, column } = lines.position(start)
    // The first two lines say version and kind.
    return `${code}@${line - 2}:${column}`
  })
  return [...(result.program === null ? [] : [programText(result.program)]), ...found].join(' ! ')
}

function rows(version: number, table: readonly (readonly [source: string, expected: string])[]): void {
  const kind = version === 4 ? 'study' : 'indicator'
  for (const [source, expected] of table) {
    test(source, () => {
      expect(checked(`//@version=${version}\n${kind}("")\n${source}`)).toBe(expected)
    })
  }
}

function strategyRows(
  version: number,
  table: readonly (readonly [source: string, expected: string])[],
): void {
  for (const [source, expected] of table) {
    test(`v${version}: ${source}`, () => {
      expect(checked(`//@version=${version}\nstrategy("")\n${source}`)).toBe(expected)
    })
  }
}

describe('variables', () => {
  rows(6, [
    ['x = 1', 'const int x = 1'],
    ['x = close', 'series float x = close'],
    ['float x = 1', 'const float x = 1'],
    ['float x = na', 'const float x = na:float'],
    ['var x = 0.0\nx := close', 'var series float x = 0; x := close'],
    ['int x = 1\nx += 2', 'simple int x = 1; x := (x + 2)'],
    ['x = close\ny = x[1]', 'series float x! = close; series float y = x[1]'],
    ['x = 1\nif true\n    x = 2.5', 'const int x = 1; if true {const float x = 2.5} ! shadowed@3:5'],
    ['close = 5\ny = close', 'const int close = 5; const int y = close'],
    [
      '[a, _, c] = ta.macd(close, 12, 26, 9)',
      '[series float a, _, series float c] = ta.macd(close, 12, 26, 9)',
    ],
    ['array<float> a = na', 'const array<float> a = na:array<float>'],
    ['a = array.new<int>(3, 0)', 'series array<int> a = array.new(3, 0)'],
    ['a = array.from(1, 2.5)', 'series array<float> a = array.from(1, 2.5)'],
    ['m = map.new<string, float>()', 'series map<string, float> m = map.new(na:string, na:float)'],
  ])
})

describe('values and qualifiers', () => {
  rows(6, [
    ['x = 1 + 2 * 3.0', 'const float x = (1 + (2 * 3))'],
    ['x = 7 / 2', 'const float x = (7 / 2)'],
    ['x = "a" + "b"', 'const string x = ("a" + "b")'],
    ['x = close > open and not na(volume)', 'series bool x = ((close > open) and (not na(volume)))'],
    ['x = close > open ? 1 : 2.5', 'series float x = ((close > open) ? 1 : 2.5)'],
    ['string x = close > open ? na : na', 'series string x = ((close > open) ? na:string : na:string)'],
    [
      '[a, b] = if close > open\n    [1, "a"]\nelse\n    [na, na]',
      '[series int a, series string b] = if (close > open) {[1, "a"]} else {[na:int, na:string]}',
    ],
    ['x = close > open ? close : na', 'series float x = ((close > open) ? close : na:float)'],
    ['x = input.int(5)\ny = x * 2', 'input int x = input#0; input int y = (x * 2)'],
    ['x = math.max(1, 2)', 'const int x = math.max(1, 2)'],
    ['x = -3', 'const int x = -3'],
    // A source is chosen among floats, whatever its default is.
    ['x = input.source(bar_index)', 'series float x = input#0'],
    ['x = -close', 'series float x = (- close)'],
    ['x = +close', 'series float x = close'],
    ['x = ta.wma(close, 9 / 2)', 'series float x = ta.wma(close, int<-(9 / 2))'],
    ['x = if close > open\n    1', 'series int x = if (close > open) {1} else {na:int}'],
    ['x = if close > open\n    true', 'series bool x = if (close > open) {true} else {false}'],
    [
      'x = switch input.string("a")\n    "a" => 1\n    => 2.0',
      'input float x = switch input#0 {"a" => {1}, => {2}}',
    ],
    [
      's = 0.0\nfor i = 0 to 9\n    if i > 5\n        break\n    s += close[i]',
      'series float s = 0; for int i = 0 to 9 {if (i > 5) {break}; s := (s + close[i])}',
    ],
    ['x = for i = 0 to 3\n    i * 2.0', 'series float x = for int i = 0 to 3 {(i * 2)}'],
    [
      'a = array.from(1.5)\nfor [i, v] in a\n    a.set(i, v + 1)',
      'series array<float> a = array.from(1.5); for [int i, float v] in a {array.set(a, i, (v + 1))}',
    ],
  ])
})

describe('a variable may be named as a name space is', () => {
  rows(6, [
    [
      'array = array.from(1, 2)\narray.push(3)\narray.push(array, 4)\nx = array.max(array)',
      'series array<int> array = array.from(1, 2); array.push(array, 3); array.push(array, 4); series int x = array.max(array, 0)',
    ],
    ['math = 5\nx = math.max(1, math)', 'const int math = 5; const int x = math.max(1, math)'],
    ['ta = close\nx = ta.sma(ta, 5)', 'series float ta = close; series float x = ta.sma(ta, 5)'],
  ])
})

describe('a length is judged line by line', () => {
  test.each([
    'l = 2\nl := input.int(5)\nx = ta.ema(close, l)',
    'float l = 2\nl := math.round(l * syminfo.mintick)\nx = ta.ema(close, math.round(l))',
    'l = 2\nif input.bool(true)\n    l := 3\nx = ta.ema(close, l)',
    'l = 2\nif timeframe.isdaily\n    l := str.length(syminfo.ticker)\nx = ta.ema(close, l)',
    'var l = 2\nl += 1\nx = ta.ema(close, l)',
    'if close > open\n    l = 2\n    l := 3\n    x = ta.ema(close, l)',
    'float x = 14\nx := ta.atr(math.round(x))',
    'l = 2\nx = ta.ema(close, l)\nl := bar_index',
  ])('%s', (text) => {
    const { diagnostics } = check(parse(`//@version=6\nindicator("")\n${text}`).script)
    expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([])
  })
})

describe('functions', () => {
  rows(6, [
    [
      'f(x) => x + 1\na = f(1)\nb = f(close)',
      'f(const int x) => int {(x + 1)}; f(series float x) => float {(x + 1)}; const int a = f(1); series float b = f(close)',
    ],
    [
      'f(float x, int n = 3) => x / n\ny = f(n = 2, x = 4)',
      'f(const float x, const int n) => float {(x / n)}; const float y = f(4, 2)',
    ],
    [
      'f(x) =>\n    y = x * 2\n    [y, x > 0]\n[a, b] = f(close)',
      'f(series float x) => [float, bool] {series float y = (x * 2); [y, (x > 0)]}; [series float a, series bool b] = f(close)',
    ],
    [
      'f() =>\n    var n = 0\n    n += 1\ny = f()',
      'f() => int {var simple int n = 0; n := (n + 1); n}; simple int y = f()',
    ],
    [
      'f(int x) => 1\nf(string x) => 2.5\ny = f("a")',
      'f(const string x) => float {2.5}; const float y = f("a")',
    ],
    [
      'method twice(float this) => this * 2\ny = close.twice()\nz = twice(1)',
      'twice(series float this) => float {(this * 2)}; twice(const float this) => float {(this * 2)}; series float y = twice(close); const float z = twice(1)',
    ],
    ['rsi(x) => x\ny = rsi(close)', 'rsi(series float x) => float {x}; series float y = rsi(close)'],
  ])
})

describe('types, enums and methods', () => {
  rows(6, [
    [
      'type P\n    float x = 1.0\n    int n\np = P.new(n = 3)\np.x := 5\nq = p.copy()\ny = p.x',
      'series P p = P.new(1, 3); p.x := 5; series P q = copy(p); series float y = p.x',
    ],
    ['type P\n    float x\nvar P p = na\ny = (p[1]).x', 'var const P p! = na:P; series float y = p[1].x'],
    [
      'type N\n    N next\n    array<N> all\nn = N.new()\nm = n.next.all',
      'series N n = N.new(na:N, na:array<N>); series array<N> m = n.next.all',
    ],
    [
      'type P\n    float x\nmethod grow(P this, float by) =>\n    this.x += by\n    this\np = P.new(1).grow(2)',
      'grow(series P this, const float by) => P {this.x := (this.x + by); this}; series P p = grow(P.new(1), 2)',
    ],
    ['enum S\n    a = "A"\n    b\nx = S.a == S.b', 'const bool x = (S.a == S.b)'],
    [
      'a = array.new<float>()\na.push(close)\ny = a.avg()',
      'series array<float> a = array.new(0, na:float); array.push(a, close); series float y = array.avg(a)',
    ],
  ])
})

describe('libraries', () => {
  rows(6, [
    [
      'import me/Tools/1\ny = Tools.double(close)',
      'Tools.hidden(series float x) => float {(x * 2)}; Tools.double(series float x) => float {Tools.hidden(x)}; series float y = Tools.double(close)',
    ],
    [
      'import me/Tools/1 as t\ny = t.average(close)',
      't.average(series float x) => float {ta.sma(x, LENGTH)}; const int LENGTH = 14; series float y = t.average(close)',
    ],
    [
      'import me/Tools/1 as t\nt.Trade p = t.Trade.new(bars = 2)\ny = p.value()\ns = t.Side.up\nr = t.RATIO',
      't.value(series t.Trade this) => float {(this.price * this.bars)}; const float RATIO = 0.5; series t.Trade p = t.Trade.new(1, 2); series float y = t.value(p); const t.Side s = t.Side.up; const float r = RATIO',
    ],
    ['import me/Tools/1 as t\ny = t.hidden(close)', 'not-exported@2:5'],
    // A library's result is simple at least.
    ['import me/Tools/1 as t\nplot(close, show_last = t.bars(5))', 'argument-qualifier@2:25'],
    ['import me/Tools/2', 'library-not-found@1:1'],
    ['import me/Gone/1\nGone.T t = Gone.f(close)\nx = t.y + Gone.Z', 'library-not-found@1:1'],
    ['import me/Broken/1', 'library-broken@1:1'],
    ['import me/Late/1\nx = Late.f(close)', 'library-broken@1:1'],
  ])
})

describe('versions 4 and 5', () => {
  rows(4, [
    ['bgcolor(color.red)', 'bgcolor(·veiled(#ff5252ff, 90), 0, true, _, "", 31, false)'],
    ['bgcolor(color.red, transp=20)', 'bgcolor(color.new(#ff5252ff, 20), 0, true, _, "", 31, false)'],
  ])
  rows(4, [
    ['x = sma(close, 5)', 'series float x = ta.sma(close, 5)'],
    ['rsi = rsi(close, 14)\ny = rsi', 'series float rsi = ta.rsi(close, 14); series float y = rsi'],
    ['n1 = n\nc = lime', 'series int n1 = bar_index; const color c = #00e676ff'],
    ['x = iff(close > open, 1, 2)', 'series int x = ·iff((close > open), 1, 2)'],
    ['x = offset(close, 2)', 'series float x = close[2]'],
    ['x = input(5, "Length", type=input.integer, minval=1)', 'input int x = input#0'],
    ['x = tostring(close)', 'series string x = str.tostring(close, "#.##########")'],
    ['x = close ? 1 : 0', 'series int x = (bool<-close ? 1 : 0)'],
    ['x = 7 / 2', 'const int x = int<-(7 / 2)'],
    ['bool b = na', 'const bool b = na:bool'],
    ['bool d = strategy.long', 'const bool d = true'],
    ['d = close > open ? strategy.long : false', 'series bool d = ((close > open) ? true : false)'],
  ])
  for (const call of [
    'hline(5, linestyle = 2)',
    'hline(5, "", color.blue, 2)',
    'plot(close, "", color.red, 1, 2)',
  ])
    test(call, () => expect(checked(`//@version=4\nstudy("")\n${call}`)).toMatch(/"dashed"|"histogram"/))
  strategyRows(4, [
    [
      'strategy.entry("L", true, when = close > open)',
      'if (close > open) {strategy.entry("L", "long", na:float, na:float, na:float, na:string, "none", na:string, na:string, false)}',
    ],
    [
      'strategy.entry("L", strategy.short)',
      'strategy.entry("L", "short", na:float, na:float, na:float, na:string, "none", na:string, na:string, false)',
    ],
    [
      'strategy.close("L", close > open)',
      'if (close > open) {strategy.close("L", na:string, na:float, na:float, na:string, false, false)}',
    ],
  ])
})

describe('version 5', () => {
  strategyRows(5, [
    [
      'strategy.close("L", close > open, "c")',
      'if (close > open) {strategy.close("L", "c", na:float, na:float, na:string, false, false)}',
    ],
    ['strategy.cancel("L", close > open)', 'if (close > open) {strategy.cancel("L")}'],
  ])
  strategyRows(6, [
    ['strategy.close("L", close > open, "c")', 'argument-type@1:21'],
    ['strategy.cancel("L", close > open)', 'too-many-arguments@1:22'],
  ])
})

test('Heikin Ashi is known by the spelling of the first versions', () => {
  const source = '//@version=4\nstudy("")\nplot(security(heikenashi(tickerid), period, close))'
  expect(checked(source)).not.toContain('undeclared-function')
})

describe('mistakes', () => {
  rows(6, [
    ['x = clsoe', 'undeclared-name@1:5'],
    ['x = foo(1)', 'undeclared-function@1:5'],
    // What a collection holds is of one type, and no int becomes a string in it.
    ['x = array.concat(array.from(1, 2), array.from("a"))', 'argument-type@1:36'],
    ['x = sma(close, 5)', 'renamed@1:5'],
    ['f(x) => x\ny = f', 'not-a-value@2:5'],
    ['x = 1\ny = x(2)', 'not-a-function@2:5'],
    ['x = ta.smaa(close, 5)', 'unknown-member@1:5'],
    ['x = color.bleu', 'unknown-member@1:5'],
    ['x = y\ny = 1', 'used-before-declaration@1:5'],
    ['y = f(1)\nf(x) => f2(x)\nf2(x) => x', 'used-before-declaration@1:5 ! used-before-declaration@2:9'],
    ['x = 1\nx = 2', 'already-declared@2:1'],
    ['x := 1', 'assigned-undeclared@1:1'],
    ['f(x) => 1\nf(y) => 2', 'function-twice@2:1'],
    ['type T\n    int x\ntype T\n    int y', 'type-twice@3:6'],
    ['flaot x = 1', 'unknown-type@1:1'],
    ['map<int> x = na', 'type-argument-count@1:1'],
    ['f(x) => f(x)\ny = f(1)', 'recursion@1:9'],
    ['int x = "a"', 'type-mismatch@1:9'],
    ['x = 1\nx := "a"', 'type-mismatch@2:6'],
    ['type T\n    int a\nt = T.new()\nt.a := "x"', 'type-mismatch@4:8'],
    ['x = na', 'na-without-type@1:1'],
    ['simple int x = bar_index', 'declared-qualifier@1:16'],
    ['simple float x = 5.0\nx := close', 'declared-qualifier@2:6'],
    ['l = 2\nif close > open\n    l := 3\nx = ta.ema(close, l)', 'argument-qualifier@4:19'],
    ['l = 2\nl := bar_index\nx = ta.ema(close, l)', 'argument-qualifier@3:19'],
    ['for l = 1 to bar_index\n    x = ta.ema(close, l)', 'argument-qualifier@2:23'],
    ['l = 2\nfor i = 1 to bar_index\n    l += 1\nx = ta.ema(close, l)', 'argument-qualifier@4:19'],
    ['l = 2\nswitch\n    close > open => l := 3\nx = ta.ema(close, l)', 'argument-qualifier@4:19'],
    ['l = 2\nwhile close > open and l < 5\n    l += 1\nx = ta.ema(close, l)', 'argument-qualifier@4:19'],
    [
      'if close > open\n    l = 2\n    if close > high\n        l := 3\n    x = ta.ema(close, l)',
      'argument-qualifier@5:23',
    ],
    ['const x = close', 'declared-qualifier@1:11'],
    ['method f(x) => x', 'method-of-nothing@1:10'],
    ['type T\n    float x\nt = T.new(close)\ny = t.x[1]', 'no-field-history@4:5'],
    ['a = array.from(1)\nx = a[1].size()', 'past-without-parentheses@2:10'],
    ['type T\n    int n\nt = T.new(1)\nx = t[1].n', 'past-without-parentheses@4:10'],
    ['a = array.from(1)\nx = a != a', 'compares-objects@2:5'],
    ['x = str.format("{0}", #ffffff)', 'not-writable@1:23'],
    ['x = request.security("A", "D", plot(close))', 'argument-type@1:32'],
    ['type T\n    int x\n    int x', 'declared-twice@3:9'],
    ['enum E\n    a\n    a', 'declared-twice@3:5'],
    ['f(x, x) => x', 'declared-twice@1:6'],
    ['export f(float x) => x', 'export-outside-library@1:1'],
    ['map<array<int>, int> m = na', 'map-key@1:1'],
    ['x = "a" > "b"', 'operand-types@1:5'],
    ['x = math.max()', 'missing-argument@1:5'],
    ['x = input.int(5, minval = "a")', 'argument-type@1:27'],
    ['for i j = 0 to 2\n    x = j', 'unknown-type@1:5'],
    ['for string j = 0 to 2\n    x = j', 'not-a-number@1:5'],
    ['f(simple int n) => n\nx = f(bar_index)', 'argument-qualifier@2:7'],
    ['x = 5[1]', 'no-history@1:5'],
    ['x = True', 'undeclared-name@1:5'],
    ['bool x = na', 'na-bool@1:10'],
    ['f(x) =>\n    g(y) => y\n    x', 'declared-inside@2:5'],
    ['for i = 0 to 2\n    x = request.security("", "D", close + i)', 'loop-in-request@2:35'],
    [
      'for [i, s] in array.from("A")\n    y = i * 2\n    x = request.security(s, "D", close + y)',
      'loop-in-request@3:34',
    ],
    ['const int x = 5\nx := 6', 'const-assigned@2:1'],
    ['const array<int> x = array.from(1)\nx := array.from(2)', 'const-assigned@2:1'],
    ['f(x) =>\n    x := 2\n    x\ny = f(1)', 'parameter-assigned@2:5'],
    ['x = once close > open\n    1', 'void-value@1:5'],
    ['f() =>\n    once\n        1\nx = f()', 'void-value@4:5'],
    ['once close\n    x = 1', 'not-a-bool@1:6'],
    ['once\n    plot(close)', 'not-in-local-scope@2:5'],
    ['x = nz(close > open)', 'bool-never-na@1:8'],
    ['plot(close, offset = bar_index)', 'argument-qualifier@1:22'],
    ['x = bgcolor(color.red)', 'void-value@1:5'],
    ['x = ta.macd(close, 1, 2, 3)\ny = x', 'tuple-unused@1:1 ! tuple-value@2:5'],
    ['x = ta.macd(close, 1, 2, 3)\n[a, b, c] = x', 'tuple-unused@1:1 ! tuple-value@2:13'],
    ['f() =>\n    x = ta.macd(close, 1, 2, 3)\ny = f()', 'tuple-unused@2:5 ! tuple-value@2:5'],
    ['float x = ta.macd(close, 1, 2, 3)', 'tuple-value@1:11'],
    ['[a, b] = close', 'not-a-tuple@1:10'],
    ['[a, b] = ta.macd(close, 1, 2, 3)', 'tuple-count@1:1'],
    ['x = "a" * 2', 'operand-types@1:5'],
    ['x = -"a"', 'operand-type@1:5'],
    ['if close\n    x = 1', 'not-a-bool@1:4'],
    ['x = close > open ? 1 : "a"', 'branch-types@1:5'],
    ['x = if true\n    1\nelse\n    "a"', 'branch-types@1:5'],
    ['for i = "a" to 5\n    x = i', 'not-a-number@1:9'],
    ['for x in 5\n    y = x', 'not-a-collection@1:10'],
    ['m = map.new<string, int>()\nfor x in m\n    y = x', 'map-needs-both@2:5'],
    ['x = log.info("a")[1]', 'no-history@1:5'],
    ['x = close\ny = x.foo', 'not-an-object@2:7'],
    ['1 := 2', 'not-assignable@1:1'],
    ['a = array.new<int>()\na.psh(1)', 'no-method@2:3'],
    ['x = 1\nf() =>\n    x := 2\n    x\ny = f()', 'global-from-function@3:5'],
    ['break', 'jump-outside-loop@1:1'],
    ['x = ta.sma(close, lenght = 5)', 'unknown-argument@1:28'],
    ['x = ta.sma(close)', 'missing-argument@1:5'],
    ['x = ta.sma(close, 5, 6)', 'too-many-arguments@1:22'],
    ['x = ta.sma(close, 5, length = 6)', 'duplicate-argument@1:31'],
    ['x = ta.sma(source = close, 5)', 'positional-after-named@1:28'],
    ['x = ta.sma(close, "a")', 'argument-type@1:19'],
    ['x = ta.ema(close, bar_index)', 'argument-qualifier@1:19'],
    ['plot(close, str.tostring(close))', 'argument-qualifier@1:13'],
    ['indicator("again")', 'declaration-twice@1:1'],
    ['if true\n    plot(close)', 'not-in-local-scope@2:5'],
    ['strategy.close_all()', 'strategy-only@1:1'],
    ['strategy.risk.allow_entry_in(strategy.direction.long)', 'strategy-only@1:1'],
    ['x = input.int(5, str.tostring(close))', 'not-constant@1:18'],
    ['x = input.float(syminfo.mintick)', 'not-constant@1:17'],
    ['x = input.time(timestamp("soon"))', 'constant-refused@1:16'],
    ['x = input.int(5, mnival = 1)', 'unknown-argument@1:18'],
    ['type T\n    int x\nt = T.new(y = 1)', 'unknown-argument@3:15'],
    ['enum E\n    a\nx = E.b', 'unknown-member@3:5'],
    [
      'x = request.financial("A", "B", "C")',
      'series float x = request.financial("A", "B", "C", false, false) ! no-data-source@1:5',
    ],
    ['x = foo + bar\ny = baz', 'undeclared-name@1:5 ! undeclared-name@1:11 ! undeclared-name@2:5'],
    ['f(x) => x + foo\na = f(1)\nb = f(1.5)', 'undeclared-name@1:13'],
    ['f(x) => x + foo', 'undeclared-name@1:13'],
    ['x = foo\nfoo := 2\ny = foo.bar(1)', 'undeclared-name@1:5'],
    ['l = label.new(bar_index, close)\nlabel.set_x(l, clsoe)', 'undeclared-name@2:16'],
  ])

  test('plots up to 64 counts, colours that change among them', () => {
    const plots = (count: number): string =>
      `//@version=6\nindicator("")\n${'plot(close, color = close > open ? color.red : color.blue)\n'.repeat(count)}`
    const codes = (source: string): string[] => check(parse(source).script).diagnostics.map((one) => one.code)
    expect(codes(plots(32))).toEqual([])
    expect(codes(plots(34))).toEqual(['not-on-tradingview'])
    expect(codes(`${plots(31)}fill(plot(open), plot(high))\nbgcolor(close > open ? color.red : na)`)).toEqual(
      ['not-on-tradingview'],
    )
  })

  test('more than 127 elements of tuples in all requests', () => {
    const request = (name: string, count: number): string => {
      const items = Array.from({ length: count }, (_, i) => `${name}${i}`)
      return `[${items.join(', ')}] = request.security("A", "D", [${items.map(() => 'close').join(', ')}])`
    }
    const found = (second: number): unknown =>
      check(parse(`//@version=6\nindicator("")\n${request('a', 100)}\n${request('b', second)}`).script)
        .diagnostics[0]?.code
    expect(found(27)).toBeUndefined()
    expect(found(28)).toBe('not-on-tradingview')
  })

  test('more than 1,000 variables in one scope', () => {
    const variables = (count: number): string =>
      Array.from({ length: count }, (_, i) => `v${i} = ${i}`).join('\n')
    const found = (count: number): unknown =>
      check(parse(`//@version=6\nindicator("")\n${variables(count)}`).script).diagnostics[0]?.code
    expect(found(1000)).toBeUndefined()
    expect(found(1001)).toBe('not-on-tradingview')
  })

  test('a library’s function whose parameters have no type', () => {
    const source = '//@version=6\nlibrary("L")\nexport f(x, float y) => x + y'
    expect(check(parse(source).script).diagnostics.map((one) => one.code)).toEqual(['export-untyped'])
  })

  for (const [text, expected] of [
    ['export f(float x) => x + LENGTH', []],
    ['atr = ta.atr(14)\nexport f(float x) => x + atr', []],
    ['n = input.int(5)\nexport f(float x) => x + n', ['global-in-export']],
    ['var n = 0\nn += 1\nexport f(float x) => x + n', ['global-in-export']],
    ['var all = array.new<float>()\nexport f(float x) => all.size() + x', ['global-in-export']],
    ['export f(float x) => x + input.int(5)', ['input-in-export']],
    ['hidden(x) => x + input.int(5)\nexport f(float x) => hidden(x)', []],
    ['export f(string tf) => request.security("", tf, close)', []],
    ['export f(float x) => request.security("", "D", x + 1)', ['parameter-in-exported-request']],
    ['type T\n    int a\nexport f(T t) => t.a', ['type-not-exported']],
    ['type T\n    int a\nexport f(int x) => array.new<T>(x)', ['type-not-exported']],
    ['enum E\n    a\nexport type T\n    E e', ['type-not-exported']],
    ['type T\n    int a\nexport f(int x) =>\n    t = T.new(x)\n    t.a', []],
    ['f(int x) => x', ['nothing-exported']],
  ] as const)
    test(`library: ${text}`, () => {
      const source = `//@version=6\nlibrary("L")\nint LENGTH = 14\n${text}`
      expect(check(parse(source).script).diagnostics.map((one) => one.code)).toEqual([...expected])
    })

  test('more than 64 different calls of request.*()', () => {
    const found = (count: number, call: (i: number) => string): readonly string[] => {
      const calls = Array.from({ length: count }, (_, i) => `x${i} = ${call(i)}`).join('\n')
      const { script } = parse(`//@version=6\nindicator("")\n${calls}`)
      return check(script).diagnostics.map((one) => one.code)
    }
    const daily = (i: number): string => `request.security("S${i}", "D", close)`
    expect(found(64, daily)).toEqual([])
    expect(found(66, daily)).toEqual(['not-on-tradingview'])
    expect(found(66, () => daily(1))).toEqual([])
    expect(found(66, (i) => `request.security(syminfo.tickerid, "D", close[${i}])`)).toEqual([])
    expect(found(66, (i) => `close > open ? ${daily(i)} : 1`)).toEqual([])
  })

  test('a script that does not say what it is', () => {
    expect(checked('//@version=6\n\nx = 1')).toBe('no-declaration@-1:1')
  })
})

test('functions call one another 500 deep and no deeper', () => {
  const chain = (count: number): string =>
    Array.from({ length: count }, (_, i) => (i === 0 ? 'f0(x) => x' : `f${i}(x) => f${i - 1}(x) + 1`)).join(
      '\n',
    )
  const found = (count: number): string | undefined =>
    check(parse(`//@version=6\nindicator("")\n${chain(count)}\ny = f${count - 1}(1)`).script).diagnostics[0]
      ?.code
  expect(found(500)).toBeUndefined()
  expect(found(501)).toBe('too-many-calls')
})

describe('a script with broken text has its other mistakes told, but not what may come of the broken lines', () => {
  test.each([
    ['x = = 1\ny = x + 1\nw = ta.sma(close, "a")', 'expected-expression@1 argument-type@3'],
    ['x = = 1\ny = z', 'expected-expression@1 undeclared-name@2'],
    ['f(float float a, int n) =>\n    a + n\nx = f(1, 2)', 'missing-comma@1'],
    [
      'f(float float a, int n) =>\n    a + n\nx = f(1, 2)\ny = ta.smaa(close, 5)',
      'missing-comma@1 unknown-member@4',
    ],
    ['x = 1 || 2\nplot(x)', 'wrong-operator@1'],
    ['x = (1 + 2\ny = 3\nplot(y + z)', 'unclosed-bracket@1'],
    ['f(x) = x * 2', 'not-a-declaration@1'],
    ['x = ta.sma(close 5)', 'missing-comma@1'],
    ['x = true && close > 1 // a note on foo\ny = foo', 'wrong-operator@1 undeclared-name@2'],
  ])('%s', (body, expected) => {
    const source = `//@version=6\nindicator("")\n${body}`
    const { script, diagnostics } = parse(source)
    const lines = new Source(source)
    const found = [...diagnostics, ...checkBroken(script, source, diagnostics)]
    // The first two lines say version and kind.
    expect(found.map((one) => `${one.code}@${lines.position(one.start).line - 2}`).join(' ')).toBe(expected)
  })
})

describe('warnings', () => {
  const warnings = (source: string): string => {
    const { diagnostics } = check(parse(`//@version=6\nindicator("")\n${source}`).script)
    return diagnostics.map((one) => `${one.severity} ${one.code}`).join(', ')
  }

  test.each([
    ['x = 1\nif close > open\n    x = 2', 'warning shadowed'],
    ['x = 1\nf() =>\n    x = 2\n    x\ny = f()', ''],
    ['x = close == na', 'error compared-with-na'],
    ['x = close > open ? ta.sma(close, 5) : na', 'warning conditional-call'],
    ['x = close > open and ta.rising(close, 5)', 'warning conditional-call'],
    ['if close > open\n    x = ta.sma(close, 5)', 'warning conditional-call'],
    ['x = ta.sma(close, 5)', ''],
    ['f(y) => y[1]\nx = close > open ? f(close) : 0', 'warning conditional-call'],
    ['f(y) => ta.ema(y, 5)\ng(y) => f(y)\nif close > open\n    x = g(close)', 'warning conditional-call'],
    ['f(y) => y + close[1]\nx = close > open ? f(close) : 0', ''],
    ['plot(close, linewith = 2)', 'error unknown-argument'],
    ['plot(close, color = color.red, color = color.blue)', 'error duplicate-argument'],
    ['plot(close, linewidth = 1 - 1)', 'error out-of-bounds'],
    ['hline(5, linewidth = -3)', 'error out-of-bounds'],
    ['trend = ta.supertrend(3, 10)', 'warning tuple-unused'],
    ['y = f(1)\nf(x) => x', 'error used-before-declaration'],
    ['f(x) => x\ny = f(1)', ''],
    ['array<array<int>> a = na', 'error nested-collection'],
    ['a = array.from(array.from(1))', 'error nested-collection'],
    ['map<string, array<int>> a = na', 'error nested-collection'],
    ['x = na(close > open)', 'error bool-never-na'],
    ['m = map.new()', 'error map-without-types'],
    ['m = map.new<int>()', 'error map-without-types'],
    ['m = map.new<line, int>()', 'error map-key'],
    ['for i = 1 to 5\n    x = ta.ema(close, i)', 'error argument-qualifier'],
    ['l = 2\nfor i = 1 to 2\n    l += i\nx = ta.ema(close, l)', 'error argument-qualifier'],
    ['plot(close, style = "line")', 'error constant-wanted'],
    ['plot(close, "t", color.red, 1, na)', 'error constant-wanted'],
    ['plot(close, style = plot.style_line, linestyle = plot.linestyle_dotted)', ''],
    ['x = request.security("A", "D", close, lookahead = true)', 'error constant-wanted'],
    ['enum E\n    a = 1', 'error title-is-text'],
    ['x = input.int(5, minval = 1, options = [5, 6])', 'error unknown-argument'],
    ['x = input.int(5.5)', 'error argument-type'],
    ['x = input.enum("a")', 'error argument-type'],
    ['f(float x = "a") => x\ny = f()', 'error type-mismatch'],
    ['x = nz("a")', 'error argument-type'],
    ['m = map.new<string, int>()', ''],
    ['x = input.int(5, minval = 6)', 'warning not-on-tradingview'],
    ['x = input.float(5, maxval = 4.5)', 'warning not-on-tradingview'],
    ['x = input.int(5, minval = 5, maxval = 5)', ''],
    ['x = input.int(5, options = [1, 2])', 'warning not-on-tradingview'],
    ['x = input.string("c", options = ["a", "b"])', 'warning not-on-tradingview'],
    ['x = input.string("b", options = ["a", "b"])', ''],
    ['x = input.string("b", options = ["b", 1])', 'error argument-type'],
    ['enum A\n    a\nenum B\n    b\nx = input.enum(A.a, options = [A.a, B.b])', 'error argument-type'],
  ])('%s', (source, expected) => {
    expect(warnings(source)).toBe(expected)
  })
})

test('an exit of which nothing says when it fills, or whose trail has no offset', () => {
  const codes = (levels: string) =>
    compile(`//@version=6\nstrategy("")\nstrategy.exit("X", "L"${levels})`).diagnostics.map((one) => one.code)
  for (const levels of ['', ', comment = "c"', ', trail_points = 5', ', trail_offset = 5'])
    expect(codes(levels)).toEqual(['not-on-tradingview'])
  for (const levels of [', stop = 5', ', trail_points = 5, trail_offset = 5', ', trail_points = 5, loss = 9'])
    expect(codes(levels)).toEqual([])
  expect(codes(', trail_price = close, trail_offset = 5')).toEqual([])
})

test('an indicator that shows nothing, which is no error here', () => {
  const codes = (text: string) => compile(`//@version=6\n${text}`).diagnostics.map((one) => one.code)
  expect(codes('indicator("")\nx = close')).toEqual(['not-on-tradingview'])
  for (const shown of [
    'plot(close)',
    'label.new(1, 1)',
    'alertcondition(close > open)',
    'alert("")',
    'hline(5)',
  ])
    expect(codes(`indicator("")\n${shown}`)).toEqual([])
  expect(codes('strategy("")\nx = close')).toEqual([])
})

describe('hints', () => {
  test.each([
    ['x = clsoe', 'Did you mean `close`?'],
    ['x = ta.smaa(close, 5)', 'Did you mean `sma`?'],
    ['x = sma(close, 5)', '`sma` is `ta.sma` since v5.'],
    ['x = ta.sma(close, lenght = 5)', 'Did you mean `length`?'],
    ['x = 1\nx = 2', 'To change its value write `x := …`.'],
    ['x := 1', 'Declare it first: `x = …`.'],
    ['if close\n    x = 1', 'Numbers are no conditions since v6: compare the number, or write `bool(…)`.'],
  ])('%s', (source, hint) => {
    const { script } = parse(`//@version=6\nindicator("")\n${source}`)
    expect(check(script).diagnostics[0]?.hint).toBe(hint)
  })
})

test('what has no value is called nothing', () => {
  const { script } = parse('//@version=6\nindicator("")\nplot(alert("a"))')
  expect(check(script).diagnostics[0]?.message).toBe(
    'Expected float for `series` of `plot`, found nothing (CE10123).',
  )
})

test('what a library keeps to itself is named with the library', () => {
  for (const [used, name] of [
    ['tools.LENGTH', 'LENGTH'],
    ['tools.hidden(1)', 'hidden'],
    ['types.Inner.new(1)', 'Inner'],
  ] as const) {
    const text = `import me/Tools/1 as tools\nimport me/Types/1 as types\nx = ${used}`
    const { diagnostics } = check(parse(`//@version=6\nindicator("")\n${text}`).script, OPTIONS)
    expect(diagnostics[0]?.message).toBe(`\`${name}\` of \`${used.split('.')[0]}\` is not exported.`)
  }
})

test('a value that an input cannot have is named with the parameter and what it wants', () => {
  const { script } = parse('//@version=6\nindicator("")\nx = input.int(5, minval = "low")')
  expect(check(script).diagnostics[0]?.message).toBe(
    'Expected a number for `minval` of `input.int`, found "low" (CE10123).',
  )
})

test('a script of nothing but unknown names soon gets no more hints, as each costs time', () => {
  const lines = Array.from({ length: 3000 }, (_, i) => `x${i} = clsoe${i}`)
  const { diagnostics } = check(parse(`//@version=6\nindicator("")\n${lines.join('\n')}`).script)
  expect(diagnostics[0]?.hint).toContain('Did you mean')
  const unknown = diagnostics.filter(({ code }) => code === 'undeclared-name')
  expect(unknown).toHaveLength(3000)
  expect(unknown.slice(-100).filter(({ hint }) => hint)).toEqual([])
})

describe('the declaration', () => {
  test('has the defaults of its version', () => {
    const args = (version: number) => {
      const { script } = parse(`//@version=${version}\nstrategy("S", initial_capital = 100 * 10)`)
      return check(script).program?.declaration.args
    }
    expect(args(6)).toMatchObject({
      title: 'S',
      shorttitle: 'S',
      initial_capital: 1000,
      margin_long: 100,
      margin_short: 100,
      pyramiding: 0,
      default_qty_type: 'percent_of_equity',
      default_qty_value: 100,
      currency: 'NONE',
      commission_type: 'percent',
      close_entries_rule: 'FIFO',
    })
    expect(args(5)).toMatchObject({
      margin_long: 0,
      margin_short: 0,
      default_qty_type: 'fixed',
      default_qty_value: 1,
    })
  })
  test('takes what is computed of constants, and nothing of nothing', () => {
    const capital = (text: string) =>
      check(parse(`//@version=6\nstrategy("S", initial_capital = ${text})`).script).program?.declaration.args[
        'initial_capital'
      ]
    expect(capital('math.max(7, 2 * 3)')).toBe(7)
    expect(capital('math.max(na, 1)')).toBeNaN()
    expect(capital('nz(na, 5)')).toBe(5)
    for (const nothing of ['math.sqrt(na)', 'math.abs(na)']) expect(capital(nothing)).toBeNaN()
  })
})

describe('inputs', () => {
  const inputs = (version: number, source: string) =>
    check(parse(`//@version=${version}\n${version === 4 ? 'study' : 'indicator'}("")\n${source}`).script)
      .program?.inputs

  test('are read with title, limits and options', () => {
    expect(
      inputs(
        6,
        'a = input.int(5, "Length", minval = 1, maxval = 2 * 50, step = 5, group = "G", tooltip = "T", inline = "I")\n' +
          'b = input.string("x", options = ["x", "y"])\nc = input(hl2)\nd = input.color(color.new(#112233, 50))',
      ),
    ).toMatchObject([
      { kind: 'int', name: 'a', title: 'Length', defval: 5, minval: 1, maxval: 100, step: 5, group: 'G' },
      { kind: 'string', name: 'b', title: 'b', defval: 'x', options: ['x', 'y'] },
      { kind: 'source', name: 'c', defval: 'hl2', sourceExpr: null },
      { kind: 'color', name: 'd', defval: 0x11223380 },
    ])
  })

  test('work out a source that is no built-in by themselves, and an empty text is none', () => {
    const found = inputs(
      6,
      'x = close * 2\na = input.source(x)\nb = input.string("")\nc = input.source(close)',
    )
    expect(found?.map(({ defval, sourceExpr }) => [defval, sourceExpr?.kind ?? null])).toEqual([
      ['', 'Variable'],
      ['', null],
      ['close', null],
    ])
  })

  test('have the name of the variable that receives them, and of none inside of an expression', () => {
    const found = inputs(6, 'a = input.int(5)\nb = math.max(input.int(6), 1)\nplot(input.float(7))')
    expect(found?.map(({ name, title }) => [name, title])).toEqual([
      ['a', 'a'],
      ['', ''],
      ['', ''],
    ])
  })

  test('of v4 have their kind by type=', () => {
    expect(
      inputs(4, 'a = input(1, type=input.float)\nb = input("60", type=input.resolution)\nc = input(true)'),
    ).toMatchObject([
      { kind: 'float', defval: 1 },
      { kind: 'timeframe', defval: '60' },
      { kind: 'bool', defval: true },
    ])
  })

  test('of an enum keep its members', () => {
    const found = inputs(6, 'enum E\n    a = "A"\n    b\nx = input.enum(E.b, "Mode")')
    expect(found?.[0]).toMatchObject({ kind: 'enum', title: 'Mode', defval: { name: 'b' } })
    expect(found?.[0]?.enum?.members.map((one) => one.title)).toEqual(['A', 'b'])
  })
})
