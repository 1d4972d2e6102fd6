// Which columns two runs of a script may have in common: those that are computed ahead of nothing but bars and inputs.
//
// Thousands of runs of one script over the same bars differ in a few inputs. A moving average of length 20 is the same in each
// that has a length of 20, whatever else was chosen, so it need be computed once. A column hangs on the inputs that its
// expression names, and those it takes other columns and variables from.

import { walkExpr } from '../2-check/walk.ts'
import type { Expr, Variable } from '../2-check/program.ts'
import type { Hoist, Plan } from './plan.ts'

/** The numbers of the inputs that a hoist depends on, ascending; null where runs may not have it in common. */
export function inputsBehind(plan: Plan, hoist: Hoist): readonly number[] | null {
  const columns = hoist.kind === 'call' ? hoist.columns : [hoist.column]
  // What is kept as an object could be changed by one of the runs.
  if (columns.some(({ kind }) => kind === 'any')) return null
  const inputs = new Set<number>()
  const seen = new Set<Variable>()
  let isShared = true
  const look = (root: Expr): void =>
    walkExpr(root, (expr) => {
      if (expr.kind === 'Input') {
        inputs.add(expr.input.index)
        if (expr.input.sourceExpr) look(expr.input.sourceExpr)
      } else if (expr.kind === 'Variable') {
        if (seen.has(expr.variable)) return
        seen.add(expr.variable)
        const definition = plan.definitionOf(expr.variable)
        if (definition) look(definition)
        else isShared = false
      } else if (expr.kind === 'BuiltinCall' || expr.kind === 'BuiltinVariable') {
        if (/^(request|strategy)\./.test(expr.builtin.name)) isShared = false
      }
    })
  look(hoist.kind === 'call' ? hoist.call : hoist.value)
  return isShared ? [...inputs].sort((a, b) => a - b) : null
}
