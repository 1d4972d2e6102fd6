// The program: what the checker makes of the tree, and all that the later phases see.
//
// Every name is resolved, every argument in its parameter's place, every conversion written out, every user
// function copied once for each list of argument types it is called with (a Pine function without types is a
// template). Version differences end here: v4 and v5 names and arguments are v6's here, and where versions run differently
// (`lazy`, `toEachRound`) each expression says how, since a script and its libraries may be of several. `when=` is an If
// around the call (its other arguments moved out to variables before it where they have state); `transp=` is color.new.

import type { BuiltinFunction, BuiltinVariable, Overload } from '../builtins/registry.ts'
import type { BinaryOperator, UnaryOperator } from '../1-parse/tree.ts'
import type { InputSpec } from '../runtime/inputs.ts'
import type { PineVersion } from '../runtime/executable.ts'
import type { EnumType, Qualifier, Type, Udt } from './types.ts'

export interface Variable {
  /** Unique in the program; ids run from 0. */
  readonly id: number
  readonly name: string
  readonly type: Type
  readonly qualifier: Qualifier
  /** `var` and `varip` keep their value from bar to bar; `varip` survives rollback too. */
  readonly mode: 'plain' | 'var' | 'varip' | 'parameter' | 'loop'
  /** Written again after its declaration, by `:=` or a compound assignment. */
  readonly reassigned: boolean
  /** Some `x[n]` reads its past, so it needs a column. */
  readonly historyRead: boolean
  /** The function instance it lives in; null = the script's own body. */
  readonly owner: FunctionInstance | null
  /** Declared at the top level of `owner`, not inside a nested block. */
  readonly topLevel: boolean
  readonly start: number
}

interface Typed {
  readonly type: Type
  readonly qualifier: Qualifier
  readonly start: number
  readonly end: number
}

/** null = na of that type. Enum members are EnumMemberValue. */
export interface ConstExpr extends Typed {
  readonly kind: 'Const'
  readonly value: number | string | boolean | null | object
  /** The number that a larger const expression goes on with, where `value` has fewer digits (K17). */
  readonly exact?: number
}
export interface VariableExpr extends Typed {
  readonly kind: 'Variable'
  readonly variable: Variable
}
export interface BuiltinVariableExpr extends Typed {
  readonly kind: 'BuiltinVariable'
  readonly builtin: BuiltinVariable
  /** Call-site number, for variables with state of their own (as ta.obv). */
  readonly site: number
}
/** The value of the n-th input, fixed for the run. `source` inputs are columns. */
export interface InputExpr extends Typed {
  readonly kind: 'Input'
  readonly input: Input
}
export interface HistoryExpr extends Typed {
  readonly kind: 'History'
  readonly base: Expr
  readonly offset: Expr
  readonly site: number
}
export interface UnaryExpr extends Typed {
  readonly kind: 'Unary'
  readonly operator: UnaryOperator
  readonly operand: Expr
}
/** Arithmetic and comparison; operands already have the types the operator works on. `and`/`or` too. */
export interface BinaryExpr extends Typed {
  readonly kind: 'Binary'
  readonly operator: BinaryOperator
  readonly left: Expr
  readonly right: Expr
  /** Of `and` and `or` in v6: the right side runs only when it decides. */
  readonly lazy: boolean
}
export interface TernaryExpr extends Typed {
  readonly kind: 'Ternary'
  readonly test: Expr
  readonly consequent: Expr
  readonly alternate: Expr
}
/** An implicit or explicit cast whose run-time value differs: number → bool (v4, v5), float → int (truncates), … */
export interface ConvertExpr extends Typed {
  readonly kind: 'Convert'
  readonly operand: Expr
}
export interface BuiltinCallExpr extends Typed {
  readonly kind: 'BuiltinCall'
  readonly builtin: BuiltinFunction
  readonly overload: Overload
  /** In parameter order, defaults filled in; null = not given and without default. A variadic tail is simply longer. */
  readonly args: readonly (Expr | null)[]
  readonly typeArguments: readonly Type[]
  /** Unique in the program: the identity of this call site's state. */
  readonly site: number
}
export interface UserCallExpr extends Typed {
  readonly kind: 'UserCall'
  readonly fn: FunctionInstance
  /** One for each parameter. */
  readonly args: readonly Expr[]
  readonly site: number
}
export interface TupleExpr extends Typed {
  readonly kind: 'Tuple'
  readonly items: readonly Expr[]
}
export interface NewObjectExpr extends Typed {
  readonly kind: 'NewObject'
  readonly udt: Udt
  /** One for each field, with defaults filled in. */
  readonly args: readonly Expr[]
}
/** `object.copy()` of a UDT: shallow. Built-in types have a built-in of that name. */
export interface CopyObjectExpr extends Typed {
  readonly kind: 'CopyObject'
  readonly object: Expr
}
export interface FieldExpr extends Typed {
  readonly kind: 'Field'
  readonly object: Expr
  /** A UDT's field, or a field of chart.point. */
  readonly field: string
  /** na where the object is, which otherwise ends the run. */
  readonly orNa?: boolean
}
/** Type void = a statement. Otherwise every branch has a result of this type and there always is an alternate. */
export interface IfExpr extends Typed {
  readonly kind: 'If'
  readonly test: Expr
  readonly consequent: Block
  readonly alternate: Block | null
}
/** As for If: a switch with a value always has a default case. */
export interface SwitchExpr extends Typed {
  readonly kind: 'Switch'
  readonly subject: Expr | null
  readonly cases: readonly { readonly test: Expr | null; readonly body: Block }[]
}
/** A loop with a value (type not void) is worth its body's last one, na when it never ran. */
export interface ForExpr extends Typed {
  readonly kind: 'For'
  readonly counter: Variable
  readonly from: Expr
  readonly to: Expr
  /** In v6 the end is evaluated before every round, in v4 and v5 once. */
  readonly toEachRound: boolean
  readonly by: Expr | null
  readonly body: Block
}
export interface ForInExpr extends Typed {
  readonly kind: 'ForIn'
  readonly index: Variable | null
  readonly value: Variable
  readonly collection: Expr
  readonly body: Block
}
export interface WhileExpr extends Typed {
  readonly kind: 'While'
  readonly test: Expr
  readonly body: Block
}
export type Expr =
  | ConstExpr
  | VariableExpr
  | BuiltinVariableExpr
  | InputExpr
  | HistoryExpr
  | UnaryExpr
  | BinaryExpr
  | TernaryExpr
  | ConvertExpr
  | BuiltinCallExpr
  | UserCallExpr
  | TupleExpr
  | NewObjectExpr
  | CopyObjectExpr
  | FieldExpr
  | IfExpr
  | SwitchExpr
  | ForExpr
  | ForInExpr
  | WhileExpr

