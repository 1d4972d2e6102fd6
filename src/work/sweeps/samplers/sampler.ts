// A sampler asks for points of a space to be tried, and is told how good they were.
//
// A point has one coordinate for each axis, 0 ≤ u < 1; the space (`space.ts`) turns it into a value. A sampler's only
// randomness is its seed, so the same answers lead to the same questions. That lets a sweep go on after a restart, and
// makes what is tried independent of the number of workers.

export interface Sampler {
  /** How many points may be asked for before one of them is told. With more, a sampler that learns would only guess. */
  readonly batch: number
  /** null = there are no more. */
  ask(): Float64Array | null
  /** The same point, worked out by another thread; null where `ask` is cheap. Nothing may be asked or told meanwhile. */
  askElsewhere?(): Promise<Float64Array> | null
  /**
   * Tells how good a point was that it asked for: more is better, -Infinity is a failure, NaN means that the point broke a
   * condition of the space and was not tried.
   */
  tell(point: Float64Array, score: number): void
}
