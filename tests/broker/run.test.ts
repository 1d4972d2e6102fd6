// The door of the room: what a run answers, and how it refuses.

import { describe, expect, test } from 'bun:test'
import { Problem } from '../../src/lib/problem.ts'
import { sliceBars } from '../../src/market/bars.ts'
import type { BacktestRequest } from '../../src/broker/backtest.ts'
import { openBacktest, runBacktest } from '../../src/broker/run.ts'
import { DEFAULT_LIMITS } from '../../src/language/runtime/limits.ts'
import { SeriesNeeded } from '../../src/language/runtime/runtime.ts'
import { barsFrom, TEST_SYMBOL } from './drive.ts'

const SOURCE = `//@version=6
strategy("Cross", shorttitle="CR", overlay=true, initial_capital=1000)
length = input.int(2, "Length", minval=1)
average = ta.sma(close, length)
plot(average, "Average", color=color.red)
if ta.crossover(close, average)
    strategy.entry("L", strategy.long, alert_message="go")
if ta.crossunder(close, average)
    strategy.close("L")
`
const BARS = barsFrom(
  '100/101/99/100 100/101/98/99 99/103/99/102 102/105/102/104 104/104/100/101 101/102/99/100 100/103/99/102',
  86_400_000,
)

function request(change: Partial<BacktestRequest> = {}): BacktestRequest {
  return {
    source: SOURCE,
    inputs: {},
    bars: BARS,
    symbol: TEST_SYMBOL,
    interval: '1d',
    limits: DEFAULT_LIMITS,
    series: () => null,
    ...change,
  }
}

function refusal(change: Partial<BacktestRequest>): Problem {
  try {
    runBacktest(request(change))
  } catch (error) {
    if (error instanceof Problem) return error
    throw error
  }
  throw new Error('expected a Problem')
}

