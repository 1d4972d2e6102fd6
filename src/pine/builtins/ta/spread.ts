// How far values lie from their average or follow each other: variance, stdev, dev, correlation.
//
// Variances are q/n − m², never below zero, of TradingView's own rolling sums: for a series that hardly moves at a high
// price this loses digits, and it loses the same digits as TradingView. [PyneCore, bit for bit on 27,800 bars]

import { fn } from '../define.ts'
import type { BuiltinEntry } from '../registry.ts'
import { Sma } from './moving-averages.ts'
import { RollingSum } from './rolling-sum.ts'
import { SortedBlocks, SortedWindow } from './sorted-window.ts'
import { EPSILON, lengthOf } from './window.ts'

const ADDED_UP = 256

/** `biased` divides by n, otherwise by n − 1, in the order of operations TradingView has. */
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
 * Mean distance from the sma, newest first as TradingView adds it up, so that a bar costs n. Past a length of 256 the
 * window is kept in order, in blocks, instead, and a bar costs √n.
 */
export class Dev {
  private readonly mean = new Sma()
  private readonly window = new SortedWindow(new SortedBlocks())
  private sorting = false

  next(source: number, length: number): number {
    const n = lengthOf(length, 'ta.dev')
    const mean = this.mean.next(source, n)
    if (n > ADDED_UP) this.sorting = true
    if (source !== source) {
      if (this.sorting) this.window.resize(n)
    } else if (this.sorting) this.window.push(source, n)
    else this.window.history.push(source, n)
    if (mean !== mean) return NaN
    return (n > ADDED_UP ? this.window.sorted.distancesFrom(mean) : this.addUp(mean, n)) / n
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
