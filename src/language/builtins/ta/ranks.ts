// Functions of a sorted window: median, mode, percentiles, ranks.
//
// Of all functions with a length, only median, mode and the two percentiles accept an na length, for which they answer na.
// [K10, measured]

import { BY_LENGTH, BY_SIMPLE_LENGTH, fn } from '../define.ts'
import type { BuiltinEntry } from '../registry.ts'
import { CountedWindow } from './counted-window.ts'
import { SortedValues, SortedWindow, TolerantValues, replaceWithin } from './sorted-window.ts'
import { EPSILON, ValueHistory, lengthOf } from './window.ts'
import { invalidArgument } from '../../messages/failing.ts'

/** na values are not part of the window. */
export class Median {
  protected readonly window = new SortedWindow(new SortedValues())

  next(source: number, length: number): number {
    if (length !== length) return NaN
    const n = lengthOf(length, 'ta.median')
    if (source !== source) return NaN
    this.window.push(source, n)
    const { values, count } = this.window.sorted
    return count < n ? NaN : this.middle(values, n)
  }

  protected middle(values: Float64Array, n: number): number {
    const upper = values[n >> 1]!
    return n % 2 === 1 ? upper : (values[(n >> 1) - 1]! + upper) / 2
  }
}

/** Of an even number of ints, the lower of the middle two. */
class IntMedian extends Median {
  protected override middle(values: Float64Array, n: number): number {
    return values[(n - 1) >> 1]!
  }
}

/**
 * The most frequent value; of several, the smallest.
 *
 * `best` values equal `mode` (na: unknown). A bar searches the window only when a value that occurred `best` times has lost
 * one of them.
 */
export class Mode {
  private readonly history = new ValueHistory()
  private readonly sorted = new SortedValues()
  private inWindow = 0
  private mode = NaN
  private best = 0

  next(source: number, length: number): number {
    if (length !== length) return NaN
    const n = lengthOf(length, 'ta.mode')
    const { history } = this
    history.push(source, Math.max(n, this.inWindow))
    this.inWindow++
    this.enter(source)
    const target = Math.min(n, history.held)
    while (this.inWindow > target) {
      this.inWindow--
      this.leave(history.values[(history.count - 1 - this.inWindow) & history.mask]!)
    }
    while (this.inWindow < target) this.enter(history.at(this.inWindow++))
    if (source !== source || history.count < n) return NaN
    if (this.mode !== this.mode) this.search()
    return this.mode
  }

  private enter(value: number): void {
    if (value !== value) return
    const { sorted } = this
    const at = sorted.firstAtLeast(value)
    const times = sorted.firstAbove(value) - at + 1
    sorted.insert(at, value)
    if (times > this.best || (times === this.best && value < this.mode)) {
      this.best = times
      this.mode = value
    }
  }

  private leave(value: number): void {
    if (value !== value) return
    const { sorted } = this
    sorted.delete(sorted.firstAtLeast(value))
    if (value === this.mode) this.mode = NaN
  }

  /** Another value may still occur `best` times; otherwise the best count is one less. */
  private search(): void {
    const { values, count } = this.sorted
    let best = 0
    for (let i = 0; i < count;) {
      const value = values[i]!
      let end = i + 1
      while (end < count && value === values[end]) end++
      if (end - i > best) {
        best = end - i
        this.mode = value
        if (best === this.best) return
      }
      i = end
    }
    this.best = best
  }
}

/**
 * The window of a percentile. Rounds of a loop share it, each as a bar of its own, and what one lacks of its length comes from
 * the source's past, bar by bar. [PyneCore's probes m577 to m579, loops over several lengths]
 */
class PercentileWindow extends SortedWindow<TolerantValues> {
  /** K14: how many na values in the window are of before the first value; they stand in the first places, all others in the last. */
  leading = 0
  private since = 0
  private bar = -1
  /** The window, oldest first, once a bar has had two rounds. */
  private rounds: number[] | null = null

  constructor() {
    super(new TolerantValues())
  }

