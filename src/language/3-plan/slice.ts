// The part of a script that one expression depends on, as a program of its own.
//
// request.security() evaluates its expression on other bars, and with it all that the expression reads: variables with
// their `var` state, functions, inputs. TradingView runs the whole script there; running just the slice gives the same
// value for less. Inside a function the parameters become variables that hold the arguments of the calls on the way in.

import { assert } from '../../lib/assert.ts'
import type {
  Block,
  BuiltinCallExpr,
  Expr,
  FunctionInstance,
  Program,
  Stmt,
  UserCallExpr,
  Variable,
} from '../2-check/program.ts'
import { walkBlock, walkExpr } from '../2-check/walk.ts'
import type { BuiltinFunction } from '../builtins/registry.ts'

/** What a slice ends with: its arguments are the values wanted. */
export const RESULT: BuiltinFunction = {
  kind: 'function',
  name: 'request.result',
  doc: '',
  signatures: [],
  overloads: [
    {
      parameters: [],
      returns: { qualifier: null, type: { kind: 'void' } },
      implementation: { special: true },
    },
  ],
  status: 'implemented',
}

/** `path`: the calls that lead to the function the expression stands in, outermost first; empty at the top level. */
export function sliceProgram(program: Program, path: readonly UserCallExpr[], wanted: Expr): Program {
  const items = wanted.kind === 'Tuple' ? wanted.items : [wanted]
  // The body as it would be if every function on the path were written where it is called, and if the blocks around
  // the calls and the expression were always entered.
  const statements: Stmt[] = opened(program.elsewhere ?? program.body, path[0] ?? wanted)
  for (const [depth, call] of path.entries()) {
    for (const [i, variable] of call.fn.parameters.entries()) {
      const value = call.args[i]
      if (value) statements.push({ kind: 'Declare', variable, value, start: call.start })
    }
    statements.push(...opened(call.fn.body, path[depth + 1] ?? wanted))
  }
  const kept = neededFor(items, statements)
  const overload = RESULT.overloads[0]
  const result = {
    kind: 'BuiltinCall',
    builtin: RESULT,
    overload,
    args: items,
    typeArguments: [],
    site: program.siteCount,
    type: { kind: 'void' },
    qualifier: 'series',
    start: wanted.start,
    end: wanted.end,
  } as BuiltinCallExpr
  return {
    ...program,
    elsewhere: null,
    declaration: { ...program.declaration, kind: 'indicator' },
    functions: [...kept.functions],
    siteCount: program.siteCount + 1,
    body: {
      statements: [...kept.statements, { kind: 'Expression', value: result, start: wanted.start }],
      result: null,
    },
  }
}

/** The statements that compute what these expressions read, without drawing, and the functions they call. */
export function neededFor(
  items: readonly Expr[],
  statements: readonly Stmt[],
): { readonly statements: Stmt[]; readonly functions: ReadonlySet<FunctionInstance> } {
  const needed = new Set<Variable>()
  const functions = new Set<FunctionInstance>()
  const read = (expr: Expr): void => {
    if (expr.kind === 'Variable') needed.add(expr.variable)
    if (expr.kind === 'UserCall' && !functions.has(expr.fn)) {
      functions.add(expr.fn)
      // A function's own variables exist only during the call.
      walkBlock(expr.fn.body, (inner) => {
        if (inner.kind !== 'Variable' || inner.variable.owner !== expr.fn) read(inner)
      })
    }
    if (expr.kind === 'Input' && expr.input.sourceExpr) walkExpr(expr.input.sourceExpr, read)
  }
  for (const item of items) walkExpr(item, read)
  const kept = new Set<Stmt>()
  for (let before = -1; before !== kept.size + needed.size;) {
    before = kept.size + needed.size
    for (const statement of statements.toReversed()) {
      if (kept.has(statement) || !touches(statement, needed)) continue
      kept.add(statement)
      walkBlock({ statements: [statement], result: null }, read, (inner) => {
        // What it sets besides has to exist.
        if (inner.kind === 'Assign') needed.add(inner.variable)
      })
    }
  }
  return { statements: statements.filter((statement) => kept.has(statement)).map(withoutOutputs), functions }
}

/**
 * A block's statements up to the one that contains `target`, and then those of the inner block it is in, as if that were
 * always entered. What stands after the call is no part of what it evaluates (other timeframes and data, "Requestable
 * data"), nor is the statement itself, but for the branches beside the one that leads to the call.
 */
function opened(block: Block, target: Expr, isInner = false): Stmt[] {
  const statements: Stmt[] = []
  const enter = (expr: Expr): void => {
    if (expr.kind === 'For')
      statements.push({ kind: 'Declare', variable: expr.counter, value: expr.from, start: expr.start })
    for (const inner of blocksOf(expr))
      if (blockHolds(inner, target)) statements.push(...opened(inner, target, true))
    if (expr.kind === 'Convert') enter(expr.operand)
  }
  for (const statement of block.statements) {
    if (!('value' in statement) || !exprHolds(statement.value, target)) {
      statements.push(statement)
      continue
    }
    const beside = isInner || statement.kind !== 'Expression' ? null : besides(statement.value, target)
    if (beside) statements.push({ kind: 'Expression', value: beside, start: statement.start })
    enter(statement.value)
    return statements
  }
  if (block.result && exprHolds(block.result, target)) enter(block.result)
  return statements
}