describe('runBacktest', () => {
  test('a result is of the bars done by then, however late it is read', () => {
    const backtest = openBacktest(request())
    backtest.advance(5)
    const early = backtest.result().report
    backtest.advance(BARS.length)
    const late = backtest.result().report
    expect(late.orders.map(({ side }) => side)).toEqual(['buy', 'sell'])
    expect(early.orders).toEqual(late.orders.slice(0, 1))
    expect(early.trades.map(({ status }) => status)).toEqual(['open'])
  })

  test('says why orders came and none was filled: too small, or too dear, also of a run that goes on', () => {
    const warned = (size: string, order = 'strategy.entry("L", strategy.long)', at = BARS.length) => {
      const source = `//@version=6\nstrategy("s", initial_capital=150, ${size})\nif bar_index < 3\n    ${order}`
      const asked = request({ source, symbol: { ...TEST_SYMBOL, minQuantity: 1 } })
      const backtest = openBacktest(asked)
      backtest.advance(at)
      const later = openBacktest(asked)
      later.restore(backtest.snapshot())
      later.advance(BARS.length)
      return later.result().report.warnings.map(({ message }) => message)
    }
    const half = 'default_qty_type=strategy.percent_of_equity, default_qty_value=50'
    const small =
      '3 orders were for less than the smallest quantity of TEST: 1, which is worth 102.00 USD now. So nothing was traded: raise the initial capital, or change the size of orders.'
    for (const at of [BARS.length, 2]) expect(warned(half, undefined, at)).toEqual([small])
    expect(warned(half, 'strategy.entry("L", strategy.long, qty=0.5)')).toEqual([small])
    expect(warned('default_qty_value=2')).toEqual([
      '3 orders were for more than there was money for. So nothing was traded: raise the initial capital, or change the size of orders.',
    ])
    // What filled once is not told of, nor what was asked for nothing.
    for (const order of [
      'strategy.entry("L", strategy.long, qty=1)',
      'strategy.entry("L", strategy.long, qty=0)',
    ])
      expect(warned(half, order)).toEqual([])
  })

  test('a curve is the equity at closes evenly apart, the last one too, in multiples of the capital', () => {
    const strategy =
      'strategy("s", initial_capital=100, default_qty_type=strategy.fixed, default_qty_value=1)'
    const source = `//@version=6\n${strategy}\nif bar_index == 0\n    strategy.entry("L", strategy.long)`
    // Bought at the open of bar 1, at 100.
    expect(runBacktest(request({ source })).curve()).toEqual([1, 0.99, 1.02, 1.04, 1.01, 1, 1.02])
    const long = barsFrom(
      Array.from({ length: 50 }, (_, i) => `${90 + i}/${90 + i}/${90 + i}/${90 + i}`).join(' '),
    )
    const curve = runBacktest(request({ source, bars: long })).curve()
    expect(curve).toHaveLength(24)
    expect([curve?.[0], curve?.[1], curve?.at(-1)]).toEqual([1, 1.02, 1.48])
    expect(runBacktest(request({ source: `//@version=6\n${strategy}` })).curve()).toBeNull()
    // Of nothing there are no multiples.
    const none = source.replace('initial_capital=100', 'initial_capital=0, margin_long=0')
    const broke = runBacktest(request({ source: none }))
    expect([broke.report.trades.length, broke.curve()]).toEqual([1, null])
  })

  test('runs over the last bars that calc_bars_count asks for, as if there were no others', () => {
    const asks = (count: number) => SOURCE.replace('overlay=true', `overlay=true, calc_bars_count=${count}`)
    const run = (source: string, bars = BARS) => {
      const { report, tracks } = runBacktest(request({ source, bars }))
      return JSON.parse(JSON.stringify({ ...report, tracks })) as unknown
    }
    const last = sliceBars(BARS, BARS.length - 5, BARS.length)
    expect(run(asks(5))).toEqual(run(asks(5), last))
    expect(run(asks(5))).toMatchObject({ range: { from: BARS.time[BARS.length - 5]!, bars: 5 } })
    expect(run(asks(BARS.length + 1))).toMatchObject({ range: { bars: BARS.length }, warnings: [] })
  })

  test('of a market without volume scripts read na, and what is made of it is na too', () => {
    const source = `//@version=6
indicator("V")
plot(volume)
plot(ta.mfi(hlc3, 2))
plot(ta.obv)
plot(ta.vwap(hlc3))
plot(ta.pvt)
plot(ta.iii)
plot(ta.wvad)
plot(ta.wad)`
    const silent = { ...BARS, volume: new Float64Array(BARS.length) }
    const last = (volumeType: string, bars: typeof BARS = silent) => {
      const { tracks } = runBacktest(request({ source, bars, symbol: { ...TEST_SYMBOL, volumeType } }))
      return tracks.flatMap((track) => (track.kind === 'plot' ? [track.data.at(-1)] : []))
    }
    expect(last('n/a').slice(0, -1)).toEqual(Array(7).fill(NaN))
    expect(last('n/a').at(-1)).toBeNumber()
    expect(last('base')[0]).toBe(0)
    expect(last('n/a', { ...BARS, volume: new Float64Array(BARS.length).fill(5) })[0]).toBe(5)
  })

  test('answers a report and tracks', () => {
    const { report, tracks } = runBacktest(request())
    expect(report.script).toMatchObject({
      title: 'Cross',
      shorttitle: 'CR',
      pineVersion: 6,
      kind: 'strategy',
    })
    expect(
      report.trades.map(({ side, entryBar, exitBar, status }) => [side, entryBar, exitBar, status]),
    ).toEqual([['long', 3, 5, 'closed']])
    expect(report.inputs).toEqual({ Length: 2 })
    expect(report.orders.map((order) => order.alertMessage)).toEqual(['go', null])
    expect(tracks.map((track) => [track.id, track.kind])).toEqual([
      ['time', 'time'],
      ['Average', 'plot'],
      ['equity', 'equity'],
      ['drawdown', 'drawdown'],
      ['buyhold', 'buyhold'],
      ['position', 'position'],
      ['markers', 'markers'],
    ])
    for (const track of tracks) if ('data' in track) expect(track.data).toHaveLength(BARS.length)
    expect(JSON.parse(JSON.stringify(tracks[1]))).toMatchObject({
      data: [null, 99.5, 100.5, 103, 102.5, 100.5, 101],
    })
  })

  test('is byte-equal from run to run, and its hash moves with what the numbers depend on', () => {
    const first = runBacktest(request())
    expect(JSON.stringify(runBacktest(request()))).toBe(JSON.stringify(first))
    const hashes = [
      first.report.hash,
      runBacktest(request({ inputs: { Length: 3 } })).report.hash,
      runBacktest(request({ source: `${SOURCE}\n// more` })).report.hash,
      runBacktest(request({ overrides: { initial_capital: 2000 } })).report.hash,
      runBacktest(request({ bars: barsFrom('1/1/1/1') })).report.hash,
      runBacktest(request({ symbol: { ...TEST_SYMBOL, mintick: 0.1 } })).report.hash,
    ]
    expect(new Set(hashes).size).toBe(hashes.length)
  })

  test('measures time only with the clock it is handed', () => {
    expect(runBacktest(request()).report.timings).toEqual({ compileMs: 0, runMs: 0, bars: 7 })
    let now = 0
    const { timings } = runBacktest(request({ now: () => (now += 5) })).report
    expect([timings.compileMs > 0, timings.runMs > 0]).toEqual([true, true])
  })

  test('runs with other declaration arguments, and refuses one that does not exist', () => {
    const { report } = runBacktest(request({ overrides: { initial_capital: 5000, default_qty_value: 2 } }))
    expect([report.initialCapital, report.trades[0]?.qty]).toEqual([5000, 2])
    expect(refusal({ overrides: { capital: 1 } }).details.fields?.[0]).toMatchObject({
      path: '/overrides/capital',
      code: 'unknown_setting',
      message: expect.stringContaining('No argument "capital"; there are title, '),
    })
  })

  test.each<[string, number | string | boolean, string]>([
    ['initial_capital', 'x', 'initial_capital takes a number, 0 or more.'],
    ['initial_capital', -1, 'initial_capital takes a number, 0 or more.'],
    ['pyramiding', 1.5, 'pyramiding takes a whole number, 0 or more.'],
    ['risk_free_rate', '2', 'risk_free_rate takes a number.'],
    ['process_orders_on_close', 1, 'process_orders_on_close takes true or false.'],
    ['default_qty_type', 'lots', 'default_qty_type takes "fixed", "cash", "percent_of_equity".'],
    ['currency', 5, 'currency takes a currency such as "USD".'],
  ])('refuses %s = %p instead of running with the script’s own', (name, value, message) => {
    expect(refusal({ overrides: { [name]: value } }).details.fields?.[0]).toMatchObject({
      path: `/overrides/${name}`,
      code: 'setting',
      message,
    })
  })

  test('a new run pays at most all of a trade as commission; one from before that is run again as it was', () => {
    const beyond = { commission_value: 1e9 }
    const path = '/overrides/commission_value'
    expect(refusal({ isNew: true, overrides: beyond }).details.fields?.[0]).toMatchObject({ path })
    expect(runBacktest(request({ overrides: beyond })).report.trades.length).toBeGreaterThan(0)
    for (const overrides of [
      { commission_value: 100 },
      { commission_value: 250, commission_type: 'cash_per_order' },
    ])
      expect(runBacktest(request({ isNew: true, overrides })).report.trades.length).toBeGreaterThan(0)
    const source = SOURCE.replace(
      'overlay=true',
      'commission_type=strategy.commission.cash_per_order, commission_value=250',
    )
    const change = { isNew: true, source, overrides: { commission_type: 'percent' } }
    expect(refusal(change).details.fields?.[0]).toMatchObject({ path })
  })
  test('takes settings as a script writes them', () => {
    const overrides = { default_qty_type: 'strategy.cash', default_qty_value: 500, risk_free_rate: -0.5 }
    expect(runBacktest(request({ overrides })).report.trades[0]?.qty).toBeCloseTo(500 / 102, 3)
  })

  test('each order that one call of strategy.exit places keeps the texts it was placed with', () => {
    const exits = `for i = 1 to 2
        strategy.exit("X" + str.tostring(i), "L" + str.tostring(i), limit = 90 + 15 * i, comment = "C" + str.tostring(i))`
    const enter = `for i = 1 to 2
        strategy.entry("L" + str.tostring(i), strategy.long, qty = 1)`
    // Given with the entries, which have not filled yet, and after they have.
    for (const bar of [0, 1]) {
      const source = `//@version=6\nstrategy("S", pyramiding = 2)\nif bar_index == 0\n    ${enter}\nif bar_index == ${bar}\n    ${exits}`
      const { trades } = runBacktest(
        request({ source, inputs: {}, bars: barsFrom('100/100/100/100 100/101/99/100 100/130/99/125') }),
      ).report
      expect(trades.map(({ entryId, exitComment }) => `${entryId} ${exitComment}`)).toEqual([
        'L1 C1',
        'L2 C2',
      ])
    }
  })

  test('an indicator has tracks and a report without trades', () => {
    const { report, tracks } = runBacktest(request({ source: '//@version=6\nindicator("I")\nplot(close)' }))
    expect(report.summary).toEqual({
      trades: 0,
      netProfit: 0,
      netProfitPct: 0,
      winRate: 0,
      profitFactor: 0,
      maxDrawdownPct: 0,
      sharpe: 0,
    })
    expect(tracks.map((track) => track.kind)).toEqual(['time', 'plot'])
  })

  test('no bars give an empty report', () => {
    const { report } = runBacktest(request({ bars: empty() }))
    expect([report.range, report.trades]).toEqual([{ from: null, to: null, bars: 0 }, []])
  })

  test('a script that does not compile is refused with its places', () => {
    const { status, code, details } = refusal({ source: '//@version=6\nstrategy("x")\nplot(closed)' })
    expect([status, code]).toEqual([422, 'script_invalid'])
    expect(details.diagnostics?.[0]).toMatchObject({ severity: 'error', line: 3, column: 6 })
  })

  test('a library does not run by itself', () => {
    expect(refusal({ source: '//@version=6\nlibrary("x")\nexport f(float a) => a' }).code).toBe(
      'script_invalid',
    )
  })

  test('an input outside its range, or unknown, is refused by name', () => {
    expect(refusal({ inputs: { Length: 0 } }).details.fields?.[0]?.path).toBe('/inputs/Length')
    expect(refusal({ inputs: { 'No/such': 0 } }).details.fields?.[0]?.path).toBe('/inputs/No~1such')
  })

  test("a run-time error carries the script's line", () => {
    const { code, details } = refusal({
      source: '//@version=6\nindicator("x")\nif bar_index == 3\n    runtime.error("stop here")\nplot(close)',
    })
    expect(code).toBe('script_runtime_error')
    expect(details.diagnostics?.[0]).toMatchObject({ line: 4, message: 'stop here' })
  })

  test('bars that are not loaded yet are asked for', () => {
    const source = `//@version=6\nstrategy("x", currency=currency.EUR)\nstrategy.entry("L", strategy.long)`
    expect(() => runBacktest(request({ source, series: () => undefined }))).toThrow(SeriesNeeded)
    const { report } = runBacktest(request({ source }))
    expect([report.currency, report.warnings.map((warning) => warning.code)]).toEqual([
      'EUR',
      ['currency_rate_missing'],
    ])
    expect(report.warnings[0]?.message).toContain('1d bars of USDEUR or EURUSD')
  })

  test("the account currency's rate is the pair's close of the day before", () => {
    const source = `//@version=6\nstrategy("x", currency=currency.EUR)\nif bar_index == 0\n    strategy.entry("L", strategy.long)\nif bar_index == 2\n    strategy.close("L")`
    const pair = barsFrom('2/2/2/2 4/4/4/4 5/5/5/5 8/8/8/8 8/8/8/8 8/8/8/8 8/8/8/8', 86_400_000)
    const series: BacktestRequest['series'] = (_, symbol) =>
      symbol === 'EURUSD' ? { bars: pair, symbol: { ...TEST_SYMBOL, symbol }, interval: '1d' } : null
    const { report } = runBacktest(request({ source, series }))
    // Bought at 100, sold at 102 on the fourth day: the pair closed at 5 the day before.
    expect(report.trades[0]).toMatchObject({ entryPrice: 100, exitPrice: 102, profit: 2 / 5 })
    expect(report.warnings).toEqual([])
    const other: typeof series = (exchange, symbol, interval) => {
      const found = series(exchange, symbol, interval)
      return found && { ...found, bars: barsFrom('9/9/9/9', 86_400_000) }
    }
    expect(runBacktest(request({ source, series: other })).report.hash).not.toBe(report.hash)
  })
})

