// Which trials a sweep makes, and in which order: what a sampler asks for, without what breaks a condition and without what
// was tried already.
//
// The plan is told every outcome in the order of the trials, so it asks for the same with one worker or eight, and a plan
// that is told again what is stored asks on as if nothing had happened.

import { invalidField } from '../lib/problem.ts'
import { cmaEsSampler } from './samplers/cma-es.ts'
import { gridSampler } from './samplers/grid.ts'
import { randomSampler } from './samplers/random.ts'
import type { Sampler } from './samplers/sampler.ts'
import { sobolSampler } from './samplers/sobol.ts'
import { tpeSampler } from './samplers/tpe.ts'
import type { Choice, Space } from './space.ts'

export const SAMPLERS = ['grid', 'random', 'sobol', 'tpe', 'cmaes'] as const
export type SamplerName = (typeof SAMPLERS)[number]

/** Trials in one go where the sampler does not learn. */
export const BATCH = 200
/** So many misses in a row: what there is to be tried has been tried. */
const MISSES_MAX = 20_000
/** Points looked at, and time spent on it, before others have a turn. */
const LOOKED_MAX = 20_000
const LOOKED_MS = 8

export interface Planned {
  readonly sampler: SamplerName
  readonly seed: number
  /** Most trials. */
  readonly trials: number
}

export interface Plan {
  /** The next trials, each as the values of the space's names; [] = there are no more, null = look again after a pause. */
  next(): readonly (readonly Choice[])[] | null
  /** Outcomes of what `next` answered last, in its order; null = the trial failed or broke a constraint. */
  tell(scores: readonly (number | null)[]): void
}

/** `now` only says when to pause, never what is tried. */
export function planOf(space: Space, planned: Planned, now: () => number): Plan {
  const sampler = samplerOf(space, planned)
  const known = new Map<string, number | null>()
  const waiting: {
    readonly point: Float64Array
    readonly choices: readonly Choice[]
    readonly key: string
  }[] = []
  let misses = 0
  let asked = 0
  let isOver = false
  /** Of the batch that is looked for, also across pauses; null between batches. */
  let wanted: number | null = null
  return {
    next() {
      const batch = waiting.splice(0)
      let looked = 0
      const began = now()
      // A sampler that learns says how many it wants before it is told; asking moves that number.
      wanted ??= Math.min(BATCH, planned.trials - asked, sampler.batch)
      while (!isOver && batch.length < wanted) {
        if (looked++ > LOOKED_MAX || (looked > 1 && Math.abs(now() - began) > LOOKED_MS)) {
          waiting.push(...batch)
          return null
        }
        const isExhausted = misses > MISSES_MAX || known.size + batch.length === space.size
        const point = isExhausted ? null : sampler.ask()
        if (point === null) {
          isOver = true
          break
        }
        const choices = space.choose(point)
        const key = JSON.stringify(choices)
        if (!space.allows(choices)) {
          sampler.tell(point, NaN)
          misses++
        } else if (known.has(key)) {
          sampler.tell(point, known.get(key) ?? -Infinity)
          misses++
        } else if (batch.some((other) => other.key === key)) {
          sampler.tell(point, NaN)
          misses++
        } else {
          batch.push({ point, choices, key })
          misses = 0
        }
      }
      wanted = null
      asked += batch.length
      waiting.push(...batch)
      return batch.map(({ choices }) => choices)
    },
    tell(scores) {
      for (const [i, { point, key }] of waiting.splice(0).entries()) {
        const score = scores[i] ?? null
        known.set(key, score)
        sampler.tell(point, score ?? -Infinity)
      }
    },
  }
}

function samplerOf({ axes, size }: Space, { sampler, seed }: Planned): Sampler {
  if (sampler !== 'grid') return SEEDED[sampler](axes, seed)
  if (size !== null) return gridSampler(axes)
  throw invalidField(
    '/sampler',
    'grid_without_steps',
    'A grid needs a step for every range. Give steps, or another sampler.',
  )
}

const SEEDED = { random: randomSampler, sobol: sobolSampler, tpe: tpeSampler, cmaes: cmaEsSampler } as const
