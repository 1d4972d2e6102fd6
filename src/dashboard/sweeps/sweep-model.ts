// The logic behind the pages of sweeps: suggested ranges, the request, and the map of the scores.

import { dayToRepeat } from '../../language/behaviour.ts'
import type { Input as ScriptInput } from '../../wire/script.ts'
import { ExpressionError, isTrue, parseExpression } from '../../lib/expression.ts'
import { count, counted, ratio } from '../format.ts'
import { extentOf } from '../report/curve-scales.ts'
import type { Sweep, SweepBody, SweepTrial } from '../../wire/sweep.ts'

export type Varied = SweepBody['space'][number]
export type Choice = SweepTrial['choices'][number]

/** An amount of money has cents; a ratio needs more. */
export const scoreText = (score: number | null | undefined): string =>
  ratio(score, Math.abs(score ?? 0) >= 10 ? 2 : 4)

/** A row of the form: an input, whether it is varied, and its values as typed. */
export interface VariedRow {
  readonly input: ScriptInput
  /** The name of an argument of strategy(), if the row is for one instead of an input. */
  readonly property?: string
  readonly on: boolean
  readonly kind: 'range' | 'values'
  readonly min: string
  readonly max: string
  readonly step: string
  /** Values separated by commas. */
  readonly values: string
}

/** Roughly how many values are suggested for an input: two inputs then make a map that can be taken in at a glance. */
const SUGGESTED = 9
const SOURCES = 'open, high, low, close, hl2, hlc3, ohlc4, hlcc4'

/** The inputs that can be varied; the first two numbers are switched on at first. */
export function rowsOf(inputs: readonly ScriptInput[]): VariedRow[] {
  let numbers = 0
  return inputs
    .flatMap((input) => suggestion(input) ?? [])
    .map((row) => ({ ...row, on: row.kind === 'range' && ++numbers <= 2 }))
}

/** The arguments of strategy() that are varied most, over usual values. */
export function propertyRows(): VariedRow[] {
  return PROPERTIES.map(([property, label, kind, min, max, step]) => ({
    input: { ...PROPERTY_INPUT, label, kind },
    property,
    on: false,
    kind: 'range',
    min,
    max,
    step,
    values: '',
  }))
}

const PROPERTIES = [
  ['pyramiding', 'Pyramiding', 'int', '0', '3', '1'],
  ['default_qty_value', 'Order size', 'float', '1', '10', '1'],
  ['commission_value', 'Commission', 'float', '0', '0.2', '0.05'],
  ['slippage', 'Slippage, ticks', 'int', '0', '4', '1'],
  ['margin_long', 'Margin of longs, %', 'float', '0', '100', '25'],
  ['margin_short', 'Margin of shorts, %', 'float', '0', '100', '25'],
] as const
const PROPERTY_INPUT = {
  default: 0,
  minval: null,
  maxval: null,
  step: null,
  options: null,
  tooltip: '',
  group: '',
  inline: '',
  active: true,
} as const

function suggestion(input: ScriptInput): VariedRow | null {
  const empty = { input, on: false, min: '', max: '', step: '', values: '' }
  if (input.options) return { ...empty, kind: 'values', values: input.options.join(', ') }
  if (input.kind === 'bool') return { ...empty, kind: 'values', values: 'true, false' }
  if (input.kind === 'source') return { ...empty, kind: 'values', values: SOURCES }
  const { default: usual, minval, maxval } = input
  if (!isNumeric(input) || typeof usual !== 'number') return null
  const isWhole = input.kind === 'int'
  const reach = usual === 0 ? (isWhole ? 10 : 1) : Math.abs(usual)
  const step = input.step ?? niceStep((1.5 * reach) / (SUGGESTED - 1), isWhole)
  // On the grid of the step, and never below the input's minimum.
  const onGrid = (value: number) => tidy(Math.round(value / step) * step)
  const from = usual === 0 ? 0 : usual - reach / 2
  const min = Math.max(minval ?? -Infinity, isWhole && usual > 0 ? Math.max(1, onGrid(from)) : onGrid(from))
  const max = Math.min(maxval ?? Infinity, onGrid(usual + reach))
  return { ...empty, kind: 'range', min: String(min), max: String(Math.max(min, max)), step: String(step) }
}

