// Finds the lowest and the highest value in any stretch of a column without looking at each one.
//
// If thousands of bars share a pixel, every frame needs all of them: with 200,000 in view, the range of the scale alone
// took 2 ms. So the extremes of every few values are stored beside a column, and only the ends of a stretch are looked at
// one by one.

import { memoOf } from '../../lib/memo.ts'

/** How many values share a pair of extremes. A stretch that begins at a multiple of it has no ends to look at. */
export const BLOCK = 16

export interface Extremes {
  /** Infinity and -Infinity if there is no value. */
  readonly low: number
  readonly high: number
}

/** The extremes of the values `from` to `to`, both included; NaN does not count. */
export function extremesOf(values: Float64Array, from: number, to: number): Extremes {
  const { lows, highs } = blocksOf(values)
  let [low, high] = [Infinity, -Infinity]
  for (let i = Math.max(0, from), end = Math.min(to, values.length - 1); i <= end;) {
    const isWhole = i % BLOCK === 0 && i + BLOCK - 1 <= end
    const least = isWhole ? lows[i / BLOCK]! : values[i]!
    const most = isWhole ? highs[i / BLOCK]! : least
    if (least < low) low = least
    if (most > high) high = most
    i += isWhole ? BLOCK : 1
  }
  return { low, high }
}

/** Blocks can be kept, since a column never changes once it is drawn. */
const blocksOf = memoOf((values: Float64Array) => {
  const count = Math.ceil(values.length / BLOCK)
  const lows = new Float64Array(count).fill(Infinity)
  const highs = new Float64Array(count).fill(-Infinity)
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!
    const block = Math.floor(i / BLOCK)
    if (value < lows[block]!) lows[block] = value
    if (value > highs[block]!) highs[block] = value
  }
  return { lows, highs }
})

/** How many bars are drawn as one if that many share a pixel; rounded to whole blocks if there are many. */
export function together(bars: number): number {
  if (bars < 2 * BLOCK) return Math.max(1, Math.floor(bars))
  return Math.floor(bars / BLOCK) * BLOCK
}
