// The curves of equity and buy & hold, with the drawdown below. Pointing at them highlights the bar on the chart; a click goes there.

import { useEffect, useState } from 'preact/hooks'
import { litTime, zone } from '../chart/chart-state.ts'
import { showsClock } from '../chart/bars.ts'
import { faded, type ChartTheme } from '../chart/paint.ts'
import { compact, money, percent, time as timeText, gain } from '../format.ts'
import { remembered } from '../settings.ts'
import { ofKind } from '../../lib/of-kind.ts'
import { cx } from '../ui/ui.tsx'
import { lookAt, type ShownRun } from '../workspace.ts'
import { Canvas, dateTicks, line, type Ctx, type Size } from './canvas.tsx'
import { axisOf, extentOf, heightOf, scaleOf, type CurveScale } from './curve-scales.ts'
import { CURVE_FALL } from './figure-text.ts'
import { envelope, fallOf, lineThrough, shareOf, type Curve, type Fall } from './figures.ts'
import { ScaleChoice } from './scale-choice.tsx'
import s from './report.module.css'

const columnOf = (run: ShownRun, kind: 'equity' | 'buyhold' | 'drawdown' | 'time'): Curve =>
  ofKind(run.tracks, kind)?.data ?? []

export const curveFallOf = (run: ShownRun): Fall => fallOf(columnOf(run, 'equity'), columnOf(run, 'drawdown'))

const chosenScale = remembered('curves.scale', 'money')

interface EquityProps {
  readonly run: ShownRun
  /** The last bar to show, for a replay. */
  readonly upTo?: number | null
  readonly compactHeight?: boolean
  /** Hide dates, for a blind replay. */
  readonly blind?: boolean
}

export function EquityChart({ run, upTo, compactHeight, blind }: EquityProps) {
  const [at, setAt] = useState<number | null>(null)
  const [hold, setHold] = useState(true)
  const equity = columnOf(run, 'equity')
  const held = columnOf(run, 'buyhold')
  const drawdown = columnOf(run, 'drawdown')
  const times = columnOf(run, 'time')
  const length = upTo === null || upTo === undefined ? equity.length : Math.min(equity.length, upTo + 1)

  useEffect(() => () => void (litTime.value = null), [])
  const barOf = (event: PointerEvent | MouseEvent): number => {
    const box = (event.currentTarget as Element).getBoundingClientRect()
    const share = (event.clientX - box.left) / Math.max(1, box.width - AXIS)
    return Math.max(0, Math.min(length - 1, Math.round(share * (length - 1))))
  }
  const { currency } = run.report
  const value = at === null ? null : equity[at]
  const initial = run.report.initialCapital
  const isShared = sharesOf(scaleOf(chosenScale.value))
  return (
    <figure class={cx(s.equity, compactHeight && s.equitySmall)}>
      <figcaption class={s.equityHead}>
        <span class={s.key} data-line="equity">
          Equity
        </span>
        <button
          type="button"
          class={s.key}
          data-line="hold"
          aria-pressed={hold}
          onClick={() => setHold(!hold)}
        >
          Buy &amp; hold
        </button>
        <span class={s.key} data-line="drawdown" title={CURVE_FALL.meaning}>
          Drawdown (curve)
        </span>
        <span class={cx('num', s.equityValue)} aria-live="off">
          {at !== null && value !== null && value !== undefined && (
            <>
              <span class="muted">
                {!blind && timeText(times[at], zone.value, showsClock(run.report.interval))}
              </span>{' '}
              {money(value, currency)}{' '}
              <span class={value >= initial ? 'up' : 'down'}>{gain(value / initial - 1)}</span>{' '}
              {drawdown[at]! < 0 && (
                <span class="muted">
                  {isShared ? percent(shareOf(equity, drawdown, at)) : money(drawdown[at], currency)} below
                  its peak
                </span>
              )}
            </>
          )}
        </span>
        {!compactHeight && <ScaleChoice scale={chosenScale} />}
      </figcaption>
      <Canvas
        class={s.equityBody}
        of={[run, at, hold, length, blind, chosenScale.value]}
        draw={(ctx, size, look) => {
          if (length === 0) return
          drawEquity(ctx, size, {
            theme: look,
            equity: equity.slice(0, length),
            drawdown: drawdown.slice(0, length),
            held: hold ? held.slice(0, length) : [],
            times,
            initial,
            scale: scaleOf(chosenScale.value),
            at,
            blind: blind === true,
          })
        }}
        role="img"
        aria-label={
          // A replay does not tell how the run ends.
          typeof upTo === 'number'
            ? `Equity from ${money(initial, currency)} to ${money(equity[length - 1], currency)}`
            : `Equity from ${money(initial, currency)} to ${money(run.report.equity.final, currency)}, deepest drawdown ${percent(curveFallOf(run).curveFallPct)}`
        }
        onPointerMove={(event) => {
          const bar = barOf(event)
          setAt(bar)
          litTime.value = times[bar] ?? null
        }}
        onPointerLeave={() => {
          setAt(null)
          litTime.value = null
        }}
        onClick={(event) => {
          const when = times[barOf(event)]
          if (when !== null && when !== undefined) lookAt.value = { time: when }
        }}
      />
    </figure>
  )
}

