// request.security on other bars: what a bar of the chart may know of them, and when (rules L2 to L5).

import { describe, expect, test } from 'bun:test'
import type { Bars } from '../../src/market/bars.ts'
import type { RunEnvironment, Series } from '../../src/language/environment.ts'
import { DEFAULT_LIMITS } from '../../src/language/runtime/limits.ts'
import { SeriesNeeded } from '../../src/language/runtime/runtime.ts'
import { ScriptError } from '../../src/language/script-error.ts'
import { barsOf, open, plotted, runScript, SYMBOL } from './run-script.ts'

const NA = Number.NaN
/** Three hours of quarters. */
const CLOSES = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]

function run(body: string, more: Partial<RunEnvironment> = {}, version = 6): number[] {
  return plotted(runScript(`//@version=${version}\nindicator("x")\n${body}\n`, barsOf(CLOSES), more))
}

describe('a coarser interval of the chart’s symbol', () => {
  for (const [name, body, expected] of [
    [
      'gives the last closed bar, on the bar that closes it',
      'plot(request.security(syminfo.tickerid, "60", close))',
      [NA, NA, NA, 4, 4, 4, 4, 8, 8, 8, 8, 12],
    ],
    [
      'with gaps only when it comes',
      'plot(request.security(syminfo.tickerid, "60", close, barmerge.gaps_on))',
      [NA, NA, NA, 4, NA, NA, NA, 8, NA, NA, NA, 12],
    ],
    [
      'looks ahead when told to',
      'plot(request.security(syminfo.tickerid, "60", close, lookahead = barmerge.lookahead_on))',
      [4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12],
    ],
    [
      'close[1] with lookahead is the bar before',
      'plot(request.security(syminfo.tickerid, "60", close[1], lookahead = barmerge.lookahead_on))',
      [NA, NA, NA, NA, 4, 4, 4, 4, 8, 8, 8, 8],
    ],
    [
      'high, low, open and volume are put together',
      'plot(request.security(syminfo.tickerid, "60", high * 1000 + low * 100 + open))',
      [NA, NA, NA, 4551, 4551, 4551, 4551, 8854, 8854, 8854, 8854, 13258],
    ],
    [
      'indicators run on its bars',
      'plot(request.security("", "60", ta.sma(close, 2)))',
      [NA, NA, NA, NA, NA, NA, NA, 6, 6, 6, 6, 10],
    ],
    [
      'variables, functions and inputs come along',
      'n = input.int(2)\nvar c = 0\nc += n\nf(x) =>\n    var k = 0\n    k += 10\n    k + x\nother = 5\nplot(request.security("", "60", f(c)))',
      [NA, NA, NA, 12, 12, 12, 12, 24, 24, 24, 24, 36],
    ],
    [
      'tuples',
      '[a, b] = request.security("", "60", [close, open])\nplot(a * 100 + b)',
      [NA, NA, NA, 401, 401, 401, 401, 804, 804, 804, 804, 1208],
    ],
    [
      'inside a function, with its parameters',
      'f(tf, x) =>\n    y = x * 2\n    request.security("", tf, y + bar_index)\nplot(f("60", close) + f("30", open) * 100)',
      [NA, NA, NA, 508, 508, 1008, 1008, 1517, 1517, 2017, 2017, 2526],
    ],
    [
      'the chart’s own interval is the bar itself',
      'plot(request.security("", timeframe.period, close + close[1]))',
      [NA, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23],
    ],
    [
      'a bool',
      'b = request.security("", "60", close > 5)\nplot(b ? 1 : 0)',
      [0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1],
    ],
    [
      'an array that the script fills',
      'var a = array.new<float>()\na.push(close)\nplot(request.security("", "60", a.size() * 100 + a.last()))',
      [NA, NA, NA, 104, 104, 104, 104, 208, 208, 208, 208, 312],
    ],
    [
      'a variable set beside the one wanted',
      'a = 0.0\nb = 0.0\nif close > 4\n    a := close\n    b := open\nplot(request.security("", "60", a))',
      [NA, NA, NA, 0, 0, 0, 0, 8, 8, 8, 8, 12],
    ],
    [
      'an array that a function keeps',
      'f() =>\n    var a = array.new<float>()\n    a.push(close)\n    a\na = request.security("", "60", f())\nplot(na(a) ? na : a.size() * 100 + a.last())',
      [NA, NA, NA, 104, 104, 104, 104, 208, 208, 208, 208, 312],
    ],
    [
      'inside a block, with what the block declares',
      'float y = na\nif close > 0\n    z = close * 10\n    y := request.security("", "60", z)\nplot(y)',
      [NA, NA, NA, 40, 40, 40, 40, 80, 80, 80, 80, 120],
    ],
    [
      'security within security',
      'f() => request.security("", "60", close)\nplot(request.security("", "30", f()))',
      [NA, NA, NA, 4, 4, 4, 4, 8, 8, 8, 8, 12],
    ],
    [
      'a timeframe that changes',
      'tf = bar_index < 6 ? "30" : "60"\nplot(request.security("", tf, close))',
      [NA, 2, 2, 4, 4, 6, 4, 8, 8, 8, 8, 12],
    ],
  ] as const)
    test(name, () => {
      expect(run(body)).toEqual([...expected])
    })

  test('an hour whose last quarter is missing closes when the next begins', () => {
    const bars = barsOf(CLOSES)
    for (let i = 3; i < 12; i++) bars.time[i] = (bars.time[i] ?? 0) + 900_000
    const got = plotted(
      runScript('//@version=6\nindicator("x")\nplot(request.security("", "60", close))\n', bars),
    )
    expect(got).toEqual([NA, NA, NA, 3, 3, 3, 7, 7, 7, 7, 11, 11])
  })

  test('Heikin-Ashi bars', () => {
    expect(
      run('t = ticker.heikinashi(syminfo.tickerid)\nplot(request.security(t, "", close))').slice(0, 3),
    ).toEqual([1, 1.5, 2.5])
  })
})

