// calc_on_every_history_tick (A10): the script on each tick of bars that are long over.

import { describe, expect, test } from 'bun:test'
import type { BacktestRequest } from '../../src/broker/backtest.ts'
import { runBacktest } from '../../src/broker/run.ts'
import type { Bars } from '../../src/market/bars.ts'
import { DEFAULT_LIMITS } from '../../src/language/runtime/limits.ts'
import { barsFrom, TEST_SYMBOL } from './drive.ts'

const DAY = 86_400_000
/** The first falls before it rises, the second rises before it falls. */
const TWO_WAYS = withVolume(barsFrom('10/13/9/11 11/12/8/9', DAY))

function withVolume(bars: Bars): Bars {
  bars.volume.fill(100)
  return bars
}

function run(declaration: string, body: string, more: Partial<BacktestRequest> = {}) {
  return runBacktest({
    source: `//@version=6\nstrategy("x", calc_on_every_history_tick = true${declaration})\n${body}\n`,
    inputs: {},
    bars: TWO_WAYS,
    symbol: TEST_SYMBOL,
    interval: '1d',
    limits: DEFAULT_LIMITS,
    series: () => null,
    ...more,
  })
}

/** What the script logs. */
function said(declaration: string, body: string, more: Partial<BacktestRequest> = {}): string[] {
  return run(declaration, body, more).report.logs.map(({ message }) => message)
}

function traded(declaration: string, body: string, more: Partial<BacktestRequest> = {}): string[] {
  const { report } = run(declaration, body, more)
  return report.trades.map(
    (one) =>
      `${one.entryId}@${one.entryBar} ${one.entryPrice} → ${one.status === 'open' ? 'open' : `${one.exitId}@${one.exitBar} ${one.exitPrice}`}`,
  )
}

const PRICES = 'log.info("{0} {1} {2} {3} {4}", open, high, low, close, volume)'

