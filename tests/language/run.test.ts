// Runs: bar by bar as all at once, back to a snapshot, inputs, errors with their place, limits.

import { describe, expect, spyOn, test } from 'bun:test'
import { sliceBars } from '../../src/market/bars.ts'
import { InputError } from '../../src/language/compile.ts'
import type { ScriptRun } from '../../src/language/environment.ts'
import { DEFAULT_LIMITS } from '../../src/language/runtime/limits.ts'
import { ScriptError } from '../../src/language/script-error.ts'
import { barsOf, open, plotted, recordingBroker, runScript, walk, type Order } from './run-script.ts'

const VARIED = `//@version=6
strategy("varied", overlay = true)
len = input.int(7, "Length", minval = 1)
src = input.source(hlc3, "Source")
type Swing
    float price
    int bar
var swings = array.new<Swing>()
var m = map.new<string, float>()
varip ticks = 0
ticks += 1
ma(x, n) =>
    var float last = na
    last := nz(last, x) + (x - nz(last, x)) / n
    last[1] + ta.sma(x, n)
[macd, signal, hist] = ta.macd(src, 5, 9, 3)
fast = ma(src, len)
slow = close > open ? ta.ema(close, 4) : ta.rma(open, 5)
hour = request.security(syminfo.tickerid, "60", ta.ema(close, 3))
ahead = request.security(syminfo.tickerid, "60", close, gaps = barmerge.gaps_on)
if ta.crossover(src, fast)
    swings.push(Swing.new(close, bar_index))
    m.put(str.tostring(swings.size() % 5), close)
    strategy.entry("L", strategy.long)
total = 0.0
for s in swings
    total += s.price * (s.bar % 3)
trend = 0
trend := hist > 0 ? 1 : hist < 0 ? -1 : nz(trend[1])
quick = ta.sma(close, 4)
steady = ta.sma(close, 9)
plot(quick - steady)
plot(ta.sma(quick, 3))
plot(fast)
plot(slow)
plot(hour)
plot(ahead)
plot(total + m.size())
plot(trend, color = trend > trend[1] ? color.green : color.red)
plotshape(ta.rising(close, 2) and not ta.falling(open, 2))
`

function outputs(run: ScriptRun): unknown[] {
  return run.plots.map((plot) => [
    ...Object.values(plot.columns).map((column) => [...column]),
    ...Object.values(plot.colors).map((column) => [...column]),
  ])
}

describe('batch equals incremental', () => {
  const bars = barsOf(walk(700))

  test('bar by bar gives what all at once gives', () => {
    const whole = runScript(VARIED, bars)
    const one = open(VARIED, bars)
    for (let end = 1; end <= bars.length; end++) one.advance(end)
    expect(outputs(one)).toEqual(outputs(whole))
  })

  test('going back to a snapshot leaves no trace', () => {
    const whole = runScript(VARIED, bars)
    const run = open(VARIED, bars)
    let end = 0
    for (const [step, peek] of [
      [50, 3],
      [1, 120],
      [33, 1],
      [200, 7],
      [1, 1],
      [415, 0],
    ] as const) {
      end += step
      run.advance(end)
      const snapshot = run.snapshot()
      for (let again = 0; again < 2; again++) {
        run.advance(Math.min(bars.length, end + peek))
        run.restore(snapshot)
      }
    }
    expect(run.position).toBe(bars.length)
    expect(outputs(run)).toEqual(outputs(whole))
  })

  test('a forming bar may change before it is run again', () => {
    const closes = walk(40)
    const live = barsOf(closes)
    const run = open(VARIED, live)
    run.advance(39)
    const snapshot = run.snapshot()
    for (const price of [90, 130, closes[39] ?? 0]) {
      run.restore(snapshot)
      live.close[39] = price
      live.high[39] = Math.max(live.open[39] ?? 0, price) + 0.5
      live.low[39] = Math.min(live.open[39] ?? 0, price) - 0.5
      run.advance(40)
    }
    expect(outputs(run)).toEqual(outputs(runScript(VARIED, barsOf(closes))))
  })

  test('without a look ahead, bars to come change nothing', () => {
    const part = runScript(VARIED, sliceBars(bars, 0, 400))
    const whole = runScript(VARIED, bars)
    const cut = outputs(whole).map((columns) => (columns as number[][]).map((column) => column.slice(0, 400)))
    expect(outputs(part)).toEqual(cut)
  })
})

