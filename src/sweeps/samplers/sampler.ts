// What a sampler is: it asks for points of a space to be tried, and is told how good they were.
//
// A point has a coordinate an axis, 0 ≤ u < 1; what value that is, the space says (`space.ts`). Samplers are handed their
// randomness as a seed and nothing else, so the same answers lead to the same questions: that is how a sweep goes on after a
// restart, and why the number of workers does not change what is tried.

export interface Axis {
  /** Values it has; null where every number between two ends is one. */
  readonly count: number | null
  /** Whether values beside each other are alike. */
  readonly ordered: boolean
}

export interface Sampler {
  /** Points that may be asked for before one of them is told; more would make a sampler that learns a random one. */
  readonly batch: number
  /** null = there are no more. */
  ask(): Float64Array | null
  /**
   * How good a point was that it asked for: more is better, -Infinity is a failure, NaN breaks a condition of the space and
   * was not tried.
   */
  tell(point: Float64Array, score: number): void
}

/** A coordinate must stay below 1, where the value behind the last would be. */
export const BELOW_ONE = 1 - 2 ** -40

/** The middle of the value's cell: what was in fact tried. */
export function snapped(u: number, { count }: Axis): number {
  return count === null ? u : (Math.floor(u * count) + 0.5) / count
}
