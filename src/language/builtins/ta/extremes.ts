// Highest and lowest values of a window, and their places.
//
// They are found with a monotonic queue, which holds, oldest first, the values that can still become the extreme. A new
// value removes the values at the end that it beats, and the front leaves when the window has passed it. So each value
// moves twice at most, and a bar costs O(1) whatever the length. Values that the window has passed are kept in front of
// `front` for a while, because the length may grow again on the next bar.
//
// Comparisons are exact, na values are skipped, and until `length` bars have passed the answer is na.
//
// Half of all strategies have a call that is skipped on some bars, and such a call behaves differently. TradingView's
// window is a ring of length + 1 slots, one a bar, and a skipped bar leaves the value from one turn of the ring ago in its
// slot. The extreme found is kept until it is `length` bars old, and only then is the window searched, stale slots
// included. [PyneCore: `ta.lowest` in an else branch is then right on all of 28,302 bars, and wrong on 257 with a window of
// calls] From its first gap on, a window here does the same.

import { BY_LENGTH, fn } from '../define.ts'
import type { BuiltinEntry } from '../registry.ts'
import type { LengthColumns, LengthFill, StateClass } from '../../runtime/state-class.ts'
import { readUntilNa } from './many-windows.ts'
import { ValueHistory, lengthOf } from './window.ts'
import { SIDE_BY_SIDE, WINDOWS_MAX, windowKernels, type WindowKernels } from './window-kernels.ts'

const CAPACITY_FIRST = 16
const KEPT = 1024
/** Up to this length, to look at a whole window costs less than the queue: nothing that is done hangs on the values. */
const LOOKED_AT_WHOLE = 64

/**
 * The queue for the highest value. For the lowest, values are negated on their way in and out.
 *
 * Invariant: positions `tail`… `head` − 1 hold falling values (equal ones side by side if `ties` is `oldest`) of rising
 * bars, at `i & mask`; the window begins at `front`.
 */
class HighestQueue {
  private values = new Float64Array(CAPACITY_FIRST)
  private bars = new Float64Array(CAPACITY_FIRST)
  private mask = CAPACITY_FIRST - 1
  private tail = 0
  private front = 0
  private head = 0
  private kept = KEPT
  private readonly newestOfTies: boolean

  /** Of equal values the oldest counts, unless `newestOfTies`. */
  constructor(newestOfTies: boolean) {
    this.newestOfTies = newestOfTies
  }

  push(value: number, bar: number): void {
    if (value !== value) return
    const { values, mask } = this
    let head = this.head
    if (this.newestOfTies) while (head > this.tail && values[(head - 1) & mask]! <= value) head--
    else while (head > this.tail && values[(head - 1) & mask]! < value) head--
    if (this.front > head) this.front = head
    this.head = head
    if (head - this.tail > mask) this.makeRoom(bar)
    const at = head & this.mask
    this.values[at] = value
    this.bars[at] = bar
    this.head = head + 1
  }

  /** Moves the window to the `length` bars up to `bar`. Answers false if it has no value. */
  seek(bar: number, length: number): boolean {
    if (2 * length > this.kept) this.kept = 2 * length
    const { bars, mask } = this
    const first = bar - length
    let front = this.front
    while (front > this.tail && bars[(front - 1) & mask]! > first) front--
    while (front < this.head && bars[front & mask]! <= first) front++
    this.front = front
    return front < this.head
  }

  get value(): number {
    return this.values[this.front & this.mask]!
  }

  get bar(): number {
    return this.bars[this.front & this.mask]!
  }

  /** Forgets values beyond the reach of any length so far. If that frees little, doubles the capacity. */
  private makeRoom(bar: number): void {
    const { values, bars, mask } = this
    const first = bar - this.kept
    while (this.tail < this.front && bars[this.tail & mask]! <= first) this.tail++
    if (this.head - this.tail <= mask / 2) return
    this.values = new Float64Array(2 * values.length)
    this.bars = new Float64Array(2 * values.length)
    this.mask = this.values.length - 1
    for (let i = this.tail; i < this.head; i++) {
      this.values[i & this.mask] = values[i & mask]!
      this.bars[i & this.mask] = bars[i & mask]!
    }
  }
}

/** The highest value of the last bars; for the lowest, negate the values. */
export class HighestWindow {
  /** The highest value, if the last `move` was true. */
  value = NaN
  bar = NaN
  private readonly newestOfTies: boolean
  private queue: HighestQueue
  /** The queue lacks values of the history, since many were looked at without it. */
  private isQueueBehind = false
  /** How many of the last values are not na. */
  private known = 0
  private readonly history = new ValueHistory()
  private barBefore = -1
  /** TradingView's ring, used from the first gap on and empty before. */
  private ring = new Float64Array(0)