describe('calc_on_order_fills', () => {
  /** On bar i the body runs i % 3 times more than once. */
  const rerunning = (source: string): ScriptRun =>
    runScript(
      `//@version=6\nstrategy("x", calc_on_order_fills = true)\n${source}\n`,
      barsOf([1, 2, 3, 4, 5, 6]),
      {
        broker: recordingBroker([], {
          busy: true,
          onBar: (bar: number, rerun: () => void) => {
            for (let n = 0; n < bar % 3; n++) rerun()
          },
        }),
      },
    )
  const runs = [1, 3, 6, 7, 9, 12]
  const once = [1, 2, 3, 4, 5, 6]

  test('var goes back to the bar’s start before each run, varip does not', () => {
    const run = rerunning(
      'f() =>\n    varip int n = 0\n    n += 1\n    n\nvar a = 0\nvarip b = 0\na += 1\nb += 1\nplot(a)\nplot(b)\nplot(f())',
    )
    expect(plotted(run, 0)).toEqual([1, 2, 3, 4, 5, 6])
    expect(plotted(run, 1)).toEqual([1, 3, 6, 7, 9, 12])
    expect(plotted(run, 2)).toEqual([1, 3, 6, 7, 9, 12])
  })

  for (const [name, body, expected] of [
    ['an array', 'var a = array.new<int>()\na.push(1)\nplot(a.size())', once],
    ['an array of varip', 'varip a = array.new<int>()\na.push(1)\nplot(a.size())', runs],
    ['a map', 'var m = map.new<int, int>()\nm.put(m.size(), 1)\nplot(m.size())', once],
    ['a matrix', 'var m = matrix.new<int>(1, 1, 0)\nm.set(0, 0, m.get(0, 0) + 1)\nplot(m.get(0, 0))', once],
    [
      'a matrix of varip',
      'varip m = matrix.new<int>(1, 1, 0)\nm.set(0, 0, m.get(0, 0) + 1)\nplot(m.get(0, 0))',
      runs,
    ],
    ['an object', 'type T\n    int n = 0\nvar t = T.new()\nt.n += 1\nplot(t.n)', once],
    ['a varip field', 'type T\n    varip int n = 0\nvar t = T.new()\nt.n += 1\nplot(t.n)', runs],
    ['an object of varip', 'type T\n    int n = 0\nvarip t = T.new()\nt.n += 1\nplot(t.n)', once],
    [
      'a varip field of a varip object',
      'type T\n    varip int n = 0\nvarip t = T.new()\nt.n += 1\nplot(t.n)',
      runs,
    ],
    ['a point of varip', 'varip p = chart.point.now(0)\np.price += 1\nplot(p.price)', runs],
    ['a point', 'var p = chart.point.now(0)\np.price += 1\nplot(p.price)', once],
    [
      'objects in an array',
      'type T\n    int n = 0\nvar a = array.from(T.new())\na.first().n += 1\nplot(a.first().n)',
      once,
    ],
    [
      'an array in an object in a map',
      'type T\n    array<int> a\nvar m = map.new<int, T>()\nif m.size() == 0\n    m.put(0, T.new(array.new<int>()))\nm.get(0).a.push(1)\nplot(m.get(0).a.size())',
      once,
    ],
    [
      'the past of an array, which is a copy',
      'var a = array.new<int>()\na.push(1)\nb = a[1]\nplot(na(b) ? 1 : b.size())',
      [1, 1, 2, 3, 4, 5],
    ],
    ['two names of one array', 'var a = array.new<int>()\nvar b = a\na.push(1)\nplot(b.size())', once],
    [
      'a view of an array',
      'var a = array.from(0, 0)\nvar b = a.slice(0, 1)\nb.set(0, b.get(0) + 1)\nplot(a.get(0))',
      once,
    ],
    [
      'an array of a function',
      'f() =>\n    var a = array.new<int>()\n    a.push(1)\n    a.size()\nplot(f())',
      once,
    ],
    ['the past in a block', 'x = 0.0\nif true\n    y = 1\n    x := nz(ta.cum(y[0]))\nplot(x)', once],
    [
      'once',
      'var n = 0\nvarip m = 0\nonce bar_index == 2\n    n += 1\n    m += 1\nplot(n * 10 + m)',
      [0, 0, 13, 13, 13, 13],
    ],
  ] as const)
    test(`rolled back: ${name}`, () => {
      expect(plotted(rerunning(body))).toEqual([...expected])
    })

  test('rolled back: drawings, ids and all', () => {
    const run = rerunning(
      'var l = label.new(0, 0, "")\nlabel.set_text(l, label.get_text(l) + "x")\nlabel.new(bar_index, 1)\nplot(label.all.size())',
    )
    expect(plotted(run)).toEqual([2, 3, 4, 5, 6, 7])
    const [first] = run.drawings.alive.label
    expect(first).toMatchObject({ text: 'xxxxxx' })
  })
})

