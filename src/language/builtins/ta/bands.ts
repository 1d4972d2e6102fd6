// Bands around an average, Bollinger's and Keltner's, and their width.

import { fn } from '../define.ts'
import type { BuiltinEntry } from '../registry.ts'
import { Ema, Sma } from './moving-averages.ts'
import { Stdev } from './spread.ts'
import { trueRange } from './trend.ts'

export class Bb {
  private readonly middle = new Sma()
  private readonly deviation = new Stdev()
  private readonly result = [NaN, NaN, NaN]

  next(series: number, length: number, mult: number): number[] {
    const middle = this.middle.next(series, length)
    const width = this.deviation.next(series, length, true) * mult
    this.result[0] = middle
    this.result[1] = middle + width
    this.result[2] = middle - width
    return this.result
  }
}

export class Bbw {
  private readonly bands = new Bb()

  next(series: number, length: number, mult: number): number {
    const bands = this.bands.next(series, length, mult)
    return bands[0] === 0 ? NaN : ((bands[1]! - bands[2]!) / bands[0]!) * 100
  }
}

export class Kc {
  private readonly middle = new Ema()
  private readonly range = new Ema()
  private readonly result = [NaN, NaN, NaN]

  next(
    series: number,
    length: number,
    mult: number,
    useTrueRange: boolean,
    high: number,
    low: number,
    closeBefore: number,
  ): number[] {
    const middle = this.middle.next(series, length)
    const width =
      this.range.next(useTrueRange ? trueRange(high, low, closeBefore) : high - low, length) * mult
    this.result[0] = middle
    this.result[1] = middle + width
    this.result[2] = middle - width
    return this.result
  }
}

export class Kcw {
  private readonly bands = new Kc()

  next(
    series: number,
    length: number,
    mult: number,
    useTrueRange: boolean,
    high: number,
    low: number,
    closeBefore: number,
  ): number {
    const bands = this.bands.next(series, length, mult, useTrueRange, high, low, closeBefore)
    return (bands[1]! - bands[2]!) / bands[0]!
  }
}

const BAR = ['high', 'low', 'close[1]'] as const

export const BANDS: readonly BuiltinEntry[] = [
  fn(
    'ta.bb',
    'Bollinger bands: [sma, sma + mult · stdev, sma − mult · stdev].',
    '(series float series, series int length, simple float mult) [series float, series float, series float]',
    { state: Bb },
  ),
  fn(
    'ta.bbw',
    'Width of the Bollinger bands in per cent of their middle.',
    '(series float series, series int length, simple float mult) series float',
    { state: Bbw },
  ),
  fn(
    'ta.kc',
    'Keltner channels: an ema, and above and below it `mult` times the ema of the (true) range.',
    '(series float series, simple int length, simple float mult, simple bool useTrueRange = true) [series float, series float, series float]',
    { state: Kc, implicit: BAR },
  ),
  fn(
    'ta.kcw',
    'Width of the Keltner channels as a fraction of their middle.',
    '(series float series, simple int length, simple float mult, simple bool useTrueRange = true) series float',
    { state: Kcw, implicit: BAR },
  ),
]
