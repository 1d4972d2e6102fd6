// A forward run advanced bar by bar, with its state lost or handed through bytes at random bars, gives the report of the
// backtest of the same bars.

import { expect, test } from 'bun:test'
import { forward, type ForwardState } from '../../src/broker/forward.ts'
import { CompiledScripts } from '../../src/broker/compiled-scripts.ts'
import type { BacktestResult } from '../../src/broker/backtest.ts'
import { runBacktest } from '../../src/broker/run.ts'
import { sliceBars } from '../../src/market/bars.ts'
import type { ReportOrder } from '../../src/wire/report.ts'
import { scriptRequest } from '../../src/tools/incremental.ts'
import { seededRandom } from '../../src/lib/seeded-random.ts'

const SCRIPTS: Readonly<Record<string, string>> = {
  averages: `strategy("x", initial_capital = 10000, commission_type = strategy.commission.percent, commission_value = 0.1)
fast = ta.ema(close, 3)
slow = ta.ema(close, 11)
if ta.crossover(fast, slow)
    strategy.entry("L", strategy.long, comment = "up")
if ta.crossunder(fast, slow)
    strategy.close("L")
plot(fast)
plot(slow)`,
  'stops, limits and a trail': `strategy("x", pyramiding = 2)
var int n = 0
n += 1
if bar_index % 5 == 0
    strategy.entry("L", strategy.long, qty = 2, stop = high)
strategy.exit("X", "L", limit = close * 1.02, stop = close * 0.98, trail_points = 40, trail_offset = 10)
if bar_index % 17 == 0
    strategy.cancel("L")
if barstate.islast
    label.new(bar_index, close, str.tostring(n))`,
  'logs, alerts and arrays': `strategy("x", process_orders_on_close = true)
var float[] seen = array.new<float>()
array.push(seen, close)
if array.size(seen) > 20
    array.shift(seen)
if close > array.avg(seen)
    strategy.entry("L", strategy.long, alert_message = "in")
    alert("above", alert.freq_once_per_bar_close)
else
    strategy.close_all()
log.info("{0}", strategy.position_size)`,
}

const textOf = (result: BacktestResult) => {
  const { timings: _, ...report } = JSON.parse([...result.reportTexts()].join(''))
  return JSON.stringify({ report, tracks: JSON.parse([...result.trackTexts()].join('')) })
}

test.each(Object.entries(SCRIPTS))(
  '%s: after restarts at random bars the report is that of the backtest',
  (_, body) => {
    const seed = 11
    const random = seededRandom(seed).uniform
    const whole = { ...scriptRequest(`//@version=6\n${body}`, 420, seed), scripts: new CompiledScripts() }
    let kept: ForwardState | null = null
    const fills: ReportOrder[] = []
    let restarts = 0
    for (let length = 150; length <= whole.bars.length; length++) {
      const request = { ...whole, bars: sliceBars(whole.bars, 0, length) }
      const { step, result } = forward(request, kept, length === 150 ? 0 : length - 1)
      fills.push(...step.fills)
      kept = step.kept ?? kept
      if (length % 30 === 0 || length === whole.bars.length)
        expect(textOf(result)).toBe(textOf(runBacktest(request)))
      if (random() < 0.5) {
        restarts++
        kept = random() < 0.5 ? null : structuredClone(kept)
      }
    }
    expect(restarts).toBeGreaterThan(100)
    const { orders } = runBacktest(whole).report
    expect(orders.length).toBeGreaterThan(5)
    expect({ seed, fills }).toEqual({ seed, fills: [...orders] })
  },
)

test('what waits for the next bar is told with its side, size and price', () => {
  const whole = scriptRequest(
    `//@version=6\nstrategy("x")\nif barstate.islast\n    strategy.entry("L", strategy.long, qty = 3)\n    strategy.entry("S", strategy.short, qty = 2, limit = high * 2)`,
    60,
    3,
  )
  const { step } = forward(whole, null, 0)
  expect(step).toMatchObject({ fills: [], position: 0, equity: step.initialCapital })
  const price = step.waiting[1]?.price
  expect(step.waiting).toEqual([
    { id: 'L', type: 'market', side: 'buy', qty: 3, price: null },
    { id: 'S', type: 'limit', side: 'sell', qty: 2, price: price! },
  ])
  expect(price).toBeGreaterThan(whole.bars.high.at(-1)! * 1.9)
})

test('an order that turns a position round waits with what it closes and what it opens', () => {
  const { step } = forward(
    scriptRequest(
      `//@version=6\nstrategy("x")\nif bar_index == 5\n    strategy.entry("L", strategy.long, qty = 3)\nif barstate.islast\n    strategy.entry("S", strategy.short, qty = 2)`,
      60,
      3,
    ),
    null,
    0,
  )
  expect(step.position).toBe(3)
  expect(step.waiting).toEqual([{ id: 'S', type: 'market', side: 'sell', qty: 5, price: null }])
})
