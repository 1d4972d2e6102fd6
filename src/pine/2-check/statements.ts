// Statements: declarations, assignments, and blocks of them.

import { unreachable } from '../../lib/assert.ts'
import type * as tree from '../1-parse/tree.ts'
import type { Range } from '../source.ts'
import { fold } from './constant.ts'
import { Scope, declare, errorExpr, markReassigned } from './context.ts'
import type { Context, Mutable, Use } from './context.ts'
import { coerce, describe, fits } from './convert.ts'
import {
  expression,
  field,
  findVariable,
  namesInSight,
  oneValue,
  operation,
  value,
  variableExpr,
} from './expressions.ts'
import * as messages from './messages.ts'
import { topContext, typeOf } from './modules.ts'
import type { Block, Expr, Variable } from './program.ts'
import { ERROR, FLOAT, VOID, isLater, isPrimitive, latest, typeText } from './types.ts'
import type { Qualifier, Type } from './types.ts'
import { walkExpr } from './walk.ts'

/** A block inside what stands here, with names of its own. */
export function block(x: Context, node: tree.Block, use: Use): Block {
  return body(inner(x, node, {}), node.statements, use)
}

export function inner(x: Context, node: tree.Block, change: Partial<Context>): Context {
  return {
    ...x,
    scope: new Scope(x.scope, assignedNames(node)),
    out: [],
    topLevel: false,
    conditional: true,
    ...change,
  }
}

/** The statements of the script, of a function or of a block; the last one's value is the result. */
export function body(x: Context, statements: readonly tree.Statement[], use: Use): Block {
  const last = statements.at(-1)
  for (const one of statements) if (one !== last || use === 'statement') statement(x, one)
  const result = last === undefined || use === 'statement' ? null : lastStatement(x, last, use)
  return { statements: x.out, result }
}

function lastStatement(x: Context, node: tree.Statement, use: Use): Expr | null {
  if (node.kind === 'ExpressionStatement') {
    const expr = expression({ ...x, target: '' }, node.expression, use)
    if (expr.type.kind !== 'void') return expr
    x.out.push({ kind: 'Expression', value: expr, start: node.start })
    return null
  }
  const variables = statement(x, node)
  const [only] = variables
  if (only === undefined) return null
  if (node.kind !== 'TupleDeclaration') return oneValue(x, node, variableExpr(only, node))
  return {
    kind: 'Tuple',
    items: variables.map((variable) => variableExpr(variable, node)),
    type: { kind: 'tuple', items: variables.map((variable) => variable.type) },
    qualifier: 'series',
    start: node.start,
    end: node.end,
  }
}

/** Gives the variables it sets, for a block that ends with it. */
export function statement(x: Context, node: tree.Statement): readonly Variable[] {
  switch (node.kind) {
    case 'VariableDeclaration':
      return [variableDeclaration(x, node)]
    case 'TupleDeclaration':
      return tupleDeclaration(x, node)
    case 'Assignment':
      return assignment(x, node)
    case 'ExpressionStatement': {
      const expr = expression({ ...x, target: '' }, node.expression, 'statement')
      if (!(expr.kind === 'Const' && expr.type.kind === 'void'))
        x.out.push({ kind: 'Expression', value: expr, start: node.start })
      return []
    }
    case 'Break':
    case 'Continue':
      if (x.loops === 0) x.check.report(x, node, messages.jumpOutsideLoop(node.kind.toLowerCase()))
      x.out.push({ kind: node.kind, start: node.start })
      return []
    case 'FunctionDeclaration':
    case 'TypeDeclaration':
    case 'EnumDeclaration':
    case 'Import':
      // Read before the first statement: `modules.ts`.
      if (!x.topLevel || x.owner !== null) x.check.report(x, node, messages.declaredInside(node.kind))
      return []
    default:
      return unreachable(node)
  }
}

export function variableDeclaration(x: Context, node: tree.VariableDeclaration): Variable {
  const { name } = node.name
  const isHidden = isDeclaredHere(x, name)
  if (isHidden) x.check.report(x, node.name, messages.alreadyDeclared(name))
  const outer = x.topLevel ? null : x.scope.find(name)
  if (!isHidden && outer !== null && outer.owner === x.owner && name !== '_')
    x.check.report(x, node.name, messages.shadowed(name))
  let expr = expression({ ...x, target: name }, node.value)
  if (expr.type.kind === 'tuple' && node.type === null) return unusedTuple(x, node, expr)
  expr = oneValue(x, node.value, expr)
  let type = expr.type
  let qualifier = expr.qualifier
  const declared = node.type === null ? null : typeOf(x, node.type)
  if (declared !== null) {
    if (!fits(x, type, declared)) {
      x.check.report(
        x,
        node.value,
        type.kind === 'na'
          ? messages.naBool()
          : messages.typeMismatch(name, typeText(declared), describe(expr)),
      )
      expr = errorExpr(node.value)
    }
    type = declared
    expr = coerce(expr, type)
  } else if (type.kind === 'na') {
    if (expr.kind === 'Const' && (x.module.version > 4 || !x.scope.assigned.has(name)))
      x.check.report(x, node, messages.naWithoutType(name))
    type = FLOAT
    expr = coerce(expr, type)
  }
  if (node.type?.qualifier) {
    if (isPrimitive(type) && isLater(qualifier, node.type.qualifier))
      x.check.report(x, node.value, messages.declaredQualifier(name, node.type.qualifier, describe(expr)))
    qualifier = latest(qualifier, node.type.qualifier)
  }
  const variable = declare(x, name, node.name.start, type, qualifier, node.mode)
  if (node.type?.qualifier === 'const') x.check.fixed.add(variable)
  if (node.type?.qualifier === 'simple') x.check.steady.add(variable)
  if (x.loops > 0) followLoop(x, variable, expr)
  x.out.push({ kind: 'Declare', variable, value: expr, start: node.start })
  if (variable.qualifier === 'const') {
    const known = fold(x.check, expr)
    if (known !== undefined) x.check.constants.set(variable, known)
  }
  return variable
}

