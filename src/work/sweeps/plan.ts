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
import { BATCH, type Choice, type Choices, type Space } from './space.ts'

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
  next(): Choices | null
  /** Resolves when it makes sense to ask again after a null; null = as soon as others had their turn. */
  readonly pending: Promise<void> | null
  /** Outcomes of the last answer of `next`, in order; null = the trial failed or broke a constraint. */
  tell(scores: readonly (number | null)[]): void
}

/** `now` only decides when to pause, never what is tried. */
export function planOf(space: Space, planned: Planned, now: () => number, propose?: Propose): Plan {
  return new SampledPlan(space, samplerOf(space, planned, propose), planned.trials, now)
}

interface Trial {
  readonly point: Float64Array
  readonly choices: readonly Choice[]
  readonly key: string
}

class SampledPlan implements Plan {
  readonly #space: Space
  readonly #sampler: Sampler
  readonly #trials: number
  readonly #now: () => number
  /** Scores by choices. */
  readonly #known = new Map<string, number | null>()
  /** The batch that is put together or was asked for, by choices. */
  readonly #batch = new Map<string, Trial>()
  #misses = 0
  #asked = 0
  #isOver = false
  #pending: Promise<void> | null = null
  /** What was worked out elsewhere. */
  #brought: Float64Array | null = null
  /** The size of the batch being put together, kept across pauses; null between batches. */
  #wanted: number | null = null

  constructor(space: Space, sampler: Sampler, trials: number, now: () => number) {
    this.#space = space
    this.#sampler = sampler
    this.#trials = trials
    this.#now = now
  }

  get pending(): Promise<void> | null {
    return this.#pending
  }

  next(): Choices | null {
    let looked = 0
    const began = this.#now()
    // A sampler that learns says how many it wants before it is asked, since asking changes that number.
    this.#wanted ??= Math.min(BATCH, this.#trials - this.#asked, this.#sampler.batch)
    while (!this.#isOver && this.#batch.size < this.#wanted) {
      if (looked++ > LOOKED_MAX || (looked > 1 && Math.abs(this.#now() - began) > LOOKED_MS)) return null
      const point = this.#point()
      if (this.#pending) return null
      if (point) this.#take(point)
      else this.#isOver = true
    }
    this.#wanted = null
    this.#asked += this.#batch.size
    return [...this.#batch.values()].map(({ choices }) => choices)
  }

  /** What the sampler asks for; null: there is nothing left, or it is being worked out elsewhere. */
  #point(): Float64Array | null {
    if (this.#misses > MISSES_MAX || this.#known.size + this.#batch.size === this.#space.size) return null
    const brought = this.#brought
    this.#brought = null
    const elsewhere = brought ? null : this.#sampler.askElsewhere?.()
    if (!elsewhere) return brought ?? this.#sampler.ask()
    this.#pending = elsewhere.then((point) => {
      this.#brought = point
      this.#pending = null
    })
    return null
  }

  /** Adds a choice to the batch, unless it breaks a condition or was tried. */
  #take(point: Float64Array): void {
    const choices = this.#space.choose(point)
    const key = JSON.stringify(choices)
    const isKnown = this.#known.has(key)
    this.#misses++
    if (!this.#space.allows(choices) || (!isKnown && this.#batch.has(key))) this.#sampler.tell(point, NaN)
    else if (isKnown) this.#sampler.tell(point, this.#known.get(key) ?? -Infinity)
    else {
      this.#batch.set(key, { point, choices, key })
      this.#misses = 0
    }
  }

  tell(scores: readonly (number | null)[]): void {
    for (const [i, { point, key }] of [...this.#batch.values()].entries()) {
      const score = scores[i] ?? null
      this.#known.set(key, score)
      this.#sampler.tell(point, score ?? -Infinity)
    }
    this.#batch.clear()
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
