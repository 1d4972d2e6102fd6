// The figures of a verdict say what they count, which is not the same in a sweep and in a run.

import { expect, test } from 'bun:test'
import { chosenOf, robustOf, verdictRows } from '../../src/dashboard/sweeps/verdict-rows.ts'
import type { Verdict } from '../../src/wire/sweep.ts'

const p = (upper: number) => ({ statistic: 1, lower: upper, consistent: upper, upper })
const SWEEP = {
  length: null,
  overfitting: null,
  plateau: null,
  monteCarlo: null,
  costs: null,
  trials: 72,
  counted: 162,
  sharpe: {
    bars: 3573,
    deflated: 0.5,
    deflatedIndependent: 0.6,
    independent: 18,
    probabilistic: 0.9,
    leastBars: null,
  },
  snooping: { trials: 68, white: p(0.124), hansen: p(0.1) },
  heldOut: { bars: 1532, score: 1, trades: 5, netProfit: 1, netProfitPct: 0, efficiency: 1 },
} as unknown as Verdict
const RUN = {
  ...SWEEP,
  trials: 1,
  sharpe: { ...SWEEP.sharpe, bars: 5105, independent: 162 },
  snooping: { trials: 1, white: p(0.05), hansen: p(0.05) },
  heldOut: null,
} as unknown as Verdict

const notes = (of: Verdict) => Object.fromEntries(verdictRows(of).map(([name, , note]) => [name, note]))

test('luck says which tries it counts, on which bars', () => {
  expect(notes(SWEEP)).toMatchObject({
    'Deflated Sharpe ratio':
      'Chance that it is better than luck in all 162 tries, on the 3,573 bars that it was chosen by; above 95% convinces',
    '… with independent tries': '18 of them: all that are counted, as alike as this sweep’s',
    'White’s reality check, p': 'Of this sweep’s 68 trials alone; below 0.05 convinces',
  })
  expect(notes(RUN)).toMatchObject({
    'Deflated Sharpe ratio':
      'Chance that it is better than luck in all 162 tries, on the 5,105 bars; above 95% convinces',
    '… with independent tries': '162 of them: how alike they are, one run does not tell',
    'White’s reality check, p': 'Of this run alone; below 0.05 convinces',
  })
})

test('a plateau below zero says what that is', () => {
  const [row] = verdictRows({
    ...RUN,
    sharpe: null,
    snooping: null,
    plateau: { neighbours: 3, median: -1.33, least: -3.91 },
  }).slice(1)
  expect(row?.[2]).toStartWith('1 is flat, 0 a needle, and below 0 most neighbours score below it; least')
})

test('a trial that is the best and the most robust stands once', () => {
  const verdict = { ...SWEEP, best: { trial: 4, score: 1 } }
  expect(chosenOf(verdict, 4)).toEqual([['Best, and most robust', 4]])
  expect(chosenOf(verdict, 5)).toEqual([
    ['Best', 4],
    ['Most robust', 5],
  ])
  expect(chosenOf(verdict, null)).toEqual([['Best', 4]])
  expect(chosenOf({ ...SWEEP, best: null }, null)).toEqual([])
})

test('what loses is not called robust, in verdicts from before either', () => {
  const verdict = { ...SWEEP, robust: { trial: 2, score: -2020, median: -3000 } }
  const figures = (netProfit: number) => [{ trial: 2, figures: { netProfit } }]
  expect(robustOf(verdict, figures(-2020.16))).toBeNull()
  expect(robustOf(verdict, figures(10))).toBe(2)
  expect(robustOf({ ...SWEEP, robust: null }, figures(10))).toBeNull()
})
