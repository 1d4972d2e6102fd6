// Where drawings meet the chart: converts times and prices into CSS pixels of the price pane, and back.
//
// A time between two bars is placed between them, and times beyond the bars continue at the interval's own pace. So what
// was drawn on days is in the right place on hours, even over a weekend, and a line may end in the future.

import { lowerBound, type Bars } from '../../market/bars.ts'
import type { Paint } from '../chart/paint.ts'

export interface Surface {
  readonly bars: Bars
  /** Milliseconds from bar to bar beyond the existing bars. */
  readonly barMs: number
  /** CSS pixels. */
  readonly width: number
  readonly height: number
  readonly x: (time: number) => number
  readonly y: (price: number) => number
  /** With a fraction: 4.5 is between two bars. */
  readonly barAt: (x: number) => number
  readonly priceAt: (y: number) => number
  /** The visible bars, as whole numbers that may be beyond the existing ones. */
  readonly from: number
  readonly to: number
}

export function surfaceOf(
  paint: Paint,
  bars: Bars,
  barMs: number,
  priceAt: (y: number) => number | null,
): Surface {
  const { hr, vr, spacing } = paint
  const zero = paint.x(0)
  return {
    bars,
    barMs,
    width: paint.width / hr,
    height: paint.height / vr,
    from: paint.from,
    to: paint.to,
    x: (time) => paint.x(barOfTime(bars, barMs, time)) / hr,
    y: (price) => paint.y(price) / vr,
    barAt: (x) => (x * hr - zero) / spacing,
    priceAt: (y) => priceAt(y) ?? Number.NaN,
  }
}

/** The place of a time among the bars, with a fraction. */
export function barOfTime({ time: times, length }: Bars, barMs: number, time: number): number {
  if (length === 0) return 0
  const [first, last] = [times[0]!, times[length - 1]!]
  if (time <= first) return (time - first) / barMs
  if (time >= last) return length - 1 + (time - last) / barMs
  const at = lowerBound(times.subarray(0, length), time)
  const after = times[at]!
  if (after === time) return at
  const before = times[at - 1]!
  return at - 1 + (time - before) / (after - before)
}

/** The time of a place among the bars, UTC ms, whole. */
export function timeOfBar({ time: times, length }: Bars, barMs: number, bar: number): number {
  if (length === 0) return 0
  if (bar <= 0) return Math.round(times[0]! + bar * barMs)
  if (bar >= length - 1) return Math.round(times[length - 1]! + (bar - length + 1) * barMs)
  const before = Math.floor(bar)
  const time = times[before]!
  return Math.round(time + (bar - before) * (times[before + 1]! - time))
}
