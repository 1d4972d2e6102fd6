// Draws a script's plots, levels, fills, shapes, arrows, candles and coloured backgrounds as TradingView does.

import {
  colorAt,
  DISPLAY,
  runBefore,
  type ArrowMark,
  type CandleMark,
  type Colors,
  type FillMark,
  type GroundMark,
  type LevelMark,
  type Mark,
  type PlotMark,
  type ShapeMark,
} from './marks.ts'
import type { Bars } from '../../market/bars.ts'
import { BLOCK, extremesOf, together } from './extremes.ts'
import { bodyWidth, lineWidth, setDash, strokeAcross, textSize, type Paint } from './paint.ts'
import { drawShape } from './shapes.ts'

/** Backgrounds and fills, which lie below everything else. */
export function drawBehind(paint: Paint, marks: readonly Mark[]): void {
  for (const mark of inPane(marks)) if (mark.kind === 'bgcolor') drawGround(knownTo(paint, mark), mark)
}

export function drawMarks(paint: Paint, marks: readonly Mark[], bars: Bars): void {
  const shown = inPane(marks)
  for (const mark of shown) if (mark.kind === 'fill') drawFill(knownTo(paint, mark), mark)
  const stacks = { above: new Map<number, number>(), below: new Map<number, number>() }
  for (const mark of shown) {
    const known = knownTo(paint, mark)
    paint.ctx.save()
    if (mark.kind === 'plot') drawPlot(known, mark)
    else if (mark.kind === 'hline') drawLevel(known, mark)
    else if (mark.kind === 'shape') drawShapes(known, mark, bars, stacks)
    else if (mark.kind === 'arrow') drawArrows(known, mark, bars)
    else if (mark.kind === 'candle' || mark.kind === 'bar') drawScriptBars(known, mark)
    paint.ctx.restore()
  }
}

const inPane = (marks: readonly Mark[]) => marks.filter(({ display }) => (display & DISPLAY.pane) !== 0)

/** With the end of a replay as the mark's own run counts it. */
const knownTo = (paint: Paint, { run }: Mark): Paint =>
  paint.known === Infinity ? paint : { ...paint, known: paint.known - run }

/** Bars of the mark that are on screen: indexes into its columns. */
function span(paint: Paint, mark: Pick<Mark, 'start' | 'last'>, length: number): [number, number] {
  const oldest = mark.last > 0 ? Math.max(0, length - mark.last) : 0
  return [Math.max(oldest, paint.from - mark.start), Math.min(length - 1, paint.known, paint.to - mark.start)]
}

function drawGround(paint: Paint, mark: GroundMark): void {
  const { ctx, x, spacing, height } = paint
  const half = spacing / 2
  for (let i = runBefore(mark, paint.from); i < mark.runs.length; i++) {
    const [first, count, at] = mark.runs[i]!
    const from = first + mark.start
    const to = Math.min(from + count, mark.start + paint.known + 1)
    if (from > paint.to || to <= from) break
    ctx.fillStyle = mark.palette[at] ?? '#00000000'
    const left = Math.round(x(from) - half)
    ctx.fillRect(left, 0, Math.max(1, Math.round(x(to) - half) - left), height)
  }
}

function drawLevel(paint: Paint, mark: LevelMark): void {
  if (mark.color === null || !Number.isFinite(mark.price)) return
  setDash(paint, mark.dash, mark.width)
  const at = Math.round(paint.y(mark.price)) + (lineWidth(paint, mark.width) % 2 ? 0.5 : 0)
  strokeAcross(paint, at, mark.color, mark.width)
}

function drawPlot(paint: Paint, mark: PlotMark): void {
  if (mark.style === 'histogram' || mark.style === 'columns') drawColumns(paint, mark)
  else if (mark.style === 'circles' || mark.style === 'cross') drawPoints(paint, mark)
  else if (mark.style === 'area' || mark.style === 'areabr') drawArea(paint, mark)
  else drawLine(paint, mark)
  if (mark.trackprice) drawTrack(paint, mark)
}

/**
 * How many bars are drawn as one: those that share a third of a pixel, or two whole pixels where there are many. A line is
 * two pixels wide or nearly so, and one corner a pixel took twice the time: 5 ms of a frame with 12 lines over 1,500 pixels.
 */
