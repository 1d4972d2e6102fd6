// The columns that a thread keeps between two parts of a sweep.

import { describe, expect, test } from 'bun:test'
import { TrialColumns } from '../../../src/broker/trial-columns.ts'
import { wholeRun } from '../../../src/broker/measured.ts'
import { runTrials } from '../../../src/broker/trial.ts'
import { KeptColumns } from '../../../src/work/workers/kept-columns.ts'
import { DEFAULT_LIMITS } from '../../../src/language/runtime/limits.ts'
import { TEST_SYMBOL, barsFrom } from '../../broker/drive.ts'

const VARIED = { inputs: ['length', 'other'], settings: false }
const make = () => new TrialColumns(10, VARIED)

describe('columns are kept from one job to the next', () => {
  test('of the same name, and no others', () => {
    const kept = new KeptColumns(() => () => {})
    const first = kept.of('a', make)
    expect(kept.of('a', make)).toBe(first)
    const other = kept.of('b', make)
    expect(other).not.toBe(first)
    expect(kept.of('a', make)).not.toBe(first)
  })

  test('until none has come for a while', () => {
    const waiting: (() => void)[] = []
    const kept = new KeptColumns((work) => {
      waiting.push(work)
      return () => void waiting.splice(waiting.indexOf(work), 1)
    })
    const first = kept.of('a', make)
    kept.rest(1)
    expect(kept.of('a', make)).toBe(first)
    expect(waiting).toHaveLength(0)
    kept.rest(1)
    waiting[0]?.()
    expect(kept.of('a', make)).not.toBe(first)
  })
})

test('what a thousand trials left behind is collected, and when no part has come for a while', () => {
  let [collected, ended] = [0, () => {}]
  const kept = new KeptColumns(
    (work) => {
      ended = work
      return () => {}
    },
    () => collected++,
  )
  for (let part = 0; part < 25; part++) {
    kept.of('a', make)
    kept.rest(100)
  }
  expect(collected).toBe(2)
  ended()
  expect(collected).toBe(3)
})

test('a script that was compiled again takes no columns of the one before, whatever they were called', () => {
  const closes = Array.from({ length: 60 }, (_, i) => Math.round(100 + 5 * Math.sin(i)))
  const bars = barsFrom(closes.map((close) => `${close}/${close + 1}/${close - 1}/${close}`).join(' '))
  const columns = new TrialColumns(bars.length, VARIED)
  const netProfit = (average: string, into: TrialColumns | undefined) => {
    const source = `//@version=6
strategy("x")
length = input.int(5)
other = input.int(1)
mean = ta.${average}(close, length)
if ta.crossover(close, mean)
    strategy.entry("L", strategy.long)
if ta.crossunder(close, mean)
    strategy.close("L")
`
    const request = {
      source,
      inputs: {},
      bars,
      symbol: TEST_SYMBOL,
      interval: '1h',
      limits: DEFAULT_LIMITS,
      series: () => null,
    }
    const points = [5, 7].map((length) => ({ inputs: { length }, overrides: {} }))
    const measured = { ...wholeRun(bars.length), figures: ['netProfit'] }
    return [...runTrials(request, points, measured, { columns: into }).rows]
  }
  const alone = ['sma', 'wma', 'sma'].map((average) => netProfit(average, undefined))
  expect(['sma', 'wma', 'sma'].map((average) => netProfit(average, columns))).toEqual(alone)
  expect(alone[0]).not.toEqual(alone[1])
})