/** A step of 1, 2 or 5 times a power of ten. */
function niceStep(about: number, isWhole: boolean): number {
  const power = 10 ** Math.floor(Math.log10(about))
  const part = about / power
  const nice = tidy((part < 1.5 ? 1 : part < 3.5 ? 2 : part < 7.5 ? 5 : 10) * power)
  return isWhole ? Math.max(1, Math.round(nice)) : nice
}

const tidy = (value: number) => Number(value.toPrecision(10))

/** The part of the request that a row stands for. */
export function variedOf({ input, property, kind, min, max, step, values }: VariedRow): Varied {
  const name = property === undefined ? { input: input.label } : { property }
  if (kind === 'values') return { ...name, values: listOf(values, input) }
  return { ...name, min: Number(min), max: Number(max), ...(step.trim() !== '' && { step: Number(step) }) }
}

const partsOf = (text: string): readonly string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')

const listOf = (text: string, input: ScriptInput): Choice[] =>
  partsOf(text).map((part) =>
    input.kind === 'bool' ? part === 'true' : isNumeric(input) ? Number(part) : part,
  )

export type RowPart = 'min' | 'max' | 'step' | 'values'
type RowProblem = { readonly part: RowPart; readonly text: string } | null

const isNumeric = ({ kind }: ScriptInput) => ['int', 'float', 'price'].includes(kind)

/** Which field of a row cannot be sent, and why; null if all can. The bounds are those of the script's input. */
export function rowProblem({ input, kind, min, max, step, values }: VariedRow): RowProblem {
  if (kind === 'values') {
    if (values.trim() === '') return { part: 'values', text: 'Name at least one value.' }
    const parts = isNumeric(input) ? partsOf(values) : []
    const text = parts.map((part) => valueProblem(part, input)).find((one) => one !== null)
    return text ? { part: 'values', text } : null
  }
  const from = min.trim() === '' ? 'Say from where.' : valueProblem(min, input)
  if (from !== null) return { part: 'min', text: from }
  const to = max.trim() === '' ? 'Say to where.' : valueProblem(max, input)
  if (to !== null) return { part: 'max', text: to }
  if (Number(max) < Number(min))
    return { part: 'max', text: `The end, ${max.trim()}, is below the start, ${min.trim()}.` }
  if (step.trim() !== '' && !(Number(step) > 0))
    return { part: 'step', text: `The step must be above 0, not ${step.trim()}.` }
  if (input.kind === 'int' && !Number.isInteger(Number(step)))
    return { part: 'step', text: 'The script takes whole numbers: so is the step.' }
  return null
}

/** Why the script does not take a number as typed. */
function valueProblem(text: string, { kind, minval, maxval }: ScriptInput): string | null {
  const value = Number(text)
  if (text.trim() === '' || !Number.isFinite(value)) return `“${text.trim()}” is no number.`
  if (kind === 'int' && !Number.isInteger(value))
    return `The script takes whole numbers here, not ${text.trim()}.`
  if (minval !== null && value < minval) return `The script takes ${minval} or more here, not ${text.trim()}.`
  if (maxval !== null && value > maxval) return `The script takes ${maxval} or less here, not ${text.trim()}.`
  return null
}

/** The number of combinations; null = infinitely many. */
export function choicesOf(rows: readonly VariedRow[]): number | null {
  return rows
    .filter(({ on }) => on)
    .reduce<number | null>((product, row) => {
      const count = valuesOf(row)
      return product === null || count === null ? null : product * count
    }, 1)
}

