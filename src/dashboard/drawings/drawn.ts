// Draws the drawings on the canvas with the code of their tools, and finds the one under a place.

import type { Drawing, DrawingStyle } from '../../wire/drawing.ts'
import { memoOf } from '../../lib/memo.ts'
import { lightness, type Paint } from '../chart/paint.ts'
import { barsBetween } from '../chart/bars.ts'
import type { OnSurface } from './own-tools.ts'
import { barOfTime, type Spot, type Surface } from './surface.ts'
import { codeOf, type ToolCode } from './tools.ts'
import { words } from '../../lib/words.ts'

type DrawContext = Parameters<ToolCode['draw']>[0]
type RenderContext = DrawContext['rc']

/**
 * The colour of drawings that were given none. Every hue belongs to some plot (Pine's own default is blue), so they have
 * none: ink on the page of either theme.
 */
export const INK = { dark: '#c8d0dc', light: '#334155' } as const
const DEFAULT_STYLE = { color: INK.dark as string, lineWidth: 2 } as const

/** A drawing under a place, and which of its points; -1 = between its points. */
export interface DrawingHit {
  readonly id: string
  readonly point: number
}

const SECOND = 1000
const HANDLE = 5

type Theme = keyof typeof INK
type Style = DrawingStyle & typeof DEFAULT_STYLE

/** Made once for a drawing and a theme, since all of them are drawn in every frame: a change of one is another object. */
function byTheme<V>(make: (drawing: Drawing, theme: Theme) => V): (drawing: Drawing, theme?: Theme) => V {
  const on = (theme: Theme) => memoOf((drawing: Drawing) => make(drawing, theme))
  const made = { dark: on('dark'), light: on('light') }
  return (drawing, theme = 'dark') => made[theme](drawing)
}

/** The drawing's own style merged over its tool's defaults. */
export const styleOf = byTheme(({ tool, style }, theme): Style => {
  const all: object = { ...DEFAULT_STYLE, color: INK[theme], ...codeOf(tool).defaultStyle, ...style }
  return all as Style
})

type LibraryStyle = DrawContext['style']
/** Fields of a style that the library would not read: there must be none, or types fail. */
type Unread = Exclude<keyof DrawingStyle, keyof LibraryStyle>
const forLibrary = (style: [Unread] extends [never] ? DrawingStyle : never) => style as LibraryStyle

/** The library's retracement has level 0 at the first point, but traders expect it at the second. */
const inOrder = <P>({ tool }: Drawing, points: readonly P[]): P[] =>
  tool === 'fib-retracement' ? points.toReversed() : [...points]

/** A drawing in the form that the library's tools expect: times in seconds, all styles set. */
const forTool = byTheme((drawing, theme): DrawContext['drawing'] => {
  const points = inOrder(drawing, drawing.points).map(({ time, price }) => ({ time: time / SECOND, price }))
  const form = { id: drawing.id, tool: drawing.tool, points, style: styleOf(drawing, theme), paneIndex: 0 }
  return form as DrawContext['drawing']
})

/** The part of the library's render context that its tools read. */
function renderContext(surface: Surface, drawing: Drawing, dpr: number, background: string): RenderContext {
  const { width, height } = surface
  const context: OnSurface & Readonly<Record<string, unknown>> = {
    surface,
    dpr,
    plotWidth: width,
    plotHeight: height,
    priceScale: { priceToY: surface.y },
    dataLayer: { timeToIndexFloat: (seconds: number) => barOfTime(surface, seconds * SECOND) },
    theme: { background },
    bars: () => barsWithin(surface, drawing),
  }
  return context as unknown as RenderContext
}

/** Only a measure adds up the volume of its bars; for other tools no bars become objects. */
function barsWithin({ bars }: Surface, { points }: Drawing) {
  const { from, to } = barsBetween(
    bars,
    points.map(({ time }) => time),
  )
  return Array.from({ length: Math.max(0, to + 1 - from) }, (_, i) => ({
    time: bars.time[from + i]! / SECOND,
    volume: bars.volume[from + i]!,
  }))
}

const pointsOf = (surface: Surface, { points }: Drawing, scale: number) =>
  points.map(({ time, price }) => ({ x: surface.x(time) * scale, y: surface.y(price) * scale }))

export function drawDrawing(
  paint: Paint,
  surface: Surface,
  drawing: Drawing,
  { marked, formatPrice }: { readonly marked: boolean; readonly formatPrice: (price: number) => string },
): void {
  const { ctx, hr, theme } = paint
  const pts = pointsOf(surface, drawing, hr)
  // The price scale has no place for it, such as the logarithm of a price that is not above zero.
  if (pts.some(({ x, y }) => !Number.isFinite(x) || !Number.isFinite(y))) return
  if (isOutOfSight(drawing, pts, paint)) return
  const page = lightness(theme.surface) < 128 ? 'dark' : 'light'
  const style = styleOf(drawing, page)
  ctx.save()
  codeOf(drawing.tool).draw({
    ctx,
    rc: renderContext(surface, drawing, hr, theme.raised),
    pts: inOrder(drawing, pts),
    drawing: forTool(drawing, page),
    style: forLibrary(isSpeck(pts, hr) && !marked ? withoutLabels(style) : style),
    selected: marked,
    formatPrice,
  })
  ctx.restore()
  if (!marked) return
  ctx.save()
  ctx.fillStyle = theme.surface
  ctx.strokeStyle = theme.accent
  ctx.lineWidth = Math.max(1, Math.round(1.5 * hr))
  for (const { x, y } of handlesOf(drawing, pts)) {
    ctx.beginPath()
    ctx.arc(x, y, HANDLE * hr, 0, 2 * Math.PI)
    ctx.fill()
    ctx.stroke()
  }
  ctx.restore()
}

