// A text for an expression that equals another's exactly when both give the same column, so that the same indicator
// written twice is computed once.

import { unreachable } from '../../lib/assert.ts'
import type { Expr } from '../2-check/program.ts'

/** `special` may name an expression first; if it answers null, the rules below apply. */
export function keyOf(expr: Expr, special: (expr: Expr) => string | null = () => null): string {
  const called = special(expr)
  if (called !== null) return called
  const key = (part: Expr): string => keyOf(part, special)
  switch (expr.kind) {
    case 'Const':
      return typeof expr.value === 'object' && expr.value !== null
        ? `object@${expr.start}`
        : `${typeof expr.value}:${Object.is(expr.value, -0) ? '-0' : JSON.stringify(expr.value)}:${String(expr.value)}`
    case 'Variable':
      return `v${expr.variable.id}`
    case 'BuiltinVariable':
      return `b:${expr.builtin.name}`
    case 'Input':
      return `in${expr.input.index}`
    case 'History':
      return `h(${key(expr.base)},${key(expr.offset)})`
    case 'Unary':
      return `${expr.operator}(${key(expr.operand)})`
    case 'Binary':
      return `(${key(expr.left)} ${expr.operator}${kinds(expr.left, expr.right)} ${key(expr.right)})`
    case 'Ternary':
      return `(${key(expr.test)}?${key(expr.consequent)}:${key(expr.alternate)})`
    case 'Convert':
      return `${expr.operand.type.kind}>${expr.type.kind}(${key(expr.operand)})`
    case 'BuiltinCall': {
      const overload = expr.builtin.overloads.indexOf(expr.overload)
      return `${expr.builtin.name}#${overload}(${expr.args.map((arg) => (arg ? key(arg) : '-')).join(',')})`
    }
    case 'UserCall':
    case 'CopyObject':
    case 'Tuple':
    case 'NewObject':
    case 'Field':
    case 'If':
    case 'Switch':
    case 'For':
    case 'ForIn':
    case 'While':
      return `${expr.kind}@${expr.start}`
    default:
      return unreachable(expr)
  }
}

function kinds(left: Expr, right: Expr): string {
  return `${left.type.kind[0] ?? ''}${right.type.kind[0] ?? ''}`
}
