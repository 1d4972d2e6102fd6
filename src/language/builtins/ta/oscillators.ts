// Oscillators: rsi, stoch, cci, cmo, mfi, tsi, wpr, macd.

import { BY_LENGTH, BY_SIMPLE_LENGTH, fn } from '../define.ts'
import type { BuiltinEntry } from '../registry.ts'
import type { LengthColumns, LengthFill } from '../../runtime/state-class.ts'
import { fillManyWindows } from './many-windows.ts'
import { Highest, Lowest } from './extremes.ts'
import { Ema, Rma } from './moving-averages.ts'
import { RollingSum } from './rolling-sum.ts'
import { Dev } from './spread.ts'
import { EPSILON, lengthOf } from './window.ts'
import type { WindowKernels } from './window-kernels.ts'

export class Rsi {
  private before = NaN
  private readonly up = new Rma()
  private readonly down = new Rma()

  next(source: number, length: number): number {
    const n = lengthOf(length, 'ta.rsi')
    if (source !== source) return NaN
    const before = this.before
    this.before = source
    if (before !== before) return NaN
    const up = this.up.next(Math.max(source - before, 0), n)
    const down = this.down.next(Math.max(before - source, 0), n)
    return 100 - 100 / (1 + up / down)
  }
}

/** The multiplication comes first, and the result is not limited to 0 to 100 [measured]. */
export class Stoch {
  private highest = new Highest()
  private lowest = new Lowest()
  private isHighGone = false
  private isLowGone = false
  private last = NaN

  next(source: number, high: number, low: number, length: number, bar: number): number {
    const n = lengthOf(length, 'ta.stoch')
    if (this.isHighGone || this.isLowGone) this.forget(high, low)
    const highest = this.highest.next(high, n, bar)
    const lowest = this.lowest.next(low, n, bar)
    const value = (100 * (source - lowest)) / (highest - lowest)
    if (high === high && low === low) {
      if (value - value === 0) return (this.last = value)
      // Where there are too few bars for the length, it is na.
      return source !== source || highest === lowest ? this.last : value
    }
    this.isHighGone = high !== high
    this.isLowGone = low !== low
    return this.last
  }

  /** The highs before an na count no more after it, nor the lows (K15). */
  private forget(high: number, low: number): void {
    if (this.isHighGone && high === high) this.highest = new Highest()
    if (this.isLowGone && low === low) this.lowest = new Lowest()
    this.isHighGone = false
    this.isLowGone = false
  }
}

class Wpr {
  private readonly highest = new Highest()
  private readonly lowest = new Lowest()

  next(length: number, bar: number, high: number, low: number, close: number): number {
    const n = lengthOf(length, 'ta.wpr')
    const highest = this.highest.next(high, n, bar)
    return (100 * (close - highest)) / (highest - this.lowest.next(low, n, bar))
  }
}

export class Cci implements LengthFill {
  static readonly fills = 'length'
  private readonly deviation = new Dev()

  next(source: number, length: number): number {
    const n = lengthOf(length, 'ta.cci')
    const deviation = this.deviation.next(source, n)
    return (source - this.deviation.mean) / (0.015 * deviation)
  }

  takesMany(length: number): boolean {
    return this.deviation.takesMany(length)
  }

  nextMany(kernels: WindowKernels, many: Float64Array, count: number, n: number): void {
    const { aside, means } = kernels
    aside.set(many)
    this.deviation.nextMany(kernels, many, count, n)
    for (let j = 0; j < count; j++) many[j] = (aside[j]! - means[j]!) / (0.015 * many[j]!)
  }

  fillBlock(from: number, to: number, columns: LengthColumns): void {
    fillManyWindows(this, from, to, columns)
  }
}

/** A move within the comparison slack counts as upward [measured]. */
export class Cmo {
  private before = NaN
  private readonly gains = new RollingSum()
  private readonly losses = new RollingSum()

  next(series: number, length: number): number {
    const n = lengthOf(length, 'ta.cmo')
    const move = series - this.before
    this.before = series
    if (move !== move) return NaN
    const rising = move >= -EPSILON
    const gains = this.gains.next(rising ? move : 0, n)
    const losses = this.losses.next(rising ? 0 : -move, n)
    return (100 * (gains - losses)) / (gains + losses)
  }
}

