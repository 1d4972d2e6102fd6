// Highest and lowest values of a window, and where they were.
//
// A monotonic queue: it holds, oldest first, the values that can still become the extreme. A new value throws out those
// behind it that it beats, and the front leaves when the window has passed it, so each value is moved twice at most and
// a bar costs O(1), whatever the length. What the window has passed stays in front of `front` for a while, because the
// length may grow again on the next bar.
//
// Values age in bars, not in calls: a call that is skipped on some bars has a window with holes. [PyneCore: measured]
// Comparisons are exact, na values are no candidates, and until `length` bars have passed the answer is na.

import { fn } from '../define.ts'
import type { BuiltinEntry } from '../registry.ts'
import { lengthOf } from './window.ts'

const CAPACITY_FIRST = 16
const KEPT = 1024

/**
 * The queue for the highest value; for the lowest, values come and go with their signs turned.
 *
 * Invariant: positions `tail`… `head` − 1 hold falling values (equal ones side by side if `ties` is `oldest`) of rising
 * bars, at `i & mask`; the window begins at `front`.
 */
export class HighestQueue {
  private values = new Float64Array(CAPACITY_FIRST)
  private bars = new Float64Array(CAPACITY_FIRST)
  private mask = CAPACITY_FIRST - 1
  private tail = 0
  private front = 0
  private head = 0
  private kept = KEPT
  private readonly newestOfTies: boolean

  /** Of equal values the oldest is the one, unless `newestOfTies`. */
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

  /** Moves the window to the `length` bars up to `bar`. False when no value is in it. */
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

  /** Forgets what no length asked for so far reaches back to; if that is little, doubles the room. */
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

export class Highest {
  private readonly queue = new HighestQueue(false)

  next(source: number, length: number, bar: number): number {
    const n = lengthOf(length, 'ta.highest')
    this.queue.push(source, bar)
    return bar >= n - 1 && this.queue.seek(bar, n) ? this.queue.value : NaN
  }
}

export class Lowest {
  private readonly queue = new HighestQueue(false)

  next(source: number, length: number, bar: number): number {
    const n = lengthOf(length, 'ta.lowest')
    this.queue.push(-source, bar)
    return bar >= n - 1 && this.queue.seek(bar, n) ? -this.queue.value : NaN
  }
}

/** Bars back to it, as 0 or a negative number. */
export class HighestBars {
  private readonly queue = new HighestQueue(false)

  next(source: number, length: number, bar: number): number {
    const n = lengthOf(length, 'ta.highestbars')
    this.queue.push(source, bar)
    return bar >= n - 1 && this.queue.seek(bar, n) ? this.queue.bar - bar : NaN
  }
}

export class LowestBars {
  private readonly queue = new HighestQueue(false)

  next(source: number, length: number, bar: number): number {
    const n = lengthOf(length, 'ta.lowestbars')
    this.queue.push(-source, bar)
    return bar >= n - 1 && this.queue.seek(bar, n) ? this.queue.bar - bar : NaN
  }
}

/** The overloads without a source. */
export class HighestOfBars {
  private readonly state = new Highest()
  next(length: number, bar: number, high: number): number {
    return this.state.next(high, length, bar)
  }
}
export class LowestOfBars {
  private readonly state = new Lowest()
  next(length: number, bar: number, low: number): number {
    return this.state.next(low, length, bar)
  }
}
export class HighestBarsOfBars {
  private readonly state = new HighestBars()
  next(length: number, bar: number, high: number): number {
    return this.state.next(high, length, bar)
  }
}
export class LowestBarsOfBars {
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
    if (source !== source) return NaN
    return this.highest.next(source, n, bar) - this.lowest.next(source, n, bar)
  }
}

/** The highest value of all so far. */
export class AllTimeMax {
  private value = NaN
  next(source: number): number {
    if (!(this.value >= source) && source === source) this.value = source
    return this.value
  }
}

export class AllTimeMin {
  private value = NaN
  next(source: number): number {
    if (!(this.value <= source) && source === source) this.value = source
    return this.value
  }
}

export const EXTREMES: readonly BuiltinEntry[] = [
  fn(
    'ta.highest',
    'The highest of the last `length` values; of `high` without a source.',
    ['(series float source, series int length) series float', '(series int length) series float'],
    [
      { state: Highest, implicit: ['bar_index'] },
      { state: HighestOfBars, implicit: ['bar_index', 'high'] },
    ],
  ),
  fn(
    'ta.lowest',
    'The lowest of the last `length` values; of `low` without a source.',
    ['(series float source, series int length) series float', '(series int length) series float'],
    [
      { state: Lowest, implicit: ['bar_index'] },
      { state: LowestOfBars, implicit: ['bar_index', 'low'] },
    ],
  ),
  fn(
    'ta.highestbars',
    'Offset to the highest of the last `length` values (0 or negative); of `high` without a source.',
    ['(series float source, series int length) series int', '(series int length) series int'],
    [
      { state: HighestBars, implicit: ['bar_index'] },
      { state: HighestBarsOfBars, implicit: ['bar_index', 'high'] },
    ],
  ),
  fn(
    'ta.lowestbars',
    'Offset to the lowest of the last `length` values (0 or negative); of `low` without a source.',
    ['(series float source, series int length) series int', '(series int length) series int'],
    [
      { state: LowestBars, implicit: ['bar_index'] },
      { state: LowestBarsOfBars, implicit: ['bar_index', 'low'] },
    ],
  ),
  fn(
    'ta.range',
    'The highest minus the lowest of the last `length` values.',
    [
      '(series int source, series int length) series int',
      '(series float source, series int length) series float',
    ],
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