  add(value: number, length: number, bar: number): void {
    const isAgain = bar === this.bar
    this.bar = bar
    if (!isAgain && (this.since > 0 || value === value)) this.since++
    this.leading = Math.max(0, length - this.since)
    const { history } = this
    if (isAgain && this.rounds === null)
      this.rounds = Array.from({ length: this.inWindow }, (_, i) => history.at(this.inWindow - 1 - i))
    const { rounds } = this
    if (rounds === null) {
      this.push(value, length)
      return
    }
    if (isAgain) history.replace(value)
    else history.push(value, length)
    const enter = (entering: number): void => {
      if (entering === entering) this.sorted.add(entering)
    }
    rounds.push(value)
    enter(value)
    while (rounds.length < length) {
      const before = history.at(rounds.length)
      rounds.unshift(before)
      enter(before)
    }
    while (rounds.length > length) {
      const leaving = rounds.shift()!
      if (leaving === leaving) this.sorted.remove(leaving)
    }
  }
}

export class PercentileNearestRank {
  private readonly window = new PercentileWindow()

  next(source: number, length: number, percentage: number, bar: number): number {
    if (length !== length) return NaN
    const n = lengthOf(length, 'ta.percentile_nearest_rank')
    this.window.add(source, n, bar)
    const share = percentOf(percentage, 'ta.percentile_nearest_rank')
    const { history, sorted, leading } = this.window
    if (history.count < n) return NaN
    const place = Math.max(1, Math.ceil((share * n) / 100)) - 1 - leading
    return place >= 0 && place < sorted.count ? sorted.values[place]! : NaN
  }
}

export class PercentileLinearInterpolation {
  private readonly window = new PercentileWindow()

  next(source: number, length: number, percentage: number, bar: number): number {
    if (length !== length) return NaN
    const n = lengthOf(length, 'ta.percentile_linear_interpolation')
    this.window.add(source, n, bar)
    if (percentage !== percentage) return NaN
    const share = percentOf(percentage, 'ta.percentile_linear_interpolation')
    const { history, sorted, leading } = this.window
    if (source !== source || history.count < n) return NaN
    return interpolated(sorted.values, sorted.count, n, share, leading)
  }
}

/** K5: ranks count from 1; na values take the last ranks or, those that `leading` counts, the first. */
function interpolated(
  values: Float64Array,
  count: number,
  n: number,
  percentage: number,
  leading: number,
): number {
  const at = (rank: number) => (rank > leading && rank <= leading + count ? values[rank - 1 - leading]! : NaN)
  let position = (n * percentage) / 100 + 0.5
  if (Math.abs(position - Math.round(position)) < 1e-9) position = Math.round(position)
  if (position <= 1) return at(1)
  if (position >= n) return at(n)
  const rank = Math.floor(position)
  const fraction = position - rank
  if (fraction === 0) return at(rank)
  return leading + count < n ? NaN : at(rank) * (1 - fraction) + at(rank + 1) * fraction
}

function percentOf(percentage: number, name: string): number {
  if (percentage !== percentage) return 0
  if (percentage >= 0 && percentage <= 100) return percentage
  throw invalidArgument('percentage', percentage, name, 'between 0 and 100 (RE10002)')
}

/** The percentage of the `length` previous values that are not above this one; na is above none, and none is above na. */
export class PercentRank {
  private readonly before = new CountedWindow()

  next(source: number, length: number): number {
    const n = lengthOf(length, 'ta.percentrank')
    const { before } = this
    let rank = NaN
    if (before.history.count >= n) {
      before.resize(n)
      rank = source === source ? (100 * before.countUpTo(source)) / n : 0
    }
    before.push(source, n)
    return rank
  }
}

/**
 * Rank correlation index: Spearman's correlation of values and time, −100 to 100.
 *
 * Each bar moves the ranks of the whole window, so a bar costs n. Ties are as in TradingView: going up from the smallest
 * value, all values within the comparison slack of the first one are tied. [PyneCore, bit for bit on 333,000 windows]
 */
export class Rci {
  private readonly history = new ValueHistory()
  private readonly sorted = new SortedValues()
  /** The number of the value at the same index in `sorted`; of equal values the oldest comes first. */
  private order = new Float64Array(16)
  private inWindow = 0

  next(source: number, length: number): number {
    const n = lengthOf(length, 'ta.rci')
    const { history } = this
    history.push(source, Math.max(n, this.inWindow))
    if (!this.turn(source, n)) this.refill(source, n)
    if (history.count <= n || this.sorted.count < n) return NaN
    return spearman(this.sorted.values, this.order, history.count - 1, n)
  }

