// Which overload a call means, and which argument goes to which parameter.
//
// Every overload is tried: arguments are put in their places, then compared by type. The one that fits with the fewest
// conversions wins. If none fits, the message comes from the one that got furthest.

import type { BuiltinFunction, Overload, ParameterSpec, ReturnSpec, TypeSpec } from '../builtins/registry.ts'
import type { Range } from '../source.ts'
import * as messages from '../messages/checking.ts'
import type { Message } from '../messages/message.ts'
import { asNumber, coerce, describe, fits, unify, wholeOrQuotient } from './convert.ts'
import { builtinByName } from './names.ts'
import type { Place } from './place.ts'
import type { Expr } from './program.ts'
import {
  ERROR,
  FLOAT,
  INT,
  isLater,
  QUOTIENT,
  isPrimitive,
  latest,
  typeText,
  type Qualifier,
  type Type,
} from './types.ts'
import type { Given } from './values.ts'
import { words } from '../../lib/words.ts'

interface Problem {
  readonly at: Range
  /** Created only if it is reported, since mostly another overload fits. */
  readonly message: () => Message
  /** How far the call got: of several problems, the furthest is reported. */
  readonly progress: number
}

interface Fit {
  readonly overload: Overload
  readonly places: readonly (Expr | null)[]
  readonly variables: ReadonlyMap<string, Type>
  readonly cost: number
  readonly problem: Problem | null
}

export interface Chosen {
  readonly overload: Overload
  /** In parameter order, converted, defaults filled in. */
  readonly args: readonly (Expr | null)[]
  readonly type: Type
  readonly qualifier: Qualifier
}

/** null = none fits, and the mistake has been reported. */
export function choose(
  here: Place,
  builtin: BuiltinFunction,
  given: readonly Given[],
  typeArguments: readonly Type[],
  node: Range,
): Chosen | null {
  let best: Fit | null = null
  for (const overload of builtin.overloads) {
    const fit = tryOverload(here, builtin.name, overload, given, typeArguments, node)
    if (best === null || better(fit, best)) best = fit
    // No call fits better than one without conversions.
    if (best.problem === null && best.cost === 0) break
  }
  if (best === null) return null
  if (best.problem !== null) {
    here.check.report(here, best.problem.at, best.problem.message())
    return null
  }
  const chosen = finish(here, builtin, best, node)
  // An argument with an error makes the choice of overload a guess, and its type too.
  const isGuess = builtin.overloads.length > 1 && given.some((one) => one.expr.type.kind === 'error')
  return isGuess && chosen.type.kind !== 'void' ? { ...chosen, type: ERROR } : chosen
}

interface Tried {
  readonly cost: number
  readonly problem: { readonly progress: number } | null
}

/** Whether a call fits `a` better than `b`. */
export function better(a: Tried, b: Tried): boolean {
  if (a.problem === null) return b.problem !== null || a.cost < b.cost
  return b.problem !== null && a.problem.progress > b.problem.progress
}

function tryOverload(
  here: Place,
  name: string,
  overload: Overload,
  given: readonly Given[],
  typeArguments: readonly Type[],
  node: Range,
): Fit {
  const { parameters } = overload
  const placed = place(here, name, parameters, given, node)
  const variables = new Map<string, Type>()
  bindTypeArguments(overload.returns, typeArguments, variables)
  let cost = 0
  let problem = placed.problem
  for (let i = 0; i < placed.places.length; i++) {
    const expr = placed.places[i] ?? null
    const parameter = parameters[Math.min(i, parameters.length - 1)]
    if (expr === null || parameter === undefined) continue
    const conversion = compare(here, parameter, expr, variables)
    if (conversion !== null) {
      cost += conversion
      continue
    }
    const message = () =>
      messages.argumentType(name, parameter.name, specText(parameter, variables), describe(expr))
    if (problem === null || problem.progress < 100 + i) problem = { at: expr, message, progress: 100 + i }
    break
  }
  // v4's own checks of `simple` are not documented; they let more through than v5's.
  if (problem === null && here.unit.version > 4)
    problem = qualifierProblem(here, name, parameters, placed.places)
  return { overload, places: placed.places, variables, cost, problem }
}

