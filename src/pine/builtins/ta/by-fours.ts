// Sums up the windows of four bars at a time, for functions that sum the whole window on every bar.
//
// To match TradingView's last digit, every window must be added up from one end to the other (see weighted-sums.ts). Each
// addition waits for the previous one, which takes four cycles, in which the processor could do eight additions. The
// windows of four neighbouring bars do not depend on each other. Added up side by side, each in the same order, they give
// the same digits in a third of the time.
//
// The code for the four bars is written out four times and is never a loop of four rounds. JavaScriptCore unrolls such a
// loop, and the neighbouring additions then take twice the time (wma: 145 ns a bar instead of 64) in a process that has run
// several kinds of scripts.

import type { LengthColumns } from '../../runtime/state-class.ts'

/** A function that can do four bars at once: `nextFour` gives what four calls of `next` would, bit for bit. */
interface ByFours {
  next(source: number, length: number, second: never, third: never, fourth: never): number
  /** Whether it can do so now, which is only after a call of `next` has checked the arguments. */
  takesFour(length: number): boolean
  /** Replaces four values, none of them na, by the four results. */
  nextFour(four: Float64Array, length: number, second: never, third: never, fourth: never): void
}

export function fillByFours(one: ByFours, from: number, to: number, columns: LengthColumns): void {
  const [target, targetMask, source, sourceMask, length] = columns
  // Passed one by one, because spreading a list in every call costs more than the additions.
  const second = columns[5]!
  const third = columns[6]!
  const fourth = columns[7]!
  const n = Math.trunc(length)
  const four = new Float64Array(4)
  for (let i = from; i < to;) {
    if (i + 4 <= to && one.takesFour(n)) {
      const value0 = source[i & sourceMask]!
      const value1 = source[(i + 1) & sourceMask]!
      const value2 = source[(i + 2) & sourceMask]!
      const value3 = source[(i + 3) & sourceMask]!
      if (value0 === value0 && value1 === value1 && value2 === value2 && value3 === value3) {
        four[0] = value0
        four[1] = value1
        four[2] = value2
        four[3] = value3
        one.nextFour(four, n, second, third, fourth)
        target[i & targetMask] = four[0]
        target[(i + 1) & targetMask] = four[1]
        target[(i + 2) & targetMask] = four[2]
        target[(i + 3) & targetMask] = four[3]
        i += 4
        continue
      }
    }
    target[i & targetMask] = one.next(source[i & sourceMask]!, length, second, third, fourth)
    i++
  }
}
