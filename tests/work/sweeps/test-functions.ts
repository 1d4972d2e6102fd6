// Functions with a known minimum, for samplers to be measured on. Regret is how far above it the best trial is.

import type { Axis } from '../../../src/broker/statistics/parzen.ts'
import type { Sampler } from '../../../src/work/sweeps/samplers/sampler.ts'

export interface TestFunction {
  readonly name: string
  readonly axes: number
  readonly trials: number
  /** Of coordinates from 0 to 1. */
  readonly at: (u: Float64Array) => number
  readonly minimum: number
}

const scaled = (u: number, from: number, to: number) => from + u * (to - from)

const HARTMANN_A = [
  [3, 10, 30],
  [0.1, 10, 35],
  [3, 10, 30],
  [0.1, 10, 35],
]
const HARTMANN_P = [
  [0.3689, 0.117, 0.2673],
  [0.4699, 0.4387, 0.747],
  [0.1091, 0.8732, 0.5547],
  [0.0381, 0.5743, 0.8828],
]

export const TEST_FUNCTIONS: readonly TestFunction[] = [
  {
    name: 'Branin',
    axes: 2,
    trials: 128,
    minimum: 0.39788735772973816,
    at([u = 0, v = 0]) {
      const x = scaled(u, -5, 10)
      const y = scaled(v, 0, 15)
      const inner = y - (5.1 / (4 * Math.PI ** 2)) * x * x + (5 / Math.PI) * x - 6
      return inner ** 2 + 10 * (1 - 1 / (8 * Math.PI)) * Math.cos(x) + 10
    },
  },
  {
    name: 'Hartmann 3',
    axes: 3,
    trials: 192,
    minimum: -3.86278214782076,
    at: (u) =>
      -[1, 1.2, 3, 3.2].reduce((sum, alpha, i) => {
        const inner = [0, 1, 2].reduce(
          (s, j) => s + HARTMANN_A[i]![j]! * (u[j]! - HARTMANN_P[i]![j]!) ** 2,
          0,
        )
        return sum + alpha * Math.exp(-inner)
      }, 0),
  },
  {
    name: 'Rosenbrock 6',
    axes: 6,
    trials: 512,
    minimum: 0,
    at(u) {
      const x = Array.from(u, (one) => scaled(one, -2.048, 2.048))
      return x.slice(1).reduce((sum, next, i) => sum + 100 * (next - x[i]! ** 2) ** 2 + (1 - x[i]!) ** 2, 0)
    },
  },
]

/** Asks in batches, as a sweep does. */
export function regretOf(
  { axes, trials, at, minimum }: TestFunction,
  sampler: (axes: readonly Axis[]) => Sampler,
): number {
  const asking = sampler(Array.from({ length: axes }, () => ({ count: null, ordered: true })))
  let best = Infinity
  for (let done = 0; done < trials;) {
    const batch = Array.from({ length: Math.min(asking.batch, trials - done) }, () => asking.ask()!)
    for (const point of batch) {
      const value = at(point)
      best = Math.min(best, value)
      asking.tell(point, -value)
    }
    done += batch.length
  }
  return best - minimum
}
