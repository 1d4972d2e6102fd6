// How far values are from their average, and how they follow each other: variance, stdev, dev, correlation.
//
// Variances are q/n − m², never below zero, computed from TradingView's own rolling sums. For a series that hardly moves at
// a high price this loses digits, and it loses the same digits as TradingView. [PyneCore, bit for bit on 27,800 bars]

import { fn } from '../define.ts'
import type { BuiltinEntry } from '../registry.ts'
import type { LengthColumns, LengthFill } from '../../runtime/state-class.ts'
import { fillByFours } from './by-fours.ts'
import { Sma } from './moving-averages.ts'
import { RollingSum } from './rolling-sum.ts'
import { SortedBlocks, SortedWindow } from './sorted-window.ts'
import { EPSILON, lengthOf } from './window.ts'

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
  /** The sma of the last bar, and those of the four bars of `nextFour`. */
  mean = NaN
  readonly means = new Float64Array(4)
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

  takesFour(length: number): boolean {
    return length <= ADDED_UP && !this.sorting && this.window.history.held >= length
  }

  nextFour(four: Float64Array, n: number): void {
    const { average, means } = this
    const { history } = this.window
    history.pushFour(four, n)
    const mean0 = average.next(four[0]!, n)
    const mean1 = average.next(four[1]!, n)
    const mean2 = average.next(four[2]!, n)
    const mean3 = average.next(four[3]!, n)
    means[0] = mean0
    means[1] = mean1
    means[2] = mean2
    means[3] = mean3
    const { values, mask, count } = history
    let value3 = values[(count - 1) & mask]!
    let value2 = values[(count - 2) & mask]!
    let value1 = values[(count - 3) & mask]!
    let sum0 = 0
    let sum1 = 0
    let sum2 = 0
    let sum3 = 0
    for (let k = 0, i = count - 4; k < n; k++, i--) {
      const value0 = values[i & mask]!
      sum0 += Math.abs(value0 - mean0)
      sum1 += Math.abs(value1 - mean1)
      sum2 += Math.abs(value2 - mean2)
      sum3 += Math.abs(value3 - mean3)
      value3 = value2
      value2 = value1
      value1 = value0
    }
    four[0] = sum0 / n
    four[1] = sum1 / n
    four[2] = sum2 / n
    four[3] = sum3 / n
  }

  fillBlock(from: number, to: number, columns: LengthColumns): void {
    fillByFours(this, from, to, columns)
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
  fn(
    'ta.dev',
    'Mean distance of the last `length` values from their average.',
    '(series float source, series int length) series float',
    { state: Dev },
  ),
  fn(
    'ta.correlation',
    'Correlation coefficient of the last `length` values of two series, −1 to 1.',
    '(series float source1, series float source2, series int length) series float',
    { state: Correlation },
  ),
]
