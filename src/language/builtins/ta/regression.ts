// The straight line through a window, and its centre of gravity.
//
// With an na among its values there is no line (K14); of the centre of gravity an na is no value, and its bar keeps the result of
// the one before. The line is anchored one step before the point where it is evaluated, and the operations keep this order: the
// algebraically equal forms miss TradingView's last digit on up to half of the bars. [PyneCore, eleven configurations of 22,000 bars]

import { BY_LENGTH, fn } from '../define.ts'
import type { BuiltinEntry } from '../registry.ts'
import type { LengthColumns, LengthFill } from '../../runtime/state-class.ts'
import { fillManyWindows } from './many-windows.ts'
import { WeightedSums } from './weighted-sums.ts'
import { lengthOf } from './window.ts'
import type { WindowKernels } from './window-kernels.ts'
import { invalidArgument } from '../../messages/failing.ts'

export class Linreg implements LengthFill {
  static readonly fills = 'length'
  private readonly sums = new WeightedSums()

  next(source: number, length: number, offset: number): number {
    const n = lengthOf(length, 'ta.linreg')
    const back = Math.trunc(offset)
    if (back !== back) throw invalidArgument('offset', offset, 'ta.linreg', 'a whole number')
    this.sums.push(source, n)
    if (n === 1) return source
    if (!this.sums.sum(n)) return NaN
    return this.line(this.sums.plain, this.sums.weighted, n, back)
  }

  takesMany(length: number): boolean {
    return this.sums.takesMany(length)
  }

  nextMany(kernels: WindowKernels, many: Float64Array, count: number, n: number, offset: number): void {
    const { sums } = this
    const weighteds = kernels.aside
    weighteds.set(sums.weighteds(kernels, many, count, n))
    const plains = sums.plains(kernels, count, n)
    const back = Math.trunc(offset)
    for (let j = 0; j < count; j++) many[j] = this.line(plains[j]!, weighteds[j]!, n, back)
  }

  fillBlock(from: number, to: number, columns: LengthColumns): void {
    fillManyWindows(this, from, to, columns)
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

  takesMany(length: number): boolean {
    return this.sums.takesMany(length)
  }

  nextMany(kernels: WindowKernels, many: Float64Array, count: number, n: number): void {
    const { sums } = this
    const weighteds = kernels.aside
    weighteds.set(sums.weighteds(kernels, many, count, n))
    const plains = sums.plains(kernels, count, n)
    for (let j = 0; j < count; j++) many[j] = center(plains[j]!, weighteds[j]!, n)
  }

  fillBlock(from: number, to: number, columns: LengthColumns): void {
    fillManyWindows(this, from, to, columns)
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
  fn('ta.cog', 'Centre of gravity of the last `length` values.', BY_LENGTH, { state: Cog }),
]
