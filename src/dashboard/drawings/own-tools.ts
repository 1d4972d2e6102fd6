// Tools that the library lacks or draws otherwise: pitchforks, positions, and tools calculated from bars.
//
// Like the library's, they get points in device pixels to draw and in CSS pixels to measure a distance. Tools that need
// bars find them in `context.rc`, where `drawn.ts` puts the surface.

import { distToSegment, TEXT, type DrawingTool as ToolCode } from 'openalgo-charts/draw'
import { lowerBound } from '../../market/bars.ts'
import type { DrawingTool } from '../../wire/drawing.ts'
import { regression, volumeProfile, vwapFrom } from './calculations.ts'
import { LOSS, POSITION_TOOLS, PROFIT } from './positions.ts'
import { timeOfBar, type Surface } from './surface.ts'

type DrawContext = Parameters<ToolCode['draw']>[0]
type HitContext = Parameters<ToolCode['distance']>[2]
interface Point {
  readonly x: number
  readonly y: number
}

/** What `drawn.ts` adds to the library's render context: where bars and prices are. */
export interface OnSurface {
  readonly surface: Surface
}
const surfaceOf = ({ rc }: { readonly rc: object }): Surface | undefined => (rc as Partial<OnSurface>).surface

const MS = 1000
/** The number of rows of a volume profile. */
const ROWS = 40
/** The fraction of the profile's range that its longest row takes. */
const PROFILE_WIDTH = 0.35

function stroke({ ctx, rc, style }: DrawContext, lines: readonly (readonly Point[])[], dim = 1): void {
  const unit = rc.dpr
  ctx.save()
  ctx.strokeStyle = style.color
  ctx.globalAlpha = dim
  ctx.lineWidth = Math.max(1, Math.round(style.lineWidth * unit))
  ctx.setLineDash(
    style.lineStyle === 'dashed'
      ? [6 * unit, 4 * unit]
      : style.lineStyle === 'dotted'
        ? [unit, 3 * unit]
        : [],
  )
  for (const line of lines) {
    ctx.beginPath()
    for (const { x, y } of line) ctx.lineTo(x, y)
    ctx.stroke()
  }
  ctx.restore()
}

/** Extends the line from the first point through the second, far enough to leave any screen. */
const beyond = (from: Point, to: Point): Point => {
  const length = Math.hypot(to.x - from.x, to.y - from.y) || 1
  const far = 20_000 / length
  return { x: from.x + (to.x - from.x) * far, y: from.y + (to.y - from.y) * far }
}
const between = (a: Point, b: Point): Point => ({ x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 })
const moved = ({ x, y }: Point, by: Point): Point => ({ x: x + by.x, y: y + by.y })

/** The lines of an Andrews pitchfork: its handle, and three tines that run on. `origin` is where the handle begins. */
function tines(
  points: readonly Point[],
  origin: (a: Point, b: Point) => Point,
): readonly (readonly Point[])[] {
  const [a, b, c] = points
  if (!a || !b || !c) return a && b ? [[a, b]] : []
  const from = origin(a, b)
  const middle = between(b, c)
  const direction = { x: middle.x - from.x, y: middle.y - from.y }
  return [
    [from, beyond(from, middle)],
    [b, beyond(b, moved(b, direction))],
    [c, beyond(c, moved(c, direction))],
    [b, c],
  ]
}

function nearest(x: number, y: number, lines: readonly (readonly Point[])[]): number | null {
  let least = Infinity
  for (const line of lines)
    for (let i = 1; i < line.length; i++) least = Math.min(least, distToSegment(x, y, line[i - 1]!, line[i]!))
  return Number.isFinite(least) ? least : null
}

function pitchfork(id: DrawingTool, name: string, origin: (a: Point, b: Point) => Point): ToolCode {
  return {
    id,
    name,
    points: 3,
    draw: (context) => stroke(context, tines(context.pts, origin)),
    distance: (x, y, { pts }) => nearest(x, y, tines(pts, origin)),
  }
}

interface Bounded {
  readonly drawing: { readonly points: readonly { readonly time: number; readonly price: number }[] }
}
/** The first and last existing bar between two points of a drawing; null = there is none. */
function barsOf(
  { drawing }: Bounded,
  { bars }: Surface,
): { readonly from: number; readonly to: number } | null {
  const times = drawing.points.map(({ time }) => time * MS)
  const [start, end] = [Math.min(...times), Math.max(...times)]
  const known = bars.time.subarray(0, bars.length)
  const from = lowerBound(known, start)
  const to = Math.min(lowerBound(known, end + 1), bars.length) - 1
  return from < bars.length && to >= from ? { from, to } : null
}

function channelLines(context: DrawContext | HitContext, dpr: number): readonly (readonly Point[])[] {
  const surface = surfaceOf(context)
  const range = surface && barsOf(context, surface)
  if (!surface || !range || range.to <= range.from) return []
  const { slope, start, deviation } = regression(surface.bars, range.from, range.to)
  const { bars, barMs } = surface
  const at = (bar: number, price: number): Point => ({
    x: surface.x(timeOfBar(bars, barMs, bar)) * dpr,
    y: surface.y(price) * dpr,
  })
  const end = start + slope * (range.to - range.from)
  return [0, 2, -2].map((times) => [
    at(range.from, start + times * deviation),
    at(range.to, end + times * deviation),
  ])
}

