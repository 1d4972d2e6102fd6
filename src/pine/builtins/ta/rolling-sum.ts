// The sum of the last n values, digit for digit as TradingView has it.
//
// TradingView neither adds the window up anew nor keeps a naive running sum. As the PyneCore project measured on some
// 350,000 bars (bit for bit, and documented in its `math.sum`), it keeps a compensated one in the manner of Kahan: each
// bar takes out what was put in n bars ago, then puts in the new value, and what is remembered for the day it leaves is
// not the value but what was really added. When the correction would be lost beside the new value, the window is summed
// afresh, newest first, and everything starts from there. Crossovers of averages that tie hang on those last digits.
//
// What it does not survive is a value so huge that its rounding error outweighs all that is left when it has gone. There,
// and only there (a million or more, and 2^32 times the rest), we sum afresh of our own accord.
//
// na values are not part of the window: it covers the last n values that are not na.
//
// Cost: O(1) a bar, and n for a fresh sum. Fresh sums are paid from an allowance of 512 additions a bar, so that a
// length of thousands cannot make every bar cost thousands; up to 512 they happen exactly when TradingView's do.

import { lengthOf } from './window.ts'

const CAPACITY_FIRST = 32
const CAPACITY_KEPT = 1024
const FRESH_PER_BAR = 512
const HUGE = 1e6
const HUGE_BESIDE = 2 ** 32

export class RollingSum {
  /** Value number i is at `i & mask`; `added` holds what was really put into the sum for it. */
  private raw = new Float64Array(CAPACITY_FIRST)
  private added = new Float64Array(CAPACITY_FIRST)
  private mask = CAPACITY_FIRST - 1
  private count = 0
  private length = 0
  private inWindow = 0
  /** The sum is `sum - excess`. */
  private sum = 0
  private excess = 0
  private allowance = 0
  /** Values moved in or out since the last fresh sum because the length changed. */
  private moved = 0

  /** na until `length` values have come; on a bar whose value is na, what it was before. */
  next(source: number, length: number): number {
    const n = lengthOf(length, 'math.sum')
    if (source !== source) return this.held(n)
    if (
      this.count > this.mask &&
      (this.mask < CAPACITY_KEPT - 1 || 2 * Math.max(n, this.inWindow) > this.mask)
    )
      this.grow()
    const at = this.count & this.mask
    this.raw[at] = source
    this.count++
    if (n !== this.length && this.length !== 0) return this.resized(source, n)
    this.length = n
    if (n === 1) {
      this.start(source)
      return source
    }

    let leaving = 0
    if (this.inWindow === n) leaving = this.added[(this.count - 1 - n) & this.mask]!
    else this.inWindow++
    if (n > FRESH_PER_BAR && this.allowance < n) this.allowance += FRESH_PER_BAR

    const excess = this.excess
    if (excess !== 0 && correctionIsLost(source, excess) && (n <= FRESH_PER_BAR || this.allowance >= n)) {
      this.allowance = 0
      this.sumAfresh()
      this.added[at] = source
    } else {
      const out = -leaving - excess
      const without = this.sum + out
      const entering = source - (without - this.sum - out)
      this.sum = without + entering
      this.excess = this.sum - without - entering
      this.added[at] = entering
      if (Math.abs(leaving) > HUGE) this.forget(leaving)
    }
    return this.inWindow === n ? this.sum : NaN
  }

  /**
   * `next` for bars `from` to `to`, divided, in one loop: 9 ns a bar become 5, as the fields stay in registers while
   * nothing unusual happens. `mask`s: a column of one block is indexed with one, a whole one with -1.
   */
  fill(
    target: Float64Array,
    targetMask: number,
    from: number,
    to: number,
    source: Float64Array,
    sourceMask: number,
    length: number,
    divisor: number,
  ): void {
    for (let i = from; i < to; i++) {
      i = this.fillSteady(target, targetMask, i, to, source, sourceMask, length, divisor)
      if (i < to) target[i & targetMask] = this.next(source[i & sourceMask]!, length) / divisor
    }
  }

