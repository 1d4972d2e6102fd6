// Which values of a script's inputs an export may have been made with: an export says nothing of them, so they are guessed, and
// the best guess is then narrowed down.

import type { InputView } from '../../language/runtime/inputs.ts'
import type { ExplainedChange } from './change.ts'

/** Numbers that people set. */
const USUAL = [1, 2, 3, 4, 5, 7, 8, 9, 10, 12, 13, 14, 15, 20, 21, 25, 26, 30, 34, 50, 55, 80, 100, 144, 200]
const FACTORS = [0.5, 0.8, 0.9, 1.1, 1.25, 1.5, 2, 3]
/** The most values of one input in a row. */
const VALUES_MAX = 24
/** The most inputs that are tried, those that the script names first. */
const INPUTS_MAX = 20
const SOURCES = ['open', 'high', 'low', 'close', 'hl2', 'hlc3', 'ohlc4']

type Value = number | string | boolean

/** The likely values of each input, in the order of the script; those it has now are left out. */
export function likelyInputs(
  views: readonly InputView[],
  now: Readonly<Record<string, unknown>>,
): ExplainedChange[] {
  return views.slice(0, INPUTS_MAX).flatMap((view) => {
    const value = now[view.label] ?? view.default
    return valuesOf(view, value)
      .filter((one) => one !== value)
      .slice(0, VALUES_MAX)
      .map((one) => inputChange(view.label, one))
  })
}

/** Values of the same input between its best value and those tried beside it. */
export function narrowedInputs(view: InputView, best: number, tried: readonly number[]): ExplainedChange[] {
  const sorted = [...new Set(tried)].sort((a, b) => a - b)
  const [low, high] = [sorted.findLast((one) => one < best), sorted.find((one) => one > best)]
  const reach = Math.max(best - (low ?? best), (high ?? best) - best)
  const [from, to] = [low ?? best - reach, high ?? best + reach]
  const count = view.kind === 'int' ? Math.min(12, to - from) : 12
  return Array.from({ length: Math.max(0, count - 1) }, (_, i) => from + ((i + 1) * (to - from)) / count)
    .map((one) => (view.kind === 'int' ? Math.round(one) : Number(one.toPrecision(3))))
    .filter((one, i, all) => !tried.includes(one) && all.indexOf(one) === i && isAllowed(view, one))
    .map((one) => inputChange(view.label, one))
}

function inputChange(label: string, value: Value): ExplainedChange {
  return { kind: 'inputs', message: `The input "${label}" ${String(value)}`, inputs: { [label]: value } }
}

function valuesOf(view: InputView, value: unknown): Value[] {
  const { kind, options } = view
  if (typeof value === 'boolean') return [!value]
  if (options !== null) return [...options]
  if (kind === 'source') return SOURCES
  if (typeof value !== 'number' || (kind !== 'int' && kind !== 'float')) return []
  const step = view.step ?? (kind === 'int' ? 1 : 10 ** Math.floor(Math.log10(Math.abs(value) || 1)) / 10)
  const near = [1, -1, 2, -2, 3, -3].map((steps) => value + steps * step)
  const scaled = FACTORS.map((factor) => value * factor)
  const usual = USUAL.toSorted(
    (a, b) => Math.abs(Math.log(a / (value || 1))) - Math.abs(Math.log(b / (value || 1))),
  )
  const all = [...near.slice(0, 4), ...scaled, ...usual.slice(0, 10), ...near.slice(4)]
  return [
    ...new Set(all.map((one) => (kind === 'int' ? Math.round(one) : Number(one.toPrecision(4))))),
  ].filter((one) => isAllowed(view, one) && (value < 0 || one >= 0))
}

function isAllowed({ minval, maxval, options }: InputView, value: number): boolean {
  return options === null && value >= (minval ?? -Infinity) && value <= (maxval ?? Infinity)
}
