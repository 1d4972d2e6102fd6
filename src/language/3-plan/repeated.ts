// Calls that one bar may execute more than once: those in loops, and in functions that loops call.

import type { Expr, FunctionInstance, Program } from '../2-check/program.ts'
import { walkBlock, walkExpr } from '../2-check/walk.ts'

export function repeatedCalls(program: Program): ReadonlySet<Expr> {
  const calls = new Set<Expr>()
  const functions = new Set<FunctionInstance>()
  const seen = new Set<FunctionInstance>()
  const repeated = (expr: Expr): void => {
    if (expr.kind === 'BuiltinCall') calls.add(expr)
    if (expr.kind !== 'UserCall' || functions.has(expr.fn)) return
    functions.add(expr.fn)
    walkBlock(expr.fn.body, repeated)
  }
  const once = (expr: Expr): void => {
    switch (expr.kind) {
      case 'For':
        walkExpr(expr.to, repeated)
        walkBlock(expr.body, repeated)
        return
      case 'ForIn':
        walkBlock(expr.body, repeated)
        return
      case 'While':
        walkExpr(expr.test, repeated)
        walkBlock(expr.body, repeated)
        return
      case 'UserCall':
        if (seen.has(expr.fn)) return
        seen.add(expr.fn)
        walkBlock(expr.fn.body, once)
        return
      default:
    }
  }
  walkBlock(program.body, once)
  return calls
}