const strideOf = ({ spacing }: Paint): number =>
  spacing < 0.1 ? together(2 / spacing) : Math.max(1, Math.floor(0.34 / spacing))

function drawTrack(paint: Paint, mark: PlotMark): void {
  const i = lastValue(mark.values, Math.min(mark.values.length - 1, paint.known))
  const color = i < 0 ? null : colorAt(mark.colors, i)
  if (color === null) return
  setDash(paint, 'dotted', 1)
  strokeAcross(paint, Math.round(paint.y(mark.values[i]!)) + 0.5, color, 1)
}

/** The last bar at or before `i` that has a value; -1 = none. */
export function lastValue(values: Float64Array, i: number): number {
  while (i >= 0 && values[i] !== values[i]) i--
  return i
}

/**
 * Lines and steps. A stretch to a bar has that bar's colour; where it is na there is none. `line` and `stepline` go on
 * across bars without a value; the styles that end in `br` break there.
 */
function drawLine(paint: Paint, mark: PlotMark): void {
  const { ctx, x, y } = paint
  const { values, start } = mark
  const steps = mark.style.startsWith('stepline')
  const breaks = mark.style.endsWith('br')
  let [first, last] = span(paint, mark, values.length)
  if (last < 0 || first >= values.length) return
  // Start one point before the visible bars and end one after, so that lines reach the edges.
  first = Math.max(0, breaks ? first - 1 : lastValue(values, first - 1))
  const end = Math.min(values.length - 1, paint.known)
  last = Math.min(end, last + 1)
  if (!breaks) while (last < end && values[last] !== values[last]) last++
  ctx.lineWidth = lineWidth(paint, mark.width)
  const stride = strideOf(paint)
  // Rounding thousands of corners takes longer than the lines.
  ctx.lineJoin = stride > BLOCK ? 'bevel' : 'round'
  ctx.lineCap = mark.dash === 'solid' ? 'round' : 'butt'
  setDash(paint, mark.dash, mark.width)
  let previous = -1
  let color: string | null = null
  let open = false
  const finish = () => {
    if (open) ctx.stroke()
    open = false
  }
  for (let i = first; i <= last; i++) {
    let value = values[i]!
    if (stride > 1 && i > first && i + stride < last) {
      // With several bars per pixel only the extremes of each few are drawn, the lower one first.
      const end = i + stride - (i % stride)
      const { low, high } = extremesOf(values, i, end - 1)
      if (open && low <= high) ctx.lineTo(x(i + start), y(low))
      i = end - 1
      value = low <= high ? high : Number.NaN
    }
    if (value !== value) {
      if (breaks) {
        finish()
        previous = -1
      }
      continue
    }
    if (previous >= 0) {
      const next = colorAt(mark.colors, i)
      if (next !== color || !open) {
        finish()
        color = next
        if (color !== null) {
          ctx.strokeStyle = color
          ctx.beginPath()
          ctx.moveTo(x(previous + start), y(values[previous]!))
          open = true
        }
      }
      if (open) {
        const across = x(i + start)
        if (steps && stride === 1) ctx.lineTo(across, y(values[previous]!))
        ctx.lineTo(across, y(value))
      }
    }
    previous = i
  }
  finish()
  if (mark.style === 'stepline_diamond') drawDiamonds(paint, mark, first, last)
}

function drawDiamonds(paint: Paint, mark: PlotMark, first: number, last: number): void {
  const { ctx, x, y, hr } = paint
  ctx.setLineDash([])
  const size = (mark.width + 2) * hr
  for (let i = Math.max(1, first); i <= last; i++) {
    if (mark.values[i] === mark.values[i - 1] || mark.values[i] !== mark.values[i]) continue
    const color = colorAt(mark.colors, i)
    if (color === null) continue
    ctx.fillStyle = color
    drawShape(ctx, 'diamond', x(i + mark.start), y(mark.values[i]!), size)
  }
}

function drawColumns(paint: Paint, mark: PlotMark): void {
  const { ctx, x, y, hr, spacing } = paint
  const [first, last] = span(paint, mark, mark.values.length)
  const wide =
    mark.style === 'columns'
      ? bodyWidth(spacing, hr)
      : Math.max(1, Math.round(Math.min(spacing, mark.width * hr)))
  const ground = Math.round(y(mark.base))
  for (let i = first; i <= last; i++) {
    const value = mark.values[i]!
    const color = value === value ? colorAt(mark.colors, i) : null
    if (color === null) continue
    ctx.fillStyle = color
    const top = Math.round(y(value))
    const left = Math.round(x(i + mark.start)) - (wide >> 1)
    ctx.fillRect(left, Math.min(top, ground), wide, Math.max(1, Math.abs(ground - top)))
  }
}