test('a request does not see what its own result changes', () => {
  const got = run(
    'var a = array.from(1.0)\nfor i = 0 to 1\n    a.push(request.security("", "60", a.last()))\nplot(a.last())',
  )
  expect(got).toEqual([NA, NA, NA, 1, 1, 1, 1, 1, 1, 1, 1, 1])
})

test('what is kept in objects made with a constant of the expression is no part of it', () => {
  const body = [
    'type Pivot',
    '    float price',
    '    int bar',
    'const int BACK = 1',
    'var array<Pivot> pivots = array.new<Pivot>()',
    'h = request.security("", "60", high[BACK])',
    'if not na(h)',
    '    pivots.push(Pivot.new(h, bar_index - BACK))',
    'plot(pivots.size())',
  ]
  expect(run(body.join('\n'))).toEqual([0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5])
})

describe('other symbols and finer intervals', () => {
  const minutes = barsOf(
    Array.from({ length: 180 }, (_, i) => i),
    60_000,
  )
  const series = (exchange: string, symbol: string, interval: string): Series | null => {
    if (symbol === 'GONE') return null
    if (interval === '1m') return { bars: minutes, symbol: { ...SYMBOL, exchange, symbol }, interval }
    return { bars: barsOf([100, 200, 300], 3_600_000), symbol: { ...SYMBOL, exchange, symbol }, interval }
  }

  for (const [name, body, expected] of [
    [
      'another symbol’s closed bar',
      'plot(request.security("OTHER:X", "60", close))',
      [NA, NA, NA, 100, 100, 100, 100, 200, 200, 200, 200, 300],
    ],
    [
      'another symbol’s bar with lookahead',
      'plot(request.security("OTHER:X", "60", close, lookahead = barmerge.lookahead_on))',
      [100, 100, 100, 100, 200, 200, 200, 200, 300, 300, 300, 300],
    ],
    [
      'its own facts',
      'plot(request.security("OTHER:X", "60", str.length(syminfo.ticker) * 100 + str.length(timeframe.period)))',
      [NA, NA, NA, 102, 102, 102, 102, 102, 102, 102, 102, 102],
    ],
    [
      'of finer bars the last within',
      'plot(request.security("", "1", close))',
      [14, 29, 44, 59, 74, 89, 104, 119, 134, 149, 164, 179],
    ],
    [
      'of finer bars the first within, with lookahead',
      'plot(request.security("", "1", close, lookahead = barmerge.lookahead_on))',
      [0, 15, 30, 45, 60, 75, 90, 105, 120, 135, 150, 165],
    ],
    [
      'all finer bars within',
      'a = request.security_lower_tf("", "1", close)\nplot(a.size() * 1000 + a.first())',
      [15000, 15015, 15030, 15045, 15060, 15075, 15090, 15105, 15120, 15135, 15150, 15165],
    ],
    [
      'nothing to be found, and na asked for',
      'plot(request.security("OTHER:GONE", "60", close, ignore_invalid_symbol = true))',
      CLOSES.map(() => NA),
    ],
  ] as const)
    test(name, () => {
      expect(run(body, { series })).toEqual([...expected])
    })

  test('bars that are not here are named', () => {
    expect(() => run('plot(request.security("OTHER:GONE", "60", close))', { series })).toThrow(ScriptError)
    expect(() => run('plot(request.security("OTHER:GONE", "60", close))', { series })).toThrow(
      '1h bars of OTHER:GONE',
    )
  })
  test('bars of ticks are none here: empty arrays, and na where the script takes that', () => {
    const done = runScript(
      '//@version=6\nindicator("x")\nplot(request.security_lower_tf("", "1T", close).size())\nplot(request.security("", "10T", close, ignore_invalid_symbol = true))',
      barsOf([1, 2]),
    )
    expect([...plotted(done), ...plotted(done, 1)]).toEqual([0, 0, NA, NA])
    expect(done.warnings.map(({ code }) => code)).toEqual(['no-bars'])
    expect(() => run('plot(request.security("", "100T", close))')).toThrow('bars of ticks')
  })

  test('bars that are not loaded are asked for', () => {
    expect(() => run('plot(request.security("OTHER:X", "D", close))', { series: () => undefined })).toThrow(
      SeriesNeeded,
    )
  })
  test('what has no source is na, with a warning once', () => {
    const done = runScript(
      '//@version=6\nindicator("x")\nplot(request.financial("NASDAQ:AAPL", "EPS", "FQ"))\n',
      barsOf(CLOSES),
    )
    expect(plotted(done)).toEqual(CLOSES.map(() => NA))
    expect(done.warnings.length).toBe(1)
  })
})

