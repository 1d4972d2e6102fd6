// `chartroom simulate`: what it says, and what it refuses.

import { expect, test } from 'bun:test'
import { chartroom, temporaryFolder } from './run.ts'

test('the command says what it has done, and what it does not know', async () => {
  const folder = temporaryFolder()
  const args = [
    '--seed',
    '7',
    '--hours',
    '1',
    '--users',
    '2',
    '--worlds',
    '1',
    '--servers',
    '1',
    '--faults',
    'kill,stop',
    '--trace',
  ]
  const { out, code } = await chartroom(folder, 'simulate', ...args)
  expect([code, out]).toEqual([0, expect.stringContaining('seed 7: nothing found in 1 h')])
  expect(out).toContain('server-1: starts')
  const wrong = await chartroom(folder, 'simulate', '--faults', 'flood')
  expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining('There is no fault "flood"')])
})
