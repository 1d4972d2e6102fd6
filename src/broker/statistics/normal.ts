// The standard normal distribution from jstat, which is exact to 1e-10 or better in the range used here.

import { jStat } from 'jstat'

/** Φ(x): the probability of a value below x. */
export const normalCdf = (x: number): number => jStat.normal.cdf(x, 0, 1)

/** Φ⁻¹(p): the value that is exceeded with probability 1 - p. */
export const normalQuantile = (p: number): number => jStat.normal.inv(p, 0, 1)
