// Expressions: names, operators, history, and the blocks that have a value.

import { unreachable } from '../../lib/assert.ts'
import type * as tree from '../1-parse/tree.ts'
import { BUILTIN_CONSTANTS, BUILTIN_FUNCTIONS, BUILTIN_VARIABLES } from '../builtins/table.ts'
import type { Range } from '../source.ts'
import { callExpression } from './calls.ts'
import { LOOPS_MAX } from './caps.ts'
import { declare, errorExpr, markHistory, markReassigned } from './place.ts'
import type { Place, Unit, Use } from './place.ts'
import { asNumber, coerce, describe, fits, isNumber, unify, wholeOrQuotient } from './convert.ts'
import * as messages from './messages.ts'
import { enumMember, fieldType, typeOf } from './top-level.ts'
import type { Block, Expr, Stmt, Variable } from './program.ts'
import { block, declareLoopVariable, inner, libraryGlobal } from './statements.ts'
import {
  BOOL,
  COLOR,
  ERROR,
  FLOAT,
  INT,
  NA,
  QUOTIENT,
  STRING,
  VOID,
  isPrimitive,
  latest,
  typeText,
} from './types.ts'
import type { Qualifier, Type } from './types.ts'
import { nowCalled } from './version.ts'

export function expression(here: Place, node: tree.Expression, use: Use = 'value'): Expr {
  if (!here.check.admits(here, node)) return errorExpr(node)
  switch (node.kind) {
    case 'Number':
      return constant(node, node.isInt ? INT : FLOAT, node.value)
    case 'String':
      return constant(node, STRING, node.value)
    case 'Bool':
      return constant(node, BOOL, node.value)
    case 'Color':
      return constant(node, COLOR, node.value)
    case 'Identifier':
      return identifier(here, node)
    case 'Member':
      return member(here, node)
    case 'Call':
      return callExpression(here, node)
    case 'Index':
      return history(here, node)
    case 'Unary':
      return unary(here, node)
    case 'Binary':
      return binary(here, node)
    case 'Ternary':
      return ternary(here, node)
    case 'Tuple':
      return tuple(here, node)
    case 'If':
      return ifExpression(here, node, use)
    case 'Switch':
      return switchExpression(here, node, use)
    case 'For':
      return forExpression(here, node, use)
    case 'ForIn':
      return forInExpression(here, node, use)
    case 'While':
      return whileExpression(here, node, use)
    case 'Once':
      return onceExpression(here, node)
    case 'Error':
      return errorExpr(node)
    default:
      return unreachable(node)
  }
}

