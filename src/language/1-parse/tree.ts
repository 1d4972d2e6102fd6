// The tree: what the parser makes of the text, nothing known yet of names and types.
//
// Plain objects told apart by `kind`. Offsets only (`start` inclusive, `end` exclusive). `if`, `switch` and loops are
// expressions in Pine, so they are here too; a block's value is its last statement's. Where the text
// is broken the parser puts an ErrorExpression and goes on, so there is always a tree.

import { words } from '../../lib/words.ts'

export interface Node {
  readonly start: number
  readonly end: number
}

export interface Name extends Node {
  readonly kind: 'Name'
  readonly name: string
}

/** `float`, `simple int`, `array<float>`, `float[]`, `chart.point`, `map<string, lib.Trade>`. */
export interface TypeNode extends Node {
  readonly kind: 'Type'
  readonly qualifier: 'const' | 'input' | 'simple' | 'series' | null
  /**
   * Dotted name: `float`, `array`, `chart.point`, `lib.Trade`. `float[]` is parsed as array<float>. Empty when a
   * qualifier stands alone: `f(simple x)`.
   */
  readonly name: string
  readonly arguments: readonly TypeNode[]
}

// Expressions

export interface NumberLiteral extends Node {
  readonly kind: 'Number'
  readonly value: number
  readonly isInt: boolean
}
export interface StringLiteral extends Node {
  readonly kind: 'String'
  readonly value: string
}
export interface BoolLiteral extends Node {
  readonly kind: 'Bool'
  readonly value: boolean
}
/** 0xRRGGBBAA. `#RRGGBB` has AA = FF. */
export interface ColorLiteral extends Node {
  readonly kind: 'Color'
  readonly value: number
}
export interface Identifier extends Node {
  readonly kind: 'Identifier'
  readonly name: string
}
/** `ta.sma`, `object.field`, `math.pi`; also `[]`-free method access. */
export interface Member extends Node {
  readonly kind: 'Member'
  readonly object: Expression
  readonly property: Name
}
export interface Argument extends Node {
  readonly kind: 'Argument'
  readonly name: Name | null
  readonly value: Expression
}
export interface Call extends Node {
  readonly kind: 'Call'
  readonly callee: Expression
  /** `array.new<float>(…)`. */
  readonly typeArguments: readonly TypeNode[]
  readonly arguments: readonly Argument[]
}
/** History: `close[1]`. */
export interface Index extends Node {
  readonly kind: 'Index'
  readonly object: Expression
  readonly index: Expression
}
export const UNARY_OPERATORS = ['+', '-', 'not'] as const
export type UnaryOperator = (typeof UNARY_OPERATORS)[number]
export interface Unary extends Node {
  readonly kind: 'Unary'
  readonly operator: UnaryOperator
  readonly operand: Expression
}
export const BINARY_OPERATORS = words('+ - * / % < <= > >= == != and or')
export type BinaryOperator = (typeof BINARY_OPERATORS)[number]
export interface Binary extends Node {
  readonly kind: 'Binary'
  readonly operator: BinaryOperator
  readonly left: Expression
  readonly right: Expression
}
export interface Ternary extends Node {
  readonly kind: 'Ternary'
  readonly test: Expression
  readonly consequent: Expression
  readonly alternate: Expression
}
export interface Tuple extends Node {
  readonly kind: 'Tuple'
  readonly items: readonly Expression[]
}
export interface If extends Node {
  readonly kind: 'If'
  readonly test: Expression
  readonly consequent: Block
  /** An `else if` is a block whose only statement is an If. */
  readonly alternate: Block | null
}
export interface SwitchCase extends Node {
  /** null = the default case. */
  readonly test: Expression | null
  readonly body: Block
}
export interface Switch extends Node {
  readonly kind: 'Switch'
  readonly subject: Expression | null
  readonly cases: readonly SwitchCase[]
}
export interface For extends Node {
  readonly kind: 'For'
  readonly counter: Name
  readonly counterType: TypeNode | null
  readonly from: Expression
  readonly to: Expression
  readonly by: Expression | null
  readonly body: Block
}
/** `for value in collection` (index null) and `for [index, value] in collection`. */
export interface ForIn extends Node {
  readonly kind: 'ForIn'
  readonly index: Name | null
  readonly value: Name
  readonly collection: Expression
  readonly body: Block
}
export interface While extends Node {
  readonly kind: 'While'
  readonly test: Expression
  readonly body: Block
}
/** Runs its block the first time the test is true, and never again. */
export interface Once extends Node {
  readonly kind: 'Once'
  /** null = true. */
  readonly test: Expression | null
  readonly body: Block
}
export interface ErrorExpression extends Node {
  readonly kind: 'Error'
}
export type Expression =
  | NumberLiteral
  | StringLiteral
  | BoolLiteral
  | ColorLiteral
  | Identifier
  | Member
  | Call
  | Index
  | Unary
  | Binary
  | Ternary
  | Tuple
  | If
  | Switch
  | For
  | ForIn
  | While
  | Once
  | ErrorExpression

