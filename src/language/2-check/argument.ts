// What a call of a built-in gives for a parameter, found by the parameter's name.

import type { BuiltinCallExpr, Expr } from './program.ts'

type Call = Pick<BuiltinCallExpr, 'overload' | 'args'>

/** Where the parameter stands; -1 where the chosen overload has none of that name. */
export function placeOf({ overload }: Call, parameter: string): number {
  return overload.parameters.findIndex(({ name }) => name === parameter)
}

/** null if the call does not give the argument. */
export function argumentOf(call: Call, parameter: string): Expr | null {
  return call.args[placeOf(call, parameter)] ?? null
}
