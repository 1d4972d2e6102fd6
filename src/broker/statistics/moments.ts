// Mean, deviation, skewness and kurtosis of returns, and their Sharpe ratio: per period, never annualised. Formulas that
// count periods (T) go wrong by a factor of √365 or more if they are given an annual ratio.
//
// The deviation is the sample's (n - 1), as is usual for Sharpe ratios; skewness and kurtosis are the population's, as
// Bailey and López de Prado use them. Kurtosis is plain: 3 for the normal, not 0.

export interface Moments {
  readonly count: number
  readonly mean: number
  /** Divides by n - 1. */
  readonly deviation: number
  readonly skewness: number
  /** 3 for the normal distribution. */
  readonly kurtosis: number
  /** Mean over deviation for one period; 0 if nothing varies. */
  readonly sharpe: number
}

export function momentsOf(values: ArrayLike<number>): Moments {
  const count = values.length
  if (count === 0) return { count, mean: 0, deviation: 0, skewness: 0, kurtosis: 3, sharpe: 0 }
  let sum = 0
  for (let i = 0; i < count; i++) sum += values[i]!
  const mean = sum / count
  let second = 0
  let third = 0
  let fourth = 0
  for (let i = 0; i < count; i++) {
    const d = values[i]! - mean
    const dd = d * d
    second += dd
    third += dd * d
    fourth += dd * dd
  }
  const variance = second / count
  const isFlat = !(variance > 0)
  const deviation = count > 1 ? Math.sqrt(second / (count - 1)) : 0
  return {
    count,
    mean,
    deviation,
    skewness: isFlat ? 0 : third / count / variance ** 1.5,
    kurtosis: isFlat ? 3 : fourth / count / (variance * variance),
    sharpe: isFlat ? 0 : mean / deviation,
  }
}

/**
 * The same moments from the sums of the values' first four powers. Precise enough for returns, whose mean is small compared
 * with their deviation.
 */
export function momentsOfPowers(
  count: number,
  [first, second, third, fourth]: readonly [number, number, number, number],
): Moments {
  if (count === 0) return { count, mean: 0, deviation: 0, skewness: 0, kurtosis: 3, sharpe: 0 }
  const mean = first / count
  const square = second / count
  const variance = square - mean * mean
  if (!(variance > ROUNDING * square))
    return { count, mean, deviation: 0, skewness: 0, kurtosis: 3, sharpe: 0 }
  const cube = third / count
  const deviation = count > 1 ? Math.sqrt((variance * count) / (count - 1)) : 0
  return {
    count,
    mean,
    deviation,
    skewness: (cube - 3 * mean * square + 2 * mean ** 3) / variance ** 1.5,
    kurtosis:
      (fourth / count - 4 * mean * cube + 6 * mean * mean * square - 3 * mean ** 4) / (variance * variance),
    sharpe: deviation > 0 ? mean / deviation : 0,
  }
}

/** The moments of an equity's returns from value to value, the first from `initial`; a return is 0 once everything is lost. */
export function momentsOfEquity(equity: ArrayLike<number>, initial: number): Moments {
  let before = initial
  let first = 0
  let second = 0
  let third = 0
  let fourth = 0
  for (let i = 0; i < equity.length; i++) {
    const now = equity[i]!
    const value = before > 0 ? now / before - 1 : 0
    before = now
    const square = value * value
    first += value
    second += square
    third += square * value
    fourth += square * square
  }
  return momentsOfPowers(equity.length, [first, second, third, fourth])
}

/** The variance that rounding leaves of constant values is not a risk. */
const ROUNDING = 1e-12

/** The Sharpe ratio of values known by their number, sum and sum of squares. */
export function sharpeOfSums(count: number, sum: number, squares: number): number {
  const mean = sum / count
  const variance = (squares - sum * mean) / (count - 1)
  return variance > ROUNDING * (squares / count) ? mean / Math.sqrt(variance) : 0
}

/** The middle value; NaN if there is none. */
export function median(values: readonly number[]): number {
  return quantile(
    values.toSorted((a, b) => a - b),
    0.5,
  )
}

/** For values in ascending order; interpolates between the two nearest (Hyndman and Fan's type 7, as numpy and R do). */
export function quantile(sorted: ArrayLike<number>, share: number): number {
  if (sorted.length === 0) return NaN
  const at = share * (sorted.length - 1)
  const below = Math.floor(at)
  const low = sorted[below]!
  const high = sorted[Math.min(below + 1, sorted.length - 1)]!
  return low + (high - low) * (at - below)
}
