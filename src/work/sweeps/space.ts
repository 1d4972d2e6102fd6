// What a sweep varies: inputs of a script and arguments of its strategy() line, each over values or a range, and conditions
// between them such as `fast < slow`.
//
// A sampler's point, a number from 0 to 1 for each axis, becomes a choice of values here. Conditions refer to the values by
// the names that the space gives them; a choice that breaks one is not tried.

import { settingRefusal } from '../../broker/setting-values.ts'
import { ExpressionError, isTrue, parseExpression, type Expression } from '../../lib/expression.ts'
import { invalidField, type Problem } from '../../lib/problem.ts'
import { tidy } from '../../lib/tidy.ts'
import type { SweepBody } from '../../wire/sweep.ts'
import type { Axis } from '../../broker/statistics/parzen.ts'

/** How many trials are made in one go if the sampler does not learn. */
export const BATCH = 200

export type Varied = SweepBody['space'][number]
export type Choice = NonNullable<Varied['values']>[number]
/** Values for each name of the space, trial by trial. */
export type Choices = readonly (readonly Choice[])[]

interface Point {
  readonly inputs: Readonly<Record<string, Choice>>
  readonly overrides: Readonly<Record<string, Choice>>
}

const VALUES_MAX = 100_000
/** On a logarithmic scale the values are listed one by one on the server's own thread, so their number is limited. */
const LOG_VALUES_MAX = 5000
/** These settings decide which bars a run needs, and all trials of a sweep run on the same ones. */
const FIXED_PROPERTIES = ['use_bar_magnifier', 'calc_bars_count', 'title', 'shorttitle']

interface Dimension {
  readonly name: string
  readonly kind: 'input' | 'property'
  readonly axis: Axis
  readonly at: (u: number) => Choice
}

export interface Space {
  readonly axes: readonly Axis[]
  readonly names: readonly string[]
  /** The number of choices before conditions; null = infinitely many. */
  readonly size: number | null
  /** The values at a point, in the order of `names`. */
  choose(point: Float64Array): readonly Choice[]
  /** Whether every condition holds. */
  allows(choices: readonly Choice[]): boolean
  pointOf(choices: readonly Choice[]): Point
}

/** Throws Problem 422 that names the field and the remedy. */
export function spaceOf(varied: readonly Varied[], conditions: readonly string[]): Space {
  if (varied.length === 0) throw invalidField('/space', 'required', 'Name at least one input to vary.')
  const dimensions = varied.map(dimensionOf)
  const names = dimensions.map(({ name }) => name)
  for (const [i, name] of names.entries())
    if (names.indexOf(name) !== i)
      throw invalidField(`/space/${i}`, 'duplicate', 'The space varies this twice. Name it once.')
  const where = conditions.map((text, i) => conditionOf(text, names, `/where/${i}`))
  const size = dimensions.reduce<number | null>(
    (product, { axis }) => (product === null || axis.count === null ? null : product * axis.count),
    1,
  )
  return {
    axes: dimensions.map(({ axis }) => axis),
    names,
    size,
    choose: (point) => dimensions.map(({ at }, i) => at(point[i]!)),
    allows(choices) {
      const lookup = (name: string) => choices[names.indexOf(name)] ?? null
      return where.every(({ evaluate }) => isTrue(evaluate(lookup)))
    },
    pointOf(choices) {
      const of = (kind: Dimension['kind']) =>
        Object.fromEntries(
          dimensions.flatMap((dimension, i) =>
            dimension.kind === kind ? [[dimension.name, choices[i]!]] : [],
          ),
        )
      return { inputs: of('input'), overrides: of('property') }
    },
  }
}

function dimensionOf(given: Varied, i: number): Dimension {
  const path = `/space/${i}`
  const { input, property, values } = given
  if ((input === undefined) === (property === undefined))
    throw invalidField(path, 'required', 'Name either an input or a property of strategy().')
  if (property !== undefined && FIXED_PROPERTIES.includes(property))
    throw invalidField(
      `${path}/property`,
      'fixed',
      'This is the same for all trials of a sweep. Set it in overrides.',
    )
  if (property !== undefined) assertSettings(property, given, path)
  const named = { name: input ?? property ?? '', kind: input === undefined ? 'property' : 'input' } as const
  if (values !== undefined) return { ...named, ...listOf(values, path) }
  return { ...named, ...rangeOf(given, path) }
}

