// What stands at the top of a script or library and may be used anywhere in it: imports, types, enums, functions.

import type * as tree from '../1-parse/tree.ts'
import { parse } from '../1-parse/parser.ts'
import { Source } from '../source.ts'
import type { Range } from '../source.ts'
import { MEMBERS_MAX, OVERLOADS_MAX, PARAMETERS_MAX } from './caps.ts'
import { Scope, errorExpr } from './place.ts'
import type { Check, Place, Unit, Mutable } from './place.ts'
import * as messages from './messages.ts'
import type { Expr } from './program.ts'
import type { PineVersion } from '../runtime/runtime.ts'
import { collectAssigned } from './statements.ts'
import { ERROR, FLOAT, HANDLES, INT, PRIMITIVES, isPrimitive, sameType, typeText } from './types.ts'
import type { EnumMemberValue, EnumType, Type, Udt } from './types.ts'
import { versionTable } from './version.ts'

export function newUnit(script: tree.Script, version: PineVersion, prefix: string, isLibrary: boolean): Unit {
  const assigned = new Set<string>()
  for (const one of script.statements) collectAssigned(one, assigned)
  return {
    version,
    names: versionTable(version),
    prefix,
    diagnostics: [],
    functions: new Map(),
    types: new Map(),
    enums: new Map(),
    imports: new Map(),
    missing: new Set(),
    scope: new Scope(null, assigned),
    globals: new Map(),
    isLibrary,
    pending: new Set(),
  }
}

/** Where the statements of a unit's top are checked. */
export function atTop(check: Check, unit: Unit): Place {
  return {
    check,
    unit,
    scope: unit.scope,
    out: [],
    owner: null,
    horizon: Number.POSITIVE_INFINITY,
    loops: 0,
    topLevel: true,
    conditional: false,
    branch: null,
    exported: false,
    target: '',
  }
}

export function collect(here: Place, statements: readonly tree.Statement[]): void {
  const { unit } = here
  for (const one of statements) if (one.kind === 'Import') importLibrary(here, one)
  for (const one of statements) {
    if (one.kind === 'EnumDeclaration') enumDeclaration(here, one)
    else if (one.kind === 'TypeDeclaration') typeName(here, one)
    else if (one.kind === 'VariableDeclaration') unit.globals.set(one.name.name, one)
    else if (one.kind === 'TupleDeclaration') for (const name of one.names) unit.globals.set(name.name, one)
  }
  for (const info of unit.types.values()) {
    info.udt.fields = info.node.fields.slice(0, MEMBERS_MAX).map((one) => ({
      name: one.name.name,
      type: typeOf(here, one.type) ?? ERROR,
      varip: one.varip,
    }))
  }
  for (const info of unit.types.values())
    if (info.exported)
      for (const [i, one] of info.udt.fields.entries())
        reportHidden(here, info.node.fields[i] ?? info.node, one.type)
  for (const one of statements) if (one.kind === 'FunctionDeclaration') functionDeclaration(here, one)
}

function enumDeclaration(here: Place, node: tree.EnumDeclaration): void {
  const { name } = node.name
  const { unit } = here
  if (unit.enums.has(name) || unit.types.has(name))
    here.check.report(here, node.name, messages.typeTwice(name))
  const enumName = unit.prefix + name
  if (node.members.length > MEMBERS_MAX)
    here.check.report(here, node.name, messages.tooManyMembers(name, 'members', MEMBERS_MAX))
  const members: EnumMemberValue[] = node.members.slice(0, MEMBERS_MAX).map((one) => ({
    enumName,
    name: one.name.name,
    title: one.title?.kind === 'String' ? one.title.value : one.name.name,
  }))
  reportTwice(
    here,
    'member',
    node.members.map((one) => one.name),
  )
  const type: EnumType = { name: enumName, members }
  unit.enums.set(name, { type, exported: node.exported })
  here.check.enums.push(type)
}

function reportTwice(here: Place, what: string, names: readonly tree.Name[]): void {
  const seen = new Set<string>()
  for (const one of names) {
    if (seen.has(one.name) && one.name !== '_')
      here.check.report(here, one, messages.declaredTwice(what, one.name))
    seen.add(one.name)
  }
}

