// The probability of backtest overfitting: how often the trial that is best on one half of the time is below the median on
// the other half.
//
// Combinatorially symmetric cross-validation (Bailey, Borwein, López de Prado, Zhu: The Probability of Backtest Overfitting,
// Journal of Computational Finance, 2015): the bars are cut into S blocks, and every one of the C(S, S/2) ways to call half of
// them "in sample" is tried. n* is the best in sample, ω its rank out of sample over N + 1, λ = ln(ω / (1 - ω)); the
// probability is the share of λ ≤ 0. (R's `pbo` divides by N, which makes the best rank infinite.)
//
// Of each trial it needs only the sum and the sum of squares of its returns in each block, since these give a Sharpe ratio.
// Splits come in pairs, since the in-sample half of one is the out-of-sample half of the other. The sums of a half are
// built up block by block along the tree of choices, and the other half is the rest. 2,000 trials × 12,870 splits: see
// `statistics.bench.ts`.

import { sharpeOfSums } from './moments.ts'

/** The data of all trials: `trials` × `blocks`, with the blocks of a trial side by side. */
export interface BlockSums {
  readonly trials: number
  readonly blocks: number
  readonly sums: Float64Array
  readonly squares: Float64Array
  /** Returns in each block. */
  readonly counts: readonly number[]
}

export interface Overfitting {
  readonly splits: number
  /** The share of λ ≤ 0. */
  readonly probability: number
  /** λ of every split, in the order of the splits: those with the first blocks in sample first. */
  readonly logits: Float64Array
  /** The Sharpe ratio of each split's best trial, in and out of sample. */
  readonly inSample: Float64Array
  readonly outOfSample: Float64Array
  /** From the line out of sample = intercept + slope · in sample, which shows how the best degrade. */
  readonly slope: number
  readonly intercept: number
  /** The share of splits whose best trial loses out of sample. */
  readonly loss: number
}

/** The numbers of a pair: of each of its splits the best trial's ratio in and out of sample, and its rank ω. */
const NUMBERS = 6

/** Null for fewer than two trials, or if the blocks are too few or too short to compare. */
export function overfitting(given: BlockSums): Overfitting | null {
  return overfittingOf(judgedPairs(given, 0, pairsOfSplits(given)))
}

/** How many pairs of splits there are to judge. */
export function pairsOfSplits({
  trials,
  blocks,
  counts,
}: Pick<BlockSums, 'trials' | 'blocks' | 'counts'>): number {
  if (trials < 2 || blocks < 2 || blocks % 2 !== 0 || counts.some((count) => count < 1)) return 0
  if (counts.reduce((sum, count) => sum + count, 0) < 2 * blocks) return 0
  return binomial(blocks, blocks / 2) / 2
}

/**
 * Judges some of the pairs. Each is judged by itself, so those of several parts, one after the other, are the same numbers as
 * those of all in one go.
 */
export function judgedPairs(given: BlockSums, from: number, to: number): Float64Array {
  const pairs = new Float64Array(NUMBERS * (to - from))
  let at = 0
  const record = (inside: Float64Array, outside: Float64Array) => {
    const best = indexOfLargest(inside)
    pairs[at++] = inside[best]!
    pairs[at++] = outside[best]!
    pairs[at++] = rankOf(outside, best) / (given.trials + 1)
  }
  if (from < to)
    new Judge(given).eachPair(from, to, (inside, outside) => {
      record(inside, outside)
      record(outside, inside)
    })
  return pairs
}

/** What all pairs in their order come to; null if there are none. */
export function overfittingOf(pairs: Float64Array): Overfitting | null {
  const splits = (2 * pairs.length) / NUMBERS
  if (splits === 0) return null
  const logits = new Float64Array(splits)
  const inSample = new Float64Array(splits)
  const outOfSample = new Float64Array(splits)
  const read = (at: number, from: number) => {
    inSample[at] = pairs[from]!
    outOfSample[at] = pairs[from + 1]!
    const share = pairs[from + 2]!
    logits[at] = Math.log(share / (1 - share))
  }
  for (let at = 0; at < splits / 2; at++) {
    read(at, NUMBERS * at)
    // In lexicographic order, the complement is as far from the end as the split is from the start.
    read(splits - 1 - at, NUMBERS * at + NUMBERS / 2)
  }
  const line = lineThrough(inSample, outOfSample)
  return {
    splits,
    probability: shareOf(logits, (logit) => logit <= 0),
    logits,
    inSample,
    outOfSample,
    ...line,
    loss: shareOf(outOfSample, (sharpe) => sharpe < 0),
  }
}

