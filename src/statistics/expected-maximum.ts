// What the best of N tries comes to by luck alone: the expected maximum of N independent standard normal values.
//
//     E[max]_N ≈ (1 - γ)·Φ⁻¹(1 - 1/N) + γ·Φ⁻¹(1 - 1/(N·e))        γ = Euler and Mascheroni's constant
//
// Bailey, López de Prado: The Deflated Sharpe Ratio (Journal of Portfolio Management, 2014). Times the deviation of the
// trials' Sharpe ratios it is the ratio that a sweep of worthless scripts is expected to show at its top.

import { normalQuantile } from './normal.ts'

const EULER = 0.577_215_664_901_532_9

/** Of one try nothing is expected: 0. `trials` need not be whole: correlated trials count for fewer. */
export function expectedMaximum(trials: number): number {
  if (!(trials > 1)) return 0
  const luck =
    (1 - EULER) * normalQuantile(1 - 1 / trials) + EULER * normalQuantile(1 - 1 / (trials * Math.E))
  // Just above one try the approximation falls below zero, which no maximum is expected to be.
  return Math.max(0, luck)
}
