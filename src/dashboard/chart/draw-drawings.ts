// Lines, labels, boxes, polylines and linefills: a script's drawings, placed by bar or by time. Tables are HTML (tables.tsx).

import { drawingAt, type Drawing } from '../../language/runtime/drawings.ts'
import type { Bars } from '../../market/bars.ts'
import { placeOf } from './bars.ts'
import { lineWidth, setDash, strokePath, textSize, type Paint } from './paint.ts'
import type { DrawingsMark } from './marks.ts'
import { drawShape } from './shapes.ts'

export interface DrawingSpace {
  readonly bars: Bars
  /** From bar to bar. */
  readonly barMs: number
  /** Index in the chart's bars of the first bar of the run. */
  readonly base: number
}

type DrawnItem = Readonly<Record<string, unknown>>
type DrawnItems = readonly (DrawnItem | null)[]
type Point = readonly [x: number, y: number]

/** Those of the drawings that exist at the end of a bar of the run; null = at the end of the run. */
export function itemsAt(items: DrawingsMark['items'], bar: number | null): DrawnItems {
  return items.map((item) => {
    if (bar === null) return item.deletedBar === -1 ? item : null
    return drawingAt(item as unknown as Drawing, bar) as unknown as DrawnItem | null
  })
}

/** `lines` are those that linefills refer to by number. */
export function drawDrawings(paint: Paint, items: DrawnItems, lines: DrawnItems, space: DrawingSpace): void {
  for (const item of items) {
    if (!item) continue
    paint.ctx.save()
    if (item['kind'] === 'line') drawLine(paint, item, space)
    else if (item['kind'] === 'box') drawBox(paint, item, space)
    else if (item['kind'] === 'label') drawLabel(paint, item, space)
    else if (item['kind'] === 'polyline') drawPolyline(paint, item, space)
    else if (item['kind'] === 'linefill') drawLinefill(paint, item, lines, space)
    paint.ctx.restore()
  }
}

const num = (value: unknown): number => (typeof value === 'number' ? value : Number.NaN)
const str = (value: unknown): string => (typeof value === 'string' ? value : '')

/** The place of a coordinate among the bars of the chart. */
const barOf = (item: DrawnItem, value: unknown, { bars, barMs, base }: DrawingSpace): number =>
  str(item['xloc']).includes('time') ? placeOf(bars, num(value), barMs) : base + num(value)

const across = (paint: Paint, item: DrawnItem, value: unknown, space: DrawingSpace): number =>
  paint.x(barOf(item, value, space))

/** A line's two ends on screen, moved out to the edges where it extends; null where a coordinate is na. */
function endsOf(paint: Paint, item: DrawnItem, space: DrawingSpace): readonly [Point, Point] | null {
  let [x1, x2] = [across(paint, item, item['x1'], space), across(paint, item, item['x2'], space)]
  let [y1, y2] = [paint.y(num(item['y1'])), paint.y(num(item['y2']))]
  if (![x1, x2, y1, y2].every(Number.isFinite)) return null
  const extend = str(item['extend'])
  if (extend !== 'none' && extend !== '') {
    if (x1 === x2) {
      if (y1 === y2) return null
      const up = y1 < y2 === (extend === 'left')
      if (extend === 'both') [y1, y2] = [0, paint.height]
      else if (up) y1 = 0
      else y2 = paint.height
    } else {
      const swap = x1 > x2
      if (swap) [x1, y1, x2, y2] = [x2, y2, x1, y1]
      const slope = (y2 - y1) / (x2 - x1)
      if (extend !== 'right' && x1 > 0) [x1, y1] = [0, y1 - slope * x1]
      if (extend !== 'left' && x2 < paint.width) [x2, y2] = [paint.width, y2 + slope * (paint.width - x2)]
      if (swap) [x1, y1, x2, y2] = [x2, y2, x1, y1]
    }
  }
  return [
    [x1, y1],
    [x2, y2],
  ]
}

function drawLine(paint: Paint, item: DrawnItem, space: DrawingSpace): void {
  const color = str(item['color'])
  const ends = color && endsOf(paint, item, space)
  if (!ends) return
  const { ctx, hr } = paint
  const [[x1, y1], [x2, y2]] = ends
  if (Math.max(x1, x2) < 0 || Math.min(x1, x2) > paint.width) return
  const width = num(item['width']) || 1
  const style = str(item['style'])
  setDash(paint, style, width)
  ctx.beginPath()
  ctx.moveTo(x1, y1)
  ctx.lineTo(x2, y2)
  strokePath(paint, color, width)
  ctx.setLineDash([])
  const heads: (readonly [Point, Point])[] = []
  if (style === 'arrow_right' || style === 'arrow_both') heads.push(ends)
  if (style === 'arrow_left' || style === 'arrow_both') heads.push([ends[1], ends[0]])
  for (const [from, to] of heads) {
    const angle = Math.atan2(to[1] - from[1], to[0] - from[0])
    const size = (6 + width * 2) * hr
    ctx.beginPath()
    for (const turn of [0.45, -0.45]) {
      ctx.moveTo(to[0], to[1])
      ctx.lineTo(to[0] - size * Math.cos(angle + turn), to[1] - size * Math.sin(angle + turn))
    }
    ctx.stroke()
  }
}

