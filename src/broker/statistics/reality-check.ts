// Is the best of all trials better than doing nothing, or only the luckiest? Two tests over all trials at once, on the same
// bootstrapped histories.
//
// White: A Reality Check for Data Snooping (Econometrica, 2000): V = max_k √T·d̄_k, against max_k √T·(d̄*_k - g_k). Hansen:
// A Test for Superior Predictive Ability (JBES, 2005): max(0, max_k √T·d̄_k / ω̂_k). It divides by each trial's own
// deviation, and keeps hopeless trials from blinding the test by its choice of their true mean g: "upper" takes d̄ of all,
// as White does; "consistent" takes 0 for those below -ω̂·√(2·ln ln T); "lower" for all below 0. ω̂² is the deviation that
// the stationary bootstrap has in the long run:
//
//     ω̂² = γ̂₀ + 2·Σ κ(i)·γ̂ᵢ        κ(i) = ((T - i)/T)·(1 - q)^i + (i/T)·(1 - q)^(T - i)
//
// Each p is the probability of a best this good if no trial is better than doing nothing. All three are given for both
// statistics, since programs differ in which they print: Python's arch calls White's statistic SPA.

import { seededRandom } from '../../lib/seeded-random.ts'
import { stationaryCounts } from './stationary-bootstrap.ts'

/** Probabilities by the assumed true mean of poor trials. */
export interface SnoopingTest {
  readonly statistic: number
  /** The trial with the largest statistic. */
  readonly best: number
  readonly lower: number
  readonly consistent: number
  readonly upper: number
}

export interface SnoopingTests {
  readonly white: SnoopingTest
  readonly hansen: SnoopingTest
}

/** How many histories are drawn. */
export const REPLICATIONS = 1000

interface SnoopingOptions {
  readonly seed: number
  /** The probability that a new piece begins; the mean length of a piece is 1/q periods. */
  readonly q?: number
}

/** How often the best of a history was above the observed one. */
export interface SnoopedHistories {
  readonly white: SnoopedStatistic
  readonly hansen: SnoopedStatistic
}

interface SnoopedStatistic extends Pick<SnoopingTest, 'statistic' | 'best'> {
  /** By the assumed true mean: lower, consistent, upper. */
  readonly above: readonly number[]
}

/**
 * `rows` has each trial's returns above the benchmark's, one for each period. Null without trials or with fewer than 8
 * periods.
 */
export function snoopingTests(
  rows: readonly Float64Array[],
  { replications = REPLICATIONS, ...options }: SnoopingOptions & { readonly replications?: number },
): SnoopingTests | null {
  return snoopingOf([snoopedHistories(rows, options, 0, replications)], replications)
}

/**
 * Looks at some of the histories. Those before are drawn as well, since all come of one seed: so parts add up to what all of
 * them give in one go.
 */
export function snoopedHistories(
  rows: readonly Float64Array[],
  { seed, q = 0.1 }: SnoopingOptions,
  from: number,
  to: number,
): SnoopedHistories | null {
  const periods = rows[0]?.length ?? 0
  if (rows.length === 0 || periods < 8) return null
  const root = Math.sqrt(periods)
  const weights = kernel(periods, q)
  const threshold = -Math.sqrt(2 * Math.log(Math.log(periods)))
  const records = rows.map((row) => {
    const mean = row.reduce((sum, value) => sum + value, 0) / periods
    const deviation = longRunDeviation(row, mean, weights)
    const isPoor = root * mean < threshold * deviation
    return { row, mean, deviation, means: [Math.max(0, mean), isPoor ? 0 : mean, mean] as const }
  })
  const white = new Tally(records.map(({ mean }) => root * mean))
  const hansen = new Tally(
    records.map(({ mean, deviation }) => (deviation > 0 ? (root * mean) / deviation : -Infinity)),
    0,
  )
  const random = seededRandom(seed)
  const counts = new Float64Array(periods)
  for (let round = 0; round < to; round++) {
    stationaryCounts(random, periods, q, counts)
    if (round < from) continue
    for (const { row, deviation, means } of records) {
      let sum = 0
      for (let t = 0; t < periods; t++) sum += counts[t]! * row[t]!
      for (let way = 0; way < means.length; way++) {
        const above = root * (sum / periods - means[way]!)
        white.see(way, above)
        if (deviation > 0) hansen.see(way, above / deviation)
      }
    }
    white.end()
    hansen.end()
  }
  return { white: white.seen, hansen: hansen.seen }
}

/** What all parts of the histories come to. */
export function snoopingOf(
  parts: readonly (SnoopedHistories | null)[],
  replications = REPLICATIONS,
): SnoopingTests | null {
  const found = parts.filter((part) => part !== null)
  const testOf = (of: keyof SnoopedHistories): SnoopingTest => {
    const { statistic, best } = found[0]![of]
    const share = (way: number) => found.reduce((sum, part) => sum + part[of].above[way]!, 0) / replications
    return { statistic, best, lower: share(0), consistent: share(1), upper: share(2) }
  }
  return found.length === 0 ? null : { white: testOf('white'), hansen: testOf('hansen') }
}

/** Counts the histories whose largest statistic exceeds the observed one, for each of the three ways. */
class Tally {
  readonly #statistic: number
  readonly #best: number
  readonly #least: number
  readonly #largest: [number, number, number]
  readonly #above: [number, number, number] = [0, 0, 0]

  constructor(statistics: readonly number[], least = -Infinity) {
    const largest = statistics.reduce((a, b) => Math.max(a, b), -Infinity)
    this.#best = Math.max(0, statistics.indexOf(largest))
    this.#statistic = Math.max(least, largest)
    this.#least = least
    this.#largest = [least, least, least]
  }

  see(way: number, statistic: number): void {
    if (statistic > this.#largest[way]!) this.#largest[way] = statistic
  }

  end(): void {
    for (let way = 0; way < 3; way++) {
      if (this.#largest[way]! > this.#statistic) this.#above[way]!++
      this.#largest[way] = this.#least
    }
  }

  get seen(): SnoopedStatistic {
    return { statistic: this.#statistic, best: this.#best, above: this.#above }
  }
}

/** κ(1), κ(2), … */
function kernel(periods: number, q: number): Float64Array {
  const weights = new Float64Array(periods)
  for (let i = 1; i < periods; i++)
    weights[i] = ((periods - i) / periods) * (1 - q) ** i + (i / periods) * (1 - q) ** (periods - i)
  return weights
}

function longRunDeviation(row: Float64Array, mean: number, weights: Float64Array): number {
  const periods = row.length
  const centred = row.map((value) => value - mean)
  let variance = 0
  for (let t = 0; t < periods; t++) variance += centred[t]! ** 2
  for (let lag = 1; lag < periods; lag++) {
    let together = 0
    for (let t = 0; t + lag < periods; t++) together += centred[t]! * centred[t + lag]!
    variance += 2 * weights[lag]! * together
  }
  return Math.sqrt(Math.max(0, variance / periods))
}
