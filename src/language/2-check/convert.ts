// Which type fits where, and what has to be done to make it fit.
//
// int goes where float is wanted (in an array or a matrix too: `array.from(1, 2)` is given to an `array<float>` in
// TradingView's own examples), na goes nearly everywhere, and up to v5 numbers go where a bool is wanted.

import type { Place } from './place.ts'
import type { Block, Expr } from './program.ts'
import { BOOL, ERROR, FLOAT, INT, QUOTIENT, sameType, typeText, type Type } from './types.ts'

export function isNumber(type: Type): boolean {
  return type.kind === 'int' || type.kind === 'float'
}

/** Whether arithmetic with this type may still be used as an int. */
export function wholeOrQuotient(type: Type): boolean {
  return type.kind === 'int' || type === QUOTIENT
}

/** A bool among numbers, as v4 allows: 1 for true, 0 for false. */
export function asNumber(expr: Expr): Expr {
  if (expr.type.kind !== 'bool') return expr
  const at = { qualifier: 'const', start: expr.start, end: expr.end } as const
  return {
    kind: 'Ternary',
    test: expr,
    consequent: { kind: 'Const', value: 1, type: INT, ...at },
    alternate: { kind: 'Const', value: 0, type: INT, ...at },
    type: INT,
    qualifier: expr.qualifier,
    start: expr.start,
    end: expr.end,
  }
}

export function fits(here: Place, from: Type, to: Type): boolean {
  if (from.kind === 'error' || to.kind === 'error') return true
  if (from.kind === 'void') return to.kind === 'void'
  if (from.kind === 'na') return to.kind !== 'bool' || here.unit.version < 6
  if (from.kind === 'int' && to.kind === 'float') return true
  if (from === QUOTIENT && to.kind === 'int') return true
  if (to.kind === 'bool' && isNumber(from)) return here.unit.version < 6
  if (from.kind === 'tuple' && to.kind === 'tuple') {
    return (
      from.items.length === to.items.length &&
      from.items.every((item, i) => fits(here, item, to.items[i] ?? ERROR))
    )
  }
  if ((from.kind === 'array' || from.kind === 'matrix') && from.kind === to.kind)
    return sameType(from.of, to.of) || (from.of.kind === 'int' && to.of.kind === 'float')
  return sameType(from, to)
}

/** Converts the expression to type `to`, into which it fits. */
export function coerce(expr: Expr, to: Type): Expr {
  const from = expr.type
  if (from.kind === 'na' || from.kind === 'error' || from.kind === 'tuple') return retyped(expr, to)
  if (to.kind === 'bool' && isNumber(from)) {
    return {
      kind: 'Convert',
      operand: expr,
      type: BOOL,
      qualifier: expr.qualifier,
      start: expr.start,
      end: expr.end,
    }
  }
  if (expr.kind === 'Const' && from.kind === 'int' && to.kind === 'float') return { ...expr, type: FLOAT }
  return expr
}

/** na is represented differently in each type, so an na inside the expression gets the type as well. */
function retyped(expr: Expr, to: Type): Expr {
  const inBlock = (block: Block): Block =>
    block.result === null ? block : { statements: block.statements, result: coerce(block.result, to) }
  switch (expr.kind) {
    case 'Tuple':
      if (to.kind !== 'tuple') return { ...expr, type: to }
      return { ...expr, type: to, items: expr.items.map((item, i) => coerce(item, to.items[i] ?? item.type)) }
    case 'Ternary':
      return {
        ...expr,
        type: to,
        consequent: coerce(expr.consequent, to),
        alternate: coerce(expr.alternate, to),
      }
    case 'If':
      return {
        ...expr,
        type: to,
        consequent: inBlock(expr.consequent),
        alternate: expr.alternate === null ? null : inBlock(expr.alternate),
      }
    case 'Switch':
      return {
        ...expr,
        type: to,
        cases: expr.cases.map((one) => ({ test: one.test, body: inBlock(one.body) })),
      }
    default:
      return { ...expr, type: to }
  }
}

/** The type of a value that is either an `a` or a `b`; null = there is none. */
export function unify(here: Place, a: Type, b: Type): Type | null {
  if (a.kind === 'error' || b.kind === 'error') return ERROR
  if (sameType(a, b)) return a === QUOTIENT ? b : a
  if (a.kind === 'void' || b.kind === 'void') return null
  if (a.kind === 'na') return b
  if (b.kind === 'na') return a
  if (isNumber(a) && isNumber(b)) return wholeOrQuotient(a) && wholeOrQuotient(b) ? QUOTIENT : FLOAT
  if (a.kind === 'bool' && isNumber(b) && here.unit.version < 6) return a
  if (b.kind === 'bool' && isNumber(a) && here.unit.version < 6) return b
  if (a.kind === 'tuple' && b.kind === 'tuple' && a.items.length === b.items.length) {
    const items = a.items.map((item, i) => unify(here, item, b.items[i] ?? ERROR))
    return items.every((item) => item !== null) ? { kind: 'tuple', items } : null
  }
  return null
}

/** How a message names the expression: `series float`, `const int`. */
export function describe(expr: Expr): string {
  if (expr.type.kind === 'na') return 'na'
  if (expr.type.kind === 'void') return 'nothing'
  return `${expr.qualifier} ${typeText(expr.type)}`
}
