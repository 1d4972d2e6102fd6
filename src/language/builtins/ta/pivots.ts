// Pivots: bars that stand out among their neighbours.
//
// A pivot is known `rightbars` after its bar. Of equal values the newest is the pivot, so an equal value to the right
// prevents it and one to the left does not [PyneCore]. A neighbour that is na is passed over (K14).

import { fn } from '../define.ts'
import type { BuiltinEntry } from '../registry.ts'
import { HighestWindow } from './extremes.ts'
import { countOf } from './window.ts'

export class PivotHigh {
  private readonly window = new HighestWindow(true)

  next(source: number, leftbars: number, rightbars: number, bar: number): number {
    const right = countOf(rightbars, 'rightbars', 'ta.pivothigh')
    const length = countOf(leftbars, 'leftbars', 'ta.pivothigh') + right + 1
    if (!this.window.move(source, length, bar)) return NaN
    return this.window.bar === bar - right ? this.window.value : NaN
  }
}

export class PivotLow {
  private readonly window = new HighestWindow(true)

  next(source: number, leftbars: number, rightbars: number, bar: number): number {
    const right = countOf(rightbars, 'rightbars', 'ta.pivotlow')
    const length = countOf(leftbars, 'leftbars', 'ta.pivotlow') + right + 1
    if (!this.window.move(-source, length, bar)) return NaN
    return this.window.bar === bar - right ? -this.window.value : NaN
  }
}

/** The overloads without a source. */
class PivotHighOfBars {
  private readonly state = new PivotHigh()
  next(leftbars: number, rightbars: number, bar: number, high: number): number {
    return this.state.next(high, leftbars, rightbars, bar)
  }
}
class PivotLowOfBars {
  private readonly state = new PivotLow()
  next(leftbars: number, rightbars: number, bar: number, low: number): number {
    return this.state.next(low, leftbars, rightbars, bar)
  }
}

export const PIVOTS: readonly BuiltinEntry[] = [
  fn(
    'ta.pivothigh',
    'The price of a high that none of `leftbars` before and `rightbars` after it exceeds, told `rightbars` later; else na.',
    [
      '(series float source, series float leftbars, series float rightbars) series float',
      '(series float leftbars, series float rightbars) series float',
    ],
    [
      { state: PivotHigh, implicit: ['bar_index'] },
      { state: PivotHighOfBars, implicit: ['bar_index', 'high'] },
    ],
  ),
  fn(
    'ta.pivotlow',
    'The price of a low that none of `leftbars` before and `rightbars` after it undercuts, told `rightbars` later; else na.',
    [
      '(series float source, series float leftbars, series float rightbars) series float',
      '(series float leftbars, series float rightbars) series float',
    ],
    [
      { state: PivotLow, implicit: ['bar_index'] },
      { state: PivotLowOfBars, implicit: ['bar_index', 'low'] },
    ],
  ),
]