describe('currencies', () => {
  const DAY = 86_400_000
  /** Pairs by name: closes from the day before the chart's first on. */
  const rates =
    (pairs: Readonly<Record<string, readonly number[]>>) =>
    (exchange: string, symbol: string, interval: string): Series | null => {
      const closes = pairs[symbol]
      if (!closes) return null
      const bars = barsOf(closes, DAY)
      for (let i = 0; i < bars.length; i++) bars.time[i]! -= DAY
      return { bars, symbol: { ...SYMBOL, exchange, symbol }, interval }
    }
  const days = (body: string, pairs: Readonly<Record<string, readonly number[]>>) =>
    runScript(`//@version=6\nindicator("x")\n${body}\n`, barsOf([1, 2, 3], DAY), {
      interval: '1d',
      series: rates(pairs),
    })
  const EUR = 'plot(request.currency_rate("EUR", "JPY"))'

  for (const [name, body, pairs, expected] of [
    ['the close of the day before', EUR, { EURJPY: [150, 160, 170, 180] }, [150, 160, 170]],
    ['of the pair the other way round', EUR, { JPYEUR: [0.5, 0.25, 0.2] }, [2, 4, 5]],
    ['by way of US dollars', EUR, { EURUSD: [2, 3, 4], USDJPY: [100, 110, 120] }, [200, 330, 480]],
    [
      'by way of US dollars, either way round',
      EUR,
      { USDEUR: [0.5, 0.25, 0.2], JPYUSD: [0.1, 0.1, 0.1] },
      [20, 40, 50],
    ],
    ['of one currency in itself', 'plot(request.currency_rate("EUR", "EUR"))', {}, [1, 1, 1]],
    ['na asked for where nothing tells', 'plot(request.currency_rate("EUR", "JPY", true))', {}, [NA, NA, NA]],
    [
      'prices asked for in another currency',
      'plot(request.security("", "", close, currency = "EUR"))',
      { USDEUR: [2, 4, 5] },
      [2, 8, 15],
    ],
    [
      'whose name the expression sees',
      'plot(request.security("", "", syminfo.currency == "EUR" ? 1 : 0, currency = "EUR"))',
      { USDEUR: [2, 4, 5] },
      [1, 1, 1],
    ],
  ] as const)
    test(name, () => {
      expect(plotted(days(body, pairs)).map((value) => Math.round(value * 1e9) / 1e9)).toEqual([...expected])
    })

  test('of a pair whose days open in the evening before is that of a day that is over', () => {
    const evening = (_: string, symbol: string, interval: string) => {
      const bars = barsOf([150, 160, 170, 180], DAY)
      for (let i = 0; i < bars.length; i++) bars.time[i]! -= DAY + 3 * 3_600_000
      return symbol === 'EURJPY' ? { bars, symbol: { ...SYMBOL, exchange: 'FX', symbol }, interval } : null
    }
    const done = runScript(`//@version=6\nindicator("x")\n${EUR}\n`, barsOf([1, 2, 3], DAY), {
      interval: '1d',
      series: evening,
    })
    expect(plotted(done)).toEqual([150, 160, 170])
    expect(done.warnings).toEqual([])
  })

  test('without any pair the rate is 1, with a warning once', () => {
    const done = days(EUR, {})
    expect([plotted(done), done.warnings.map(({ code }) => code)]).toEqual([[1, 1, 1], ['no-rates']])
  })
})

