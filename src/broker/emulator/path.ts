// The path that a price is assumed to take inside a bar, in ticks.
//
// A4: open, then the nearer extreme, then the other one, then close; if both are equally near, the low comes first.
// A5: the bar magnifier walks the finer bars inside the bar one after the other, each by A4.

import type { Bars } from '../../market/bars.ts'
import { tickOf } from './numbers.ts'

/** Open, first extreme, second extreme, close. */
export type Path = [number, number, number, number]

/** A6: the four prices are snapped to the tick grid before they are compared with anything. */
export function pathOf(bars: Bars, bar: number, mintick: number, into: Path): Path {
  const open = tickOf(bars.open[bar]!, mintick)
  const high = tickOf(bars.high[bar]!, mintick)
  const low = tickOf(bars.low[bar]!, mintick)
  const highFirst = goesHighFirst(bars.open[bar]!, bars.high[bar]!, bars.low[bar]!)
  into[0] = open
  into[1] = highFirst ? high : low
  into[2] = highFirst ? low : high
  into[3] = tickOf(bars.close[bar]!, mintick)
  return into
}

/** The same four prices as the bar has them, without snapping. */
export function pricesOf(bars: Bars, bar: number): readonly [number, number, number, number] {
  const open = bars.open[bar]!
  const high = bars.high[bar]!
  const low = bars.low[bar]!
  const highFirst = goesHighFirst(open, high, low)
  return [open, highFirst ? high : low, highFirst ? low : high, bars.close[bar]!]
}

/** A4. */
export function goesHighFirst(open: number, high: number, low: number): boolean {
  return high - open < open - low
}

/** For every chart bar, the range of finer bars inside it: `starts[i]` to `starts[i + 1]`. */
export function finerRanges(bars: Bars, finer: Bars): Int32Array {
  const starts = new Int32Array(bars.length + 1)
  let next = 0
  for (let bar = 0; bar < bars.length; bar++) {
    while (next < finer.length && finer.time[next]! < bars.time[bar]!) next++
    starts[bar] = next
  }
  starts[bars.length] = finer.length
  return starts
}