function typeName(here: Place, node: tree.TypeDeclaration): void {
  const { name } = node.name
  const { unit } = here
  if (unit.types.has(name)) here.check.report(here, node.name, messages.typeTwice(name))
  reportTwice(
    here,
    'field',
    node.fields.map((one) => one.name),
  )
  if (node.fields.length > MEMBERS_MAX)
    here.check.report(here, node.name, messages.tooManyMembers(name, 'fields', MEMBERS_MAX))
  const udt: Mutable<Udt> = { name: unit.prefix + name, fields: [] }
  unit.types.set(name, { udt, node, exported: node.exported })
  here.check.udts.push(udt)
}

function functionDeclaration(here: Place, node: tree.FunctionDeclaration): void {
  const { name } = node.name
  const { unit } = here
  const others = unit.functions.get(name) ?? []
  if (others.length === OVERLOADS_MAX) {
    here.check.report(here, node.name, messages.tooManyOverloads(name, OVERLOADS_MAX))
    return
  }
  const parameters = node.parameters.slice(0, PARAMETERS_MAX)
  if (parameters.length < node.parameters.length)
    here.check.report(here, node.name, messages.tooManyParameters(name, PARAMETERS_MAX))
  const types = parameterTypes(here, parameters)
  if (others.some((other) => sameParameters(other.types, types)))
    here.check.report(here, node.name, messages.functionTwice(name))
  if (node.method && (node.parameters[0]?.type ?? null) === null)
    here.check.report(here, node.parameters[0] ?? node.name, messages.methodOfNothing(name))
  reportTwice(
    here,
    'parameter',
    node.parameters.map((one) => one.name),
  )
  if (node.exported)
    for (const [i, one] of node.parameters.entries()) {
      if (one.type === null) here.check.report(here, one, messages.exportUntyped(one.name.name))
      const type = types[i] ?? null
      if (type !== null) reportHidden(here, one, type)
    }
  others.push({ name, node: { ...node, parameters }, unit, types, instances: new Map(), called: false })
  unit.functions.set(name, others)
}

/** What a library hands out or takes in has to be of types that others can name. */
export function reportHidden(here: Place, node: Range, type: Type): void {
  if (type.kind === 'tuple') for (const item of type.items) reportHidden(here, node, item)
  if (type.kind === 'array' || type.kind === 'matrix') reportHidden(here, node, type.of)
  if (type.kind === 'map') for (const part of [type.key, type.value]) reportHidden(here, node, part)
  // A type of another unit has another name, or is another type.
  const own = (name: string): string => name.slice(here.unit.prefix.length)
  if (type.kind === 'udt') {
    const info = here.unit.types.get(own(type.udt.name))
    if (info?.udt === type.udt && !info.exported)
      here.check.report(here, node, messages.typeNotExported(type.udt.name))
  }
  if (type.kind === 'enum') {
    const info = here.unit.enums.get(own(type.enum.name))
    if (info?.type === type.enum && !info.exported)
      here.check.report(here, node, messages.typeNotExported(type.enum.name))
  }
}

/** null = any type. */
function parameterTypes(here: Place, parameters: readonly tree.Parameter[]): readonly (Type | null)[] {
  return parameters.map((one) => (one.type === null ? null : typeOf(here, one.type)))
}

function sameParameters(a: readonly (Type | null)[], b: readonly (Type | null)[]): boolean {
  if (a.length !== b.length) return false
  return a.every((type, i) => {
    const other = b[i] ?? null
    return type === other || (type !== null && other !== null && sameType(type, other))
  })
}

function importLibrary(here: Place, node: tree.Import): void {
  const { check, unit } = here
  const path = `${node.user}/${node.library}/${node.version}`
  const alias = node.alias?.name ?? node.library
  const known = check.libraries.get(path)
  const library = known === undefined ? readLibrary(here, node, path, alias) : known
  check.libraries.set(path, library)
  if (library !== null) unit.imports.set(alias, library)
  else unit.missing.add(alias)
}

function readLibrary(here: Place, node: tree.Import, path: string, alias: string): Unit | null {
  const { check } = here
  const source = check.options.library?.(node.user, node.library, node.version) ?? null
  if (source === null) {
    check.report(here, node, messages.libraryNotFound(path))
    return null
  }
  // A library that imports itself in a circle finds nothing at the second turn.
  check.libraries.set(path, null)
  const { script, diagnostics } = parse(source)
  const version = script.version === 4 || script.version === 5 ? script.version : 6
  const library = newUnit(script, version, `${alias}.`, true)
  const inside = { ...atTop(check, library), out: check.prologue }
  collect(inside, script.statements)
  library.diagnostics.push(...diagnostics)
  check.imported.push({ at: { here, node }, path, source, library })
  return library
}