const REGRESSION: ToolCode = {
  id: 'regression-channel',
  name: 'Regression channel',
  points: 2,
  defaultStyle: { fill: true, fillOpacity: 0.08 },
  draw(context) {
    const lines = channelLines(context, context.rc.dpr)
    const [middle, upper, lower] = lines
    if (!middle || !upper || !lower) return stroke(context, [context.pts])
    const { ctx, style } = context
    if (style.fill) {
      ctx.save()
      ctx.globalAlpha = style.fillOpacity ?? 0.08
      ctx.fillStyle = style.fillColor ?? style.color
      ctx.beginPath()
      for (const { x, y } of [...upper, ...lower.toReversed()]) ctx.lineTo(x, y)
      ctx.fill()
      ctx.restore()
    }
    stroke(context, [upper, lower])
    stroke({ ...context, style: { ...style, lineStyle: 'dashed' } }, [middle])
  },
  distance: (x, y, context) => nearest(x, y, channelLines(context, 1)),
}

/** The line of an anchored VWAP over the visible bars. */
function vwapLine(context: DrawContext | HitContext, dpr: number): readonly Point[] {
  const surface = surfaceOf(context)
  const anchor = context.drawing.points[0]
  if (!surface || !anchor || surface.bars.length === 0) return []
  const { bars, barMs } = surface
  const range = barsOf({ drawing: { points: [anchor, { time: 8.64e12, price: 0 }] } }, surface)
  if (!range) return []
  const values = vwapFrom(bars, range.from)
  const line: Point[] = []
  const last = Math.min(bars.length - 1, surface.to + 1)
  for (let bar = Math.max(range.from, surface.from - 1); bar <= last; bar++) {
    const value = values[bar - range.from]!
    if (!Number.isNaN(value))
      line.push({ x: surface.x(timeOfBar(bars, barMs, bar)) * dpr, y: surface.y(value) * dpr })
  }
  return line
}

const VWAP: ToolCode = {
  id: 'anchored-vwap',
  name: 'Anchored VWAP',
  points: 1,
  draw(context) {
    stroke(context, [vwapLine(context, context.rc.dpr)])
  },
  distance(x, y, context) {
    const anchor = context.pts[0]
    const near = nearest(x, y, [vwapLine(context, 1)])
    const toAnchor = anchor ? Math.hypot(x - anchor.x, y - anchor.y) : Infinity
    return Math.min(near ?? Infinity, toAnchor)
  },
}

const PROFILE: ToolCode = {
  id: 'volume-profile',
  name: 'Volume profile of a range',
  points: 2,
  defaultStyle: { fillOpacity: 0.45 },
  draw(context) {
    const { ctx, rc, pts, style } = context
    const surface = surfaceOf(context)
    const range = surface && barsOf(context, surface)
    const [a, b] = pts
    if (!a || !b || !surface || !range) return
    const [left, right] = [Math.min(a.x, b.x), Math.max(a.x, b.x)]
    const { low, high, up, down, most, point, from, to } = volumeProfile(
      surface.bars,
      range.from,
      range.to,
      ROWS,
    )
    const unit = rc.dpr
    const y = (price: number) => surface.y(price) * unit
    const rowHeight = (y(low) - y(high)) / ROWS
    ctx.save()
    for (let row = 0; row < ROWS; row++) {
      const top = y(low) - (row + 1) * rowHeight
      const scale = ((right - left) * PROFILE_WIDTH) / (most || 1)
      // Rows outside the value area, which has 70 % of the volume, are paler.
      ctx.globalAlpha = (style.fillOpacity ?? 0.45) * (row >= from && row <= to ? 1 : 0.45)
      ctx.fillStyle = PROFIT
      ctx.fillRect(left, top, up[row]! * scale, Math.max(1, rowHeight - unit))
      ctx.fillStyle = LOSS
      ctx.fillRect(left + up[row]! * scale, top, down[row]! * scale, Math.max(1, rowHeight - unit))
    }
    ctx.restore()
    const frame = [
      { x: left, y: y(high) },
      { x: right, y: y(high) },
      { x: right, y: y(low) },
      { x: left, y: y(low) },
      { x: left, y: y(high) },
    ]
    stroke(context, [frame], 0.5)
    const level = y(low) - (point + 0.5) * rowHeight
    if (most > 0)
      stroke(context, [
        [
          { x: left, y: level },
          { x: right, y: level },
        ],
      ])
  },
  distance(x, y, context) {
    const [a, b] = context.pts
    const surface = surfaceOf(context)
    const range = surface && barsOf(context, surface)
    if (!a || !b || !surface || !range) return null
    const { low, high } = volumeProfile(surface.bars, range.from, range.to, ROWS)
    const [left, right] = [Math.min(a.x, b.x), Math.max(a.x, b.x)]
    const [top, bottom] = [surface.y(high), surface.y(low)]
    const corners = [
      { x: left, y: top },
      { x: right, y: top },
      { x: right, y: bottom },
      { x: left, y: bottom },
      { x: left, y: top },
    ]
    return nearest(x, y, [corners])
  },
}

const NOTE: ToolCode = {
  ...TEXT,
  id: 'note',
  name: 'Note',
  defaultStyle: {
    ...TEXT.defaultStyle,
    text: 'Note',
    fontSize: 13,
    background: true,
    border: true,
    wrap: true,
  },
}

export const OWN_TOOLS: Readonly<Partial<Record<DrawingTool, ToolCode>>> = {
  pitchfork: pitchfork('pitchfork', 'Pitchfork', (a) => a),
  // Schiff's handle begins half way in price between the first two points.
  'schiff-pitchfork': pitchfork('schiff-pitchfork', 'Schiff pitchfork', (a, b) => ({
    x: a.x,
    y: (a.y + b.y) / 2,
  })),
  'regression-channel': REGRESSION,
  'anchored-vwap': VWAP,
  'volume-profile': PROFILE,
  ...POSITION_TOOLS,
  note: NOTE,
}
