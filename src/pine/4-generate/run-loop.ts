// The loop over the bars: the broker where something waits, the body, the broker again where the script told it something.
//
// On most bars of most scripts a body of bare `if`s does nothing: what they ask is known ahead, in columns. Such bars are
// passed over in a loop that asks just that, and whether a price calls the position: with two averages that cross every 25
// bars a bar takes 1 ns instead of 6.

import type { Block, Expr, HistoryExpr, IfExpr, Stmt, Variable } from '../2-check/program.ts'
import { js, type Code } from './code.ts'
import { barColumn, entry } from './columns.ts'
import { expression } from './expressions.ts'
import { Writer, type Body, type Module } from './module.ts'
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

/** To be written before the names of the columns are: it may be the first to read some. `doing`: what `bodyLines` answered. */
export function runLoop(module: Module, doing: readonly Doing[], body: Body, trades: boolean): Writer {
  const out = new Writer()
  const asks = module.plan.recorded.size === 0 ? wakingLines(module, doing, body) : null
  const bar = trades
    ? js`R.bar=i;A.bar=i;if(B.busy||${called(module, 'B.callBelow', 'B.callAbove')})B.onBar(i,R.rerun);body(i);if(B.dirty)B.afterScript(i);`
    : 'R.bar=i;body(i);'
  if (asks === null) {
    out.line(js`function run(from,to){for(let i=from;i<to;i++){${bar}}}`)
    return out
  }
  if (trades) asks.push(js`if(${called(module, 'below', 'above')})break;`)
  const columns = [...new Set(asks.flatMap((ask) => ask.columns))]
  const skips = (edges: readonly string[]) =>
    js`i=idle(${['i', 'to', ...edges, ...columns]});if(i===to)break;`
  const skip = trades ? js`if(!B.busy){${skips(['B.callBelow', 'B.callAbove'])}}` : skips([])
  const parameters = ['i', 'to', ...(trades ? ['below', 'above'] : []), ...columns]
  out.line(
    asks.length === 0
      ? 'function idle(i,to){return to;}'
      : js`function idle(${parameters}){for(;i<to;i++){${asks.reduce((all, ask) => js`${all}${ask}`)}}return i;}`,
  )
  out.line(
    js`function run(from,to){for(let i=from;i<to;i++){${skip}${bar}}R.bar=to-1;${trades ? 'A.bar=to-1;' : ''}}`,
  )
  return out
}

/** A price of the bar calls the position. */
function called(module: Module, below: string, above: string): Code {
  return js`!(${barColumn(module, 'high')}<${above}&&${barColumn(module, 'low')}>${below})`
}

/** What leaves a loop on the bars on which the body does something. null: it may on any. */
function wakingLines(module: Module, doing: readonly Doing[], body: Body): Code[] | null {
  const { guards } = module.plan
  if (guards !== null) return guards.map((column) => js`if(${entry(module, column)}===1)break;`)
  const asks: Code[] = []
  const known = new Set<Variable>()
  for (const { part, lines } of doing) {
    const value = part.kind === 'Expression' ? part.value : part
    if (value.kind === 'If') {
      const tests = testsOf(value)
      if (!tests?.every((test) => isKnownAhead(module, test, known))) return null
      for (const test of tests)
        asks.push(js`if(${expression(module, test, { ...body, out: new Writer() })})break;`)
    } else if (value.kind === 'Declare') {
      const { place, history } = module.plan.storageOf(value.variable)
      if (place !== 'local' || history !== 'none' || !isKnownAhead(module, value.value, known)) return null
      known.add(value.variable)
      for (const { code } of lines.lines) asks.push(js`${code}`)
    } else return null
  }
  return asks
}

/** Those of a chain of `else if`; null where it ends with something that no test leads to. */
function testsOf({ test, alternate }: IfExpr): readonly Expr[] | null {
  if (!alternate) return [test]
  const { statements, result } = alternate
  if (statements.length !== (result ? 0 : 1)) return null
  const last = result ?? statements[0]!
  const next = last.kind === 'Expression' ? last.value : last
  const tests = next.kind === 'If' ? testsOf(next) : null
  return tests && [test, ...tests]
}

/** Made of columns, inputs and constants alone, so that asking it once more changes nothing and cannot fail. */
function isKnownAhead(module: Module, expr: Expr, known: ReadonlySet<Variable>): boolean {
  const isKnown = (one: Expr) => isKnownAhead(module, one, known)
  switch (expr.kind) {
    case 'Const':
    case 'Input':
      return true
    case 'Variable':
      return isColumn(module, expr.variable) || known.has(expr.variable)
    case 'BuiltinVariable':
      return 'column' in expr.builtin.implementation || module.plan.columnsOf(expr) !== null
    case 'BuiltinCall':
      return module.plan.columnsOf(expr) !== null
    case 'History':
      return isKnownPast(module, expr)
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

function isColumn(module: Module, variable: Variable): boolean {
  return ['column', 'fixed'].includes(module.plan.storageOf(variable).place)
}

function isKnownPast(module: Module, { base, offset }: HistoryExpr): boolean {
  if (offset.kind !== 'Const') return false
  if (base.kind === 'Variable') return isColumn(module, base.variable)
  return (
    (base.kind === 'BuiltinVariable' && 'column' in base.builtin.implementation) ||
    module.plan.valueColumnOf(base) !== null
  )
}
