// Names: a variable in sight, a built-in, an enum's member, a field, or something of an imported library.

import type * as tree from '../1-parse/tree.ts'
import { BUILTIN_CONSTANTS, BUILTIN_FUNCTIONS, BUILTIN_VARIABLES } from '../builtins/table.ts'
import type { Range } from '../source.ts'
import * as messages from '../messages/checking.ts'
import type { Message } from '../messages/message.ts'
import { describe } from './convert.ts'
import { versionsWith } from '../libraries/bundled.ts'
import { atTop, errorExpr, importOf, type Place, type Unit } from './place.ts'
import type { Expr, Variable } from './program.ts'
import { enumMember, fieldType } from './type-names.ts'
import { BOOL, NA, isPrimitive, typeText } from './types.ts'
import { constant, value, variableExpr } from './values.ts'
import { nowCalled } from './version.ts'

export function identifier(here: Place, node: tree.Identifier): Expr {
  const variable = findVariable(here, node.name)
  if (variable !== null) {
    if (here.exported && variable.owner === null && !isExportable(here, variable))
      here.check.report(here, node, messages.globalInExport(node.name))
    if (variable.type.kind === 'tuple') {
      here.check.report(here, node, messages.tupleValue())
      return errorExpr(node)
    }
    return variableExpr(variable, node)
  }
  const builtin = builtinValue(here, node.name, node)
  if (builtin !== null) return builtin
  here.check.report(here, node, unknownName(here, node.name))
  return errorExpr(node)
}

/**
 * What an exported function may see of its library's globals: not what changes from outside of it, not inputs, not what
 * others could change through it (reference, `export`). The manual's page on libraries says constants only, but a
 * library as widely used as ZenLibrary has a plain `_atr = ta.atr(14)` there.
 */
function isExportable(here: Place, { name, qualifier, type }: Variable): boolean {
  const isPlain = isPrimitive(type) || type.kind === 'enum' || type.kind === 'error'
  return isPlain && qualifier !== 'input' && !here.unit.scope.assigned.has(name)
}

export function findVariable(here: Place, name: string): Variable | null {
  const variable = here.scope.find(name)
  if (variable === null) return here.unit.isLibrary ? libraryGlobal(here, name) : null
  if (variable.owner === null && variable.start > here.horizon) return null
  return variable
}

/** A global of a library is taken into the program when something first needs it. */
export function libraryGlobal(here: Place, name: string): Variable | null {
  const { unit } = here
  const known = unit.scope.names.get(name)
  if (known !== undefined) return known
  const node = unit.globals.get(name)
  if (node === undefined || unit.pending.has(name)) return null
  unit.pending.add(name)
  const at: Place = { ...atTop(here.check, unit), out: here.check.prologue, horizon: node.start }
  here.check.rules.statement(at, node)
  unit.pending.delete(name)
  return unit.scope.names.get(name) ?? null
}

/** A built-in variable or constant, by the name this version has for it. */
export function builtinValue(here: Place, written: string, node: Range): Expr | null {
  const values = here.unit.names.values
  const name = Object.hasOwn(values, written) ? (values[written] ?? written) : written
  if (name === 'na') return constant(node, NA, null)
  // v4's directions are bools; `legacy.ts` makes today's of them where an order takes one.
  if (here.unit.version < 5 && DIRECTIONS.has(name)) return constant(node, BOOL, name === 'strategy.long')
  if (here.unit.version < 6 && name.startsWith('plot.linestyle_')) return null
  return builtinByName(here, name, node)
}

const DIRECTIONS: ReadonlySet<string> = new Set(['strategy.long', 'strategy.short'])

/** A built-in by its v6 name; defaults of signatures are looked up here too. */
export function builtinByName(here: Place, name: string, node: Range): Expr | null {
  const known = BUILTIN_CONSTANTS.get(name)
  if (known !== undefined) {
    const before6 = here.unit.version < 6 ? known.valueBefore6 : undefined
    return constant(node, known.type, before6 ?? known.value)
  }
  const builtin = BUILTIN_VARIABLES.get(name)
  if (builtin === undefined) return null
  if (builtin.status === 'source') here.check.report(here, node, messages.noDataSource(name))
  const { type, qualifier } = builtin
  return {
    kind: 'BuiltinVariable',
    builtin,
    site: here.check.site(),
    type,
    qualifier,
    start: node.start,
    end: node.end,
  }
}

function unknownName(here: Place, name: string): Message {
  const later = here.unit.globals.get(name)
  if (later !== undefined) return messages.usedBeforeDeclaration(name)
  const now = nowCalled(name)
  if (here.unit.version > 4 && now !== null && (BUILTIN_VARIABLES.has(now) || BUILTIN_CONSTANTS.has(now)))
    return messages.renamed(name, now, 5)
  if (BUILTIN_FUNCTIONS.has(here.unit.names.functions[name] ?? name) || here.unit.functions.has(name))
    return messages.notAValue(name)
  return messages.undeclaredName(name, here.check.suggest(name, namesInSight(here)))
}

export function* namesInSight(here: Place): Generator<string> {
  yield* here.scope.all()
  yield* ['true', 'false', 'na']
  for (const name of BUILTIN_VARIABLES.keys()) if (!name.includes('.')) yield name
}

/** The names of `a.b.c`, if it consists of names only. */
export function path(node: tree.Expression): string[] | null {
  if (node.kind === 'Identifier') return [node.name]
  if (node.kind !== 'Member') return null
  const parts = path(node.object)
  if (parts === null) return null
  parts.push(node.property.name)
  return parts
}

