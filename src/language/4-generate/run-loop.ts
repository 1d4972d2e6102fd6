// The loop over the bars: the broker where something waits, the body, the broker again where the script told it something.
//
// On most bars of most scripts a body of bare `if`s does nothing: what they ask is known ahead, in columns. Such bars are
// passed over in a loop that asks just that, and whether a price calls the position: with two averages that cross every 25
// bars a bar takes 1 ns instead of 6.

import type {
  Block,
  BuiltinCallExpr,
  BuiltinVariableExpr,
  Expr,
  HistoryExpr,
  IfExpr,
  Stmt,
  Variable,
} from '../2-check/program.ts'
import type { Type } from '../2-check/types.ts'
import { walkExpr } from '../2-check/walk.ts'
import { js, sequence, type Code } from './code.ts'
import { assignment, barColumn, entry } from './columns.ts'
import { expression } from './expressions.ts'
import { variableName, Writer, type Body, type Module } from './module.ts'
import { isTrack } from './special.ts'
import { block } from './statements.ts'

/** A statement of the script's body of which something is left to do bar by bar, and the lines that do it. */
interface Doing {
  readonly part: Stmt | Expr
  readonly lines: Writer
}

export function bodyLines(module: Module, { statements, result }: Block, body: Body): readonly Doing[] {
  const doing: Doing[] = []
  const write = (part: Stmt | Expr, alone: Block) => {
    const lines = new Writer()
    block(module, alone, { ...body, out: lines }, null)
    if (lines.lines.length > 0) doing.push({ part, lines })
    body.out.append(lines)
  }
  for (const statement of statements) write(statement, { statements: [statement], result: null })
  if (result) write(result, { statements: [], result })
  return doing
}

/** Bars that are not asked about after one that was not passed over: where most do something, to ask costs more than it saves. */
const PAUSE_MAX = 16

/** To be written before the names of the columns are: it may be the first to read some. `doing`: what `bodyLines` answered. */
export function runLoop(module: Module, doing: readonly Doing[], body: Body, trades: boolean): Writer {
  const out = new Writer()
  const idling = idlingOf(module, doing, body)
  const bar = trades
    ? js`R.bar=i;A.bar=i;if(B.busy||${called(module, 'B.callBelow', 'B.callAbove')})B.onBar(i,R.rerun);body(i);if(B.dirty)B.afterScript(i);`
    : 'R.bar=i;body(i);'
  if (idling === null) {
    out.line(js`function run(from,to){for(let i=from;i<to;i++){${bar}}}`)
    return out
  }
  const { asks, writes } = idling
  if (trades) asks.push(js`if(${called(module, 'below', 'above')})break;`)
  const lines = [...asks, ...writes]
  const columns = [...new Set(lines.flatMap((line) => line.columns))]
  const skips = (edges: readonly string[]) =>
    js`const j=idle(${['i', 'to', ...edges, ...columns]});if(j>i)pause=1;else{later=i+pause;if(pause<${PAUSE_MAX})pause*=2;}i=j;if(i===to)break;`
  const skip = trades
    ? js`if(i>=later&&!B.busy){${skips(['B.callBelow', 'B.callAbove'])}}`
    : js`if(i>=later){${skips([])}}`
  const parameters = ['i', 'to', ...(trades ? ['below', 'above'] : []), ...columns]
  out.line(
    lines.length === 0
      ? 'function idle(i,to){return to;}'
      : js`function idle(${parameters}){for(;i<to;i++){${sequence(lines)}}return i;}`,
  )
  out.line(
    js`function run(from,to){let later=0,pause=1;for(let i=from;i<to;i++){${skip}${bar}}R.bar=to-1;${trades ? 'A.bar=to-1;' : ''}}`,
  )
  return out
}

/** A price of the bar calls the position. */
function called(module: Module, below: string, above: string): Code {
  return js`!(${barColumn(module, 'high')}<${above}&&${barColumn(module, 'low')}>${below})`
}

/**
 * What there is to do on a bar on which the body changes nothing. `asks` leave the loop where it may change something; `writes`
 * enter in columns what is the same as on the bar before.
 */
interface Idling {
  readonly asks: Code[]
  readonly writes: Code[]
}

/** null: the body may do something on any bar. */
function idlingOf(module: Module, doing: readonly Doing[], body: Body): Idling | null {
  const { guards, recorded } = module.plan
  if (module.copiesPast) return null
  if (guards !== null)
    return { asks: guards.map((column) => js`if(${entry(module, column)}===1)break;`), writes: [] }
  const idling: Idling = { asks: [], writes: [] }
  for (const { expr, column } of recorded.values()) {
    if (!isUntilFill(expr)) return null
    idling.writes.push(js`${assignment(module, column, expression(module, expr, body))};`)
  }
  const known = new Set<Variable>()
  for (const each of doing) if (!idle(module, each, body, known, idling)) return null
  return idling
}

