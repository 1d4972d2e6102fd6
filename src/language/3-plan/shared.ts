// Which columns two runs of a script can share: those computed ahead from bars and inputs alone.
//
// Thousands of runs of one script over the same bars differ in a few inputs. A moving average of length 20 is the same in
// every run with that length, whatever else was chosen, so computing it once is enough. A column depends on the inputs in
// its expression, and on those of the columns and variables that it uses.

import { walkExpr } from '../2-check/walk.ts'
import type { Expr, Variable } from '../2-check/program.ts'
import type { Hoist, Plan } from './plan.ts'

/** The indexes of the inputs that a hoist depends on, ascending; null if runs must not share it. */
export function inputsBehind(plan: Plan, hoist: Hoist): readonly number[] | null {
  const columns = hoist.kind === 'call' ? hoist.columns : [hoist.column]
  // One of the runs could change a value that is an object.
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
