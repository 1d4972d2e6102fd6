// Visits every expression and statement below a node, parents first. Bodies of called functions are not below a call.

import { unreachable } from '../../lib/assert.ts'
import type { Block, BuiltinVariableExpr, ConstExpr, Expr, InputExpr, Stmt, VariableExpr } from './program.ts'

type Visit = (expr: Expr) => void
type VisitStatement = (statement: Stmt) => void

export function walkBlock(block: Block, visit: Visit, visitStatement?: VisitStatement): void {
  walker(visit, visitStatement).inside(block)
}

export function walkExpr(expr: Expr, visit: Visit, visitStatement?: VisitStatement): void {
  walker(visit, visitStatement).below(expr)
}

function walker(visit: Visit, visitStatement: VisitStatement | undefined) {
  const inside = (block: Block | null): void => {
    if (!block) return
    for (const statement of block.statements) {
      visitStatement?.(statement)
      if (statement.kind === 'AssignField') below(statement.object)
      if ('value' in statement) below(statement.value)
    }
    below(block.result)
  }
  const below = (expr: Expr | null): void => {
    if (!expr) return
    visit(expr)
    // Most expressions of a script are leaves, so they are sorted out first.
    if (!isLeaf(expr)) eachPart(expr, below, inside)
  }
  return { inside, below }
}

/** The direct parts of an expression, in the order in which they are evaluated. */
export function eachPart(
  expr: Expr,
  below: (part: Expr | null) => void,
  inside: (block: Block | null) => void,
): void {
  switch (expr.kind) {
    case 'Const':
    case 'Variable':
    case 'BuiltinVariable':
    case 'Input':
      return
    case 'History':
      below(expr.base)
      below(expr.offset)
      return
    case 'Unary':
    case 'Convert':
      below(expr.operand)
      return
    case 'Binary':
      below(expr.left)
      below(expr.right)
      return
    case 'Ternary':
      below(expr.test)
      below(expr.consequent)
      below(expr.alternate)
      return
    case 'BuiltinCall':
    case 'UserCall':
    case 'NewObject':
      for (const arg of expr.args) below(arg)
      return
    case 'Tuple':
      for (const item of expr.items) below(item)
      return
    case 'CopyObject':
    case 'Field':
      below(expr.object)
      return
    case 'If':
      below(expr.test)
      inside(expr.consequent)
      inside(expr.alternate)
      return
    case 'Switch':
      below(expr.subject)
      for (const { test, body } of expr.cases) {
        below(test)
        inside(body)
      }
      return
    case 'For':
      below(expr.from)
      below(expr.to)
      below(expr.by)
      inside(expr.body)
      return
    case 'ForIn':
      below(expr.collection)
      inside(expr.body)
      return
    case 'While':
      below(expr.test)
      inside(expr.body)
      return
    default:
      unreachable(expr)
  }
}

function isLeaf(expr: Expr): expr is ConstExpr | VariableExpr | BuiltinVariableExpr | InputExpr {
  const { kind } = expr
  return kind === 'Const' || kind === 'Variable' || kind === 'BuiltinVariable' || kind === 'Input'
}