/** From here on, what the library's tools write on a canvas is in the page's typeface: they name the system's. */
export function useTypeface({ ctx, theme }: Paint): void {
  typefaceOf(ctx).family = theme.font
}

/** The property stays: a canvas that had one taken off in every frame took a third longer to draw on. */
const typefaceOf = memoOf((ctx: CanvasRenderingContext2D) => {
  const typeface = { family: 'sans-serif' }
  const { get, set } = Object.getOwnPropertyDescriptor(CanvasRenderingContext2D.prototype, 'font')!
  Object.defineProperty(ctx, 'font', {
    get: get!,
    set(font: string) {
      set!.call(ctx, font.includes('system-ui') ? font.replace(/px .*/, `px ${typeface.family}`) : font)
    },
  })
  return typeface
})

/** Tools that draw nothing far to the left or right of their points, if they are not extended. */
const BESIDE_POINTS: ReadonlySet<string> = new Set(
  words(
    'trend-line arrow rectangle rotated-rectangle triangle path polyline brush highlighter',
    'parallel-channel fib-retracement fib-extension text note price-label long-position short-position',
  ),
)
/** Room for labels and texts beside the points, CSS pixels. */
const BESIDE = 600
/** A drawing of several points that all lie in so few CSS pixels is smaller than any label that it has. */
const SPECK = 12

/** Whether all of it lies beside what is in view: in a year of minutes most drawings do. */
function isOutOfSight(drawing: Drawing, points: readonly Spot[], { hr, width }: Paint): boolean {
  const { extendLeft, extendRight } = styleOf(drawing)
  if (!BESIDE_POINTS.has(drawing.tool) || extendLeft === true || extendRight === true) return false
  const room = BESIDE * hr
  return points.every(({ x }) => x < -room) || points.every(({ x }) => x > width + room)
}

function isSpeck(points: readonly Spot[], hr: number): boolean {
  const [first] = points
  if (!first || points.length < 2) return false
  const near = SPECK * hr
  return points.every(({ x, y }) => Math.abs(x - first.x) < near && Math.abs(y - first.y) < near)
}

const withoutLabels = memoOf((style: Style): Style => ({ ...style, showLabels: false }))

/** A brush stroke has no points to grab, and the second line of a channel is grabbed in its middle. */
function handlesOf({ tool }: Drawing, points: readonly Spot[]): readonly Spot[] {
  const [a, b, c] = points
  if (tool === 'parallel-channel' && a && b && c) return [a, b, { x: (a.x + b.x) / 2, y: c.y }]
  return codeOf(tool).freehand ? [] : points
}

/** Tools that draw nothing outside the rectangle around their points. */
const WITHIN_POINTS: ReadonlySet<string> = new Set(
  words('trend-line arrow rectangle triangle path brush highlighter'),
)

/** Whether a place is so far from a drawing's points that it need not be asked: 1,000 brush strokes take 1 ms instead of 11. */
function isApart(drawing: Drawing, points: readonly Spot[], { x, y }: Spot, reach: number): boolean {
  const { extendLeft, extendRight, lineWidth } = styleOf(drawing)
  if (!WITHIN_POINTS.has(drawing.tool) || extendLeft === true || extendRight === true) return false
  const room = reach + lineWidth
  let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity]
  for (const point of points) {
    if (point.x < left) left = point.x
    if (point.x > right) right = point.x
    if (point.y < top) top = point.y
    if (point.y > bottom) bottom = point.y
  }
  return x < left - room || x > right + room || y < top - room || y > bottom + room
}

/** The frontmost drawing under a place (CSS pixels); points count only for the drawings in `marked`. */
export function hitAt(
  surface: Surface,
  drawings: readonly Drawing[],
  marked: ReadonlySet<string>,
  { x, y }: Spot,
  reach: number,
): DrawingHit | null {
  for (const drawing of drawings.toReversed()) {
    if (!marked.has(drawing.id)) continue
    const points = handlesOf(drawing, pointsOf(surface, drawing, 1))
    const point = points.findIndex((one) => Math.hypot(one.x - x, one.y - y) <= HANDLE + reach)
    if (point >= 0) return { id: drawing.id, point }
  }
  for (const drawing of drawings.toReversed()) {
    if (isApart(drawing, pointsOf(surface, drawing, 1), { x, y }, reach)) continue
    const distance = codeOf(drawing.tool).distance(x, y, {
      pts: inOrder(drawing, pointsOf(surface, drawing, 1)),
      drawing: forTool(drawing),
      rc: renderContext(surface, drawing, 1, ''),
    })
    if (distance !== null && distance <= reach) return { id: drawing.id, point: -1 }
  }
  return null
}
