// A picture of the chart: its canvases, with the title painted on, since on the page that is HTML.

import { nameOf, price, time, intervalText } from '../format.ts'
import { showsClock } from './bars.ts'
import { mintick, symbol, zone } from './chart-state.ts'
import { themeOf } from './paint.ts'
import type { ShownBars } from './scene.ts'

type Pictured = Pick<ShownBars, 'market' | 'bars'>

export async function savePicture(canvas: HTMLCanvasElement, chart: Pictured): Promise<void> {
  const { symbol: name, interval } = chart.market
  const blob = await pngOf(titled(canvas, chart))
  download(blob, `${name}-${interval}-${new Date().toISOString().slice(0, 10)}.png`)
}

/** A PNG in base64, of the size that pages show beside a posted link. */
export async function linkPicture(canvas: HTMLCanvasElement, chart: Pictured): Promise<string> {
  const whole = titled(canvas, chart)
  const scale = Math.min(1, LINK_WIDTH / whole.width)
  const small = document.createElement('canvas')
  small.width = Math.round(whole.width * scale)
  small.height = Math.round(whole.height * scale)
  small.getContext('2d')!.drawImage(whole, 0, 0, small.width, small.height)
  const bytes = new Uint8Array(await (await pngOf(small)).arrayBuffer())
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
}
const LINK_WIDTH = 1200

async function pngOf(canvas: HTMLCanvasElement): Promise<Blob> {
  const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/png'))
  if (!blob) throw new Error('The browser could not make a picture of the chart.')
  return blob
}

function titled(canvas: HTMLCanvasElement, { market, bars }: Pictured): HTMLCanvasElement {
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
  const title = `${symbol.value?.description || market.symbol}  ${nameOf(market)}  ${intervalText(market.interval)}`
  ctx.fillText(title, 12 * scale, head / 2)
  ctx.fillStyle = theme.muted
  ctx.font = `${12 * scale}px ${theme.font}`
  ctx.textAlign = 'right'
  const when = time(bars.time[last], zone.value, showsClock(market.interval))
  const now = `${price(bars.close[last], mintick.value)}   ${when} ${zone.value}   Chartroom`
  ctx.fillText(now, whole.width - 12 * scale, head / 2)
  return whole
}

/** Makes the browser save a file. */
export function download(blob: Blob, name: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(blob)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000)
}