/** Answers whether the part is one that need not be executed on every bar. `known`: variables whose values are known ahead. */
function idle(
  module: Module,
  { part, lines }: Doing,
  body: Body,
  known: Set<Variable>,
  { asks, writes }: Idling,
): boolean {
  const isKnown = (expr: Expr) => isKnownAhead(module, expr, known)
  const code = (expr: Expr) => expression(module, expr, { ...body, out: new Writer() })
  const value = part.kind === 'Expression' ? part.value : part
  if (value.kind === 'If') {
    const tests = testsOf(value)
    if (!tests?.every(isKnown)) return false
    for (const test of tests) asks.push(js`if(${code(test)})break;`)
    return true
  }
  if (value.kind === 'BuiltinCall') {
    const { name } = value.builtin
    if (!value.args.every((arg) => arg === null || isKnown(arg))) return false
    if (name === 'alertcondition' && value.args[0]) asks.push(js`if(${code(value.args[0])})break;`)
    else if (isTrack(name)) for (const line of lines.lines) writes.push(js`${line.code}`)
    else return false
    return true
  }
  if (value.kind !== 'Declare' && value.kind !== 'Assign') return false
  const { variable } = value
  const { place, history, column } = module.plan.storageOf(variable)
  if (place === 'local' && value.kind === 'Declare') {
    if (history === 'buffer' || !isKnown(value.value)) return false
    for (const line of lines.lines) asks.push(js`${line.code}`)
  } else if (place === 'state' && history !== 'buffer') {
    // A `var` stays what it is on such bars.
    const name = variableName(variable)
    if (value.kind === 'Declare') asks.push(js`if(!G.b${variable.id})break;`)
    else if (!isKnown(value.value) || !isPlain(variable.type) || counts(value)) return false
    else asks.push(js`if(!${module.constant(Object.is)}(G.${name},${code(value.value)}))break;`)
    if (column && value.kind === 'Declare') writes.push(js`${assignment(module, column, `G.${name}`)};`)
  } else return false
  known.add(variable)
  return true
}

/** `n += 1`: it changes on every bar. */
function counts({ variable, value }: Extract<Stmt, { kind: 'Assign' }>): boolean {
  if (value.kind !== 'Binary') return false
  let found = false
  walkExpr(value, (expr) => {
    if (expr.kind === 'Variable' && expr.variable === variable) found = true
  })
  return found
}

/** The tests of a chain of `else if`; null if it ends with a block that no test guards. */
function testsOf({ test, alternate }: IfExpr): readonly Expr[] | null {
  if (!alternate) return [test]
  const { statements, result } = alternate
  if (statements.length !== (result ? 0 : 1)) return null
  const last = result ?? statements[0]!
  const next = last.kind === 'Expression' ? last.value : last
  const tests = next.kind === 'If' ? testsOf(next) : null
  return tests && [test, ...tests]
}

/**
 * Whether it is made of columns, inputs, constants and what no bar changes by itself, so that asking it once more changes
 * nothing and cannot fail.
 */
function isKnownAhead(module: Module, expr: Expr, known: ReadonlySet<Variable>): boolean {
  const isKnown = (one: Expr) => isKnownAhead(module, one, known)
  switch (expr.kind) {
    case 'Const':
    case 'Input':
      return true
    case 'Variable':
      return isColumn(module, expr.variable) || known.has(expr.variable)
    case 'BuiltinVariable':
      return (
        'column' in expr.builtin.implementation ||
        module.plan.columnsOf(expr) !== null ||
        module.plan.rankOf(expr) === 'fixed' ||
        isUntilFill(expr)
      )
    case 'BuiltinCall':
      return (
        module.plan.columnsOf(expr) !== null ||
        (isArithmetic(expr) && expr.args.every((arg) => !arg || isKnown(arg)))
      )
    case 'History':
      return isKnownPast(module, expr, known)
    case 'Unary':
    case 'Convert':
      return isKnown(expr.operand)
    case 'Binary':
      return expr.left.type.kind !== 'string' && isKnown(expr.left) && isKnown(expr.right)
    case 'Ternary':
      return isKnown(expr.test) && isKnown(expr.consequent) && isKnown(expr.alternate)
    default:
      return false
  }
}

/** A value that two of are the same without anything that they lead to. */
function isPlain({ kind }: Type): boolean {
  return kind === 'int' || kind === 'float' || kind === 'bool' || kind === 'color'
}

/** A function of numbers, bools and colours that gives one: these cannot fail. */
function isArithmetic({ overload, args, type }: BuiltinCallExpr): boolean {
  const { implementation } = overload
  if (!('fn' in implementation) || !implementation.pure || implementation.implicit?.length) return false
  return isPlain(type) && args.every((arg) => arg === null || isPlain(arg.type) || arg.type.kind === 'na')
}

/** Nothing but a fill changes it, and nothing fills on bars that are passed over. */
function isUntilFill({ builtin: { implementation } }: BuiltinVariableExpr): boolean {
  return 'get' in implementation && implementation.untilFill === true
}

function isColumn(module: Module, variable: Variable): boolean {
  return ['column', 'fixed'].includes(module.plan.storageOf(variable).place)
}

function isKnownPast(module: Module, { base, offset }: HistoryExpr, known: ReadonlySet<Variable>): boolean {
  if (offset.kind !== 'Const') return false
  if (base.kind === 'Variable')
    return (
      isColumn(module, base.variable) ||
      (known.has(base.variable) && module.plan.storageOf(base.variable).column !== null)
    )
  if (base.kind === 'BuiltinVariable' && isUntilFill(base)) return true
  return (
    (base.kind === 'BuiltinVariable' && 'column' in base.builtin.implementation) ||
    module.plan.valueColumnOf(base) !== null
  )
}
