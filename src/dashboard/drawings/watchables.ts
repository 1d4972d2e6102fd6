// What of a drawing an alert can watch: its levels, and its sloping lines as two points of which each lies on a bar.

import { lowerBound, type Bars } from '../../market/bars.ts'
import type { Drawing } from '../../wire/drawing.ts'
import { price as priceText } from '../format.ts'
import { regression } from './calculations.ts'
import { styleOf } from './drawn.ts'
import { barOfTime, timeOfBar } from './surface.ts'

type Anchor = Drawing['points'][number]
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
export interface WatchedChart {
  readonly bars: Bars
  /** Milliseconds from bar to bar beyond the existing bars. */
  readonly barMs: number
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
      return b
        ? [
            segment(
              slope('Alert on this line…', a, b, style.extendLeft === true, style.extendRight === true),
              chart,
            ),
          ]
        : []
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
    case 'rectangle':
      return b
        ? [level(Math.max(a.price, b.price), 'the top '), level(Math.min(a.price, b.price), 'the bottom ')]
        : []
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
  const times = points.map(({ time }) => time)
  const known = bars.time.subarray(0, bars.length)
  const first = lowerBound(known, Math.min(...times))
  const last = lowerBound(known, Math.max(...times) + 1) - 1
  if (last <= first) return []
  const { start, slope: rise, deviation } = regression(bars, first, last)
  const line = (name: string, away: number): Slope => ({
    name,
    from: { bar: first, price: start + away },
    to: { bar: last, price: start + away + rise * (last - first) },
  })
  return [
    line('the middle line', 0),
    line('the upper line', 2 * deviation),
    line('the lower line', -2 * deviation),
  ]
}

const placeOf = ({ bars, barMs }: WatchedChart, { time, price }: Anchor): Place => ({
  bar: barOfTime(bars, barMs, time),
  price,
})
const anchorOf = ({ bars, barMs }: WatchedChart, { bar, price }: Place): Anchor => ({
  time: timeOfBar(bars, barMs, bar),
  price: Number(price.toPrecision(10)),
})

/** A line that ends before the newest bar is watched as it runs on: nothing could cross it any more otherwise. */
function segment(watched: Watchable, { bars }: WatchedChart): Watchable {
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
