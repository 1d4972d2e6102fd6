// Statements: declarations and assignments.

import { unreachable } from '../../lib/assert.ts'
import type * as tree from '../1-parse/tree.ts'
import * as messages from '../messages/checking.ts'
import { fold } from './constant.ts'
import { coerce, describe, fits } from './convert.ts'
import { expression } from './expressions.ts'
import { field, findVariable, namesInSight } from './names.ts'
import { operation } from './operators.ts'
import { declare, errorExpr, isLoopDependent, markReassigned, type Mutable, type Place } from './place.ts'
import type { Expr, Variable } from './program.ts'
import { typeOf } from './type-names.ts'
import { ERROR, FLOAT, isLater, isPrimitive, latest, typeText, type Qualifier, type Type } from './types.ts'
import { forNobody, oneValue, temporary, value, variableExpr } from './values.ts'
import { walkExpr } from './walk.ts'

/** Gives the variables it sets, for a block that ends with it. */
export function statement(here: Place, node: tree.Statement): readonly Variable[] {
  switch (node.kind) {
    case 'VariableDeclaration':
      return [variableDeclaration(here, node)]
    case 'TupleDeclaration':
      return tupleDeclaration(here, node)
    case 'Assignment':
      return assignment(here, node)
    case 'ExpressionStatement': {
      const expr = expression(forNobody(here), node.expression, 'statement')
      if (!(expr.kind === 'Const' && expr.type.kind === 'void'))
        here.out.push({ kind: 'Expression', value: expr, start: node.start })
      return []
    }
    case 'Break':
    case 'Continue':
      if (here.loops === 0) here.check.report(here, node, messages.jumpOutsideLoop(node.kind.toLowerCase()))
      here.out.push({ kind: node.kind, start: node.start })
      return []
    case 'FunctionDeclaration':
    case 'TypeDeclaration':
    case 'EnumDeclaration':
    case 'Import':
      // Read before the first statement: `top-level.ts`.
      if (!here.topLevel || here.owner !== null)
        here.check.report(here, node, messages.declaredInside(node.kind))
      return []
    default:
      return unreachable(node)
  }
}

export function variableDeclaration(here: Place, node: tree.VariableDeclaration): Variable {
  const { name } = node.name
  const isHidden = isDeclaredHere(here, name)
  if (isHidden) here.check.report(here, node.name, messages.alreadyDeclared(name))
  const outer = here.topLevel ? null : here.scope.find(name)
  if (!isHidden && outer !== null && outer.owner === here.owner && name !== '_')
    here.check.report(here, node.name, messages.shadowed(name))
  let expr = expression({ ...here, target: name }, node.value)
  if (expr.type.kind === 'tuple' && node.type === null) return unusedTuple(here, node, expr)
  expr = oneValue(here, node.value, expr)
  let type = expr.type
  let qualifier = expr.qualifier
  const declared = node.type === null ? null : typeOf(here, node.type)
  if (declared !== null) {
    if (!fits(here, type, declared)) {
      here.check.report(
        here,
        node.value,
        type.kind === 'na'
          ? messages.naBool()
          : messages.typeMismatch(name, typeText(declared), describe(expr)),
      )
      expr = errorExpr(node.value)
    }
    type = declared
    expr = coerce(expr, type)
  } else if (here.check.retyped.has(name) && (type.kind === 'na' || type.kind === 'int')) {
    type = here.check.retyped.get(name) ?? type
    expr = coerce(expr, type)
  } else if (type.kind === 'na') {
    if (expr.kind === 'Const' && (here.unit.version > 4 || !here.scope.assigned.has(name)))
      here.check.report(here, node, messages.naWithoutType(name))
    type = FLOAT
    expr = coerce(expr, type)
  }
  if (node.type?.qualifier) {
    if (isPrimitive(type) && isLater(qualifier, node.type.qualifier))
      here.check.report(
        here,
        node.value,
        messages.declaredQualifier(name, node.type.qualifier, describe(expr)),
      )
    qualifier = latest(qualifier, node.type.qualifier)
  }
  const variable = declare(here, name, node.name.start, type, qualifier, node.mode)
  if (node.type?.qualifier === 'const') here.check.fixed.add(variable)
  if (node.type?.qualifier === 'simple') here.check.steady.add(variable)
  if (here.loops > 0) followLoop(here, variable, expr)
  here.out.push({ kind: 'Declare', variable, value: expr, start: node.start })
  if (variable.qualifier === 'const') {
    const known = fold(here.check, expr)
    if (known !== undefined) here.check.constants.set(variable, known)
  }
  return variable
}

/** One name for several values may stand, as long as nothing reads it. */
function unusedTuple(here: Place, node: tree.VariableDeclaration, expr: Expr): Variable {
  here.check.report(here, node.name, messages.tupleUnused(node.name.name))
  if (expr.type.kind === 'tuple')
    here.out.push({
      kind: 'DeclareTuple',
      variables: expr.type.items.map(() => null),
      value: expr,
      start: node.start,
    })
  return declare(here, node.name.name, node.name.start, expr.type, 'series', 'plain')
}

function followLoop(here: Place, variable: Variable, value: Expr): void {
  walkExpr(value, (expr) => {
    if (expr.kind === 'Variable' && isLoopDependent(here, expr.variable))
      here.check.loopDependent.add(variable)
  })
}

/** Whether this very block has declared the name. It may hide a name of an outer block, but declares each of its own once. */
function isDeclaredHere(here: Place, name: string): boolean {
  return name !== '_' && here.scope.names.has(name)
}

