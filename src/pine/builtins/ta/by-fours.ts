// Windows that are added up anew on every bar, four bars at a time.
//
// TradingView's last digit needs every window added up from one end to the other (see weighted-sums.ts), and each addition
// waits for the one before: four cycles a value, while the processor could do eight additions. The windows of four
// neighbouring bars do not wait for each other. Added up side by side, in the same order each, they give the same digits
// in a third of the time.
//
// What is done to the four stands four times here and in what does it, and never as a loop of four rounds: JavaScriptCore
// unrolls such loops, and the additions they stand beside then take twice the time (wma 145 ns a bar for 64) wherever
// several kinds of scripts have come through.

import type { LengthColumns } from '../../runtime/state-class.ts'

/** What can do four bars at once: `nextFour` gives what four calls of `next` would, bit for bit. */
interface ByFours {
  next(source: number, length: number, second: never, third: never, fourth: never): number
  /** Whether it can now. Only after a bar by `next`, which is what judges the arguments. */
  takesFour(length: number): boolean
  /** Four values, none of them na, are replaced by the four results. */
  nextFour(four: Float64Array, length: number, second: never, third: never, fourth: never): void
}

export function fillByFours(one: ByFours, from: number, to: number, columns: LengthColumns): void {
  const [target, targetMask, source, sourceMask, length] = columns
  // Handed on one by one: a list that is spread in every call costs more than the additions.
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
