// The one table of states: what is over stays over unless it is begun again, and no kind leaves its own states.

import { expect, test } from 'bun:test'
import { FORWARD_STATES, isUnderWay, JOB_STATES, mayFollow } from '../../src/wire/job-state.ts'

const ALL = [...new Set([...JOB_STATES, ...FORWARD_STATES])]
const nextOf = (state: (typeof ALL)[number]) =>
  ALL.filter((next) => next !== state && mayFollow(state, next)).join(' ')

test('what may follow each state', () => {
  expect(ALL.map((state) => `${state} ${isUnderWay({ state })}: ${nextOf(state)}`)).toEqual([
    'queued true: running done failed cancelled',
    'running true: queued done failed cancelled stopped',
    'done false: queued',
    'failed false: queued',
    'cancelled false: queued',
    'stopped false: ',
  ])
  for (const state of ALL) expect(mayFollow(state, state)).toBe(true)
})
