// The lowest and the highest of any stretch of a column, without looking at each value of it.
//
// Where thousands of bars share a pixel a frame asks for them all: with 200,000 in view to find the scale's range alone took
// 2 ms. So the extremes of every few values are kept beside a column, and of a stretch only its ends are looked at one by one.

import { memoOf } from '../../lib/memo.ts'

/** Values that share a pair of extremes. Stretches that begin at a multiple of it need no ends. */
export const BLOCK = 16

export interface Extremes {
  /** Infinity and -Infinity where there is no value. */
  readonly low: number
  readonly high: number
}

/** Of the values `from` to `to`, both included; NaN is no value. */
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

/** A column is never written to once it is drawn. */
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

/** Bars that are drawn as one, where so many share a pixel: whole blocks of them, if they are many. */
export function together(bars: number): number {
  if (bars < 2 * BLOCK) return Math.max(1, Math.floor(bars))
  return Math.floor(bars / BLOCK) * BLOCK
}
