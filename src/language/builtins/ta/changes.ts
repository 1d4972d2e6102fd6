// Compares a series with what it was: change, mom, roc, rising, falling, cum.

import { BY_LENGTH, fn } from '../define.ts'
import type { BuiltinEntry } from '../registry.ts'
import { EPSILON, ValueHistory, lengthOf } from './window.ts'

/**
 * What a call site was given, a value a bar: that of the bar's last call, and on a bar that skips the call that of the latest one
 * before it (K9).
 */
class Past {
  private readonly history = new ValueHistory()
  private barBefore = Infinity

  /** Notes the value and answers the one of `length` bars ago. */
  next(value: number, length: number, bar: number): number {
    if (bar === this.barBefore) this.history.replace(value)
    else {
      if (bar > this.barBefore + 1) this.history.hold(bar - this.barBefore - 1, length + 1)
      this.barBefore = bar
      this.history.push(value, length + 1)
    }
    return this.history.at(length)
  }
}

/** source − source[length], exact. */
export class Change {
  private readonly past = new Past()

  next(source: number, length: number, bar: number): number {
    return source - this.past.next(source, lengthOf(length, 'ta.change'), bar)
  }
}

/** Whether a bool is another one than it was; null = one of the two is na, as is what was before the first bar. */
class OldBoolChange {
  private readonly past = new Past()

  next(source: boolean | null, length: number, bar: number): boolean | null {
    const value = source === null ? NaN : Number(source)
    const change = value - this.past.next(value, lengthOf(length, 'ta.change'), bar)
    return Number.isNaN(change) ? null : change !== 0
  }
}

/** The same of version 6, whose bools are never na. */
export class BoolChange {
  private readonly change = new OldBoolChange()

  next(source: boolean | null, length: number, bar: number): boolean {
    return this.change.next(source, length, bar) === true
  }
}

export class Roc {
  private readonly past = new Past()

  next(source: number, length: number, bar: number): number {
    const before = this.past.next(source, lengthOf(length, 'ta.roc'), bar)
    return (100 * (source - before)) / before
  }
}

/** A step within the comparison slack does not count [measured], nor does one from or to an na (K14). */
export class Rising {
  private before = NaN
  private steps = 0

  next(source: number, length: number): boolean {
    const n = lengthOf(length, 'ta.rising')
    this.steps = source - this.before > EPSILON ? this.steps + 1 : 0
    this.before = source
    return this.steps >= n
  }
}

export class Falling {
  private before = NaN
  private steps = 0

  next(source: number, length: number): boolean {
    const n = lengthOf(length, 'ta.falling')
    this.steps = this.before - source > EPSILON ? this.steps + 1 : 0
    this.before = source
    return this.steps >= n
  }
}

/** na on a bar whose value is na; later values continue the total. */
export class Cum {
  private total = 0

  next(source: number): number {
    if (source !== source) return NaN
    this.total += source
    return this.total
  }
}

export const CHANGES: readonly BuiltinEntry[] = [
  fn(
    'ta.change',
    'The source minus what it was `length` bars ago; of a bool, whether it is another one.',
    [
      '(series bool source, series int length = 1) series bool',
      '(series int source, series int length = 1) series int',
      '(series float source, series int length = 1) series float',
    ],
    [
      { state: BoolChange, implicit: ['bar_index'] },
      { state: Change, implicit: ['bar_index'] },
      { state: Change, implicit: ['bar_index'] },
    ],
  ),
  // v4 and v5: na without an earlier value.
  fn('·change', '', '(series bool source, series int length = 1) series bool', {
    state: OldBoolChange,
    implicit: ['bar_index'],
  }),
  fn(
    'ta.mom',
    'Momentum: the source minus what it was `length` bars ago.',
    ['(series int source, series int length) series int', BY_LENGTH],
    { state: Change, implicit: ['bar_index'] },
  ),
  fn('ta.roc', 'Rate of change: per cent the source has moved in `length` bars.', BY_LENGTH, {
    state: Roc,
    implicit: ['bar_index'],
  }),
  fn(
    'ta.rising',
    'True when the source has risen on each of the last `length` bars.',
    '(series float source, series int length) series bool',
    { state: Rising },
  ),
  fn(
    'ta.falling',
    'True when the source has fallen on each of the last `length` bars.',
    '(series float source, series int length) series bool',
    { state: Falling },
  ),
  fn('ta.cum', 'The sum of all values since the first bar.', '(series float source) series float', {
    state: Cum,
  }),
]
