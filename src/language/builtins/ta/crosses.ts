// Crossings, and values at the time when a condition last held.
//
// crossover and crossunder compare with the last bar on which both series were defined, exactly. cross is not simply both
// together: it remembers which side was last clearly above, through any stretch of equality, and is false until there was
// one. [K2, both measured on TradingView]

import { fn } from '../define.ts'
import type { BuiltinEntry } from '../registry.ts'
import type { PairColumns, PairFill } from '../../runtime/state-class.ts'
import { EPSILON, countOf } from './window.ts'

/** How many bars sides have to last on average, so that it pays to look for their ends. */
const SIDE_MIN = 8

export class Crossover implements PairFill {
  static readonly fills = 'pair'
  private wasAtOrBelow = false

  next(source1: number, source2: number): boolean {
    const crossed = source1 > source2 && this.wasAtOrBelow
    if (source1 === source1 && source2 === source2) this.wasAtOrBelow = source1 <= source2
    return crossed
  }

  fillBlock(
    from: number,
    to: number,
    [target, targetMask, source1, mask1, source2, mask2]: PairColumns,
  ): void {
    // If one of the two is na, neither comparison is true, and `was` stays as it is.
    let was = this.wasAtOrBelow ? 1 : 0
    let i = from
    // Averages stay on a side for long, so that a look for its end takes a third of the time of the loop below.
    for (let due = from - 4 * SIDE_MIN; i >= due && i < to; due += SIDE_MIN) {
      if (was === 0)
        for (; i < to && !(source1[i & mask1]! <= source2[i & mask2]!); i++) target[i & targetMask] = 0
      else for (; i < to && !(source1[i & mask1]! > source2[i & mask2]!); i++) target[i & targetMask] = 0
      if (i === to) break
      target[i++ & targetMask] = was
      was = 1 - was
    }
    // Without a branch, since the processor cannot predict frequent crossings: 1.3 ns a bar instead of 3.5.
    for (; i < to; i++) {
      const a = source1[i & mask1]!
      const b = source2[i & mask2]!
      const above = Number(a > b)
      target[i & targetMask] = above & was
      was = Number(a <= b) | (was & ~above)
    }
    this.wasAtOrBelow = was === 1
  }
}

/** A crossover with the two series swapped. */
export class Crossunder implements PairFill {
  static readonly fills = 'pair'
  private readonly over = new Crossover()

  next(source1: number, source2: number): boolean {
    return this.over.next(source2, source1)
  }

  fillBlock(
    from: number,
    to: number,
    [target, targetMask, source1, mask1, source2, mask2]: PairColumns,
  ): void {
    this.over.fillBlock(from, to, [target, targetMask, source2, mask2, source1, mask1])
  }
}

export class Cross {
  /** −1 or +1: the side on which source1 last clearly was; 0: none yet. */
  private side = 0

  next(source1: number, source2: number): boolean {
    const crossed = (this.side < 0 && source1 > source2) || (this.side > 0 && source1 < source2)
    const difference = source1 - source2
    if (difference < -EPSILON) this.side = -1
    else if (difference > EPSILON) this.side = 1
    return crossed
  }
}

export class BarsSince {
  private bars = NaN

  next(condition: boolean | null): number {
    this.bars = condition ? 0 : this.bars + 1
    return this.bars
  }
}

/** K6: an na source is recorded like any other value [measured]. */
export class ValueWhen {
  private values = new Float64Array(1)
  private count = 0

  next(condition: boolean | null, source: number, occurrence: number): number {
    const back = countOf(occurrence, 'occurrence', 'ta.valuewhen')
    if (back >= this.values.length) this.grow(back)
    if (condition) {
      this.values[this.count % this.values.length] = source
      this.count++
    }
    return back < this.count ? this.values[(this.count - 1 - back) % this.values.length]! : NaN
  }

  private grow(back: number): void {
    const values = new Float64Array(2 * (back + 1)).fill(NaN)
    for (let i = Math.max(0, this.count - this.values.length); i < this.count; i++)
      values[i % values.length] = this.values[i % this.values.length]!
    this.values = values
  }
}

export class BoolValueWhen {
  private readonly state = new ValueWhen()

  next(condition: boolean | null, source: boolean | null, occurrence: number): boolean {
    return this.state.next(condition, source ? 1 : 0, occurrence) === 1
  }
}

export const CROSSES: readonly BuiltinEntry[] = [
  fn(
    'ta.cross',
    'True when one series has crossed the other, either way.',
    '(series float source1, series float source2) series bool',
    { state: Cross },
  ),
  fn(
    'ta.crossover',
    'True when source1 is above source2 and was not on the bar before.',
    '(series float source1, series float source2) series bool',
    { state: Crossover },
  ),
  fn(
    'ta.crossunder',
    'True when source1 is below source2 and was not on the bar before.',
    '(series float source1, series float source2) series bool',
    { state: Crossunder },
  ),
  fn(
    'ta.barssince',
    'How many bars ago the condition was last true; na before it ever was.',
    '(series bool condition) series int',
    { state: BarsSince },
  ),
  fn(
    'ta.valuewhen',
    'What the source was when the condition was true, `occurrence` times before the last time.',
    [
      '(series bool condition, series int source, simple int occurrence) series int',
      '(series bool condition, series float source, simple int occurrence) series float',
      '(series bool condition, series bool source, simple int occurrence) series bool',
      '(series bool condition, series color source, simple int occurrence) series color',
    ],
    [{ state: ValueWhen }, { state: ValueWhen }, { state: BoolValueWhen }, { state: ValueWhen }],
  ),
]