function place(
  here: Place,
  name: string,
  parameters: readonly ParameterSpec[],
  given: readonly Given[],
  node: Range,
): { places: (Expr | null)[]; problem: Problem | null } {
  const places: (Expr | null)[] = parameters.map(() => null)
  let problem: Problem | null = null
  const note = (at: Range, message: Message, progress: number): void => {
    problem ??= { at, message: () => message, progress }
  }
  let position = 0
  let named = false
  const isVariadic = parameters.at(-1)?.variadic === true
  for (const one of given) {
    if (one.name === null) {
      if (named) {
        note(one.expr, messages.positionalAfterNamed(), 50)
        continue
      }
      if (position < parameters.length || isVariadic) places[position++] = one.expr
      else note(one.expr, messages.tooManyArguments(name, parameters.length, given.length), 10)
      continue
    }
    named = true
    const index = parameters.findIndex((parameter) => parameter.name === one.name)
    if (index < 0) {
      const near = here.check.suggest(
        one.name,
        parameters.map((parameter) => parameter.name),
      )
      note(one.expr, messages.unknownArgument(name, one.name, near), 20)
    } else if (places[index] === null) places[index] = one.expr
    // Up to v5 the first of them counts ("To Pine Script version 6", "Cannot repeat parameters").
    else if (here.unit.version === 6) note(one.expr, messages.duplicateArgument(name, one.name), 60)
  }
  for (let i = 0; i < parameters.length; i++) {
    const parameter = parameters[i]!
    if (parameter.required && (!parameter.variadic || given.length === 0) && places[i] === null)
      note(node, messages.missingArgument(name, parameter.name), 30)
  }
  if (isVariadic && places.at(-1) === null) places.pop()
  return { places, problem }
}

const SHIFTED = /^(plot|bgcolor|barcolor)/

function qualifierProblem(
  here: Place,
  name: string,
  parameters: readonly ParameterSpec[],
  places: readonly (Expr | null)[],
): Problem | null {
  for (let i = 0; i < places.length; i++) {
    const expr = places[i] ?? null
    const parameter = parameters[Math.min(i, parameters.length - 1)]
    if (expr === null || parameter === undefined || expr.type.kind === 'error') continue
    if (!isLater(expr.qualifier, parameter.qualifier)) continue
    // What is drawn could be shifted by another number on each bar up to v5; the last one counts.
    if (parameter.name === 'offset' && SHIFTED.test(name) && here.unit.version < 6) continue
    const expected = `${parameter.qualifier} ${parameter.types.map((one) => typeSpecText(one)).join(' or ')}`
    return {
      at: expr,
      message: () => messages.argumentQualifier(name, parameter.name, expected, describe(expr)),
      progress: 200 + i,
    }
  }
  return null
}

/** How many conversions the value needs to fit; null = it does not fit. */
function compare(
  here: Place,
  parameter: ParameterSpec,
  expr: Expr,
  variables: Map<string, Type>,
): number | null {
  let best: number | null = null
  for (const spec of parameter.types) {
    const cost = match(here, spec, expr.type, variables)
    if (cost !== null && (best === null || cost < best)) best = cost
    if (best === 0) break
  }
  return best
}