function valuesOf({ kind, min, max, step, values, input }: VariedRow): number | null {
  if (kind === 'values') return listOf(values, input).length
  if (step.trim() === '') return null
  return Math.max(1, Math.floor((Number(max) - Number(min)) / Number(step) + 1e-9) + 1)
}

/** More combinations are not counted while a form is typed in. */
const COUNTED_MAX = 100_000

/** How many combinations a condition leaves; null where the form cannot tell: too many, a half-typed or wrong condition. */
export function allowedOf(rows: readonly VariedRow[], where: string): number | null {
  const size = choicesOf(rows)
  if (size === null || where.trim() === '') return size
  const chosen = rows.filter(({ on }) => on)
  const names = chosen.map((row) => nameOf(variedOf(row)))
  const condition = expressionOf(where)
  if (size > COUNTED_MAX || !condition?.names.every((name) => names.includes(name))) return null
  const lists = chosen.map((row): readonly Choice[] => {
    const { values, min = 0, step = 0 } = variedOf(row)
    return values ?? Array.from({ length: valuesOf(row) ?? 0 }, (_, i) => tidy(min + step * i))
  })
  let allowed = 0
  for (let at = 0; at < size; at++) {
    let rest = at
    const choices = lists.map((list) => {
      const choice = list[rest % list.length]!
      rest = Math.floor(rest / list.length)
      return choice
    })
    allowed += Number(isTrue(condition.evaluate((name) => choices[names.indexOf(name)] ?? null)))
  }
  return allowed
}

function expressionOf(text: string) {
  try {
    return parseExpression(text)
  } catch (error) {
    if (error instanceof ExpressionError) return null
    throw error
  }
}

interface Planned {
  readonly size: number | null
  readonly allowed: number | null
  readonly isGrid: boolean
  /** What a sampler other than the grid is asked for. */
  readonly trials: number
  readonly bars: number
  /** Whether the last 30% of the bars are held back. */
  readonly isHeldOut: boolean
  /** Bars of the series that are cached; null where it is built from another, or not known. */
  readonly cached: number | null
}

/** What the form would start: `72 trials, on the first 70% of all 5,105 bars.` */
export function plannedText({ size, allowed, isGrid, trials, bars, isHeldOut, cached }: Planned): string {
  const many = (number: number) => counted(number, 'trial')
  const which =
    cached === null
      ? `the last ${count(bars)} bars, or all if there are fewer`
      : cached <= bars
        ? `all ${count(cached)} bars`
        : `the last ${count(bars)} bars`
  const on = `on ${isHeldOut ? 'the first 70% of ' : ''}${which}`
  if (!isGrid) {
    const of = allowed ?? size
    return `${many(of === null ? trials : Math.min(trials, of))}${of === null ? '' : ` of ${count(of)} combinations`}, ${on}.`
  }
  if (allowed === null) return `At most ${many(size ?? 0)}, fewer by the condition, ${on}.`
  const left = allowed === size ? '' : ` of ${count(size)} combinations, as the condition leaves`
  return `${many(allowed)}${left}, ${on}.`
}

/** Names of the rows in place of their numbers in a refusal: `/space/0/step` → `/Fast, step`. */
export function inRows<P extends { readonly path: string }>(
  fields: readonly P[],
  rows: readonly VariedRow[],
): P[] {
  return fields.map((field) => {
    const [, at, part] = /^\/space\/(\d+)(?:\/(\w+))?/.exec(field.path) ?? []
    const label = at === undefined ? undefined : rows[Number(at)]?.input.label.replaceAll('/', ' ')
    return label === undefined ? field : { ...field, path: `/${label}${part ? `, ${part}` : ''}` }
  })
}

export const nameOf = ({ input, property }: Varied): string => input ?? property ?? ''

/** With more values than this, neighbouring numbers share a cell. */
const CELLS_MAX = 16

export type Heat = ReturnType<typeof heatOf>

