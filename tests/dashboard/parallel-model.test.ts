// Trials side by side: where their lines pass the axes, and which of them bands choose.

import { expect, test } from 'bun:test'
import { marketText, saidText } from '../../src/dashboard/format.ts'
import { partOf, togetherness } from '../../src/dashboard/portfolios/portfolio-model.ts'
import { axesOf, drawn, isChosen, linesOf, WHOLE } from '../../src/dashboard/sweeps/parallel-model.ts'
import type { Backtest } from '../../src/wire/backtest.ts'
import type { SweepTrial } from '../../src/wire/sweep.ts'

const trial = (number: number, choices: SweepTrial['choices'], score: number | null): SweepTrial => ({
  trial: number,
  choices,
  score,
  figures: { trades: 10 * number, maxDrawdownPct: 0.1 * number },
  sharpe: null,
  outside: null,
  error: null,
})
const TRIALS = [
  trial(0, [5, 'long', true], 100),
  trial(1, [10, 'both', true], null),
  trial(2, [15, 'long', true], 300),
]
const AXES = axesOf(['Fast', 'Kind', 'Switch'], TRIALS, 'Fall')

test('an axis goes from the least to the most, over texts in the order they come, and says what is where', () => {
  expect(AXES.map(({ name }) => name)).toEqual(['Fast', 'Kind', 'Switch', 'Trades', 'Fall', 'Score'])
  expect(AXES.map(({ at }) => at(TRIALS[1]!))).toEqual([0.5, 1, 0, 0.5, 0.5, null])
  expect(AXES.map(({ shown }) => shown(1))).toEqual(['15', 'both', 'true', '20', '20.00%', '300'])
  expect(AXES.map(({ shown }) => shown(0))).toEqual(['5', 'long', 'true', '0', '0.00%', '100'])
})

test('what is the same everywhere lies in the middle, and what nobody has is nowhere', () => {
  const [fast, , , score] = axesOf(['Fast'], [trial(1, [5], null), trial(1, [5], null)], 'Fall')
  expect(fast!.at(trial(1, [5], null))).toBe(0.5)
  expect([score!.at(trial(1, [5], null)), score!.shown(1)]).toEqual([null, ''])
})

test('a trial is chosen within all bands, and without a value only where its axis is whole', () => {
  const chosen = (...bands: readonly (readonly [number, number])[]) =>
    TRIALS.filter((one) => isChosen(one, AXES, bands)).map((one) => one.trial)
  expect(chosen()).toEqual([0, 1, 2])
  expect(chosen([0, 0.5])).toEqual([0, 1])
  expect(chosen([0.5, 1], [0, 0.4])).toEqual([2])
  expect(chosen(WHOLE, WHOLE, WHOLE, WHOLE, WHOLE, [0, 0.99])).toEqual([0])
})

test('of very many trials the best are drawn, and some of the others', () => {
  expect(drawn(TRIALS)).toBe(TRIALS)
  const many = Array.from({ length: 9000 }, (_, i) => trial(i, [i, 'long', true], i))
  const some = drawn(many)
  expect(some.length).toBeLessThanOrEqual(2000)
  expect(new Set(some.slice(0, 1000).map((one) => one.trial))).toEqual(
    new Set(Array.from({ length: 1000 }, (_, i) => 8999 - i)),
  )
})

test('a line is broken where a trial has no value', () => {
  const place = (axis: number, at: number) => [axis, at] as const
  expect(linesOf([TRIALS[1]!], AXES, place)).toBe('M0 0.5L1 1.0L2 0.0L3 0.5L4 0.5')
})

test('a backtest as a part leaves its capital and its currency behind', () => {
  const backtest = {
    name: 'a',
    exchange: 'X',
    symbol: 'ABC',
    interval: '1d',
    bars: 5,
    source: 'x',
    inputs: { n: 1 },
    overrides: { initial_capital: 5, currency: 'EUR', slippage: 2 },
  } as unknown as Backtest
  expect(partOf(backtest, 3)).toMatchObject({ priority: 3, inputs: { n: 1 }, overrides: { slippage: 2 } })
  expect(partOf(backtest, 3).overrides).toEqual({ slippage: 2 })
  expect(marketText(backtest)).toBe('X:ABC 1D')
  const tried = 'Tried 3 combinations of this script on X:ABC 1d. Chance that luck alone did this: 5%.'
  expect(saidText(tried)).toBe(tried.replace('1d', '1D'))
})

test('a correlation is said in words', () => {
  expect([1, 0.5, 0, -0.5, null].map(togetherness)).toEqual([
    'in step',
    'partly together',
    'independent',
    'against each other',
    'nothing to compare',
  ])
})
