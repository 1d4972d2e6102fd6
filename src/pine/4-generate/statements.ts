// Statements, blocks and functions to lines of JavaScript, one statement a line.

import { assert } from '../../lib/assert.ts'
import type {
  Block,
  Expr,
  ForExpr,
  ForInExpr,
  FunctionInstance,
  Stmt,
  SwitchExpr,
  Variable,
} from '../2-check/program.ts'
import { History } from '../runtime/history.ts'
import { itemsOf, keysOf, rowOf, rowsOf } from '../runtime/iterate.ts'
import { loopStep, objectOf } from '../runtime/operators.ts'
import { columnText, convert, encode, expression, fieldName } from './expressions.ts'
import { Frame, variableName, Writer, type EmittedFunction, type Module, type Scope } from './module.ts'

/** Takes the text of a block's value and writes the line that uses it; `offset` is where the value itself stands. */
type Sink = (text: string, offset?: number) => void

export function block(module: Module, block: Block, scope: Scope, sink: Sink | null): void {
  for (const each of block.statements) statement(module, each, scope)
  if (block.result) value(module, block.result, scope, sink)
}

/** Writes the lines that compute an expression and hand it to the sink; without a sink, for its effects alone. */
function value(module: Module, expr: Expr, scope: Scope, sink: Sink | null): void {
  const { out } = scope
  switch (expr.kind) {
    case 'If':
      out.line(`if(${expression(module, expr.test, scope)}){`, expr.test.start)
      block(module, expr.consequent, scope, sink)
      if (expr.alternate || sink) {
        out.line('}else{')
        if (expr.alternate) block(module, expr.alternate, scope, sink)
        else sink?.(module.naOf(expr.type))
      }
      out.line('}')
      return
    case 'Switch':
      switchLines(module, expr, scope, sink)
      return
    case 'For':
    case 'ForIn':
    case 'While': {
      const name = sink && expr.body.result && expr.type.kind !== 'void' ? module.temporary() : null
      if (name) out.line(`let ${name}=${module.naOf(expr.type)};`)
      const keep: Sink | null = name ? (text) => out.line(`${name}=${text};`, expr.start) : null
      if (expr.kind === 'For') forLines(module, expr, scope, keep)
      else if (expr.kind === 'ForIn') forInLines(module, expr, scope, keep)
      else {
        out.line(`while(${expression(module, expr.test, scope)}){${countLoop(module)}`, expr.start)
        block(module, expr.body, scope, keep)
        out.line('}')
      }
      if (sink) sink(name ?? module.naOf(expr.type))
      return
    }
    case 'Convert':
      if (isBlockLike(expr.operand) && sink) {
        value(module, expr.operand, scope, (text, at) => sink(convert(module, expr, text), at))
        return
      }
      break
  }
  if (sink) sink(expression(module, expr, scope), expr.start)
  else if (module.plan.hasEffects(expr)) {
    const text = expression(module, expr, scope)
    // A plot whose values are columns already leaves nothing to do but its number.
    if (!/^\d+$/.test(text)) out.line(`${text};`, expr.start)
  }
}

function isBlockLike(expr: Expr): boolean {
  return ['If', 'Switch', 'For', 'ForIn', 'While'].includes(expr.kind)
}

function switchLines(module: Module, expr: SwitchExpr, scope: Scope, sink: Sink | null): void {
  const { out } = scope
  let subject = ''
  if (expr.subject) {
    subject = module.temporary()
    out.line(`const ${subject}=${expression(module, expr.subject, scope)};`, expr.subject.start)
  }
  let opened = 0
  let isFirst = true
  let complete = false
  for (const { test, body } of expr.cases) {
    if (test) {
      const before = out.lines.length
      if (!isFirst) out.line('}else{')
      const text = caseTest(module, expr, subject, test, scope)
      // One within the other only where a test has lines of its own: 4,000 of them are too deep for JavaScriptCore.
      const isFlat = out.lines.length === before + 1
      if (isFlat) out.lines.length = before
      else if (!isFirst) opened++
      out.line(`${isFlat ? '}else ' : ''}if(${text}){`, test.start)
      isFirst = false
      block(module, body, scope, sink)
    } else {
      if (!isFirst) out.line('}else{')
      block(module, body, scope, sink)
      complete = true
      break
    }
  }
  if (!complete && sink) {
    if (!isFirst) out.line('}else{')
    sink(module.naOf(expr.type))
  }
  out.line('}'.repeat(isFirst ? 0 : opened + 1))
}

function caseTest(module: Module, expr: SwitchExpr, subject: string, test: Expr, scope: Scope): string {
  const text = expression(module, test, scope)
  if (!expr.subject) return text
  const numeric = [expr.subject.type.kind, test.type.kind].every((kind) => kind === 'int' || kind === 'float')
  return numeric ? `Math.abs(${subject}-${text})<=1e-10` : `${subject}===${text}`
}