function empty(): BacktestRequest['bars'] {
  const none = new Float64Array(0)
  return { length: 0, time: none, open: none, high: none, low: none, close: none, volume: none }
}

describe('a script that takes too long', () => {
  const stopped = (body: string, timeMs: number) => {
    let clock = 0
    try {
      runBacktest(
        request({
          source: `//@version=6\nindicator("x")\n${body}\nplot(close)\n`,
          limits: { ...DEFAULT_LIMITS, timeMs, loopsPerBar: Infinity },
          bars: barsFrom('1/1/1/1 '.repeat(600).trim()),
          now: () => clock++,
        }),
      )
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      const { diagnostics } = error.details as { diagnostics: { line: number }[] }
      return [error.code, diagnostics[0]?.line ?? null]
    }
    return null
  }
  for (const [name, body, timeMs, expected] of [
    [
      'in a loop without end is stopped at its line',
      'n = 0\nwhile true\n    n += 1',
      50,
      ['script_limit_exceeded', 4],
    ],
    [
      'in small loops is stopped at one of them',
      'n = 0\nfor i = 1 to 9\n    n += 1',
      2,
      ['script_limit_exceeded', 4],
    ],
    ['without loops is stopped all the same', 'n = close + 1', 2, ['script_limit_exceeded', null]],
    ['and one that does not is left alone', 'n = close + 1', 50, null],
  ] as const)
    test(name, () => {
      expect(stopped(body, timeMs)).toEqual(expected as never)
    })
})