function match(here: Place, spec: TypeSpec, type: Type, variables: Map<string, Type>): number | null {
  if (type.kind === 'error') return 0
  if (type.kind === 'void') return null
  switch (spec.kind) {
    case 'any':
      return isDrawnLine(type) ? null : 2
    case 'variable': {
      if (isDrawnLine(type)) return null
      const bound = variables.get(spec.name)
      if (bound === undefined) {
        variables.set(spec.name, type)
        return 1
      }
      const both = unify(here, bound, type)
      if (both === null) return null
      if (
        bound.kind === 'na' ||
        (bound.kind === 'int' && type.kind === 'float' && !isFixed(variables, spec.name))
      )
        variables.set(spec.name, both)
      else if (!fits(here, type, bound)) return null
      return 1
    }
    case 'array':
    case 'matrix':
      if (type.kind === 'na') return 3
      if (type.kind !== spec.kind) return null
      return matchInside(here, spec.of, type.of, variables)
    case 'map': {
      if (type.kind === 'na') return 3
      if (type.kind !== 'map') return null
      const key = matchInside(here, spec.key, type.key, variables)
      return key === null ? null : matchInside(here, spec.value, type.value, variables)
    }
    default: {
      if (type.kind === spec.kind) return 0
      // Up to v5 a bool may be plotted or counted with.
      if (type.kind === 'bool' && spec.kind === 'float' && here.unit.version < 6) return 5
      if (!fits(here, type, spec)) return null
      return type.kind === 'na' ? 3 : type.kind === 'int' ? (spec.kind === 'float' ? 1 : 4) : 4
    }
  }
}

/** Only fill() can use what plot() and hline() return. */
function isDrawnLine(type: Type): boolean {
  return type.kind === 'plot' || type.kind === 'hline'
}

/** Inside a collection types are equal or do not fit: an array of ints is no array of floats. */
function matchInside(here: Place, spec: TypeSpec, type: Type, variables: Map<string, Type>): number | null {
  if (spec.kind === 'variable') {
    const bound = variables.get(spec.name)
    variables.set(spec.name, type)
    variables.set(`${spec.name} fixed`, type)
    return bound === undefined || unify(here, bound, type) !== null ? 0 : null
  }
  // A built-in that reads an array of floats reads one of ints as well.
  const cost = match(here, spec, type, variables)
  return cost === null || cost > 2 ? null : cost
}

/** Determined by a collection or in <>, so that a value cannot widen it. */
function isFixed(variables: ReadonlyMap<string, Type>, name: string): boolean {
  return variables.has(`${name} fixed`)
}

function bindTypeArguments(returns: ReturnSpec, given: readonly Type[], variables: Map<string, Type>): void {
  if (given.length === 0) return
  const names: string[] = []
  const walk = (spec: TypeSpec | ReturnSpec['type']): void => {
    if (spec.kind === 'variable' && !names.includes(spec.name)) names.push(spec.name)
    else if (spec.kind === 'array' || spec.kind === 'matrix') walk(spec.of)
    else if (spec.kind === 'map') {
      walk(spec.key)
      walk(spec.value)
    }
  }
  walk(returns.type)
  for (const [i, name] of names.entries()) {
    const type = given[i]
    if (type === undefined) continue
    variables.set(name, type)
    variables.set(`${name} fixed`, type)
  }
}

function finish(here: Place, builtin: BuiltinFunction, fit: Fit, node: Range): Chosen {
  const { overload, places, variables } = fit
  const { parameters, returns } = overload
  let qualifier: Qualifier = returns.qualifier ?? 'const'
  const args = places.map((expr, i) => {
    const parameter = parameters[Math.min(i, parameters.length - 1)]
    if (parameter === undefined) return expr
    if (expr === null) return defaultArgument(here, parameter, variables, node)
    if (returns.qualifier === null) qualifier = latest(qualifier, expr.qualifier)
    return asArgument(expr, wanted(here, parameter, expr, variables))
  })
  const made = substitute(returns.type, variables)
  const isOfInts = OF_INTS.has(builtin.name) && isIntCollection(places[0]?.type)
  const type =
    made.kind === 'float' && (isOfInts || keepsQuotients(builtin, overload, places)) ? QUOTIENT : made
  // Objects change from bar to bar, whatever they were made of.
  return {
    overload,
    args,
    type,
    qualifier: isPrimitive(type) || returns.qualifier !== null ? qualifier : 'series',
  }
}

