// Calls: which function, method or constructor a call means, and its arguments.

import type * as tree from '../1-parse/tree.ts'
import type { BuiltinFunction } from '../builtins/registry.ts'
import { BUILTIN_FUNCTIONS } from '../builtins/table.ts'
import * as messages from '../messages/checking.ts'
import type { Message } from '../messages/message.ts'
import { builtinCall } from './builtin-call.ts'
import { coerce, describe, fits } from './convert.ts'
import { takes, userCall } from './functions.ts'
import {
  findVariable,
  membersOf,
  needsParentheses,
  notExported,
  path,
  unknownMemberMessage,
} from './names.ts'
import {
  atTop,
  errorExpr,
  importOf,
  type FunctionTemplate,
  type Place,
  type UdtInfo,
  type Unit,
} from './place.ts'
import type { Expr } from './program.ts'
import { typeText, type Type } from './types.ts'
import { givenArguments, value } from './values.ts'
import { nowCalled } from './version.ts'
import { words } from '../../lib/words.ts'

export function callExpression(here: Place, node: tree.Call): Expr {
  const { callee } = node
  if (callee.kind === 'Identifier') return namedCall(here, node, callee)
  if (callee.kind === 'Member') return memberCall(here, node, callee)
  if (callee.kind !== 'Error') here.check.report(here, callee, messages.notAFunction('this'))
  for (const one of node.arguments) here.check.rules.expression(here, one.value)
  return errorExpr(node)
}

function namedCall(here: Place, node: tree.Call, callee: tree.Identifier): Expr {
  const { name } = callee
  const own = visibleFunctions(here, name)
  if (own.length > 0) return userCall(here, own, givenArguments(here, node), node)
  // Up to v4 `color(c, transparency)` made what color.new does now.
  const isMade = here.unit.version < 5 && name === 'color' && node.arguments.length === 2
  const builtin = builtinFunction(here, isMade ? 'color.new' : name)
  if (builtin !== null) return builtinCall(here, node, builtin, null)
  if (here.unit.version < 5 && name === 'offset') return offsetCall(here, node)
  givenArguments(here, node)
  here.check.report(here, callee, unknownFunction(here, name))
  return errorExpr(node)
}

/** v4's `offset(source, n)`, which is `source[n]`. */
function offsetCall(here: Place, node: tree.Call): Expr {
  const named = (name: string, i: number): tree.Expression | undefined =>
    node.arguments.find((one) => one.name?.name === name)?.value ?? node.arguments[i]?.value
  const object = named('source', 0)
  const index = named('offset', 1)
  if (object !== undefined && index !== undefined)
    return here.check.rules.expression(here, {
      kind: 'Index',
      object,
      index,
      start: node.start,
      end: node.end,
    })
  here.check.report(
    here,
    node,
    messages.missingArgument('offset', object === undefined ? 'source' : 'offset'),
  )
  return errorExpr(node)
}

/** The functions of a name that this place may call: those declared above it, or all of a library's. */
function visibleFunctions(here: Place, name: string): readonly FunctionTemplate[] {
  const templates = here.unit.functions.get(name) ?? []
  return templates.filter((one) => one.node.start < here.horizon)
}

function builtinFunction(here: Place, written: string): BuiltinFunction | null {
  const { functions } = here.unit.names
  const name = Object.hasOwn(functions, written) ? (functions[written] ?? written) : written
  return BUILTIN_FUNCTIONS.get(name) ?? null
}

function unknownFunction(here: Place, name: string): Message {
  const declared = here.unit.functions.get(name) ?? []
  // A function's own body comes after its name, but before the function exists: it calls itself.
  if (declared.some((one) => one.node.start === here.horizon)) return messages.recursion(name)
  if (declared.length > 0) return messages.usedBeforeDeclaration(name)
  const now = nowCalled(name)
  if (here.unit.version > 4 && now !== null && BUILTIN_FUNCTIONS.has(now))
    return messages.renamed(name, now, 5)
  if (findVariable(here, name) !== null) return messages.notAFunction(name)
  return messages.undeclaredFunction(name, here.check.suggest(name, functionsInSight(here)))
}

function* functionsInSight(here: Place): Generator<string> {
  yield* here.unit.functions.keys()
  for (const name of BUILTIN_FUNCTIONS.keys()) if (!name.includes('.')) yield name
}

/** Objects and drawings: what stands straight after their past is refused. */
const PAST_IN_PARENTHESES: ReadonlySet<Type['kind']> = new Set<Type['kind']>(
  words('udt line label box table linefill polyline chart.point'),
)

