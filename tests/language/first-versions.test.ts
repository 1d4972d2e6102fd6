// Versions 1 to 3, texts that name no version, and versions that there are none of.

import { describe, expect, test } from 'bun:test'
import { type CompileOptions, compile } from '../../src/language/compile.ts'
import { barsOf, plotted, runScript } from './run-script.ts'

const NA = Number.NaN
const CLOSES = [10, 12, 11, 15, 14, 18, 17, 16]

function run(text: string): number[] {
  return plotted(runScript(text, barsOf(CLOSES)))
}

/** Codes with the lines they stand at. */
function said(text: string, options: CompileOptions = {}): string[] {
  return compile(text, options)
    .diagnostics.filter(({ severity }) => severity === 'error')
    .map(({ code, start }) => `${code}@${text.slice(0, start).split('\n').length}`)
}

const sums = CLOSES.map((_, i) => CLOSES.slice(0, i + 1).reduce((a, b) => a + b, 0))

describe.each(['', '//@version=1\n', '//@version=2\n'])('after %j', (version) => {
  test('a variable may be made of its own past', () => {
    expect(run(`${version}study("x")\ns = nz(s[1]) + close\nplot(s)`)).toEqual(sums)
    expect(run(`${version}study("x")\nup = close > 14 or up[1]\nplot(up ? 1 : 0)`)).toEqual([
      0, 0, 0, 1, 1, 1, 1, 1,
    ])
  })

  test('the past of a variable may be read above its declaration', () => {
    expect(run(`${version}study("x")\nd = b[1] + 1\nb = close * 2\nplot(d)`)).toEqual([
      NA,
      21,
      25,
      23,
      31,
      29,
      37,
      35,
    ])
    expect(run(`${version}study("x")\nf() => b[1] + 1\nb = close * 2\nplot(f())`)).toEqual([
      NA,
      21,
      25,
      23,
      31,
      29,
      37,
      35,
    ])
  })

  test('two variables may be made of each other’s past', () => {
    const text = `${version}study("x")\nup = close[1] > dn[1] ? max(close, nz(up[1])) : close\ndn = nz(up[1], close)\nplot(up * 100 + dn)`
    let [up, dn] = [NA, NA]
    const expected = CLOSES.map((close, i) => {
      const before = up
      up = CLOSES[i - 1]! > dn ? Math.max(close, Number.isNaN(up) ? 0 : up) : close
      dn = Number.isNaN(before) ? close : before
      return up * 100 + dn
    })
    expect(run(text)).toEqual(expected)
  })

  test('a request looks ahead unless it says otherwise', () => {
    const asked = (more: string) => run(`${version}study("x")\nplot(security(tickerid, "60", close${more}))`)
    expect(asked('')).toEqual([15, 15, 15, 15, 16, 16, 16, 16])
    expect(asked(', false')).toEqual([15, 15, 15, 15, 16, 16, 16, 16])
    expect(asked(', false, barmerge.lookahead_off')).toEqual([NA, NA, NA, 15, 15, 15, 15, 16])
    expect(asked(', lookahead = barmerge.lookahead_off')).toEqual([NA, NA, NA, 15, 15, 15, 15, 16])
  })

  test('what they made of a value of the same bar is refused, with its line', () => {
    expect(said(`${version || '\n'}study("x")\ny = x + 1\nx = close\nplot(y)`)).toEqual(['declared-below@3'])
    expect(said(`${version || '\n'}study("x")\ny = x[0] + 1\nx = close\nplot(y)`)).toEqual([
      'declared-below@3',
    ])
    expect(said(`${version || '\n'}study("x")\nx = x + 1\nplot(x)`)).toEqual(['declared-below@3'])
  })

  test('so may one inside of a function, even by the function’s own name', () => {
    expect(
      run(`${version}study("x")\ngrown(by) =>\n    grown = nz(grown[1]) + by\n    grown\nplot(grown(close))`),
    ).toEqual(sums)
  })

  test('what is built in means that above a declaration that hides it', () => {
    expect(run(`${version}study("x")\nhl2 = hl2 * 0 + 5\nplot(hl2)`)).toEqual(CLOSES.map(() => 5))
    expect(run(`${version}study("x")\nsma = sma(close, 1)\nplot(sma)`)).toEqual(CLOSES)
  })

  test('names that a function or a loop has for itself are its own', () => {
    expect(run(`${version}study("x")\nf(x) => x + 1\nx = f(close)\nplot(x)`)).toEqual(
      CLOSES.map((x) => x + 1),
    )
  })
})

