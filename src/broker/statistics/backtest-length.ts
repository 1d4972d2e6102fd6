// How many years of bars a number of trials needs, so that luck alone is not expected to show a Sharpe ratio of E a year.
//
//     MinBTL ≈ (E[max]_N / E)² < 2·ln N / E²
//
// Bailey, Borwein, López de Prado, Zhu: Pseudo-Mathematics and Financial Charlatanism (Notices of the AMS, 2014). Seven trials
// on two years are enough to find a Sharpe ratio of 1 in noise.

import { expectedMaximum } from './expected-maximum.ts'

export interface LeastLength {
  readonly years: number
  /** The simple upper bound of it, 2·ln N / E². */
  readonly bound: number
}

/** `sharpe` is the annual ratio that must not come from luck. */
export function leastBacktestLength(trials: number, sharpe = 1): LeastLength {
  return {
    years: (expectedMaximum(trials) / sharpe) ** 2,
    bound: (2 * Math.log(Math.max(1, trials))) / (sharpe * sharpe),
  }
}
