// Parallel coordinates: every trial a line over the inputs and what came of them, and bands of the axes that choose lines.

import type { SweepTrial } from '../../wire/sweep.ts'
import { percent } from '../format.ts'
import { extentOf } from '../report/curve-scales.ts'
import { shownChoice, type Choice } from './sweep-model.ts'

export interface Axis {
  readonly name: string
  /** From 0 at the bottom to 1; null if the trial has no value. */
  readonly at: (trial: SweepTrial) => number | null
  /** A place on the axis as its value. */
  readonly shown: (place: number) => string
}

/** The lowest and the highest place that is chosen. */
export type Band = readonly [low: number, high: number]
export const WHOLE: Band = [0, 1]

/** Lines that are drawn of very many trials. */
const LINES_MAX = 2000

export function axesOf(names: readonly string[], trials: readonly SweepTrial[], drawdown: string): Axis[] {
  return [
    ...names.map((name, i) => axisOf(name, trials, ({ choices }) => choices[i]!)),
    numberAxis('Trades', trials, ({ figures }) => figures['trades']),
    numberAxis(drawdown, trials, ({ figures }) => figures['maxDrawdownPct'], percent),
    numberAxis('Score', trials, ({ score }) => score),
  ]
}

function axisOf(name: string, trials: readonly SweepTrial[], of: (trial: SweepTrial) => Choice): Axis {
  const values = trials.map(of)
  if (values.every((value) => typeof value === 'number'))
    return numberAxis(name, trials, (trial) => of(trial) as number)
  const distinct = [...new Set(values)]
  const last = Math.max(1, distinct.length - 1)
  const places = new Map(distinct.map((value, i) => [value, i / last]))
  return {
    name,
    at: (trial) => places.get(of(trial)) ?? null,
    shown: (place) => shownChoice(distinct[Math.round(place * last)] ?? distinct[0] ?? ''),
  }
}

function numberAxis(
  name: string,
  trials: readonly SweepTrial[],
  of: (trial: SweepTrial) => number | null | undefined,
  shown: (value: number) => string = shownChoice,
): Axis {
  const extent = extentOf(trials.map((trial) => of(trial) ?? null))
  const { low, high } = extent ?? { low: 0, high: 0 }
  return {
    name,
    at(trial) {
      const value = of(trial)
      if (value === null || value === undefined) return null
      return high > low ? (value - low) / (high - low) : 0.5
    },
    shown: (place) => (extent ? shown(low + place * (high - low)) : ''),
  }
}

/** Within all bands; a trial without a value on an axis is only chosen where its whole axis is. */
export function isChosen(trial: SweepTrial, axes: readonly Axis[], bands: readonly Band[]): boolean {
  return axes.every((axis, i) => {
    const [low, high] = bands[i] ?? WHOLE
    if (low === 0 && high === 1) return true
    const at = axis.at(trial)
    return at !== null && at >= low - EDGE && at <= high + EDGE
  })
}

/** What steps of a slider and of floats may be apart. */
const EDGE = 1e-3

/** The best, and of the others every n-th, so that an eye and a page can take them in. */
export function drawn(trials: readonly SweepTrial[]): readonly SweepTrial[] {
  if (trials.length <= LINES_MAX) return trials
  const sorted = trials.toSorted((a, b) => (b.score ?? -Infinity) - (a.score ?? -Infinity))
  const best = sorted.slice(0, LINES_MAX / 2)
  const others = sorted.slice(LINES_MAX / 2)
  const every = Math.ceil(others.length / (LINES_MAX / 2))
  return [...best, ...others.filter((_, i) => i % every === 0)]
}

/** All lines as one path; a line is broken where a trial has no value. */
export function linesOf(
  trials: readonly SweepTrial[],
  axes: readonly Axis[],
  place: (axis: number, at: number) => readonly [x: number, y: number],
): string {
  let path = ''
  for (const trial of trials) {
    let pen = 'M'
    for (const [i, axis] of axes.entries()) {
      const at = axis.at(trial)
      if (at === null) {
        pen = 'M'
        continue
      }
      const [x, y] = place(i, at)
      path += `${pen}${x.toFixed(0)} ${y.toFixed(1)}`
      pen = 'L'
    }
  }
  return path
}