describe('orders', () => {
  test('reach the broker with their arguments in place and the call site named', () => {
    const orders: Order[] = []
    runScript(
      '//@version=6\nstrategy("x")\nif bar_index == 1\n    strategy.entry("L", strategy.long, stop = 12, comment = "up")\n    strategy.close("L", immediately = true)\n',
      barsOf([1, 2, 3]),
      { broker: recordingBroker(orders) },
    )
    const [site, given] = [expect.any(Number), expect.any(Number)] as number[]
    const nothing = { comment: null, qty: NaN, alertMessage: null, disableAlert: false, given, site }
    const oca = { ocaName: null, ocaType: 'none' }
    const entry = { ...nothing, ...oca, id: 'L', direction: 'long', limit: NaN, stop: 12, comment: 'up' }
    const close = { ...nothing, id: 'L', qtyPercent: NaN, immediately: true }
    expect(orders).toEqual([
      { method: 'place', args: ['entry', entry] },
      { method: 'close', args: [close] },
    ])
    const sites = orders.map(({ args }) => (args.at(-1) as { site: number }).site)
    expect(new Set(sites).size).toBe(2)
  })
})

describe('inputs', () => {
  const script = `//@version=6
indicator("x")
n = input.int(3, "Length", minval = 1, maxval = 9)
s = input.source(close, "Source")
t = input.string("a", "Kind", options = ["a", "b"])
c = input.color(color.red, "Colour")
f = input.float(0.5)
plot(n + s + (t == "b" ? 100 : 0) + f)
`
  const bars = barsOf([10, 20])

  test('take their defaults', () => {
    const run = runScript(script, bars)
    expect(plotted(run)).toEqual([13.5, 23.5])
    expect(run.inputs['Length']).toBe(3)
  })

  test('are chosen by title or by variable', () => {
    const run = runScript(script, bars, {
      inputs: { Length: 4, Source: 'hl2', t: 'b', f: 1, Colour: '#00ff0080' },
    })
    expect(plotted(run)).toEqual([115, 120])
    expect(run.inputs).toMatchObject({ Length: 4, Source: 'hl2', Kind: 'b', Colour: '#00FF0080' })
  })

  test('of one title each have a place of their own, and a title of the script is nobody else’s', () => {
    const twins = `//@version=6
indicator("x")
a = input.int(1, "Length")
b = input.int(20, "Length", group = "Second")
c = input.int(300, "Length (2)")
plot(a + b + c + input.int(4000) + input.int(50000, "Input 4"))
`
    expect(runScript(twins, bars).inputs).toEqual({
      Length: 1,
      'Length (3)': 20,
      'Length (2)': 300,
      'Input 4': 4000,
      'Input 4 (2)': 50000,
    })
    const chosen = runScript(twins, bars, { inputs: { Length: 2, 'Length (3)': 30, 'Length (2)': 400 } })
    expect(plotted(chosen)).toEqual([54432, 54432])
    expect(plotted(runScript(twins, bars, { inputs: { b: 30 } }))).toEqual([54331, 54331])
  })

  for (const [inputs, input] of [
    [{ Length: 0 }, 'Length'],
    [{ Length: 10 }, 'Length'],
    [{ Length: 2.5 }, 'Length'],
    [{ Length: 'x' }, 'Length'],
    [{ Kind: 'c' }, 'Kind'],
    [{ Source: 'constructor' }, 'Source'],
    [{ Colour: 'red' }, 'Colour'],
    [{ nothing: 1 }, 'nothing'],
    [{ toString: 1 }, 'toString'],
  ] as const)
    test(`refuse ${JSON.stringify(inputs)}`, () => {
      let refused: unknown
      try {
        runScript(script, bars, { inputs })
      } catch (error) {
        refused = error
      }
      expect(refused).toBeInstanceOf(InputError)
      expect((refused as InputError).input).toBe(input)
    })
})

