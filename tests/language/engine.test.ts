// Scripts and what they plot: the language as it runs.

import { describe, expect, test } from 'bun:test'
import { barsOf, plotted, runScript, walk } from './run-script.ts'

const NA = Number.NaN
const CLOSES = [10, 12, 11, 15, 14, 18]

interface Case {
  readonly name: string
  readonly version?: 4 | 5 | 6
  readonly script: string
  /** Of the first plot. */
  readonly plots: readonly number[]
}

const CASES: readonly Case[] = [
  { name: 'a bar column', script: 'plot(close)', plots: CLOSES },
  {
    name: 'the past of a column is na before the first bar',
    script: 'plot(close[2])',
    plots: [NA, NA, 10, 12, 11, 15],
  },
  {
    name: 'the past of an expression',
    script: 'plot((close - open)[1])',
    plots: [NA, 0, 2, -1, 4, -1],
  },
  {
    name: 'an offset that changes from bar to bar, na and beyond the start included',
    script: 'n = bar_index == 2 ? int(na) : bar_index == 1 ? 9 : bar_index - 1\nplot(close[math.max(n, 0)])',
    plots: [10, NA, 11, 12, 12, 12],
  },
  {
    name: 'var keeps its value',
    script: 'var n = 0\nn += 2\nplot(n)',
    plots: [2, 4, 6, 8, 10, 12],
  },
  {
    name: 'a variable reads its own past',
    script: 'float sum = 0\nsum := nz(sum[1]) + close\nplot(sum)',
    plots: [10, 22, 33, 48, 62, 80],
  },
  {
    name: 'the past of a var is that of the bar, not of its changes',
    script: 'var n = 0\nif close > open\n    n += 1\nplot(nz(n[1], -1))',
    plots: [-1, 0, 1, 1, 2, 2],
  },
  {
    name: 'each call of a function has state of its own',
    script:
      'count() =>\n    var n = 0\n    n += 1\n    n\na = count()\nb = close > open ? count() : 0\nplot(a * 10 + b)',
    plots: [10, 21, 30, 42, 50, 63],
  },
  {
    name: 'the past inside a function is that of the bars it was called on',
    script: 'before(x) => x[1]\nplot(bar_index % 2 == 0 ? before(close) : na)',
    plots: [NA, NA, 10, NA, 11, NA],
  },
  {
    name: 'further back it is what was left by that bar, not as many calls before',
    script: 'before(x) => x[2] * 100 + x[3]\nplot(bar_index % 2 == 0 ? before(close) : na)',
    plots: [NA, NA, NA, NA, 1110, NA],
  },
  {
    name: 'so it is of variables of a block that is entered now and then',
    script:
      'float y = na\nif bar_index == 0 or bar_index == 4\n    x = close * 2\n    y := x[1] * 100 + nz(x[3])\nplot(y)',
    plots: [NA, NA, NA, NA, 2020, NA],
  },
  {
    name: 'the past of a var of a function is what it held, changed or not',
    script:
      'f() =>\n    var n = 0\n    if close > open\n        n += 1\n    nz(n[1], -1) * 10 + nz(n[2], -1)\nplot(f())',
    plots: [-11, -1, 10, 11, 21, 22],
  },
  {
    name: 'the step of a loop may be a fraction, and the end is met within 1e-10',
    script: 'n = 0\nfor i = 1.0 to 0.1 by 0.3\n    n += 1\nplot(n)',
    plots: [4, 4, 4, 4, 4, 4],
  },
  {
    name: 'a loop whose step is na runs once',
    script: 'n = 0\nfor i = 1 to 9 by int(na)\n    n += 1\nplot(n)',
    plots: [1, 1, 1, 1, 1, 1],
  },
  {
    name: 'a number within 1e-10 of zero is false',
    version: 5,
    script: 'plot((close * 0 + 1e-10 ? 1 : 0) + (close * 0 - 1.000001e-10 ? 10 : 0))',
    plots: [10, 10, 10, 10, 10, 10],
  },
  {
    name: 'an indicator under a condition sees the bars it is executed on',
    script: 'float s = na\nif bar_index % 2 == 0\n    s := ta.sma(close, 2)\nplot(s)',
    plots: [NA, NA, 10.5, NA, 12.5, NA],
  },
  {
    name: 'and and or stop early in version 6',
    script:
      'tick() =>\n    var n = 0\n    n += 1\n    n > 0\nx = bar_index > 2 and tick()\nvar c = 0\nplot(x ? 1 : 0)',
    plots: [0, 0, 0, 1, 1, 1],
  },
  {
    name: 'the right side of and runs always in version 5',
    version: 5,
    script:
      'sma2 = close > 0 and ta.sma(close, 2) > 11.2\nnever = close < 0 and ta.ema(close, 2) > 0\nplot(sma2 ? 1 : never ? 2 : 0)',
    plots: [0, 0, 1, 1, 1, 1],
  },
  {
    name: 'state on the right of and advances on every bar in version 5',
    version: 5,
    script: 'x = bar_index >= 4 and ta.sma(close, 3) > 13\nplot(x ? 1 : 0)',
    plots: [0, 0, 0, 0, 1, 1],
  },
  {
    name: 'state on the right of and waits for the left in version 6',
    script: 'x = bar_index >= 4 and ta.sma(close, 2) > 13\nplot(x ? 1 : 0)',
    plots: [0, 0, 0, 0, 0, 1],
  },
  {
    name: 'floats a hair apart are equal',
    script:
      'x = 0.1 + 0.2 + close * 0\nplot((x == 0.3 ? 1 : 0) + (x > 0.3 ? 10 : 0) + (x >= 0.3 ? 100 : 0) + (x != 0.3 ? 1000 : 0))',
    plots: [101, 101, 101, 101, 101, 101],
  },
  {
    name: 'comparing with na is false',
    script: 'x = close[1]\nplot((x == x ? 1 : 0) + (x != 5 ? 10 : 0) + (x < 99 ? 100 : 0))',
    plots: [0, 111, 111, 111, 111, 111],
  },
  {
    name: 'if and switch are values, na or false where no branch is taken',
    script:
      'a = if close > 14\n    1\nelse if close > 11\n    2\nb = switch\n    close > 14 => 10\n    close > 11 => 20\nplot(nz(a) + nz(b))',
    plots: [0, 22, 0, 11, 22, 11],
  },
  {
    name: 'switch by value',
    script: 'b = switch int(close) % 3\n    0 => 100\n    1 => 200\n    => 300\nplot(b)',
    plots: [200, 100, 300, 100, 300, 100],
  },
  {
    name: 'loops up, down, by steps, with break and continue',
    script:
      'n = 0\nfor i = 1 to 10\n    if i == 3\n        continue\n    if i > 5\n        break\n    n += i\nfor i = 10 to 4 by 3\n    n += i * 100\nplot(n)',
    plots: [2112, 2112, 2112, 2112, 2112, 2112],
  },
  {
    name: 'a loop is worth its last round',
    script: 'x = for i = 0 to 2\n    i * 7\nplot(x)',
    plots: [14, 14, 14, 14, 14, 14],
  },
  {
    name: 'the end of a for is evaluated before each round in version 6',
    script: 'n = 3\nc = 0\nfor i = 0 to n\n    if c < 5\n        n += 1\n    c += 1\nplot(c)',
    plots: [9, 9, 9, 9, 9, 9],
  },
  ...[
    ['by a function', 'f(id) =>\n    id.push(1)\n', 'f(a)'],
    ['through another name', 'b = a\n', 'b.push(1)'],
    ['by another array', '', 'a := array.new<int>(4, 0)'],
  ].map(([how, before, change]) => ({
    name: `a loop over an array goes on with what its rounds add ${how}`,
    script: `a = array.from(1, 2)\n${before}c = 0\nfor i = 0 to a.size() - 1\n    if c < 2\n        ${change}\n    c += a.get(i) > 0 ? 1 : 1\nplot(c)`,
    plots: Array<number>(6).fill(4),
  })),
  {
    name: 'the end of a for is evaluated once in version 5',
    version: 5,
    script: 'n = 3\nc = 0\nfor i = 0 to n\n    if c < 5\n        n += 1\n    c += 1\nplot(c)',
    plots: [4, 4, 4, 4, 4, 4],
  },
  {
    name: 'while, and walking over arrays with and without index',
    script:
      'a = array.from(3, 4, 5)\ns = 0\nfor [i, x] in a\n    s += i * x\nfor x in a\n    s += 100 * x\nw = 0\nwhile w < 3\n    w += 1\nplot(s + w * 10000)',
    plots: [31214, 31214, 31214, 31214, 31214, 31214],
  },
  {
    name: 'maps are walked in the order of their keys’ arrival',
    script:
      'm = map.new<string, float>()\nm.put("b", 1)\nm.put("a", 2)\ns = 0.0\nfor [k, v] in m\n    s := s * 10 + v + (k == "a" ? 0.5 : 0)\nplot(s)',
    plots: [12.5, 12.5, 12.5, 12.5, 12.5, 12.5],
  },
  {
    name: 'tuples out of functions, ifs and indicators',
    script:
      'two(x) =>\n    [x, x * 2]\n[a, b] = two(close)\n[c, d] = if close > 11\n    [1, 2]\nelse\n    [3, 4]\n[m, s, h] = ta.macd(close, 2, 3, 2)\nplot(a + b + c * 100 + d * 1000 + (na(h) ? 0 : 0))',
    plots: [4330, 2136, 4333, 2145, 2142, 2154],
  },
  {
    name: 'objects: fields, methods, copies and their past',
    script:
      'type Point\n    float x = 1\n    int n\nmethod grow(Point this, float by) =>\n    this.x += by\n    this\nvar p = Point.new(n = 0)\np.grow(1)\np.n += 1\nq = p.copy()\nq.x := 1000\nplot(p.x * 10 + p.n)',
    plots: [21, 32, 43, 54, 65, 76],
  },
  {
    name: 'fields named like what every object has',
    script:
      'type T\n    float constructor = 1\n    float __proto__ = 2\n    float toString = 3\nt = T.new()\nt.__proto__ := 5\nplot(t.constructor + t.__proto__ * 10 + t.toString * 100)',
    plots: [351, 351, 351, 351, 351, 351],
  },
  {
    name: 'for … in walks over the rows of a matrix',
    script:
      'm = matrix.new<float>(2, 3, close)\nm.set(1, 2, 1)\nsum = 0.0\nfor [i, row] in m\n    sum += row.sum() * (i + 1)\nplot(sum)',
    plots: [72, 86, 79, 107, 100, 128],
  },
  {
    name: 'an array of ints goes where one of floats is wanted',
    script:
      'mean(array<float> a) => a.avg()\narray<float> a = array.from(1, 2)\na.push(0.5)\nplot(mean(array.from(1, 2)) * 10 + a.last())',
    plots: [15.5, 15.5, 15.5, 15.5, 15.5, 15.5],
  },
  {
    name: 'a method of the script overloads the built-in of its name',
    script:
      'method sum(array<float> a, float k) => a.sum() * k\na = array.from(1.0, 2.0)\nplot(a.sum(2) * 10 + a.sum())',
    plots: [63, 63, 63, 63, 63, 63],
  },
  {
    name: 'enums',
    script:
      'enum Side\n    up\n    down\ns = close >= open ? Side.up : Side.down\nplot(s == Side.up ? 1 : s == Side.down ? 2 : 3)',
    plots: [1, 1, 2, 1, 2, 1],
  },
  {
    name: 'a global that changes is seen by functions as it is when they are called',
    script: 'x = 1\nx := 5\nf() => x * 2\ny = f()\nx := 7\nplot(y * 100 + x)',
    plots: [1007, 1007, 1007, 1007, 1007, 1007],
  },
  {
    name: 'ints divide to fractions, and are cut where an int is needed',
    script: 'x = bar_index / 4\nplot(x * 100 + close[x] * 0)',
    plots: [0, 25, 50, 75, 100, 125],
  },
  {
    name: 'bools are three-state before version 6',
    version: 5,
    script: 'x = close > open\ny = x[1]\nplot(na(y) ? -1 : y ? 1 : 0)',
    plots: [-1, 0, 1, 0, 1, 0],
  },
  {
    name: 'a bool made of na is na before version 6, and so is what it is compared with',
    version: 5,
    script:
      'x = bool(close[1])\neq = x == true\nne = x != true\nplot((na(x) ? 1 : 0) + (na(eq) ? 10 : 0) + (na(ne) ? 100 : 0) + (x ? 1000 : 0))',
    plots: [111, 1000, 1000, 1000, 1000, 1000],
  },
  {
    name: 'a missing bool is false in version 6',
    script: 'x = close > open\ny = x[1]\nplot(y ? 1 : 0)',
    plots: [0, 0, 1, 0, 1, 0],
  },
  {
    name: 'version 4 names and casts',
    version: 4,
    script: 'up = change(close) > 0\nx = iff(up, 1, 0)\nplot(bar_index ? x : -1)',
    plots: [-1, 1, 0, 1, 0, 1],
  },
  {
    name: 'text',
    script: 's = str.tostring(close) + "\u2028" + "a`${b}\\\'\\""\nplot(str.length(s))',
    plots: [11, 11, 11, 11, 11, 11],
  },
]

describe('the language as it runs', () => {
  for (const { name, version = 6, script, plots } of CASES)
    test(name, () => {
      const run = runScript(
        `//@version=${version}\n${version === 4 ? 'study' : 'indicator'}("test")\n${script}\n`,
        barsOf(CLOSES),
      )
      expect(plotted(run)).toEqual([...plots])
    })
})

test('a hoisted average gives bit for bit what the same average gives bar by bar', () => {
  const closes = walk(6000, 7).map((close, i) => (i % 997 === 3 ? close * 1e9 : close))
  const script = (call: string) =>
    `//@version=6\nindicator("x")\nx = bar_index % 251 == 7 ? na : close / 3\nfloat y = na\n${call}plot(y)\n`
  for (const length of [1, 2, 10, 30, 500, 600]) {
    const hoisted = runScript(script(`y := ta.sma(x, ${length})\n`), barsOf(closes))
    const dynamic = runScript(script(`if bar_index >= 0\n    y := ta.sma(x, ${length})\n`), barsOf(closes))
    expect(plotted(hoisted)).toEqual(plotted(dynamic))
  }
})
