// Draws curves of equity over one axis of time. The table below them tells the same to people who cannot see them.

import { faded, type ChartTheme } from '../chart/paint.ts'
import { Canvas, dateTicks, line, type Ctx, type Size } from '../report/canvas.tsx'
import { axisOf, extentOf, heightOf, type CurveScale } from '../report/curve-scales.ts'
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
  readonly at: number | null
  readonly onAt: (time: number | null) => void
  /** Where the same is told to people who cannot see it. */
  readonly where?: string
}

/** Width of the axis on the right and height of the one below, CSS pixels. */
const [AXIS, FOOT] = [56, 20]

export function CurvesCanvas(props: CanvasProps) {
  const { runs, span, scale, lit, at, onAt, where = 'The table below has their figures.' } = props
  return (
    <Canvas
      class={s.canvasHost}
      role="img"
      aria-label={`Equity of ${runs.map(({ name }) => name).join(', ')}. ${where}`}
      of={[runs, span, scale, lit, at]}
      draw={(ctx, size, theme) => {
        if (size.width > AXIS && size.height > FOOT) draw(ctx, size, theme, props)
      }}
      onPointerMove={(event) => {
        const box = event.currentTarget.getBoundingClientRect()
        const share = (event.clientX - box.left) / Math.max(1, box.width - AXIS)
        onAt(Math.round(span.from + Math.max(0, Math.min(1, share)) * (span.to - span.from)))
      }}
      onPointerLeave={() => onAt(null)}
    />
  )
}

function draw(ctx: Ctx, { width, height }: Size, theme: ChartTheme, shown: CanvasProps): void {
  const { runs, span, scale, lit, at } = shown
  const [right, bottom] = [width - AXIS, height - FOOT]
  const lines = runs.map((run) => {
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
    line(ctx, 0, across, right, across)
    ctx.fillStyle = theme.muted
    ctx.fillText(tick.text, right + 8, across, AXIS - 10)
  }
  const x = (time: number) => ((time - span.from) / (span.to - span.from || 1)) * right
  ctx.textAlign = 'center'
  for (const { time, text } of dateTicks(span, right / 90)) {
    const down = Math.round(x(time)) + 0.5
    ctx.strokeStyle = faded(theme.line, 0.5)
    line(ctx, down, 0, down, bottom)
    if (down > 24 && down < right - 20) ctx.fillText(text, down, bottom + 11)
  }
  ctx.textAlign = 'start'
  ctx.lineJoin = 'round'
  const style = getComputedStyle(ctx.canvas)
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
  line(ctx, down, 0, down, bottom)
  ctx.setLineDash([])
}