describe('what stands after the call', () => {
  for (const [name, body, expected] of [
    ['is no part of what it evaluates', 'var c = 0\nx = request.security("", "", c)\nc += 1\nplot(x)', 0],
    ['but what stands before is', 'var c = 0\nc += 1\nx = request.security("", "", c)\nplot(x)', 12],
    [
      'nor is what changes an array',
      'var a = array.new<int>()\nx = request.security("", "", a.size())\na.push(1)\nplot(x)',
      0,
    ],
    [
      'in a block, what stands before it there is',
      'var c = 0\nfloat x = na\nif true\n    c := c + 1\n    x := request.security("", "", c)\n    c := c + 5\nplot(x)',
      12,
    ],
    [
      'and what the other branches do',
      'var c = 0\nfloat x = na\nif bar_index % 2 == 0\n    c := c + 1\nelse if bar_index % 4 == 1\n    x := request.security("", "", c)\nelse\n    c := c + 100\nplot(fixnan(x))',
      205,
    ],
    [
      'also in a function',
      'f() =>\n    var c = 0\n    x = request.security("", "", c)\n    c += 1\n    x\nplot(f())',
      0,
    ],
  ] as const)
    test(name, () => {
      expect(run(body).at(-1)).toBe(expected)
    })
})

describe('security_lower_tf of a higher timeframe', () => {
  const call = (more: string) =>
    `a = request.security_lower_tf("", "60", close${more})\nplot(na(a) ? -1 : a.size())`
  test('is an error', () => {
    expect(() => run(call(''))).toThrow('no lower timeframe')
  })
  test('or na, when told to ignore it', () => {
    expect(run(call(', ignore_invalid_timeframe = true')).at(-1)).toBe(-1)
  })
})

describe('calls that differ', () => {
  const many = (call: string, requests = 40) =>
    run(`f(s, tf) =>\n    x = s * 2\n    request.security("", tf, x)\nsum = 0.0\n${call}\nplot(sum)`, {
      limits: { ...DEFAULT_LIMITS, requests },
      series: (_exchange, _symbol, interval) => ({ bars: barsOf(CLOSES), symbol: SYMBOL, interval }),
    })
  const calls = (count: number, call: (i: number) => string) =>
    Array.from({ length: count }, (_, i) => `sum += ${call(i)}`).join('\n')

  test('up to the limit', () => {
    expect(() => many(calls(40, (i) => `request.security("", "60", close[${i}])`))).not.toThrow()
    expect(() => many(calls(41, (i) => `request.security("", "60", close[${i}])`))).toThrow(
      'A script may call request.*() in 40 different ways',
    )
    expect(() =>
      many('for i = 1 to 50\n    sum += request.security("", str.tostring(i * 15), close)'),
    ).toThrow('40 different ways')
  })

  test('the same call again is no other', () => {
    expect(() => many('for i = 1 to 50\n    sum += request.security("", "60", close)')).not.toThrow()
    expect(() => many(calls(50, () => 'request.security("", "60", ta.sma(close, 3))'))).not.toThrow()
    expect(() =>
      many(
        calls(50, () => 'f(close, "60")'),
        1,
      ),
    ).not.toThrow()
    expect(() => many(calls(41, (i) => `f(close[${i}], "60")`))).toThrow('40 different ways')
  })

  test('the error names the line', () => {
    try {
      many(calls(41, (i) => `request.security("", "60", close[${i}])`))
      expect.unreachable()
    } catch (error) {
      expect(error).toBeInstanceOf(ScriptError)
      expect((error as ScriptError).code).toBe('script_limit_exceeded')
      expect((error as ScriptError).offset).toBeGreaterThan(0)
    }
  })
})

