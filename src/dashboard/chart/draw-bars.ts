// Draws bars in every type of chart, and their volume.

import type { Bars } from '../../market/bars.ts'
import { extremesOf, together } from './extremes.ts'
import { bodyWidth, faded, inView, strokePath, type Paint } from './paint.ts'
import { PRICE_TYPES, type PriceType } from './price-bars.ts'

/** In the order of the menu. */
export const TYPE_NAMES = {
  candles: 'Candles',
  hollow: 'Hollow candles',
  bars: 'Bars',
  line: 'Line',
  step: 'Step line',
  area: 'Area',
  baseline: 'Baseline',
  columns: 'Columns',
  'high-low': 'High-low',
  'heikin-ashi': 'Heikin-Ashi',
  renko: 'Renko',
  'line-break': 'Line break',
  kagi: 'Kagi',
  'point-figure': 'Point and figure',
  range: 'Range bars',
} as const
export type ChartType = keyof typeof TYPE_NAMES
export const CHART_TYPES = Object.keys(TYPE_NAMES) as readonly ChartType[]

export const isPriceType = (type: ChartType): type is PriceType =>
  (PRICE_TYPES as readonly ChartType[]).includes(type)
/** Types that show closes only, as one line. */
export const LINE_TYPES: readonly ChartType[] = ['line', 'step', 'area', 'baseline']

type ColorOf = ((bar: number) => string | null) | null

/** `colorOf` gives what barcolor() sets instead of a bar's own colour; null = not set. `box`: how high one is. */
export function drawBars(
  paint: Paint,
  bars: Bars,
  type: ChartType,
  { colorOf, box }: { readonly colorOf: ColorOf; readonly box: number },
): void {
  if (type === 'kagi') drawKagi(paint, bars)
  else if (type === 'baseline') drawBaseline(paint, bars)
  else if (LINE_TYPES.includes(type)) drawClose(paint, bars, type)
  else if (type === 'columns') drawCloseColumns(paint, bars, colorOf)
  else if (paint.spacing < 0.5) drawColumns(paint, bars, colorOf)
  else if (type === 'high-low') drawHighLow(paint, bars, colorOf)
  else if (type === 'point-figure') drawPointAndFigure(paint, bars, box)
  else if (type === 'bars') drawOhlc(paint, bars, colorOf)
  else drawCandles(paint, bars, type === 'hollow', colorOf)
}

/** With more than two bars per pixel, each column of pixels shows one bar that sums up those in it. */
function drawColumns(paint: Paint, bars: Bars, colorOf: ColorOf): void {
  const { ctx, x, y, theme, spacing } = paint
  const [first, last] = inView(paint, bars.length)
  const count = together(Math.round(1 / spacing))
  for (let i = Math.floor(first / count) * count; i <= last; i += count) {
    const end = Math.min(last, i + count - 1)
    const { high } = extremesOf(bars.high, i, end)
    const { low } = extremesOf(bars.low, i, end)
    ctx.fillStyle = colorOf?.(end) ?? (bars.close[end]! >= bars.open[i]! ? theme.up : theme.down)
    const [top, bottom] = [Math.round(y(high)), Math.round(y(low))]
    const width = Math.max(1, Math.round(count * spacing))
    ctx.fillRect(Math.round(x(i)), top, width, Math.max(1, bottom - top))
  }
}

function drawCandles(paint: Paint, bars: Bars, hollow: boolean, colorOf: ColorOf): void {
  const { ctx, x, y, hr, theme, spacing } = paint
  const wick = Math.max(1, Math.floor(hr))
  const body = bodyWidth(spacing, hr)
  const [first, last] = inView(paint, bars.length)
  // One pass for each colour: changing fillStyle for every bar would cost more than going through the columns twice.
  for (const rising of [true, false]) {
    const color = rising ? theme.up : theme.down
    ctx.fillStyle = color
    for (let i = first; i <= last; i++) {
      const [open, close] = [bars.open[i]!, bars.close[i]!]
      if (close >= open !== rising) continue
      const own = colorOf?.(i)
      if (own) ctx.fillStyle = own
      const middle = Math.round(x(i))
      const left = middle - (body >> 1)
      const [high, low] = [Math.round(y(bars.high[i]!)), Math.round(y(bars.low[i]!))]
      const top = Math.round(y(rising ? close : open))
      const bottom = Math.max(top + 1, Math.round(y(rising ? open : close)))
      if (hollow && rising && body > 3 * wick) {
        ctx.fillRect(middle - (wick >> 1), high, wick, top - high)
        ctx.fillRect(middle - (wick >> 1), bottom, wick, low - bottom)
        ctx.fillRect(left, top, body, wick)
        ctx.fillRect(left, bottom - wick, body, wick)
        ctx.fillRect(left, top, wick, bottom - top)
        ctx.fillRect(left + body - wick, top, wick, bottom - top)
      } else {
        ctx.fillRect(middle - (wick >> 1), high, wick, Math.max(1, low - high))
        if (body > wick) ctx.fillRect(left, top, body, bottom - top)
      }
      if (own) ctx.fillStyle = color
    }
  }
}

