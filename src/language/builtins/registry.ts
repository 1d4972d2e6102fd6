// Built-ins as data: one entry a name, with its signature, its meaning and its implementation.
//
// The checker reads signatures, the code generator implementations, the editor and `chartroom check --builtins`
// the documentation. A signature is written as Pine's reference writes it:
//
//     '(series float source, simple int length = 14) series float'
//     '(array<T> id, int index, T value) void'        no qualifier on a parameter = series (anything goes)
//     '(int|float ...numbers) float'                   last parameter repeats
//     '(series float source, simple int length) [series float, series float, series float]'   a tuple
//
//     '(string text, string size = size.normal, float y?) label'   defaults: literals, names of constants and variables;
//                                                      `?` = optional without a default, arrives as na of its type
//     '(any value) bool'                               `any` = whatever it is
//
// `signature.ts` reads them, `define.ts` has the helpers to write entries with, `table.ts` gathers all of them.
// A return type without a qualifier takes the latest of its arguments' (math.max of consts is const); with one it is
// that. `T`, `K`, `V` are type variables. A function `array.*`, `line.*`… whose first parameter is of the
// namespace's type can be called as a method.

import type { EnumMemberValue, Qualifier, Type } from '../2-check/types.ts'
import type { StateClass } from '../runtime/state-class.ts'
import type { Runtime } from '../runtime/runtime.ts'
import { words } from '../../lib/words.ts'

/** A value a bar that an implementation reads besides its arguments; the generator appends them, in this order. */
const IMPLICITS = words('open high low close volume time bar_index open[1] high[1] low[1] close[1] volume[1]')
export type Implicit = (typeof IMPLICITS)[number]

/**
 * How a call is carried out.
 * - fn: a plain function of the arguments (then the implicits). `pure`: no effect and nothing read but arguments, so a
 *   call with column arguments may be computed ahead as a column. `runtime`: gets the Runtime first, of which one that is
 *   `pure` too reads only what stays the same for the whole run.
 * - state: a class with `next(...args, ...implicits)`, one instance a call site, called once each time the site is
 *   executed. Always pure in the sense above: it may read nothing but its arguments. A tuple is returned in an array
 *   that the instance owns and reuses. Fields: numbers, strings, booleans, arrays, typed arrays, Maps, other such objects;
 *   never closures (snapshots copy the fields).
 * - special: the generator knows it by name (input.*, plot*, request.*, strategy(), alert…).
 * Omitted optional arguments arrive as their default, without one as na of their type (NaN or null).
 */
export type Implementation =
  | {
      readonly fn: (...args: never[]) => unknown
      readonly pure?: boolean
      /** It changes nothing, and reads what its arguments lead to. */
      readonly reads?: boolean
      readonly runtime?: boolean
      /**
       * Gets its arguments in one object, by their names in camel case, with the call site's number as `site` (the broker
       * tells call sites apart) and `given`, which has a bit for each argument that the call names.
       */
      readonly named?: boolean
      /**
       * Where nobody has its last result any more (`3-plan/short-lived.ts`), it gets that behind its arguments, or null, and
       * may return it with another content.
       */
      readonly servesAgain?: boolean
      readonly implicit?: readonly Implicit[]
      /**
       * The text of the drawing that is made of what `fn` answers (`v`) on a bar (`bar`), without changes (`unchanged`).
       * Machine code knows the layout of a literal: filling lines in by names took a sixth of a run that draws many.
       */
      readonly draws?: string
      /** The function of JavaScript's own that `fn` is, called by its name: `Math.abs`. '' = the argument as it is. */
      readonly inline?: string
    }
  | {
      readonly state: StateClass
      readonly implicit?: readonly Implicit[]
      /** The result depends only on its arguments and its bar, so skipping some bars changes nothing. */
      readonly timeless?: boolean
    }
  | { readonly special: true }

export interface ParameterSpec {
  readonly name: string
  /** The latest qualifier accepted. */
  readonly qualifier: Qualifier
  /** More than one: any of them (`int|float`). */
  readonly types: readonly TypeSpec[]
  readonly required: boolean
  /** Default in run-time form when the signature gives one; `name` is a constant's or variable's (the checker looks it up). */
  readonly default: number | string | boolean | null | undefined | { readonly name: string }
  readonly variadic: boolean
}
/** A type, or a type variable, possibly inside a collection. */
export type TypeSpec =
  | Type
  | { readonly kind: 'variable'; readonly name: 'T' | 'K' | 'V' }
  | { readonly kind: 'array' | 'matrix'; readonly of: TypeSpec }
  | { readonly kind: 'map'; readonly key: TypeSpec; readonly value: TypeSpec }
  /** Any type at all (na(), str.tostring()). */
  | { readonly kind: 'any' }

export interface ReturnSpec {
  /** null = the latest of the arguments'. */
  readonly qualifier: Qualifier | null
  readonly type: TypeSpec | { readonly kind: 'tuple'; readonly items: readonly TypeSpec[] }
}

export interface Overload {
  readonly parameters: readonly ParameterSpec[]
  readonly returns: ReturnSpec
  readonly implementation: Implementation
}

export interface BuiltinFunction {
  readonly kind: 'function'
  readonly name: string
  readonly doc: string
  /** As written, for the editor; `overloads[i]` is what `signatures[i]` says. */
  readonly signatures: readonly string[]
  readonly overloads: readonly Overload[]
  /** 'source' = accepted, but answers na with a warning since there is no data source. */
  readonly status: 'implemented' | 'source'
}

/**
 * - column: a bar column or one derived from it alone (hl2); known to the generator by name.
 * - get: read each time it is executed.
 * - state: as for functions, one instance a run context, advanced every bar.
 */
export type VariableImplementation =
  | { readonly column: string }
  | {
      readonly get: (runtime: Runtime) => unknown
      /** The same for the whole run (syminfo.*): may be read once. */
      readonly fixed?: boolean
      /** The same until an order fills (strategy.position_size). */
      readonly untilFill?: boolean
      readonly inline?: string
    }
  | { readonly state: StateClass; readonly implicit: readonly Implicit[] }

export interface BuiltinVariable {
  readonly kind: 'variable'
  readonly name: string
  readonly doc: string
  readonly type: Type
  readonly qualifier: Qualifier
  readonly implementation: VariableImplementation
  readonly status: 'implemented' | 'source'
}

export interface BuiltinConstant {
  readonly kind: 'constant'
  readonly name: string
  readonly doc: string
  readonly type: Type
  readonly value: number | string | boolean | null | EnumMemberValue
  /** What it was in v4 and v5, where v6 changed it (some colours). */
  readonly valueBefore6?: number
}

export type BuiltinEntry = BuiltinFunction | BuiltinVariable | BuiltinConstant