function drawPoints(paint: Paint, mark: PlotMark): void {
  const { ctx, x, y, hr } = paint
  const [first, last] = span(paint, mark, mark.values.length)
  if (mark.join) drawLine(paint, { ...mark, style: 'line', join: false })
  const size = mark.style === 'circles' ? (mark.width + 1) * hr : (mark.width + 3) * hr
  for (let i = first; i <= last; i++) {
    const value = mark.values[i]!
    const color = value === value ? colorAt(mark.colors, i) : null
    if (color === null) continue
    ctx.fillStyle = color
    drawShape(ctx, mark.style === 'circles' ? 'circle' : 'cross', x(i + mark.start), y(value), size)
  }
}

function drawArea(paint: Paint, mark: PlotMark): void {
  const { ctx, x, y } = paint
  const ground = y(mark.base)
  const [from, to] = span(paint, mark, mark.values.length)
  let previous = lastValue(mark.values, Math.max(0, from - 1))
  for (let i = Math.max(0, from); i <= Math.min(mark.values.length - 1, paint.known, to + 1); i++) {
    const value = mark.values[i]!
    if (value !== value) {
      if (mark.style === 'areabr') previous = -1
      continue
    }
    const color = colorAt(mark.colors, i)
    if (previous >= 0 && previous !== i && color !== null) {
      ctx.fillStyle = color
      ctx.globalAlpha = 0.4
      const [left, right] = [x(previous + mark.start), x(i + mark.start)]
      ctx.beginPath()
      ctx.moveTo(left, ground)
      ctx.lineTo(left, y(mark.values[previous]!))
      ctx.lineTo(right, y(value))
      ctx.lineTo(right, ground)
      ctx.fill()
    }
    previous = i
  }
  ctx.globalAlpha = 1
  drawLine(paint, { ...mark, style: mark.style === 'areabr' ? 'linebr' : 'line' })
}

/** Fills the area between two lines; neighbouring pieces of one colour are drawn together. */
function drawFill(paint: Paint, mark: FillMark): void {
  const { ctx, x, y } = paint
  const { a, b } = mark
  const at = (side: PlotMark | LevelMark, bar: number): number => {
    if (side.kind === 'hline') return side.price
    const value = side.values[bar - side.start] ?? Number.NaN
    if (value === value || !mark.fillgaps) return value
    const i = lastValue(side.values, Math.min(side.values.length - 1, bar - side.start))
    return i < 0 ? Number.NaN : side.values[i]!
  }
  const start = a.kind === 'plot' ? a.start : b.kind === 'plot' ? b.start : mark.start
  const length = a.kind === 'plot' ? a.values.length : b.kind === 'plot' ? b.values.length : 0
  if (a.kind === 'hline' && b.kind === 'hline') {
    const color = colorAt(mark.colors, 0)
    if (color === null) return
    ctx.fillStyle = color
    ctx.fillRect(0, y(Math.max(a.price, b.price)), paint.width, Math.abs(y(a.price) - y(b.price)))
    return
  }
  const first = Math.max(start + 1, paint.from)
  const last = Math.min(start + length - 1, start + paint.known, paint.to + 1)
  const stride = strideOf(paint)
  // Across, top and bottom of each place, one behind the other: a tuple a place would be thousands of objects a frame.
  const edge: number[] = []
  let color: string | CanvasGradient | null = null
  const finish = () => {
    if (edge.length > 3 && color !== null) {
      ctx.fillStyle = color
      ctx.beginPath()
      for (let i = 0; i < edge.length; i += 3) ctx.lineTo(edge[i]!, edge[i + 1]!)
      for (let i = edge.length - 3; i >= 0; i -= 3) ctx.lineTo(edge[i]!, edge[i + 2]!)
      ctx.closePath()
      ctx.fill()
    }
    edge.length = 0
  }
  for (let bar = first; bar <= last; bar += stride) {
    const [one, two, was, wasTwo] = [at(a, bar), at(b, bar), at(a, bar - 1), at(b, bar - 1)]
    if (one !== one || two !== two || was !== was || wasTwo !== wasTwo) {
      finish()
      color = null
      continue
    }
    const i = bar - start
    const next = mark.gradient ? gradientAt(paint, mark.gradient, i) : colorAt(mark.colors, i)
    if (next !== color || edge.length === 0) {
      finish()
      color = next
      edge.push(x(bar - 1), y(was), y(wasTwo))
    }
    edge.push(x(bar), y(one), y(two))
  }
  finish()
}

