// Calls that make a collection which nobody has any more when they are executed again, so that it may serve again.
//
//     t = matrix.transpose(m)
//     plot(t.get(2, 3))
//
// Nothing here leads to `t` but the variable, and that is given another matrix on the next bar. Garbage was most of the
// time of such a bar. What is told here is not whether a value could survive, but whether it plainly cannot: it goes
// straight into a function that hands no matrix on, or into a variable that is only read by such functions.

import type { BuiltinCallExpr, Expr, Program, Stmt, Variable } from '../2-check/program.ts'
import { walkBlock } from '../2-check/walk.ts'

export function shortLivedCalls(program: Program): ReadonlySet<Expr> {
  const found = new Set<Expr>()
  const held = new Map<Variable, Expr>()
  const uses = new Map<Variable, number>()
  const read = new Map<Variable, number>()
  const count = (of: Map<Variable, number>, variable: Variable) =>
    of.set(variable, (of.get(variable) ?? 0) + 1)
  const inExpression = (expr: Expr): void => {
    if (expr.kind === 'Variable') count(uses, expr.variable)
    if (expr.kind !== 'BuiltinCall' || !onlyReads(expr)) return
    const [subject] = expr.args
    if (subject?.kind === 'Variable') count(read, subject.variable)
    else if (subject && servesAgain(subject)) found.add(subject)
  }
  const inStatement = (statement: Stmt): void => {
    if (statement.kind !== 'Declare' || !servesAgain(statement.value)) return
    const { mode, reassigned, historyRead } = statement.variable
    if (mode === 'plain' && !reassigned && !historyRead) held.set(statement.variable, statement.value)
  }
  for (const { body } of [program, ...program.functions]) walkBlock(body, inExpression, inStatement)
  for (const [variable, call] of held)
    if ((uses.get(variable) ?? 0) === (read.get(variable) ?? 0)) found.add(call)
  return found
}

function servesAgain(expr: Expr): boolean {
  if (expr.kind !== 'BuiltinCall') return false
  const { implementation } = expr.overload
  return 'fn' in implementation && implementation.servesAgain === true
}

/** A function of a matrix that hands no matrix on. */
function onlyReads({ builtin, type }: BuiltinCallExpr): boolean {
  return builtin.name.startsWith('matrix.') && type.kind !== 'matrix'
}