describe('an indicator with a timeframe of its own', () => {
  const run = (declaration: string, body: string, steps: readonly number[] = [CLOSES.length]) => {
    const bars = barsOf(CLOSES)
    const opened = open(`//@version=6\nindicator("x", ${declaration})\n${body}\n`, bars)
    for (const end of steps) opened.advance(end)
    return opened
  }

  for (const [name, declaration, body, expected] of [
    [
      'runs on its bars, and shows a value where one has closed',
      'timeframe = "60"',
      'plot(ta.sma(close, 2))',
      [NA, NA, NA, NA, NA, NA, NA, 6, NA, NA, NA, 10],
    ],
    [
      'and from there on without gaps',
      'timeframe = "60", timeframe_gaps = false',
      'plot(ta.sma(close, 2))',
      [NA, NA, NA, NA, NA, NA, NA, 6, 6, 6, 6, 10],
    ],
    [
      'with all that its variables keep',
      'timeframe = "60", timeframe_gaps = false',
      'n = input.int(2)\nvar c = 0\nc += n\nx = c * 100 + bar_index\nplot(x, "t", linewidth = n)',
      [NA, NA, NA, 200, 200, 200, 200, 401, 401, 401, 401, 602],
    ],
    [
      'knows its timeframe',
      'timeframe = "60", timeframe_gaps = false',
      'plot(timeframe.multiplier)',
      [NA, NA, NA, 60, 60, 60, 60, 60, 60, 60, 60, 60],
    ],
    ['is the chart’s own where that is the same', 'timeframe = "15"', 'plot(close)', CLOSES],
    ['or where none is said', 'timeframe = ""', 'plot(close)', CLOSES],
  ] as const)
    test(name, () => {
      expect(plotted(run(declaration, body))).toEqual([...expected])
      expect(plotted(run(declaration, body, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]))).toEqual([...expected])
    })

  test('fills between its plots, in colours of its bars, and alerts on them', () => {
    const found = run(
      'timeframe = "60", timeframe_gaps = false',
      'offset = input.int(0)\na = plot(close)\nb = plot(open, offset = offset)\nfill(a, b, color = close > 5 ? color.red : color.blue)\nalertcondition(close > 5, "up")',
    )
    expect(found.plots.map((plot) => plot.kind)).toEqual(['plot', 'plot', 'fill'])
    expect(found.plots[2]?.between).toEqual([0, 1])
    expect([...(found.plots[2]?.colors['color'] ?? [])].slice(2)).toEqual([
      NA,
      ...[3, 4, 5, 6].map(() => 0x2962ffff),
      ...[7, 8, 9, 10, 11].map(() => 0xf23645ff),
    ])
    expect(found.alerts.map(({ bar }) => bar)).toEqual([7, 8, 9, 10, 11])
  })

  test.each([
    ['label.new(bar_index, close)', ['drawings-of-timeframe']],
    ['alert("now")', ['messages-of-timeframe']],
    ['if close > 1\n    log.info("up")', ['messages-of-timeframe']],
    ['f() =>\n    log.warning("in a function")\n    close\nx = f()', ['messages-of-timeframe']],
    [
      'log.error("x")\nvar t = table.new(position.top_left, 1, 1)',
      ['drawings-of-timeframe', 'messages-of-timeframe'],
    ],
    ['alertcondition(close > 1, "up")', []],
  ])('says that it leaves out what %p does besides plotting', (body, codes) => {
    const found = run('timeframe = "60"', `${body}\nplot(close)`)
    expect(found.warnings.map(({ code }) => code)).toEqual(codes)
  })
})