/** One name for several values may stand, as long as nothing reads it. */
function unusedTuple(x: Context, node: tree.VariableDeclaration, expr: Expr): Variable {
  x.check.report(x, node.name, messages.tupleUnused(node.name.name))
  if (expr.type.kind === 'tuple')
    x.out.push({
      kind: 'DeclareTuple',
      variables: expr.type.items.map(() => null),
      value: expr,
      start: node.start,
    })
  return declare(x, node.name.name, node.name.start, expr.type, 'series', 'plain')
}

function followLoop(x: Context, variable: Variable, value: Expr): void {
  walkExpr(value, (expr) => {
    if (expr.kind === 'Variable' && isLoopDependent(x, expr.variable)) x.check.loopDependent.add(variable)
  })
}

export function isLoopDependent(x: Context, variable: Variable): boolean {
  return variable.mode === 'loop' || x.check.loopDependent.has(variable)
}

/** A block may hide a name of an outer one, but declare each once. */
function isDeclaredHere(x: Context, name: string): boolean {
  return name !== '_' && x.scope.names.has(name)
}

export function tupleDeclaration(x: Context, node: tree.TupleDeclaration): readonly Variable[] {
  const expr = expression(x, node.value)
  const { types, qualifiers } = tupleItems(x, node, expr)
  const variables = node.names.map((name, i) => {
    if (name.name === '_') return null
    if (isDeclaredHere(x, name.name)) x.check.report(x, name, messages.alreadyDeclared(name.name))
    const type = types[i] ?? ERROR
    return declare(
      x,
      name.name,
      name.start,
      type.kind === 'na' ? FLOAT : type,
      qualifiers[i] ?? 'series',
      'plain',
    )
  })
  x.out.push({ kind: 'DeclareTuple', variables, value: expr, start: node.start })
  return variables.filter((variable) => variable !== null)
}

function tupleItems(
  x: Context,
  node: tree.TupleDeclaration,
  expr: Expr,
): { types: readonly Type[]; qualifiers: readonly Qualifier[] } {
  const { type } = expr
  if (type.kind === 'tuple') {
    if (type.items.length !== node.names.length)
      x.check.report(x, node, messages.tupleCount(node.names.length, type.items.length))
    return { types: type.items, qualifiers: tupleQualifiers(x, expr, type.items.length) }
  }
  if (type.kind !== 'error') x.check.report(x, node.value, messages.notATuple(describe(expr)))
  return { types: [], qualifiers: [] }
}

function tupleQualifiers(x: Context, expr: Expr, length: number): readonly Qualifier[] {
  if (expr.kind === 'Tuple') return expr.items.map((item) => item.qualifier)
  if (expr.kind === 'UserCall') {
    const known = x.check.resultQualifiers.get(expr.fn)
    if (known !== undefined) return known
  }
  return Array.from({ length }, () => expr.qualifier)
}

export function declareLoopVariable(
  x: Context,
  name: tree.Name,
  type: Type,
  qualifier: Qualifier = 'series',
): Variable {
  return declare(x, name.name, name.start, type, qualifier, 'loop')
}

function assignment(x: Context, node: tree.Assignment): readonly Variable[] {
  const { target } = node
  if (target.kind === 'Identifier') return variableAssignment(x, node, target)
  if (target.kind === 'Member') fieldAssignment(x, node, target)
  else if (target.kind !== 'Error') x.check.report(x, target, messages.notAssignable())
  return []
}