  constructor(newestOfTies: boolean) {
    this.newestOfTies = newestOfTies
    this.queue = new HighestQueue(newestOfTies)
  }

  /** Adds a bar's value. Answers false until `length` bars have passed, and if all values are na. */
  move(source: number, length: number, bar: number): boolean {
    const before = this.barBefore
    this.barBefore = bar
    if (this.ring.length > 0 || (bar > before + 1 && before >= 0))
      return this.moveRing(source, length, bar, before)
    if (this.isQueueBehind) this.requeue()
    this.known = source === source ? this.known + 1 : 0
    this.history.push(source, length)
    this.queue.push(source, bar)
    if (!this.queue.seek(bar, length)) {
      this.value = NaN
      return false
    }
    this.value = this.queue.value
    this.bar = this.queue.bar
    return bar >= length - 1
  }

  /** Whether `moveMany` can take the bar that comes. */
  takesMany(length: number, bar: number): boolean {
    return (
      length <= LOOKED_AT_WHOLE &&
      this.known >= length &&
      this.ring.length === 0 &&
      bar === this.barBefore + 1 &&
      !this.newestOfTies
    )
  }

  /** Equals `count` calls of `move`: replaces the values, none of them na, by the highest of each window. */
  moveMany(kernels: WindowKernels, many: Float64Array, count: number, length: number): void {
    this.history.windowsInto(kernels.values, many, count, length)
    kernels.highest(length, count)
    this.barBefore += count
    this.known += count
    this.isQueueBehind = true
    many.set(kernels.sums)
    this.value = many[count - 1]!
    let place = 0
    while (kernels.values[count - 1 + place] !== this.value) place++
    this.bar = this.barBefore - length + 1 + place
  }

  /** Before `move` goes on, and after its bar was noted. */
  private requeue(): void {
    this.isQueueBehind = false
    this.queue = new HighestQueue(this.newestOfTies)
    const newest = this.history.count - 1
    for (let back = this.history.held - 1; back >= 0; back--)
      this.queue.push(this.history.at(back), newest - back)
  }

  private moveRing(source: number, length: number, bar: number, before: number): boolean {
    if (this.ring.length < length + 1) this.growRing(length + 1, before)
    const { ring } = this
    const slots = ring.length
    ring[bar % slots] = source
    if (source > this.value || this.value !== this.value || (this.newestOfTies && source === this.value)) {
      this.value = source
      this.bar = bar
    }
    if (bar - this.bar >= length) {
      this.value = source
      this.bar = bar
      for (let at = bar - 1; at > bar - length && at >= 0; at--) {
        const value = ring[at % slots]!
        const wins = this.newestOfTies ? value > this.value : value >= this.value
        if (wins || (this.value !== this.value && value === value)) {
          this.value = value
          this.bar = at
        }
      }
    }
    return bar >= length - 1 && this.value === this.value
  }

  /** Makes the ring longer and copies the slots of the last bars: from the old ring, or the first time from the history. */
  private growRing(slots: number, before: number): void {
    const old = this.ring
    this.ring = new Float64Array(slots).fill(NaN)
    const known = Math.min(slots, before + 1, old.length || slots)
    for (let back = 0; back < known; back++) {
      const bar = before - back
      this.ring[bar % slots] = old.length > 0 ? old[bar % old.length]! : this.history.at(back)
    }
  }
}

export class Highest implements LengthFill {
  static readonly fills = 'length'
  private readonly window = new HighestWindow(false)

  next(source: number, length: number, bar: number): number {
    return this.window.move(source, lengthOf(length, 'ta.highest'), bar) ? this.window.value : NaN
  }

  fillBlock(from: number, to: number, columns: LengthColumns): void {
    fillExtremes(this, this.window, 1, from, to, columns)
  }
}

export class Lowest implements LengthFill {
  static readonly fills = 'length'
  private readonly window = new HighestWindow(false)

  next(source: number, length: number, bar: number): number {
    return this.window.move(-source, lengthOf(length, 'ta.lowest'), bar) ? -this.window.value : NaN
  }

  fillBlock(from: number, to: number, columns: LengthColumns): void {
    fillExtremes(this, this.window, -1, from, to, columns)
  }
}

