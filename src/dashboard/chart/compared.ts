// Other symbols over a chart: their bars on the chart's own, and where they are drawn.

import { lowerBound, type Bars } from '../../market/bars.ts'
import type { Compared } from '../charts.ts'
import { extremesOf, type Extremes } from './extremes.ts'
import { strokePath, type Paint } from './paint.ts'

/** A symbol as the chart draws it: a value a bar of the chart. */
export interface ComparedLine {
  readonly values: Float64Array
  readonly scale: Compared['scale']
  readonly color: string
}

type Line = Pick<ComparedLine, 'values' | 'scale'>

/**
 * The closes of other bars, one for each bar of a chart: that of the newest bar which had opened by then. NaN before the
 * first and after the last of the other bars.
 */
export function closesOn(bars: Bars, other: Bars, barMs: number): Float64Array {
  const values = new Float64Array(bars.length).fill(Number.NaN)
  const times = other.time.subarray(0, other.length)
  const end = other.length === 0 ? -Infinity : times[other.length - 1]! + barMs
  // The chart's bars are in order, so one search finds the first and the rest follow.
  let at = bars.length === 0 ? 0 : lowerBound(times, bars.time[0]! + 1) - 1
  for (let i = 0; i < bars.length; i++) {
    const time = bars.time[i]!
    while (at + 1 < other.length && times[at + 1]! <= time) at++
    if (at >= 0 && time < end) values[i] = other.close[at]!
  }
  return values
}

/** The first bar from one on that has a value; -1 = none up to the last. */
function firstWith(values: Float64Array, from: number, to: number): number {
  for (let i = Math.max(0, Math.floor(from)); i <= Math.min(values.length - 1, to); i++)
    if (!Number.isNaN(values[i]!)) return i
  return -1
}

/**
 * The factor that puts the line's first value in view where the scale has 0%: at the first close of the chart in view, as each
 * symbol counts from its own first bar on TradingView. NaN = the line is not in view. `from` may lie between bars.
 */
export function factorOf({ values, scale }: Line, bars: Bars, from: number, to: number): number {
  if (scale !== 'percent') return 1
  const first = firstWith(values, from, to)
  return first < 0 ? Number.NaN : bars.close[Math.max(0, Math.floor(from))]! / values[first]!
}

/** How far it has moved by a bar since its first value in view: what the scale has at the line. NaN = it has none there. */
export function changeBy(values: Float64Array, from: number, bar: number): number {
  return values[bar]! / values[firstWith(values, from, bar)]! - 1
}

/** What the price scale has to hold for it; Infinity and -Infinity if that is nothing. */
export function rangeOfLine(line: ComparedLine, bars: Bars, from: number, to: number): Extremes {
  const { low, high } = extremesOf(line.values, Math.max(0, from), Math.min(to, line.values.length - 1))
  const factor = factorOf(line, bars, from, to)
  const isHeld = line.scale !== 'own' && low <= high && Number.isFinite(factor)
  return isHeld ? { low: low * factor, high: high * factor } : { low: Infinity, high: -Infinity }
}

/** `paint.to` is the last bar that may be shown. */
export function drawCompared(paint: Paint, line: ComparedLine, bars: Bars): void {
  const { ctx, x, spacing } = paint
  const { values } = line
  const from = Math.max(0, paint.from - 1)
  const to = Math.min(values.length - 1, paint.to + 1, paint.known)
  const y = heightOf(paint, line, bars)
  if (!y) return
  ctx.beginPath()
  const stride = Math.max(1, Math.floor(0.34 / spacing))
  let isDown = false
  for (let i = from; i <= to; i += stride) {
    const isThere = !Number.isNaN(values[i]!)
    if (isThere) ctx[isDown ? 'lineTo' : 'moveTo'](x(i), y(values[i]!))
    isDown = isThere
  }
  strokePath(paint, line.color, 2)
}

function heightOf(paint: Paint, line: ComparedLine, bars: Bars): ((value: number) => number) | null {
  const { y, from, to, height } = paint
  if (line.scale === 'own') {
    const { low, high } = extremesOf(line.values, Math.max(0, from), Math.min(to, line.values.length - 1))
    if (low > high) return null
    const room = high - low || 1
    // The same margins above and below as the price has.
    return (value) => height * (0.9 - 0.8 * ((value - low) / room))
  }
  const factor = factorOf(line, bars, from, to)
  return Number.isFinite(factor) ? (value) => y(value * factor) : null
}
