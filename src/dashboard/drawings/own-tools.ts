// Tools that the library lacks or draws otherwise: pitchforks, positions, and tools calculated from bars.
//
// Like the library's, they get points in device pixels to draw and in CSS pixels to measure a distance. Tools that need
// bars find them in `context.rc`, where `drawn.ts` puts the surface.

import { distToSegment, TEXT, type DrawingTool as ToolCode } from 'openalgo-charts/draw'
import { barsBetween } from '../chart/bars.ts'
import type { DrawingTool } from '../../wire/drawing.ts'
import { regression, volumeProfile, vwapFrom } from './calculations.ts'
import { LOSS, POSITION_TOOLS, PROFIT } from './positions.ts'
import { timeOfBar, type Spot, type Surface } from './surface.ts'

type DrawContext = Parameters<ToolCode['draw']>[0]
type HitContext = Parameters<ToolCode['distance']>[2]
type Lines = readonly (readonly Spot[])[]

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

function stroke({ ctx, rc, style }: DrawContext, lines: Lines, dim = 1): void {
  const unit = rc.dpr
  ctx.save()
  ctx.strokeStyle = style.color
  ctx.globalAlpha = dim
  ctx.lineWidth = Math.max(1, Math.round(style.lineWidth * unit))
  const dash = { dashed: [6, 4], dotted: [1, 3], solid: [] }[style.lineStyle ?? 'solid']
  ctx.setLineDash(dash.map((length) => length * unit))
  for (const line of lines) {
    ctx.beginPath()
    for (const { x, y } of line) ctx.lineTo(x, y)
    ctx.stroke()
  }
  ctx.restore()
}

/** Extends the line from the first point through the second, far enough to leave any screen. */
const beyond = (from: Spot, to: Spot): Spot => {
  const length = Math.hypot(to.x - from.x, to.y - from.y) || 1
  const far = 20_000 / length
  return { x: from.x + (to.x - from.x) * far, y: from.y + (to.y - from.y) * far }
}
const between = (a: Spot, b: Spot): Spot => ({ x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 })
const moved = ({ x, y }: Spot, by: Spot): Spot => ({ x: x + by.x, y: y + by.y })

