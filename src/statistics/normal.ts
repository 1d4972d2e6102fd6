// The standard normal distribution. jstat's, good to 1e-10 and better between its ends, where it is used here.

import { jStat } from 'jstat'

/** Φ(x): the chance of a value below x. */
export const normalCdf = (x: number): number => jStat.normal.cdf(x, 0, 1)

/** Φ⁻¹(p): what is exceeded with a chance of 1 - p. */
export const normalQuantile = (p: number): number => jStat.normal.inv(p, 0, 1)
