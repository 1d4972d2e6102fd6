// Declarations at the top level of a script or library, which are visible everywhere in it: imports, types, enums,
// functions.

import { parse } from '../1-parse/parser.ts'
import type * as tree from '../1-parse/tree.ts'
import { Source, type Range } from '../source.ts'
import * as messages from '../messages/checking.ts'
import { bundledLibrary, bundledVersions } from '../libraries/bundled.ts'
import { IMPORTS_MAX, MEMBERS_MAX, OVERLOADS_MAX, PARAMETERS_MAX } from './caps.ts'
import { NAMESPACES } from './names.ts'
import { Check, atTop, newUnit, type Mutable, type Place, type Unit } from './place.ts'
import { typeOf } from './type-names.ts'
import { ERROR, sameType, type EnumMemberValue, type EnumType, type Type, type Udt } from './types.ts'

export function collect(here: Place, statements: readonly tree.Statement[]): void {
  const { unit } = here
  importLibraries(
    here,
    statements.filter((one) => one.kind === 'Import'),
  )
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
  for (const { title } of node.members)
    if (title !== null && title.kind !== 'String') here.check.report(here, title, messages.titleIsText())
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
  others.push({ name, node: { ...node, parameters }, unit, types, instances: new Map() })
  unit.functions.set(name, others)
}

/** The types that a library's exports return or take must be visible to others. */
export function reportHidden(here: Place, node: Range, type: Type): void {
  if (type.kind === 'tuple') for (const item of type.items) reportHidden(here, node, item)
  if (type.kind === 'array' || type.kind === 'matrix') reportHidden(here, node, type.of)
  if (type.kind === 'map') for (const part of [type.key, type.value]) reportHidden(here, node, part)
  // Another unit may have a type of the same name, so the type itself is compared too.
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

/** The declared types of parameters; null = any type. */
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

function importLibraries(here: Place, nodes: readonly tree.Import[]): void {
  const { check, unit } = here
  const extra = nodes[IMPORTS_MAX]
  if (extra !== undefined) check.report(here, extra, messages.tooManyImports(IMPORTS_MAX))
  for (const node of nodes) {
    const alias = node.alias?.name ?? node.library
    if (extra !== undefined) unit.missing.add(alias)
    else if (NAMESPACES.has(alias)) unit.deferred.set(alias, () => importLibrary(here, node, alias))
    else importLibrary(here, node, alias)
  }
}

function importLibrary(here: Place, node: tree.Import, alias: string): void {
  const { check, unit } = here
  const path = `${node.user}/${node.library}/${node.version}`
  const known = check.libraries.get(path)
  if (check.reading.has(path)) check.report(here, node, messages.importsItself(path))
  const library = known === undefined ? readLibrary(here, node, path, alias) : known
  check.libraries.set(path, library)
  if (library !== null) unit.imports.set(alias, library)
  else unit.missing.add(alias)
}

function readLibrary(here: Place, node: tree.Import, path: string, alias: string): Unit | null {
  const { check } = here
  const named = [node.user, node.library, node.version] as const
  const source = check.options.library?.(...named) ?? bundledLibrary(...named)
  if (source === null) {
    const versions = bundledVersions(node.user, node.library)
    check.report(here, node, messages.libraryNotFound(path, versions?.join(' to ')))
    return null
  }
  // A library that imports itself in a circle finds nothing at the second turn.
  check.libraries.set(path, null)
  check.reading.add(path)
  const { script, diagnostics } = parse(source)
  const version = script.version === 4 || script.version === 5 ? script.version : 6
  const library = newUnit(check, script, version, `${alias}.`, path)
  const inside = { ...atTop(check, library), out: check.prologue }
  collect(inside, script.statements)
  check.reading.delete(path)
  library.diagnostics.push(...diagnostics)
  if (script.version === null) check.report(inside, script, messages.noVersion())
  check.imported.push({ at: { here, node }, path, source, library })
  return library
}

/** Mistakes of libraries, reported where they are imported; those inside a function are known once it has been called. */
export function reportBrokenLibraries(check: Check): void {
  for (const { at, path, source, library } of check.imported) {
    const broken = library.diagnostics.find((one) => one.severity === 'error')
    if (broken === undefined) continue
    const { line } = new Source(source).position(broken.start)
    check.report(at.here, at.node, messages.libraryBroken(path, line, broken.message))
  }
}