function drawOhlc(paint: Paint, bars: Bars, colorOf: ColorOf): void {
  const { ctx, x, y, hr, theme, spacing } = paint
  const thin = Math.max(1, Math.floor(hr))
  const arm = Math.max(0, Math.floor(bodyWidth(spacing, hr) / 2))
  for (let i = Math.max(0, paint.from); i <= Math.min(bars.length - 1, paint.to); i++) {
    ctx.fillStyle = colorOf?.(i) ?? (bars.close[i]! >= bars.open[i]! ? theme.up : theme.down)
    const middle = Math.round(x(i)) - (thin >> 1)
    const high = Math.round(y(bars.high[i]!))
    ctx.fillRect(middle, high, thin, Math.max(1, Math.round(y(bars.low[i]!)) - high))
    ctx.fillRect(middle - arm, Math.round(y(bars.open[i]!)), arm, thin)
    ctx.fillRect(middle + thin, Math.round(y(bars.close[i]!)), arm, thin)
  }
}

/** The path of the closes, from the bar before the first in view to the one behind the last; null = there is none. */
function closePath(paint: Paint, bars: Bars, isStepped: boolean): { first: number; last: number } | null {
  const { ctx, x, y } = paint
  const first = Math.max(0, paint.from - 1)
  const last = Math.min(bars.length - 1, paint.to + 1)
  if (last < first) return null
  ctx.beginPath()
  const stride = Math.max(1, Math.floor(0.34 / paint.spacing))
  let before = y(bars.close[first]!)
  for (let i = first; i <= last; i += stride) {
    const height = y(bars.close[i]!)
    if (isStepped && i > first) ctx.lineTo(x(i), before)
    ctx.lineTo(x(i), height)
    before = height
  }
  return { first, last }
}

function drawClose(paint: Paint, bars: Bars, type: ChartType): void {
  const { ctx, x, theme } = paint
  const drawn = closePath(paint, bars, type === 'step')
  if (!drawn) return
  strokePath(paint, theme.accent, 2)
  if (type !== 'area') return
  ctx.lineTo(x(drawn.last), paint.height)
  ctx.lineTo(x(drawn.first), paint.height)
  ctx.closePath()
  const ground = ctx.createLinearGradient(0, 0, 0, paint.height)
  ground.addColorStop(0, faded(theme.accent, 0.28))
  ground.addColorStop(1, faded(theme.accent, 0))
  ctx.fillStyle = ground
  ctx.fill()
}

/** In the colour of gains above the middle of the pane, of losses below it. */
function drawBaseline(paint: Paint, bars: Bars): void {
  const { ctx, x, theme, hr } = paint
  const middle = Math.round(paint.height / 2)
  for (const [color, top] of [
    [theme.up, 0],
    [theme.down, middle],
  ] as const) {
    ctx.save()
    ctx.beginPath()
    ctx.rect(0, top, paint.width, top === 0 ? middle : paint.height - middle)
    ctx.clip()
    const drawn = closePath(paint, bars, false)
    if (drawn) {
      strokePath(paint, color, 2)
      ctx.lineTo(x(drawn.last), middle)
      ctx.lineTo(x(drawn.first), middle)
      ctx.closePath()
      ctx.fillStyle = faded(color, 0.14)
      ctx.fill()
    }
    ctx.restore()
  }
  ctx.fillStyle = faded(theme.muted, 0.6)
  ctx.fillRect(0, middle, paint.width, Math.max(1, Math.floor(hr)))
}

/** The close as a column from below. */
function drawCloseColumns(paint: Paint, bars: Bars, colorOf: ColorOf): void {
  const { ctx, x, y, theme, spacing, height, hr } = paint
  const body = bodyWidth(spacing, hr)
  const stride = Math.max(1, Math.floor(1 / spacing))
  const [first, last] = inView(paint, bars.length)
  for (let i = first - (first % stride); i <= last; i += stride) {
    const close = bars.close[i]!
    ctx.fillStyle = colorOf?.(i) ?? faded(close >= (bars.close[i - 1] ?? close) ? theme.up : theme.down, 0.75)
    const top = Math.round(y(close))
    ctx.fillRect(Math.round(x(i)) - (body >> 1), top, body, Math.max(1, height - top))
  }
}

