// Curves of several runs over one axis of time, whatever markets and intervals they ran on.

import type { Backtest } from '../../wire/backtest.ts'
import { isFound, ofBacktest } from '../research/runs.ts'

type Column = readonly (number | null)[]

export interface RunCurve {
  readonly times: Column
  readonly equity: Column
}

/** Ids of the address `?runs=a,b`, each once. */
export const RUNS_MAX = 12
export const idsOf = (text: string | null): readonly string[] =>
  [...new Set((text ?? '').split(',').filter((id) => /^[\w-]{1,64}$/.test(id)))].slice(0, RUNS_MAX)

interface Span {
  readonly from: number
  readonly to: number
}

/** From the first bar of any run to the last of any; null = none has a bar. */
export function spanOf(curves: readonly RunCurve[]): Span | null {
  let [from, to] = [Infinity, -Infinity]
  for (const { times } of curves) {
    from = Math.min(from, times.find((time) => time !== null) ?? Infinity)
    to = Math.max(to, times.findLast((time) => time !== null) ?? -Infinity)
  }
  return from <= to ? { from, to } : null
}

/** A point of a curve on the way through a column of pixels. */
export type Point = ReturnType<typeof columnPoints>[number]

/**
 * What is drawn of a curve: of every column of pixels its first, lowest, highest and last value, in the order in which they
 * came, so that no spike is lost and no run of 200,000 bars takes longer than one of 2,000.
 */
export function pointsOf({ times, equity }: RunCurve, { from, to }: Span, width: number): readonly Point[] {
  const points: Point[] = []
  const span = to - from || 1
  let [column, begins] = [-1, 0]
  const close = (end: number) => {
    if (column >= 0) points.push(...columnPoints(equity, begins, end, column))
  }
  for (let i = 0; i < equity.length; i++) {
    const time = times[i]
    if (time === null || time === undefined) continue
    const at = Math.round(((time - from) / span) * width)
    if (at === column) continue
    close(i)
    ;[column, begins] = [at, i]
  }
  close(equity.length)
  return points
}

function columnPoints(equity: Column, begins: number, end: number, x: number) {
  const [first, last] = [begins, end - 1]
  let [low, high] = [-1, -1]
  for (let i = begins; i < end; i++) {
    const value = equity[i]
    if (value === null || value === undefined) continue
    if (low < 0 || value < equity[low]!) low = i
    if (high < 0 || value > equity[high]!) high = i
  }
  const kept = [...new Set([first, low, high, last])].toSorted((a, b) => a - b)
  return kept.flatMap((i) => {
    const value = equity[i]
    return value === null || value === undefined ? [] : [{ x, value }]
  })
}

/** The value that a run had at a time: that of its last bar by then; null before its first and behind its last. */
export function valueAt({ times, equity }: RunCurve, time: number): number | null {
  const last = times.findLast((one) => one !== null)
  if (last === null || last === undefined || time > last) return null
  let [low, high] = [0, times.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((times[middle] ?? -Infinity) <= time) low = middle + 1
    else high = middle
  }
  return low === 0 ? null : (equity[low - 1] ?? null)
}

/** Runs that can be added: done, not there yet, and with every word. */
export const offered = (
  all: readonly Backtest[],
  query: string,
  shown: readonly string[],
): readonly Backtest[] =>
  all.filter((one) => one.state === 'done' && !shown.includes(one.id) && isFound(ofBacktest(one), query))

/** Names of the inputs in which runs differ, which alone are worth telling. */
export function differingInputs(runs: readonly Pick<ToldApart, 'inputs'>[]): readonly string[] {
  const names = [...new Set(runs.flatMap(({ inputs }) => Object.keys(inputs)))]
  return names.filter((name) => new Set(runs.map(({ inputs }) => JSON.stringify(inputs[name]))).size > 1)
}

interface ToldApart {
  readonly name: string
  /** The series it ran on, as text. */
  readonly market: string
  readonly inputs: Readonly<Record<string, unknown>>
  /** When it was made, as text. */
  readonly made: string
}
/** How many inputs are told of a run; the table has the others. */
const TOLD_INPUTS_MAX = 3

/**
 * What tells each run from the others of its name, for the line below the name: its market, the inputs in which they differ,
 * and when it was made where that is not enough.
 */
export function toldApart(
  runs: readonly ToldApart[],
  valueText: (value: unknown) => string,
): readonly string[] {
  const withoutTime = runs.map((run) => {
    const names = differingInputs(runs.filter(({ name }) => name === run.name))
    const inputs = names
      .filter((name) => name in run.inputs)
      .slice(0, TOLD_INPUTS_MAX)
      .map((name) => `${name} ${valueText(run.inputs[name])}`)
    return [run.market, ...inputs].join(' · ')
  })
  const isShared = (i: number) =>
    withoutTime.some((text, j) => j !== i && text === withoutTime[i] && runs[j]!.name === runs[i]!.name)
  return withoutTime.map((text, i) => (isShared(i) ? `${text} · ${runs[i]!.made}` : text))
}