type Gradient = NonNullable<FillMark['gradient']>

function gradientAt(paint: Paint, gradient: Gradient, i: number): CanvasGradient | null {
  const value = (side: Float64Array | number) => (typeof side === 'number' ? side : (side[i] ?? Number.NaN))
  const [top, bottom] = [value(gradient.top), value(gradient.bottom)]
  if (top !== top || bottom !== bottom) return null
  const made = paint.ctx.createLinearGradient(0, paint.y(top), 0, paint.y(bottom))
  made.addColorStop(0, colorAt(gradient.topColors, i) ?? '#00000000')
  made.addColorStop(1, colorAt(gradient.bottomColors, i) ?? '#00000000')
  return made
}

interface Stacks {
  readonly above: Map<number, number>
  readonly below: Map<number, number>
}

/** Shapes of several plots on one bar are stacked in the order of their calls. */
function drawShapes(paint: Paint, mark: ShapeMark, bars: Bars, stacks: Stacks): void {
  const { ctx, x, y, hr, vr, height, spacing } = paint
  const [first, last] = span(paint, mark, mark.values.length)
  const size =
    mark.size === 'auto'
      ? Math.max(5, Math.min(14, spacing / hr))
      : textSize(mark.size) * (mark.shape === 'char' ? 1.1 : 0.95)
  const lines = mark.text === '' ? [] : mark.text.split('\n')
  const textPx = 11
  // A label contains its text; other shapes have it beside them.
  const isLabel = lines.length > 0 && mark.shape.startsWith('label')
  const tallText = lines.length * (textPx + 2) + 6
  const tall = isLabel ? tallText + 10 : size + 4 + lines.length * (textPx + 2)
  ctx.font = `${textPx * vr}px ${paint.theme.font}`
  const wide = isLabel ? Math.max(...lines.map((line) => ctx.measureText(line).width)) + 12 * hr : 0
  ctx.textAlign = 'center'
  ctx.textBaseline = 'middle'
  for (let i = first; i <= last; i++) {
    const value = mark.values[i]!
    // With location.absolute the value is a price, and 0 is a price too; elsewhere 0 means that there is no shape.
    if (value !== value || (value === 0 && mark.location !== 'absolute')) continue
    const color = colorAt(mark.colors, i)
    const bar = i + mark.start
    const across = x(bar)
    let middle: number
    let outwards = -1
    if (mark.location === 'abovebar' || mark.location === 'belowbar') {
      const above = mark.location === 'abovebar'
      const stack = above ? stacks.above : stacks.below
      const used = stack.get(bar) ?? 0
      stack.set(bar, used + tall)
      const price = (above ? bars.high : bars.low)[bar]
      if (price === undefined) continue
      outwards = above ? -1 : 1
      middle = y(price) + outwards * (6 + used + (isLabel ? 5 + tallText / 2 : size / 2)) * vr
    } else if (mark.location === 'top') {
      middle = (14 + size / 2) * vr
      outwards = 1
    } else if (mark.location === 'bottom') middle = height - (8 + size / 2) * vr
    else middle = y(value)
    if (color !== null) {
      ctx.fillStyle = color
      if (isLabel) drawLabelBody(paint, across, middle, mark.shape === 'labelup' ? 1 : -1, wide, tallText)
      else if (mark.shape === 'char') {
        ctx.font = `${size * 1.15 * vr}px ${paint.theme.font}`
        ctx.fillText(mark.char, across, middle)
      } else drawShape(ctx, mark.shape, across, middle, size * hr)
    }
    const textColor = colorAt(mark.textColors, i)
    if (lines.length > 0 && textColor !== null && spacing > 2 * hr) {
      ctx.fillStyle = textColor
      ctx.font = `${textPx * vr}px ${paint.theme.font}`
      for (const [n, line] of lines.entries()) {
        if (isLabel) {
          const down = (n - (lines.length - 1) / 2) * (textPx + 2)
          ctx.fillText(line, across, middle + down * vr)
          continue
        }
        const away = size / 2 + 2 + textPx / 2
        const row = outwards > 0 ? n : lines.length - 1 - n
        ctx.fillText(line, across, middle + outwards * (away + row * (textPx + 2)) * vr)
      }
    }
  }
}

