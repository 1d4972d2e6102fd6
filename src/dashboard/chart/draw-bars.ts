// Candles, hollow candles, bars, line, area and volume.

import type { Bars } from '../../market/bars.ts'
import { extremesOf, together } from './extremes.ts'
import { bodyWidth, faded, lineWidth, type Paint } from './paint.ts'

export const CHART_TYPES = ['candles', 'hollow', 'bars', 'line', 'area', 'heikin-ashi'] as const
export type ChartType = (typeof CHART_TYPES)[number]

/** `colorOf` gives what barcolor() sets instead of a bar's own colour; null = not set. */
export function drawBars(
  paint: Paint,
  bars: Bars,
  type: ChartType,
  colorOf: ((bar: number) => string | null) | null,
): void {
  if (paint.spacing < 0.5 && type !== 'line' && type !== 'area') drawColumns(paint, bars, colorOf)
  else if (type === 'line' || type === 'area') drawClose(paint, bars, type)
  else if (type === 'bars') drawOhlc(paint, bars, colorOf)
  else drawCandles(paint, bars, type === 'hollow', colorOf)
}

/** With more than two bars per pixel, each column of pixels shows one bar that sums up those in it. */
function drawColumns(paint: Paint, bars: Bars, colorOf: ((bar: number) => string | null) | null): void {
  const { ctx, x, y, theme, spacing } = paint
  const last = Math.min(bars.length - 1, paint.to)
  const count = together(Math.round(1 / spacing))
  for (let i = Math.floor(Math.max(0, paint.from) / count) * count; i <= last; i += count) {
    const end = Math.min(last, i + count - 1)
    const { high } = extremesOf(bars.high, i, end)
    const { low } = extremesOf(bars.low, i, end)
    ctx.fillStyle = colorOf?.(end) ?? (bars.close[end]! >= bars.open[i]! ? theme.up : theme.down)
    const top = Math.round(y(high))
    ctx.fillRect(
      Math.round(x(i)),
      top,
      Math.max(1, Math.round(count * spacing)),
      Math.max(1, Math.round(y(low)) - top),
    )
  }
}

function drawCandles(
  paint: Paint,
  bars: Bars,
  hollow: boolean,
  colorOf: ((bar: number) => string | null) | null,
): void {
  const { ctx, x, y, hr, theme, spacing } = paint
  const wick = Math.max(1, Math.floor(hr))
  const body = bodyWidth(spacing, hr)
  const first = Math.max(0, paint.from)
  const last = Math.min(bars.length - 1, paint.to)
  // One pass for each colour: changing fillStyle for every bar would cost more than going through the columns twice.
  const passes: readonly (readonly [boolean, string])[] = [
    [true, theme.up],
    [false, theme.down],
  ]
  for (const [rising, color] of passes) {
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

function drawOhlc(paint: Paint, bars: Bars, colorOf: ((bar: number) => string | null) | null): void {
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

function drawClose(paint: Paint, bars: Bars, type: 'line' | 'area'): void {
  const { ctx, x, y, theme } = paint
  const first = Math.max(0, paint.from - 1)
  const last = Math.min(bars.length - 1, paint.to + 1)
  if (last < first) return
  ctx.beginPath()
  const stride = Math.max(1, Math.floor(0.34 / paint.spacing))
  for (let i = first; i <= last; i += stride) ctx.lineTo(x(i), y(bars.close[i]!))
  ctx.strokeStyle = theme.accent
  ctx.lineWidth = lineWidth(paint, 2)
  ctx.lineJoin = 'round'
  ctx.stroke()
  if (type === 'line') return
  ctx.lineTo(x(last), paint.height)
  ctx.lineTo(x(first), paint.height)
  ctx.closePath()
  const ground = ctx.createLinearGradient(0, 0, 0, paint.height)
  ground.addColorStop(0, faded(theme.accent, 0.28))
  ground.addColorStop(1, faded(theme.accent, 0))
  ctx.fillStyle = ground
  ctx.fill()
}

/** Volume takes the lowest fifth of the pane, on a scale of its own. */
export function drawVolume(paint: Paint, bars: Bars): void {
  const { ctx, x, hr, theme, height, spacing } = paint
  const first = Math.max(0, paint.from)
  const last = Math.min(bars.length - 1, paint.to)
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