describe('a symbol whose trading hours nobody stated', () => {
  const NEW_YORK = { ...SYMBOL, session: '0930-1600', timezone: 'America/New_York' }
  const DAY = 86_400_000
  /** Monday to Friday from 8 January 2024, `hours` bars a day from half past nine. */
  const stock = (closes: readonly number[], hours: number): Bars => {
    const bars = barsOf(closes)
    for (let i = 0; i < bars.length; i++)
      bars.time[i] = Date.UTC(2024, 0, 8, 14, 30) + Math.floor(i / hours) * DAY + (i % hours) * 3_600_000
    return bars
  }
  const other = (bars: Bars): Partial<RunEnvironment> => ({
    symbol: NEW_YORK,
    series: (exchange, symbol, interval) => ({ bars, symbol: { ...SYMBOL, exchange, symbol }, interval }),
  })
  const asked = (timeframe: string) =>
    `//@version=6\nindicator("x")\nplot(request.security("A:B", "${timeframe}", close))`

  test('is seen on the bar that opens with its own', () => {
    const done = runScript(asked('D'), stock(CLOSES.slice(0, 5), 1), {
      ...other(stock([10, 20, 30, 40, 50], 1)),
      interval: '1d',
    })
    expect(plotted(done)).toEqual([10, 20, 30, 40, 50])
  })

  test('keeps the hours of the chart where its bars do, with a warning', () => {
    const done = runScript(asked('D'), stock(CLOSES, 7), {
      ...other(stock([10, 20, 30, 40, 50], 1)),
      interval: '1h',
    })
    expect(plotted(done)).toEqual([NA, NA, NA, NA, NA, NA, 10, 10, 10, 10, 10, 10])
    expect(done.warnings.map(({ code }) => code)).toEqual(['session-inferred'])
  })

  test('keeps its own where they do not', () => {
    const bars = stock([10, 20, 30, 40, 50], 1)
    for (let i = 0; i < 5; i++) bars.time[i] = Date.UTC(2024, 0, 8 + i)
    const done = runScript(asked('D'), stock(CLOSES, 7), { ...other(bars), interval: '1h' })
    expect(plotted(done)).toEqual([NA, NA, NA, NA, NA, NA, NA, 10, 10, 10, 10, 10])
    expect(done.warnings).toEqual([])
  })
})

describe('runs over the same bars have coarser ones in common', () => {
  const asked =
    '//@version=6\nindicator("x")\nplot(request.security(syminfo.tickerid, "60", close) + request.security(syminfo.tickerid, "120", high))'
  const anew = () => plotted(runScript(asked, barsOf(CLOSES)))

  test('and say what a run over bars of its own says', () => {
    const bars = barsOf(CLOSES)
    for (let i = 0; i < 3; i++) expect(plotted(runScript(asked, bars))).toEqual(anew())
  })

  test('until one of them goes back', () => {
    const bars = barsOf(CLOSES)
    runScript(asked, bars)
    const back = open(asked, bars)
    back.advance(6)
    const kept = back.snapshot()
    back.advance(12)
    back.restore(kept)
    // What comes from here on is another hour.
    for (let i = 8; i < 12; i++) bars.close[i] = bars.high[i] = 100 + i
    back.advance(12)
    expect(plotted(back).at(-1)).toBe(111 + 8.5)
    const { close, high } = barsOf(CLOSES)
    bars.close.set(close)
    bars.high.set(high)
    expect(plotted(runScript(asked, bars))).toEqual(anew())
  })

  test('and another session or timeframe has its own', () => {
    const bars = barsOf(CLOSES)
    runScript(asked, bars)
    const own = runScript(asked, bars, { symbol: { ...SYMBOL, timezone: 'Asia/Kolkata' } })
    expect(plotted(own)).toEqual(
      plotted(runScript(asked, barsOf(CLOSES), { symbol: { ...SYMBOL, timezone: 'Asia/Kolkata' } })),
    )
    expect(plotted(own)).not.toEqual(anew())
  })
})
