// Operators: history, arithmetic, comparison, logic, and the choice between two values.

import type * as tree from '../1-parse/tree.ts'
import type { Range } from '../source.ts'
import * as messages from '../messages/checking.ts'
import { dotted } from '../tree-walk.ts'
import { coerce, describe, fits, isNumber, unify, wholeOrQuotient } from './convert.ts'
import { known } from './constant.ts'
import { errorExpr, lazily, markHistory, type Place } from './place.ts'
import type { Expr } from './program.ts'
import { BOOL, ERROR, FLOAT, INT, QUOTIENT, STRING, latest, type Qualifier, type Type } from './types.ts'
import { condition, constant, number, temporary, value } from './values.ts'
import { words } from '../../lib/words.ts'

export function history(here: Place, node: tree.Index): Expr {
  const base = goingOn(here, here.check.rules.expression(here, node.object))
  const offset = value(here, node.index)
  const isConstant = base.kind === 'Const' && base.exact === undefined
  const isLiteral = isConstant && base.type.kind !== 'error' && here.unit.version === 6
  if (base.type.kind === 'void' || isLiteral) {
    here.check.report(here, node, messages.historyOfVoid(describe(base)))
    return errorExpr(node)
  }
  if (!isNumber(offset.type) && offset.type.kind !== 'error' && offset.type.kind !== 'na') {
    here.check.report(here, node.index, messages.notANumber('how many bars back', describe(offset)))
  }
  if (
    base.kind === 'Field' &&
    base.type.kind !== 'udt' &&
    here.unit.version === 6 &&
    node.object.kind === 'Member'
  )
    here.check.report(here, node, messages.historyOfField(node.object.property.name))
  if (base.kind === 'Variable') markHistory(base.variable)
  if (
    here.owner !== null &&
    (base.kind === 'Variable' ? base.variable.owner === here.owner : !isBarColumn(base))
  )
    here.check.lookingBack.add(here.owner)
  return {
    kind: 'History',
    base,
    offset,
    site: here.check.site(),
    type: base.type,
    qualifier: 'series',
    start: node.start,
    end: node.end,
  }
}

/**
 * The past of a call of the script's own, and of an object, goes on with every execution of the scope, even where it is
 * only read now and then: what it is the past of is evaluated before the statement (L12).
 */
function goingOn(here: Place, base: Expr): Expr {
  if (here.edge !== 'lazy') return base
  if (base.kind === 'UserCall' && base.type.kind !== 'void' && base.type.kind !== 'tuple')
    return temporary(here, base)
  return base.type.kind === 'udt' && base.kind !== 'Variable' ? temporary(here, orNa(base)) : base
}

/** The same, without ending the run where an object on the way is na. */
function orNa(expr: Expr): Expr {
  return expr.kind === 'Field' ? { ...expr, object: orNa(expr.object), orNa: true } : expr
}

/** Whether its past exists on every bar, wherever it is read. */
function isBarColumn(base: Expr): boolean {
  return base.kind === 'BuiltinVariable' || base.kind === 'Input' || base.kind === 'Const'
}

export function unary(here: Place, node: tree.Unary): Expr {
  const operand = value(here, node.operand)
  const { operator } = node
  if (operator === 'not') {
    const test = condition(here, operand, node.operand)
    return {
      kind: 'Unary',
      operator,
      operand: test,
      type: BOOL,
      qualifier: operand.qualifier,
      start: node.start,
      end: node.end,
    }
  }
  const { type } = operand
  if (!isNumber(type) && type.kind !== 'na' && type.kind !== 'error') {
    here.check.report(here, node, messages.operandType(operator, describe(operand)))
    return errorExpr(node)
  }
  if (operand.kind === 'Const' && typeof operand.value === 'number') {
    return constant(node, type, operator === '-' ? -operand.value : operand.value)
  }
  if (operator === '+') return operand
  return {
    kind: 'Unary',
    operator,
    operand,
    type: type.kind === 'na' ? FLOAT : type,
    qualifier: operand.qualifier,
    start: node.start,
    end: node.end,
  }
}

export function binary(here: Place, node: tree.Binary): Expr {
  // A style of plot() is no text, though it is written as one where it is kept (L17).
  const style =
    here.unit.version > 4 && node.operator === '+' ? [node.left, node.right].find(isPlotStyle) : undefined
  if (style !== undefined) {
    here.check.report(here, style, messages.operandType('+', 'a style of plot()'))
    return errorExpr(node)
  }
  // Only v6 leaves the right side alone when the left one decides.
  const isLazy = (node.operator === 'and' || node.operator === 'or') && here.unit.version === 6
  const right = isLazy ? lazily(here) : here
  return operation(here, node.operator, value(here, node.left), value(right, node.right), node)
}

const isPlotStyle = (node: tree.Expression) => dotted(node)?.startsWith('plot.style_') === true