/** The error a script ends with, and the line it names. */
function failure(
  body: string,
  more: Parameters<typeof open>[2] = {},
): { code: string; line: number; message: string } {
  const source = `//@version=6\nindicator("x")\n${body}\n`
  try {
    runScript(source, barsOf(walk(50)), more)
  } catch (error) {
    if (!(error instanceof ScriptError)) throw error
    return {
      code: error.code,
      line: error.offset < 0 ? -1 : source.slice(0, error.offset).split('\n').length,
      message: error.message,
    }
  }
  throw new Error('the script did not fail')
}

describe('errors name their line', () => {
  test('runtime.error', () => {
    expect(failure('x = close\nif bar_index == 7\n    runtime.error("seven")\nplot(x)')).toMatchObject({
      code: 'script_runtime_error',
      line: 5,
      message: 'seven',
    })
  })
  test('an index out of range, inside a function', () => {
    expect(
      failure('f(a) =>\n    y = 1\n    array.get(a, 3)\nz = array.from(1, 2)\nplot(f(z))'),
    ).toMatchObject({
      code: 'script_runtime_error',
      line: 5,
    })
  })
  test('a field of na', () => {
    expect(failure('type T\n    float v\nvar T t = na\nplot(close)\nplot(t.v)')).toMatchObject({
      code: 'script_runtime_error',
      line: 7,
    })
  })
  test('a length that is not one, in a hoisted indicator', () => {
    expect(failure('n = input.int(0)\nx = 1\nplot(ta.sma(close, n))')).toMatchObject({
      code: 'script_runtime_error',
      line: 5,
    })
  })
  test('a loop with a step of zero or below', () => {
    expect(failure('n = 0\nfor i = 9 to 1 by -1\n    n += 1\nplot(n)')).toMatchObject({
      code: 'script_runtime_error',
      line: 4,
    })
  })
  test('a negative history offset', () => {
    expect(failure('n = -1\nn := n - bar_index\nplot(close[n])')).toMatchObject({
      code: 'script_runtime_error',
      line: 5,
    })
  })
})

describe('limits', () => {
  const limits = { ...DEFAULT_LIMITS, loopsPerBar: 20_000, collectionSize: 100, stringLength: 1000 }
  test('a loop without end', () => {
    expect(failure('n = 0\nwhile true\n    n += 1\nplot(n)', { limits })).toMatchObject({
      code: 'script_limit_exceeded',
      line: 4,
    })
  })
  test('loops in functions count for the bar they run on', () => {
    expect(
      failure('f() =>\n    n = 0\n    for i = 0 to 9999\n        n += 1\n    n\nplot(f() + f() + f())', {
        limits,
      }).code,
    ).toBe('script_limit_exceeded')
  })
  test('rounds whose ends are spelled, which are counted ahead, count as any others', () => {
    const outcome = (outer: number, end: string) => {
      const body = `m = 98\nq = 0\nfor i = 1 to ${outer}\n    for j = 0 to ${end}\n        q += 1\nplot(q)`
      try {
        return plotted(runScript(`//@version=6\nindicator("x")\n${body}\n`, barsOf(walk(3)), { limits }))
      } catch (error) {
        return String(error)
      }
    }
    const outcomes = [198, 199, 200, 201, 202, 203].map((outer) => {
      expect(outcome(outer, '98')).toEqual(outcome(outer, 'm'))
      return typeof outcome(outer, '98')
    })
    expect(new Set(outcomes).size).toBe(2)
  })
  test('an array that grows', () => {
    expect(
      failure('var a = array.new<int>()\nfor i = 0 to 9\n    a.push(i)\nplot(a.size())', { limits }),
    ).toMatchObject({
      code: 'script_limit_exceeded',
      line: 5,
    })
  })
  test('a text that grows', () => {
    expect(failure('var s = "x"\ns += s\nplot(str.length(s))', { limits })).toMatchObject({
      code: 'script_limit_exceeded',
      line: 4,
    })
  })
  test('more series than there is memory for', () => {
    const plots = Array.from({ length: 20 }, (_, i) => `plot(close * ${i})`).join('\n')
    expect(failure(plots, { limits: { ...DEFAULT_LIMITS, memoryBytes: 7000 } }).code).toBe(
      'script_limit_exceeded',
    )
  })
  test('functions that call each other in too many places', () => {
    const layers = Array.from({ length: 20 }, (_, i) => `f${i + 1}(x) =>\n    f${i}(x) + f${i}(x + 1)`).join(
      '\n',
    )
    expect(failure(`f0(x) =>\n    ta.sma(x, 2)\n${layers}\nplot(f20(close))`).code).toBe(
      'script_limit_exceeded',
    )
  })
  test('the host may stop a run between blocks and in loops', () => {
    const stop = () => {
      throw new Error('stopped by the host')
    }
    expect(() =>
      runScript(
        '//@version=6\nindicator("x")\nn = 0\nwhile n < 4000000\n    n += 1\nplot(n)\n',
        barsOf(walk(9)),
        {
          progress: stop,
        },
      ),
    ).toThrow('stopped by the host')
  })
})

