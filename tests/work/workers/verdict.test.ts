// The sentence of a verdict: what was tried, how much of it may be luck, and the reason that decided.

import { expect, test } from 'bun:test'
import type { Verdict } from '../../../src/wire/sweep.ts'
import { type Judged, withLuck } from '../../../src/work/workers/verdict.ts'

const NOTHING = {
  trials: 4,
  scored: 4,
  failed: 0,
  counted: 4,
  best: { trial: 0, score: 1 },
  robust: null,
  sharpe: { deflated: 0.99, bars: 700 } as NonNullable<Verdict['sharpe']>,
  length: null,
  overfitting: null,
  snooping: null,
  heldOut: null,
  walkForward: null,
  plateau: null,
  monteCarlo: null,
  costs: null,
} satisfies Judged['verdict']

const said = (part: Partial<Judged['verdict']>, of: Partial<Judged> = {}) =>
  withLuck({ verdict: { ...NOTHING, ...part }, isOne: false, loses: false, lags: false, own: 4, ...of }, [])
    .sentence

const deflated = (chance: number | null) => ({ ...NOTHING.sharpe, deflated: chance })
const heldOut = (efficiency: number) => ({
  bars: 300,
  score: 1,
  trades: 9,
  netProfit: 100,
  netProfitPct: 0.1,
  efficiency,
})

test('the best is one of its own sweep, and those before are named beside it', () => {
  expect(said({})).toStartWith('Best of 4 tried. Chance')
  expect(said({ counted: 1640 })).toStartWith('Best of 4 tried (1,640 with those before). Chance')
  expect(said({ counted: 164 }, { loses: true })).toStartWith(
    'Best of 4 tried (164 with those before), and it loses money. Chance',
  )
  expect(said({ trials: 1, counted: 1 }, { own: 1 })).toStartWith('One tried. Chance')
})

test('what decides is named where the bars held out alone would speak for it', () => {
  const sentence = (efficiency: number, chance: number | null) =>
    said({ heldOut: heldOut(efficiency), sharpe: deflated(chance) }).replace(/^.*?(?=The bars)/, '')
  expect(sentence(1.94, 0.6)).toBe(
    'The bars held out keep 194% of the profit, but luck is likelier than 5%: not robust.',
  )
  expect(sentence(1.94, null)).toBe(
    'The bars held out keep 194% of the profit, but too few bars tell it from luck: not robust.',
  )
  expect(sentence(1.94, 0.96)).toBe('The bars held out keep 194% of the profit: robust.')
  expect(sentence(0.3, 0.6)).toBe('The bars held out keep 30% of the profit: not robust.')
})

test('of a walk-forward that keeps enough, the rule that fails is named', () => {
  const passes = { profit: true, efficiency: true, runs: true, spread: true, drawdown: true }
  const sentence = (efficiency: number, fails: Partial<typeof passes>, chance = 0.99) => {
    const cell = { share: 0.3, runs: 4, efficiency, profit: 10, profitableRuns: 2, windows: [] }
    const all = { ...passes, ...fails }
    const passed = Object.values(all).every(Boolean)
    const cells = [{ ...cell, passes: all, passed }]
    return said({ walkForward: { cells, passed: Number(passed) }, sharpe: deflated(chance) }).replace(
      /^.*?(?=Walk)/,
      '',
    )
  }
  expect(sentence(1.21, {})).toBe('Walk-forward keeps 121% of the profit: robust.')
  expect(sentence(1.21, { spread: false })).toBe(
    'Walk-forward keeps 121% of the profit, but one window earns more than half of it: not robust.',
  )
  expect(sentence(1.21, { runs: false }, 0.5)).toContain(
    'but fewer than half of its windows earn: not robust.',
  )
  expect(sentence(1.21, {}, 0.5)).toContain('but luck is likelier than 5%: not robust.')
  expect(sentence(0.3, { efficiency: false, spread: false })).toBe(
    'Walk-forward keeps 30% of the profit: not robust.',
  )
})