/** Also used for `x += y`, which is `x := x + y`. */
export function operation(
  here: Place,
  operator: tree.BinaryOperator,
  left: Expr,
  right: Expr,
  node: Range,
): Expr {
  const a = left.type
  const b = right.type
  const qualifier = latest(left.qualifier, right.qualifier)
  const made = (type: Type, l = left, r = right): Expr => ({
    kind: 'Binary',
    operator,
    left: l,
    right: r,
    lazy: here.unit.version === 6,
    type,
    qualifier,
    start: node.start,
    end: node.end,
  })
  if (operator === 'and' || operator === 'or') {
    return made(BOOL, condition(here, left, left), condition(here, right, right))
  }
  if (a.kind === 'error' || b.kind === 'error') {
    return COMPARISONS.has(operator) ? { ...errorExpr(node), type: BOOL } : errorExpr(node)
  }
  const numeric = (type: Type): boolean =>
    isNumber(type) || type.kind === 'na' || (type.kind === 'bool' && here.unit.version < 5)
  if (operator === '==' || operator === '!=') {
    const type = unify(here, a, b)
    const is6 = here.unit.version === 6
    if (isNa(left) || isNa(right))
      here.check.report(here, node, is6 ? messages.comparesToNa(operator) : messages.comparedWithNa(operator))
    else if (is6 && type !== null && NOT_COMPARED.has(type.kind))
      here.check.report(here, node, messages.comparesObjects(operator, describe(left)))
    if (type !== null && type.kind !== 'void') return made(BOOL, coerce(left, type), coerce(right, type))
    if (numeric(a) && numeric(b)) return made(BOOL, number(left), number(right))
  } else if (operator === '+' && (a.kind === 'string' || b.kind === 'string')) {
    if (fits(here, a, STRING) && fits(here, b, STRING))
      return made(STRING, coerce(left, STRING), coerce(right, STRING))
  } else if (COMPARISONS.has(operator)) {
    if (numeric(a) && numeric(b)) return made(BOOL, number(left), number(right))
  } else if (numeric(a) && numeric(b)) {
    const ints = a.kind === 'int' && b.kind === 'int'
    const l = number(left)
    const r = number(right)
    const isWhole = wholeOrQuotient(l.type) && wholeOrQuotient(r.type)
    if (operator !== '/') return known(here.check, made(ints ? INT : isWhole ? QUOTIENT : FLOAT, l, r))
    const division = made(FLOAT)
    // Up to v5, dividing two const ints gives a whole number.
    if (ints && qualifier === 'const' && here.unit.version < 6) {
      return { kind: 'Convert', operand: division, type: INT, qualifier, start: node.start, end: node.end }
    }
    return known(here.check, made(isWhole ? QUOTIENT : FLOAT, l, r))
  }
  here.check.report(here, node, messages.operandTypes(operator, describe(left), describe(right)))
  return COMPARISONS.has(operator) ? { ...errorExpr(node), type: BOOL } : errorExpr(node)
}

/** What `==` refuses (L14): of what is held by reference only lines and labels compare. */
const NOT_COMPARED: ReadonlySet<Type['kind']> = new Set<Type['kind']>(
  words('array matrix map udt box table linefill polyline chart.point'),
)

function isNa(expr: Expr): boolean {
  return expr.kind === 'Const' && expr.type.kind === 'na'
}

const COMPARISONS: ReadonlySet<string> = new Set(['<', '<=', '>', '>=', '==', '!='])

export function ternary(here: Place, node: tree.Ternary): Expr {
  const test = condition(here, value(here, node.test), node.test)
  const branch = lazily(here)
  const consequent = value(branch, node.consequent)
  const alternate = value(branch, node.alternate)
  let type = unify(here, consequent.type, alternate.type)
  if (type === null) {
    here.check.report(here, node, messages.branchTypes(describe(consequent), describe(alternate)))
    type = ERROR
  }
  if (
    type.kind === 'bool' &&
    here.unit.version === 6 &&
    (consequent.type.kind === 'na' || alternate.type.kind === 'na')
  ) {
    here.check.report(
      here,
      consequent.type.kind === 'na' ? node.consequent : node.alternate,
      messages.naBool(),
    )
  }
  const qualifier = latest(test.qualifier, latest(consequent.qualifier, alternate.qualifier))
  return {
    kind: 'Ternary',
    test,
    consequent: coerce(consequent, type),
    alternate: coerce(alternate, type),
    type,
    qualifier,
    start: node.start,
    end: node.end,
  }
}

export function tuple(here: Place, node: tree.Tuple): Expr {
  const items = node.items.map((item) => value(here, item))
  return {
    kind: 'Tuple',
    items,
    type: { kind: 'tuple', items: items.map((item) => item.type) },
    qualifier: items.reduce<Qualifier>((all, item) => latest(all, item.qualifier), 'const'),
    start: node.start,
    end: node.end,
  }
}
