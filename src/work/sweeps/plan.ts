// Decides which trials a sweep makes, and in which order: what a sampler asks for, minus what breaks a condition and what
// was tried already.
//
// The plan is told the outcomes in the order of the trials, so it asks for the same trials with one worker or eight, and a
// plan that is told the stored outcomes goes on as if it had never stopped.

import { invalidField } from '../../lib/problem.ts'
import { cmaEsSampler } from './samplers/cma-es.ts'
import { gridSampler } from './samplers/grid.ts'
import { randomSampler } from './samplers/random.ts'
import type { Sampler } from './samplers/sampler.ts'
import { sobolSampler } from './samplers/sobol.ts'
import { tpeSampler, type Propose } from './samplers/tpe.ts'
import { BATCH, type Choice, type Space } from './space.ts'

export const SAMPLERS = ['grid', 'random', 'sobol', 'tpe', 'cmaes'] as const
export type SamplerName = (typeof SAMPLERS)[number]

/** After this many misses in a row we take everything as tried. */
const MISSES_MAX = 20_000
/** How many points are looked at, and for how long, before others get their turn. */
const LOOKED_MAX = 20_000
const LOOKED_MS = 8

export interface Planned {
  readonly sampler: SamplerName
  readonly seed: number
  /** The most trials. */
  readonly trials: number
}

export interface Plan {
  /** The next trials, each as the values of the space's names; [] = there are no more, null = ask again after a pause. */
  next(): readonly (readonly Choice[])[] | null
  /** Resolves when it makes sense to ask again after a null; null = as soon as others had their turn. */
  readonly pending: Promise<void> | null
  /** Outcomes of the last answer of `next`, in order; null = the trial failed or broke a constraint. */
  tell(scores: readonly (number | null)[]): void
}

/** `now` only decides when to pause, never what is tried. */
export function planOf(space: Space, planned: Planned, now: () => number, propose?: Propose): Plan {
  const sampler = samplerOf(space, planned, propose)
  const known = new Map<string, number | null>()
  const waiting: {
    readonly point: Float64Array
    readonly choices: readonly Choice[]
    readonly key: string
  }[] = []
  let misses = 0
  let asked = 0
  let isOver = false
  let pending: Promise<void> | null = null
  /** What was worked out elsewhere. */
  let brought: Float64Array | null = null
  /** The size of the batch being put together, kept across pauses; null between batches. */
  let wanted: number | null = null
  return {
    get pending() {
      return pending
    },
    next() {
      const batch = waiting.splice(0)
      const keys = new Set(batch.map(({ key }) => key))
      let looked = 0
      const began = now()
      // A sampler that learns says how many it wants before it is asked, since asking changes that number.
      wanted ??= Math.min(BATCH, planned.trials - asked, sampler.batch)
      while (!isOver && batch.length < wanted) {
        if (looked++ > LOOKED_MAX || (looked > 1 && Math.abs(now() - began) > LOOKED_MS)) {
          waiting.push(...batch)
          return null
        }
        const isExhausted = misses > MISSES_MAX || known.size + batch.length === space.size
        const elsewhere = isExhausted || brought ? null : (sampler.askElsewhere?.() ?? null)
        if (elsewhere) {
          pending = elsewhere.then((point) => {
            brought = point
            pending = null
          })
          waiting.push(...batch)
          return null
        }
        const point = isExhausted ? null : (brought ?? sampler.ask())
        brought = null
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
        } else if (keys.has(key)) {
          sampler.tell(point, NaN)
          misses++
        } else {
          batch.push({ point, choices, key })
          keys.add(key)
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

function samplerOf({ axes, size }: Space, { sampler, seed }: Planned, propose?: Propose): Sampler {
  if (sampler === 'tpe') return tpeSampler(axes, seed, propose)
  if (sampler !== 'grid') return SEEDED[sampler](axes, seed)
  if (size !== null) return gridSampler(axes)
  throw invalidField(
    '/sampler',
    'grid_without_steps',
    'A grid needs a step for every range. Give steps, or another sampler.',
  )
}

const SEEDED = { random: randomSampler, sobol: sobolSampler, cmaes: cmaEsSampler } as const
