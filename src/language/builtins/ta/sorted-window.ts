// A window kept in order, for medians and percentiles. (How many of a window are not above a value: counted-window.ts.)
//
// It is one sorted Float64Array. A binary search finds the place, and one `copyWithin`, which moves 500 numbers in some 20
// ns, makes room there: below lengths of ten thousand nothing with pointers is faster.

import { EPSILON, ValueHistory } from './window.ts'

const ROOM_FIRST = 16
const BLOCK = 32
const SHORT = 40

/**
 * Numbers in rising order, compared exactly.
 *
 * What comes is near what came before it, and what leaves near what left before it. So the places of both are looked for
 * from the last one on, in steps that double: a third of the time of halving the whole window, whose every step surprises
 * the processor.
 */
export class SortedValues {
  values = new Float64Array(ROOM_FIRST)
  count = 0
  /** Where the last value came in, and where the last one left. */
  private came = 0
  private left = 0

  add(value: number): void {
    this.insert(this.firstAtLeast(value), value)
  }

  remove(value: number): void {
    this.delete(this.leavingPlace(value))
  }

  /** Does an `add` and a `remove` in a single move of the numbers between them. */
  replace(old: number, value: number): void {
    // Equal values leave the list as it is: the new one would take the place of the old.
    if (value !== old) replaceWithin(this.values, this.leavingPlace(old), this.firstAtLeast(value), value)
  }

  firstAtLeast(value: number): number {
    return (this.came = placeNear(this.values, this.count, value, this.came))
  }

  /** `firstAtLeast` of a value that is about to leave. */
  leavingPlace(value: number): number {
    return (this.left = placeNear(this.values, this.count, value, this.left))
  }

  firstAbove(value: number): number {
    const { values, count } = this
    let from = this.firstAtLeast(value)
    if (from === count || values[from] !== value) return from
    let to = count
    while (from < to) {
      const middle = (from + to) >>> 1
      if (values[middle]! > value) to = middle
      else from = middle + 1
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

/** The first place, from `near` on, of a number that is not below the value; `near` may be any place. */
function placeNear(values: Float64Array, count: number, value: number, near: number): number {
  let from = 0
  let to = near < count ? near : count
  if (to < count && values[to]! < value) {
    from = to + 1
    to = count
    for (let step = 1; from + step <= count; step *= 2) {
      if (values[from + step - 1]! >= value) {
        to = from + step - 1
        break
      }
      from += step
    }
  } else
    for (let step = 1; step <= to; step *= 2) {
      if (values[to - step]! < value) {
        from = to - step + 1
        break
      }
      to -= step
    }
  while (from < to) {
    const middle = (from + to) >>> 1
    if (values[middle]! < value) from = middle + 1
    else to = middle
  }
  return from
}

/** Removes the number at `from`, and inserts `value` in front of the number at `to`. */
export function replaceWithin(list: Float64Array, from: number, to: number, value: number): void {
  let at = from
  // The places of neighbouring bars are close: calling copyWithin() takes as long as moving forty numbers.
  if (Math.abs(to - from) > SHORT) {
    if (to > from) list.copyWithin(from, from + 1, to)
    else list.copyWithin(to + 1, to, from)
    at = to > from ? to - 1 : to
  } else if (to > from) for (; at < to - 1; at++) list[at] = list[at + 1]!
  else for (; at > to; at--) list[at] = list[at - 1]!
  list[at] = value
}

/**
 * Numbers in the order in which TradingView's percentiles keep them: values within the comparison slack of each other are
 * equal, a new value goes before its equals, and an old value is removed as the last of its equals. So the answer depends
 * on the order of arrival. [PyneCore: an exact order misses up to 43 % of the bars of a window with ties]
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

  override replace(old: number, value: number): void {
    this.add(value)
    this.remove(old)
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

/**
 * Numbers in rising order, cut into blocks with their sums, to answer questions about all numbers above or below another
 * one.
 *
 * With n numbers there are about √n blocks of about √n, so that both a change and a question cost √n. A block that changes
 * is summed again, so no sum keeps the rounding error of a number that has gone.
 */
export class SortedBlocks {
  private readonly blocks: SortedValues[] = [new SortedValues()]
  private readonly sums = [0]
  private count = 0

  add(value: number): void {
    const at = this.blockOf(value)
    const block = this.blocks[at]!
    block.add(value)
    this.count++
    if (block.count > 2 * BLOCK && block.count > 2 * Math.sqrt(this.count)) this.split(at)
    this.sumUp(at)
  }

  remove(value: number): void {
    const at = this.blockOf(value)
    const block = this.blocks[at]!
    block.remove(value)
    this.count--
    if (block.count > 0 || this.blocks.length === 1) this.sumUp(at)
    else {
      this.blocks.splice(at, 1)
      this.sums.splice(at, 1)
    }
  }

  replace(old: number, value: number): void {
    this.add(value)
    this.remove(old)
  }

  /** The sum of all distances from `center`. */
  distancesFrom(center: number): number {
    let total = 0
    for (let at = 0; at < this.blocks.length; at++) {
      const { values, count } = this.blocks[at]!
      if (count === 0) continue
      if (values[count - 1]! <= center) total += center * count - this.sums[at]!
      else if (values[0]! >= center) total += this.sums[at]! - center * count
      else for (let i = 0; i < count; i++) total += Math.abs(values[i]! - center)
    }
    return total
  }

  /** The first block that does not end below the value, or else the last one. */
  private blockOf(value: number): number {
    let from = 0
    let to = this.blocks.length - 1
    while (from < to) {
      const middle = (from + to) >>> 1
      const { values, count } = this.blocks[middle]!
      if (values[count - 1]! < value) from = middle + 1
      else to = middle
    }
    return from
  }

  private split(at: number): void {
    const block = this.blocks[at]!
    const half = block.count >>> 1
    const upper = new SortedValues()
    upper.values = block.values.slice(half, block.count)
    upper.count = block.count - half
    block.count = half
    this.blocks.splice(at + 1, 0, upper)
    this.sums.splice(at + 1, 0, 0)
    this.sumUp(at + 1)
  }

  private sumUp(at: number): void {
    const { values, count } = this.blocks[at]!
    let sum = 0
    for (let i = 0; i < count; i++) sum += values[i]!
    this.sums[at] = sum
  }
}

/** The last n values in order; na values belong to the window but not to the order. n may change from bar to bar. */
export class SortedWindow<Sorted extends SortedValues | SortedBlocks = SortedValues> {
  readonly history = new ValueHistory()
  readonly sorted: Sorted
  protected inWindow = 0

  constructor(sorted: Sorted) {
    this.sorted = sorted
  }

  push(value: number, length: number): void {
    const { history, sorted } = this
    history.push(value, Math.max(length, this.inWindow))
    if (this.inWindow === length && history.held > length) {
      const leaving = history.values[(history.count - 1 - length) & history.mask]!
      if (value === value && leaving === leaving) {
        sorted.replace(leaving, value)
        return
      }
    }
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