describe('alerts and logs', () => {
  test('come again when a bar is run again', () => {
    const run = open(
      '//@version=6\nindicator("x")\nalert("bar " + str.tostring(bar_index))\n',
      barsOf([1, 2, 3]),
    )
    run.advance(2)
    const snapshot = run.snapshot()
    for (let tick = 0; tick < 3; tick++) {
      run.restore(snapshot)
      run.advance(3)
    }
    expect(run.alerts.map(({ message }) => message)).toEqual(['bar 0', 'bar 1', 'bar 2'])
  })

  test('are collected with their bars', () => {
    const run = runScript(
      '//@version=6\nindicator("x")\nif close > 2\n    alert("over " + str.tostring(close))\n    alert("over " + str.tostring(close))\n    log.info("seen")\nalertcondition(close > 3, "Three", "more than three")\n',
      barsOf([1, 3, 4]),
    )
    expect(run.alerts.map(({ bar, title, message }) => [bar, title, message])).toEqual([
      [1, '', 'over 3'],
      [2, '', 'over 4'],
      [2, 'Three', 'more than three'],
    ])
    expect(run.logs.map(({ bar, level, message }) => [bar, level, message])).toEqual([
      [1, 'info', 'seen'],
      [2, 'info', 'seen'],
    ])
  })
})

test('a gradient fills between lines of hline() as between plots', () => {
  const run = runScript(
    '//@version=6\nindicator("x")\ntop = hline(70)\nbottom = hline(30)\nfill(top, bottom, 70, 30, color.red, color.blue)\n',
    barsOf([1, 2]),
  )
  const fill = run.plots[2]
  expect([fill?.kind, fill?.between, [...(fill?.columns['top_value'] ?? [])]]).toEqual([
    'fill',
    [0, 1],
    [70, 70],
  ])
})

describe('a length that changes from bar to bar', () => {
  const closes = [10, 12, 11, 15, 14]
  const values = (text: string) => plotted(runScript(`//@version=6\nindicator("")\n${text}`, barsOf(closes)))

  test('weighs an ema with what it is on the bar', () => {
    let ema = 10
    const expected = closes.map((close, bar) => (ema += (2 / (bar + 2)) * (close - ema)))
    expect(values('var n = 0\nn += 1\nplot(ta.ema(close, n))')).toEqual(expected)
  })

  test('weighs an rma with it as well', () => {
    let rma = 10
    const expected = closes.map((close, bar) => (rma = (rma * bar + close) / (bar + 1)))
    expect(values('var n = 0\nn += 1\nplot(ta.rma(close, n))')).toEqual(expected)
  })

  test('is told where it is none', () => {
    expect(() => values('var n = 3\nx = ta.ema(close, n)\nn -= 1\nplot(x)')).toThrow('`ta.ema` got 0')
  })
})

describe('what a run warns of', () => {
  test('is put into words once, however often it happens', () => {
    const words = spyOn(Number.prototype, 'toLocaleString')
    try {
      runScript('//@version=6\nindicator("x")\nfor i = 0 to 12000\n    log.info("line")', barsOf([1]))
      expect(words.mock.calls.length).toBeLessThan(3)
    } finally {
      words.mockRestore()
    }
  })

  test.each([
    ['for i = 0 to 10000\n    log.info("line")', 'logs-cut'],
    ['plot(request.quandl("A/B"))', 'no-source'],
    ['plot(na(time("60", "UTC")) ? 0 : 1)', 'not-a-session'],
    [
      'plot(request.security(ticker.renko(syminfo.tickerid, "ATR", 2), timeframe.period, close))',
      'box-of-last-bar',
    ],
  ])('%p', (body, code) => {
    const { warnings } = runScript(
      `//@version=6\nindicator("Warned")\n${body}\nplot(close)`,
      barsOf([1, 2, 3, 4]),
    )
    expect(warnings.map((warning) => warning.code)).toEqual([code])
  })
})
