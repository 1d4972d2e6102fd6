// Moving averages.
//
// All except alma and swma skip na values: the window is the last n values that are not na. On a bar whose value is na,
// they differ as they do on TradingView: sma keeps its value, ema, rma and wma are na. The order of the operations is
// TradingView's [K4; PyneCore, bit for bit on 27,800 bars each]: `prev + α(x − prev)` for ema, `(prev(n − 1) + x) / n` for
// rma. The algebraically equal forms differ on half of the bars.

import { BY_LENGTH, BY_SIMPLE_LENGTH, fn } from '../define.ts'
import type { BuiltinEntry } from '../registry.ts'
import type { LengthColumns, LengthFill } from '../../runtime/state-class.ts'
import { fillManyWindows } from './many-windows.ts'
import { RollingSum } from './rolling-sum.ts'
import { WeightedSums } from './weighted-sums.ts'
import { ValueHistory, lengthOf } from './window.ts'
import { LENGTH_MAX, type WindowKernels } from './window-kernels.ts'
import { invalidArgument } from '../../messages/failing.ts'

export class Sma implements LengthFill {
  static readonly fills = 'length'
  private readonly sum = new RollingSum()

  next(source: number, length: number): number {
    const n = lengthOf(length, 'ta.sma')
    return this.sum.next(source, n) / n
  }

  fillBlock(from: number, to: number, columns: LengthColumns): void {
    this.sum.averageBlock(from, to, checked(columns))
  }

  static fillTwo(
    one: Sma,
    two: Sma,
    from: number,
    to: number,
    columns1: LengthColumns,
    columns2: LengthColumns,
  ): void {
    RollingSum.averageTwo(one.sum, two.sum, from, to, checked(columns1), checked(columns2))
  }
}

function checked([target, targetMask, source, sourceMask, length]: LengthColumns): LengthColumns {
  return [target, targetMask, source, sourceMask, lengthOf(length, 'ta.sma')]
}

/**
 * Starts with the sma of the first `length` values. `value` counts once it is `known`: were it na until then, the machine code
 * that has seen only numbers would be left on each of the first bars of every run, and be compiled again and again.
 */
export class Ema {
  private readonly first = new RollingSum()
  private value = 0
  private known = false

  next(source: number, length: number): number {
    const n = lengthOf(length, 'ta.ema')
    if (source !== source) return source
    if (n === 1) return this.take(source)
    if (!this.known) return this.take(this.first.next(source, n) / n)
    const value = this.value + (2 / (n + 1)) * (source - this.value)
    return value === value ? (this.value = value) : this.take(value)
  }

  private take(value: number): number {
    this.known = value === value
    if (this.known) this.value = value
    return value
  }
}

/** Starts like `Ema`. */
export class Rma {
  private readonly first = new RollingSum()
  private value = 0
  private known = false

  next(source: number, length: number): number {
    const n = lengthOf(length, 'ta.rma')
    if (source !== source) return source
    if (n === 1) return this.take(source)
    if (!this.known) return this.take(this.first.next(source, n) / n)
    const value = (this.value * (n - 1) + source) / n
    return value === value ? (this.value = value) : this.take(value)
  }

  private take(value: number): number {
    this.known = value === value
    if (this.known) this.value = value
    return value
  }
}

/** In its window, an na value is replaced by the value before it; on its own bar, the average is na. */
export class Wma implements LengthFill {
  static readonly fills = 'length'
  private readonly sums = new WeightedSums()
  private defined = 0
  private latest = NaN

  next(source: number, length: number): number {
    const n = lengthOf(length, 'ta.wma')
    if (source === source) {
      this.defined++
      this.latest = source
    }
    if (this.defined > 0) this.sums.push(this.latest, n)
    if (source !== source || this.defined < n || !this.sums.sum(n)) return NaN
    return this.sums.weighted / ((n * (n + 1)) / 2)
  }

  takesMany(length: number): boolean {
    return this.defined >= length && this.sums.takesMany(length)
  }

  nextMany(kernels: WindowKernels, many: Float64Array, count: number, n: number): void {
    this.defined += count
    this.latest = many[count - 1]!
    const weighteds = this.sums.weighteds(kernels, many, count, n)
    const total = (n * (n + 1)) / 2
    for (let j = 0; j < count; j++) many[j] = weighteds[j]! / total
  }

  fillBlock(from: number, to: number, columns: LengthColumns): void {
    fillManyWindows(this, from, to, columns)
  }
}

export class Hma implements LengthFill {
  static readonly fills = 'length'
  private readonly half = new Wma()
  private readonly whole = new Wma()
  private readonly smoothed = new Wma()

  next(source: number, length: number): number {
    const n = lengthOf(length, 'ta.hma')
    if (source !== source) return NaN
    const half = this.half.next(source, Math.max(1, Math.floor(n / 2)))
    const whole = this.whole.next(source, n)
    if (whole !== whole || half !== half) return NaN
    return this.smoothed.next(2 * half - whole, Math.floor(Math.sqrt(n)))
  }

  takesMany(length: number): boolean {
    return (
      this.half.takesMany(Math.max(1, Math.floor(length / 2))) &&
      this.whole.takesMany(length) &&
      this.smoothed.takesMany(Math.floor(Math.sqrt(length)))
    )
  }

