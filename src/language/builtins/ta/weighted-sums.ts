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
import type { WindowKernels } from './window-kernels.ts'

const WHOLE_MAX = 256

export class WeightedSums {
  plain = 0
  weighted = 0
  readonly history = new ValueHistory()
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

  /** Whether many windows to come can be summed side by side. */
  takesMany(length: number): boolean {
    return length > 1 && length <= WHOLE_MAX && this.older + this.newer === 0 && this.history.held >= length
  }

  /** Equals `count` calls of `push` and `sum`, and answers the weighted sums. */
  weighteds(kernels: WindowKernels, many: Float64Array, count: number, length: number): Float64Array {
    const { values, weights } = kernels
    this.history.windowsInto(values, many, count, length)
    for (let k = 0; k < length; k++) weights[k] = k + 1
    kernels.weigh(length, count)
    return kernels.sums
  }

  /** The plain sums of the windows of which `weighteds` were asked last. */
  plains(kernels: WindowKernels, count: number, length: number): Float64Array {
    kernels.weights.fill(1, 0, length)
    kernels.weigh(length, count)
    return kernels.sums
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
