// What the run passes over changes nothing: random bodies of statements that allow it, each beside the same body with a loop
// behind it, which has every bar executed.

import { expect, test } from 'bun:test'
import * as fc from 'fast-check'
import { planProgram } from '../../src/language/3-plan/plan.ts'
import { generate } from '../../src/language/4-generate/generate.ts'
import { compile } from '../../src/language/compile.ts'
import { DEFAULT_LIMITS } from '../../src/language/runtime/limits.ts'
import { runBacktest } from '../../src/broker/run.ts'
import { barsOf, walk } from '../language/run-script.ts'
import { TEST_SYMBOL } from './drive.ts'
import { rounds } from '../long.ts'

const HEAD = `//@version=6
strategy("x", initial_capital = 300, pyramiding = 2, margin_long = 20)
var top = 100.0
var streak = 0
var was = false
sma = ta.sma(close, 7)
`

const TESTS = [
  'close > top',
  'close < sma',
  'strategy.position_size == 0',
  'strategy.position_size > 0 and close > strategy.position_avg_price + 0.5',
  'strategy.position_size[1] > 0 and strategy.position_size == 0',
  'strategy.closedtrades > 3 and not was',
  'hour == 3 and minute < 30',
  'not na(time("15", "0400-0600")) and close > open',
  'ta.crossover(close, sma)',
  'top[3] < top',
  'streak > 2',
  'timeframe.change("60")',
  'math.abs(close - top) < nz(sma - close[2], 1)',
] as const

const DONE = [
  'strategy.entry("L", strategy.long)',
  'strategy.entry("S", strategy.short, limit = close + 0.3)',
  'strategy.entry("L", strategy.long, stop = top)',
  'strategy.close("L")',
  'strategy.close_all()',
  'strategy.exit("X", "L", profit = 60, loss = 40)',
  'top := close',
  'streak := streak + 1',
  'streak := 0',
  'was := not was',
] as const

const PLAIN = [
  'top := close > top + 1 ? close : top',
  'was := close > sma',
  'streak := close > open ? streak + 1 : 0',
  'plot(top)',
  'plot(was ? streak : strategy.position_size)',
  'plotshape(was)',
  'rest = nz(top[1], close) - strategy.opentrades',
  'plot(strategy.netprofit)',
] as const

const statement = fc.oneof(
  fc
    .tuple(fc.constantFrom(...TESTS), fc.constantFrom(...DONE))
    .map(([holds, done]) => `if ${holds}\n    ${done}\n`),
  fc
    .tuple(
      fc.constantFrom(...TESTS),
      fc.constantFrom(...DONE),
      fc.constantFrom(...TESTS),
      fc.constantFrom(...DONE),
    )
    .map(([one, done, two, other]) => `if ${one}\n    ${done}\nelse if ${two}\n    ${other}\n`),
  fc.constantFrom(...PLAIN).map((line) => `${line}\n`),
)
const bodies = fc.uniqueArray(statement, { minLength: 1, maxLength: 6 }).map((lines) => lines.join(''))

const LOOP = 'for i = 0 to 0\n    math.abs(close)\n'
const bars = barsOf(walk(400, 7))

function outcome(body: string) {
  const request = {
    source: HEAD + body,
    inputs: {},
    bars,
    symbol: TEST_SYMBOL,
    interval: '15m',
    limits: DEFAULT_LIMITS,
    series: () => null,
  }
  const { report, tracks } = runBacktest(request)
  return JSON.stringify([report.trades, report.orders, report.equity, tracks])
}

function passesOver(body: string): boolean {
  const { script } = compile(HEAD + body)
  return /^function idle/m.test(generate(planProgram(script!.program)).text)
}

test('bars that are passed over leave trades and tracks as they are', () => {
  let passing = 0
  let all = 0
  fc.assert(
    fc.property(bodies, (body) => {
      all++
      if (passesOver(body)) passing++
      expect(passesOver(body + LOOP)).toBe(false)
      expect(outcome(body)).toBe(outcome(body + LOOP))
    }),
    { numRuns: rounds(150) },
  )
  expect(passing / all).toBeGreaterThan(0.5)
})