/** A rounded box of a device width, with its tail on the side of the bar; `way` 1: the tail points up. */
function drawLabelBody(paint: Paint, x: number, y: number, way: 1 | -1, wide: number, tall: number): void {
  const { ctx, hr, vr } = paint
  const half = (tall / 2) * vr
  ctx.beginPath()
  ctx.roundRect(x - wide / 2, y - half, wide, 2 * half, 3 * hr)
  ctx.moveTo(x, y - way * (half + 5 * vr))
  ctx.lineTo(x + 5 * hr, y - way * (half - 1))
  ctx.lineTo(x - 5 * hr, y - way * (half - 1))
  ctx.closePath()
  ctx.fill()
}

function drawArrows(paint: Paint, mark: ArrowMark, bars: Bars): void {
  const { ctx, x, y, hr, vr } = paint
  const [first, last] = span(paint, mark, mark.values.length)
  for (let i = first; i <= last; i++) {
    const value = mark.values[i]!
    if (value !== value || value === 0) continue
    const color = colorAt(value > 0 ? mark.up : mark.down, i)
    const bar = i + mark.start
    const price = (value > 0 ? bars.low : bars.high)[bar]
    if (color === null || price === undefined) continue
    const share = mark.largest === 0 ? 0 : Math.abs(value) / mark.largest
    const tall = (mark.minheight + (mark.maxheight - mark.minheight) * share) * vr * 0.6
    const way = value > 0 ? 1 : -1
    const tip = y(price) + way * 4 * vr
    const head = Math.min(tall / 2, 6 * vr)
    const across = x(bar)
    ctx.fillStyle = color
    ctx.beginPath()
    ctx.moveTo(across, tip)
    ctx.lineTo(across + 5 * hr, tip + way * head)
    ctx.lineTo(across + 2 * hr, tip + way * head)
    ctx.lineTo(across + 2 * hr, tip + way * tall)
    ctx.lineTo(across - 2 * hr, tip + way * tall)
    ctx.lineTo(across - 2 * hr, tip + way * head)
    ctx.lineTo(across - 5 * hr, tip + way * head)
    ctx.fill()
  }
}

function drawScriptBars(paint: Paint, mark: CandleMark): void {
  const { ctx, x, y, hr, spacing } = paint
  const [first, last] = span(paint, mark, mark.close.length)
  const thin = Math.max(1, Math.floor(hr))
  const body = bodyWidth(spacing, hr)
  const colour = (colors: Colors | null, i: number) => (colors ? colorAt(colors, i) : null)
  for (let i = first; i <= last; i++) {
    const [open, high, low, close] = [mark.open[i]!, mark.high[i]!, mark.low[i]!, mark.close[i]!]
    const color = colorAt(mark.colors, i)
    if (color === null || open !== open || close !== close) continue
    const middle = Math.round(x(i + mark.start))
    const [top, bottom] = [Math.round(y(high)), Math.round(y(low))]
    ctx.fillStyle = colour(mark.wicks, i) ?? color
    ctx.fillRect(middle - (thin >> 1), top, thin, Math.max(1, bottom - top))
    if (mark.kind === 'bar') {
      const arm = body >> 1
      ctx.fillRect(middle - arm, Math.round(y(open)), arm, thin)
      ctx.fillRect(middle, Math.round(y(close)), arm, thin)
      continue
    }
    const [bodyTop, bodyBottom] = [Math.round(y(Math.max(open, close))), Math.round(y(Math.min(open, close)))]
    ctx.fillStyle = color
    ctx.fillRect(middle - (body >> 1), bodyTop, body, Math.max(1, bodyBottom - bodyTop))
    const border = colour(mark.borders, i)
    if (border !== null && body > 2) {
      ctx.strokeStyle = border
      ctx.lineWidth = thin
      const [left, high] = [middle - (body >> 1) + thin / 2, bodyBottom - bodyTop - thin]
      ctx.strokeRect(left, bodyTop + thin / 2, body - thin, Math.max(1, high))
    }
  }
}
