// Parzen estimator: where good trials are dense and bad ones are not.
//
// Bergstra, Bardenet, Bengio, Kégl: Algorithms for Hyper-Parameter Optimization (NIPS 2011). The best trials so far make
// one density l(x), the others another g(x), each a sum of bumps over the trials. Of some draws from l, the one with the
// largest l/g is tried. A bump covers all axes at once, as in BOHB (Falkner, Klein, Hutter 2018), so that inputs which only
// work together are found together. It is as wide on each axis as the distance to its neighbours, as in the first paper.
// The shares and widths below found most on Branin, Hartmann 3 and Rosenbrock 6; see `samplers.bench.ts`.

import type { SeededRandom } from '../../lib/seeded-random.ts'
import { normalCdf } from './normal.ts'

export interface Axis {
  /** The number of values; null if the axis is continuous. */
  readonly count: number | null
  /** Whether neighbouring values are alike. */
  readonly ordered: boolean
}

/** A coordinate must stay below 1, which would be the value behind the last. */
export const BELOW_ONE = 1 - 2 ** -40

/** The middle of the value's cell, which is the point that was in fact tried. */
export function snapped(u: number, { count }: Axis): number {
  return count === null ? u : (Math.floor(u * count) + 0.5) / count
}

const CANDIDATES = 64
const BEST_SHARE = 0.2
const BEST_MAX = 25
/** Weight of "anywhere" among the bumps of the best, in trials. */
const PRIOR = 1

export interface ScoredPoint {
  readonly at: Float64Array
  readonly score: number
}

/** Takes 2 ms of two axes and 500 trials, and 9 ms of 2,000. */
export function proposal(
  axes: readonly Axis[],
  trials: readonly ScoredPoint[],
  random: SeededRandom,
): Float64Array {
  const sorted = trials.toSorted((a, b) => b.score - a.score)
  const best = Math.min(BEST_MAX, Math.ceil(BEST_SHARE * trials.length))
  const good = new Density(axes, sorted.slice(0, best))
  const bad = new Density(axes, sorted.slice(best))
  let chosen: Float64Array | null = null
  let most = -Infinity
  for (let i = 0; i < CANDIDATES; i++) {
    const candidate = good.draw(random)
    const score = good.logAt(candidate) - bad.logAt(candidate)
    if (chosen !== null && score <= most) continue
    most = score
    chosen = candidate
  }
  return chosen ?? Float64Array.from(axes, () => random.uniform())
}

/** Bumps around trials, and one over everything. */
class Density {
  readonly #axes: readonly Axis[]
  readonly #centres: readonly Float64Array[]
  /** Widths of the bumps by axis. */
  readonly #widths: readonly Float64Array[]
  /**
   * For each bump, the logarithm of the factor that makes its part inside the space 1. Without it the edges would look
   * empty and attract draws.
   */
  readonly #scales: Float64Array

  constructor(axes: readonly Axis[], trials: readonly ScoredPoint[]) {
    this.#axes = axes
    this.#centres = trials.map(({ at }) => at)
    this.#widths = axes.map((axis, i) =>
      widthsOf(
        this.#centres.map((at) => at[i]!),
        axis,
      ),
    )
    this.#scales = Float64Array.from(this.#centres, (centre, k) =>
      axes.reduce(
        (sum, { ordered }, i) => (ordered ? sum - logScale(centre[i]!, this.#widths[i]![k]!) : sum),
        0,
      ),
    )
  }

  draw(random: SeededRandom): Float64Array {
    const which = random.below(this.#centres.length + PRIOR)
    const centre = this.#centres[which]
    return Float64Array.from(this.#axes, (axis, i) => {
      if (!centre) return random.uniform()
      if (!axis.ordered) return random.uniform() < STAYS ? centre[i]! : random.uniform()
      for (let attempt = 0; attempt < 100; attempt++) {
        const u = centre[i]! + this.#widths[i]![which]! * random.normal()
        if (u >= 0 && u < BELOW_ONE) return u
      }
      return centre[i]!
    })
  }

  logAt(point: Float64Array): number {
    const axes = this.#axes
    let [largest, sum] = [0, PRIOR]
    for (const [k, centre] of this.#centres.entries()) {
      let log = this.#scales[k]!
      for (let i = 0; i < axes.length; i++) {
        const { ordered, count } = axes[i]!
        if (ordered) {
          const width = this.#widths[i]![k]!
          const distance = (snapped(point[i]!, axes[i]!) - centre[i]!) / width
          log -= 0.5 * distance * distance
        } else {
          const values = count ?? 1
          const isSame = snapped(point[i]!, axes[i]!) === centre[i]!
          log += Math.log((1 - STAYS) / values + (isSame ? STAYS : 0)) + Math.log(values)
        }
      }
      if (log > largest) {
        sum = sum * Math.exp(largest - log) + 1
        largest = log
      } else sum += Math.exp(log - largest)
    }
    return largest + Math.log(sum / (this.#centres.length + PRIOR))
  }
}

/** The logarithm of the area that a bump has between 0 and 1. */
function logScale(centre: number, width: number): number {
  const inside = normalCdf((1 - centre) / width) - normalCdf(-centre / width)
  return Math.log(width * Math.sqrt(2 * Math.PI) * inside)
}

/** The probability that a draw around a trial keeps its value on an unordered axis. */
const STAYS = 0.8

/** A bump's width as a fraction of the longer distance to a neighbour. */
const REACH = 0.8

function widthsOf(centres: readonly number[], { count }: Axis): Float64Array {
  const narrowest = Math.max(1 / Math.min(1000, 1 + centres.length), count === null ? 0 : 0.35 / count)
  const widths = new Float64Array(centres.length)
  const order = centres.map((_, k) => k).sort((a, b) => centres[a]! - centres[b]!)
  for (const [place, k] of order.entries()) {
    const below = centres[order[place - 1] ?? -1] ?? 0
    const above = centres[order[place + 1] ?? -1] ?? 1
    const way = Math.max(centres[k]! - below, above - centres[k]!)
    widths[k] = Math.min(1, Math.max(narrowest, REACH * way))
  }
  return widths
}
