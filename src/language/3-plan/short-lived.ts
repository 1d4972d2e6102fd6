// Calls that make a collection which nobody has any more when they are executed again, so that it may serve again.
//
//     t = matrix.transpose(m)
//     plot(t.get(2, 3))
//
// Nothing here leads to `t` but the variable, and that is given another matrix on the next bar. Garbage was most of the
// time of such a bar. What is told here is not whether a value could survive, but whether it plainly cannot: it goes
// straight into a function that hands no matrix on, or into a variable that is only read by such functions. A variable that
// stays lets go of its matrix when it is given the next one, unless each call of a function has a variable of its own.

import type { BuiltinCallExpr, Expr, Program, Stmt, Variable } from '../2-check/program.ts'
import { walkBlock } from '../2-check/walk.ts'

export function shortLivedCalls(program: Program): ReadonlySet<Expr> {
  const found = new Set<Expr>()
  const held: (readonly [variable: Variable, call: Expr])[] = []
  const uses = new Map<Variable, number>()
  const read = new Map<Variable, number>()
  const count = (of: Map<Variable, number>, variable: Variable) =>
    of.set(variable, (of.get(variable) ?? 0) + 1)
  const inExpression = (expr: Expr): void => {
    if (expr.kind === 'Variable') count(uses, expr.variable)
    if (expr.kind !== 'BuiltinCall' || !handsNothingOn(expr)) return
    const [subject] = expr.args
    if (subject?.kind === 'Variable') count(read, subject.variable)
    else if (subject && servesAgain(subject)) found.add(subject)
  }
  const inStatement = (statement: Stmt): void => {
    const { kind } = statement
    if ((kind !== 'Declare' && kind !== 'Assign') || !servesAgain(statement.value)) return
    const { mode, owner, historyRead } = statement.variable
    const isOne = owner === null && kind === 'Assign'
    if ((mode === 'plain' || isOne) && !historyRead) held.push([statement.variable, statement.value])
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

/** A function of a matrix that hands no matrix on: if it answers one, that is new. */
function handsNothingOn(call: BuiltinCallExpr): boolean {
  return call.builtin.name.startsWith('matrix.') && (call.type.kind !== 'matrix' || servesAgain(call))
}
