// Pine's types and qualifiers.
//
// A qualifier says when a value is known: const at compile time, input when the user has chosen, simple on the first bar,
// series on every bar. A value may be used where a later one is expected, but not the other way round.
//
// What a value is while a script runs, the same in every file of this room:
//   int, float   number; na = NaN            color   number 0xRRGGBBAA; na = NaN
//   bool         boolean; na = null (v4, v5) string  string; na = null
//   array, matrix, map, drawings, UDT objects: an object of ours; na = null
//   enum         the EnumMemberValue object; na = null      tuple   a JavaScript array, read at once

import { words } from '../../lib/words.ts'

export const QUALIFIERS = ['const', 'input', 'simple', 'series'] as const
export type Qualifier = (typeof QUALIFIERS)[number]

export const PRIMITIVES = ['int', 'float', 'bool', 'string', 'color'] as const
export const HANDLES = words(
  'line label box table linefill polyline chart.point plot hline footprint volume_row',
)

export interface UdtField {
  readonly name: string
  readonly type: Type
  readonly varip: boolean
}
export interface Udt {
  /** Unique in the program; a library's types are prefixed with its alias. */
  readonly name: string
  readonly fields: readonly UdtField[]
}
export interface EnumType {
  readonly name: string
  readonly members: readonly EnumMemberValue[]
}
/** Compared by identity. */
export interface EnumMemberValue {
  readonly enumName: string
  readonly name: string
  readonly title: string
}

export type Type =
  | { readonly kind: (typeof PRIMITIVES)[number] }
  | { readonly kind: (typeof HANDLES)[number] }
  /** The literal `na` before anything says what it is. */
  | { readonly kind: 'na' }
  | { readonly kind: 'void' }
  | { readonly kind: 'array'; readonly of: Type }
  | { readonly kind: 'matrix'; readonly of: Type }
  | { readonly kind: 'map'; readonly key: Type; readonly value: Type }
  | { readonly kind: 'udt'; readonly udt: Udt }
  | { readonly kind: 'enum'; readonly enum: EnumType }
  | { readonly kind: 'tuple'; readonly items: readonly Type[] }
  /** After an error: fits everything, so that one mistake is reported once. */
  | { readonly kind: 'error' }

export const INT: Type = { kind: 'int' }
export const FLOAT: Type = { kind: 'float' }
/**
 * The quotient of two ints: a float that may go where an int is wanted (`ta.wma(source, length / 2)` is how
 * TradingView's own Hull moving average is written). Known by identity.
 */
export const QUOTIENT: Type = { kind: 'float' }
export const BOOL: Type = { kind: 'bool' }
export const STRING: Type = { kind: 'string' }
export const COLOR: Type = { kind: 'color' }
export const NA: Type = { kind: 'na' }
export const VOID: Type = { kind: 'void' }
export const ERROR: Type = { kind: 'error' }

/** As a script would write it: `array<float>`, `[int, bool]`. */
export function typeText(type: Type): string {
  switch (type.kind) {
    case 'array':
    case 'matrix':
      return `${type.kind}<${typeText(type.of)}>`
    case 'map':
      return `map<${typeText(type.key)}, ${typeText(type.value)}>`
    case 'udt':
      return type.udt.name
    case 'enum':
      return type.enum.name
    case 'tuple':
      return `[${type.items.map(typeText).join(', ')}]`
    default:
      return type.kind
  }
}

export function sameType(a: Type, b: Type): boolean {
  if (a === b || a.kind === 'error' || b.kind === 'error') return true
  if (a.kind !== b.kind) return false
  switch (a.kind) {
    case 'array':
    case 'matrix':
      return (b.kind === 'array' || b.kind === 'matrix') && sameType(a.of, b.of)
    case 'map':
      return b.kind === 'map' && sameType(a.key, b.key) && sameType(a.value, b.value)
    case 'udt':
      return b.kind === 'udt' && a.udt === b.udt
    case 'enum':
      return b.kind === 'enum' && a.enum === b.enum
    case 'tuple':
      return (
        b.kind === 'tuple' &&
        a.items.length === b.items.length &&
        a.items.every((item, i) => sameType(item, b.items[i] ?? ERROR))
      )
    default:
      return true
  }
}

export function isPrimitive(type: Type): boolean {
  return PRIMITIVES.some((kind) => kind === type.kind)
}

export function latest(a: Qualifier, b: Qualifier): Qualifier {
  return isLater(b, a) ? b : a
}

/** Whether `a` is known later than `b`, and so cannot be used where `b` is expected. */
export function isLater(a: Qualifier, b: Qualifier): boolean {
  return a !== b && QUALIFIERS.indexOf(a) > QUALIFIERS.indexOf(b)
}