function memberCall(here: Place, node: tree.Call, callee: tree.Member): Expr {
  const parts = path(callee)
  const root = parts?.[0]
  const method = callee.property.name
  if (parts !== null && root !== undefined) {
    const variable = findVariable(here, root)
    const builtin = builtinFunction(here, parts.join('.'))
    const library = variable === null && builtin === null ? importOf(here.unit, root) : undefined
    if (variable === null && builtin === null && library === undefined && here.unit.missing.has(root)) {
      givenArguments(here, node)
      return errorExpr(node)
    }
    const isMeant = variable === null || !isMethodOf(here, variable.type, node, root, method)
    if (builtin !== null && isMeant && (variable !== null || !isLibrarys(here, node, root, method, builtin)))
      return builtinCall(here, node, builtin, null)
    if (variable === null) {
      const made = constructorCall(here, node, parts) ?? libraryCall(here, node, parts)
      if (made !== null) return made
    }
  }
  if (
    parts !== null &&
    root !== undefined &&
    findVariable(here, root) === null &&
    !isValue(here, callee.object)
  ) {
    for (const one of node.arguments) here.check.rules.expression(here, one.value)
    here.check.report(here, callee, unknownMemberMessage(here, parts))
    return errorExpr(node)
  }
  const receiver = value(here, callee.object)
  const { kind } = receiver.type
  if (kind === 'array' || kind === 'matrix') needsParentheses(here, callee, 'CE10011')
  else if (PAST_IN_PARENTHESES.has(kind)) needsParentheses(here, callee, 'CE10010')
  return methodCall(here, node, receiver, callee.property)
}

/** A call by a name that is built in and also exported by the import of that alias, whose function alone takes as much. */
function isLibrarys(
  { unit }: Place,
  { arguments: given }: tree.Call,
  alias: string,
  name: string,
  { overloads }: BuiltinFunction,
): boolean {
  if (!unit.deferred.has(alias) && !unit.imports.has(alias)) return false
  const names = given.flatMap((one) => (one.name === null ? [] : [one.name.name]))
  const takesAll = overloads.some(
    ({ parameters }) =>
      (parameters.length >= given.length || parameters.at(-1)?.variadic === true) &&
      names.every((one) => parameters.some((parameter) => parameter.name === one)),
  )
  return (
    !takesAll &&
    importOf(unit, alias)
      ?.functions.get(name)
      ?.some(({ node }) => node.exported) === true
  )
}

/** `label.set_text(…)` where `label` is also a variable: a method unless the first argument is the object. */
function isMethodOf(here: Place, type: Type, node: tree.Call, root: string, method: string): boolean {
  if (type.kind === 'udt') return methodTemplates(here, type, method).length > 0
  const first = node.arguments[0]
  if (type.kind !== root) return false
  if (method === 'new') return false
  if (first === undefined) return true
  if (first.name !== null) return first.name.name !== 'id' && first.name.name !== 'table_id'
  const quiet: Place = { ...here, unit: { ...here.unit, diagnostics: [] }, out: [] }
  return value(quiet, first.value).type.kind !== type.kind
}

/** `Trade.new(…)`, `lib.Trade.new(…)`, `Trade.copy(x)`. */
function constructorCall(here: Place, node: tree.Call, parts: readonly string[]): Expr | null {
  const [first = '', second = '', third] = parts
  const library = parts.length === 3 ? importOf(here.unit, first) : undefined
  const info = parts.length === 3 ? library?.types.get(second) : here.unit.types.get(first)
  const word = parts.length === 3 ? third : second
  if (info === undefined || parts.length > 3) return null
  const unit = parts.length === 3 && library !== undefined ? library : here.unit
  if (unit !== here.unit && !info.exported)
    here.check.report(here, node.callee, messages.notExported(first, second))
  if (word === 'new') return newObject(here, node, unit, info)
  if (word === 'copy') {
    const [only] = givenArguments(here, node)
    if (only !== undefined) return copyObject(only.expr, node)
  }
  return null
}