/** Throws for values that the property does not take. A range with whole steps between whole ends is whole. */
function assertSettings(property: string, { values, min, max, step }: Varied, path: string): void {
  const given = values ?? [min, max, step === undefined ? undefined : (min ?? 0) + step]
  for (const value of given) {
    const takes = value === undefined ? null : settingRefusal(property, value)
    if (takes !== null) throw invalidField(path, 'setting', `${property} ${takes}.`)
  }
}

function listOf(values: readonly Choice[], path: string): Pick<Dimension, 'axis' | 'at'> {
  if (values.length === 0) throw invalidField(`${path}/values`, 'required', 'Give at least one value.')
  if (new Set(values).size < values.length)
    throw invalidField(`${path}/values`, 'duplicate', 'Give each value once.')
  const numbers = values.filter((value) => typeof value === 'number')
  const ordered =
    numbers.length === values.length && numbers.every((value, k) => k === 0 || value > numbers[k - 1]!)
  const count = values.length
  return { axis: { count, ordered }, at: (u) => values[Math.min(count - 1, Math.floor(u * count))]! }
}

function rangeOf({ min, max, step, log = false }: Varied, path: string): Pick<Dimension, 'axis' | 'at'> {
  if (min === undefined || max === undefined)
    throw invalidField(path, 'required', 'Give values, or min and max with a step.')
  if (!(max >= min)) throw invalidField(`${path}/max`, 'range', 'max must not be below min.')
  if (log && !(min > 0)) throw invalidField(`${path}/min`, 'range', 'A logarithmic range begins above 0.')
  if (!Number.isFinite(log ? max / min : max - min))
    throw invalidField(`${path}/max`, 'range', 'The range is too wide to count in.')
  if (step === undefined) {
    const at = (u: number) => tidy(log ? min * (max / min) ** u : min + (max - min) * u)
    return { axis: { count: max > min ? null : 1, ordered: true }, at }
  }
  if (!(step > 0)) throw invalidField(`${path}/step`, 'range', 'The step must be above 0.')
  const count = Math.floor((max - min) / step + 1e-9) + 1
  const most = log ? LOG_VALUES_MAX : VALUES_MAX
  if (count > most)
    throw invalidField(
      `${path}/step`,
      'range',
      `That would be more than ${most} values. Take larger steps${log ? ', or none' : ''}.`,
    )
  if (!log)
    return {
      axis: { count, ordered: true },
      at: (u) => stepped(min, step, Math.min(count - 1, Math.floor(u * count))),
    }
  // On a logarithmic scale the values are those nearest to evenly spread ones, each once.
  const spread = Array.from({ length: count }, (_, i) => {
    const wanted = min * (max / min) ** (count > 1 ? i / (count - 1) : 0)
    return stepped(min, step, Math.round((wanted - min) / step))
  })
  return listOf([...new Set(spread)], path)
}

/** Whole numbers are exact as they are, also times in milliseconds, which have 13 digits; 0 would keep all of its noise. */
function stepped(min: number, step: number, steps: number): number {
  const value = min + step * steps
  if (Number.isSafeInteger(value)) return value
  return Math.abs(value) < step * 1e-9 ? 0 : tidy(value)
}

function conditionOf(text: string, names: readonly string[], path: string): Expression {
  const parsed = expressionAt(text, path)
  const unknown = parsed.names.find((name) => !names.includes(name))
  if (unknown !== undefined)
    throw invalidField(
      path,
      'unknown_name',
      `A condition is about what the space varies: ${names.join(', ')}.`,
    )
  return parsed
}

/** Throws Problem 422 that names the field at `path`. */
export function expressionAt(text: string, path: string): Expression {
  try {
    return parseExpression(text)
  } catch (error) {
    throw error instanceof ExpressionError ? expressionProblem(error, path) : error
  }
}

function expressionProblem({ column, message }: ExpressionError, path: string): Problem {
  return invalidField(path, 'expression', `At character ${column}: ${message}`)
}