/** Counts down the iterations of a bar, so that a loop without end stops with its line named. */
function countLoop(module: Module): string {
  module.usesLoops = true
  // A mask that is written out: comparing with a variable cost a nanosecond more a round.
  return 'if((++loops&255)===0)R.looped(loops);'
}

function forLines(module: Module, expr: ForExpr, scope: Scope, sink: Sink | null): void {
  const { out } = scope
  const [index, to, by, up] = [module.temporary(), module.temporary(), module.temporary(), module.temporary()]
  out.line(`let ${index}=${expression(module, expr.from, scope)};`, expr.from.start)
  out.line(`let ${to}=${expression(module, expr.to, scope)};`, expr.to.start)
  const step = expr.by ? `${module.constant(loopStep)}(${expression(module, expr.by, scope)})` : '1'
  out.line(`const ${by}=${step};`, expr.by?.start ?? expr.start)
  out.line(`const ${up}=${index}<=${to};`)
  // Since v6 the end is evaluated before every round, the first included.
  const again = module.program.semantics.dynamicForEnd && module.plan.rankOf(expr.to) === 'dynamic'
  const end = again ? `${to}=${expression(module, expr.to, scope)},` : ''
  const condition = `${end}${up}?${index}-${to}<=1e-10:${to}-${index}<=1e-10`
  out.line(`for(;${condition};${index}+=${up}?${by}:-${by}){${countLoop(module)}`, expr.start)
  declare(module, expr.counter, index, scope, expr.start)
  block(module, expr.body, scope, sink)
  out.line('}')
}

function forInLines(module: Module, expr: ForInExpr, scope: Scope, sink: Sink | null): void {
  const { out } = scope
  const [list, at] = [module.temporary(), module.temporary()]
  const collection = `${module.constant(objectOf)}(${expression(module, expr.collection, scope)})`
  const { kind } = expr.collection.type
  const isMap = kind === 'map'
  out.line(`const ${list}=${collection};`, expr.collection.start)
  const keys = isMap ? module.temporary() : ''
  if (isMap) out.line(`const ${keys}=${module.constant(keysOf)}(${list});`)
  const size = isMap
    ? `${keys}.length`
    : kind === 'matrix'
      ? `${module.constant(rowsOf)}(${list})`
      : `${module.constant(itemsOf)}(${list}).length`
  out.line(`for(let ${at}=0;${at}<${size};${at}++){${countLoop(module)}`, expr.start)
  if (expr.index) declare(module, expr.index, isMap ? `${keys}[${at}]` : at, scope, expr.start)
  const item = isMap
    ? `${list}.get(${keys}[${at}])`
    : kind === 'matrix'
      ? `${module.constant(rowOf)}(${list},${at})`
      : `${module.constant(itemsOf)}(${list})[${at}]`
  declare(module, expr.value, item, scope, expr.start)
  block(module, expr.body, scope, sink)
  out.line('}')
}

/** A variable that is given its first value here. */
function declare(module: Module, variable: Variable, text: string, scope: Scope, offset: number): void {
  scope.out.line(`let ${variableName(variable)}=${text};`, offset)
  remember(module, variable, scope, offset)
}

/** Enters a variable's new value in its history. */
function remember(module: Module, variable: Variable, scope: Scope, offset: number): void {
  const storage = module.plan.storageOf(variable)
  if (storage.history === 'none' || storage.place === 'column') return
  const owner = variable.owner === null ? 'G' : scope.state
  const text = storage.place === 'state' ? `${owner}.${variableName(variable)}` : variableName(variable)
  if (storage.column) {
    scope.out.line(`${columnText(module, storage.column)}=${encode(module, storage.column, text)};`, offset)
    return
  }
  const frame = variable.owner === null ? module.main : scope.frame
  const field = frame.field(
    `h${variable.id}`,
    `new ${module.constant(History)}(${module.naOf(variable.type)})`,
  )
  scope.out.line(`${owner}.${field}.put(i,${text});`, offset)
}

function statement(module: Module, statement: Stmt, scope: Scope): void {
  const { out } = scope
  switch (statement.kind) {
    case 'Declare':
      declaration(module, statement.variable, statement.value, scope, statement.start)
      return
    case 'DeclareTuple':
      tupleDeclaration(module, statement.variables, statement.value, scope, statement.start)
      return
    case 'Assign': {
      const { variable } = statement
      const name = target(module, variable, scope)
      value(module, statement.value, scope, (text, at) => out.line(`${name}=${text};`, at ?? statement.start))
      remember(module, variable, scope, statement.start)
      return
    }
    case 'AssignField': {
      const object = `${module.constant(objectOf)}(${expression(module, statement.object, scope)})`
      const field = fieldName(statement.object.type, statement.field)
      if (!isBlockLike(statement.value)) {
        out.line(`${object}.${field}=${expression(module, statement.value, scope)};`, statement.start)
        return
      }
      value(module, statement.value, scope, (text) =>
        out.line(`${object}.${field}=${text};`, statement.start),
      )
      return
    }
    case 'Expression':
      value(module, statement.value, scope, null)
      return
    case 'Break':
      out.line('break;', statement.start)
      return
    case 'Continue':
      out.line('continue;', statement.start)
      return
  }
}

