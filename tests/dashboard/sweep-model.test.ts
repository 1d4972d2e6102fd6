// Ranges that are suggested for inputs, and the map of the scores.

import { describe, expect, test } from 'bun:test'
import { inNames, inWords } from '../../src/dashboard/sweeps/figure-words.ts'
import {
  allowedOf,
  choicesOf,
  heatOf,
  inRows,
  plannedText,
  propertyRows,
  rowProblem,
  rowsOf,
  scoreText,
  variedOf,
} from '../../src/dashboard/sweeps/sweep-model.ts'
import type { Input } from '../../src/wire/script.ts'
import type { SweepTrial } from '../../src/wire/sweep.ts'

const input = (part: Partial<Input>): Input => ({
  label: 'Length',
  kind: 'int',
  default: 20,
  minval: null,
  maxval: null,
  step: null,
  options: null,
  tooltip: '',
  group: '',
  inline: '',
  active: true,
  ...part,
})

test.each([
  ['netProfit', 'net profit'],
  ['netProfit / max(maxDrawdown, 1)', 'net profit / max(max drawdown, 1)'],
  ['-maxDrawdownPct', '-max drawdown in %'],
  ['trades >= 30 and long.winRate != 0.5', 'trades ≥ 30 and win rate of longs ≠ 0.5'],
  ['equity.cagr * sharpe', 'CAGR * Sharpe ratio'],
  ['"netProfit line" > 0', '"netProfit line" > 0'],
])('the figure %s is read as %s', (written, read) => {
  expect(inWords(written)).toBe(read)
})

describe('a range is suggested', () => {
  test.each([
    [{}, { input: 'Length', min: 10, max: 40, step: 5 }],
    [{ default: 1 }, { input: 'Length', min: 1, max: 2, step: 1 }],
    [
      { default: 14, minval: 10, maxval: 20 },
      { input: 'Length', min: 10, max: 20, step: 2 },
    ],
    [
      { kind: 'float' as const, default: 2.5, step: 0.5 },
      { input: 'Length', min: 1.5, max: 5, step: 0.5 },
    ],
    [
      { kind: 'float' as const, default: 0 },
      { input: 'Length', min: 0, max: 1, step: 0.2 },
    ],
    [
      { kind: 'bool' as const, default: true },
      { input: 'Length', values: [true, false] },
    ],
    [
      { kind: 'string' as const, default: 'a', options: ['a', 'b c'] },
      { input: 'Length', values: ['a', 'b c'] },
    ],
    [
      { kind: 'source' as const, default: 'close' },
      { input: 'Length', values: ['open', 'high', 'low', 'close', 'hl2', 'hlc3', 'ohlc4', 'hlcc4'] },
    ],
    [
      { default: 5, options: [5, 10] },
      { input: 'Length', values: [5, 10] },
    ],
  ])('%j', (part, varied) => {
    const [row] = rowsOf([input(part)])
    expect(variedOf(row!)).toEqual(varied as never)
    expect(rowProblem(row!)).toBeNull()
  })
  test('of the properties of strategy(), by their names', () => {
    const [row] = propertyRows()
    expect(variedOf(row!)).toEqual({ property: 'pyramiding', min: 0, max: 3, step: 1 })
    for (const one of propertyRows()) expect([one.on, rowProblem(one)]).toEqual([false, null])
  })
  test('none where there is nothing to vary', () => {
    expect(
      rowsOf([input({ kind: 'color', default: '#000000' }), input({ kind: 'session', default: '' })]),
    ).toEqual([])
  })
  test('the first two numbers are chosen, and their combinations counted', () => {
    const rows = rowsOf([input({}), input({ label: 'b' }), input({ label: 'c' })])
    expect(rows.map(({ on }) => on)).toEqual([true, true, false])
    expect(choicesOf(rows)).toBe(49)
    expect(choicesOf([{ ...rows[0]!, step: '' }])).toBeNull()
  })
  test('what is half typed is no range', () => {
    const [row] = rowsOf([input({})])
    expect(rowProblem({ ...row!, min: '' })).toEqual({ part: 'min', text: 'Say from where.' })
    expect(rowProblem({ ...row!, max: '' })).toEqual({ part: 'max', text: 'Say to where.' })
    expect(rowProblem({ ...row!, min: '24', max: '6' })).toEqual({
      part: 'max',
      text: 'The end, 6, is below the start, 24.',
    })
    expect(rowProblem({ ...row!, step: '0' })).toEqual({
      part: 'step',
      text: 'The step must be above 0, not 0.',
    })
    expect(rowProblem({ ...row!, step: '0.5' })?.part).toBe('step')
    expect(rowProblem({ ...row!, min: '1.5' })?.part).toBe('min')
    expect(rowProblem({ ...row!, step: '' })).toBeNull()
  })
  test('what the script does not take is refused at its field, with the script’s bounds', () => {
    const [row] = rowsOf([input({ minval: 1, maxval: 500 })])
    expect(rowProblem({ ...row!, min: '-5' })).toEqual({
      part: 'min',
      text: 'The script takes 1 or more here, not -5.',
    })
    expect(rowProblem({ ...row!, max: '501' })).toEqual({
      part: 'max',
      text: 'The script takes 500 or less here, not 501.',
    })
    const [list] = rowsOf([input({ default: 5, options: [5, 10] })])
    expect(rowProblem({ ...list!, values: '5, ten' })).toEqual({
      part: 'values',
      text: '“ten” is no number.',
    })
  })
  test('what would be tried counts its condition and the bars that there are', () => {
    const range = (label: string, min: string, max: string, step: string) => ({
      ...rowsOf([input({ label })])[0]!,
      on: true,
      min,
      max,
      step,
    })
    const rows = [range('Fast', '6', '24', '2'), range('Slow', '15', '50', '5')]
    expect([choicesOf(rows), allowedOf(rows, 'Fast < Slow')]).toEqual([80, 72])
    expect(allowedOf(rows, '')).toBe(80)
    expect(allowedOf(rows, 'Fast > Slow * 9')).toBe(0)
    for (const where of ['Fast <', 'Other < Slow']) expect(allowedOf(rows, where)).toBeNull()
    const grid = {
      size: 80,
      allowed: 72,
      isGrid: true,
      trials: 1000,
      bars: 20_000,
      isHeldOut: false,
      cached: 5105,
    }
    expect(plannedText(grid)).toBe(
      '72 trials of 80 combinations, as the condition leaves, on all 5,105 bars.',
    )
    expect(plannedText({ ...grid, allowed: 80, bars: 500 })).toBe('80 trials, on the last 500 bars.')
    expect(plannedText({ ...grid, allowed: 80, isHeldOut: true })).toBe(
      '80 trials, on the first 70% of all 5,105 bars.',
    )
    expect(plannedText({ ...grid, allowed: null, cached: null })).toBe(
      'At most 80 trials, fewer by the condition, on the last 20,000 bars, or all if there are fewer.',
    )
    expect(plannedText({ ...grid, size: 5000, allowed: 4000, isGrid: false })).toBe(
      '1,000 trials of 4,000 combinations, on all 5,105 bars.',
    )
  })
  test('a refusal of the server names the row', () => {
    const rows = rowsOf([input({ label: 'Fast' })])
    expect(inRows([{ path: '/space/0/step' }, { path: '/space/0' }, { path: '/where/0' }], rows)).toEqual([
      { path: '/Fast, step' },
      { path: '/Fast' },
      { path: '/where/0' },
    ])
  })
})