describe('version 3', () => {
  test('has names without name spaces', () => {
    const text =
      '//@version=3\nstudy("x", overlay=true)\nlen = input(2, type=integer, minval=1)\nsrc = input(close, type=source)\nplot(sma(src, len), color=red, style=line, transp=50)\nbarcolor(n > 3 ? lime : na)'
    expect(run(text)).toEqual([NA, 11, 11.5, 13, 14.5, 16, 17.5, 16.5])
  })

  test('a variable has the type of what is written to it', () => {
    expect(run('//@version=3\nstudy("x")\nr = 0\nr := nz(r[1]) + 0.5\nplot(r)').slice(0, 3)).toEqual([
      0.5, 1, 1.5,
    ])
    expect(run('//@version=3\nstudy("x")\nx = na\nx := close > 12\nplot(x ? 1 : 0)')).toEqual([
      0, 0, 0, 1, 1, 1, 1, 1,
    ])
    expect(
      said('//@version=3\nstudy("x")\nc = na\nc := close > 12 ? red : na\nplot(close, color=c)'),
    ).toEqual([])
    expect(said('//@version=4\nstudy("x")\nr = 0\nr := nz(r[1]) + 0.5\nplot(r)')).toEqual(['type-mismatch@4'])
    // Each round of the check may find a type that the next one needs, but there are not many.
    const chain = (length: number) =>
      Array.from({ length }, (_, i) => `x${i} = 0\nx${i} := ${i === 0 ? 'close > 1' : `x${i - 1}`}`).join(
        '\n',
      )
    expect(said(`//@version=3\nstudy("x")\n${chain(4)}\nplot(close)`)).toEqual([])
    expect(said(`//@version=3\nstudy("x")\n${chain(40)}\nplot(close)`)).toEqual(['type-mismatch@12'])
  })

  test('requests do not look ahead', () => {
    expect(run('//@version=3\nstudy("x")\nplot(security(tickerid, "60", close))')).toEqual([
      NA,
      NA,
      NA,
      15,
      15,
      15,
      15,
      16,
    ])
  })

  test('a variable is not made of itself any more', () => {
    expect(said('//@version=3\nstudy("x")\ns = nz(s[1]) + close\nplot(s)')).toEqual([
      'used-before-declaration@3',
    ])
  })
})

describe('a text that names no version', () => {
  for (const text of [
    'study("x")\nplot(sma(close, 9))',
    'strategy("x", overlay=true)\nlong = crossover(sma(close, 2), close)\nstrategy.entry("a", strategy.long, when=long)',
    'study(title="x")\n[m, s, h] = macd(close, 12, 26, 9)\nplot(m, color=h > 0 ? lime : red)\nf(x) =>\n    y = x * 2\n    y + 1\nplot(f(close))',
  ])
    test(`L11: is of version 1: ${JSON.stringify(text)}`, () => {
      expect(compile(text).diagnostics).toEqual([])
    })

  for (const text of [
    'indicator("x")\nplot(close)',
    'strategy("x")\nif close > open\n    strategy.entry("a", strategy.long)',
    'strategy("x")\nx = 1\nx := 2\nplot(x)',
    'strategy("x")\nplot(ta.sma(close, 9))',
    'strategy("x")\nplot(close, color = color.red)',
    'study("x")\nvar x = 1\nplot(x)',
    'study("x")\nfloat x = 1\nplot(x)',
    'study("x")\nx = for i = 0 to 3\n    i\nplot(x)',
    'library("x")\nexport f(float x) => x',
    '// version=6\nstudy("x")\nimport a/b/1\nplot(close)',
  ])
    test(`is refused where it is of another: ${JSON.stringify(text)}`, () => {
      expect(said(text)).toEqual([`no-version@1`])
    })

  test('and is a library', () => {
    const library = () => 'library("L")\nexport f(float x) => x'
    const text = '//@version=6\nindicator("x")\nimport a/L/1\nplot(L.f(close))'
    expect(said(text, { library })).toEqual(['library-broken@3'])
    expect(compile(text, { library }).diagnostics[0]?.message).toContain('does not say which version')
  })
})

test('versions that there are none of are refused, by name', () => {
  for (const version of [0, 7, 60])
    expect(said(`//@version=${version}\nindicator("x")\nplot(close)`)).toEqual(['no-such-version@1'])
  for (const version of [1, 2, 3, 4, 5, 6])
    expect(said(`//@version=${version}\n${version < 5 ? 'study' : 'indicator'}("x")\nplot(close)`)).toEqual(
      [],
    )
})
