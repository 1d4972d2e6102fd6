// Blocks: their statements, and the expressions that have blocks and a value: if, switch and the loops.

import type * as tree from '../1-parse/tree.ts'
import type { Range } from '../source.ts'
import * as messages from '../messages/checking.ts'
import { LOOPS_MAX } from './caps.ts'
import { coerce, describe, isNumber, unify } from './convert.ts'
import { Scope, declare, errorExpr, markReassigned, type Place, type Use } from './place.ts'
import type { Block, Expr, Stmt, Variable } from './program.ts'
import { typeOf } from './type-names.ts'
import { BOOL, ERROR, INT, NA, QUOTIENT, VOID, latest, typeText, type Qualifier, type Type } from './types.ts'
import { forNobody, condition, constant, number, oneValue, value, variableExpr } from './values.ts'

/** Checks a block inside the present one, with names of its own. */
export function block(here: Place, node: tree.Block, use: Use): Block {
  return body(inner(here, node, {}), node.statements, use)
}

export function inner(here: Place, node: tree.Block, change: Partial<Place>): Place {
  return {
    ...here,
    scope: new Scope(here.scope, here.check.assigned.of(node)),
    out: [],
    topLevel: false,
    conditional: true,
    edge: 'none',
    ...change,
  }
}

/** The statements of the script, of a function or of a block; the last one's value is the result. */
export function body(here: Place, statements: readonly tree.Statement[], use: Use): Block {
  const last = statements.at(-1)
  for (const one of statements) if (one !== last || use === 'statement') here.check.rules.statement(here, one)
  const result = last === undefined || use === 'statement' ? null : lastStatement(here, last, use)
  return { statements: here.out, result }
}

function lastStatement(here: Place, node: tree.Statement, use: Use): Expr | null {
  if (node.kind === 'ExpressionStatement') {
    const expr = here.check.rules.expression(forNobody(here), node.expression, use)
    if (expr.type.kind !== 'void') return expr
    here.out.push({ kind: 'Expression', value: expr, start: node.start })
    return null
  }
  const variables = here.check.rules.statement(here, node)
  const [only] = variables
  if (only === undefined) return null
  if (node.kind !== 'TupleDeclaration') return oneValue(here, node, variableExpr(only, node))
  return {
    kind: 'Tuple',
    items: variables.map((variable) => variableExpr(variable, node)),
    type: { kind: 'tuple', items: variables.map((variable) => variable.type) },
    qualifier: 'series',
    start: node.start,
    end: node.end,
  }
}

export function ifExpression(here: Place, node: tree.If, use: Use): Expr {
  const test = condition(here, value(here, node.test), node.test, 'CE10101')
  const branch = branched(here, test.qualifier)
  const consequent = block(branch, node.consequent, use)
  const alternate = node.alternate === null ? null : block(branch, node.alternate, use)
  const joined = join(here, node, use, [consequent, alternate], test.qualifier)
  const [first = consequent, second = alternate] = joined.blocks
  return {
    kind: 'If',
    test,
    consequent: first ?? consequent,
    alternate: second,
    type: joined.type,
    qualifier: joined.qualifier,
    start: node.start,
    end: node.end,
  }
}

function branched(here: Place, qualifier: Qualifier): Place {
  return { ...here, branch: { qualifier, outer: here.branch } }
}

export function switchExpression(here: Place, node: tree.Switch, use: Use): Expr {
  const subject = node.subject === null ? null : value(here, node.subject)
  let qualifier = subject?.qualifier ?? 'const'
  const tests: (Expr | null)[] = []
  const bodies: (Block | null)[] = []
  for (const one of node.cases) {
    const test = one.test === null ? null : caseTest(here, subject, one.test)
    tests.push(test)
    if (test !== null) qualifier = latest(qualifier, test.qualifier)
    bodies.push(block(branched(here, qualifier), one.body, use))
  }
  if (!tests.includes(null)) {
    tests.push(null)
    bodies.push(null)
  }
  const joined = join(here, node, use, bodies, qualifier)
  const cases = joined.blocks.flatMap((body, i) => (body === null ? [] : [{ test: tests[i] ?? null, body }]))
  return {
    kind: 'Switch',
    subject,
    cases,
    type: joined.type,
    qualifier: joined.qualifier,
    start: node.start,
    end: node.end,
  }
}

