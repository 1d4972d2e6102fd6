// Draws curves of equity over one axis of time. The table below them tells the same to people who cannot see them.

import { useSignalEffect } from '@preact/signals'
import { useEffect, useRef, useState } from 'preact/hooks'
import { faded, themeOf } from '../chart/paint.ts'
import { axisOf, extentOf, heightOf, type CurveScale } from '../report/curve-scales.ts'
import { palette, theme as themeName } from '../settings.ts'
import { pointsOf, type RunCurve } from './compare-model.ts'
import s from './compare-runs.module.css'

interface DrawnRun extends RunCurve {
  readonly id: string
  readonly name: string
  readonly color: number
  readonly report: { readonly initialCapital: number }
}

interface CanvasProps {
  readonly runs: readonly DrawnRun[]
  readonly span: { readonly from: number; readonly to: number }
  readonly scale: CurveScale
  /** The run that is drawn before all others. */
  readonly lit: string | null
  /** The time that is pointed at. */
  readonly at: number | null
  readonly onAt: (time: number | null) => void
  /** Where the same is told to people who cannot see it. */
  readonly where?: string
}

/** Width of the axis on the right and height of the one below, CSS pixels. */
const [AXIS, FOOT] = [56, 20]

export function CurvesCanvas(props: CanvasProps) {
  const { runs, span, scale, lit, at, onAt, where = 'The table below has their figures.' } = props
  const host = useRef<HTMLDivElement>(null)
  const canvas = useRef<HTMLCanvasElement>(null)
  const [size, setSize] = useState({ width: 0, height: 0 })
  const [round, setRound] = useState(0)
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => {
      const { width, height } = entry!.contentRect
      setSize({ width: Math.floor(width), height: Math.floor(height) })
    })
    observer.observe(host.current!)
    return () => observer.disconnect()
  }, [])
  useSignalEffect(() => {
    void [themeName.value, palette.value]
    setRound((n) => n + 1)
  })
  useEffect(() => {
    const element = canvas.current
    if (!element || size.width <= AXIS || size.height <= FOOT) return
    const ratio = devicePixelRatio
    element.width = size.width * ratio
    element.height = size.height * ratio
    const ctx = element.getContext('2d')!
    ctx.scale(ratio, ratio)
    draw(ctx, element, size, props)
  }, [runs, span, scale, lit, at, size, round])
  return (
    <div
      ref={host}
      class={s.canvasHost}
      role="img"
      aria-label={`Equity of ${runs.map(({ name }) => name).join(', ')}. ${where}`}
      onPointerMove={(event) => {
        const box = host.current!.getBoundingClientRect()
        const share = (event.clientX - box.left) / Math.max(1, box.width - AXIS)
        onAt(Math.round(span.from + Math.max(0, Math.min(1, share)) * (span.to - span.from)))
      }}
      onPointerLeave={() => onAt(null)}
    >
      <canvas ref={canvas} class={s.canvas} />
    </div>
  )
}

interface Line {
  readonly color: number
  readonly lit: boolean
  readonly points: readonly (readonly [x: number, height: number] | null)[]
}

function draw(
  ctx: CanvasRenderingContext2D,
  element: Element,
  { width, height }: { readonly width: number; readonly height: number },
  { runs, span, scale, lit, at }: CanvasProps,
): void {
  const theme = themeOf(element)
  const [right, bottom] = [width - AXIS, height - FOOT]
  const lines = runs.map((run): Line => {
    const heightIn = heightOf(scale, run.report.initialCapital, run.equity)
    const points = pointsOf(run, span, right).map(({ x, value }) => {
      const y = heightIn(value)
      return y === null ? null : ([x, y] as const)
    })
    return { color: run.color, lit: run.id === lit, points }
  })
  const extent = extentOf(lines.flatMap(({ points }) => points.map((point) => point?.[1] ?? null)))
  const room = ((extent?.high ?? 1) - (extent?.low ?? 0) || 1) * 0.05
  const [low, high] = [(extent?.low ?? 0) - room, (extent?.high ?? 1) + room]
  const y = (value: number) => 6 + (1 - (value - low) / (high - low)) * (bottom - 12)
  ctx.font = `11px ${theme.font}`
  ctx.textBaseline = 'middle'
  ctx.lineWidth = 1
  for (const tick of axisOf(scale, low, high, Math.max(2, bottom / 48))) {
    const across = Math.round(y(tick.height)) + 0.5
    ctx.strokeStyle = tick.height === 0 && scale !== 'money' ? theme.lineStrong : faded(theme.line, 0.7)
    stroke(ctx, 0, across, right, across)
    ctx.fillStyle = theme.muted
    ctx.fillText(tick.text, right + 8, across, AXIS - 10)
  }
  const x = (time: number) => ((time - span.from) / (span.to - span.from || 1)) * right
  ctx.textAlign = 'center'
  for (const { time, text } of dateTicks(span, right / 90)) {
    const down = Math.round(x(time)) + 0.5
    ctx.strokeStyle = faded(theme.line, 0.5)
    stroke(ctx, down, 0, down, bottom)
    if (down > 24 && down < right - 20) ctx.fillText(text, down, bottom + 11)
  }
  ctx.textAlign = 'start'
  ctx.lineJoin = 'round'
  const style = getComputedStyle(element)
  for (const one of lines.toSorted((a, b) => Number(a.lit) - Number(b.lit))) {
    const color = style.getPropertyValue(`--run-${one.color}`).trim()
    ctx.strokeStyle = lit !== null && !one.lit ? faded(color, 0.35) : color
    ctx.lineWidth = one.lit ? 2.5 : 1.5
    ctx.beginPath()
    let pen = false
    for (const point of one.points) {
      if (point && pen) ctx.lineTo(point[0], y(point[1]))
      else if (point) ctx.moveTo(point[0], y(point[1]))
      pen = point !== null
    }
    ctx.stroke()
  }
  if (at === null) return
  ctx.strokeStyle = theme.muted
  ctx.lineWidth = 1
  ctx.setLineDash([2, 3])
  const down = Math.round(x(at)) + 0.5
  stroke(ctx, down, 0, down, bottom)
  ctx.setLineDash([])
}

function stroke(ctx: CanvasRenderingContext2D, x1: number, y1: number, x2: number, y2: number): void {
  ctx.beginPath()
  ctx.moveTo(x1, y1)
  ctx.lineTo(x2, y2)
  ctx.stroke()
}

const DAY = 86_400_000
/** Steps in months; less than a month is in days. */
const MONTHS = [1, 3, 6, 12, 24, 60, 120, 240, 600]

/** At most `most` round dates: days, months or years. */
function dateTicks(
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
  for (
    let month = Math.ceil((first.getUTCFullYear() * 12 + first.getUTCMonth()) / step) * step;
    ;
    month += step
  ) {
    const time = Date.UTC(Math.floor(month / 12), month % 12, 1)
    if (time > to) return found
    const named = month % 12 === 0 ? { year: 'numeric' as const } : { month: 'short' as const }
    if (time >= from) found.push({ time, text: text(time, named) })
  }
}
