// User functions: templates, checked once for each list of argument types they are called with.

import type * as tree from '../1-parse/tree.ts'
import type { Range } from '../source.ts'
import * as messages from '../messages/checking.ts'
import type { Message } from '../messages/message.ts'
import { body } from './blocks.ts'
import { ALL_COPIES_MAX, COPIES_MAX, TYPE_LETTERS_MAX } from './caps.ts'
import { known } from './constant.ts'
import { coerce, describe, fits } from './convert.ts'
import {
  type Check,
  Scope,
  atTop,
  declare,
  errorExpr,
  type CheckedFunction,
  type FunctionTemplate,
  type Mutable,
  type Place,
} from './place.ts'
import type { Expr, FunctionInstance } from './program.ts'
import { better } from './overloads.ts'
import { reportHidden } from './top-level.ts'
import { ERROR, FLOAT, VOID, isLater, isPrimitive, latest, typeText, type Type } from './types.ts'
import { value, type Given } from './values.ts'

/** How many functions may be checked inside one another, since the stack is limited. */
const DEPTH = 500

interface Bound {
  readonly template: FunctionTemplate
  /** The argument for each parameter; null = its default is taken. */
  readonly places: readonly (Expr | null)[]
  readonly types: readonly (Type | null)[]
  readonly cost: number
  readonly problem: {
    readonly at: Range
    readonly message: Message
    readonly progress: number
  } | null
}

/** Checks a call of the overload whose parameters fit best. */
export function userCall(
  here: Place,
  templates: readonly FunctionTemplate[],
  given: readonly Given[],
  node: Range,
): Expr {
  let best: Bound | null = null
  for (const template of templates) {
    const bound = bind(here, template, given, node)
    if (best === null || better(bound, best)) best = bound
  }
  if (best === null) return errorExpr(node)
  if (best.problem !== null) {
    here.check.report(here, best.problem.at, best.problem.message)
    return errorExpr(node)
  }
  const { name, unit, node: declaration } = best.template
  if (unit === here.unit && !unit.isLibrary && declaration.start > node.start)
    here.check.report(here, node, messages.usedBeforeDeclaration(name))
  return call(here, best, node)
}

/** Whether one of the functions takes these arguments. */
export function takes(
  here: Place,
  templates: readonly FunctionTemplate[],
  given: readonly Given[],
  node: Range,
): boolean {
  return templates.some((template) => bind(here, template, given, node).problem === null)
}

function bind(here: Place, template: FunctionTemplate, given: readonly Given[], node: Range): Bound {
  const { parameters } = template.node
  const { name, types } = template
  here.check.admits(here, node)
  const places: (Expr | null)[] = parameters.map(() => null)
  let problem: Bound['problem'] = null
  let cost = 0
  const note = (at: Range, message: Message, progress: number): void => {
    problem ??= { at, message, progress }
  }
  let position = 0
  let named = false
  for (const one of given) {
    let index = position
    if (one.name === null) {
      if (named) note(one.expr, messages.positionalAfterNamed(), 50)
      if (position >= parameters.length) {
        note(one.expr, messages.tooManyArguments(name, parameters.length, given.length), 10)
        continue
      }
      position++
    } else {
      named = true
      index = parameters.findIndex((parameter) => parameter.name.name === one.name)
      if (index < 0) {
        const near = here.check.suggest(
          one.name,
          parameters.map((parameter) => parameter.name.name),
        )
        note(one.expr, messages.unknownArgument(name, one.name, near), 20)
        continue
      }
    }
    if (places[index] !== null) {
      if (here.unit.version === 6) note(one.expr, messages.duplicateArgument(name, one.name ?? ''), 60)
      continue
    }
    places[index] = one.expr
    const type = types[index] ?? null
    if (one.expr.type.kind === 'void') note(one.expr, messages.voidValue(), 100 + index)
    else if (type !== null && !fits(here, one.expr.type, type)) {
      const parameter = parameters[index]?.name.name ?? ''
      note(one.expr, messages.argumentType(name, parameter, typeText(type), describe(one.expr)), 100 + index)
    } else if (type === null || type.kind !== one.expr.type.kind) cost++
    const written = parameters[index]?.type
    if (
      written?.qualifier &&
      type !== null &&
      isPrimitive(type) &&
      isLater(one.expr.qualifier, written.qualifier)
    ) {
      const expected = `${written.qualifier} ${typeText(type)}`
      const message = messages.argumentQualifier(
        name,
        parameters[index]?.name.name ?? '',
        expected,
        describe(one.expr),
      )
      note(one.expr, message, 90)
    }
  }
  for (const [i, parameter] of parameters.entries()) {
    if (places[i] === null && parameter.default === null)
      note(node, messages.missingArgument(name, parameter.name.name), 30)
  }
  return { template, places, types, cost, problem }
}