/** Walks the splits whose in-sample half has the first block. */
class Judge {
  private readonly given: BlockSums
  /** By block, so that additions run over neighbouring memory. */
  private readonly sums: Float64Array[]
  private readonly squares: Float64Array[]
  private readonly total: {
    readonly sums: Float64Array
    readonly squares: Float64Array
    readonly count: number
  }

  constructor(given: BlockSums) {
    this.given = given
    const { trials, blocks, counts } = given
    const column = (of: Float64Array) => (block: number) => {
      const found = new Float64Array(trials)
      for (let trial = 0; trial < trials; trial++) found[trial] = of[trial * blocks + block]!
      return found
    }
    const all = Array.from({ length: blocks }, (_, block) => block)
    this.sums = all.map(column(given.sums))
    this.squares = all.map(column(given.squares))
    this.total = {
      sums: totalOf(this.sums),
      squares: totalOf(this.squares),
      count: counts.reduce((sum, count) => sum + count, 0),
    }
  }

  eachPair(from: number, to: number, visit: (inside: Float64Array, outside: Float64Array) => void): void {
    const { trials, blocks, counts } = this.given
    const half = blocks / 2
    let at = 0
    const inside = new Float64Array(trials)
    const outside = new Float64Array(trials)
    // The sums of the blocks chosen so far, one list for each level.
    const sums = Array.from({ length: half }, () => new Float64Array(trials))
    const squares = Array.from({ length: half }, () => new Float64Array(trials))
    const choose = (level: number, block: number, count: number) => {
      const below = binomial(blocks - 1 - block, half - 1 - level)
      if (at + below <= from || at >= to) {
        at += below
        return
      }
      add(sums[level]!, sums[level - 1], this.sums[block]!)
      add(squares[level]!, squares[level - 1], this.squares[block]!)
      const chosen = count + counts[block]!
      if (level === half - 1) {
        this.#sharpes(sums[level]!, squares[level]!, chosen, inside, outside)
        visit(inside, outside)
        at++
        return
      }
      const last = blocks - (half - 2 - level)
      for (let next = block + 1; next < last; next++) choose(level + 1, next, chosen)
    }
    choose(0, 0, 0)
  }

  #sharpes(
    sums: Float64Array,
    squares: Float64Array,
    count: number,
    inside: Float64Array,
    outside: Float64Array,
  ): void {
    const { total } = this
    const rest = total.count - count
    for (let trial = 0; trial < sums.length; trial++) {
      const sum = sums[trial]!
      const square = squares[trial]!
      inside[trial] = sharpeOfSums(count, sum, square)
      outside[trial] = sharpeOfSums(rest, total.sums[trial]! - sum, total.squares[trial]! - square)
    }
  }
}

function add(into: Float64Array, before: Float64Array | undefined, block: Float64Array): void {
  if (!before) {
    into.set(block)
    return
  }
  for (let i = 0; i < into.length; i++) into[i] = before[i]! + block[i]!
}

function totalOf(columns: readonly Float64Array[]): Float64Array {
  const total = new Float64Array(columns[0]?.length ?? 0)
  for (const column of columns) for (let i = 0; i < total.length; i++) total[i]! += column[i]!
  return total
}

function indexOfLargest(values: Float64Array): number {
  let best = 0
  for (let i = 1; i < values.length; i++) if (values[i]! > values[best]!) best = i
  return best
}

/** Ranks from 1 for the worst; equal values share the mean of their ranks. */
function rankOf(values: Float64Array, of: number): number {
  const value = values[of]!
  let [below, equal] = [0, 0]
  for (let i = 0; i < values.length; i++) {
    if (values[i]! < value) below++
    else if (values[i] === value) equal++
  }
  return below + (equal + 1) / 2
}

function shareOf(values: Float64Array, holds: (value: number) => boolean): number {
  let count = 0
  for (let i = 0; i < values.length; i++) if (holds(values[i]!)) count++
  return count / values.length
}

/** Least squares; a horizontal line if x does not vary. */
function lineThrough(x: Float64Array, y: Float64Array): { slope: number; intercept: number } {
  const n = x.length
  const meanX = x.reduce((sum, value) => sum + value, 0) / n
  const meanY = y.reduce((sum, value) => sum + value, 0) / n
  let [across, along] = [0, 0]
  for (let i = 0; i < n; i++) {
    across += (x[i]! - meanX) * (y[i]! - meanY)
    along += (x[i]! - meanX) ** 2
  }
  const slope = along > 0 ? across / along : 0
  return { slope, intercept: meanY - slope * meanX }
}

function binomial(n: number, k: number): number {
  let result = 1
  for (let i = 1; i <= k; i++) result = (result * (n - k + i)) / i
  return Math.round(result)
}
