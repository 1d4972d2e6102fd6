// `chartroom sweep`: what it takes, what it says and what it writes.

import { expect, test } from 'bun:test'
import { variedOfFlag } from '../../src/cli/sweep-space.ts'
import { barsCsv, CROSS } from '../work/sweeps/sweep-server.ts'
import { chartroom, temporaryFolder } from './run.ts'

async function files() {
  const folder = temporaryFolder()
  await Bun.write(`${folder}/cross.pine`, CROSS)
  await Bun.write(`${folder}/bars.csv`, barsCsv(900))
  const sweep = (...args: string[]) =>
    chartroom(
      folder,
      'sweep',
      `${folder}/cross.pine`,
      '--bars',
      `${folder}/bars.csv`,
      '--workers',
      '1',
      ...args,
    )
  return { folder, sweep }
}

test.each([
  ['fast=5..50/5', { input: 'fast', min: 5, max: 50, step: 5 }],
  ['Fast length = .5..4', { input: 'Fast length', min: 0.5, max: 4 }],
  ['len=5..500/1:log', { input: 'len', min: 5, max: 500, step: 1, log: true }],
  ['x=-3..-1/1', { input: 'x', min: -3, max: -1, step: 1 }],
  ['kind=both, long', { input: 'kind', values: ['both', 'long'] }],
  ['on=true,false', { input: 'on', values: [true, false] }],
  ['strategy.pyramiding=0,2', { property: 'pyramiding', values: [0, 2] }],
])('--set %s', (text, varied) => {
  expect(variedOfFlag(text)).toEqual(varied as never)
})

test('says the verdict, the best trials and what is behind it, and writes every trial', async () => {
  const { folder, sweep } = await files()
  const space = ['--set', 'Fast=2..10/2', '--set', 'Slow=5..25/5', '--where', 'Fast < Slow']
  const wanted = ['--require', 'trades >= 5', '--objective', 'netProfit / max(maxDrawdown, 1)']
  const windows = ['--walk-forward', '--runs', '4', '--share', '0.2', '--csv', `${folder}/trials.csv`]
  const equity = ['--equity', `${folder}/equity.csv`]
  const { code, out, err } = await sweep(...space, ...wanted, ...windows, ...equity)
  expect([code, err]).toEqual([0, ''])
  expect(out).toMatch(/^Best of 21 tried\. Chance that luck alone did this: .*Walk-forward .*robust\.$/m)
  expect(out).toContain('Probability of overfitting')
  expect(out).toContain('Rules: profit')
  expect(out).toMatch(/^Out of sample, one window after another, [\d,.]+ became [\d,.]+: /m)
  const [head, ...rows] = (await Bun.file(`${folder}/equity.csv`).text()).trim().split('\n')
  expect([head, rows.at(-1)?.split(',')[2]]).toEqual(['time,equity,window,trial', '4'])
  expect((await Bun.file(`${folder}/trials.csv`).text()).trim().split('\n')).toHaveLength(22)
})

test('answers JSON, the same for the same seed', async () => {
  const { sweep } = await files()
  const args = ['--set', 'Fast=2..40/1', '--sampler', 'tpe', '--trials', '24', '--seed', '3', '--json']
  const more = ['--hold-out', '0.25', '--inputs', '{"Slow": 50}', '--properties', '{"initial_capital": 5000}']
  const first = await sweep(...args, ...more)
  expect(first.code).toBe(0)
  const { verdict, trials } = JSON.parse(first.out)
  expect(trials).toHaveLength(24)
  expect(verdict.heldOut.bars).toBe(225)
  expect((await sweep(...args, ...more)).out).toBe(first.out)
})

test.each([
  [[], 2, 'Name what to vary'],
  [['--set', 'fast'], 2, '--set takes NAME=MIN..MAX/STEP'],
  [['--set', 'Fast=1..5/1', '--sampler', 'best'], 2, '--sampler takes one of'],
  [['--set', 'Fast=1..5/1', '--hold-out', '2'], 2, '--hold-out takes a part'],
  [['--set', 'Fast=1..5/1', '--hold-out', '.2', '--matrix'], 2, 'Take either'],
  [['--set', 'Fast=1..5/1', '--equity', 'x.csv'], 2, '--equity goes with --walk-forward'],
  [['--set', 'Fast=1..5/1', '--anchored', '--runs', '99'], 2, '--runs takes a whole number from 2 to 50'],
  [['--set', 'Fast=5..1/1'], 1, "--set 'Fast=…': max must not be below min"],
  [['--set', 'strategy.slippage=-2..0/1'], 1, "--set 'strategy.slippage=…': slippage takes a whole number"],
  [['--set', 'strategy.slip=1,2'], 1, 'No argument "slip"; there are title, '],
  [['--set', 'Fast=2..9.5', '--trials', '4'], 1, 'a whole number needs one'],
  [['--set', 'Fast=2..9/1', '--where', 'Fast >'], 1, "--where 'Fast >': At character 7"],
  [['--set', 'Fast=2..9/1', '--require', 'trades >'], 1, "--require 'trades >': At character 9"],
  [['--set', 'Quick=1..5/1'], 1, 'no input named "Quick"'],
])('%j is refused in words', async (args, status, words) => {
  const { sweep } = await files()
  const { code, err } = await sweep(...args)
  expect(code).toBe(status)
  expect(err).toContain(words)
})

test('runs only the better half of the choices on all bars, if asked', async () => {
  const { sweep } = await files()
  const space = ['--set', 'Fast=2..40/2', '--inputs', '{"Slow": 50}', '--json']
  const tried = async (...more: string[]) => JSON.parse((await sweep(...space, ...more)).out).trials.length
  expect(await tried()).toBe(20)
  expect(await tried('--halving', '0.5')).toBe(10)
  expect(await tried('--halving', '0.5', '--rungs', '2')).toBe(5)
  expect((await sweep(...space, '--halving', '2')).err).toContain('--halving takes a part from 0.1 to 0.8.')
  expect((await sweep(...space, '--halving', '0.5', '--rungs', '4')).err).toContain(
    '--rungs takes a whole number from 1 to 3.',
  )
})
