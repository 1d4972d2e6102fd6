// A program without what it only shows, for runs whose plots nobody will look at.
//
// Plots and the like are at the top level of a script and only return a handle for fill(). They are removed if evaluating
// their arguments has no other effect; a call of the script's own function might trade, so it stays.

import { walkBlock, walkExpr } from '../2-check/walk.ts'
import type { Expr, Program, Stmt, Variable } from '../2-check/program.ts'
import { words } from '../../lib/words.ts'

const SHOWN: ReadonlySet<string> = new Set(
  words('plot plotshape plotchar plotarrow plotbar plotcandle hline fill bgcolor barcolor alertcondition'),
)

export function withoutPictures(program: Program): Program {
  const { body, functions } = program
  const kept = body.statements.filter((statement) => !isPicture(statement))
  // Only fill() can use a handle, and fill() may have to stay.
  const read = new Set<Variable>()
  const note = (expr: Expr) => {
    if (expr.kind === 'Variable') read.add(expr.variable)
  }
  walkBlock({ statements: kept, result: body.result }, note)
  for (const fn of functions) walkBlock(fn.body, note)
  const statements = body.statements.filter(
    (statement) => !isPicture(statement) || (statement.kind === 'Declare' && read.has(statement.variable)),
  )
  return { ...program, body: { ...body, statements } }
}

function isPicture(statement: Stmt): boolean {
  if (statement.kind !== 'Expression' && statement.kind !== 'Declare') return false
  const { value } = statement
  if (value.kind !== 'BuiltinCall' || !SHOWN.has(value.builtin.name)) return false
  let isQuiet = true
  walkExpr(value, (part) => {
    if (part !== value && !onlyGives(part)) isQuiet = false
  })
  return isQuiet
}

/** Whether evaluating it has no effect besides its value. */
function onlyGives(expr: Expr): boolean {
  if (expr.kind !== 'BuiltinCall') return QUIET.has(expr.kind)
  const { implementation } = expr.overload
  if (expr.builtin.name.startsWith('request.')) return false
  return 'state' in implementation || ('fn' in implementation && implementation.pure === true)
}

const QUIET: ReadonlySet<Expr['kind']> = new Set(
  words('Const Variable BuiltinVariable Input Unary Binary Ternary Convert History'),
)