/** `sign` is -1 where the window holds negated values. */
function fillExtremes(
  one: Highest | Lowest,
  window: HighestWindow,
  sign: 1 | -1,
  from: number,
  to: number,
  [target, targetMask, source, sourceMask, length]: LengthColumns,
): void {
  const n = Math.trunc(length)
  const kernels = to - from < SIDE_BY_SIDE ? null : windowKernels()
  const many = kernels === null ? null : new Float64Array(WINDOWS_MAX)
  for (let i = from; i < to;) {
    const count = many !== null && window.takesMany(n, i) ? readUntilNa(many, i, to, source, sourceMask) : 0
    if (count === 0) {
      target[i & targetMask] = one.next(source[i & sourceMask]!, length, i)
      i++
      continue
    }
    if (sign === -1) for (let j = 0; j < count; j++) many![j] = -many![j]!
    window.moveMany(kernels!, many!, count, n)
    for (let j = 0; j < count; j++) target[(i + j) & targetMask] = sign * many![j]!
    i += count
  }
}

/** The number of bars back to the extreme, as 0 or a negative number. */
export class HighestBars {
  private readonly window = new HighestWindow(false)

  next(source: number, length: number, bar: number): number {
    return this.window.move(source, lengthOf(length, 'ta.highestbars'), bar) ? this.window.bar - bar : NaN
  }
}

export class LowestBars {
  private readonly window = new HighestWindow(false)

  next(source: number, length: number, bar: number): number {
    return this.window.move(-source, lengthOf(length, 'ta.lowestbars'), bar) ? this.window.bar - bar : NaN
  }
}

/** The overloads without a source. */
class HighestOfBars {
  private readonly state = new Highest()
  next(length: number, bar: number, high: number): number {
    return this.state.next(high, length, bar)
  }
}
class LowestOfBars {
  private readonly state = new Lowest()
  next(length: number, bar: number, low: number): number {
    return this.state.next(low, length, bar)
  }
}
class HighestBarsOfBars {
  private readonly state = new HighestBars()
  next(length: number, bar: number, high: number): number {
    return this.state.next(high, length, bar)
  }
}
class LowestBarsOfBars {
  private readonly state = new LowestBars()
  next(length: number, bar: number, low: number): number {
    return this.state.next(low, length, bar)
  }
}

export class Range {
  private readonly highest = new Highest()
  private readonly lowest = new Lowest()

  next(source: number, length: number, bar: number): number {
    const n = lengthOf(length, 'ta.range')
    const range = this.highest.next(source, n, bar) - this.lowest.next(source, n, bar)
    return source === source ? range : NaN
  }
}

/** The highest of all values so far. */
class AllTimeMax {
  private value = NaN
  next(source: number): number {
    if (!(this.value >= source) && source === source) this.value = source
    return this.value
  }
}

class AllTimeMin {
  private value = NaN
  next(source: number): number {
    if (!(this.value <= source) && source === source) this.value = source
    return this.value
  }
}

const OFFSET = 'Offset to the'
const OF_LAST = 'of the last `length` values (0 or negative)'

/** Of a source, or of the bars' own `field`. */
function extreme(
  name: string,
  meaning: string,
  field: 'high' | 'low',
  type: 'float' | 'int',
  ofSource: StateClass,
  ofBars: StateClass,
): BuiltinEntry {
  return fn(
    `ta.${name}`,
    `${meaning}; of \`${field}\` without a source.`,
    [`(series float source, series int length) series ${type}`, `(series int length) series ${type}`],
    [
      { state: ofSource, implicit: ['bar_index'] },
      { state: ofBars, implicit: ['bar_index', field] },
    ],
  )
}

export const EXTREMES: readonly BuiltinEntry[] = [
  extreme('highest', 'The highest of the last `length` values', 'high', 'float', Highest, HighestOfBars),
  extreme('lowest', 'The lowest of the last `length` values', 'low', 'float', Lowest, LowestOfBars),
  extreme('highestbars', `${OFFSET} highest ${OF_LAST}`, 'high', 'int', HighestBars, HighestBarsOfBars),
  extreme('lowestbars', `${OFFSET} lowest ${OF_LAST}`, 'low', 'int', LowestBars, LowestBarsOfBars),
  fn(
    'ta.range',
    'The highest minus the lowest of the last `length` values.',
    ['(series int source, series int length) series int', BY_LENGTH],
    { state: Range, implicit: ['bar_index'] },
  ),
  fn(
    'ta.max',
    'The highest value since the first bar.',
    ['(series int source) series int', '(series float source) series float'],
    { state: AllTimeMax },
  ),
  fn(
    'ta.min',
    'The lowest value since the first bar.',
    ['(series int source) series int', '(series float source) series float'],
    { state: AllTimeMin },
  ),
]
