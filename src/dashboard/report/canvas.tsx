// A picture that fills its element, drawn in CSS pixels, and again when the element, the theme or what it shows changes.

import { useSignalEffect } from '@preact/signals'
import type { HTMLAttributes } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { themeOf, type ChartTheme } from '../chart/paint.ts'
import { palette, theme } from '../settings.ts'

export type Ctx = CanvasRenderingContext2D
export interface Size {
  readonly width: number
  readonly height: number
}

interface CanvasProps extends HTMLAttributes<HTMLDivElement> {
  readonly draw: (ctx: Ctx, size: Size, theme: ChartTheme) => void
  readonly of: readonly unknown[]
}

export function Canvas({ draw, of, ...rest }: CanvasProps) {
  const host = useRef<HTMLDivElement>(null)
  const canvas = useRef<HTMLCanvasElement>(null)
  const [size, setSize] = useState<Size>({ width: 0, height: 0 })
  const [look, setLook] = useState('')
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => {
      const { width, height } = entry!.contentRect
      setSize({ width: Math.floor(width), height: Math.floor(height) })
    })
    observer.observe(host.current!)
    return () => observer.disconnect()
  }, [])
  // Behind the style sheet, which hears of it first.
  useSignalEffect(() => setLook(`${theme.value} ${palette.value}`))
  useEffect(() => {
    const element = canvas.current!
    element.width = size.width * devicePixelRatio
    element.height = size.height * devicePixelRatio
    const ctx = element.getContext('2d')!
    ctx.scale(devicePixelRatio, devicePixelRatio)
    if (size.width > 0 && size.height > 0) draw(ctx, size, themeOf(element))
  }, [...of, size, look])
  return (
    <div {...rest} ref={host}>
      <canvas ref={canvas} style={{ position: 'absolute', inset: 0, width: '100%', height: '100%' }} />
    </div>
  )
}

export function line(ctx: Ctx, x1: number, y1: number, x2: number, y2: number): void {
  ctx.beginPath()
  ctx.moveTo(x1, y1)
  ctx.lineTo(x2, y2)
  ctx.stroke()
}

const DAY = 86_400_000
/** Steps in months; less than a month is in days. */
const MONTHS = [1, 3, 6, 12, 24, 60, 120, 240, 600]

/** At most `most` round dates: days, months or years. */
export function dateTicks(
  { from, to }: { readonly from: number; readonly to: number },
  most: number,
): readonly { readonly time: number; readonly text: string }[] {
  const text = (time: number, format: Intl.DateTimeFormatOptions) =>
    new Date(time).toLocaleDateString('en-US', { ...format, timeZone: 'UTC' })
  if (to - from < 60 * DAY) {
    const step = Math.max(1, Math.ceil((to - from) / DAY / most)) * DAY
    const found = []
    for (let time = Math.ceil(from / step) * step; time <= to; time += step)
      found.push({ time, text: text(time, { month: 'short', day: 'numeric' }) })
    return found
  }
  const months = (to - from) / (30.44 * DAY)
  const step = MONTHS.find((one) => months / one <= most) ?? 1200
  const first = new Date(from)
  const found = []
  let month = Math.ceil((first.getUTCFullYear() * 12 + first.getUTCMonth()) / step) * step
  for (; ; month += step) {
    const time = Date.UTC(Math.floor(month / 12), month % 12, 1)
    if (time > to) return found
    const named = month % 12 === 0 ? { year: 'numeric' as const } : { month: 'short' as const }
    if (time >= from) found.push({ time, text: text(time, named) })
  }
}
