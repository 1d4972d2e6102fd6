// The deflated Sharpe ratio: the probability that the best of many trials is better than luck.
//
//     DSR = PSR(SR₀)    SR₀ = σ_SR·E[max]_N
//
// The benchmark is the ratio that the best of N worthless trials reaches by luck; see `expected-maximum.ts`. Trials that
// resemble each other count as fewer: N̂ = ρ̄ + (1 - ρ̄)·N, with their mean correlation ρ̄. Bailey, López de Prado: The
// Deflated Sharpe Ratio (Journal of Portfolio Management, 2014); N̂ is its appendix A.3.

import { expectedMaximum } from './expected-maximum.ts'
import { probabilisticSharpe, type SharpeRecord } from './probabilistic-sharpe.ts'

export interface Deflated {
  /** SR₀ for one period. */
  readonly benchmark: number
  /** Between 0 and 1; null if there are too few periods. */
  readonly probability: number | null
}

/** `deviation` is that of the trials' Sharpe ratios. */
export function deflatedSharpe(record: SharpeRecord, trials: number, deviation: number): Deflated {
  const benchmark = deviation * expectedMaximum(trials)
  return { benchmark, probability: probabilisticSharpe(record, benchmark) }
}

/** How far the ratios of worthless trials over so many periods lie apart, if nothing is known of the trials (Lo 2002). */
export function deviationByLuck(periods: number): number {
  return periods > 1 ? 1 / Math.sqrt(periods - 1) : 0
}

/** How many independent tries the trials count for. A negative correlation does not increase their number. */
export function independentTrials(trials: number, meanCorrelation: number): number {
  const shared = Math.min(1, Math.max(0, meanCorrelation))
  return shared + (1 - shared) * trials
}

/**
 * The mean correlation over all pairs of rows, without visiting pairs: with each row scaled to length 1, it is (|Σ rows|² -
 * N) / (N·(N - 1)). Constant rows are left out. 0 if there is no pair.
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
