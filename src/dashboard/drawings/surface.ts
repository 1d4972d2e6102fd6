// Where drawings meet the chart: converts times and prices into CSS pixels of the price pane, and back.
//
// A time between two bars is placed between them, and times beyond the bars continue at the interval's own pace. So what
// was drawn on days is in the right place on hours, even over a weekend, and a line may end in the future.

import type { Bars } from '../../market/bars.ts'
import type { Drawing } from '../../wire/drawing.ts'
import { placeOf, timeAt } from '../chart/bars.ts'
import type { Paint } from '../chart/paint.ts'

/** A point of a drawing. */
export type Anchor = Drawing['points'][number]
/** A place on the canvas, in pixels. */
export interface Spot {
  readonly x: number
  readonly y: number
}

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
    x: (time) => paint.x(placeOf(bars, time, barMs)) / hr,
    y: (price) => paint.y(price) / vr,
    barAt: (x) => (x * hr - zero) / spacing,
    priceAt: (y) => priceAt(y) ?? Number.NaN,
  }
}

/** Bars, and the milliseconds from one to the next beyond those there are. */
export type Axis = Pick<Surface, 'bars' | 'barMs'>

/** The place of a time among the bars, with a fraction. */
export const barOfTime = ({ bars, barMs }: Axis, time: number): number => placeOf(bars, time, barMs)

/** The time of a place among the bars, UTC ms, whole. */
export const timeOfBar = ({ bars, barMs }: Axis, bar: number): number => Math.round(timeAt(bars, bar, barMs))