  /** As far as the window is full, the values are numbers and no fresh sum is due. Returns the bar it stopped at. */
  private fillSteady(
    target: Float64Array,
    targetMask: number,
    from: number,
    to: number,
    source: Float64Array,
    sourceMask: number,
    length: number,
    divisor: number,
  ): number {
    const { raw, added, mask } = this
    if (length !== this.length || this.inWindow !== length || length < 2 || 2 * length > mask) return from
    if (length > FRESH_PER_BAR || mask < CAPACITY_KEPT - 1) return from
    let { sum, excess, count } = this
    let i = from
    for (; i < to; i++) {
      const value = source[i & sourceMask]!
      if (value !== value || (excess !== 0 && correctionIsLost(value, excess))) break
      const leaving = added[(count - length) & mask]!
      if (Math.abs(leaving) > HUGE) break
      const out = -leaving - excess
      const without = sum + out
      const entering = value - (without - sum - out)
      const now = without + entering
      excess = now - without - entering
      sum = now
      raw[count & mask] = value
      added[count & mask] = entering
      count++
      target[i & targetMask] = now / divisor
    }
    this.sum = sum
    this.excess = excess
    this.count = count
    return i
  }

  private held(n: number): number {
    if (n !== this.length && this.count > 0) this.resize(n)
    if (n === 1) return NaN
    return this.inWindow === n ? this.sum : NaN
  }

  private resized(source: number, n: number): number {
    this.added[(this.count - 1) & this.mask] = source
    // The new value is in the window from here on, whatever the length becomes.
    this.inWindow++
    this.put(source)
    this.resize(n)
    return this.inWindow === n ? this.sum : NaN
  }

  /** Another length: move the far edge of the window, or sum afresh where that is no dearer. */
  private resize(n: number): void {
    const inWindow = Math.min(n, this.count, this.mask + 1)
    const steps = Math.abs(inWindow - this.inWindow)
    this.length = n
    this.moved += steps + 1
    if (inWindow <= 64 || 4 * steps >= inWindow || this.moved >= inWindow) {
      this.inWindow = inWindow
      this.startOver()
      return
    }
    let largest = 0
    while (this.inWindow > inWindow) {
      const leaving = this.added[(this.count - this.inWindow) & this.mask]!
      this.put(-leaving)
      this.inWindow--
      largest = Math.max(largest, Math.abs(leaving))
    }
    if (largest > HUGE) this.forget(largest)
    while (this.inWindow < inWindow) {
      this.inWindow++
      const at = (this.count - this.inWindow) & this.mask
      this.added[at] = this.raw[at]!
      this.put(this.raw[at]!)
    }
  }

  /** A huge value has left: nothing of it may stay. */
  private forget(leaving: number): void {
    if (Math.abs(leaving) > HUGE_BESIDE * Math.abs(this.sum)) this.startOver()
  }

  private put(value: number): void {
    const corrected = value - this.excess
    const sum = this.sum + corrected
    this.excess = sum - this.sum - corrected
    this.sum = sum
  }

  private start(value: number): void {
    this.inWindow = 1
    this.sum = value
    this.excess = 0
    this.added[(this.count - 1) & this.mask] = value
  }

  /** As if the window's values were the first ones there are. */
  private startOver(): void {
    this.sumAfresh()
    const first = this.count - this.inWindow
    for (let i = first; i < this.count; i++) this.added[i & this.mask] = this.raw[i & this.mask]!
  }

  /** Newest first, as TradingView does it. */
  private sumAfresh(): void {
    const raw = this.raw
    const mask = this.mask
    let sum = raw[(this.count - 1) & mask]!
    for (let i = this.count - 2, last = this.count - this.inWindow; i >= last; i--) sum = raw[i & mask]! + sum
    this.sum = sum
    this.excess = 0
    this.moved = 0
  }

  private grow(): void {
    const mask = this.mask
    const raw = new Float64Array(this.raw.length * 2)
    const added = new Float64Array(raw.length)
    this.mask = raw.length - 1
    for (let i = this.count - this.raw.length; i < this.count; i++) {
      raw[i & this.mask] = this.raw[i & mask]!
      added[i & this.mask] = this.added[i & mask]!
    }
    this.raw = raw
    this.added = added
  }
}

/**
 * TradingView's sign to start over: adding the correction's size to the new value rounds down.
 * The operands are deliberately not ordered by size first.
 */
function correctionIsLost(value: number, excess: number): boolean {
  if (value === 0) return false
  const size = Math.abs(excess)
  const together = value + size
  return together !== 0 && Math.abs(together) !== Infinity && size - (together - value) > 0
}
