// What is left of one result's Sharpe ratio, given how many trials it was chosen from: the figures that a sweep's verdict and
// every single report share.

import { leastBacktestLength, type LeastLength } from './backtest-length.ts'
import { deflatedSharpe } from './deflated-sharpe.ts'
import { leastTrackRecord, probabilisticSharpe, type SharpeRecord } from './probabilistic-sharpe.ts'

export interface JudgedSharpe extends Omit<SharpeRecord, 'count'> {
  readonly bars: number
  readonly deviation: number
  readonly probabilistic: number | null
  readonly benchmark: number
  readonly deflated: number | null
  readonly leastBars: number | null
}

/** `deviation` is that of the trials' Sharpe ratios. */
export function judgedSharpe(record: SharpeRecord, trials: number, deviation: number): JudgedSharpe {
  const { benchmark, probability } = deflatedSharpe(record, trials, deviation)
  return {
    bars: record.count,
    sharpe: record.sharpe,
    skewness: record.skewness,
    kurtosis: record.kurtosis,
    deviation,
    probabilistic: probabilisticSharpe(record),
    benchmark,
    deflated: probability,
    leastBars: leastTrackRecord(record, benchmark),
  }
}

const YEAR_MS = 365 * 86_400_000

/** null if the ratio is not above 0, so that no length would be enough. */
export function judgedLength(
  { bars, sharpe }: Pick<JudgedSharpe, 'bars' | 'sharpe'>,
  trials: number,
  spanMs: number,
): (LeastLength & { readonly have: number; readonly annualSharpe: number }) | null {
  const have = spanMs / YEAR_MS
  const annualSharpe = sharpe * Math.sqrt(bars / have)
  return have > 0 && annualSharpe > 0
    ? { ...leastBacktestLength(trials, annualSharpe), have, annualSharpe }
    : null
}
