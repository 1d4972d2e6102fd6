// Tree-structured Parzen estimator (broker/statistics/parzen.ts): after a few random trials, each is drawn where the best are dense.
//
// What a proposal costs grows with the trials before it. From some hundred trials on it is worked out elsewhere, if there is
// an elsewhere: by the same code, from the same random numbers, so what is tried does not depend on where.

import type { ProposeJob, ProposeOutput } from '../../workers/job.ts'
import { seededRandom } from '../../../lib/seeded-random.ts'
import { proposal, snapped, type Axis, type ScoredPoint } from '../../../broker/statistics/parzen.ts'
import type { Sampler } from './sampler.ts'

/** How many trials are random before the sampler learns. */
const STARTUP = 10
/** Refusals in a row: after LOST it sometimes tries a random place, and after GIVEN_UP always, which costs nothing. */
const LOST = 20
const GIVEN_UP = 100
/** From here on a proposal takes more than half a millisecond. */
const DEAR = 150

/** Works a proposal out elsewhere. */
export type Propose = (job: ProposeJob) => Promise<ProposeOutput>

export function tpeSampler(axes: readonly Axis[], seed: number, propose?: Propose): Sampler {
  const random = seededRandom(seed)
  const trials: ScoredPoint[] = []
  /** Places that it learned from. Learning one again would only make every proposal slower. */
  const told = new Set<string>()
  let refused = 0
  // If conditions refuse its favourite places, it sometimes tries a random one, or it would never end.
  const isLost = () => refused > GIVEN_UP || (refused > LOST && random.uniform() < 0.5)
  const anywhere = () => Float64Array.from(axes, () => random.uniform())
  return {
    batch: 4,
    ask() {
      if (trials.length < STARTUP || isLost()) return anywhere()
      return proposal(axes, trials, random)
    },
    askElsewhere() {
      if (!propose || trials.length < DEAR) return null
      if (isLost()) return Promise.resolve(anywhere())
      return propose({ axes, ...packed(axes.length, trials), random: random.state() }).then((found) => {
        random.goOnFrom(found.random)
        return found.point
      })
    },
    tell(point, score) {
      const at = point.map((u, axis) => snapped(u, axes[axis]!))
      const place = at.join()
      if (Number.isNaN(score) || told.has(place)) {
        refused++
        return
      }
      refused = 0
      told.add(place)
      trials.push({ at, score })
    },
  }
}

function packed(width: number, trials: readonly ScoredPoint[]): Pick<ProposeJob, 'places' | 'scores'> {
  const places = new Float64Array(width * trials.length)
  for (const [i, { at }] of trials.entries()) places.set(at, i * width)
  return { places, scores: Float64Array.from(trials, ({ score }) => score) }
}
