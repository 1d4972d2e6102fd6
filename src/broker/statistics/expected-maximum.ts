// The best of N tries by luck alone: the expected maximum of N independent standard normal values.
//
//     E[max]_N ≈ (1 - γ)·Φ⁻¹(1 - 1/N) + γ·Φ⁻¹(1 - 1/(N·e))        γ = Euler and Mascheroni's constant
//
// Bailey, López de Prado: The Deflated Sharpe Ratio (Journal of Portfolio Management, 2014). Multiplied by the deviation of
// the trials' Sharpe ratios, it is the best ratio to expect in a sweep of worthless scripts.

import { normalQuantile } from './normal.ts'

const EULER = 0.577_215_664_901_532_9

/** A single try is expected to give 0. `trials` need not be whole, since correlated trials count for less. */
export function expectedMaximum(trials: number): number {
  if (!(trials > 1)) return 0
  const luck =
    (1 - EULER) * normalQuantile(1 - 1 / trials) + EULER * normalQuantile(1 - 1 / (trials * Math.E))
  // Just above one try the approximation is below zero, which an expected maximum cannot be.
  return Math.max(0, luck)
}