// Statements

export interface Block extends Node {
  readonly kind: 'Block'
  readonly statements: readonly Statement[]
}
/** Before version 6 the name may have dots: `strategy.initial_capital = 50000` hides the built-in one. */
export interface VariableDeclaration extends Node {
  readonly kind: 'VariableDeclaration'
  readonly mode: 'plain' | 'var' | 'varip'
  readonly type: TypeNode | null
  readonly name: Name
  readonly value: Expression
  readonly exported: boolean
}
export interface TupleDeclaration extends Node {
  readonly kind: 'TupleDeclaration'
  /** `_` is a name like any other; it may be declared many times. */
  readonly names: readonly Name[]
  readonly value: Expression
}
export const ASSIGNMENT_OPERATORS = [':=', '+=', '-=', '*=', '/=', '%='] as const
export type AssignmentOperator = (typeof ASSIGNMENT_OPERATORS)[number]
export interface Assignment extends Node {
  readonly kind: 'Assignment'
  readonly operator: AssignmentOperator
  /** Identifier or Member; anything else is refused by the checker. */
  readonly target: Expression
  readonly value: Expression
}
export interface ExpressionStatement extends Node {
  readonly kind: 'ExpressionStatement'
  readonly expression: Expression
}
export interface Parameter extends Node {
  readonly name: Name
  readonly type: TypeNode | null
  readonly default: Expression | null
}
export interface FunctionDeclaration extends Node {
  readonly kind: 'FunctionDeclaration'
  readonly name: Name
  readonly parameters: readonly Parameter[]
  readonly body: Block
  readonly exported: boolean
  readonly method: boolean
}
export interface TypeField extends Node {
  readonly name: Name
  readonly type: TypeNode
  readonly varip: boolean
  readonly default: Expression | null
}
export interface TypeDeclaration extends Node {
  readonly kind: 'TypeDeclaration'
  readonly name: Name
  readonly fields: readonly TypeField[]
  readonly exported: boolean
}
export interface EnumMember extends Node {
  readonly name: Name
  readonly title: Expression | null
}
export interface EnumDeclaration extends Node {
  readonly kind: 'EnumDeclaration'
  readonly name: Name
  readonly members: readonly EnumMember[]
  readonly exported: boolean
}
export interface Import extends Node {
  readonly kind: 'Import'
  readonly user: string
  readonly library: string
  readonly version: number
  readonly alias: Name | null
}
export interface Jump extends Node {
  readonly kind: 'Break' | 'Continue'
}
export type Statement =
  | VariableDeclaration
  | TupleDeclaration
  | Assignment
  | ExpressionStatement
  | FunctionDeclaration
  | TypeDeclaration
  | EnumDeclaration
  | Import
  | Jump

/** `version` from `//@version=N`, null without one. */
export interface Script extends Node {
  readonly kind: 'Script'
  readonly version: number | null
  readonly statements: readonly Statement[]
}
