// A picture of the chart: the canvases, with the title that HTML shows written on it.

import type { Bars } from '../../market/bars.ts'
import { price, time } from '../format.ts'
import type { Market } from '../workspace.ts'
import { showsClock } from './bars.ts'
import { intervalText, mintick, symbol, zone } from './chart-state.ts'
import { themeOf } from './paint.ts'

export async function savePicture(
  canvas: HTMLCanvasElement,
  { market, bars }: { readonly market: Market; readonly bars: Bars },
): Promise<void> {
  const theme = themeOf(document.documentElement)
  const scale = devicePixelRatio
  const head = 40 * scale
  const whole = document.createElement('canvas')
  whole.width = canvas.width
  whole.height = canvas.height + head
  const ctx = whole.getContext('2d')!
  ctx.fillStyle = theme.surface
  ctx.fillRect(0, 0, whole.width, whole.height)
  ctx.drawImage(canvas, 0, head)
  ctx.textBaseline = 'middle'
  ctx.fillStyle = theme.text
  ctx.font = `600 ${14 * scale}px ${theme.font}`
  const last = bars.length - 1
  const title = `${symbol.value?.description || market.symbol}  ${market.exchange}:${market.symbol}  ${intervalText(market.interval)}`
  ctx.fillText(title, 12 * scale, head / 2)
  ctx.fillStyle = theme.muted
  ctx.font = `${12 * scale}px ${theme.font}`
  ctx.textAlign = 'right'
  const when = time(bars.time[last], zone.value, showsClock(market.interval))
  ctx.fillText(
    `${price(bars.close[last], mintick.value)}   ${when} ${zone.value}   Chartroom`,
    whole.width - 12 * scale,
    head / 2,
  )
  const blob = await new Promise<Blob | null>((resolve) => whole.toBlob(resolve, 'image/png'))
  if (!blob) throw new Error('The browser could not make a picture of the chart.')
  download(blob, `${market.symbol}-${market.interval}-${new Date().toISOString().slice(0, 10)}.png`)
}

/** Hands a file to the browser to save. */
export function download(blob: Blob, name: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(blob)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000)
}
