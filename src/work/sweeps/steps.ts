// Where the trials of a sweep stand in its space, for what judges them.

import type { TrialInputs } from '../../broker/measured.ts'
import { turn } from '../../lib/turn.ts'
import type { JudgeJob } from '../workers/job.ts'
import type { Choice, Choices, Space } from './space.ts'

/** As many trials are looked at in a turn of the server. */
const TURN_TRIALS = 500

/** Each trial's inputs, and the index of its value on each axis. */
export async function stepsOf(space: Space, all: Choices): Promise<Pick<JudgeJob, 'steps' | 'points'>> {
  const steps = new Int32Array(all.length * space.axes.length)
  const numbers = space.axes.map(() => new Map<Choice, number>())
  for (const [axis] of space.axes.entries()) {
    const values = [...new Set(all.map((choices) => choices[axis]!))]
    const sorted = values.every((value) => typeof value === 'number')
      ? values.toSorted((a, b) => a - b)
      : values
    for (const [i, value] of sorted.entries()) numbers[axis]!.set(value, i)
  }
  const points: TrialInputs[] = []
  for (const [trial, choices] of all.entries()) {
    if (trial % TURN_TRIALS === 0) await turn()
    points.push(space.pointOf(choices))
    for (const [axis, { count }] of space.axes.entries())
      steps[trial * space.axes.length + axis] = count === null ? -1 : numbers[axis]!.get(choices[axis]!)!
  }
  return { steps, points }
}
