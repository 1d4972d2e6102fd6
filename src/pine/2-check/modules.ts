// What stands at the top of a script or library and may be used anywhere in it: imports, types, enums, functions.

import type * as tree from '../1-parse/tree.ts'
import { parse } from '../1-parse/parser.ts'
import { Source } from '../source.ts'
import type { Range } from '../source.ts'
import { MEMBERS_MAX, OVERLOADS_MAX, PARAMETERS_MAX } from './caps.ts'
import { Scope, errorExpr } from './context.ts'
import type { Check, Context, Module, Mutable } from './context.ts'
import * as messages from './messages.ts'
import type { Expr } from './program.ts'
import type { PineVersion } from '../runtime/runtime.ts'
import { collectAssigned } from './statements.ts'
import { ERROR, FLOAT, HANDLES, INT, PRIMITIVES, isPrimitive, sameType, typeText } from './types.ts'
import type { EnumMemberValue, EnumType, Type, Udt } from './types.ts'
import { versionTable } from './version.ts'

export function newModule(
  script: tree.Script,
  version: PineVersion,
  prefix: string,
  isLibrary: boolean,
): Module {
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

/** Where the statements of a module's top are checked. */
export function topContext(check: Check, module: Module): Context {
  return {
    check,
    module,
    scope: module.scope,
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

export function collect(x: Context, statements: readonly tree.Statement[]): void {
  const { module } = x
  for (const one of statements) if (one.kind === 'Import') importLibrary(x, one)
  for (const one of statements) {
    if (one.kind === 'EnumDeclaration') enumDeclaration(x, one)
    else if (one.kind === 'TypeDeclaration') typeName(x, one)
    else if (one.kind === 'VariableDeclaration') module.globals.set(one.name.name, one)
    else if (one.kind === 'TupleDeclaration') for (const name of one.names) module.globals.set(name.name, one)
  }
  for (const info of module.types.values()) {
    info.udt.fields = info.node.fields.slice(0, MEMBERS_MAX).map((one) => ({
      name: one.name.name,
      type: typeOf(x, one.type) ?? ERROR,
      varip: one.varip,
    }))
  }
  for (const info of module.types.values())
    if (info.exported)
      for (const [i, one] of info.udt.fields.entries())
        reportHidden(x, info.node.fields[i] ?? info.node, one.type)
  for (const one of statements) if (one.kind === 'FunctionDeclaration') functionDeclaration(x, one)
}

function enumDeclaration(x: Context, node: tree.EnumDeclaration): void {
  const { name } = node.name
  const { module } = x
  if (module.enums.has(name) || module.types.has(name)) x.check.report(x, node.name, messages.typeTwice(name))
  const enumName = module.prefix + name
  if (node.members.length > MEMBERS_MAX)
    x.check.report(x, node.name, messages.tooManyMembers(name, 'members', MEMBERS_MAX))
  const members: EnumMemberValue[] = node.members.slice(0, MEMBERS_MAX).map((one) => ({
    enumName,
    name: one.name.name,
    title: one.title?.kind === 'String' ? one.title.value : one.name.name,
  }))
  reportTwice(
    x,
    'member',
    node.members.map((one) => one.name),
  )
  const type: EnumType = { name: enumName, members }
  module.enums.set(name, { type, exported: node.exported })
  x.check.enums.push(type)
}

function reportTwice(x: Context, what: string, names: readonly tree.Name[]): void {
  const seen = new Set<string>()
  for (const one of names) {
    if (seen.has(one.name) && one.name !== '_') x.check.report(x, one, messages.declaredTwice(what, one.name))
    seen.add(one.name)
  }
}

function typeName(x: Context, node: tree.TypeDeclaration): void {
  const { name } = node.name
  const { module } = x
  if (module.types.has(name)) x.check.report(x, node.name, messages.typeTwice(name))
  reportTwice(
    x,
    'field',
    node.fields.map((one) => one.name),
  )
  if (node.fields.length > MEMBERS_MAX)
    x.check.report(x, node.name, messages.tooManyMembers(name, 'fields', MEMBERS_MAX))
  const udt: Mutable<Udt> = { name: module.prefix + name, fields: [] }
  module.types.set(name, { udt, node, exported: node.exported })
  x.check.udts.push(udt)
}

function functionDeclaration(x: Context, node: tree.FunctionDeclaration): void {
  const { name } = node.name
  const { module } = x
  const others = module.functions.get(name) ?? []
  if (others.length === OVERLOADS_MAX) {
    x.check.report(x, node.name, messages.tooManyOverloads(name, OVERLOADS_MAX))
    return
  }
  const parameters = node.parameters.slice(0, PARAMETERS_MAX)
  if (parameters.length < node.parameters.length)
    x.check.report(x, node.name, messages.tooManyParameters(name, PARAMETERS_MAX))
  const types = parameterTypes(x, parameters)
  if (others.some((other) => sameParameters(other.types, types)))
    x.check.report(x, node.name, messages.functionTwice(name))
  if (node.method && (node.parameters[0]?.type ?? null) === null)
    x.check.report(x, node.parameters[0] ?? node.name, messages.methodOfNothing(name))
  reportTwice(
    x,
    'parameter',
    node.parameters.map((one) => one.name),
  )
  if (node.exported)
    for (const [i, one] of node.parameters.entries()) {
      if (one.type === null) x.check.report(x, one, messages.exportUntyped(one.name.name))
      const type = types[i] ?? null
      if (type !== null) reportHidden(x, one, type)
    }
  others.push({ name, node: { ...node, parameters }, module, types, instances: new Map(), called: false })
  module.functions.set(name, others)
}

/** What a library hands out or takes in has to be of types that others can name. */
export function reportHidden(x: Context, node: Range, type: Type): void {
  if (type.kind === 'tuple') for (const item of type.items) reportHidden(x, node, item)
  if (type.kind === 'array' || type.kind === 'matrix') reportHidden(x, node, type.of)
  if (type.kind === 'map') for (const part of [type.key, type.value]) reportHidden(x, node, part)
  // A type of another module has another name, or is another type.
  const own = (name: string): string => name.slice(x.module.prefix.length)
  if (type.kind === 'udt') {
    const info = x.module.types.get(own(type.udt.name))
    if (info?.udt === type.udt && !info.exported)
      x.check.report(x, node, messages.typeNotExported(type.udt.name))
  }
  if (type.kind === 'enum') {
    const info = x.module.enums.get(own(type.enum.name))
    if (info?.type === type.enum && !info.exported)
      x.check.report(x, node, messages.typeNotExported(type.enum.name))
  }
}

/** null = any type. */
function parameterTypes(x: Context, parameters: readonly tree.Parameter[]): readonly (Type | null)[] {
  return parameters.map((one) => (one.type === null ? null : typeOf(x, one.type)))
}

function sameParameters(a: readonly (Type | null)[], b: readonly (Type | null)[]): boolean {
  if (a.length !== b.length) return false
  return a.every((type, i) => {
    const other = b[i] ?? null
    return type === other || (type !== null && other !== null && sameType(type, other))
  })
}

function importLibrary(x: Context, node: tree.Import): void {
  const { check, module } = x
  const path = `${node.user}/${node.library}/${node.version}`
  const alias = node.alias?.name ?? node.library
  const known = check.libraries.get(path)
  const library = known === undefined ? readLibrary(x, node, path, alias) : known
  check.libraries.set(path, library)
  if (library !== null) module.imports.set(alias, library)
  else module.missing.add(alias)
}

function readLibrary(x: Context, node: tree.Import, path: string, alias: string): Module | null {
  const { check } = x
  const source = check.options.library?.(node.user, node.library, node.version) ?? null
  if (source === null) {
    check.report(x, node, messages.libraryNotFound(path))
    return null
  }
  // A library that imports itself in a circle finds nothing at the second turn.
  check.libraries.set(path, null)
  const { script, diagnostics } = parse(source)
  const version = script.version === 4 || script.version === 5 ? script.version : 6
  const library = newModule(script, version, `${alias}.`, true)
  const inside = { ...topContext(check, library), out: check.prologue }
  collect(inside, script.statements)
  library.diagnostics.push(...diagnostics)
  check.imported.push({ at: { x, node }, path, source, library })
  return library
}

/** Mistakes of libraries, told where they are imported; those inside a function are known once it has been called. */
export function reportBrokenLibraries(check: Check): void {
  for (const { at, path, source, library } of check.imported) {
    const broken = library.diagnostics.find((one) => one.severity === 'error')
    if (broken === undefined) continue
    const { line } = new Source(source).position(broken.start)
    check.report(at.x, at.node, messages.libraryBroken(path, line, broken.message))
  }
}

// Types

/** null = none said (`simple length`). */
export function typeOf(x: Context, node: tree.TypeNode): Type | null {
  const { name } = node
  if (name === '') return null
  if (name === 'array' || name === 'matrix') {
    return expectArguments(x, node, 1) ? { kind: name, of: item(x, node, 0) } : ERROR
  }
  if (name === 'map') return expectArguments(x, node, 2) ? mapType(x, node) : ERROR
  if (x.module.missing.has(name.slice(0, Math.max(0, name.indexOf('.'))))) return ERROR
  const own = namedType(x, name, node)
  if (own !== null) return own
  const simple = [...PRIMITIVES, ...HANDLES].find((kind) => kind === name)
  if (simple !== undefined) return { kind: simple }
  x.check.report(x, node, messages.unknownType(name, x.check.suggest(name, typesInSight(x))))
  return ERROR
}

function* typesInSight({ module }: Context): Generator<string> {
  yield* module.types.keys()
  yield* module.enums.keys()
  yield* [...PRIMITIVES, ...HANDLES]
}

function mapType(x: Context, node: tree.TypeNode): Type {
  const key = argument(x, node, 0)
  if (!isPrimitive(key) && key.kind !== 'enum' && key.kind !== 'error')
    x.check.report(x, node.arguments[0] ?? node, messages.mapKey(typeText(key)))
  return { kind: 'map', key, value: item(x, node, 1) }
}

function namedType(x: Context, name: string, node: tree.TypeNode): Type | null {
  const dot = name.indexOf('.')
  const library = dot < 0 ? undefined : x.module.imports.get(name.slice(0, dot))
  const module = library ?? x.module
  const own = library === undefined ? name : name.slice(dot + 1)
  const info = module.types.get(own)
  const enumeration = module.enums.get(own)
  if (library !== undefined && (info ?? enumeration)?.exported === false)
    x.check.report(x, node, messages.notExported(name.slice(0, dot), own))
  if (info !== undefined) return { kind: 'udt', udt: info.udt }
  return enumeration === undefined ? null : { kind: 'enum', enum: enumeration.type }
}

function expectArguments(x: Context, node: tree.TypeNode, count: number): boolean {
  if (node.arguments.length === count) return true
  x.check.report(x, node, messages.typeArgumentCount(node.name, count, node.arguments.length))
  return false
}

function argument(x: Context, node: tree.TypeNode, i: number): Type {
  const one = node.arguments[i]
  return (one === undefined ? null : typeOf(x, one)) ?? ERROR
}

/** What a collection holds: collections too, here. */
function item(x: Context, node: tree.TypeNode, i: number): Type {
  const type = argument(x, node, i)
  if (isCollection(type))
    x.check.report(x, node, messages.nestedCollection(`${node.name}<${typeText(type)}>`))
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

export function enumMember(x: Context, type: EnumType, name: string, node: Range): Expr {
  const member = type.members.find((one) => one.name === name)
  if (member === undefined) {
    const near = x.check.suggest(
      name,
      type.members.map((one) => one.name),
    )
    x.check.report(x, node, messages.unknownMember(type.name, name, near))
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
