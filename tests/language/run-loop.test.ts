// Bars on which a script does nothing are passed over, and nobody notices.

import { describe, expect, test } from 'bun:test'
import { planProgram } from '../../src/language/3-plan/plan.ts'
import { generate } from '../../src/language/4-generate/generate.ts'
import type { OrderRequest } from '../../src/language/broker.ts'
import { compile } from '../../src/language/compile.ts'
import { barsOf, plotted, recordingBroker, runScript, type Order } from './run-script.ts'

const CLOSES = [10, 12, 11, 15, 14, 18, 9, 9]
const strategy = (body: string, version = 6) => `//@version=${version}\nstrategy("x")\n${body}\n`
const buy = 'strategy.entry("L", strategy.long)'
const sell = 'strategy.entry("S", strategy.short)'

function passesOver(source: string): boolean {
  const { script } = compile(source)
  return /^function idle/m.test(generate(planProgram(script!.program)).text)
}

/** The bars on which something was ordered, with what. */
function ordered(source: string): string[] {
  const orders: Order[] = []
  const broker = recordingBroker(orders)
  const noted: string[] = []
  const desk = new Proxy(broker.desk, {
    get:
      () =>
      (...args: unknown[]) =>
        noted.push(`${broker.account.bar} ${(args[1] as OrderRequest).id}`),
  })
  runScript(source, barsOf(CLOSES), { broker: { ...broker, desk } })
  return noted
}

describe('orders come on the bars they belong to', () => {
  for (const [name, body, expected] of [
    ['of ifs', `if close > close[1]\n    ${buy}\nif close < 10\n    ${sell}`, '1 L,3 L,5 L,6 S,7 S'],
    ['of an if whose variable is known ahead', `up = ta.change(close) > 2\nif up\n    ${buy}`, '3 L,5 L'],
    [
      'of a chain of else ifs',
      `if close > 14\n    ${buy}\nelse if close < 10\n    ${sell}\nelse if bar_index == 0\n    ${buy}`,
      '0 L,3 L,5 L,6 S,7 S',
    ],
    ['of an if within an if', `if close > 10\n    if close > 14\n        ${buy}`, '3 L,5 L'],
    ['that asks the broker', `if strategy.position_size == 0 and close > 14\n    ${buy}`, '3 L,5 L'],
    [
      'that asks for the past of the position',
      `if strategy.position_size[1] == 0 and close > 14\n    ${buy}`,
      '3 L,5 L',
    ],
    ['that asks for the hour', `if hour == 0 and math.abs(close - 15) < 4\n    ${buy}`, '1 L,3 L'],
    [
      'with a variable that stays',
      `var top = 10.0\nif close > top\n    top := close\n    ${buy}`,
      '1 L,3 L,5 L',
    ],
    [
      'that notes what was',
      `var before = 0.0\nif close < before\n    ${sell}\nbefore := close > 11 ? close : before`,
      '2 S,4 S,6 S,7 S',
    ],
    [
      'that reads the past of a variable that stays',
      `var top = 10.0\nif close > top\n    top := close\nif top[2] < 12 and top > 11\n    ${buy}\nplot(top)`,
      '2 L',
    ],
  ] as const)
    for (const version of [5, 6])
      test(`a body ${name}, v${version}`, () => {
        const source = strategy(body, version)
        expect(passesOver(source)).toBe(true)
        expect(ordered(source).join()).toBe(expected)
      })

  for (const [name, body, expected] of [
    ['else', `if close > 14\n    ${buy}\nelse\n    ${sell}`, '0 S,1 S,2 S,3 L,4 S,5 L,6 S,7 S'],
    ['state', `var n = 0\nn += 1\nif n % 4 == 0\n    ${buy}`, '3 L,7 L'],
    ['a plot of the equity', `if close > 14\n    ${buy}\nplot(strategy.equity)`, '3 L,5 L'],
    ['a label', `if close > 14\n    ${buy}\nlabel.new(bar_index, close)`, '3 L,5 L'],
    [
      'an else of several statements',
      `if close > 14\n    ${buy}\nelse\n    ${sell}\n    if close < 10\n        ${buy}`,
      '0 S,1 S,2 S,3 L,4 S,5 L,6 S,6 L,7 S,7 L',
    ],
  ] as const)
    test(`a body with ${name} runs on every bar`, () => {
      expect(passesOver(strategy(body))).toBe(false)
      expect(ordered(strategy(body)).join()).toBe(expected)
    })
})

describe('the broker hears of a bar', () => {
  const called = (body: string, more: object) => {
    const bars: number[] = []
    const broker = recordingBroker([], { ...more, onBar: (bar: number) => bars.push(bar) })
    runScript(strategy(body), barsOf(CLOSES), { broker })
    expect(broker.account.bar).toBe(CLOSES.length - 1)
    return bars
  }
  for (const [name, body] of [
    ['that is passed over', `if close > 100\n    ${buy}`],
    ['on which the script runs', `var n = 0\nn += 1\nif n == 100\n    ${buy}`],
  ] as const) {
    test(`${name} where its prices call the position`, () => {
      // Each bar's high and low are its close and the one before, one beyond at either end.
      expect(called(body, {})).toEqual([])
      expect(called(body, { callAbove: 15 })).not.toEqual([])
      const high = called(body, { callAbove: 18.5 })
      const low = called(body, { callBelow: 8.5 })
      expect(high.every((bar) => bar === 5 || bar === 6)).toBe(true)
      expect(low.every((bar) => bar >= 6)).toBe(true)
      expect(low.length).toBeGreaterThan(0)
    })
    test(`${name} where an order waits`, () => {
      expect(called(body, { busy: true })).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
    })
  }
})

test('an indicator of columns alone has nothing to run, and stands at its last bar', () => {
  const run = runScript('//@version=6\nindicator("x")\nplot(ta.sma(close, 2))\n', barsOf(CLOSES))
  expect(run.position).toBe(CLOSES.length)
  expect(plotted(run).slice(1)).toEqual([11, 11.5, 13, 14.5, 16, 13.5, 9])
})
