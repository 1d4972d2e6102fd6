// Successive halving: choices are first run on the beginning of the bars only, and the best of them go on to more of it.
//
// Jamieson and Talwalkar: Non-stochastic Best Arm Identification and Hyperparameter Optimization (2016). Here it is only a
// filter: what gets through is run on all in-sample bars and judged by that run alone. What does not is no trial of the sweep,
// but it was looked at, so the ledger counts it. Within a batch the ranks depend on the choices alone, never on the workers.

import { invalidField } from '../../lib/problem.ts'
import { wholeRun, type Measured } from '../../broker/measured.ts'
import type { SweepBody } from '../../wire/sweep.ts'

export type Halving = Required<NonNullable<SweepBody['halving']>>

/** Fewer bars than this say nothing about a choice. */
const LEAST_BARS = 50
const KEEP = 1 / 3
const RUNGS = 1

/** How many of the first bars each rung runs on, the fewest first. */
export function rungsOf({ keep, rungs }: Halving, inside: number): number[] {
  return Array.from({ length: rungs }, (_, rung) => Math.floor(inside * keep ** (rungs - rung)))
}

/** Checks what was asked for. Throws Problem 422 where halving is impossible. */
export function halvingOf(
  { halving, windows }: Pick<SweepBody, 'halving' | 'windows'>,
  sampler: string,
  inside: number,
): Halving | null {
  if (!halving) return null
  if (sampler === 'tpe' || sampler === 'cmaes')
    throw invalidField(
      '/halving',
      'sampler_learns',
      'A sampler that learns needs the outcome of every trial. Take grid, random or sobol.',
    )
  if (windows && windows.kind !== 'none' && windows.kind !== 'holdout')
    throw invalidField(
      '/halving',
      'windows_see_prefix',
      'The first bars are out of sample in the first windows. Take no windows, or a hold-out.',
    )
  const found = { keep: halving.keep ?? KEEP, rungs: halving.rungs ?? RUNGS }
  if ((rungsOf(found, inside)[0] ?? 0) < LEAST_BARS)
    throw invalidField(
      '/halving',
      'too_few_bars',
      `The first look would be at fewer than ${LEAST_BARS} bars. Take more bars, fewer rungs, or keep more.`,
    )
  return found
}

/** What is measured on a rung: no constraints, which are meant for all bars, since fewer bars have fewer trades. */
export function measuredOn(bars: number, { objective }: Measured): Measured {
  return { ...wholeRun(bars), objective }
}

/** The indices of the choices that go on, ascending: at least one, and of equal ones the first. */
export function survivors(scores: readonly (number | null)[], keep: number): number[] {
  return scores
    .map((score, place) => ({ score: score ?? -Infinity, place }))
    .sort((a, b) => b.score - a.score || a.place - b.place)
    .slice(0, Math.max(1, Math.ceil(scores.length * keep)))
    .map(({ place }) => place)
    .sort((a, b) => a - b)
}
