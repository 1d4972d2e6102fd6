// True range, its relatives, and the trend followers: atr, dmi, sar, supertrend.

import { fn, variable } from '../define.ts'
import type { BuiltinEntry } from '../registry.ts'
import { Rma } from './moving-averages.ts'
import { EPSILON, lengthOf } from './window.ts'

/** na on the first bar, which has no close before it. */
export function trueRange(high: number, low: number, closeBefore: number): number {
  return Math.max(high - low, Math.abs(high - closeBefore), Math.abs(low - closeBefore))
}

function trueRangeOrRange(high: number, low: number, closeBefore: number): number {
  return closeBefore === closeBefore ? trueRange(high, low, closeBefore) : high - low
}

export class Atr {
  private readonly average = new Rma()

  next(length: number, high: number, low: number, closeBefore: number): number {
    return this.average.next(trueRangeOrRange(high, low, closeBefore), length)
  }
}

/**
 * [+DI, −DI, ADX]. The true range is the variant that is na on the first bar, and a directional movement within the
 * comparison slack counts as none [both measured: otherwise 1,324 of 22,396 bars differ].
 */
export class Dmi {
  private readonly range = new Rma()
  private readonly plus = new Rma()
  private readonly minus = new Rma()
  private readonly adx = new Rma()
  private readonly result = [NaN, NaN, NaN]

  next(
    diLength: number,
    adxSmoothing: number,
    high: number,
    low: number,
    highBefore: number,
    lowBefore: number,
    closeBefore: number,
  ): number[] {
    const n = lengthOf(diLength, 'ta.dmi')
    const smoothing = lengthOf(adxSmoothing, 'ta.dmi')
    const up = high - highBefore
    const down = lowBefore - low
    const known = up === up && down === down
    const range = this.range.next(trueRange(high, low, closeBefore), n)
    const plus = this.plus.next(known ? (up - down > EPSILON && up > EPSILON ? up : 0) : NaN, n)
    const minus = this.minus.next(known ? (down - up > EPSILON && down > EPSILON ? down : 0) : NaN, n)
    const diPlus = range === 0 ? NaN : (100 * plus) / range
    const diMinus = range === 0 ? NaN : (100 * minus) / range
    const sum = diPlus + diMinus
    this.result[0] = diPlus
    this.result[1] = diMinus
    this.result[2] = 100 * this.adx.next(Math.abs(diPlus - diMinus) / (sum === 0 ? 1 : sum), smoothing)
    return this.result
  }
}

/**
 * Parabolic stop and reverse, following the reference manual's own Pine version.
 *
 * It can start only on the second bar, and remembers the bars on which it was called: if it is called conditionally it is
 * na for ever, as on TradingView [K9, measured].
 */
export class Sar {
  private value = NaN
  private extreme = NaN
  private acceleration = NaN
  private isBelow = false
  private high1 = NaN
  private high2 = NaN
  private low1 = NaN
  private low2 = NaN
  private close1 = NaN

  next(
    start: number,
    increment: number,
    max: number,
    bar: number,
    high: number,
    low: number,
    close: number,
  ): number {
    let turned = false
    if (bar === 1) {
      this.isBelow = close > this.close1
      this.extreme = this.isBelow ? high : low
      this.value = this.isBelow ? this.low1 : this.high1
      this.acceleration = start
      turned = true
    }
    let value = this.value + this.acceleration * (this.extreme - this.value)
    if (this.isBelow ? value > low : value < high) {
      turned = true
      this.isBelow = !this.isBelow
      value = this.isBelow ? Math.min(low, this.extreme) : Math.max(high, this.extreme)
      this.extreme = this.isBelow ? high : low
      this.acceleration = start
    }
    if (!turned && (this.isBelow ? high > this.extreme : low < this.extreme)) {
      this.extreme = this.isBelow ? high : low
      this.acceleration = Math.min(this.acceleration + increment, max)
    }
    if (this.isBelow) {
      value = Math.min(value, this.low1)
      if (bar > 1) value = Math.min(value, this.low2)
    } else {
      value = Math.max(value, this.high1)
      if (bar > 1) value = Math.max(value, this.high2)
    }
    this.value = value
    this.high2 = this.high1
    this.high1 = high
    this.low2 = this.low1
    this.low1 = low
    this.close1 = close
    return value
  }
}

/**
 * [line, direction]: 1 while the line is above the price (down), −1 while it is below. It follows the reference manual's
 * own Pine version, which answers 0 on the first bar, as TradingView does.
 */
export class Supertrend {
  private readonly atr = new Rma()
  private atrBefore = NaN
  private lower = NaN
  private upper = NaN
  private line = NaN
  private readonly result = [NaN, NaN]

  next(
    factor: number,
    atrPeriod: number,
    high: number,
    low: number,
    close: number,
    closeBefore: number,
  ): number[] {
    const atr = this.atr.next(trueRangeOrRange(high, low, closeBefore), atrPeriod)
    const middle = (high + low) / 2
    const lowerBefore = this.lower === this.lower ? this.lower : 0
    const upperBefore = this.upper === this.upper ? this.upper : 0
    let lower = middle - factor * atr
    let upper = middle + factor * atr
    if (!(lower > lowerBefore || closeBefore < lowerBefore)) lower = lowerBefore
    if (!(upper < upperBefore || closeBefore > upperBefore)) upper = upperBefore
    let direction = 1
    if (this.atrBefore === this.atrBefore) {
      if (this.line === upperBefore) direction = close > upper ? -1 : 1
      else direction = close < lower ? 1 : -1
    }
    this.atrBefore = atr
    this.lower = lower
    this.upper = upper
    this.line = direction === -1 ? lower : upper
    this.result[0] = this.line
    this.result[1] = direction
    return this.result
  }
}

export const TREND: readonly BuiltinEntry[] = [
  fn(
    'ta.tr',
    "True range: the greatest of high − low and the distances of both from the last close. `handle_na` makes the first bar's high − low instead of na.",
    '(simple bool handle_na = false) series float',
    {
      fn: (handleNa: boolean, high: number, low: number, closeBefore: number) =>
        handleNa ? trueRangeOrRange(high, low, closeBefore) : trueRange(high, low, closeBefore),
      pure: true,
      implicit: ['high', 'low', 'close[1]'],
    },
  ),
  variable('ta.tr', 'True range; na on the first bar.', 'series float', {
    state: class TrueRange {
      next(high: number, low: number, closeBefore: number): number {
        return trueRange(high, low, closeBefore)
      }
    },
    implicit: ['high', 'low', 'close[1]'],
  }),
  fn(
    'ta.atr',
    "Average true range: Wilder's average of the true range.",
    '(simple int length) series float',
    { state: Atr, implicit: ['high', 'low', 'close[1]'] },
  ),
  fn(
    'ta.dmi',
    'Directional movement: [+DI, −DI, ADX].',
    '(simple int diLength, simple int adxSmoothing) [series float, series float, series float]',
    { state: Dmi, implicit: ['high', 'low', 'high[1]', 'low[1]', 'close[1]'] },
  ),
  fn(
    'ta.sar',
    'Parabolic stop and reverse.',
    '(simple float start, simple float inc, simple float max) series float',
    { state: Sar, implicit: ['bar_index', 'high', 'low', 'close'] },
  ),
  fn(
    'ta.supertrend',
    'Supertrend: [line, direction], direction 1 while the line is above the price and −1 while it is below.',
    '(series float factor, simple int atrPeriod) [series float, series int]',
    { state: Supertrend, implicit: ['high', 'low', 'close', 'close[1]'] },
  ),
]