/** Whether a drawdown is shown as a share of its peak, as equity is of the capital. */
const sharesOf = (scale: CurveScale): boolean => scale === 'percent' || scale === 'log'

/** Width of the axis on the right, CSS pixels. */
const AXIS = 56

interface EquityData {
  readonly theme: ChartTheme
  readonly equity: Curve
  readonly drawdown: Curve
  readonly held: Curve
  readonly times: Curve
  readonly initial: number
  readonly scale: CurveScale
  readonly at: number | null
  readonly blind: boolean
}

function drawEquity(ctx: Ctx, size: Size, data: EquityData): void {
  const { theme, equity, initial } = data
  const right = size.width - AXIS
  const bottom = size.height - 18
  const split = Math.round(bottom * 0.72)
  // With scales of their own, the axis is that of equity.
  const axis = data.scale === 'own' ? 'money' : data.scale
  const height = heightOf(axis, initial, [])
  const heights = (curve: Curve) => curve.map((value) => (value === null ? null : height(value)))
  const drawn = heights(equity)
  const zero = height(initial) ?? 0
  const { low, high } = withRoom([drawn, ...(data.scale === 'own' ? [] : [heights(data.held)])], zero)
  const y = (value: number) => 6 + (1 - (value - low) / (high - low)) * (split - 12)
  const held = data.scale === 'own' ? onSpan(data.held, low, high) : heights(data.held)
  const x = (i: number) => (equity.length < 2 ? 0 : (i / (equity.length - 1)) * right)
  ctx.font = `11px ${theme.font}`
  ctx.textBaseline = 'middle'
  // The axis and its grid lines.
  ctx.strokeStyle = faded(theme.line, 0.7)
  ctx.fillStyle = theme.muted
  ctx.lineWidth = 1
  for (const tick of axisOf(axis, low, high, Math.max(2, split / 44))) {
    const at = Math.round(y(tick.height)) + 0.5
    line(ctx, 0, at, right, at)
    ctx.fillText(tick.text, right + 8, at)
  }
  if (!data.blind) drawDates(ctx, data, right, bottom, x)
  // The line of the initial capital.
  ctx.strokeStyle = theme.lineStrong
  ctx.setLineDash([3, 3])
  line(ctx, 0, Math.round(y(zero)) + 0.5, right, Math.round(y(zero)) + 0.5)
  ctx.setLineDash([])
  // The drawdown, hanging from a zero line of its own.
  const { curveFall, curveFallPct } = fallOf(equity, data.drawdown)
  const isShared = sharesOf(data.scale)
  const deepest = isShared ? -curveFallPct : -curveFall
  const under = envelope(
    isShared ? data.drawdown.map((_, i) => shareOf(equity, data.drawdown, i)) : data.drawdown,
    right,
  )
  const depth = bottom - split - 4
  ctx.fillStyle = faded(theme.down, 0.3)
  ctx.beginPath()
  ctx.moveTo(0, split)
  for (let i = 0; i < under.low.length; i++) {
    const share = deepest === 0 ? 0 : Math.min(0, under.low[i]!) / deepest
    ctx.lineTo(((i + 0.5) / under.low.length) * right, split + share * depth)
  }
  ctx.lineTo(right, split)
  ctx.fill()
  ctx.strokeStyle = theme.line
  line(ctx, 0, split + 0.5, right, split + 0.5)
  if (deepest < 0) {
    ctx.fillStyle = theme.muted
    ctx.fillText(isShared ? percent(deepest) : compact(deepest), right + 8, bottom - 8)
  }
  if (held.length > 0) curve(ctx, held, y, right, theme.muted, 1)
  // Equity is drawn last, above the other curve, with the area below it filled.
  const made = curve(ctx, drawn, y, right, theme.accent, 1.75)
  const ground = ctx.createLinearGradient(0, 0, 0, split)
  ground.addColorStop(0, faded(theme.accent, 0.22))
  ground.addColorStop(1, faded(theme.accent, 0))
  ctx.fillStyle = ground
  made.lineTo(right, split)
  made.lineTo(0, split)
  ctx.fill(made)
  if (data.at === null) return
  const across = Math.round(x(data.at)) + 0.5
  ctx.strokeStyle = theme.muted
  ctx.setLineDash([2, 3])
  line(ctx, across, 0, across, bottom)
  ctx.setLineDash([])
  const value = drawn[data.at]
  if (value === null || value === undefined) return
  ctx.fillStyle = theme.accent
  ctx.strokeStyle = theme.surface
  ctx.lineWidth = 2
  ctx.beginPath()
  ctx.arc(across, y(value), 4, 0, Math.PI * 2)
  ctx.fill()
  ctx.stroke()
}