/** The lines of an Andrews pitchfork: its handle, and three tines that run on. `origin` is where the handle begins. */
function tines(points: readonly Spot[], origin: (a: Spot, b: Spot) => Spot): Lines {
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

function nearest(x: number, y: number, lines: Lines): number | null {
  let least = Infinity
  for (const line of lines)
    for (let i = 1; i < line.length; i++) least = Math.min(least, distToSegment(x, y, line[i - 1]!, line[i]!))
  return Number.isFinite(least) ? least : null
}

function pitchfork(id: DrawingTool, name: string, origin: (a: Spot, b: Spot) => Spot): ToolCode {
  return {
    id,
    name,
    points: 3,
    draw: (context) => stroke(context, tines(context.pts, origin)),
    distance: (x, y, { pts }) => nearest(x, y, tines(pts, origin)),
  }
}

/** The first and last existing bar between two points of a drawing; null = there is none. */
function rangeOf(times: readonly { readonly time: number }[], { bars }: Surface) {
  const range = barsBetween(
    bars,
    times.map(({ time }) => time * MS),
  )
  return range.to >= range.from ? range : null
}

function channelLines(context: DrawContext | HitContext, dpr: number): Lines {
  const surface = surfaceOf(context)
  const range = surface && rangeOf(context.drawing.points, surface)
  if (!surface || !range || range.to <= range.from) return []
  const { slope, start, deviation } = regression(surface.bars, range.from, range.to)
  const at = (bar: number, price: number) => spotOf(surface, bar, price, dpr)
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

const spotOf = (surface: Surface, bar: number, price: number, dpr: number): Spot => ({
  x: surface.x(timeOfBar(surface, bar)) * dpr,
  y: surface.y(price) * dpr,
})

/** The line of an anchored VWAP over the visible bars. */
function vwapLine(context: DrawContext | HitContext, dpr: number): readonly Spot[] {
  const surface = surfaceOf(context)
  const anchor = context.drawing.points[0]
  if (!surface || !anchor || surface.bars.length === 0) return []
  const { bars } = surface
  const range = rangeOf([anchor, { time: 8.64e12 }], surface)
  if (!range) return []
  const values = vwapFrom(bars, range.from)
  const line: Spot[] = []
  const last = Math.min(bars.length - 1, surface.to + 1)
  for (let bar = Math.max(range.from, surface.from - 1); bar <= last; bar++) {
    const value = values[bar - range.from]!
    if (!Number.isNaN(value)) line.push(spotOf(surface, bar, value, dpr))
  }
  return line
}

const VWAP: ToolCode = {
  id: 'anchored-vwap',
  name: 'Anchored VWAP',
  points: 1,
  draw: (context) => stroke(context, [vwapLine(context, context.rc.dpr)]),
  distance(x, y, context) {
    const anchor = context.pts[0]
    const near = nearest(x, y, [vwapLine(context, 1)])
    const toAnchor = anchor ? Math.hypot(x - anchor.x, y - anchor.y) : Infinity
    return Math.min(near ?? Infinity, toAnchor)
  },
}

/** Where a profile lies, in the pixels of its points; null = there are no bars of it. */
function profileOf(context: DrawContext | HitContext, dpr: number) {
  const [a, b] = context.pts
  const surface = surfaceOf(context)
  const range = surface && rangeOf(context.drawing.points, surface)
  if (!a || !b || !surface || !range) return null
  const profile = volumeProfile(surface.bars, range.from, range.to, ROWS)
  const [left, right] = [Math.min(a.x, b.x), Math.max(a.x, b.x)]
  const [top, bottom] = [surface.y(profile.high) * dpr, surface.y(profile.low) * dpr]
  const frame = [
    { x: left, y: top },
    { x: right, y: top },
    { x: right, y: bottom },
    { x: left, y: bottom },
    { x: left, y: top },
  ]
  return { ...profile, left, right, bottom, row: (bottom - top) / ROWS, frame }
}

const PROFILE: ToolCode = {
  id: 'volume-profile',
  name: 'Volume profile of a range',
  points: 2,
  defaultStyle: { fillOpacity: 0.45 },
  draw(context) {
    const { ctx, rc, style } = context
    const profile = profileOf(context, rc.dpr)
    if (!profile) return
    const { up, down, most, point, from, to, left, right, bottom, row: tall, frame } = profile
    const scale = ((right - left) * PROFILE_WIDTH) / (most || 1)
    ctx.save()
    for (let row = 0; row < ROWS; row++) {
      const top = bottom - (row + 1) * tall
      // Rows outside the value area, which has 70 % of the volume, are paler.
      ctx.globalAlpha = (style.fillOpacity ?? 0.45) * (row >= from && row <= to ? 1 : 0.45)
      ctx.fillStyle = PROFIT
      ctx.fillRect(left, top, up[row]! * scale, Math.max(1, tall - rc.dpr))
      ctx.fillStyle = LOSS
      ctx.fillRect(left + up[row]! * scale, top, down[row]! * scale, Math.max(1, tall - rc.dpr))
    }
    ctx.restore()
    stroke(context, [frame], 0.5)
    const y = bottom - (point + 0.5) * tall
    if (most > 0) stroke(context, [[left, right].map((x) => ({ x, y }))])
  },
  distance(x, y, context) {
    const profile = profileOf(context, 1)
    return profile && nearest(x, y, [profile.frame])
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
    ...a,
    y: between(a, b).y,
  })),
  'regression-channel': REGRESSION,
  'anchored-vwap': VWAP,
  'volume-profile': PROFILE,
  ...POSITION_TOOLS,
  note: NOTE,
}
