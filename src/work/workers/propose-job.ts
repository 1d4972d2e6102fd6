// Where a sweep that learns looks next, in a worker: of many trials that takes longer than the server's thread has.

import { seededRandom } from '../../lib/seeded-random.ts'
import { proposal } from '../../broker/statistics/parzen.ts'
import type { ProposeJob, ProposeOutput } from './job.ts'

export function proposeJob({ axes, places, scores, random: state }: ProposeJob): ProposeOutput {
  const trials = Array.from(scores, (score, i) => ({
    at: places.subarray(i * axes.length, (i + 1) * axes.length),
    score,
  }))
  const random = seededRandom(0)
  random.goOnFrom(state)
  const point = proposal(axes, trials, random)
  return { point, random: random.state() }
}