function variableAssignment(x: Context, node: tree.Assignment, target: tree.Identifier): readonly Variable[] {
  const variable = findVariable(x, target.name)
  const given = value(x, node.value)
  if (variable === null) {
    const later = x.module.globals.has(target.name)
    x.check.report(
      x,
      target,
      later
        ? messages.usedBeforeDeclaration(target.name)
        : messages.assignedUndeclared(target.name, x.check.suggest(target.name, namesInSight(x))),
    )
    return []
  }
  if (variable.owner !== x.owner) x.check.report(x, target, messages.globalFromFunction(target.name))
  if (x.check.fixed.has(variable)) x.check.report(x, target, messages.constAssigned(target.name))
  if (variable.mode === 'parameter') x.check.report(x, target, messages.parameterAssigned(target.name))
  const expr =
    node.operator === ':='
      ? given
      : operation(x, operatorOf(node), variableExpr(variable, target), given, node)
  markReassigned(variable)
  raiseQualifier(x, variable, expr.qualifier)
  if (x.check.steady.has(variable) && isPrimitive(variable.type) && isLater(given.qualifier, 'simple'))
    x.check.report(x, node.value, messages.declaredQualifier(target.name, 'simple', describe(given)))
  if (fits(x, expr.type, variable.type)) {
    x.out.push({ kind: 'Assign', variable, value: coerce(expr, variable.type), start: node.start })
  } else {
    x.check.report(
      x,
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

function fieldAssignment(x: Context, node: tree.Assignment, target: tree.Member): void {
  let object = value(x, target.object)
  if (node.operator !== ':=' && object.kind !== 'Variable' && object.type.kind !== 'error')
    object = temporary(x, object)
  const current = field(x, object, target.property, target)
  const given = value(x, node.value)
  if (current.kind !== 'Field') return
  const expr = node.operator === ':=' ? given : operation(x, operatorOf(node), current, given, node)
  const name = target.property.name
  if (fits(x, expr.type, current.type)) {
    x.out.push({
      kind: 'AssignField',
      object,
      field: name,
      value: coerce(expr, current.type),
      start: node.start,
    })
  } else {
    x.check.report(x, node.value, messages.typeMismatch(name, typeText(current.type), describe(expr)))
  }
}

/** Evaluates an expression now, before the statement being written, and gives a variable that holds it. */
export function temporary(x: Context, expr: Expr): Expr {
  const variable = declare(x, `·${x.check.variableCount}`, expr.start, expr.type, expr.qualifier, 'plain')
  x.out.push({ kind: 'Declare', variable, value: expr, start: expr.start })
  return variableExpr(variable, expr)
}

/** The names that `:=` changes in these statements or deeper. */
export function assignedNames(node: tree.Block): ReadonlySet<string> {
  const known = ASSIGNED.get(node)
  if (known !== undefined) return known
  const names = new Set<string>()
  for (const one of node.statements) collectAssigned(one, names)
  ASSIGNED.set(node, names)
  return names
}
/** A pure function of the tree, remembered: each block is asked for by every block around it. */
const ASSIGNED = new WeakMap<tree.Block, ReadonlySet<string>>()

export function collectAssigned(node: tree.Statement, names: Set<string>): void {
  switch (node.kind) {
    case 'Assignment':
      if (node.target.kind === 'Identifier') names.add(node.target.name)
      collectFromExpression(node.value, names)
      break
    case 'VariableDeclaration':
    case 'TupleDeclaration':
      collectFromExpression(node.value, names)
      break
    case 'ExpressionStatement':
      collectFromExpression(node.expression, names)
      break
    default:
  }
}

/** Only blocks have statements, and they stand where a whole value does. */
function collectFromExpression(node: tree.Expression, names: Set<string>): void {
  const take = (block: tree.Block): void => {
    for (const name of assignedNames(block)) names.add(name)
  }
  switch (node.kind) {
    case 'If':
      take(node.consequent)
      if (node.alternate !== null) take(node.alternate)
      break
    case 'Switch':
      for (const { body: one } of node.cases) take(one)
      break
    case 'For':
    case 'ForIn':
    case 'While':
    case 'Once':
      take(node.body)
      break
    default:
  }
}

/**
 * What `:=` leaves of a variable's qualifier, for the lines below: it is known as late as what is written to it, and as the
 * conditions on the way from its declaration. TradingView judges a script line by line like that, so a length may come
 * from an input by `:=`, or be used above the line that makes a series of it; it then simply changes.
 */
function raiseQualifier(x: Context, variable: Variable, given: Qualifier): void {
  let qualifier = latest(variable.qualifier, given)
  const declared = x.check.declaredIn.get(variable) ?? null
  for (let branch = x.branch; branch !== null && branch !== declared; branch = branch.outer)
    qualifier = latest(qualifier, branch.qualifier)
  ;(variable as Mutable<Variable>).qualifier = qualifier
}

/** A global of a library is taken into the program when something first needs it. */
export function libraryGlobal(x: Context, name: string): Variable | null {
  const { module } = x
  const known = module.scope.names.get(name)
  if (known !== undefined) return known
  const node = module.globals.get(name)
  if (node === undefined || module.pending.has(name)) return null
  module.pending.add(name)
  const at: Context = { ...topContext(x.check, module), out: x.check.prologue, horizon: node.start }
  if (node.kind === 'VariableDeclaration') variableDeclaration(at, node)
  else tupleDeclaration(at, node)
  module.pending.delete(name)
  return module.scope.names.get(name) ?? null
}

/** A statement's place holder where nothing is left to run (the declaration of the script). */
export function nothing(node: Range): Expr {
  return { kind: 'Const', value: null, type: VOID, qualifier: 'const', start: node.start, end: node.end }
}
