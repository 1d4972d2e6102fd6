// Σ y and Σ k·y over the last n values, with k = 1 for the oldest … n for the newest: the basis of wma, linreg and cog.
//
// TradingView adds the whole window up on every bar, oldest first [PyneCore, bit for bit on 22,000 bars]. So do we up to a
// length of 256. Beyond that a bar would cost too much, and subtracting the leaving value (the usual running form) keeps
// the rounding error of a huge value after it has gone. Instead the window is cut in two, like a queue made of two stacks:
// for the older part the sums of all its suffixes are known, the newer part is accumulated, and
//
//     Σ y = older + newer        Σ k·y = older + newer + (how many are older)·(Σ y of newer)
//
// When the older part is used up, the suffixes are computed again from the remembered values: n steps every n bars. Nothing
// is ever subtracted, so the result is as exact as adding up the whole window, within its last digits.

import { ValueHistory } from './window.ts'

const WHOLE_MAX = 256

export class WeightedSums {
  plain = 0
  weighted = 0
  readonly history = new ValueHistory()
  readonly plains = new Float64Array(4)
  readonly weighteds = new Float64Array(4)
  /** `older…[j]`: sums of the last j + 1 values of the older part. */
  private olderPlain = new Float64Array(0)
  private olderWeighted = new Float64Array(0)
  private older = 0
  private newer = 0
  private newerPlain = 0
  private newerWeighted = 0

  push(value: number, length: number): void {
    this.history.push(value, length)
    if (length <= WHOLE_MAX && this.older + this.newer === 0) return
    this.newer++
    this.newerPlain += value
    this.newerWeighted += this.newer * value
  }

  /** Whether there are that many values; if so, sets `plain` and `weighted`. */
  sum(length: number): boolean {
    if (this.history.held < length) return false
    if (length <= WHOLE_MAX) this.sumWhole(length)
    else this.sumParts(length)
    return true
  }

  /** Whether the windows of the next four values can be summed side by side (by-fours.ts). */
  takesFour(length: number): boolean {
    return length > 1 && length <= WHOLE_MAX && this.older + this.newer === 0 && this.history.held >= length
  }

  /** Equals four calls of `push` and `sum`; the four sums are in `plains` and `weighteds`. */
  takeFour(four: Float64Array, length: number): void {
    const { history, plains, weighteds } = this
    history.pushFour(four, length)
    const { values, mask, count } = history
    addUpFour(values, mask, count - 3 - length, length, plains, weighteds)
  }

  private sumWhole(length: number): void {
    const { values, mask, count } = this.history
    let plain = 0
    let weighted = 0
    for (let k = 1, i = count - length; k <= length; k++, i++) {
      const value = values[i & mask]!
      plain += value
      weighted += value * k
    }
    this.plain = plain
    this.weighted = weighted
  }

  private sumParts(length: number): void {
    const fromOlder = length - this.newer
    if (fromOlder < 0 || fromOlder > this.older) {
      this.cut(length)
      this.plain = this.olderPlain[length - 1]!
      this.weighted = this.olderWeighted[length - 1]!
      return
    }
    this.plain = this.newerPlain
    this.weighted = this.newerWeighted + fromOlder * this.newerPlain
    if (fromOlder === 0) return
    this.plain += this.olderPlain[fromOlder - 1]!
    this.weighted += this.olderWeighted[fromOlder - 1]!
  }

  /** Turns all known values into the older part, as many as a longer length may soon need. */
  private cut(length: number): void {
    const { values, mask, count, held } = this.history
    this.older = Math.min(held, 2 * length)
    this.newer = 0
    this.newerPlain = 0
    this.newerWeighted = 0
    if (this.olderPlain.length < this.older) {
      this.olderPlain = new Float64Array(2 * this.older)
      this.olderWeighted = new Float64Array(2 * this.older)
    }
    // Each step adds a value at the far end: it weighs 1, and all others one more than before.
    let plain = 0
    let weighted = 0
    for (let j = 0, i = count - 1; j < this.older; j++, i--) {
      plain += values[i & mask]!
      weighted += plain
      this.olderPlain[j] = plain
      this.olderWeighted[j] = weighted
    }
  }
}

/**
 * The sums of four neighbouring windows, the first of which begins at `first`. It is a function with plain arguments,
 * because as part of a method it took twice the time in a process that runs many kinds of scripts.
 */
function addUpFour(
  values: Float64Array,
  mask: number,
  first: number,
  length: number,
  plains: Float64Array,
  weighteds: Float64Array,
): void {
  let value0 = values[first & mask]!
  let value1 = values[(first + 1) & mask]!
  let value2 = values[(first + 2) & mask]!
  let plain0 = 0
  let plain1 = 0
  let plain2 = 0
  let plain3 = 0
  let weighted0 = 0
  let weighted1 = 0
  let weighted2 = 0
  let weighted3 = 0
  for (let k = 1, i = first + 3; k <= length; k++, i++) {
    const value3 = values[i & mask]!
    plain0 += value0
    plain1 += value1
    plain2 += value2
    plain3 += value3
    weighted0 += value0 * k
    weighted1 += value1 * k
    weighted2 += value2 * k
    weighted3 += value3 * k
    value0 = value1
    value1 = value2
    value2 = value3
  }
  plains[0] = plain0
  plains[1] = plain1
  plains[2] = plain2
  plains[3] = plain3
  weighteds[0] = weighted0
  weighteds[1] = weighted1
  weighteds[2] = weighted2
  weighteds[3] = weighted3
}
