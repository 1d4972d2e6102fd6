// A window kept in order: for medians, percentiles and ranks.
//
// One sorted Float64Array. Finding the place is a binary search, and making room there one `copyWithin`, which moves 500
// numbers in some 20 ns: below lengths of ten thousand nothing with pointers is faster.

import { EPSILON, History } from './window.ts'

const ROOM_FIRST = 16

/** Numbers in rising order, exactly. */
export class SortedValues {
  values = new Float64Array(ROOM_FIRST)
  count = 0

  add(value: number): void {
    this.insert(this.firstAtLeast(value), value)
  }

  remove(value: number): void {
    this.delete(this.firstAtLeast(value))
  }

  firstAtLeast(value: number): number {
    const values = this.values
    let from = 0
    let to = this.count
    while (from < to) {
      const middle = (from + to) >>> 1
      if (values[middle]! < value) from = middle + 1
      else to = middle
    }
    return from
  }

  firstAbove(value: number): number {
    const values = this.values
    let from = 0
    let to = this.count
    while (from < to) {
      const middle = (from + to) >>> 1
      if (values[middle]! > value) to = middle
      else from = middle + 1
    }
    return from
  }

  /** How many are not above the value, within the comparison slack. */
  countUpTo(value: number): number {
    const values = this.values
    let from = 0
    let to = this.count
    while (from < to) {
      const middle = (from + to) >>> 1
      if (values[middle]! - value <= EPSILON) from = middle + 1
      else to = middle
    }
    return from
  }

  insert(at: number, value: number): void {
    if (this.count === this.values.length) {
      const values = new Float64Array(2 * this.count)
      values.set(this.values)
      this.values = values
    }
    this.values.copyWithin(at + 1, at, this.count)
    this.values[at] = value
    this.count++
  }

  delete(at: number): void {
    this.values.copyWithin(at, at + 1, this.count)
    this.count--
  }
}

/**
 * Numbers in the order TradingView's percentiles keep them: values within the comparison slack of each other are equal,
 * a new one goes before its equals, and the last of its equals leaves in place of an old one. The answer so depends on
 * the order the values came in. [PyneCore: an exact order misses up to 43 % of the bars of a window with ties]
 */
export class TolerantValues extends SortedValues {
  override add(value: number): void {
    const values = this.values
    let from = 0
    let to = this.count
    while (from < to) {
      const middle = (from + to) >>> 1
      if (values[middle]! - value < -EPSILON) from = middle + 1
      else to = middle
    }
    this.insert(from, value)
  }

  override remove(value: number): void {
    const values = this.values
    let from = 0
    let to = this.count
    while (from < to) {
      const middle = (from + to) >>> 1
      if (value - values[middle]! < -EPSILON) to = middle
      else from = middle + 1
    }
    this.delete(Math.max(0, from - 1))
  }
}

/** The last n values in order; na ones are part of the window but not of the order. n may change from bar to bar. */
export class SortedWindow {
  readonly history = new History()
  readonly sorted: SortedValues
  private inWindow = 0

  constructor(sorted: SortedValues) {
    this.sorted = sorted
  }

  push(value: number, length: number): void {
    const { history, sorted } = this
    history.push(value, Math.max(length, this.inWindow))
    this.inWindow++
    if (value === value) sorted.add(value)
    this.resize(length)
  }

  resize(length: number): void {
    const { history, sorted } = this
    const target = Math.min(length, history.held)
    while (this.inWindow > target) {
      this.inWindow--
      const leaving = history.values[(history.count - 1 - this.inWindow) & history.mask]!
      if (leaving === leaving) sorted.remove(leaving)
    }
    while (this.inWindow < target) {
      const back = history.at(this.inWindow)
      if (back === back) sorted.add(back)
      this.inWindow++
    }
  }
}