export interface Block {
  readonly statements: readonly Stmt[]
  /** The block's value: its last statement's, already removed from `statements` when it is a bare expression. null = void. */
  readonly result: Expr | null
}

export type Stmt =
  | { readonly kind: 'Declare'; readonly variable: Variable; readonly value: Expr; readonly start: number }
  | {
      readonly kind: 'DeclareTuple'
      /** null = `_`. */
      readonly variables: readonly (Variable | null)[]
      readonly value: Expr
      readonly start: number
    }
  /** Compound assignments arrive as `x := x + …`. */
  | { readonly kind: 'Assign'; readonly variable: Variable; readonly value: Expr; readonly start: number }
  | {
      readonly kind: 'AssignField'
      readonly object: Expr
      readonly field: string
      readonly value: Expr
      readonly start: number
    }
  | { readonly kind: 'Expression'; readonly value: Expr; readonly start: number }
  | { readonly kind: 'Break' | 'Continue'; readonly start: number }

export interface FunctionInstance {
  readonly id: number
  readonly name: string
  readonly parameters: readonly Variable[]
  readonly body: Block
  readonly returns: Type
}

/** As a run has to know it, and where a `source` default comes from that is a variable of the script's. */
export interface Input extends InputSpec {
  readonly sourceExpr: Expr | null
  readonly enum: EnumType | null
}

export const SCRIPT_KINDS = ['strategy', 'indicator', 'library'] as const
export type ScriptKind = (typeof SCRIPT_KINDS)[number]

/** The arguments of `strategy(…)`, `indicator(…)`, `library(…)` by v6 parameter name, defaults of the script's version filled in. */
export interface Declaration {
  readonly kind: ScriptKind
  /** As of the newest day: a run takes them by `argsAsOf`. */
  readonly args: Readonly<Record<string, number | string | boolean | null>>
  /** Those that the script names itself. */
  readonly given: readonly string[]
}

export interface Program {
  readonly version: PineVersion
  readonly declaration: Declaration
  readonly inputs: readonly Input[]
  readonly udts: readonly Udt[]
  readonly enums: readonly EnumType[]
  readonly functions: readonly FunctionInstance[]
  readonly body: Block
  /** What request.*() calls in the body take their slice from, if not from the body itself (`3-plan/timeframe.ts`). */
  readonly elsewhere?: Block | null
  /** The titles of its plot() calls in their order; '' = the call gives none. */
  readonly plotTitles: readonly string[]
  /** How many call sites and variables there are: ids run from 0. */
  readonly siteCount: number
  readonly variableCount: number
}