/** From the lowest to the highest of all curves and the ground, with some room around. */
function withRoom(curves: readonly Curve[], ground: number): { low: number; high: number } {
  let [low, high] = [ground, ground]
  for (const values of curves) {
    const extent = extentOf(values)
    if (extent) [low, high] = [Math.min(low, extent.low), Math.max(high, extent.high)]
  }
  const room = (high - low || Math.abs(high) * 0.01 || 1) * 0.06
  return { low: low - room, high: high + room }
}

/** A curve over the whole height between two values. */
function onSpan(values: Curve, low: number, high: number): Curve {
  const share = heightOf('own', 0, values)
  return values.map((value) => (value === null ? null : low + (share(value) ?? 0) * (high - low)))
}

function curve(
  ctx: Ctx,
  data: Curve,
  y: (value: number) => number,
  width: number,
  color: string,
  lineWidth: number,
): Path2D {
  const path = new Path2D()
  for (const [x, value] of lineThrough(data, width)) path.lineTo(x, y(value))
  ctx.strokeStyle = color
  ctx.lineWidth = lineWidth
  ctx.lineJoin = 'round'
  ctx.stroke(path)
  return path
}

function drawDates(
  ctx: Ctx,
  { times, equity, theme }: EquityData,
  right: number,
  bottom: number,
  x: (i: number) => number,
): void {
  const [from, to] = [times[0], times[equity.length - 1]]
  if (typeof from !== 'number' || typeof to !== 'number') return
  ctx.fillStyle = theme.muted
  ctx.textAlign = 'center'
  let i = 0
  for (const { time, text } of dateTicks({ from, to }, right / 60)) {
    while (i < equity.length && (times[i] ?? 0) < time) i++
    const at = Math.round(x(i)) + 0.5
    ctx.strokeStyle = faded(theme.line, 0.5)
    line(ctx, at, 0, at, bottom)
    if (at > 20 && at < right - 10) ctx.fillText(text, at, bottom + 10)
  }
  ctx.textAlign = 'start'
}
