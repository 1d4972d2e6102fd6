// How far values are from their average, and how they follow each other: variance, stdev, dev, correlation.
//
// Variances are q/n − m², never below zero, computed from TradingView's own rolling sums. For a series that hardly moves at
// a high price this loses digits, and it loses the same digits as TradingView. [PyneCore, bit for bit on 27,800 bars]

import { BY_LENGTH, fn } from '../define.ts'
import type { BuiltinEntry } from '../registry.ts'
import type { LengthColumns, LengthFill } from '../../runtime/state-class.ts'
import { fillManyWindows } from './many-windows.ts'
import { Sma } from './moving-averages.ts'
import { RollingSum } from './rolling-sum.ts'
import { SortedBlocks, SortedWindow } from './sorted-window.ts'
import { EPSILON, lengthOf } from './window.ts'
import type { WindowKernels } from './window-kernels.ts'

const ADDED_UP = 256

/** `biased` divides by n, otherwise by n − 1; the order of operations is TradingView's. */
export class Variance {
  private readonly sum = new RollingSum()
  private readonly squares = new RollingSum()

  next(source: number, length: number, biased: boolean): number {
    const n = lengthOf(length, 'ta.variance')
    const sum = this.sum.next(source, n)
    const squares = this.squares.next(source * source, n)
    if (biased) return Math.max(0, squares / n - (sum / n) * (sum / n))
    if (n === 1) return NaN
    return Math.max(0, squares / (n - 1) - (sum * (sum / n)) / (n - 1))
  }
}

export class Stdev {
  private readonly variance = new Variance()

  next(source: number, length: number, biased: boolean): number {
    return Math.sqrt(this.variance.next(source, length, biased))
  }
}

/**
 * The mean distance from the sma, summed newest first like TradingView's, so a bar costs n. Beyond a length of 256 the
 * window is kept sorted in blocks instead, and a bar costs √n.
 */
export class Dev implements LengthFill {
  static readonly fills = 'length'
  /** The sma of the last bar that `next` was called for. */
  mean = NaN
  private readonly average = new Sma()
  private readonly window = new SortedWindow(new SortedBlocks())
  private sorting = false

  next(source: number, length: number): number {
    const n = lengthOf(length, 'ta.dev')
    const mean = this.average.next(source, n)
    this.mean = mean
    if (n > ADDED_UP) this.sorting = true
    if (source !== source) {
      if (this.sorting) this.window.resize(n)
    } else if (this.sorting) this.window.push(source, n)
    else this.window.history.push(source, n)
    if (mean !== mean) return NaN
    return (n > ADDED_UP ? this.window.sorted.distancesFrom(mean) : this.addUp(mean, n)) / n
  }

  takesMany(length: number): boolean {
    return length <= ADDED_UP && !this.sorting && this.window.history.held >= length
  }

  /** Leaves the sma of each bar in the kernels' `means`. */
  nextMany(kernels: WindowKernels, many: Float64Array, count: number, n: number): void {
    const { values, means, sums } = kernels
    this.average.fillBlock(0, count, [means, -1, many, -1, n])
    this.window.history.windowsInto(values, many, count, n)
    kernels.distances(n, count)
    for (let j = 0; j < count; j++) many[j] = sums[j]! / n
  }

  fillBlock(from: number, to: number, columns: LengthColumns): void {
    fillManyWindows(this, from, to, columns)
  }

  private addUp(mean: number, n: number): number {
    const { values, mask, count } = this.window.history
    let sum = 0
    for (let i = count - 1; i >= count - n; i--) sum += Math.abs(values[i & mask]! - mean)
    return sum
  }
}

/** A covariance within the comparison slack is zero, and so is the result [measured at the very bound]. */
export class Correlation {
  private readonly x = new RollingSum()
  private readonly y = new RollingSum()
  private readonly xy = new RollingSum()
  private readonly xx = new RollingSum()
  private readonly yy = new RollingSum()

  next(source1: number, source2: number, length: number): number {
    const n = lengthOf(length, 'ta.correlation')
    const meanX = this.x.next(source1, n) / n
    const meanY = this.y.next(source2, n) / n
    const covariance = this.xy.next(source1 * source2, n) / n - meanX * meanY
    const varianceX = Math.max(0, this.xx.next(source1 * source1, n) / n - meanX * meanX)
    const varianceY = Math.max(0, this.yy.next(source2 * source2, n) / n - meanY * meanY)
    if (Math.abs(covariance) <= EPSILON) return 0
    const product = varianceX * varianceY
    return product === 0 ? NaN : covariance / Math.sqrt(product)
  }
}

export const SPREAD: readonly BuiltinEntry[] = [
  fn(
    'ta.variance',
    'Variance of the last `length` values: of a population if biased, else the estimate from a sample.',
    '(series float source, series int length, series bool biased = true) series float',
    { state: Variance },
  ),
  fn(
    'ta.stdev',
    'Standard deviation of the last `length` values: of a population if biased, else the estimate from a sample.',
    '(series float source, series int length, series bool biased = true) series float',
    { state: Stdev },
  ),
  fn('ta.dev', 'Mean distance of the last `length` values from their average.', BY_LENGTH, { state: Dev }),
  fn(
    'ta.correlation',
    'Correlation coefficient of the last `length` values of two series, −1 to 1.',
    '(series float source1, series float source2, series int length) series float',
    { state: Correlation },
  ),
]
