// What a script says of itself, and which series it is going to ask for.

import { describe, expect, test } from 'bun:test'
import { outline } from '../../src/language/outline.ts'
import { SYMBOL } from './run-script.ts'

const CHART = { symbol: SYMBOL, interval: '1h', inputs: {} }

function asked(source: string, inputs: Readonly<Record<string, unknown>> = {}, version = 6): string[] {
  const { series } = outline(`//@version=${version}\n${source}`, { ...CHART, inputs })
  return series.map(({ exchange, symbol, interval }) => `${exchange}:${symbol} ${interval}`)
}

describe('an outline', () => {
  test('names version, kind, title and imports', () => {
    const { version, kind, title, imports } = outline(
      '//@version=5\nimport TradingView/ta/7 as tv\nimport a/b/1\nimport a/b/1\nstrategy("Cross", overlay=true)\n',
    )
    expect({ version, kind, title }).toEqual({ version: 5, kind: 'strategy', title: 'Cross' })
    expect(imports).toEqual([
      { user: 'TradingView', library: 'ta', version: 7 },
      { user: 'a', library: 'b', version: 1 },
    ])
  })

  test('finds nothing in comments and strings', () => {
    const { imports, magnifier, kind } = outline(
      '// import a/b/1\n// use_bar_magnifier\nx = "strategy(1)"\ny = "\n import a/b/1"\n',
    )
    expect({ imports, magnifier, kind }).toEqual({ imports: [], magnifier: false, kind: null })
  })

  test('tells whether the bar magnifier is wanted', () => {
    expect(outline('strategy("x", use_bar_magnifier=true)').magnifier).toBe(true)
    expect(outline('strategy("x", use_bar_magnifier=false)').magnifier).toBe(false)
    expect(outline('strategy("x")').magnifier).toBe(false)
  })

  test('is made of any text', () => {
    expect(outline('\u0000((((').kind).toBeNull()
    expect(outline('').imports).toEqual([])
  })
})

describe('the series asked for', () => {
  const cases: readonly (readonly [what: string, source: string, series: readonly string[]])[] = [
    ['a symbol as it is written', 'x = request.security("NYSE:IBM", "D", close)', ['NYSE:IBM 1d']],
    ['none for what the chart can build', 'x = request.security(syminfo.tickerid, "D", close)', []],
    ['a finer interval of its own', 'x = request.security_lower_tf("", "5", close)', ['TEST:COIN 5m']],
    [
      'both sides of a choice',
      'x = request.security(close > 1 ? "A:B" : "A:C", "60", close)',
      ['A:B 1h', 'A:C 1h'],
    ],
    ['what a sum makes', 'p = "A"\nx = request.security(p + ":" + "B", "60", close)', ['A:B 1h']],
    [
      'what calls hand to a function',
      'f(s, tf = "W") => request.security(s, tf, close)\nx = f("A:B")\ny = f(s = "A:C", tf = "M")',
      ['A:B 1w', 'A:B 1M', 'A:C 1w', 'A:C 1M'],
    ],
    [
      'what a function answers',
      'f(s) =>\n    switch s\n        "x" => "A:X"\n        => "A:Y"\nx = request.security(f("x"), "60", close)',
      ['A:X 1h'],
    ],
    [
      'the elements of a list',
      'for s in array.from("A:B", "A:C")\n    x = request.security(s, "60", close)',
      ['A:B 1h', 'A:C 1h'],
    ],
    [
      'the bars behind another kind of chart',
      'x = request.security(ticker.heikinashi(ticker.new("A", "B")), "60", close)',
      ['A:B 1h'],
    ],
    ['the pairs that tell a rate', 'strategy("x", currency=currency.EUR)', [':USDEUR 1d', ':EURUSD 1d']],
    ['nothing for what only the run can tell', 'x = request.security(str.tostring(close), "60", close)', []],
    ['nothing for what names itself', 'a = b\nb = a\nx = request.security(a, "60", close)', []],
  ]
  test.each(cases)('are %s', (_, source, series) => {
    expect(asked(source).toSorted()).toEqual(series.toSorted())
  })

  test('follow the inputs', () => {
    const source =
      's = input.symbol("A:B", "Other")\nx = request.security(s, input.timeframe("D", "TF"), close)'
    expect(asked(source)).toEqual(['A:B 1d'])
    expect(asked(source, { s: 'A:C', TF: 'W' })).toEqual(['A:C 1w'])
  })

  test('are told in the names of version 4', () => {
    expect(asked('x = security(tickerid("A", "B"), period, close)', {}, 4)).toEqual(['A:B 1h'])
  })

  test('are no more than a script may ask for', () => {
    const lines = Array.from({ length: 500 }, (_, i) => `x${i} = request.security("A:S${i}", "D", close)`)
    expect(asked(lines.join('\n'))).toHaveLength(64)
  })

  test('of a chain of ten thousand names are not followed to its end', () => {
    const lines = Array.from({ length: 10_000 }, (_, i) => `a${i + 1} = a${i} + "x"`)
    expect(asked(['a0 = "A:"', ...lines, 'x = request.security(a10000, "D", close)'].join('\n'))).toEqual([])
  })
})