/** A sum within the comparison slack is zero; if no money flows out the index is 100 [measured]. */
export class Mfi {
  private before = NaN
  private readonly inflow = new RollingSum()
  private readonly outflow = new RollingSum()

  next(series: number, length: number, volume: number): number {
    const n = lengthOf(length, 'ta.mfi')
    if (series !== series) return NaN
    const move = series - this.before
    this.before = series
    let inflow = this.inflow.next(volume * (move <= EPSILON ? 0 : series), n)
    let outflow = this.outflow.next(volume * (move >= -EPSILON ? 0 : series), n)
    if (inflow !== inflow || outflow !== outflow) return NaN
    if (Math.abs(inflow) <= EPSILON) inflow = 0
    if (Math.abs(outflow) <= EPSILON) outflow = 0
    return outflow === 0 ? 100 : 100 - 100 / (1 + inflow / outflow)
  }
}

export class Tsi {
  private before = NaN
  private readonly move = new Ema()
  private readonly moveTwice = new Ema()
  private readonly size = new Ema()
  private readonly sizeTwice = new Ema()

  next(source: number, short: number, long: number): number {
    const nShort = lengthOf(short, 'ta.tsi')
    const nLong = lengthOf(long, 'ta.tsi')
    const move = source - this.before
    this.before = source
    if (move !== move) return NaN
    const moves = this.moveTwice.next(this.move.next(move, nLong), nShort)
    return moves / this.sizeTwice.next(this.size.next(Math.abs(move), nLong), nShort)
  }
}

export class Macd {
  private readonly fast = new Ema()
  private readonly slow = new Ema()
  private readonly signal = new Ema()
  private readonly result = [NaN, NaN, NaN]

  next(source: number, fast: number, slow: number, smoothing: number): number[] {
    const line = this.fast.next(source, fast) - this.slow.next(source, slow)
    const signal = this.signal.next(line, smoothing)
    this.result[0] = line
    this.result[1] = signal
    this.result[2] = line - signal
    return this.result
  }
}

export const OSCILLATORS: readonly BuiltinEntry[] = [
  fn(
    'ta.rsi',
    "Relative strength index: Wilder's averages of the ups and of the downs, on a scale of 0 to 100.",
    BY_SIMPLE_LENGTH,
    { state: Rsi },
  ),
  fn(
    'ta.stoch',
    'Stochastic: where the source lies between the lowest low (0) and the highest high (100) of `length` bars.',
    '(series float source, series float high, series float low, series int length) series float',
    { state: Stoch, implicit: ['bar_index'] },
  ),
  fn(
    'ta.wpr',
    'Williams %R: where the close lies between the highest high (0) and the lowest low (−100) of `length` bars.',
    '(series int length) series float',
    { state: Wpr, implicit: ['bar_index', 'high', 'low', 'close'] },
  ),
  fn(
    'ta.cci',
    'Commodity channel index: the distance from the average in units of 0.015 mean deviations.',
    BY_LENGTH,
    { state: Cci },
  ),
  fn(
    'ta.cmo',
    'Chande momentum oscillator: (gains − losses) / (gains + losses) over `length` bars, in per cent.',
    '(series float series, series int length) series float',
    { state: Cmo },
  ),
  fn(
    'ta.mfi',
    'Money flow index: an rsi of price · volume, on a scale of 0 to 100.',
    '(series float series, series int length) series float',
    { state: Mfi, implicit: ['volume'] },
  ),
  fn(
    'ta.tsi',
    'True strength index: the momentum smoothed twice, over its size smoothed twice; −1 to 1.',
    '(series float source, simple int short_length, simple int long_length) series float',
    { state: Tsi },
  ),
  fn(
    'ta.macd',
    'Moving average convergence/divergence: [fast ema − slow ema, its ema, the difference of the two].',
    '(series float source, simple int fastlen, simple int slowlen, simple int siglen) [series float, series float, series float]',
    { state: Macd },
  ),
]
