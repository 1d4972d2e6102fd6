// What all functions over "the last n values" share: the length, and a memory of values that grows with it.
//
// A length may change on every bar. So a value is not forgotten as soon as it leaves the window: the memory holds at least
// the last 1,024 values and twice the longest length so far, and a window may grow again.

import { invalidArgument } from '../../messages/failing.ts'

/** K1: Pine compares floats with this slack, absolute. [measured on TradingView at four decades of magnitude] */
export const EPSILON = 1e-10

const CAPACITY_FIRST = 32
const CAPACITY_KEPT = 1024

/**
 * A length as TradingView reads it: the fraction is cut off (K8), and a length that is na or below one ends the script
 * (K10).
 */
export function lengthOf(length: number, name: string): number {
  const whole = Math.trunc(length)
  if (whole >= 1) return whole
  throw invalidArgument('length', length, name, 'above 0')
}

/** Like `lengthOf`, for counts that may be zero (an offset, the bars beside a pivot). */
export function countOf(count: number, argument: string, name: string): number {
  const whole = Math.trunc(count)
  if (whole >= 0) return whole
  throw invalidArgument(argument, count, name, '0 or above')
}

/**
 * The latest values of a series, newest last, in a ring whose capacity is a power of two.
 *
 * Invariant: value number i (from 0) is at `values[i & mask]` for `count - held <= i < count`.
 */
export class ValueHistory {
  values = new Float64Array(CAPACITY_FIRST)
  mask = CAPACITY_FIRST - 1
  count = 0

  /** `length` is the furthest that the caller looks back at present. */
  push(value: number, length: number): void {
    if (this.count > this.mask && (this.mask < CAPACITY_KEPT - 1 || 2 * length > this.mask)) this.grow()
    this.values[this.count & this.mask] = value
    this.count++
  }

  /** Writes over the newest value. */
  replace(value: number): void {
    this.values[(this.count - 1) & this.mask] = value
  }

  /** K9: the bars since the last push, `skipped` of them, held its value. */
  hold(skipped: number, length: number): void {
    const last = this.at(0)
    for (let i = 0; i < skipped; i++) this.push(last, length)
  }

  /** Copies the values of `count` windows to come: the last `length` - 1, and new ones, which it pushes. */
  windowsInto(windows: Float64Array, many: Float64Array, count: number, length: number): void {
    const { values, mask } = this
    const first = this.count - length + 1
    for (let i = 0; i < length - 1; i++) windows[i] = values[(first + i) & mask]!
    for (let i = 0; i < count; i++) {
      windows[length - 1 + i] = many[i]!
      this.push(many[i]!, length)
    }
  }

  /** How many of the latest values are remembered. */
  get held(): number {
    return Math.min(this.count, this.mask + 1)
  }

  /** `back` = 0 is the newest value; na before the first one. */
  at(back: number): number {
    return back < this.held ? this.values[(this.count - 1 - back) & this.mask]! : NaN
  }

  private grow(): void {
    const old = this.values
    const maskOld = this.mask
    this.values = new Float64Array(old.length * 2)
    this.mask = this.values.length - 1
    for (let i = this.count - old.length; i < this.count; i++) this.values[i & this.mask] = old[i & maskOld]!
  }
}