function drawLinefill(paint: Paint, item: DrawnItem, lines: DrawnItems, space: DrawingSpace): void {
  const color = str(item['color'])
  const [one, two] = [lines[num(item['line1'])], lines[num(item['line2'])]]
  const [a, b] = [one && endsOf(paint, one, space), two && endsOf(paint, two, space)]
  if (!color || !a || !b) return
  const { ctx } = paint
  ctx.fillStyle = color
  ctx.beginPath()
  for (const corner of [...a, b[1], b[0]]) ctx.lineTo(...corner)
  ctx.fill()
}

function drawBox(paint: Paint, item: DrawnItem, space: DrawingSpace): void {
  const { ctx, hr, vr } = paint
  let left = across(paint, item, item['left'], space)
  let right = across(paint, item, item['right'], space)
  const [one, two] = [paint.y(num(item['top'])), paint.y(num(item['bottom']))]
  if (![left, right, one, two].every(Number.isFinite)) return
  if (left > right) [left, right] = [right, left]
  const extend = str(item['extend'])
  if (extend === 'left' || extend === 'both') left = Math.min(left, -10)
  if (extend === 'right' || extend === 'both') right = Math.max(right, paint.width + 10)
  if (right < 0 || left > paint.width) return
  const [top, bottom] = [Math.min(one, two), Math.max(one, two)]
  const ground = str(item['bgcolor'])
  if (ground) {
    ctx.fillStyle = ground
    ctx.fillRect(left, top, right - left, bottom - top)
  }
  const border = str(item['border_color'])
  const width = num(item['border_width'])
  if (border && width > 0) {
    ctx.strokeStyle = border
    ctx.lineWidth = lineWidth(paint, width)
    setDash(paint, str(item['border_style']), width)
    ctx.strokeRect(left, top, right - left, bottom - top)
    ctx.setLineDash([])
  }
  const words = str(item['text'])
  const color = str(item['text_color'])
  if (words === '' || color === '') return
  const pad = 4 * hr
  const auto = item['text_size'] === 'auto'
  const lines = words.split('\n')
  let size = textSize(item['text_size'])
  if (auto) size = Math.max(8, Math.min(16, (bottom - top) / vr / (lines.length * 1.4)))
  ctx.font = fontOf(paint, item, size)
  ctx.fillStyle = color
  const sideways = str(item['text_halign'])
  const upright = str(item['text_valign'])
  ctx.textAlign = sideways === 'left' ? 'left' : sideways === 'right' ? 'right' : 'center'
  ctx.textBaseline = 'middle'
  const row = size * 1.3 * vr
  const x = sideways === 'left' ? left + pad : sideways === 'right' ? right - pad : (left + right) / 2
  const block = row * lines.length
  const y =
    upright === 'top' ? top + pad : upright === 'bottom' ? bottom - pad - block : (top + bottom - block) / 2
  ctx.beginPath()
  ctx.rect(left, top, right - left, bottom - top)
  ctx.clip()
  for (const [n, line] of lines.entries()) ctx.fillText(line, x, y + row * (n + 0.5))
}

function fontOf(paint: Paint, item: DrawnItem, size: number): string {
  const formatting = str(item['text_formatting'])
  const family = str(item['text_font_family']) === 'monospace' ? 'monospace' : paint.theme.font
  const weight = formatting.includes('bold') ? '600 ' : ''
  return `${formatting.includes('italic') ? 'italic ' : ''}${weight}${size * paint.vr}px ${family}`
}

/** Where the body of a label lies relative to its point, in halves of its size across and down. */
const LABELS: Readonly<Record<string, readonly [number, number]>> = {
  label_down: [0, -1],
  label_up: [0, 1],
  label_left: [1, 0],
  label_right: [-1, 0],
  label_lower_left: [1, -1],
  label_lower_right: [-1, -1],
  label_upper_left: [1, 1],
  label_upper_right: [-1, 1],
  label_center: [0, 0],
}

