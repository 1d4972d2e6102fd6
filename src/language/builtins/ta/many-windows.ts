// Sums up the windows of many bars at a time, for functions that sum the whole window on every bar.

import type { LengthColumns } from '../../runtime/state-class.ts'
import { SIDE_BY_SIDE, WINDOWS_MAX, windowKernels, type WindowKernels } from './window-kernels.ts'

/** A function that can do many bars at once: `nextMany` gives what that many calls of `next` would, bit for bit. */
interface ByWindows {
  next(source: number, length: number, second: never, third: never, fourth: never): number
  /** Whether it can do so now, which is only after a call of `next` has checked the arguments. */
  takesMany(length: number): boolean
  /** Replaces the first `count` values, none of them na, by the results. */
  nextMany(
    kernels: WindowKernels,
    many: Float64Array,
    count: number,
    length: number,
    second: never,
    third: never,
    fourth: never,
  ): void
}

export function fillManyWindows(one: ByWindows, from: number, to: number, columns: LengthColumns): void {
  const [target, targetMask, source, sourceMask, length] = columns
  // Passed one by one, because spreading a list in every call costs more than the additions.
  const second = columns[5]!
  const third = columns[6]!
  const fourth = columns[7]!
  const n = Math.trunc(length)
  const kernels = to - from < SIDE_BY_SIDE ? null : windowKernels()
  const many = kernels === null ? null : new Float64Array(WINDOWS_MAX)
  for (let i = from; i < to;) {
    const count = many !== null && one.takesMany(n) ? readUntilNa(many, i, to, source, sourceMask) : 0
    if (count === 0) {
      target[i & targetMask] = one.next(source[i & sourceMask]!, length, second, third, fourth)
      i++
      continue
    }
    one.nextMany(kernels!, many!, count, n, second, third, fourth)
    for (let j = 0; j < count; j++) target[(i + j) & targetMask] = many![j]!
    i += count
  }
}

/** Answers how many it has read, a multiple of what is summed side by side. */
export function readUntilNa(
  many: Float64Array,
  from: number,
  to: number,
  source: Float64Array,
  sourceMask: number,
): number {
  const most = Math.min(to - from, WINDOWS_MAX)
  let count = 0
  for (; count < most; count++) {
    const value = source[(from + count) & sourceMask]!
    if (value !== value) break
    many[count] = value
  }
  return count - (count % SIDE_BY_SIDE)
}
