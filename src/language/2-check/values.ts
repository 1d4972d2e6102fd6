// What all rules produce: the expression for a text, and checks of its value.

import type * as tree from '../1-parse/tree.ts'
import type { Range } from '../source.ts'
import * as messages from '../messages/checking.ts'
import { asNumber, coerce, describe, fits } from './convert.ts'
import { declare, errorExpr, type Place } from './place.ts'
import type { Expr, Variable } from './program.ts'
import { BOOL, FLOAT, VOID, type Type } from './types.ts'

/** Checks an expression that must have a single value. */
export function value(here: Place, node: tree.Expression): Expr {
  return oneValue(here, node, here.check.rules.expression(here, node))
}

export function oneValue(here: Place, node: Range, expr: Expr): Expr {
  if (expr.type.kind === 'void') {
    here.check.report(here, node, messages.voidValue())
    return errorExpr(node)
  }
  if (expr.type.kind === 'tuple') {
    here.check.report(here, node, messages.tupleValue())
    return errorExpr(node)
  }
  return expr
}

export function constant(node: Range, type: Type, content: number | string | boolean | null | object): Expr {
  return { kind: 'Const', value: content, type, qualifier: 'const', start: node.start, end: node.end }
}

/** The result of a call that leaves nothing to run, such as the script's declaration. */
export function nothing(node: Range): Expr {
  return { kind: 'Const', value: null, type: VOID, qualifier: 'const', start: node.start, end: node.end }
}

export function variableExpr(variable: Variable, node: Range): Expr {
  const { type, qualifier } = variable
  return { kind: 'Variable', variable, type, qualifier, start: node.start, end: node.end }
}

/** As the test of an if, a loop, a ternary, or an operand of and/or/not. */
export function condition(here: Place, expr: Expr, node: Range, code: 'CE10101' | null = null): Expr {
  if (expr.type.kind !== 'void' && fits(here, expr.type, BOOL)) return coerce(expr, BOOL)
  here.check.report(
    here,
    node,
    expr.type.kind === 'na' ? messages.naBool() : messages.notABool(describe(expr), here.unit.version, code),
  )
  return { ...errorExpr(node), type: BOOL }
}

export function number(expr: Expr): Expr {
  return expr.type.kind === 'na' ? coerce(expr, FLOAT) : asNumber(expr)
}

/** Evaluates an expression now, before the statement being written, and gives a variable that holds it. */
export function temporary(here: Place, expr: Expr): Expr {
  const variable = declare(
    here,
    `·${here.check.variableCount}`,
    expr.start,
    expr.type,
    expr.qualifier,
    'plain',
  )
  here.out.push({ kind: 'Declare', variable, value: expr, start: expr.start })
  return variableExpr(variable, expr)
}

/** An argument of a call as it is written; `name` of `length = 10`. */
export interface Given {
  readonly name: string | null
  readonly expr: Expr
}

/** The same place, for a value that no variable receives. */
export function forNobody(here: Place): Place {
  return here.target === '' ? here : { ...here, target: '' }
}

/** Checks the arguments in the parentheses. */
export function givenArguments(here: Place, node: tree.Call): Given[] {
  const inside = forNobody(here)
  return node.arguments.map((one) => ({
    name: one.name?.name ?? null,
    expr: here.check.rules.expression(inside, one.value),
  }))
}