describe('with calc_on_every_history_tick', () => {
  test('A10: the bar develops along the path: high, low and close as far as it got, a quarter of the volume each', () => {
    expect(said('', PRICES)).toEqual([
      '10 10 10 10 25',
      '10 10 9 9 50',
      '10 13 9 13 75',
      '10 13 9 11 100',
      '11 11 11 11 25',
      '11 12 11 12 50',
      '11 12 8 8 75',
      '11 12 8 9 100',
    ])
  })

  test('what is made of prices develops too, as functions, as columns and as an input', () => {
    const body = `s = input.source(hlc3, "S")
f(x) => ta.sma(x, 2)
log.info("{0} {1} {2} {3} {4} {5}", hl2, ohlc4, s, ta.sma(close, 2), f(close), close[1])`
    expect(said('', body).slice(4, 6)).toEqual(['11 11 11 11 11 11', '11.5 11.5 11.667 11.5 11.5 11'])
  })

  test('bars are of the past on each tick, as the manual says of barstate', () => {
    const body = 'log.info("{0} {1} {2}", barstate.ishistory, barstate.isconfirmed, barstate.isrealtime)'
    expect(new Set(said('', body))).toEqual(new Set(['true true false']))
  })

  test('var goes back before each tick, varip does not', () => {
    const body = `var a = 0
varip b = 0
var list = array.new<int>()
a += 1
b += 1
list.push(b)
log.info("{0} {1} {2}", a, b, list.size())`
    expect(said('', body)).toEqual(['1 1 1', '1 2 1', '1 3 1', '1 4 1', '2 5 2', '2 6 2', '2 7 2', '2 8 2'])
  })

  test('a market order fills on the next tick', () => {
    const body = `varip ticks = 0
ticks += 1
if ticks == 2
    strategy.entry("L", strategy.long)
if ticks == 4
    strategy.close("L")`
    expect(traded('', body)).toEqual(['L@0 13 → Close entry(s) order L@1 11'])
  })

  test('a priced order fills where the price comes by on its way to the next tick', () => {
    const body = `varip ticks = 0
ticks += 1
if ticks == 1
    strategy.entry("L", strategy.long, limit = 9.5)
    strategy.exit("X", "L", limit = 12.5)`
    expect(traded('', body)).toEqual(['L@0 9.5 → X@0 12.5'])
  })

  test('process_orders_on_close concerns the last tick alone', () => {
    const body = `varip ticks = 0
ticks += 1
if ticks == 1
    strategy.entry("A", strategy.long)
if ticks == 4
    strategy.entry("B", strategy.long)`
    const on = ', pyramiding = 9, process_orders_on_close = true'
    expect(traded(on, body)).toEqual(['A@0 9 → open', 'B@0 11 → open'])
    expect(traded(', pyramiding = 9', body)).toEqual(['A@0 9 → open', 'B@1 11 → open'])
  })

  test('what closes immediately closes on the tick that asks for it', () => {
    const body = `varip ticks = 0
ticks += 1
if ticks == 1
    strategy.entry("L", strategy.long)
if ticks == 3
    strategy.close("L", immediately = true)`
    expect(traded('', body)).toEqual(['L@0 9 → Close entry(s) order L@0 13'])
  })

  test('equity, open profit and default sizes are those of the tick', () => {
    const body = `varip ticks = 0
ticks += 1
if ticks == 1
    strategy.entry("L", strategy.long, qty = 2)
log.info("{0} {1} {2}", strategy.position_size, strategy.openprofit, strategy.equity)`
    expect(said(', initial_capital = 1000', body).slice(0, 4)).toEqual([
      '0 0 1,000',
      '2 0 1,000',
      '2 8 1,008',
      '2 4 1,004',
    ])
  })

  test('max drawdown and run-up are those up to the last bar while a bar is made, and of all of it at its close', () => {
    const body = `varip ticks = 0
ticks += 1
if ticks == 1
    strategy.entry("L", strategy.long, qty = 2)
log.info("{0} {1}", strategy.max_drawdown, strategy.max_runup)`
    // Two from 9: up to 13 on the first bar, down to 8 on the second.
    const bars = [...Array.from({ length: 3 }, () => '0 0'), ...Array.from({ length: 4 }, () => '0 8'), '2 8']
    expect(said(', initial_capital = 1000', body)).toEqual(bars)
  })

  test('a stop entry that is placed again on each tick still reverses', () => {
    const body = `varip ticks = 0
ticks += 1
if ticks == 1
    strategy.entry("L", strategy.long)
if ticks >= 5
    strategy.entry("S", strategy.short, stop = 10)`
    const bars = withVolume(barsFrom('10/13/9/11 11/11.5/8/9 9/9/9/9', DAY))
    expect(traded('', body, { bars })).toEqual(['L@0 9 → S@1 10', 'S@1 10 → open'])
  })

  test('calc_on_order_fills adds nothing, and nobody is warned', () => {
    const body = 'strategy.entry("L", strategy.long)\nlog.info("x")'
    const { report } = run(', calc_on_order_fills = true', body)
    expect(report.logs).toHaveLength(8)
    expect(report.warnings).toEqual([])
  })

  test('drawings, plots and alerts once a bar are those of the close', () => {
    const body = `varip ticks = 0
ticks += 1
label.new(bar_index, close, str.tostring(close))
plot(close, "C")
alert("t" + str.tostring(ticks), alert.freq_once_per_bar_close)`
    const { report, tracks } = run('', body)
    expect(report.alerts.map(({ message }) => message)).toEqual(['t4', 't8'])
    expect(tracks.find(({ kind }) => kind === 'plot')).toMatchObject({ data: [11, 9] })
    expect(tracks.find(({ kind }) => kind === 'label')).toMatchObject({
      items: [
        { text: '11', deletedBar: -1 },
        { text: '9', deletedBar: -1 },
      ],
    })
  })

  test('L7: a request sees on a tick what was known when the last bar had closed', () => {
    const body = `c = request.security(syminfo.tickerid, timeframe.period, close)
w = request.security(syminfo.tickerid, "2D", high)
log.info("{0} {1}", c, w)`
    expect(said('', body)).toEqual([
      'NaN NaN',
      'NaN NaN',
      'NaN NaN',
      '11 NaN',
      '11 NaN',
      '11 NaN',
      '11 NaN',
      '9 13',
    ])
  })

  test('A17: with finer bars and the magnifier on each of them has four ticks', () => {
    const finer = barsFrom('10/11/9.5/10.5 10.5/13/9/11', DAY / 2)
    finer.volume.set([40, 60])
    const more = {
      bars: withVolume(barsFrom('10/13/9/11', DAY)),
      finer: { bars: finer, interval: '12h' },
    }
    expect(said(', use_bar_magnifier = true', PRICES, more)).toEqual([
      '10 10 10 10 10',
      '10 10 9.5 9.5 20',
      '10 11 9.5 11 30',
      '10 11 9.5 10.5 40',
      '10 11 9.5 10.5 55',
      '10 11 9 9 70',
      '10 13 9 13 85',
      '10 13 9 11 100',
    ])
    expect(said('', PRICES, more)).toHaveLength(4)
  })

  test('the bars handed in stay as they are', () => {
    const bars = withVolume(barsFrom('10/13/9/11 11/12/8/9', DAY))
    run('', 'plot(close)', { bars })
    expect(bars).toEqual(TWO_WAYS)
  })
})