/** An expression that must be worth one value. */
export function value(here: Place, node: tree.Expression): Expr {
  return oneValue(here, node, expression(here, node))
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

function constant(node: Range, type: Type, content: number | string | boolean | null | object): Expr {
  return { kind: 'Const', value: content, type, qualifier: 'const', start: node.start, end: node.end }
}

// Names

function identifier(here: Place, node: tree.Identifier): Expr {
  const variable = findVariable(here, node.name)
  if (variable !== null) {
    if (here.exported && variable.owner === null && !isExportable(here, variable))
      here.check.report(here, node, messages.globalInExport(node.name))
    if (variable.type.kind === 'tuple') {
      here.check.report(here, node, messages.tupleValue())
      return errorExpr(node)
    }
    return variableExpr(variable, node)
  }
  const builtin = builtinValue(here, node.name, node)
  if (builtin !== null) return builtin
  here.check.report(here, node, unknownName(here, node.name))
  return errorExpr(node)
}

/**
 * What an exported function may see of its library's globals: not what changes from outside of it, not inputs, not what
 * others could change through it (reference, `export`). The manual's page on libraries says constants only, but a
 * library as widely used as ZenLibrary has a plain `_atr = ta.atr(14)` there.
 */
function isExportable(here: Place, { name, qualifier, type }: Variable): boolean {
  const isPlain = isPrimitive(type) || type.kind === 'enum' || type.kind === 'error'
  return isPlain && qualifier !== 'input' && !here.unit.scope.assigned.has(name)
}

export function variableExpr(variable: Variable, node: Range): Expr {
  const { type, qualifier } = variable
  return { kind: 'Variable', variable, type, qualifier, start: node.start, end: node.end }
}

export function findVariable(here: Place, name: string): Variable | null {
  const variable = here.scope.find(name)
  if (variable === null) return here.unit.isLibrary ? libraryGlobal(here, name) : null
  if (variable.owner === null && variable.start > here.horizon) return null
  return variable
}

/** A built-in variable or constant, by the name this version has for it. */
export function builtinValue(here: Place, written: string, node: Range): Expr | null {
  const values = here.unit.names.values
  const name = Object.hasOwn(values, written) ? (values[written] ?? written) : written
  if (name === 'na') return constant(node, NA, null)
  // v4's directions are bools; `legacy.ts` makes today's of them where an order takes one.
  if (here.unit.version < 5 && DIRECTIONS.has(name)) return constant(node, BOOL, name === 'strategy.long')
  return builtinByName(here, name, node)
}

const DIRECTIONS: ReadonlySet<string> = new Set(['strategy.long', 'strategy.short'])

/** By v6 name; defaults of signatures ask here too. */
export function builtinByName(here: Place, name: string, node: Range): Expr | null {
  const known = BUILTIN_CONSTANTS.get(name)
  if (known !== undefined) {
    const before6 = here.unit.version < 6 ? known.valueBefore6 : undefined
    return constant(node, known.type, before6 ?? known.value)
  }
  const builtin = BUILTIN_VARIABLES.get(name)
  if (builtin === undefined) return null
  if (builtin.status === 'source') here.check.report(here, node, messages.noDataSource(name))
  const { type, qualifier } = builtin
  return {
    kind: 'BuiltinVariable',
    builtin,
    site: here.check.site(),
    type,
    qualifier,
    start: node.start,
    end: node.end,
  }
}

function unknownName(here: Place, name: string): messages.Message {
  const later = here.unit.globals.get(name)
  if (later !== undefined) return messages.usedBeforeDeclaration(name)
  const now = nowCalled(name)
  if (here.unit.version > 4 && now !== null && (BUILTIN_VARIABLES.has(now) || BUILTIN_CONSTANTS.has(now)))
    return messages.renamed(name, now, 5)
  if (BUILTIN_FUNCTIONS.has(here.unit.names.functions[name] ?? name) || here.unit.functions.has(name))
    return messages.notAValue(name)
  return messages.undeclaredName(name, here.check.suggest(name, namesInSight(here)))
}

export function* namesInSight(here: Place): Generator<string> {
  yield* here.scope.all()
  yield* ['true', 'false', 'na']
  for (const name of BUILTIN_VARIABLES.keys()) if (!name.includes('.')) yield name
}

/** `a.b.c` as its names when it is made of names alone. */
export function path(node: tree.Expression): string[] | null {
  if (node.kind === 'Identifier') return [node.name]
  if (node.kind !== 'Member') return null
  const parts = path(node.object)
  if (parts === null) return null
  parts.push(node.property.name)
  return parts
}

function member(here: Place, node: tree.Member): Expr {
  const parts = path(node)
  const root = parts?.[0]
  if (parts !== null && root !== undefined) {
    const variable = findVariable(here, root)
    if (variable === null && here.unit.missing.has(root)) return errorExpr(node)
    if (variable === null || (parts.length === 2 && fieldType(variable.type, node.property.name) === null)) {
      const named = namedMember(here, parts, node)
      if (named !== null) return named
    }
    if (variable === null && isNamespace(here, root) && !isReadable(here, node.object)) {
      here.check.report(here, node, unknownMemberMessage(here, parts))
      return errorExpr(node)
    }
  }
  const object = value(here, node.object)
  return field(here, object, node.property, node)
}

/** A built-in, an enum's member, or something of an imported library. */
function namedMember(here: Place, parts: readonly string[], node: Range): Expr | null {
  const builtin = builtinValue(here, parts.join('.'), node)
  if (builtin !== null) return builtin
  const [first = '', second = '', third] = parts
  const own = here.unit.enums.get(first)
  if (own !== undefined && parts.length === 2) return enumMember(here, own.type, second, node)
  const library = here.unit.imports.get(first)
  if (library === undefined) return null
  const theirs = library.enums.get(second)
  if (theirs !== undefined && third !== undefined) {
    if (!theirs.exported) here.check.report(here, node, messages.notExported(first, second))
    return enumMember(here, theirs.type, third, node)
  }
  const declaration = library.globals.get(second)
  if (declaration?.kind === 'VariableDeclaration' && parts.length === 2) {
    if (!declaration.exported) here.check.report(here, node, messages.notExported(first, second))
    const variable = libraryGlobal({ ...here, unit: library, scope: library.scope }, second)
    return variable === null ? errorExpr(node) : variableExpr(variable, node)
  }
  return null
}

function isNamespace(here: Place, name: string): boolean {
  if (here.unit.imports.has(name) || here.unit.enums.has(name) || here.unit.types.has(name)) return true
  return NAMESPACES.has(name)
}

const NAMESPACES: ReadonlySet<string> = new Set(
  [...BUILTIN_FUNCTIONS.keys(), ...BUILTIN_VARIABLES.keys(), ...BUILTIN_CONSTANTS.keys()]
    .filter((name) => name.includes('.'))
    .map((name) => name.slice(0, name.indexOf('.'))),
)

/** A name that is a value itself: `close.x`, `chart.point`'s fields. */
function isReadable(here: Place, node: tree.Expression): boolean {
  const parts = path(node)
  if (parts === null) return true
  const name = parts.join('.')
  return BUILTIN_VARIABLES.has(name) || BUILTIN_CONSTANTS.has(name) || namedMemberExists(here, parts)
}

function namedMemberExists(here: Place, parts: readonly string[]): boolean {
  const [first = '', second = ''] = parts
  return (
    parts.length === 2 &&
    (here.unit.enums.has(first) || (here.unit.imports.get(first)?.globals.has(second) ?? false))
  )
}

export function unknownMemberMessage(here: Place, parts: readonly string[]): messages.Message {
  const name = parts.at(-1) ?? ''
  const owner = parts.slice(0, -1).join('.')
  const prefix = `${owner}.`
  const [first = ''] = parts
  if (!isNamespace(here, first)) return unknownName(here, first)
  const library = here.unit.imports.get(first)
  if (library !== undefined) return libraryMemberMessage(here, library, first, name)
  return messages.unknownMember(owner, name, here.check.suggest(name, membersOf(prefix)))
}

/** What the built-ins of a name space are called behind its dot. */
export function* membersOf(prefix: string): Generator<string> {
  for (const table of [BUILTIN_FUNCTIONS, BUILTIN_VARIABLES, BUILTIN_CONSTANTS])
    for (const name of table.keys()) if (name.startsWith(prefix)) yield name.slice(prefix.length)
}

function libraryMemberMessage(here: Place, library: Unit, alias: string, name: string): messages.Message {
  if (library.functions.has(name) || library.types.has(name)) return messages.notExported(alias, name)
  return messages.unknownMember(
    alias,
    name,
    here.check.suggest(name, [...library.functions.keys(), ...library.types.keys()]),
  )
}

export function field(here: Place, object: Expr, name: tree.Name, node: Range): Expr {
  if (object.type.kind === 'error') return errorExpr(node)
  const type = fieldType(object.type, name.name)
  if (type === null) {
    const near =
      object.type.kind === 'udt'
        ? here.check.suggest(
            name.name,
            object.type.udt.fields.map((one) => one.name),
          )
        : null
    here.check.report(
      here,
      name,
      object.type.kind === 'udt'
        ? messages.unknownMember(typeText(object.type), name.name, near)
        : messages.notAnObject(name.name, describe(object)),
    )
    return errorExpr(node)
  }
  return {
    kind: 'Field',
    object,
    field: name.name,
    type,
    qualifier: 'series',
    start: node.start,
    end: node.end,
  }
}

// Operators

/** Has a past of its own on every bar, wherever it is looked at. */
function isBarColumn(base: Expr): boolean {
  return base.kind === 'BuiltinVariable' || base.kind === 'Input' || base.kind === 'Const'
}

function history(here: Place, node: tree.Index): Expr {
  const base = expression(here, node.object)
  const offset = value(here, node.index)
  const isLiteral = base.kind === 'Const' && base.type.kind !== 'error' && here.unit.version === 6
  if (base.type.kind === 'void' || isLiteral) {
    here.check.report(here, node, messages.historyOfVoid(describe(base)))
    return errorExpr(node)
  }
  if (!isNumber(offset.type) && offset.type.kind !== 'error' && offset.type.kind !== 'na') {
    here.check.report(here, node.index, messages.notANumber('how many bars back', describe(offset)))
  }
  if (base.kind === 'Field' && here.unit.version === 6 && node.object.kind === 'Member')
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

function unary(here: Place, node: tree.Unary): Expr {
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

function binary(here: Place, node: tree.Binary): Expr {
  // Only v6 leaves the right side alone when the left one decides.
  const isLazy = (node.operator === 'and' || node.operator === 'or') && here.unit.version === 6
  const right = isLazy ? { ...here, conditional: true } : here
  return operation(here, node.operator, value(here, node.left), value(right, node.right), node)
}

/** Also for `x += y`, which is `x := x + y`. */
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
    if (isNa(left) || isNa(right)) here.check.report(here, node, messages.comparedWithNa(operator))
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
    if (operator !== '/') return made(ints ? INT : isWhole ? QUOTIENT : FLOAT, l, r)
    const division = made(FLOAT)
    // Up to v5 the division of two const ints is one of whole numbers.
    if (ints && qualifier === 'const' && here.unit.version < 6) {
      return { kind: 'Convert', operand: division, type: INT, qualifier, start: node.start, end: node.end }
    }
    return made(isWhole ? QUOTIENT : FLOAT, l, r)
  }
  here.check.report(here, node, messages.operandTypes(operator, describe(left), describe(right)))
  return COMPARISONS.has(operator) ? { ...errorExpr(node), type: BOOL } : errorExpr(node)
}

function isNa(expr: Expr): boolean {
  return expr.kind === 'Const' && expr.type.kind === 'na'
}

const COMPARISONS: ReadonlySet<string> = new Set(['<', '<=', '>', '>=', '==', '!='])

function number(expr: Expr): Expr {
  return expr.type.kind === 'na' ? coerce(expr, FLOAT) : asNumber(expr)
}

/** As the test of an if, a loop, a ternary, or an operand of and/or/not. */
export function condition(here: Place, expr: Expr, node: Range): Expr {
  if (expr.type.kind !== 'void' && fits(here, expr.type, BOOL)) return coerce(expr, BOOL)
  here.check.report(
    here,
    node,
    expr.type.kind === 'na' ? messages.naBool() : messages.notABool(describe(expr), here.unit.version),
  )
  return { ...errorExpr(node), type: BOOL }
}

function ternary(here: Place, node: tree.Ternary): Expr {
  const test = condition(here, value(here, node.test), node.test)
  const branch = { ...here, conditional: true }
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

function tuple(here: Place, node: tree.Tuple): Expr {
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

// Blocks with a value

function branched(here: Place, qualifier: Qualifier): Place {
  return { ...here, branch: { qualifier, outer: here.branch } }
}

function ifExpression(here: Place, node: tree.If, use: Use): Expr {
  const test = condition(here, value(here, node.test), node.test)
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

function switchExpression(here: Place, node: tree.Switch, use: Use): Expr {
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
  if (subject === null) return condition(here, test, node)
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

/** The block as statements only. */
function withoutResult(one: Block | null): Block | null {
  if (one === null || one.result === null) return one
  if (one.result.kind === 'Variable') return { statements: one.statements, result: null }
  const last: Stmt = { kind: 'Expression', value: one.result, start: one.result.start }
  return { statements: [...one.statements, last], result: null }
}

function loopResult(body: Block, use: Use): { body: Block; type: Type } {
  if (use === 'statement' || body.result === null) return { body: withoutResult(body) ?? body, type: VOID }
  return { body, type: body.result.type }
}

function loopScope(here: Place, node: tree.For | tree.ForIn | tree.While): Place {
  if (here.loops === LOOPS_MAX) here.check.report(here, node, messages.tooManyLoops(LOOPS_MAX))
  return inner(here, node.body, { loops: here.loops + 1 })
}

function forExpression(here: Place, node: tree.For, use: Use): Expr {
  const bound = (one: tree.Expression): Expr => {
    const expr = value(here, one)
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
  const counter = declareLoopVariable(scope, node.counter, isWhole ? INT : QUOTIENT, qualifier)
  const { body, type } = loopResult(block(scope, node.body, use), use)
  return {
    kind: 'For',
    counter,
    from,
    to,
    by,
    body,
    type,
    qualifier: 'series',
    start: node.start,
    end: node.end,
  }
}

function forInExpression(here: Place, node: tree.ForIn, use: Use): Expr {
  const collection = value(here, node.collection)
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

function whileExpression(here: Place, node: tree.While, use: Use): Expr {
  const test = condition(here, value(here, node.test), node.test)
  const scope = loopScope(branched(here, test.qualifier), node)
  const { body, type } = loopResult(block(scope, node.body, use), use)
  return { kind: 'While', test, body, type, qualifier: 'series', start: node.start, end: node.end }
}

/** An `if` that a hidden `var` shuts once it has run: what rolls variables back opens it again, as TradingView has it. */
function onceExpression(here: Place, node: tree.Once): Expr {
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
    test: test === null ? open : { kind: 'Binary', operator: 'and', left: test, right: open, ...at },
    consequent: { statements: [shut, ...statements], result: null },
    alternate: null,
    ...at,
    type: VOID,
  }
}
