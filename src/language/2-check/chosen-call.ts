// A call of a built-in whose arguments are known: the overload that takes them.

import { assert } from '../../lib/assert.ts'
import type { BuiltinFunction } from '../builtins/registry.ts'
import { BUILTIN_FUNCTIONS } from '../builtins/table.ts'
import type { Range } from '../source.ts'
import * as messages from '../messages/checking.ts'
import { choose } from './overloads.ts'
import { errorExpr, type Place } from './place.ts'
import type { Expr } from './program.ts'
import type { Type } from './types.ts'
import type { Given } from './values.ts'

export function chosenCall(
  here: Place,
  builtin: BuiltinFunction,
  given: readonly Given[],
  typeArguments: readonly Type[],
  node: Range,
): Expr {
  const chosen = choose(here, builtin, given, typeArguments, node)
  if (chosen === null) return errorExpr(node)
  const { implementation } = chosen.overload
  if ('state' in implementation && !implementation.timeless) {
    if (here.conditional) here.check.report(here, node, messages.conditionalCall(builtin.name))
    if (here.owner !== null) here.check.lookingBack.add(here.owner)
  }
  return {
    kind: 'BuiltinCall',
    builtin,
    overload: chosen.overload,
    args: FORMATTING.test(builtin.name) ? chosen.args.map((arg, i) => formatted(here, arg, i)) : chosen.args,
    typeArguments,
    site: here.check.site(),
    type: arrayOfTuple(chosen.type),
    qualifier: chosen.qualifier,
    start: node.start,
    end: node.end,
  }
}

const FORMATTING = /^(?:str\.format|log\.\w+)$/

/**
 * An argument for a pattern of str.format(). Java writes an array's floats as `1.0` and its ints as `1`, and only the types
 * tell them apart.
 */
function formatted(here: Place, arg: Expr | null, i: number): Expr | null {
  if (i === 0 || arg?.type.kind !== 'array' || arg.type.of.kind !== 'float') return arg
  const floats = BUILTIN_FUNCTIONS.get('·floats')
  assert(floats, '·floats is built in')
  return chosenCall(here, floats, [{ name: null, expr: arg }], [], arg)
}

/** request.security_lower_tf() of a tuple gives a tuple of arrays, not an array of tuples. */
function arrayOfTuple(type: Type): Type {
  if (type.kind !== 'array' || type.of.kind !== 'tuple') return type
  return { kind: 'tuple', items: type.of.items.map((of) => ({ kind: 'array', of })) }
}
