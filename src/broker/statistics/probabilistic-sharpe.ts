// The probability that a Sharpe ratio is above another one, given the length of the record and the distribution of its
// returns.
//
//     PSR(SR₀) = Φ( (SR - SR₀)·√(T - 1) / √(1 - γ₃·SR + (γ₄ - 1)/4·SR²) )
//
// Bailey, López de Prado: The Sharpe Ratio Efficient Frontier (Journal of Risk, 2012). γ₃ is skewness, γ₄ plain kurtosis,
// all for one period. Conversely, the least track record is the number of periods that it takes to be so sure:
//
//     MinTRL = 1 + (1 - γ₃·SR + (γ₄ - 1)/4·SR²)·(z / (SR - SR₀))²

import type { Moments } from './moments.ts'
import { normalCdf, normalQuantile } from './normal.ts'

export type SharpeRecord = Pick<Moments, 'count' | 'sharpe' | 'skewness' | 'kurtosis'>

/** Between 0 and 1; null if there are too few periods. */
export function probabilisticSharpe(record: SharpeRecord, benchmark = 0): number | null {
  const { count, sharpe } = record
  const spread = spreadOf(record)
  if (count < 2 || !(spread > 0)) return null
  return normalCdf(((sharpe - benchmark) * Math.sqrt(count - 1)) / Math.sqrt(spread))
}

/** Number of periods; null if no record is long enough because the ratio is not above the benchmark. */
export function leastTrackRecord(
  record: Omit<SharpeRecord, 'count'>,
  benchmark = 0,
  confidence = 0.95,
): number | null {
  const spread = spreadOf(record)
  if (!(record.sharpe > benchmark) || !(spread > 0)) return null
  return 1 + spread * (normalQuantile(confidence) / (record.sharpe - benchmark)) ** 2
}

function spreadOf({ sharpe, skewness, kurtosis }: Omit<SharpeRecord, 'count'>): number {
  return 1 - skewness * sharpe + ((kurtosis - 1) / 4) * sharpe * sharpe
}
