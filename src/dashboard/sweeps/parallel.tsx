// Parallel coordinates with brushing: drag along an axis, or move its two sliders, to choose trials by their values.

import { useState } from 'preact/hooks'
import { count } from '../format.ts'
import type { SweepTrial } from '../../wire/sweep.ts'
import { axesOf, drawn, isChosen, linesOf, WHOLE, type Axis, type Band } from './parallel-model.ts'
import j from '../jobs/jobs.module.css'
import { scoreText } from './sweep-model.ts'
import s from './sweeps.module.css'
import { buttons } from '../ui/buttons.tsx'
import { item } from '../ui/menu.tsx'
import { Section } from '../frame/section.tsx'

const [GAP, HEIGHT, TOP, BOTTOM, SIDE] = [120, 240, 34, 22, 60]
const STEPS = 100

interface ParallelProps extends ReturnType<typeof useBands> {
  readonly trials: readonly SweepTrial[]
  readonly open: (trial: number) => void
}

/** The axes of a sweep's trials, the bands that are chosen on them, and the trials within. */
export function useBands(names: readonly string[], trials: readonly SweepTrial[], drawdown: string) {
  const [bands, setBands] = useState<readonly Band[]>([])
  const axes = axesOf(names, trials, drawdown)
  const isAll = bands.every(([low, high]) => low === 0 && high === 1)
  const chosen = isAll ? trials : trials.filter((trial) => isChosen(trial, axes, bands))
  return { axes, bands, setBands, chosen }
}

export function Parallel({ axes, trials, chosen, bands, setBands, open }: ParallelProps) {
  const bandOf = (axis: number) => bands[axis] ?? WHOLE
  const change = (axis: number, band: Band) => setBands(axes.map((_, i) => (i === axis ? band : bandOf(i))))
  const scored = chosen.filter(({ score }) => score !== null)
  const best = scored.toSorted((a, b) => b.score! - a.score!)[0]
  const isBrushed = chosen.length < trials.length
  return (
    <Section class={j.section} title="Trials side by side">
      <p class={j.note}>
        Every line is a trial. Drag along an axis, or move its sliders, to keep only the trials that pass
        there.
      </p>
      <div class={s.scroll} tabIndex={0} role="region" aria-label="Trials side by side">
        <Lines axes={axes} trials={trials} chosen={chosen} bandOf={bandOf} change={change} />
      </div>
      <div class={s.sliders}>
        {axes.map((axis, i) => (
          <Sliders key={axis.name} axis={axis} band={bandOf(i)} change={(band) => change(i, band)} />
        ))}
      </div>
      <p role="status" class={s.chosenTrials}>
        <span>
          {count(chosen.length)} of {count(trials.length)} trials
          {best && `, the best of them ${best.trial} with ${scoreText(best.score)}`}
        </span>
        {buttons(
          [
            isBrushed && best && item('Run it on the chart', 'play', () => open(best.trial)),
            isBrushed && item('All trials', '', () => setBands([])),
          ],
          'small',
        )}
      </p>
    </Section>
  )
}

interface LinesProps extends Pick<ParallelProps, 'axes' | 'trials' | 'chosen'> {
  readonly bandOf: (axis: number) => Band
  readonly change: (axis: number, band: Band) => void
}

function Lines({ axes, trials, chosen, bandOf, change }: LinesProps) {
  const width = 2 * SIDE + GAP * (axes.length - 1)
  const x = (axis: number) => SIDE + GAP * axis
  const y = (at: number) => HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * at
  const place = (axis: number, at: number) => [x(axis), y(at)] as const
  const placeOf = (event: PointerEvent) => {
    const box = (event.currentTarget as SVGElement).ownerSVGElement!.getBoundingClientRect()
    const down = ((event.clientY - box.top) / box.height) * HEIGHT
    return Math.max(0, Math.min(1, (HEIGHT - BOTTOM - down) / (HEIGHT - TOP - BOTTOM)))
  }
  const [from, setFrom] = useState<number | null>(null)
  const drag = (axis: number, event: PointerEvent) => {
    if (from === null) return
    const to = placeOf(event)
    change(axis, [Math.min(from, to), Math.max(from, to)])
  }
  const end = (axis: number, event: PointerEvent) => {
    // A click without a drag takes the band away.
    if (from !== null && Math.abs(placeOf(event) - from) < 0.02) change(axis, WHOLE)
    setFrom(null)
  }
  return (
    <svg
      class={s.parallel}
      viewBox={`0 0 ${width} ${HEIGHT}`}
      style={{ minWidth: `${Math.min(width, 90 * axes.length)}px`, maxWidth: `${1.15 * width}px` }}
      role="img"
      aria-label={`${axes.length} axes: ${axes.map(({ name }) => name).join(', ')}. ${chosen.length} of ${trials.length} trials are chosen; the table below has them.`}
    >
      <path class={s.faint} d={linesOf(drawn(trials), axes, place)} />
      <path class={s.line} d={linesOf(drawn(chosen), axes, place)} />
      {axes.map((axis, i) => {
        const [low, high] = bandOf(i)
        return (
          <g key={axis.name}>
            <text class={s.axisName} x={x(i)} y={14}>
              {axis.name.length > 16 ? `${axis.name.slice(0, 15)}…` : axis.name}
            </text>
            <text class={s.axisEnd} x={x(i)} y={TOP - 6}>
              {axis.shown(1)}
            </text>
            <text class={s.axisEnd} x={x(i)} y={HEIGHT - 6}>
              {axis.shown(0)}
            </text>
            <line class={s.axis} x1={x(i)} x2={x(i)} y1={y(0)} y2={y(1)} />
            {(low > 0 || high < 1) && (
              <rect
                class={s.band}
                x={x(i) - 7}
                width={14}
                y={y(high)}
                height={Math.max(2, y(low) - y(high))}
              />
            )}
            <rect
              class={s.grip}
              x={x(i) - 22}
              width={44}
              y={y(1)}
              height={y(0) - y(1)}
              onPointerDown={(event) => {
                event.currentTarget.setPointerCapture(event.pointerId)
                setFrom(placeOf(event))
              }}
              onPointerMove={(event) => drag(i, event)}
              onPointerUp={(event) => end(i, event)}
              onPointerCancel={() => setFrom(null)}
            />
          </g>
        )
      })}
    </svg>
  )
}

function Sliders({ axis, band, change }: { axis: Axis; band: Band; change: (band: Band) => void }) {
  const [low, high] = band
  const slider = (end: 'from' | 'to', value: number, set: (place: number) => void) => (
    <input
      type="range"
      min={0}
      max={STEPS}
      value={Math.round(value * STEPS)}
      aria-label={`${axis.name}, ${end}`}
      aria-valuetext={axis.shown(value)}
      onInput={(event) => set(Number((event.target as HTMLInputElement).value) / STEPS)}
    />
  )
  return (
    <div class={s.slider}>
      <span>
        {axis.name}: {axis.shown(low)} to {axis.shown(high)}
      </span>
      {slider('from', low, (place) => change([Math.min(place, high), high]))}
      {slider('to', high, (place) => change([low, Math.max(place, low)]))}
    </div>
  )
}
