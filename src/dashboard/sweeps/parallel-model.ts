// Parallel coordinates: every trial a line over the inputs and what came of them, and bands of the axes that choose lines.

import type { SweepTrial } from '../../wire/sweep.ts'
import { percent } from '../format.ts'
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
    ...names.map((name, i) =>
      axisOf(
        name,
        trials.map(({ choices }) => choices[i]!),
        ({ choices }) => choices[i]!,
      ),
    ),
    figureAxis('Trades', trials, ({ figures }) => figures['trades']),
    figureAxis(
      drawdown,
      trials,
      ({ figures }) => figures['maxDrawdownPct'],
      (value) => percent(value),
    ),
    figureAxis('Score', trials, ({ score }) => score),
  ]
}

function axisOf(name: string, values: readonly Choice[], of: (trial: SweepTrial) => Choice): Axis {
  if (values.every((value) => typeof value === 'number'))
    return numberAxis(name, values, (trial) => of(trial) as number, shownChoice)
  const distinct = [...new Set(values)]
  const last = Math.max(1, distinct.length - 1)
  const places = new Map(distinct.map((value, i) => [value, i / last]))
  return {
    name,
    at: (trial) => places.get(of(trial)) ?? null,
    shown: (place) => shownChoice(distinct[Math.round(place * last)] ?? distinct[0] ?? ''),
  }
}

function figureAxis(
  name: string,
  trials: readonly SweepTrial[],
  of: (trial: SweepTrial) => number | null | undefined,
  shown: (value: number) => string = shownChoice,
): Axis {
  const values = trials.map(of).filter((value): value is number => typeof value === 'number')
  return numberAxis(name, values, of, shown)
}

function numberAxis(
  name: string,
  values: readonly number[],
  of: (trial: SweepTrial) => number | null | undefined,
  shown: (value: number) => string,
): Axis {
  const least = values.reduce((one, value) => Math.min(one, value), Infinity)
  const most = values.reduce((one, value) => Math.max(one, value), -Infinity)
  return {
    name,
    at(trial) {
      const value = of(trial)
      if (value === null || value === undefined) return null
      return most > least ? (value - least) / (most - least) : 0.5
    },
    shown: (place) => (values.length === 0 ? '' : shown(least + place * (most - least))),
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
