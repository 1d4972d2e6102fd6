// What one bar of a library call costs inside a running script: `bun tests/language/library/library.bench.ts`. The first row is
// what a bar costs anyway.

import { emptyBars } from '../../../src/market/bars.ts'
import type { Broker } from '../../../src/language/broker.ts'
import { compile } from '../../../src/language/compile.ts'
import { DEFAULT_LIMITS } from '../../../src/language/runtime/limits.ts'
import { SYMBOL } from './script.ts'

const BODIES = [
  'plot(close)',
  'plot(hour)',
  'plot(hour(time))',
  'plot(hour(time, "America/New_York"))',
  'plot(month)',
  'plot(na(time(timeframe.period, "0930-1600:23456", "America/New_York")) ? 0 : 1)',
  'plot(time("D"))',
  'plot(timeframe.change("W") ? 1 : 0)',
  'plot(session.ismarket ? 1 : 0)',
  'var a = array.new<float>()\na.push(close)\nif a.size() > 100\n    a.shift()\nplot(a.get(0))',
  'var a = array.new<float>(50, 1)\na.set(bar_index % 50, close)\nplot(a.sum())',
  'plot(str.length(str.tostring(close, "#.##")))',
  'plot(str.length(str.match("BUY 100 @ 12.5", "\\\\d+\\\\.\\\\d+")))',
  'if bar_index % 10 == 0\n    label.new(bar_index, close, "x")',
  'var l = line.new(0, 1, 2, 3)\nl.set_xy2(bar_index, close)',
  'plot(color.r(color.from_gradient(close, 98, 102, color.red, color.green)))',
]
const COUNT = 200_000

const bars = emptyBars(COUNT)
for (let i = 0; i < COUNT; i++) {
  bars.time[i] = Date.UTC(2015, 0, 5, 14, 30) + i * 300_000
  bars.open[i] = 100
  bars.high[i] = 102
  bars.low[i] = 98
  bars.close[i] = 100 + Math.sin(i)
  bars.volume[i] = 1
}

for (const body of BODIES) {
  const { script } = compile(`//@version=6\nindicator("bench")\n${body}\n`)
  const run = script?.instantiate({
    bars,
    symbol: SYMBOL,
    interval: '5m',
    inputs: {},
    broker: { bytes: 0, account: { bar: 0 } } as Broker,
    limits: DEFAULT_LIMITS,
    series: () => null,
  })
  const start = performance.now()
  run?.advance(COUNT)
  const nanoseconds = ((performance.now() - start) / COUNT) * 1e6
  console.log(`${nanoseconds.toFixed(0).padStart(6)} ns  ${body.replaceAll('\n', '; ')}`)
}