describe('the map', () => {
  const trial = (number: number, choices: SweepTrial['choices'], score: number | null): SweepTrial => ({
    trial: number,
    choices,
    score,
    figures: {},
    sharpe: 0,
    outside: null,
    error: null,
  })
  const trials = [
    trial(0, [10, 'a', 1], 5),
    trial(1, [2, 'a', 1], 1),
    trial(2, [2, 'a', 2], 9),
    trial(3, [2, 'a', 3], 3),
    trial(4, [2, 'b', 1], null),
  ]
  test('shows the best or the median of what shares a cell, in order', () => {
    const best = heatOf(trials, 0, 1, 'best')
    expect(best.columns).toEqual(['2', '10'])
    expect(best.rows).toEqual(['a', 'b'])
    expect(best.cells[0]).toEqual([
      { score: 9, trial: 2, count: 3 },
      { score: 5, trial: 0, count: 1 },
    ])
    expect(best.cells[1]).toEqual([null, null])
    expect(heatOf(trials, 0, 1, 'median').cells[0]![0]).toEqual({ score: 3, trial: 2, count: 3 })
    expect([best.least, best.most]).toEqual([5, 9])
  })
  test('has one row for one input, and groups numbers that are many', () => {
    const many = Array.from({ length: 100 }, (_, i) => trial(i, [i / 10], i))
    const heat = heatOf(many, 0, null, 'best')
    expect(heat.rows).toHaveLength(1)
    expect(heat.columns.length).toBeLessThanOrEqual(16)
    expect(heat.columns[0]).toBe('0–0.6')
    expect(heat.cells[0]!.at(-1)!.score).toBe(99)
  })
})

test('a score has cents if it is an amount, and more digits if it is a ratio', () => {
  expect([1215.65, -417.125, 1.23456, -0.01234, null].map(scoreText)).toEqual([
    '1,215.65',
    '−417.13',
    '1.2346',
    '−0.0123',
    '—',
  ])
})

test('figures are written as the report names them, or as the API does', () => {
  const names = ['netProfit', 'maxDrawdown', 'maxDrawdownPct', 'profitFactor', 'sharpe', 'trades', 'cagr']
  const sent = (text: string) => inNames(text, names)
  expect(sent('net profit / max(max drawdown, 1)')).toBe('netProfit / max(maxDrawdown, 1)')
  expect(sent('Trades >= 30, Profit factor > 1.2')).toBe('trades >= 30, profitFactor > 1.2')
  expect(sent('-max drawdown in % + Sharpe ratio * CAGR')).toBe('-maxDrawdownPct + sharpe * cagr')
  expect(sent('netProfit / maxDrawdown')).toBe('netProfit / maxDrawdown')
  expect(sent('"Net profit" < trades')).toBe('"Net profit" < trades')
  for (const name of names) expect(sent(inWords(name))).toBe(name)
})
