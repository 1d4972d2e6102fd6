// The deflated Sharpe ratio: how sure it is that the best of many trials is better than luck.
//
//     DSR = PSR(SR₀)    SR₀ = σ_SR·E[max]_N
//
// The benchmark is what the best of N worthless trials shows by luck; see `expected-maximum.ts`. Trials that resemble each
// other are fewer tries than they are trials: N̂ = ρ̄ + (1 - ρ̄)·N, ρ̄ being their mean correlation. Bailey, López de Prado:
// The Deflated Sharpe Ratio (Journal of Portfolio Management, 2014); N̂ is its appendix A.3.

import { expectedMaximum } from './expected-maximum.ts'
import { probabilisticSharpe, type SharpeRecord } from './probabilistic-sharpe.ts'

export interface Deflated {
  /** SR₀, a period. */
  readonly benchmark: number
  /** Between 0 and 1; null where there are too few periods. */
  readonly probability: number | null
}

/** `deviation` is that of the trials' Sharpe ratios. */
export function deflatedSharpe(record: SharpeRecord, trials: number, deviation: number): Deflated {
  const benchmark = deviation * expectedMaximum(trials)
  return { benchmark, probability: probabilisticSharpe(record, benchmark) }
}

/** How many independent tries the trials are worth. A negative correlation makes them no more than they are. */
export function independentTrials(trials: number, meanCorrelation: number): number {
  const shared = Math.min(1, Math.max(0, meanCorrelation))
  return shared + (1 - shared) * trials
}

/**
 * The mean of the correlations between all pairs of rows, without looking at pairs: with each row brought to length 1 it is
 * (|Σ rows|² - N) / (N·(N - 1)). Rows that do not vary are left out. 0 where there is no pair.
 */
export function meanCorrelation(rows: Iterable<ArrayLike<number>>): number {
  let total = new Float64Array(0)
  let count = 0
  for (const row of rows) {
    if (total.length === 0) total = new Float64Array(row.length)
    let sum = 0
    for (let i = 0; i < row.length; i++) sum += row[i]!
    const mean = sum / row.length
    let squares = 0
    for (let i = 0; i < row.length; i++) squares += (row[i]! - mean) ** 2
    if (!(squares > 0)) continue
    const scale = 1 / Math.sqrt(squares)
    for (let i = 0; i < row.length; i++) total[i]! += (row[i]! - mean) * scale
    count++
  }
  if (count < 2) return 0
  const together = total.reduce((sum, value) => sum + value * value, 0)
  return (together - count) / (count * (count - 1))
}
