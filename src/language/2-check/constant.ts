// Folding computes the value of a const expression.
//
// Some arguments have to be known when the script is compiled: the declaration's, titles, defaults of inputs. They may
// be written as expressions of constants: `color.new(color.red, 50)`, `"RSI " + "(14)"`, `60 * 60 * 24`.

import { ScriptError } from '../script-error.ts'
import { FOLDED_CALLS_MAX, FOLDED_LETTERS_MAX } from './caps.ts'
import { Check, type ConstValue } from './place.ts'
import type { BinaryExpr, BuiltinCallExpr, Expr, UserCallExpr, Variable } from './program.ts'

/** The value of an expression; undefined = it is not known before the script runs. */
export function fold(check: Check, expr: Expr): ConstValue | undefined {
  switch (expr.kind) {
    case 'Const':
      return expr.exact ?? (expr.value as ConstValue)
    case 'Variable':
      return check.constants.get(expr.variable)
    case 'Unary': {
      const value = fold(check, expr.operand)
      if (value === undefined) return undefined
      if (expr.operator === 'not') return value === null ? null : !value
      return typeof value === 'number' ? (expr.operator === '-' ? -value : value) : undefined
    }
    case 'Binary':
      return binary(check, expr)
    case 'Ternary': {
      const test = fold(check, expr.test)
      if (test === undefined) return undefined
      return fold(check, test === true ? expr.consequent : expr.alternate)
    }
    case 'Convert': {
      const value = fold(check, expr.operand)
      if (typeof value !== 'number') return undefined
      return expr.type.kind === 'bool' ? value !== 0 && !Number.isNaN(value) : Math.trunc(value)
    }
    case 'BuiltinCall':
      return call(check, expr)
    case 'UserCall':
      return userCall(check, expr)
    default:
      return undefined
  }
}

/** K17: a number below 1 that the compiler knows is embedded with sixteen decimals. */
export function embedded(known: number): number {
  const size = Math.abs(known)
  return size >= 0.001 && size < 1 ? Number(known.toFixed(16)) : known
}

/** The number itself, where the compiler knows it and embeds another than the run would find. */
export function known(check: Check, expr: Expr): Expr {
  const exact = expr.qualifier === 'const' && expr.type.kind === 'float' ? fold(check, expr) : undefined
  if (typeof exact !== 'number' || embedded(exact) === exact) return expr
  const { type, qualifier, start, end } = expr
  return { kind: 'Const', value: embedded(exact), exact, type, qualifier, start, end }
}

function binary(check: Check, expr: BinaryExpr): ConstValue | undefined {
  const left = fold(check, expr.left)
  const right = fold(check, expr.right)
  if (left === undefined || right === undefined) return undefined
  if (expr.operator === 'and') return left === true && right === true
  if (expr.operator === 'or') return left === true || right === true
  if (expr.operator === '==') return left === right
  if (expr.operator === '!=') return left !== right
  if (typeof left === 'string' && typeof right === 'string')
    return expr.operator === '+' ? joined(check, left, right) : undefined
  if (typeof left !== 'number' || typeof right !== 'number') return undefined
  switch (expr.operator) {
    case '+':
      return left + right
    case '-':
      return left - right
    case '*':
      return left * right
    case '/':
      return left / right
    case '%':
      return left % right
    case '<':
      return left < right
    case '<=':
      return left <= right
    case '>':
      return left > right
    case '>=':
      return left >= right
    default:
      return undefined
  }
}

/**
 * Joins two texts. Each line may double the previous text, so joining beyond the limit is left to the run, which refuses
 * it.
 */
function joined(check: Check, left: string, right: string): string | undefined {
  check.folded += left.length + right.length
  return check.folded > FOLDED_LETTERS_MAX ? undefined : left + right
}

function call(check: Check, expr: BuiltinCallExpr): ConstValue | undefined {
  const result = computed(check, expr)
  return typeof result === 'number' || typeof result === 'string' || typeof result === 'boolean'
    ? result
    : undefined
}

/**
 * What a constant call of a built-in computes; undefined where that has to wait for the run. What a built-in refuses (a
 * date that is none) is answered as the error, which is told when the script runs, at its place.
 */
function computed(check: Check, expr: BuiltinCallExpr): unknown {
  const { implementation } = expr.overload
  if (expr.qualifier !== 'const' || !('fn' in implementation) || !implementation.pure) return undefined
  const args: ConstValue[] = []
  for (const [i, arg] of expr.args.entries()) {
    const value = arg === null ? null : fold(check, arg)
    if (value === undefined) return undefined
    const kind = expr.overload.parameters[i]?.types[0]?.kind
    const isNumeric = kind === 'int' || kind === 'float' || kind === 'color'
    args.push(value === null && isNumeric ? Number.NaN : value)
    if (typeof value === 'string') check.folded += value.length
  }
  if (check.folded > FOLDED_LETTERS_MAX) return undefined
  try {
    return (implementation.fn as (...values: ConstValue[]) => unknown)(...args)
  } catch (error) {
    if (error instanceof ScriptError) return error
    throw error
  }
}

/** A function of the script's own that only computes: what it gives for constants is one. */
function userCall(check: Check, { qualifier, fn, args }: UserCallExpr): ConstValue | undefined {
  if (qualifier !== 'const' || ++check.foldedCalls > FOLDED_CALLS_MAX) return undefined
  const { parameters, body } = fn
  const values = args.map((arg) => fold(check, arg))
  const inside: Variable[] = []
  const set = (variable: Variable, value: ConstValue | undefined): boolean => {
    if (value === undefined) return false
    check.constants.set(variable, value)
    inside.push(variable)
    return true
  }
  const isKnown =
    parameters.every((parameter, i) => set(parameter, values[i])) &&
    body.statements.every(
      (one) =>
        one.kind === 'Declare' &&
        (check.constants.has(one.variable) || set(one.variable, fold(check, one.value))),
    )
  const result = isKnown && body.result ? fold(check, body.result) : undefined
  // Another call gives the parameters other values.
  for (const variable of inside) check.constants.delete(variable)
  return result
}

/** Why a constant call has no value, in the built-in's words; null if it has one or is not such a call. */
export function refusal(check: Check, expr: Expr): string | null {
  const result = expr.kind === 'BuiltinCall' ? computed(check, expr) : undefined
  return result instanceof ScriptError ? result.message : null
}