  /** Replaces the oldest value by a new one, which suffices on nearly every bar; answers false if it does not. */
  private turn(source: number, n: number): boolean {
    const { history, sorted } = this
    if (this.inWindow !== n || history.held <= n) return false
    const leaving = history.at(n)
    if (source !== source || leaving !== leaving) return false
    const from = sorted.leavingPlace(leaving)
    const to = sorted.firstAbove(source)
    replaceWithin(sorted.values, from, to, source)
    replaceWithin(this.order, from, to, history.count - 1)
    return true
  }

  private refill(source: number, n: number): void {
    const { history } = this
    this.inWindow++
    if (source === source) this.enter(this.sorted.firstAbove(source), source, history.count - 1)
    const target = Math.min(n, history.held)
    while (this.inWindow > target) {
      this.inWindow--
      this.leave(history.at(this.inWindow))
    }
    while (this.inWindow < target) {
      const value = history.at(this.inWindow++)
      if (value === value) this.enter(this.sorted.firstAtLeast(value), value, history.count - this.inWindow)
    }
  }

  private enter(at: number, value: number, number: number): void {
    const { count } = this.sorted
    if (count === this.order.length) {
      const order = new Float64Array(2 * count)
      order.set(this.order)
      this.order = order
    }
    this.order.copyWithin(at + 1, at, count)
    this.order[at] = number
    this.sorted.insert(at, value)
  }

  private leave(value: number): void {
    if (value !== value) return
    const at = this.sorted.firstAtLeast(value)
    this.order.copyWithin(at, at + 1, this.sorted.count)
    this.sorted.delete(at)
  }
}

/**
 * Times and ranks are whole or half numbers, and so are their means. So up to a length of 100,000 every sum here is exact
 * in any order, and sums that do not depend on the ranks' order follow from a formula.
 */
function spearman(values: Float64Array, order: Float64Array, newest: number, n: number): number {
  const mean = (n - 1) / 2
  const sumXX = ((n - 1) * n * (2 * n - 1)) / 6
  let sumYY = sumXX
  let covariance = 0
  for (let first = 0; first < n;) {
    const end = tiesEnd(values, first, n)
    const ties = end - first
    const rank = n - 1 - (first + end - 1) / 2
    if (ties > 1) sumYY -= (ties * ties * ties - ties) / 12
    for (; first < end; first++) covariance += (newest - order[first]! - mean) * (rank - mean)
  }
  const varianceX = sumXX / n - mean * mean
  const varianceY = sumYY / n - mean * mean
  if (varianceX <= 0 || varianceY <= 0) return NaN
  return (100 * (covariance / n)) / (Math.sqrt(varianceX) * Math.sqrt(varianceY))
}

function tiesEnd(values: Float64Array, first: number, n: number): number {
  let end = first + 1
  while (end < n && values[end]! - values[first]! < EPSILON) end++
  return end
}

export const RANKS: readonly BuiltinEntry[] = [
  fn(
    'ta.median',
    'The median of the last `length` values.',
    ['(series int source, series int length) series int', BY_LENGTH],
    [{ state: IntMedian }, { state: Median }],
  ),
  fn(
    'ta.mode',
    'The most frequent of the last `length` values, the smallest if there are several.',
    ['(series int source, series int length) series int', BY_LENGTH],
    { state: Mode },
  ),
  fn(
    'ta.percentile_nearest_rank',
    'The value that `percentage` per cent of the last `length` values do not exceed.',
    '(series float source, series int length, simple float percentage) series float',
    { state: PercentileNearestRank, implicit: ['bar_index'] },
  ),
  fn(
    'ta.percentile_linear_interpolation',
    'The value `percentage` per cent of the last `length` values lie below, between the two nearest ones.',
    '(series float source, series int length, simple float percentage) series float',
    { state: PercentileLinearInterpolation, implicit: ['bar_index'] },
  ),
  fn(
    'ta.percentrank',
    'How many of the `length` values before are not above the current one, in per cent.',
    BY_LENGTH,
    { state: PercentRank },
  ),
  fn(
    'ta.rci',
    'Rank correlation index: how steadily the source has risen (100) or fallen (−100).',
    BY_SIMPLE_LENGTH,
    { state: Rci },
  ),
]