/** Mistakes of libraries, told where they are imported; those inside a function are known once it has been called. */
export function reportBrokenLibraries(check: Check): void {
  for (const { at, path, source, library } of check.imported) {
    const broken = library.diagnostics.find((one) => one.severity === 'error')
    if (broken === undefined) continue
    const { line } = new Source(source).position(broken.start)
    check.report(at.here, at.node, messages.libraryBroken(path, line, broken.message))
  }
}

// Types

/** null = none said (`simple length`). */
export function typeOf(here: Place, node: tree.TypeNode): Type | null {
  const { name } = node
  if (name === '') return null
  if (name === 'array' || name === 'matrix') {
    return expectArguments(here, node, 1) ? { kind: name, of: item(here, node, 0) } : ERROR
  }
  if (name === 'map') return expectArguments(here, node, 2) ? mapType(here, node) : ERROR
  if (here.unit.missing.has(name.slice(0, Math.max(0, name.indexOf('.'))))) return ERROR
  const own = namedType(here, name, node)
  if (own !== null) return own
  const simple = [...PRIMITIVES, ...HANDLES].find((kind) => kind === name)
  if (simple !== undefined) return { kind: simple }
  here.check.report(here, node, messages.unknownType(name, here.check.suggest(name, typesInSight(here))))
  return ERROR
}

function* typesInSight({ unit }: Place): Generator<string> {
  yield* unit.types.keys()
  yield* unit.enums.keys()
  yield* [...PRIMITIVES, ...HANDLES]
}

function mapType(here: Place, node: tree.TypeNode): Type {
  const key = argument(here, node, 0)
  if (!isPrimitive(key) && key.kind !== 'enum' && key.kind !== 'error')
    here.check.report(here, node.arguments[0] ?? node, messages.mapKey(typeText(key)))
  return { kind: 'map', key, value: item(here, node, 1) }
}

function namedType(here: Place, name: string, node: tree.TypeNode): Type | null {
  const dot = name.indexOf('.')
  const library = dot < 0 ? undefined : here.unit.imports.get(name.slice(0, dot))
  const unit = library ?? here.unit
  const own = library === undefined ? name : name.slice(dot + 1)
  const info = unit.types.get(own)
  const enumeration = unit.enums.get(own)
  if (library !== undefined && (info ?? enumeration)?.exported === false)
    here.check.report(here, node, messages.notExported(name.slice(0, dot), own))
  if (info !== undefined) return { kind: 'udt', udt: info.udt }
  return enumeration === undefined ? null : { kind: 'enum', enum: enumeration.type }
}

function expectArguments(here: Place, node: tree.TypeNode, count: number): boolean {
  if (node.arguments.length === count) return true
  here.check.report(here, node, messages.typeArgumentCount(node.name, count, node.arguments.length))
  return false
}

function argument(here: Place, node: tree.TypeNode, i: number): Type {
  const one = node.arguments[i]
  return (one === undefined ? null : typeOf(here, one)) ?? ERROR
}

/** What a collection holds: collections too, here. */
function item(here: Place, node: tree.TypeNode, i: number): Type {
  const type = argument(here, node, i)
  if (isCollection(type))
    here.check.report(here, node, messages.nestedCollection(`${node.name}<${typeText(type)}>`))
  return type
}

export function isCollection({ kind }: Type): boolean {
  return kind === 'array' || kind === 'matrix' || kind === 'map'
}

/** A field of an object; null = there is none of that name. */
export function fieldType(type: Type, name: string): Type | null {
  if (type.kind === 'udt') return type.udt.fields.find((one) => one.name === name)?.type ?? null
  if (type.kind !== 'chart.point') return null
  return name === 'price' ? FLOAT : name === 'index' || name === 'time' ? INT : null
}

export function enumMember(here: Place, type: EnumType, name: string, node: Range): Expr {
  const member = type.members.find((one) => one.name === name)
  if (member === undefined) {
    const near = here.check.suggest(
      name,
      type.members.map((one) => one.name),
    )
    here.check.report(here, node, messages.unknownMember(type.name, name, near))
    return errorExpr(node)
  }
  return {
    kind: 'Const',
    value: member,
    type: { kind: 'enum', enum: type },
    qualifier: 'const',
    start: node.start,
    end: node.end,
  }
}