/** TradingView gives these the type int for collections of ints, though they keep their fraction. */
const OF_INTS: ReadonlySet<string> = new Set(
  words(
    'array.avg array.percentile_linear_interpolation array.percentrank array.stdev array.variance',
    'matrix.avg matrix.det matrix.trace',
  ),
)

function isIntCollection(type: Type | undefined): boolean {
  return (type?.kind === 'array' || type?.kind === 'matrix') && type.of.kind === 'int'
}

/** `math.max(1, length / 2)` fits wherever `length / 2` does: it counts as an int. */
function keepsQuotients(
  builtin: BuiltinFunction,
  chosen: Overload,
  places: readonly (Expr | null)[],
): boolean {
  if (!places.some((expr) => expr?.type === QUOTIENT)) return false
  return builtin.overloads.some(
    ({ parameters, returns }) =>
      returns.type.kind === 'int' &&
      parameters.length === chosen.parameters.length &&
      places.every((expr, i) => {
        const parameter = parameters[Math.min(i, parameters.length - 1)]
        if (expr === null || !parameter?.types.some((spec) => spec.kind === 'int')) return expr === null
        return wholeOrQuotient(expr.type)
      }),
  )
}

function asArgument(expr: Expr, type: Type): Expr {
  if (type.kind === 'int' && expr.type.kind === 'float') {
    return {
      kind: 'Convert',
      operand: expr,
      type: INT,
      qualifier: expr.qualifier,
      start: expr.start,
      end: expr.end,
    }
  }
  return type.kind === 'float' ? coerce(asNumber(expr), type) : coerce(expr, type)
}

function wanted(
  here: Place,
  parameter: ParameterSpec,
  expr: Expr,
  variables: ReadonlyMap<string, Type>,
): Type {
  const types = parameter.types.map((spec) => substitute(spec, variables))
  const same = types.find((type) => type.kind === expr.type.kind)
  const fitting = same ?? types.find((type) => type.kind !== 'error' && fits(here, expr.type, type))
  if (fitting !== undefined) return fitting
  return expr.type.kind === 'bool' && types.some((type) => type.kind === 'float') ? FLOAT : expr.type
}

function defaultArgument(
  here: Place,
  parameter: ParameterSpec,
  variables: ReadonlyMap<string, Type>,
  node: Range,
): Expr | null {
  const value = parameter.default
  if (value === undefined) return null
  const at = { start: node.end, end: node.end }
  if (typeof value === 'object' && value !== null) return builtinByName(here, value.name, at)
  const spec = parameter.types[0]
  const type = spec === undefined ? ERROR : substitute(spec, variables)
  return { kind: 'Const', value, type, qualifier: 'const', ...at }
}

export function substitute(spec: TypeSpec | ReturnSpec['type'], variables: ReadonlyMap<string, Type>): Type {
  switch (spec.kind) {
    case 'variable':
      return variables.get(spec.name) ?? ERROR
    case 'any':
      return ERROR
    case 'array':
    case 'matrix':
      return { kind: spec.kind, of: substitute(spec.of, variables) }
    case 'map':
      return { kind: 'map', key: substitute(spec.key, variables), value: substitute(spec.value, variables) }
    case 'tuple':
      return { kind: 'tuple', items: spec.items.map((item) => substitute(item, variables)) }
    default:
      return spec
  }
}

function specText(parameter: ParameterSpec, variables: ReadonlyMap<string, Type>): string {
  return parameter.types.map((spec) => typeSpecText(spec, variables)).join(' or ')
}

function typeSpecText(spec: TypeSpec, variables: ReadonlyMap<string, Type> = new Map()): string {
  switch (spec.kind) {
    case 'variable': {
      const bound = variables.get(spec.name)
      return bound === undefined ? 'any type' : typeText(bound)
    }
    case 'any':
      return 'any type'
    case 'array':
    case 'matrix':
      return `${spec.kind}<${typeSpecText(spec.of, variables)}>`
    case 'map':
      return `map<${typeSpecText(spec.key, variables)}, ${typeSpecText(spec.value, variables)}>`
    default:
      return typeText(spec)
  }
}
