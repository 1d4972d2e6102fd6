// Pine's types and qualifiers.
//
// A qualifier says when a value is known: const at compile time, input when the user has chosen, simple on the
// first bar, series on every bar. A value may be used where a later one is asked for, never the other way.
//
// What a value is while a script runs, the same in every file of this room:
//   int, float   number; na = NaN            color   number 0xRRGGBBAA; na = NaN
//   bool         boolean; na = null (v4, v5) string  string; na = null
//   array, matrix, map, drawings, UDT objects: an object of ours; na = null
//   enum         the EnumMemberValue object; na = null      tuple   a JavaScript array, read at once

export const QUALIFIERS = ['const', 'input', 'simple', 'series'] as const
export type Qualifier = (typeof QUALIFIERS)[number]

export const PRIMITIVES = ['int', 'float', 'bool', 'string', 'color'] as const
export const HANDLES = [
  'line',
  'label',
  'box',
  'table',
  'linefill',
  'polyline',
  'chart.point',
  'plot',
  'hline',
  'footprint',
  'volume_row',
] as const

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
