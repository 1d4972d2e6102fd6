// The count, mean and variance of values that come one by one (Welford 1962), so that a ledger of a hundred thousand Sharpe
// ratios need not be read to know how far they lie apart.

export interface Spread {
  readonly count: number
  readonly mean: number
  /** The sum of squared distances from the mean. */
  readonly squares: number
}

export const NO_SPREAD: Spread = { count: 0, mean: 0, squares: 0 }

export function withValue({ count, mean, squares }: Spread, value: number): Spread {
  const distance = value - mean
  const moved = mean + distance / (count + 1)
  return { count: count + 1, mean: moved, squares: squares + distance * (value - moved) }
}

/** Divides by n - 1; null if there are fewer than two values. */
export function deviationOf({ count, squares }: Spread): number | null {
  return count < 2 ? null : Math.sqrt(squares / (count - 1))
}
