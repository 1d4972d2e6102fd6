// What was run in parts is put together as if it had been run in one go.

import { expect, test } from 'bun:test'
import type { TrialsOutput } from '../../../src/work/workers/job.ts'
import { joined } from '../../../src/work/sweeps/joined.ts'

const winner = (trial: number, score: number) => ({
  trial,
  score,
  inProfit: 1,
  outProfit: 1,
  outDrawdownPct: 1,
})

const part = (names: readonly string[], more: Partial<TrialsOutput> = {}): TrialsOutput => ({
  rows: new Float64Array(names.map(Number)),
  failures: [],
  names,
  winners: [null, null],
  script: 's',
  formerly: 'f',
  tookMs: 2,
  ...more,
})

test('trials of later parts are counted from the first of all, and of equal winners the first wins', () => {
  const failure = { trial: 1, code: 'script_runtime_error', message: 'no' }
  const found = joined([
    part(['1', '2', '3'], { winners: [winner(2, 5), null] }),
    part(['4', '5'], { failures: [failure], winners: [winner(0, 5), winner(1, -1)] }),
    part(['6', '7'], { failures: [failure], winners: [winner(1, 6), winner(0, -2)] }),
  ])
  expect([...found.rows]).toEqual([1, 2, 3, 4, 5, 6, 7])
  expect(found.names).toEqual(['1', '2', '3', '4', '5', '6', '7'])
  expect(found.failures.map(({ trial }) => trial)).toEqual([4, 6])
  expect(found.winners.map((one) => one && [one.trial, one.score])).toEqual([
    [6, 6],
    [4, -1],
  ])
  expect(found).toMatchObject({ script: 's', formerly: 'f', tookMs: 6 })
})

test('nothing is joined to nothing', () => {
  expect(joined([])).toMatchObject({ names: [], failures: [], winners: [] })
})