function target(module: Module, variable: Variable, scope: Scope): string {
  const { place } = module.plan.storageOf(variable)
  if (place === 'state') return `${variable.owner === null ? 'G' : scope.state}.${variableName(variable)}`
  if (place === 'module') module.moduleVariables.set(variable.id, module.naOf(variable.type))
  return variableName(variable)
}

function declaration(module: Module, variable: Variable, init: Expr, scope: Scope, offset: number): void {
  const { out } = scope
  const storage = module.plan.storageOf(variable)
  const name = variableName(variable)
  switch (storage.place) {
    case 'dropped':
    case 'column':
      return
    case 'fixed':
      module.fixed.line(`const ${name}=${expression(module, init, { ...scope, out: module.fixed })};`, offset)
      return
    case 'state': {
      const frame = variable.owner === null ? module.main : scope.frame
      const state = variable.owner === null ? 'G' : scope.state
      frame.field(name, module.naOf(variable.type))
      const flag = frame.field(`b${variable.id}`, 'false')
      if (variable.mode === 'varip') frame.varip.push(name, flag)
      out.line(`if(!${state}.${flag}){${state}.${flag}=true;`, offset)
      value(module, init, scope, (text, at) => out.line(`${state}.${name}=${text};`, at ?? offset))
      out.line('}')
      remember(module, variable, scope, offset)
      return
    }
    case 'module':
      module.moduleVariables.set(variable.id, module.naOf(variable.type))
      value(module, init, scope, (text, at) => out.line(`${name}=${text};`, at ?? offset))
      remember(module, variable, scope, offset)
      return
    case 'local':
      if (isBlockLike(init) || (init.kind === 'Convert' && isBlockLike(init.operand))) {
        out.line(`let ${name}=${module.naOf(variable.type)};`, offset)
        value(module, init, scope, (text, at) => out.line(`${name}=${text};`, at ?? offset))
      } else out.line(`let ${name}=${expression(module, init, scope)};`, offset)
      remember(module, variable, scope, offset)
      return
  }
}

function tupleDeclaration(
  module: Module,
  variables: readonly (Variable | null)[],
  init: Expr,
  scope: Scope,
  offset: number,
): void {
  const { out } = scope
  const wanted = variables.filter((variable) => variable !== null)
  if (wanted.every((variable) => ['column', 'dropped'].includes(module.plan.storageOf(variable).place))) {
    if (wanted.length > 0 || !module.plan.hasEffects(init)) return
  }
  const list = module.temporary()
  out.line(`let ${list}=${module.naOf(init.type)};`)
  value(module, init, scope, (text, at) => out.line(`${list}=${text};`, at ?? offset))
  for (const [i, variable] of variables.entries()) {
    if (!variable) continue
    const { place } = module.plan.storageOf(variable)
    if (place === 'column' || place === 'dropped') continue
    if (place === 'module') out.line(`${target(module, variable, scope)}=${list}[${i}];`, offset)
    else out.line(`let ${variableName(variable)}=${list}[${i}];`, offset)
    remember(module, variable, scope, offset)
  }
}

/** Writes a function once; its frame's fields are known only then. */
export function functionOf(module: Module, fn: FunctionInstance): EmittedFunction {
  const known = module.emitted.get(fn)
  if (known) return known
  const number = module.functionCount++
  const emitted = { name: `f${number}`, frame: new Frame(`Frame${number}`) }
  // A function cannot call itself in Pine, so nobody asks for it before it is done.
  assert(!module.emitted.has(fn), 'no recursion')
  const out = new Writer()
  const scope: Scope = { frame: emitted.frame, state: 'F', fn, out, hoisted: false }
  for (const parameter of fn.parameters) remember(module, parameter, scope, -1)
  block(module, fn.body, scope, (text, at) =>
    // Not `return f(x)`: JavaScriptCore makes a tail call of that, and the stack would not name this line.
    out.line(`{const r=${text};return r;}`, at ?? fn.body.result?.start ?? -1),
  )
  if (!fn.body.result) out.line(`return ${module.naOf(fn.returns)};`)
  module.emitted.set(fn, emitted)
  const parameters = fn.parameters.map(variableName)
  if (emitted.frame.fields.length > 0) {
    module.frames.push(emitted.frame)
    parameters.unshift('F')
  }
  const counted = module.countsCalls ? countLoop(module) : ''
  module.functions.line(`function ${emitted.name}(${['i', ...parameters].join(',')}){${counted}`)
  module.functions.append(out)
  module.functions.line('}')
  return emitted
}
