// What of a drawing an alert can watch: its levels, and its sloping lines as two points of which each lies on a bar.

import type { Drawing, DrawingStyle } from '../../wire/drawing.ts'
import { barsBetween } from '../chart/bars.ts'
import { price as priceText } from '../format.ts'
import { regression } from './calculations.ts'
import { styleOf } from './drawn.ts'
import { rounded } from './placing.ts'
import { barOfTime, timeOfBar, type Anchor, type Axis } from './surface.ts'

/** A place by its bar instead of its time, which runs on over weekends. */
interface Place {
  readonly bar: number
  readonly price: number
}

/** The parts of a drawing that can be watched: a level, or the line through two points. */
export interface Watchable {
  readonly text: string
  readonly price?: number
  readonly line?: {
    readonly from: Anchor
    readonly to: Anchor
    readonly left: boolean
    readonly right: boolean
  }
}

/** The chart that it is drawn on. */
export interface WatchedChart extends Axis {
  readonly mintick: number
}

export function watchables(drawing: Drawing, chart: WatchedChart): readonly Watchable[] {
  const { tool, points } = drawing
  const [a, b, c] = points
  const style = styleOf(drawing)
  const level = (exact: number, name = ''): Watchable => {
    const price = Number((Math.round(exact / chart.mintick) * chart.mintick).toFixed(10))
    return { text: `Alert at ${name}${priceText(price, chart.mintick)}…`, price }
  }
  if (!a) return []
  switch (tool) {
    case 'horizontal-line':
    case 'horizontal-ray':
    case 'cross-line':
    case 'price-label':
      return [level(a.price)]
    case 'long-position':
    case 'short-position':
      return b && c
        ? [level(a.price, 'the entry '), level(b.price, 'the target '), level(c.price, 'the stop ')]
        : []
    case 'trend-line':
    case 'ray':
    case 'extended-line':
    case 'arrow':
      return b ? [segment(a, b, style, chart)] : []
    case 'parallel-channel': {
      if (!b || !c) return []
      const by = c.price - (a.price + b.price) / 2
      const moved = ({ time, price }: Anchor) => ({ time, price: price + by })
      return [
        slope('Alert on the first line…', a, b, false, true),
        slope('Alert on the second line…', moved(a), moved(b), false, true),
      ]
    }
    case 'fib-retracement':
    case 'fib-extension': {
      const [base, size] =
        tool === 'fib-retracement'
          ? [b?.price ?? a.price, a.price - (b?.price ?? a.price)]
          : [c?.price ?? a.price, (b?.price ?? a.price) - a.price]
      return (style.levels ?? []).map((share) => level(base + size * share, `${share}: `))
    }
    case 'rectangle': {
      const prices = [a.price, b?.price ?? a.price]
      return b ? [level(Math.max(...prices), 'the top '), level(Math.min(...prices), 'the bottom ')] : []
    }
    default:
      return slopes(drawing, chart).flatMap(({ name, from, to }) =>
        from.bar === to.bar
          ? []
          : slope(`Alert on ${name}…`, anchorOf(chart, from), anchorOf(chart, to), false, true),
      )
  }
}

interface Slope {
  readonly name: string
  readonly from: Place
  readonly to: Place
}

/** The sloping lines of tools that are worked out from their points, or from the bars between them. */
function slopes(drawing: Drawing, chart: WatchedChart): readonly Slope[] {
  const [a, b, c] = drawing.points.map((point) => placeOf(chart, point))
  if (!a || !b) return []
  const levels = styleOf(drawing).levels ?? []
  switch (drawing.tool) {
    case 'pitchfork':
      return c ? tines(a, b, c) : []
    case 'schiff-pitchfork':
      return c ? tines({ ...a, price: (a.price + b.price) / 2 }, b, c) : []
    case 'fib-channel':
      return c ? levels.map((share) => channelLine(a, b, c, share)) : []
    case 'fib-fan':
      return levels.map((share) => ray(`the ${share} line`, a, b, share))
    case 'gann-fan':
      return GANN.map(([name, share]) => ray(`the ${name} line`, a, b, share))
    case 'regression-channel':
      return regressionLines(drawing, chart)
    default:
      return []
  }
}

/** Rises of a Gann fan's lines, as multiples of the middle one's. */
const GANN = [
  ['1×8', 1 / 8],
  ['1×4', 1 / 4],
  ['1×2', 1 / 2],
  ['1×1', 1],
  ['2×1', 2],
  ['4×1', 4],
  ['8×1', 8],
] as const

const ray = (name: string, from: Place, to: Place, share: number): Slope => ({
  name,
  from,
  to: { bar: to.bar, price: from.price + (to.price - from.price) * share },
})

/** Twice as far as the middle between the second and the third point, which may lie between two bars. */
function tines(from: Place, b: Place, c: Place): readonly Slope[] {
  const ahead = (at: Place): Place => ({
    bar: at.bar + b.bar + c.bar - 2 * from.bar,
    price: at.price + b.price + c.price - 2 * from.price,
  })
  return [
    { name: 'the middle line', from, to: ahead(from) },
    { name: 'the line of the second point', from: b, to: ahead(b) },
    { name: 'the line of the third point', from: c, to: ahead(c) },
  ]
}

/** A level's line is moved by part of the way from the second to the third point; here it is told on the first line's bars. */
function channelLine(a: Place, b: Place, c: Place, share: number): Slope {
  const rise = b.bar === a.bar ? 0 : (b.price - a.price) / (b.bar - a.bar)
  const by = (c.price - b.price - rise * (c.bar - b.bar)) * share
  return {
    name: `the ${share} line`,
    from: { bar: a.bar, price: a.price + by },
    to: { bar: b.bar, price: b.price + by },
  }
}

function regressionLines({ points }: Drawing, { bars }: WatchedChart): readonly Slope[] {
  const { from, to } = barsBetween(
    bars,
    points.map(({ time }) => time),
  )
  if (to <= from) return []
  const { start, slope: rise, deviation } = regression(bars, from, to)
  const line = (name: string, away: number): Slope => ({
    name,
    from: { bar: from, price: start + away },
    to: { bar: to, price: start + away + rise * (to - from) },
  })
  return [
    line('the middle line', 0),
    line('the upper line', 2 * deviation),
    line('the lower line', -2 * deviation),
  ]
}

const placeOf = (axis: Axis, { time, price }: Anchor): Place => ({ bar: barOfTime(axis, time), price })
const anchorOf = (axis: Axis, { bar, price }: Place): Anchor => ({
  time: timeOfBar(axis, bar),
  price: rounded(price),
})

/** A line that ends before the newest bar is watched as it runs on: nothing could cross it any more otherwise. */
function segment(a: Anchor, b: Anchor, { extendLeft, extendRight }: DrawingStyle, { bars }: Axis): Watchable {
  const watched = slope('Alert on this line…', a, b, extendLeft === true, extendRight === true)
  const { line } = watched
  const newest = bars.time[bars.length - 1]
  if (!line || line.right || newest === undefined || line.to.time > newest) return watched
  return { text: 'Alert on this line as it runs on…', line: { ...line, right: true } }
}

/** From the earlier point to the later one; `onFirst` and `onSecond` say whether the drawing extends beyond either point. */
function slope(text: string, first: Anchor, second: Anchor, onFirst: boolean, onSecond: boolean): Watchable {
  return first.time <= second.time
    ? { text, line: { from: first, to: second, left: onFirst, right: onSecond } }
    : { text, line: { from: second, to: first, left: onSecond, right: onFirst } }
}