function newObject(here: Place, node: tree.Call, unit: Unit, info: UdtInfo): Expr {
  const { udt } = info
  const given = givenArguments(here, node)
  const places: (Expr | null)[] = udt.fields.map(() => null)
  let position = 0
  for (const one of given) {
    const index = one.name === null ? position++ : udt.fields.findIndex((field) => field.name === one.name)
    const field = udt.fields[index]
    if (field === undefined) {
      const near =
        one.name === null
          ? null
          : here.check.suggest(
              one.name,
              udt.fields.map((other) => other.name),
            )
      here.check.report(
        here,
        one.expr,
        one.name === null
          ? messages.tooManyArguments(`${udt.name}.new`, udt.fields.length, given.length)
          : messages.unknownArgument(`${udt.name}.new`, one.name, near),
      )
      continue
    }
    if (places[index] !== null)
      here.check.report(here, one.expr, messages.duplicateArgument(`${udt.name}.new`, field.name))
    if (fits(here, one.expr.type, field.type)) places[index] = coerce(one.expr, field.type)
    else
      here.check.report(
        here,
        one.expr,
        messages.argumentType(`${udt.name}.new`, field.name, typeText(field.type), describe(one.expr)),
      )
  }
  const inside: Place = { ...atTop(here.check, unit), out: here.out }
  here.check.admits(here, node, udt.fields.length)
  const args = udt.fields.map((field, i): Expr => {
    const place = places[i]
    if (place !== null && place !== undefined) return place
    const written = info.node.fields[i]?.default ?? null
    if (written !== null) {
      const expr = value(inside, written)
      if (fits(inside, expr.type, field.type)) return coerce(expr, field.type)
      inside.check.report(
        inside,
        written,
        messages.typeMismatch(field.name, typeText(field.type), describe(expr)),
      )
    }
    const isFalse = field.type.kind === 'bool' && unit.version === 6
    return {
      kind: 'Const',
      value: isFalse ? false : null,
      type: field.type,
      qualifier: 'const',
      start: node.end,
      end: node.end,
    }
  })
  return {
    kind: 'NewObject',
    udt,
    args,
    type: { kind: 'udt', udt },
    qualifier: 'series',
    start: node.start,
    end: node.end,
  }
}

function copyObject(object: Expr, node: tree.Call): Expr {
  return {
    kind: 'CopyObject',
    object,
    type: object.type,
    qualifier: 'series',
    start: node.start,
    end: node.end,
  }
}

/** `alias.function(…)`. */
function libraryCall(here: Place, node: tree.Call, parts: readonly string[]): Expr | null {
  const [alias = '', name = ''] = parts
  const library = parts.length === 2 ? importOf(here.unit, alias) : undefined
  if (library === undefined) return null
  const templates = library.functions.get(name) ?? []
  const exported = templates.filter((one) => one.node.exported)
  if (templates.length === 0) return null
  if (exported.length === 0) here.check.report(here, node.callee, notExported(library, alias, name))
  return userCall(here, exported.length === 0 ? templates : exported, givenArguments(here, node), node)
}

/** Whether something with a value stands before the dot, rather than a name space. */
function isValue(here: Place, node: tree.Expression): boolean {
  const parts = path(node)
  if (parts === null) return true
  const quiet: Place = { ...here, unit: { ...here.unit, diagnostics: [] } }
  return here.check.rules.expression(quiet, node).type.kind !== 'error'
}

function methodCall(here: Place, node: tree.Call, object: Expr, name: tree.Name): Expr {
  const { type } = object
  if (type.kind === 'error') {
    givenArguments(here, node)
    return errorExpr(node)
  }
  const builtin = BUILTIN_FUNCTIONS.get(`${type.kind}.${name.name}`)
  if (builtin === undefined) for (const alias of here.unit.deferred.keys()) importOf(here.unit, alias)
  const own = methodTemplates(here, type, name.name)
  const isBuiltin = builtin !== undefined && builtin.overloads.some((one) => one.parameters.length > 0)
  const self = { name: null, expr: object }
  // A script's methods overload the built-in of that name: it is called where none of them fits.
  const quiet: Place = { ...here, unit: { ...here.unit, diagnostics: [] }, out: [] }
  if (own.length > 0 && (!isBuiltin || takes(here, own, [self, ...givenArguments(quiet, node)], node)))
    return userCall(here, own, [self, ...givenArguments(here, node)], node)
  if (isBuiltin) return builtinCall(here, node, builtin, object)
  if (type.kind === 'udt' && name.name === 'copy') return copyObject(object, node)
  givenArguments(here, node)
  // The method may belong to a library that was not found, which has been reported already.
  if (here.unit.missing.size > 0) return errorExpr(node)
  const near = here.check.suggest(name.name, membersOf(`${type.kind}.`))
  here.check.report(here, name, messages.noMethod(name.name, typeText(type), near))
  return errorExpr(node)
}

/** Methods of the script and of the libraries it imports that take this type first. */
function methodTemplates(here: Place, type: Type, name: string): readonly FunctionTemplate[] {
  const found: FunctionTemplate[] = []
  const take = (unit: Unit, isImported: boolean): void => {
    for (const one of unit.functions.get(name) ?? []) {
      if (!one.node.method || (isImported && !one.node.exported)) continue
      if (!isImported && one.node.start >= here.horizon) continue
      const [first] = one.types
      if (first === undefined || first === null || fits(here, type, first)) found.push(one)
    }
  }
  take(here.unit, false)
  for (const library of here.unit.imports.values()) take(library, true)
  return found
}