test('a run’s time is what it had of a processor, where that is told', () => {
  let clock = 0
  let taken = 0
  const now = () => (clock += 50)
  const limits = { ...DEFAULT_LIMITS, timeMs: 10 }
  const bars = sliceBars(BARS, 0, BARS.length)
  expect(() => runBacktest(request({ bars, limits, now, spent: () => taken }))).not.toThrow()
  expect(() => runBacktest(request({ bars, limits, now, spent: () => (taken += 20) }))).toThrow(
    'more than 0.01 s',
  )
})

test('a later run, which is given the memory of this one, leaves its result alone', () => {
  const text = ({ reportTexts, trackTexts }: ReturnType<typeof runBacktest>) =>
    [...reportTexts(), ...trackTexts()].join('')
  const other = SOURCE.replace('"Length", minval', '"Longer", minval').replaceAll('"L"', '"M"')
  const bars = barsFrom(
    Array.from({ length: 400 }, (_, i) => (i % 3 === 0 ? '100/101/99/101' : '101/102/98/99')).join(' '),
    86_400_000,
  )
  const first = runBacktest(request({ bars }))
  const second = runBacktest(request({ bars, source: other, inputs: { Longer: 4 } }))
  const alone = text(runBacktest(request({ bars })))
  expect(text(first)).toBe(alone)
  expect(text(second)).toContain('"M"')
  expect(text(second)).not.toContain('"L"')

  // Released, it is written over, but not what has been answered.
  const { trades } = first.report
  const columns = first.columns()
  const answered = JSON.stringify([trades, columns])
  second.release()
  first.release()
  expect(() => text(second)).toThrow('was released')
  expect(() => second.report.trades).toThrow('was released')
  const third = runBacktest(request({ bars, source: other, inputs: { Longer: 4 } }))
  expect(text(third)).toContain('"M"')
  expect(JSON.stringify([trades, columns])).toBe(answered)
  expect(text(runBacktest(request({ bars })))).toBe(alone)
})
