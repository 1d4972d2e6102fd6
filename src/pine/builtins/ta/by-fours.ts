// Windows that are added up anew on every bar, four bars at a time.
//
// TradingView's last digit needs every window added up from one end to the other (see weighted-sums.ts), and each addition
// waits for the one before: four cycles a value, while the processor could do eight additions. The windows of four
// neighbouring bars do not wait for each other. Added up side by side, in the same order each, they give the same digits
// in a third of the time.

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
      let defined = true
      for (let j = 0; j < 4; j++) {
        const value = source[(i + j) & sourceMask]!
        four[j] = value
        if (value !== value) defined = false
      }
      if (defined) {
        one.nextFour(four, n, second, third, fourth)
        for (let j = 0; j < 4; j++) target[(i + j) & targetMask] = four[j]!
        i += 4
        continue
      }
    }
    target[i & targetMask] = one.next(source[i & sourceMask]!, length, second, third, fourth)
    i++
  }
}
