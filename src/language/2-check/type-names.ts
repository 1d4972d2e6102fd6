// The types that names in a text denote, and the members of a type that can be found by name.

import type * as tree from '../1-parse/tree.ts'
import type { Range } from '../source.ts'
import * as messages from '../messages/checking.ts'
import { errorExpr, importOf, type Place } from './place.ts'
import type { Expr } from './program.ts'
import {
  ERROR,
  FLOAT,
  HANDLES,
  INT,
  PRIMITIVES,
  isPrimitive,
  typeText,
  type EnumType,
  type Type,
} from './types.ts'

/** The type that a text names; null = it names none, but only a qualifier, as in `simple length`. */
export function typeOf(here: Place, node: tree.TypeNode): Type | null {
  const { name } = node
  if (name === '') return null
  if (name === 'array' || name === 'matrix') {
    if (!expectArguments(here, node, 1)) return ERROR
    return reportHeld(here, node, { kind: name, of: argument(here, node, 0) })
  }
  if (name === 'map') {
    if (!expectArguments(here, node, 2)) return ERROR
    return reportHeld(here, node, {
      kind: 'map',
      key: argument(here, node, 0),
      value: argument(here, node, 1),
    })
  }
  const simple = [...PRIMITIVES, ...HANDLES].find((kind) => kind === name)
  const alias = name.slice(0, Math.max(0, name.indexOf('.')))
  // `chart.point` is not of a library that is imported as `chart`.
  if (simple === undefined) importOf(here.unit, alias)
  if (here.unit.missing.has(alias)) return ERROR
  const own = namedType(here, name, node)
  if (own !== null) return own
  if (simple !== undefined) return { kind: simple }
  here.check.report(here, node, messages.unknownType(name, here.check.suggest(name, typesInSight(here))))
  return ERROR
}

function* typesInSight({ unit }: Place): Generator<string> {
  yield* unit.types.keys()
  yield* unit.enums.keys()
  yield* [...PRIMITIVES, ...HANDLES]
}

/** Reports what a collection cannot hold (L22): keys that are held by reference, and collections. Answers its type. */
export function reportHeld(here: Place, at: Range, type: Type): Type {
  if (!isCollection(type)) return type
  if (type.kind === 'map' && !isPrimitive(type.key) && type.key.kind !== 'enum' && type.key.kind !== 'error')
    here.check.report(here, at, messages.mapKey(typeText(type.key)))
  const held = type.kind === 'map' ? type.value : type.of
  if (isCollection(held)) here.check.report(here, at, messages.nestedCollection(typeText(type)))
  return type
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

function isCollection(type: Type): type is Extract<Type, { kind: 'array' | 'matrix' | 'map' }> {
  return type.kind === 'array' || type.kind === 'matrix' || type.kind === 'map'
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
