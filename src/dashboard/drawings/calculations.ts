// Calculations of drawings from bars: a regression, an anchored VWAP, a volume profile. They are pure, over bars `from` to
// `to`, both included.

import { memo, memoOf } from '../../lib/memo.ts'
import type { Bars } from '../../market/bars.ts'

/**
 * Least squares of the closes over the bars: the price at the first bar, the slope a bar, and the deviation around the
 * line.
 */
export function regression(
  { close }: Bars,
  from: number,
  to: number,
): { readonly start: number; readonly slope: number; readonly deviation: number } {
  const count = to - from + 1
  const middle = (count - 1) / 2
  let mean = 0
  for (let i = from; i <= to; i++) mean += close[i]! / count
  let [shared, own] = [0, 0]
  for (let i = from; i <= to; i++) {
    shared += (i - from - middle) * (close[i]! - mean)
    own += (i - from - middle) ** 2
  }
  const slope = own > 0 ? shared / own : 0
  const start = mean - slope * middle
  let squares = 0
  for (let i = from; i <= to; i++) squares += (close[i]! - start - slope * (i - from)) ** 2
  return { start, slope, deviation: Math.sqrt(squares / count) }
}

/** How many anchors of one series have their calculation kept. */
const ANCHORS_KEPT = 32
const vwapsOf = memoOf((bars: Bars) => memo(ANCHORS_KEPT, (from) => vwap(bars, Number(from))))

/** The mean of (high + low + close) / 3 weighted by volume, from a bar on; NaN before there was any volume. */
export const vwapFrom = (bars: Bars, from: number): Float64Array => vwapsOf(bars)(String(from))

function vwap(bars: Bars, from: number): Float64Array {
  const values = new Float64Array(Math.max(0, bars.length - from))
  let [money, volume] = [0, 0]
  for (let i = from; i < bars.length; i++) {
    const traded = bars.volume[i]!
    if (traded > 0) {
      money += ((bars.high[i]! + bars.low[i]! + bars.close[i]!) / 3) * traded
      volume += traded
    }
    values[i - from] = volume > 0 ? money / volume : Number.NaN
  }
  return values
}

const VALUE_AREA = 0.7

/**
 * A bar's volume is distributed over the rows that it reaches, by how much of the bar is in each: lowest first, of bars that closed
 * above their open, and of the others. `from` and `to` are the first and the last row of the value area: those around the point of
 * control that have 70 % of the volume.
 */
export function volumeProfile(bars: Bars, from: number, to: number, rows: number) {
  let [low, high] = [Infinity, -Infinity]
  for (let i = from; i <= to; i++) {
    low = Math.min(low, bars.low[i]!)
    high = Math.max(high, bars.high[i]!)
  }
  const up = new Float64Array(rows)
  const down = new Float64Array(rows)
  const size = (high - low) / rows
  for (let i = from; i <= to; i++) {
    const volume = bars.volume[i]!
    if (!(volume > 0)) continue
    const side = bars.close[i]! >= bars.open[i]! ? up : down
    const [bottom, top] = [bars.low[i]!, bars.high[i]!]
    const first = size > 0 ? Math.min(rows - 1, Math.floor((bottom - low) / size)) : 0
    const last = size > 0 ? Math.min(rows - 1, Math.floor((top - low) / size)) : 0
    for (let row = first; row <= last; row++) {
      const within = Math.min(top, low + (row + 1) * size) - Math.max(bottom, low + row * size)
      side[row]! +=
        top > bottom ? (volume * Math.max(0, within)) / (top - bottom) : volume / (last - first + 1)
    }
  }
  const all = up.map((value, row) => value + down[row]!)
  // The fullest row is the point of control.
  const most = Math.max(...all)
  const point = all.indexOf(most)
  return { low, high, up, down, most, point, ...valueArea(all, point) }
}

/** Grows from the point of control towards the side with more volume, until it has enough. */
function valueArea(all: Float64Array, point: number) {
  const wanted = all.reduce((sum, value) => sum + value, 0) * VALUE_AREA
  let [from, to, has] = [point, point, all[point] ?? 0]
  while (has < wanted && (from > 0 || to < all.length - 1)) {
    const below = from > 0 ? all[from - 1]! : -1
    const above = to < all.length - 1 ? all[to + 1]! : -1
    if (above >= below) has += all[++to]!
    else has += all[--from]!
  }
  return { from, to }
}
