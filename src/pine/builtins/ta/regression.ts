// The straight line through a window, and its centre of gravity.
//
// Neither window includes na values; on a bar whose value is na, the result does not change. The line is anchored one step
// before the point where it is evaluated, and the operations keep this order: the algebraically equal forms miss
// TradingView's last digit on up to half of the bars. [PyneCore, eleven configurations of 22,000 bars]

import { fn } from '../define.ts'
import type { BuiltinEntry } from '../registry.ts'
import type { LengthColumns, LengthFill } from '../../runtime/state-class.ts'
import { fillByFours } from './by-fours.ts'
import { WeightedSums } from './weighted-sums.ts'
import { lengthOf } from './window.ts'
import { invalidArgument } from '../../messages/failing.ts'

export class Linreg implements LengthFill {
  static readonly fills = 'length'
  private readonly sums = new WeightedSums()

  next(source: number, length: number, offset: number): number {
    const n = lengthOf(length, 'ta.linreg')
    const back = Math.trunc(offset)
    if (back !== back) throw invalidArgument('offset', offset, 'ta.linreg', 'a whole number')
    if (source === source) this.sums.push(source, n)
    if (n === 1) return source
    if (!this.sums.sum(n)) return NaN
    return this.line(this.sums.plain, this.sums.weighted, n, back)
  }

  takesFour(length: number): boolean {
    return this.sums.takesFour(length)
  }

  nextFour(four: Float64Array, n: number, offset: number): void {
    const { sums } = this
    sums.takeFour(four, n)
    const back = Math.trunc(offset)
    const { plains, weighteds } = sums
    four[0] = this.line(plains[0]!, weighteds[0]!, n, back)
    four[1] = this.line(plains[1]!, weighteds[1]!, n, back)
    four[2] = this.line(plains[2]!, weighteds[2]!, n, back)
    four[3] = this.line(plains[3]!, weighteds[3]!, n, back)
  }

  fillBlock(from: number, to: number, columns: LengthColumns): void {
    fillByFours(this, from, to, columns)
  }

  private line(plain: number, weighted: number, n: number, back: number): number {
    const sumX = (n * (n + 1)) / 2
    const sumXX = (n * (n + 1) * (2 * n + 1)) / 6
    const slope = (n * weighted - sumX * plain) / (n * sumXX - sumX * sumX)
    const intercept = plain / n - (slope * sumX) / n + slope
    return intercept + slope * (n - 1 - back)
  }
}

/** Minus the mean of the distances from now, counted from 1 and weighted by the values. */
export class Cog implements LengthFill {
  static readonly fills = 'length'
  private readonly sums = new WeightedSums()

  next(source: number, length: number): number {
    const n = lengthOf(length, 'ta.cog')
    if (source === source) this.sums.push(source, n)
    if (!this.sums.sum(n)) return NaN
    return center(this.sums.plain, this.sums.weighted, n)
  }

  takesFour(length: number): boolean {
    return this.sums.takesFour(length)
  }

  nextFour(four: Float64Array, n: number): void {
    const { sums } = this
    sums.takeFour(four, n)
    const { plains, weighteds } = sums
    four[0] = center(plains[0]!, weighteds[0]!, n)
    four[1] = center(plains[1]!, weighteds[1]!, n)
    four[2] = center(plains[2]!, weighteds[2]!, n)
    four[3] = center(plains[3]!, weighteds[3]!, n)
  }

  fillBlock(from: number, to: number, columns: LengthColumns): void {
    fillByFours(this, from, to, columns)
  }
}

function center(plain: number, weighted: number, n: number): number {
  return -((n + 1) * plain - weighted) / plain
}

export const REGRESSION: readonly BuiltinEntry[] = [
  fn(
    'ta.linreg',
    'Where the straight line fitted to the last `length` values stands `offset` bars ago.',
    '(series float source, series int length, simple int offset) series float',
    { state: Linreg },
  ),
  fn(
    'ta.cog',
    'Centre of gravity of the last `length` values.',
    '(series float source, series int length) series float',
    { state: Cog },
  ),
]