/** An `if` or `switch` without the block that leads to the call; null if nothing is left. */
function besides(expr: Expr, target: Expr): Expr | null {
  const rest = (block: Block): Block => {
    if (!blockHolds(block, target)) return block
    // An `else if` is a block of its own.
    const [only] = block.statements
    const nested =
      only?.kind === 'Expression' && block.statements.length === 1 ? besides(only.value, target) : null
    return {
      statements: nested && only ? [{ kind: 'Expression', value: nested, start: only.start }] : [],
      result: null,
    }
  }
  if (expr.kind === 'If')
    return { ...expr, consequent: rest(expr.consequent), alternate: expr.alternate && rest(expr.alternate) }
  if (expr.kind === 'Switch')
    return { ...expr, cases: expr.cases.map((one) => ({ ...one, body: rest(one.body) })) }
  return null
}

function exprHolds(expr: Expr, target: Expr): boolean {
  let found = false
  walkExpr(expr, (one) => {
    found ||= one === target
  })
  return found
}

function blockHolds(block: Block, target: Expr): boolean {
  let found = false
  walkBlock(block, (one) => {
    found ||= one === target
  })
  return found
}

function blocksOf(expr: Expr): readonly Block[] {
  switch (expr.kind) {
    case 'If':
      return expr.alternate ? [expr.consequent, expr.alternate] : [expr.consequent]
    case 'Switch':
      return expr.cases.map(({ body }) => body)
    case 'For':
    case 'ForIn':
    case 'While':
      return [expr.body]
    default:
      return []
  }
}

/** The calls a path names: `/12/30` is the call at site 30 in the function that site 12 calls. */
export function callsOn(program: Program, path: string): readonly UserCallExpr[] {
  let body = program.body
  const calls: UserCallExpr[] = []
  for (const site of path.split('/').slice(1).map(Number)) {
    let found: UserCallExpr | null = null
    walkBlock(body, (expr) => {
      if (expr.kind === 'UserCall' && expr.site === site) found = expr
    })
    const call = found as UserCallExpr | null
    assert(call, 'a path leads along calls')
    calls.push(call)
    body = call.fn.body
  }
  return calls
}

/** Whether a statement gives a needed variable its value or changes the object it holds. */
function touches(statement: Stmt, needed: ReadonlySet<Variable>): boolean {
  if (statement.kind === 'Expression' && isOutput(statement.value)) return false
  let found = false
  const visit = (one: Stmt): void => {
    if (one.kind === 'Declare' || one.kind === 'Assign') found ||= needed.has(one.variable)
    else if (one.kind === 'DeclareTuple')
      found ||= one.variables.some((variable) => variable !== null && needed.has(variable))
    else if (one.kind === 'AssignField') found ||= reaches(one.object, needed)
  }
  const expression = (expr: Expr): void => {
    if (expr.kind === 'BuiltinCall') found ||= changes(expr, needed)
    if (expr.kind !== 'UserCall') return
    found ||= expr.args.some((arg) => holds(arg, needed))
    // A function may change a collection of the script's it sees without being handed it.
    walkBlock(expr.fn.body, (inner) => {
      if (inner.kind === 'BuiltinCall') found ||= changes(inner, needed)
    })
  }
  walkBlock({ statements: [statement], result: null }, expression, visit)
  return found
}

const CHANGERS =
  /^(?:array|matrix|map)\.(?:push|pop|shift|unshift|insert|remove|set|clear|fill|reverse|sort|concat|put|put_all|add_row|add_col|remove_row|remove_col|swap_rows|swap_columns|reshape)$/

function changes(call: BuiltinCallExpr, needed: ReadonlySet<Variable>): boolean {
  return CHANGERS.test(call.builtin.name) && call.args.some((arg) => arg !== null && holds(arg, needed))
}

const REFERENCES: ReadonlySet<string> = new Set(['array', 'matrix', 'map', 'udt', 'chart.point'])

function holds(expr: Expr, needed: ReadonlySet<Variable>): boolean {
  return REFERENCES.has(expr.type.kind) && reaches(expr, needed)
}

/** Whether the value may be an object that a needed variable holds; numbers and texts contain no objects. */
function reaches(expr: Expr, needed: ReadonlySet<Variable>): boolean {
  let found = false
  walkExpr(expr, (one) => {
    if (one.kind === 'Variable') found ||= REFERENCES.has(one.variable.type.kind) && needed.has(one.variable)
  })
  return found
}

/** Orders, alerts and plots belong to the script itself, so slices leave them out. */
function isOutput(expr: Expr): boolean {
  if (expr.kind !== 'BuiltinCall') return false
  const { name } = expr.builtin
  if (name.startsWith('request.')) return false
  if ('special' in expr.overload.implementation) return true
  return /^(?:strategy\.|alert|log\.)/.test(name) && expr.type.kind === 'void'
}

function withoutOutputs(statement: Stmt): Stmt {
  switch (statement.kind) {
    case 'Expression':
      return { ...statement, value: bare(statement.value) }
    case 'Declare':
    case 'Assign':
    case 'DeclareTuple':
      return { ...statement, value: bare(statement.value) }
    default:
      return statement
  }
}

function bareBlock(block: Block): Block {
  return {
    statements: block.statements
      .filter((one) => one.kind !== 'Expression' || !isOutput(one.value))
      .map(withoutOutputs),
    result: block.result && isOutput(block.result) ? null : block.result && bare(block.result),
  }
}

function bare(expr: Expr): Expr {
  switch (expr.kind) {
    case 'If':
      return {
        ...expr,
        consequent: bareBlock(expr.consequent),
        alternate: expr.alternate && bareBlock(expr.alternate),
      }
    case 'Switch':
      return { ...expr, cases: expr.cases.map((one) => ({ ...one, body: bareBlock(one.body) })) }
    case 'For':
    case 'ForIn':
    case 'While':
      return { ...expr, body: bareBlock(expr.body) }
    default:
      return expr
  }
}
