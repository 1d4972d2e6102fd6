// A text for what a request.*() call evaluates that equals another's when both ask for the same.
//
// TradingView counts unique calls: two that are written alike, or two calls of a function with the same arguments, are
// one. So a parameter is known by the argument it was given, and a variable of a function by its value.

import type { Expr, UserCallExpr, Variable } from '../2-check/program.ts'
import { keyOf } from './key.ts'

/** `path`: the calls that lead to the function the request stands in, outermost first. */
export function requestKey(path: readonly UserCallExpr[], wanted: Expr): string {
  const known = new Map<Variable, string>()
  const key = (expr: Expr): string => keyOf(expr, special)
  const special = (expr: Expr): string | null => {
    if (expr.kind === 'Variable') return known.get(expr.variable) ?? null
    if (expr.kind === 'UserCall') return `${expr.fn.id}(${expr.args.map(key).join(',')})`
    if (expr.kind === 'Tuple') return `[${expr.items.map(key).join(',')}]`
    return null
  }
  const sites = path.map(({ site }) => site).join('/')
  for (const call of path) {
    const args = call.args.map(key)
    for (const [i, variable] of call.fn.parameters.entries()) known.set(variable, args[i] ?? '')
    for (const statement of call.fn.body.statements) {
      if (statement.kind !== 'Declare') continue
      const { variable, value } = statement
      const stays = variable.mode === 'plain' && !variable.reassigned
      known.set(variable, stays ? `(${key(value)})` : `v${variable.id}@${sites}`)
    }
  }
  return key(wanted)
}