function drawLabel(paint: Paint, item: DrawnItem, space: DrawingSpace): void {
  const { ctx, hr, vr } = paint
  const x = across(paint, item, item['x'], space)
  const style = str(item['style']) || 'label_down'
  const yloc = str(item['yloc'])
  let y = paint.y(num(item['y']))
  if (yloc === 'abovebar' || yloc === 'belowbar') {
    const bar = Math.round(barOf(item, item['x'], space))
    const price = (yloc === 'abovebar' ? space.bars.high : space.bars.low)[bar]
    y = price === undefined ? Number.NaN : paint.y(price) + (yloc === 'abovebar' ? -4 : 4) * vr
  }
  if (!Number.isFinite(x) || !Number.isFinite(y) || x < -400 * hr || x > paint.width + 400 * hr) return
  const size = textSize(item['size'])
  const lines = str(item['text']) === '' ? [] : str(item['text']).split('\n')
  ctx.font = fontOf(paint, item, size)
  const row = size * 1.3 * vr
  const wide = lines.reduce((most, line) => Math.max(most, ctx.measureText(line).width), 0)
  const color = str(item['color'])
  const textColor = str(item['textcolor'])
  const place = LABELS[style]
  let [middleX, middleY] = [x, y]
  if (place) {
    const pad = 6 * hr
    const bodyWide = Math.max(wide + 2 * pad, 10 * hr)
    const bodyTall = lines.length === 0 ? size * vr : row * lines.length + 4 * vr
    const tail = style === 'label_center' ? 0 : 5 * vr
    const [sideways, upright] = place
    middleX = x + sideways * (bodyWide / 2 + (upright === 0 ? tail : 0))
    middleY = y + upright * (bodyTall / 2 + tail)
    if (color) {
      ctx.fillStyle = color
      ctx.beginPath()
      ctx.roundRect(middleX - bodyWide / 2, middleY - bodyTall / 2, bodyWide, bodyTall, 4 * hr)
      if (tail > 0) {
        const reach = Math.min(6 * hr, bodyWide / 3)
        if (upright === 0) {
          const edge = x + sideways * tail
          ctx.moveTo(x, y)
          ctx.lineTo(edge + sideways, y - reach / 1.4)
          ctx.lineTo(edge + sideways, y + reach / 1.4)
        } else {
          const edge = y + upright * (tail + 1)
          const from = sideways === 0 ? x - reach : x
          const to = sideways === 0 ? x + reach : x + sideways * reach * 2
          ctx.moveTo(x, y)
          ctx.lineTo(from, edge)
          ctx.lineTo(to, edge)
        }
        ctx.closePath()
      }
      ctx.fill()
    }
  } else if (style !== 'none' && style !== 'text_outline' && color) {
    ctx.fillStyle = color
    drawShape(ctx, style.replace(/^shape_/, ''), x, y, size * hr)
    middleY = y + (yloc === 'belowbar' ? 1 : -1) * (size / 2 + (size * 1.3 * lines.length) / 2) * vr
  }
  if (lines.length === 0 || !textColor) return
  const align = str(item['textalign'])
  ctx.textAlign = align === 'left' ? 'left' : align === 'right' ? 'right' : 'center'
  ctx.textBaseline = 'middle'
  const at = align === 'left' ? middleX - wide / 2 : align === 'right' ? middleX + wide / 2 : middleX
  for (const [n, line] of lines.entries()) {
    const down = middleY + row * (n - (lines.length - 1) / 2)
    if (style === 'text_outline' && color) {
      ctx.strokeStyle = color
      ctx.lineWidth = 3 * hr
      ctx.lineJoin = 'round'
      ctx.strokeText(line, at, down)
    }
    ctx.fillStyle = textColor
    ctx.fillText(line, at, down)
  }
}

function drawPolyline(paint: Paint, item: DrawnItem, space: DrawingSpace): void {
  const { ctx } = paint
  const points: Point[] = []
  for (const point of (item['points'] ?? []) as readonly DrawnItem[]) {
    const value = str(item['xloc']).includes('time') ? point['time'] : point['index']
    const at = [across(paint, item, value, space), paint.y(num(point['price']))] as const
    if (at.every(Number.isFinite)) points.push(at)
  }
  if (points.length < 2) return
  if (Math.max(...points.map(([x]) => x)) < 0 || Math.min(...points.map(([x]) => x)) > paint.width) return
  const closed = item['closed'] === true
  ctx.beginPath()
  if (item['curved'] === true) curve(ctx, points, closed)
  else for (const [x, y] of points) ctx.lineTo(x, y)
  if (closed) ctx.closePath()
  const fill = str(item['fill_color'])
  if (fill) {
    ctx.fillStyle = fill
    ctx.fill()
  }
  const color = str(item['line_color'])
  if (!color) return
  const width = num(item['line_width']) || 1
  setDash(paint, str(item['line_style']), width)
  strokePath(paint, color, width)
}

/** A Catmull-Rom curve through the points, drawn as Bézier segments. */
function curve(ctx: CanvasRenderingContext2D, points: readonly Point[], closed: boolean): void {
  const count = points.length
  const at = (i: number) =>
    closed ? points[(i + count) % count]! : points[Math.max(0, Math.min(count - 1, i))]!
  ctx.moveTo(...points[0]!)
  for (let i = 0; i < (closed ? count : count - 1); i++) {
    const [a, b, c, d] = [at(i - 1), at(i), at(i + 1), at(i + 2)]
    ctx.bezierCurveTo(
      b[0] + (c[0] - a[0]) / 6,
      b[1] + (c[1] - a[1]) / 6,
      c[0] - (d[0] - b[0]) / 6,
      c[1] - (d[1] - b[1]) / 6,
      c[0],
      c[1],
    )
  }
}