/** Scores over one or two of the inputs (`across`, and `down` if any); a cell has the best or the median of its trials. */
export function heatOf(
  trials: readonly SweepTrial[],
  across: number,
  down: number | null,
  of: 'best' | 'median',
) {
  const scored = trials.filter((trial): trial is SweepTrial & { score: number } => trial.score !== null)
  const columns = scaleOf(trials.map(({ choices }) => choices[across]!))
  const rows = scaleOf(down === null ? [''] : trials.map(({ choices }) => choices[down]!))
  const groups = Map.groupBy(
    scored,
    ({ choices }) => `${rows.at(down === null ? '' : choices[down]!)} ${columns.at(choices[across]!)}`,
  )
  // By row and column; null if no trial there has a score. A cell leads to its best trial.
  const cells = rows.names.map((_row, y) =>
    columns.names.map((_column, x) => {
      const group = groups.get(`${y} ${x}`)
      if (!group) return null
      const sorted = group.toSorted((a, b) => b.score - a.score)
      const shown = of === 'best' ? sorted[0]! : sorted[Math.floor(sorted.length / 2)]!
      return { score: shown.score, trial: sorted[0]!.trial, count: group.length }
    }),
  )
  const scores = cells.flat().flatMap((cell) => cell?.score ?? [])
  const [least, most] = [Math.min(...scores), Math.max(...scores)]
  return { columns: columns.names, rows: rows.names, cells, least, most }
}

/** The values of one input in order; if there are many numbers, in groups. */
function scaleOf(values: readonly Choice[]) {
  const distinct = [...new Set(values)]
  const isNumbers = distinct.every((value) => typeof value === 'number')
  const sorted = isNumbers ? distinct.toSorted((a, b) => a - b) : distinct
  const size = Math.max(1, Math.ceil(sorted.length / CELLS_MAX))
  const places = new Map(sorted.map((value, i) => [value, Math.floor(i / size)]))
  const names = [...Map.groupBy(sorted, (value) => places.get(value)).values()].map((group) =>
    group.length === 1 ? shownChoice(group[0]!) : `${shownChoice(group[0]!)}–${shownChoice(group.at(-1)!)}`,
  )
  return { names, at: (value: Choice): number => places.get(value) ?? -1 }
}

export const shownChoice = (value: Choice): string =>
  String(typeof value === 'number' ? Number(value.toPrecision(6)) : value)

/** A trial as a backtest of its own, with exactly what the sweep ran. */
export function trialRun(sweep: Sweep, { trial, choices }: SweepTrial) {
  const { source = '', name, exchange, symbol, interval, bars, inputs, overrides, asOf } = sweep
  const chosen = (kind: 'input' | 'property') =>
    Object.fromEntries(
      sweep.space.flatMap((varied, i) => (varied[kind] === undefined ? [] : [[varied[kind], choices[i]!]])),
    )
  return {
    name: `${name}, trial ${trial}`,
    exchange,
    symbol,
    interval,
    bars,
    source,
    inputs: { ...inputs, ...chosen('input') },
    overrides: { ...(overrides as Record<string, string | number | boolean>), ...chosen('property') },
    asOf: dayToRepeat(asOf),
  }
}

export interface Bounds {
  readonly x: (time: number) => number
  readonly y: (value: number) => number
}

/** The scales of a picture that shows all of these times and values. */
export function boundsOf(
  times: readonly number[],
  values: readonly number[],
  { width, height }: { readonly width: number; readonly height: number },
): Bounds {
  const across = extentOf(times)!
  const up = extentOf(values)!
  // A little room, so that no line lies on the edge.
  const room = 0.04 * height
  return {
    x: (time) => (width * (time - across.low)) / (across.high - across.low || 1),
    y: (value) => height - room - ((height - 2 * room) * (value - up.low)) / (up.high - up.low || 1),
  }
}

export function lineOf(times: readonly number[], values: readonly number[], { x, y }: Bounds): string {
  return times
    .map((time, i) => `${i === 0 ? 'M' : 'L'}${x(time).toFixed(1)} ${y(values[i]!).toFixed(1)}`)
    .join('')
}