  nextMany(kernels: WindowKernels, many: Float64Array, count: number, n: number): void {
    const wholes = kernels.aside
    wholes.set(many)
    this.half.nextMany(kernels, many, count, Math.max(1, Math.floor(n / 2)))
    this.whole.nextMany(kernels, wholes, count, n)
    let isKnown = true
    for (let j = 0; j < count; j++) {
      const difference = (many[j] = 2 * many[j]! - wholes[j]!)
      isKnown &&= difference === difference
    }
    const length = Math.floor(Math.sqrt(n))
    // A difference with an infinite value is NaN: na, as in `next`.
    if (isKnown) this.smoothed.nextMany(kernels, many, count, length)
    else for (let j = 0; j < count; j++) many[j] = this.smoothed.next(many[j]!, length)
  }

  fillBlock(from: number, to: number, columns: LengthColumns): void {
    fillManyWindows(this, from, to, columns)
  }
}

export class Vwma {
  private readonly weighted = new Sma()
  private readonly volume = new Sma()

  next(source: number, length: number, volume: number): number {
    return this.weighted.next(source * volume, length) / this.volume.next(volume, length)
  }
}

export class Swma {
  private first = NaN
  private second = NaN
  private third = NaN

  next(source: number): number {
    const value = (source + 2 * this.third + 2 * this.second + this.first) / 6
    this.first = this.second
    this.second = this.third
    this.third = source
    return value
  }
}

/**
 * A window weighted by a bell curve. All n weights differ, so each bar costs n. TradingView's last digit comes out if the
 * weights add up to 1 and the oldest value comes first; dividing the sum at the end matches on only half of the bars.
 */
export class Alma implements LengthFill {
  static readonly fills = 'length'
  private readonly history = new ValueHistory()
  /** Oldest first. */
  private weights = new Float64Array(0)
  private offset = NaN
  private sigma = NaN
  private floor = false

  next(source: number, length: number, offset: number, sigma: number, floor: boolean): number {
    const n = lengthOf(length, 'ta.alma')
    this.history.push(source, n)
    const { values, mask, count, held } = this.history
    if (held < n) return NaN
    if (n !== this.weights.length || offset !== this.offset || sigma !== this.sigma || floor !== this.floor)
      this.weigh(n, offset, sigma, floor)
    const weights = this.weights
    let sum = 0
    for (let k = 0, i = count - n; k < n; k++, i++) sum += weights[k]! * values[i & mask]!
    return sum
  }

  takesMany(length: number): boolean {
    return length <= LENGTH_MAX && this.weights.length === length
  }

  nextMany(kernels: WindowKernels, many: Float64Array, count: number, n: number): void {
    this.history.windowsInto(kernels.values, many, count, n)
    kernels.weights.set(this.weights)
    kernels.weigh(n, count)
    many.set(kernels.sums)
  }

  fillBlock(from: number, to: number, columns: LengthColumns): void {
    fillManyWindows(this, from, to, columns)
  }

  private weigh(n: number, offset: number, sigma: number, floor: boolean): void {
    if (!(sigma > 0)) throw invalidArgument('sigma', sigma, 'ta.alma', 'above 0')
    this.offset = offset
    this.sigma = sigma
    this.floor = floor
    this.weights = new Float64Array(n)
    const peak = floor ? Math.floor(offset * (n - 1)) : offset * (n - 1)
    const width = n / sigma
    let total = 0
    for (let k = 0; k < n; k++) {
      this.weights[k] = Math.exp((-1 * ((k - peak) * (k - peak))) / (2 * width * width))
      total += this.weights[k]!
    }
    for (let k = 0; k < n; k++) this.weights[k] = this.weights[k]! / total
  }
}

export const MOVING_AVERAGES: readonly BuiltinEntry[] = [
  fn('ta.sma', 'Simple moving average: the sum of the last `length` values divided by `length`.', BY_LENGTH, {
    state: Sma,
  }),
  fn(
    'ta.ema',
    'Exponential moving average, with a weight of 2 / (length + 1) for the newest value.',
    BY_SIMPLE_LENGTH,
    { state: Ema },
  ),
  fn(
    'ta.rma',
    "Wilder's moving average, the one rsi and atr use: a weight of 1 / length for the newest value.",
    BY_SIMPLE_LENGTH,
    { state: Rma },
  ),
  fn('ta.wma', 'Weighted moving average: the newest value weighs `length`, the oldest one 1.', BY_LENGTH, {
    state: Wma,
  }),
  fn(
    'ta.hma',
    'Hull moving average: wma of (2 · wma of half the length − wma), over the square root of the length.',
    BY_SIMPLE_LENGTH,
    { state: Hma },
  ),
  fn(
    'ta.vwma',
    'Volume-weighted moving average: sma of source · volume divided by sma of volume.',
    BY_LENGTH,
    { state: Vwma, implicit: ['volume'] },
  ),
  fn(
    'ta.swma',
    'Symmetrically weighted moving average of four values, weighted 1, 2, 2, 1.',
    '(series float source) series float',
    { state: Swma },
  ),
  fn(
    'ta.alma',
    'Arnaud Legoux moving average: a bell curve of weights, `offset` (0 to 1) saying where its top is and `sigma` how narrow it is.',
    '(series float series, series int length, simple float offset, simple float sigma, simple bool floor = false) series float',
    { state: Alma },
  ),
]