function caseTest(here: Place, subject: Expr | null, node: tree.Expression): Expr {
  const test = value(here, node)
  if (subject === null) return condition(here, test, node, 'CE10101')
  const type = unify(here, subject.type, test.type)
  if (type !== null) return coerce(test, type)
  here.check.report(here, node, messages.operandTypes('==', describe(subject), describe(test)))
  return errorExpr(node)
}

/** Makes all branches give one type; a missing branch (null) gives na, or false in v6 where that is a bool. */
function join(
  here: Place,
  node: Range,
  use: Use,
  blocks: readonly (Block | null)[],
  test: Qualifier,
): { blocks: (Block | null)[]; type: Type; qualifier: Qualifier } {
  if (use === 'statement') return { blocks: blocks.slice(), type: VOID, qualifier: 'series' }
  let type: Type | null = NA
  let qualifier = test
  let first: Expr | null = null
  for (const one of blocks) {
    if (one === null) continue
    const result: Expr | null = one.result
    if (result === null) {
      // A branch that ends in a jump or in `runtime.error()` has no value and needs none.
      if (one.statements.length > 0 && use === 'value') continue
      type = null
      break
    }
    const both: Type | null = unify(here, type, result.type)
    if (both === null) {
      if (use === 'value' && first !== null) {
        here.check.report(here, node, messages.branchTypes(describe(first), describe(result)))
        return { blocks: blocks.slice(), type: ERROR, qualifier: 'series' }
      }
      type = null
      break
    }
    if (first === null || first.type.kind === 'na') first = result
    type = both
    qualifier = latest(qualifier, result.qualifier)
  }
  if (type === null || first === null)
    return { blocks: blocks.map(withoutResult), type: VOID, qualifier: 'series' }
  const joined = type
  const missing: Expr =
    joined.kind === 'bool' && here.unit.version === 6
      ? constant({ start: node.end, end: node.end }, BOOL, false)
      : constant({ start: node.end, end: node.end }, joined, null)
  return {
    blocks: blocks.map((one) =>
      one === null
        ? { statements: [], result: missing }
        : { statements: one.statements, result: one.result === null ? missing : coerce(one.result, joined) },
    ),
    type: joined,
    qualifier,
  }
}

/** The block with its statements only. */
function withoutResult(one: Block | null): Block | null {
  if (one === null || one.result === null) return one
  if (one.result.kind === 'Variable') return { statements: one.statements, result: null }
  const last: Stmt = { kind: 'Expression', value: one.result, start: one.result.start }
  return { statements: [...one.statements, last], result: null }
}

export function forExpression(here: Place, node: tree.For, use: Use): Expr {
  const bound = (one: tree.Expression): Expr => {
    const expr = value({ ...here, edge: 'head' }, one)
    if (isNumber(expr.type) || expr.type.kind === 'na' || expr.type.kind === 'error') return number(expr)
    here.check.report(here, one, messages.notANumber('a bound of `for`', describe(expr)))
    return errorExpr(one)
  }
  const from = bound(node.from)
  const to = bound(node.to)
  const by = node.by === null ? null : bound(node.by)
  const isInt = [from, to, by].every((one) => one === null || one.type.kind === 'int')
  const declared = node.counterType === null ? null : typeOf(here, node.counterType)
  if (node.counterType !== null && declared !== null && declared.kind !== 'error' && !isNumber(declared))
    here.check.report(here, node.counterType, messages.notANumber('the counter of `for`', typeText(declared)))
  const qualifier = [from, to, by].reduce<Qualifier>(
    (all, one) => latest(all, one?.qualifier ?? 'simple'),
    'simple',
  )
  const scope = loopScope(branched(here, qualifier), node)
  const isWhole = isInt || declared?.kind === 'int'
  // L22: whatever its bounds are, the counter is a series.
  const counter = declareLoopVariable(scope, node.counter, isWhole ? INT : QUOTIENT)
  const { body, type } = loopResult(block(scope, node.body, use), use)
  return {
    kind: 'For',
    counter,
    from,
    to,
    toEachRound: here.unit.version === 6,
    by,
    body,
    type,
    qualifier: 'series',
    start: node.start,
    end: node.end,
  }
}

