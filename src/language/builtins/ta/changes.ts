// Compares a series with its value some calls ago: change, mom, roc, rising, falling, cum.

import { fn } from '../define.ts'
import type { BuiltinEntry } from '../registry.ts'
import { EPSILON, ValueHistory, lengthOf } from './window.ts'

/** source − source[length], exact. */
export class Change {
  private readonly history = new ValueHistory()

  next(source: number, length: number): number {
    const n = lengthOf(length, 'ta.change')
    this.history.push(source, n + 1)
    return source - this.history.at(n)
  }
}

/** The change of a bool: whether it differs. Bools have no na here, so without an earlier value there is no difference. */
export class BoolChange {
  private readonly history = new ValueHistory()

  next(source: boolean | null, length: number): boolean {
    const n = lengthOf(length, 'ta.change')
    const value = source === null ? NaN : Number(source)
    this.history.push(value, n + 1)
    const before = this.history.at(n)
    return before === before && value === value && value !== before
  }
}

export class Roc {
  private readonly history = new ValueHistory()

  next(source: number, length: number): number {
    const n = lengthOf(length, 'ta.roc')
    this.history.push(source, n + 1)
    const before = this.history.at(n)
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
    [{ state: BoolChange }, { state: Change }, { state: Change }],
  ),
  fn(
    'ta.mom',
    'Momentum: the source minus what it was `length` bars ago.',
    [
      '(series int source, series int length) series int',
      '(series float source, series int length) series float',
    ],
    { state: Change },
  ),
  fn(
    'ta.roc',
    'Rate of change: per cent the source has moved in `length` bars.',
    '(series float source, series int length) series float',
    { state: Roc },
  ),
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