export function tupleDeclaration(here: Place, node: tree.TupleDeclaration): readonly Variable[] {
  const expr = expression(here, node.value)
  const { types, qualifiers } = tupleItems(here, node, expr)
  const variables = node.names.map((name, i) => {
    if (name.name === '_') return null
    if (isDeclaredHere(here, name.name)) here.check.report(here, name, messages.alreadyDeclared(name.name))
    const type = types[i] ?? ERROR
    return declare(
      here,
      name.name,
      name.start,
      type.kind === 'na' ? FLOAT : type,
      qualifiers[i] ?? 'series',
      'plain',
    )
  })
  here.out.push({ kind: 'DeclareTuple', variables, value: expr, start: node.start })
  return variables.filter((variable) => variable !== null)
}

function tupleItems(
  here: Place,
  node: tree.TupleDeclaration,
  expr: Expr,
): { types: readonly Type[]; qualifiers: readonly Qualifier[] } {
  const { type } = expr
  if (type.kind === 'tuple') {
    if (type.items.length !== node.names.length)
      here.check.report(here, node, messages.tupleCount(node.names.length, type.items.length))
    return { types: type.items, qualifiers: tupleQualifiers(here, expr, type.items.length) }
  }
  if (type.kind !== 'error') here.check.report(here, node.value, messages.notATuple(describe(expr)))
  return { types: [], qualifiers: [] }
}

function tupleQualifiers(here: Place, expr: Expr, length: number): readonly Qualifier[] {
  if (expr.kind === 'Tuple') return expr.items.map((item) => item.qualifier)
  if (expr.kind === 'UserCall') {
    const known = here.check.resultQualifiers.get(expr.fn)
    if (known !== undefined) return known
  }
  return Array.from({ length }, () => expr.qualifier)
}

function assignment(here: Place, node: tree.Assignment): readonly Variable[] {
  const { target } = node
  if (target.kind === 'Identifier') return variableAssignment(here, node, target)
  if (target.kind === 'Member') fieldAssignment(here, node, target)
  else if (target.kind !== 'Error') here.check.report(here, target, messages.notAssignable())
  return []
}

function variableAssignment(
  here: Place,
  node: tree.Assignment,
  target: tree.Identifier,
): readonly Variable[] {
  const variable = findVariable(here, target.name)
  const given = value(here, node.value)
  if (variable === null) {
    const later = here.unit.globals.has(target.name)
    here.check.report(
      here,
      target,
      later
        ? messages.usedBeforeDeclaration(target.name)
        : messages.assignedUndeclared(target.name, here.check.suggest(target.name, namesInSight(here))),
    )
    return []
  }
  if (variable.owner !== here.owner) here.check.report(here, target, messages.globalFromFunction(target.name))
  if (here.check.fixed.has(variable)) here.check.report(here, target, messages.constAssigned(target.name))
  if (variable.mode === 'parameter') here.check.report(here, target, messages.parameterAssigned(target.name))
  const expr =
    node.operator === ':='
      ? given
      : operation(here, operatorOf(node), variableExpr(variable, target), given, node)
  markReassigned(variable)
  raiseQualifier(here, variable, expr.qualifier)
  if (here.check.steady.has(variable) && isPrimitive(variable.type) && isLater(given.qualifier, 'simple'))
    here.check.report(here, node.value, messages.declaredQualifier(target.name, 'simple', describe(given)))
  if (fits(here, expr.type, variable.type)) {
    here.out.push({ kind: 'Assign', variable, value: coerce(expr, variable.type), start: node.start })
  } else {
    if (here.unit.written < 4) here.check.retyped.set(target.name, expr.type)
    here.check.report(
      here,
      node.value,
      expr.type.kind === 'na'
        ? messages.naBool()
        : messages.typeMismatch(target.name, typeText(variable.type), describe(expr)),
    )
  }
  return [variable]
}

const COMPOUND = { '+=': '+', '-=': '-', '*=': '*', '/=': '/', '%=': '%' } as const

function operatorOf(node: tree.Assignment): tree.BinaryOperator {
  return node.operator === ':=' ? '+' : COMPOUND[node.operator]
}

function fieldAssignment(here: Place, node: tree.Assignment, target: tree.Member): void {
  let object = value(here, target.object)
  if (node.operator !== ':=' && object.kind !== 'Variable' && object.type.kind !== 'error')
    object = temporary(here, object)
  const current = field(here, object, target.property, target)
  const given = value(here, node.value)
  if (current.kind !== 'Field') return
  const expr = node.operator === ':=' ? given : operation(here, operatorOf(node), current, given, node)
  const name = target.property.name
  if (fits(here, expr.type, current.type)) {
    here.out.push({
      kind: 'AssignField',
      object,
      field: name,
      value: coerce(expr, current.type),
      start: node.start,
    })
  } else {
    here.check.report(here, node.value, messages.typeMismatch(name, typeText(current.type), describe(expr)))
  }
}

/**
 * What `:=` leaves of a variable's qualifier, for the lines below: it is known as late as what is written to it, and as the
 * conditions on the way from its declaration. TradingView judges a script line by line like that, so a length may come
 * from an input by `:=`, or be used above the line that makes a series of it; it then simply changes.
 */
function raiseQualifier(here: Place, variable: Variable, given: Qualifier): void {
  let qualifier = latest(variable.qualifier, given)
  const declared = here.check.declaredIn.get(variable) ?? null
  for (let branch = here.branch; branch !== null && branch !== declared; branch = branch.outer)
    qualifier = latest(qualifier, branch.qualifier)
  ;(variable as Mutable<Variable>).qualifier = qualifier
}
