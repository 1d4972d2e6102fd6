// Tries random places, each as likely as any other: the baseline that other samplers have to beat.

import { seededRandom } from '../../../lib/seeded-random.ts'
import type { Axis } from '../../../broker/statistics/parzen.ts'
import type { Sampler } from './sampler.ts'

export function randomSampler(axes: readonly Axis[], seed: number): Sampler {
  const random = seededRandom(seed)
  return {
    batch: Infinity,
    ask: () => Float64Array.from(axes, () => random.uniform()),
    tell() {},
  }
}