/** From low to high; open and close are not shown. */
function drawHighLow(paint: Paint, bars: Bars, colorOf: ColorOf): void {
  const { ctx, x, y, theme, spacing, hr } = paint
  const body = bodyWidth(spacing, hr)
  for (let i = Math.max(0, paint.from); i <= Math.min(bars.length - 1, paint.to); i++) {
    ctx.fillStyle = colorOf?.(i) ?? theme.accent
    const top = Math.round(y(bars.high[i]!))
    ctx.fillRect(Math.round(x(i)) - (body >> 1), top, body, Math.max(1, Math.round(y(bars.low[i]!)) - top))
  }
}

/**
 * Upright lines joined at their ends. A line is thick (yang) from where it goes above the last shoulder, and thin (yin) from
 * where it goes below the last waist.
 */
function drawKagi(paint: Paint, bars: Bars): void {
  const { ctx, x, y, theme, hr } = paint
  const last = Math.min(bars.length - 1, paint.to + 1)
  let isThick = (bars.close[0] ?? 0) > (bars.open[0] ?? 0)
  for (let i = 0; i <= last; i++) {
    const [start, end] = [bars.open[i]!, bars.close[i]!]
    // The end of the line before the last: the shoulder that a rising line has to pass, the waist of a falling one.
    const turn = i >= 2 ? bars.close[i - 2]! : Number.NaN
    const turns = isThick ? end < turn && end < start : end > turn && end > start
    if (i >= paint.from - 1) {
      kagiLine(paint, x(i), y(start), y(turns ? turn : end), isThick)
      if (turns) kagiLine(paint, x(i), y(turn), y(end), !isThick)
      if (i < bars.length - 1) {
        const thick = turns !== isThick
        ctx.fillStyle = thick ? theme.up : theme.down
        const width = (thick ? 3 : 1) * Math.max(1, Math.floor(hr))
        ctx.fillRect(x(i), y(end) - width / 2, x(i + 1) - x(i), width)
      }
    }
    if (turns) isThick = !isThick
  }
}

function kagiLine({ ctx, theme, hr }: Paint, x: number, from: number, to: number, isThick: boolean): void {
  const width = (isThick ? 3 : 1) * Math.max(1, Math.floor(hr))
  ctx.fillStyle = isThick ? theme.up : theme.down
  ctx.fillRect(x - width / 2, Math.min(from, to), width, Math.abs(to - from))
}

/** A cross for each box of a rising column, a ring for each of a falling one. */
function drawPointAndFigure(paint: Paint, bars: Bars, box: number): void {
  const { ctx, x, y, theme, spacing, hr } = paint
  const half = Math.max(1, spacing * 0.4)
  ctx.lineWidth = Math.max(1, 1.5 * hr)
  for (let i = Math.max(0, paint.from); i <= Math.min(bars.length - 1, paint.to); i++) {
    const isRising = bars.close[i]! > bars.open[i]!
    const low = bars.low[i]!
    const count = Math.round((bars.high[i]! - low) / box)
    const tall = (y(low) - y(low + box)) / 2
    ctx.strokeStyle = isRising ? theme.up : theme.down
    ctx.beginPath()
    // Boxes too small to be told apart are one line.
    if (tall < 1.5 || count > 2000) {
      ctx.moveTo(x(i), y(low))
      ctx.lineTo(x(i), y(bars.high[i]!))
    } else
      for (let n = 0; n <= count; n++)
        addBox(ctx, { x: x(i), y: y(low + n * box), half, high: tall * 0.85, isRising })
    ctx.stroke()
  }
}

function addBox(
  ctx: CanvasRenderingContext2D,
  { x, y, half, high, isRising }: { x: number; y: number; half: number; high: number; isRising: boolean },
): void {
  if (!isRising) {
    ctx.moveTo(x + half, y)
    ctx.ellipse(x, y, half, high, 0, 0, 2 * Math.PI)
    return
  }
  ctx.moveTo(x - half, y - high)
  ctx.lineTo(x + half, y + high)
  ctx.moveTo(x - half, y + high)
  ctx.lineTo(x + half, y - high)
}

/** Volume takes the lowest fifth of the pane, on a scale of its own. */
export function drawVolume(paint: Paint, bars: Bars): void {
  const { ctx, x, hr, theme, height, spacing } = paint
  const [first, last] = inView(paint, bars.length)
  const most = extremesOf(bars.volume, first, last).high
  if (most <= 0) return
  const body = bodyWidth(spacing, hr)
  const scale = (height * 0.18) / most
  const stride = Math.max(1, Math.floor(1 / spacing))
  for (const rising of [true, false]) {
    ctx.fillStyle = faded(rising ? theme.up : theme.down, 0.22)
    for (let i = first - (first % stride); i <= last; i += stride) {
      if (bars.close[i]! >= bars.open[i]! !== rising) continue
      const tall = Math.round(bars.volume[i]! * scale)
      ctx.fillRect(Math.round(x(i)) - (body >> 1), height - tall, body, tall)
    }
  }
}