function call(here: Place, bound: Bound, node: Range): Expr {
  const { template } = bound
  const args = template.node.parameters.map((parameter, i): Expr => {
    const type = bound.types[i] ?? null
    const expr = bound.places[i] ?? defaultValue(here, template, parameter, type)
    if (type !== null) return coerce(expr, type)
    return expr.type.kind === 'na' ? coerce(expr, FLOAT) : expr
  })
  const instance = instantiate(here, template, args, bound.types, node)
  if (instance === null) return errorExpr(node)
  const { fn } = instance
  if (here.check.lookingBack.has(fn)) {
    if (here.conditional) here.check.report(here, node, messages.conditionalCall(template.name))
    if (here.owner !== null) here.check.lookingBack.add(here.owner)
  }
  return known(here.check, {
    kind: 'UserCall',
    fn,
    args,
    site: here.check.site(),
    type: fn.returns,
    qualifier: instance.qualifier,
    start: node.start,
    end: node.end,
  })
}

function defaultValue(
  here: Place,
  template: FunctionTemplate,
  parameter: tree.Parameter,
  type: Type | null,
): Expr {
  if (parameter.default === null) return errorExpr(parameter)
  const inside = { ...atTop(here.check, template.unit), out: here.out }
  const expr = value(inside, parameter.default)
  if (type === null || fits(here, expr.type, type)) return expr
  const name = parameter.name.name
  inside.check.report(inside, parameter.default, messages.typeMismatch(name, typeText(type), describe(expr)))
  return errorExpr(parameter)
}

/** The copy of the function for these types of arguments; null = the call itself is a mistake, which has been reported. */
function instantiate(
  here: Place,
  template: FunctionTemplate,
  args: readonly Expr[],
  types: readonly (Type | null)[],
  node: Range,
): CheckedFunction | null {
  // L21: a parameter that is declared `series` is one, whatever it is given.
  const qualifiers = args.map((arg, i) =>
    latest(arg.qualifier, template.node.parameters[i]?.type?.qualifier ?? 'const'),
  )
  const kinds = args.map((arg, i) => `${qualifiers[i]} ${typeText(types[i] ?? arg.type)}`)
  const key = kinds.join(', ')
  const known = template.instances.get(key)
  if (known === null) here.check.report(here, node, messages.recursion(template.name))
  if (known !== undefined) return known
  const { check } = here
  const refused = refusal(check, template, kinds)
  if (refused !== null) {
    check.report(here, node, refused)
    return null
  }
  if (template.instances.size > 0) check.copies++
  template.instances.set(key, null)
  check.depth++
  const { node: declaration, unit } = template
  const fn: Mutable<FunctionInstance> = {
    id: check.functionCount++,
    name: unit.prefix + template.name,
    parameters: [],
    body: { statements: [], result: null },
    returns: ERROR,
  }
  const inside: Place = {
    ...atTop(check, unit),
    scope: new Scope(unit.scope, check.assigned.of(declaration.body)),
    owner: fn,
    horizon: declaration.start,
    exported: declaration.exported,
  }
  fn.parameters = declaration.parameters.map((parameter, i) => {
    const arg = args[i] ?? errorExpr(parameter)
    const type = types[i] ?? arg.type
    return declare(inside, parameter.name.name, parameter.name.start, type, qualifiers[i]!, 'parameter')
  })
  fn.body = body(inside, declaration.body.statements, 'tail')
  const { result } = fn.body
  // What a library's function gives is never constant for the script that calls it, but simple at least.
  const weakest = declaration.exported && unit.isLibrary ? 'simple' : 'const'
  fn.returns = result?.type ?? VOID
  if (fn.returns.kind === 'na') fn.returns = FLOAT
  if (declaration.exported && result)
    reportHidden(inside, declaration.body.statements.at(-1) ?? declaration, fn.returns)
  if (result?.kind === 'Tuple')
    check.resultQualifiers.set(
      fn,
      result.items.map((item) => latest(item.qualifier, weakest)),
    )
  const instance: CheckedFunction = { fn, qualifier: latest(result?.qualifier ?? 'series', weakest) }
  check.depth--
  check.functions.push(fn)
  template.instances.set(key, instance)
  return instance
}

/** Why a function may not have one more copy. */
function refusal(
  check: Check,
  { name, instances }: FunctionTemplate,
  kinds: readonly string[],
): Message | null {
  if (check.depth === DEPTH) return messages.tooManyCalls()
  if (kinds.some((kind) => kind.length > TYPE_LETTERS_MAX)) return messages.typeTooDeep(name)
  if (instances.size >= COPIES_MAX) return messages.tooManyCopies(name, COPIES_MAX)
  return instances.size > 0 && check.copies >= ALL_COPIES_MAX
    ? messages.tooManyCopiesInAll(ALL_COPIES_MAX)
    : null
}

/** Functions that nobody calls are checked with parameters of any type, so that their mistakes are reported too. */
export function checkUncalled(here: Place): void {
  for (const templates of here.unit.functions.values()) {
    for (const template of templates) {
      if (template.instances.size > 0) continue
      const { types } = template
      const args = template.node.parameters.map((parameter, i): Expr => {
        const type = types[i] ?? ERROR
        return { ...errorExpr(parameter), type, qualifier: parameter.type?.qualifier ?? 'simple' }
      })
      const { functions } = here.check
      const count = functions.length
      instantiate(here, template, args, types, template.node)
      functions.length = count
    }
  }
}