export function member(here: Place, node: tree.Member): Expr {
  const parts = path(node)
  const root = parts?.[0]
  if (parts !== null && root !== undefined) {
    const variable = findVariable(here, root)
    if (variable === null || (parts.length === 2 && fieldType(variable.type, node.property.name) === null)) {
      const named = namedMember(here, parts, node)
      if (named !== null) return named
    }
    if (variable === null && here.unit.missing.has(root)) return errorExpr(node)
    if (variable === null && isNamespace(here, root) && !isReadable(here, node.object)) {
      here.check.report(here, node, unknownMemberMessage(here, parts))
      return errorExpr(node)
    }
  }
  const object = value(here, node.object)
  if (object.type.kind === 'udt') needsParentheses(here, node, 'CE10011')
  return field(here, object, node.property, node)
}

/** Reports what follows the past of an object without parentheses around it: `object[1].name`. */
export function needsParentheses(here: Place, node: tree.Member, code: 'CE10010' | 'CE10011'): void {
  const { object, property } = node
  if (here.unit.version < 6 || object.kind !== 'Index' || property.start !== object.end + 1) return
  here.check.report(here, property, messages.pastWithoutParentheses(property.name, code))
}

/** A built-in, an enum's member, or something of an imported library. */
function namedMember(here: Place, parts: readonly string[], node: Range): Expr | null {
  const builtin = builtinValue(here, parts.join('.'), node)
  if (builtin !== null) return builtin
  const [first = '', second = '', third] = parts
  const own = here.unit.enums.get(first)
  if (own !== undefined && parts.length === 2) return enumMember(here, own.type, second, node)
  const library = importOf(here.unit, first)
  if (library === undefined) return null
  const theirs = library.enums.get(second)
  if (theirs !== undefined && third !== undefined) {
    if (!theirs.exported) here.check.report(here, node, messages.notExported(first, second))
    return enumMember(here, theirs.type, third, node)
  }
  const declaration = library.globals.get(second)
  if (declaration?.kind === 'VariableDeclaration' && parts.length === 2) {
    if (!declaration.exported) here.check.report(here, node, messages.notExported(first, second))
    const variable = libraryGlobal({ ...here, unit: library, scope: library.scope }, second)
    return variable === null ? errorExpr(node) : variableExpr(variable, node)
  }
  return null
}

export function notExported(library: Unit, alias: string, name: string): Message {
  const versions = versionsWith(library.path, name)
  if (versions === null) return messages.notExported(alias, name)
  const [first, last] = versions
  return messages.notInVersion(library.path, name, String(first), String(last))
}

function isNamespace(here: Place, name: string): boolean {
  if (here.unit.imports.has(name) || here.unit.enums.has(name) || here.unit.types.has(name)) return true
  return NAMESPACES.has(name)
}

export const NAMESPACES: ReadonlySet<string> = new Set(
  [...BUILTIN_FUNCTIONS.keys(), ...BUILTIN_VARIABLES.keys(), ...BUILTIN_CONSTANTS.keys()]
    .filter((name) => name.includes('.'))
    .map((name) => name.slice(0, name.indexOf('.'))),
)

/** Whether a name is itself a value: `close.x`, the fields of `chart.point`. */
function isReadable(here: Place, node: tree.Expression): boolean {
  const parts = path(node)
  if (parts === null) return true
  const name = parts.join('.')
  return BUILTIN_VARIABLES.has(name) || BUILTIN_CONSTANTS.has(name) || namedMemberExists(here, parts)
}

function namedMemberExists(here: Place, parts: readonly string[]): boolean {
  const [first = '', second = ''] = parts
  return (
    parts.length === 2 &&
    (here.unit.enums.has(first) || (importOf(here.unit, first)?.globals.has(second) ?? false))
  )
}

export function unknownMemberMessage(here: Place, parts: readonly string[]): Message {
  const name = parts.at(-1) ?? ''
  const owner = parts.slice(0, -1).join('.')
  const prefix = `${owner}.`
  const [first = ''] = parts
  if (!isNamespace(here, first)) return unknownName(here, first)
  const library = importOf(here.unit, first)
  if (library !== undefined) return libraryMemberMessage(here, library, first, name)
  return messages.unknownMember(owner, name, here.check.suggest(name, membersOf(prefix)))
}

/** The part behind the dot of the built-ins of a name space. */
export function* membersOf(prefix: string): Generator<string> {
  for (const table of [BUILTIN_FUNCTIONS, BUILTIN_VARIABLES, BUILTIN_CONSTANTS])
    for (const name of table.keys()) if (name.startsWith(prefix)) yield name.slice(prefix.length)
}

function libraryMemberMessage(here: Place, library: Unit, alias: string, name: string): Message {
  if (library.functions.has(name) || library.types.has(name)) return notExported(library, alias, name)
  return messages.unknownMember(
    alias,
    name,
    here.check.suggest(name, [...library.functions.keys(), ...library.types.keys()]),
  )
}

export function field(here: Place, object: Expr, name: tree.Name, node: Range): Expr {
  if (object.type.kind === 'error') return errorExpr(node)
  const type = fieldType(object.type, name.name)
  if (type === null) {
    const near =
      object.type.kind === 'udt'
        ? here.check.suggest(
            name.name,
            object.type.udt.fields.map((one) => one.name),
          )
        : null
    here.check.report(
      here,
      name,
      object.type.kind === 'udt'
        ? messages.unknownMember(typeText(object.type), name.name, near)
        : messages.notAnObject(name.name, describe(object)),
    )
    return errorExpr(node)
  }
  return {
    kind: 'Field',
    object,
    field: name.name,
    type,
    qualifier: 'series',
    start: node.start,
    end: node.end,
  }
}