/** A loop over the past of a variable goes over the array that it holds now (L13). */
function loopedOver(expr: Expr): Expr {
  const isPast = expr.kind === 'History' && expr.type.kind === 'array' && expr.base.kind === 'Variable'
  return isPast ? expr.base : expr
}

export function forInExpression(here: Place, node: tree.ForIn, use: Use): Expr {
  const collection = loopedOver(value(here, node.collection))
  const items = itemTypes(here, node, collection)
  const scope = loopScope(branched(here, 'series'), node)
  const index =
    node.index === null || node.index.name === '_'
      ? null
      : declareLoopVariable(scope, node.index, items.index)
  const item = declareLoopVariable(scope, node.value, items.value)
  const { body, type } = loopResult(block(scope, node.body, use), use)
  return {
    kind: 'ForIn',
    index,
    value: item,
    collection,
    body,
    type,
    qualifier: 'series',
    start: node.start,
    end: node.end,
  }
}

function itemTypes(here: Place, node: tree.ForIn, collection: Expr): { index: Type; value: Type } {
  const { type } = collection
  switch (type.kind) {
    case 'array':
      return { index: INT, value: type.of }
    case 'matrix':
      return { index: INT, value: { kind: 'array', of: type.of } }
    case 'map':
      if (node.index === null) here.check.report(here, node.value, messages.mapNeedsBoth())
      return { index: type.key, value: type.value }
    case 'error':
      return { index: ERROR, value: ERROR }
    default:
      here.check.report(here, node.collection, messages.notACollection(describe(collection)))
      return { index: ERROR, value: ERROR }
  }
}

export function whileExpression(here: Place, node: tree.While, use: Use): Expr {
  const test = condition(here, value({ ...here, edge: 'head' }, node.test), node.test)
  const scope = loopScope(branched(here, test.qualifier), node)
  const { body, type } = loopResult(block(scope, node.body, use), use)
  return { kind: 'While', test, body, type, qualifier: 'series', start: node.start, end: node.end }
}

function loopScope(here: Place, node: tree.For | tree.ForIn | tree.While): Place {
  if (here.loops === LOOPS_MAX) here.check.report(here, node, messages.tooManyLoops(LOOPS_MAX))
  return inner(here, node.body, { loops: here.loops + 1 })
}

function loopResult(body: Block, use: Use): { body: Block; type: Type } {
  if (use === 'statement' || body.result === null) return { body: withoutResult(body) ?? body, type: VOID }
  return { body, type: body.result.type }
}

export function declareLoopVariable(here: Place, name: tree.Name, type: Type): Variable {
  return declare(here, name.name, name.start, type, 'series', 'loop')
}

/** An `if` that a hidden `var` shuts once it has run: what rolls variables back opens it again, as TradingView has it. */
export function onceExpression(here: Place, node: tree.Once): Expr {
  const test = node.test === null ? null : condition(here, value(here, node.test), node.test)
  const done = declare(here, `·${here.check.variableCount}`, node.start, BOOL, 'series', 'var')
  markReassigned(done)
  here.out.push({ kind: 'Declare', variable: done, value: constant(node, BOOL, false), start: node.start })
  const at = { qualifier: 'series', type: BOOL, start: node.start, end: node.end } as const
  const open: Expr = { kind: 'Unary', operator: 'not', operand: variableExpr(done, node), ...at }
  const { statements } = block(branched(here, 'series'), node.body, 'statement')
  const shut: Stmt = { kind: 'Assign', variable: done, value: constant(node, BOOL, true), start: node.start }
  return {
    kind: 'If',
    test:
      test === null ? open : { kind: 'Binary', operator: 'and', left: test, right: open, lazy: true, ...at },
    consequent: { statements: [shut, ...statements], result: null },
    alternate: null,
    ...at,
    type: VOID,
  }
}
