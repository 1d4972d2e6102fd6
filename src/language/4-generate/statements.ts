// Statements, blocks and functions to lines of JavaScript, one statement a line.

import { assert } from '../../lib/assert.ts'
import type {
  Block,
  BuiltinCallExpr,
  Expr,
  ForExpr,
  ForInExpr,
  FunctionInstance,
  Stmt,
  SwitchExpr,
  Variable,
} from '../2-check/program.ts'
import type { Type } from '../2-check/types.ts'
import { walkBlock, walkExpr } from '../2-check/walk.ts'
import type { Noted } from '../3-plan/call-history.ts'
import { History } from '../runtime/history.ts'
import { itemsOf, keysOf, rowOf, rowsOf } from '../runtime/iterate.ts'
import { collectionOf, loopStep, objectOf } from '../runtime/operators.ts'
import { js, type Code, type CodePart } from './code.ts'
import { assignment } from './columns.ts'
import { convert, expression, fieldName, isCopied, isInt, noteField, variable } from './expressions.ts'
import {
  Frame,
  variableName,
  Writer,
  type EmittedFunction,
  type Body,
  type Module,
  type Sink,
} from './module.ts'

export function block(module: Module, block: Block, into: Body, sink: Sink | null): void {
  for (const each of block.statements) statement(module, each, into)
  if (block.result) value(module, block.result, into, sink)
}

/** Writes the lines that compute an expression and hand it to the sink; without a sink, for its effects alone. */
function value(module: Module, expr: Expr, into: Body, sink: Sink | null): void {
  const { out } = into
  switch (expr.kind) {
    case 'If':
      out.line(js`if(${expression(module, expr.test, into)}){`, expr.test.start)
      block(module, expr.consequent, into, sink)
      if (expr.alternate || sink) {
        out.line('}else{')
        if (expr.alternate) block(module, expr.alternate, into, sink)
        else sink?.(module.naOf(expr.type))
      }
      out.line('}')
      return
    case 'Switch':
      switchLines(module, expr, into, sink)
      return
    case 'For':
    case 'ForIn':
    case 'While': {
      const name = sink && expr.body.result && expr.type.kind !== 'void' ? module.temporary() : null
      if (name) out.line(js`let ${name}=${module.naOf(expr.type)};`)
      const keep: Sink | null = name ? (result) => out.line(js`${name}=${result};`, expr.start) : null
      if (expr.kind === 'For') forLines(module, expr, into, keep)
      else if (expr.kind === 'ForIn') forInLines(module, expr, into, keep)
      else {
        out.line(js`while(${expression(module, expr.test, into)}){${countLoop(module, into)}`, expr.start)
        block(module, expr.body, into, keep)
        out.line('}')
      }
      if (sink) sink(name ?? module.naOf(expr.type))
      return
    }
    case 'Convert':
      if (isBlockLike(expr.operand) && sink) {
        value(module, expr.operand, into, (operand, at) => sink(convert(module, expr, operand), at))
        return
      }
      break
  }
  if (sink) sink(expression(module, expr, into), expr.start)
  else if (module.plan.hasEffects(expr)) {
    const code = expression(module, expr, into)
    // A plot whose values are columns already leaves nothing to do but its number.
    if (!code.isSimple) out.line(js`${code};`, expr.start)
  }
}

function isBlockLike(expr: Expr): boolean {
  return ['If', 'Switch', 'For', 'ForIn', 'While'].includes(expr.kind)
}

function switchLines(module: Module, expr: SwitchExpr, into: Body, sink: Sink | null): void {
  const { out } = into
  let subject = ''
  if (expr.subject) {
    subject = module.temporary()
    out.line(js`const ${subject}=${expression(module, expr.subject, into)};`, expr.subject.start)
  }
  let opened = 0
  let isFirst = true
  let complete = false
  for (const { test, body } of expr.cases) {
    if (test) {
      const before = out.lines.length
      if (!isFirst) out.line('}else{')
      const holds = caseTest(module, expr, subject, test, into)
      // One within the other only where a test has lines of its own: 4,000 of them are too deep for JavaScriptCore.
      const isFlat = out.lines.length === before + 1
      if (isFlat) out.lines.length = before
      else if (!isFirst) opened++
      out.line(js`${isFlat ? '}else ' : ''}if(${holds}){`, test.start)
      isFirst = false
      block(module, body, into, sink)
    } else {
      if (!isFirst) out.line('}else{')
      block(module, body, into, sink)
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

function caseTest(module: Module, expr: SwitchExpr, subject: string, test: Expr, into: Body): Code {
  const value = expression(module, test, into)
  if (!expr.subject) return value
  const numeric = [expr.subject.type.kind, test.type.kind].every((kind) => kind === 'int' || kind === 'float')
  return numeric ? js`Math.abs(${subject}-${value})<=1e-10` : js`${subject}===${value}`
}

/** Counts down the iterations of a bar, so that a loop without end stops with its line named. */
function countLoop(module: Module, into: Pick<Body, 'fn'>): string {
  noteLoop(module, into)
  // A mask that is written out: comparing with a variable cost a nanosecond more a round.
  return 'if((++loops&255)===0)R.looped(loops);'
}

/** Counts fewer than 256 rounds ahead, at the count at which one by one they would be looked at. */
function countRounds(module: Module, into: Pick<Body, 'fn'>, rounds: number): string {
  noteLoop(module, into)
  return `if(((loops+=${rounds})&255)<${rounds})R.looped(loops&-256);`
}

function noteLoop(module: Module, { fn }: Pick<Body, 'fn'>): void {
  if (fn === null) module.usesLoops = true
  else module.loopsInFunctions = true
}

function forLines(module: Module, expr: ForExpr, into: Body, sink: Sink | null): void {
  const { out } = into
  const known = knownRounds(expr)
  if (known !== null) {
    const index = module.temporary()
    const [from, to] = known
    const test = from <= to ? js`${index}<=${to};${index}++` : js`${index}>=${to};${index}--`
    const rounds = Math.abs(to - from) + 1
    const head = out.lines.length
    declare(module, expr.counter, index, into, expr.start)
    block(module, expr.body, into, sink)
    const round = out.lines.splice(head)
    // Without a call in it, what a loop looks at need not be looked at in each round: 168 of them took a quarter less.
    const counted = rounds < 256 && !has(expr.body, ['Break'])
    const count = counted ? countRounds(module, into, rounds) : ''
    // Rounds that are written one by one take half the time of a short loop within another.
    if (rounds * round.length <= SPELLED_MAX && !has(expr.body, LEAPS)) {
      for (let at = 0; at < rounds; at++) {
        const now = from <= to ? from + at : from - at
        out.line(js`${at === 0 ? count : ''}{const ${index}=${now};`, expr.start)
        out.lines.push(...round)
        out.line('}')
      }
      return
    }
    out.line(
      js`${count}for(let ${index}=${from};${test}){${counted ? '' : countLoop(module, into)}`,
      expr.start,
    )
    out.lines.push(...round)
    out.line('}')
    return
  }
  const [index, to, by, up] = [module.temporary(), module.temporary(), module.temporary(), module.temporary()]
  out.line(js`let ${index}=${expression(module, expr.from, into)};`, expr.from.start)
  out.line(js`let ${to}=${expression(module, expr.to, into)};`, expr.to.start)
  const step = expr.by ? js`${module.constant(loopStep)}(${expression(module, expr.by, into)})` : '1'
  out.line(js`const ${by}=${step};`, expr.by?.start ?? expr.start)
  out.line(js`const ${up}=${index}<=${to};`)
  // The first round is one of them.
  const again = expr.toEachRound && module.plan.rankOf(expr.to) === 'dynamic' && !staysSame(expr)
  const end = again ? js`${to}=${expression(module, expr.to, into)},` : ''
  const exact = expr.by === null && isInt(expr.from) && isInt(expr.to)
  const condition = exact
    ? js`${end}${up}?${index}<=${to}:${index}>=${to}`
    : js`${end}${up}?${index}-${to}<=1e-10:${to}-${index}<=1e-10`
  out.line(js`for(;${condition};${index}+=${up}?${by}:-${by}){${countLoop(module, into)}`, expr.start)
  declare(module, expr.counter, index, into, expr.start)
  block(module, expr.body, into, sink)
  out.line('}')
}

/** Whether no round changes what the end is made of: variables, and sizes of collections. */
function staysSame({ to, body }: ForExpr): boolean {
  const read = new Set<Variable>()
  let stays = true
  walkExpr(to, (expr) => {
    if (expr.kind === 'Variable') read.add(expr.variable)
    else if (expr.kind === 'BuiltinCall') stays &&= changesNothing(expr)
    else stays &&= ['Const', 'Input', 'Unary', 'Binary', 'Convert'].includes(expr.kind)
  })
  if (!stays) return false
  walkBlock(
    body,
    (expr) => {
      if (expr.kind === 'UserCall') stays = false
      else if (expr.kind === 'BuiltinCall') stays &&= changesNothing(expr)
    },
    (one) => {
      if (one.kind === 'Assign') stays &&= !read.has(one.variable)
    },
  )
  return stays
}

function changesNothing({ overload: { implementation } }: BuiltinCallExpr): boolean {
  return 'fn' in implementation && (implementation.pure === true || implementation.reads === true)
}

/** What a loop is left by or has within, unless it is written round by round. */
const LEAPS: readonly (Expr | Stmt)['kind'][] = ['Break', 'Continue', 'For', 'ForIn', 'While']
/** Lines. */
const SPELLED_MAX = 40

function has(body: Block, kinds: readonly (Expr | Stmt)['kind'][]): boolean {
  let found = false
  const look = ({ kind }: Expr | Stmt) => {
    if (kinds.includes(kind)) found = true
  }
  walkBlock(body, look, look)
  return found
}

/**
 * Both ends, where they are whole numbers that the script spells, and the step is one. Such a loop counts in whole numbers,
 * without asking each round which way it goes.
 */
function knownRounds({ from, to, by }: ForExpr): readonly [from: number, to: number] | null {
  if (by !== null || from.kind !== 'Const' || to.kind !== 'Const') return null
  const ends = [from.value, to.value]
  return ends.every(
    (end) => typeof end === 'number' && Math.abs(end) < 1e9 && Number.isInteger(end) && !Object.is(end, -0),
  )
    ? (ends as [number, number])
    : null
}

function forInLines(module: Module, expr: ForInExpr, into: Body, sink: Sink | null): void {
  const { out } = into
  const [list, at] = [module.temporary(), module.temporary()]
  const collection = js`${module.constant(collectionOf)}(${expression(module, expr.collection, into)})`
  const { kind } = expr.collection.type
  const isMap = kind === 'map'
  out.line(js`const ${list}=${collection};`, expr.collection.start)
  const keys = isMap ? module.temporary() : ''
  if (isMap) out.line(js`const ${keys}=${module.constant(keysOf)}(${list});`)
  const size = isMap
    ? js`${keys}.length`
    : kind === 'matrix'
      ? js`${module.constant(rowsOf)}(${list})`
      : js`${module.constant(itemsOf)}(${list}).length`
  out.line(js`for(let ${at}=0;${at}<${size};${at}++){${countLoop(module, into)}`, expr.start)
  if (expr.index) declare(module, expr.index, isMap ? js`${keys}[${at}]` : at, into, expr.start)
  const item = isMap
    ? js`${list}.get(${keys}[${at}])`
    : kind === 'matrix'
      ? js`${module.constant(rowOf)}(${list},${at})`
      : js`${module.constant(itemsOf)}(${list})[${at}]`
  declare(module, expr.value, item, into, expr.start)
  block(module, expr.body, into, sink)
  out.line('}')
}

/** A variable that is given its first value here. */
function declare(module: Module, variable: Variable, first: CodePart, into: Body, offset: number): void {
  into.out.line(js`let ${variableName(variable)}=${first};`, offset)
  remember(module, variable, into, offset)
}

/** Enters a variable's new value in its history. */
function remember(module: Module, variable: Variable, into: Body, offset: number): void {
  const storage = module.plan.storageOf(variable)
  if (storage.history === 'none' || storage.place === 'column') return
  const owner = variable.owner === null ? 'G' : into.state
  const now = storage.place === 'state' ? `${owner}.${variableName(variable)}` : variableName(variable)
  const copied = isCopied(variable.type)
  if (storage.column) {
    into.out.line(js`${assignment(module, storage.column, now)};`, offset)
    if (copied) module.pastColumns.add(storage.column)
    return
  }
  const frame = variable.owner === null ? module.main : into.frame
  const field = frame.field(
    `h${variable.id}`,
    `new ${module.constant(History)}(${module.naOf(variable.type)})`,
  )
  into.out.line(js`${owner}.${field}.put(i,${now});`, offset)
  if (copied) into.out.line(`${module.touched}.add(${owner}.${field});`, offset)
}

/** Notes for a call what its body reads the past of. */
function note(module: Module, noted: Noted, into: Body): void {
  const [now, na] =
    noted === 'bar_index' ? ['i', 'NaN'] : [variable(module, noted, into), module.naOf(noted.type)]
  const field = into.frame.field(noteField(noted), `new ${module.constant(History)}(${na})`)
  into.out.line(js`${into.state}.${field}.put(i,${now});`)
  if (noted !== 'bar_index' && isCopied(noted.type))
    into.out.line(`${module.touched}.add(${into.state}.${field});`)
}

function statement(module: Module, statement: Stmt, into: Body): void {
  const { out } = into
  switch (statement.kind) {
    case 'Declare':
      declaration(module, statement.variable, statement.value, into, statement.start)
      return
    case 'DeclareTuple':
      tupleDeclaration(module, statement.variables, statement.value, into, statement.start)
      return
    case 'Assign': {
      const { variable } = statement
      const name = target(module, variable, into)
      value(module, statement.value, into, (code, at) =>
        out.line(js`${name}=${code};`, at ?? statement.start),
      )
      remember(module, variable, into, statement.start)
      return
    }
    case 'AssignField': {
      const object = js`${module.constant(objectOf)}(${expression(module, statement.object, into)})`
      const field = fieldName(statement.object.type, statement.field)
      if (!isBlockLike(statement.value)) {
        out.line(js`${object}.${field}=${expression(module, statement.value, into)};`, statement.start)
        return
      }
      value(module, statement.value, into, (code) =>
        out.line(js`${object}.${field}=${code};`, statement.start),
      )
      return
    }
    case 'Expression':
      value(module, statement.value, into, null)
      return
    case 'Break':
      out.line('break;', statement.start)
      return
    case 'Continue':
      out.line('continue;', statement.start)
      return
  }
}

function target(module: Module, variable: Variable, into: Body): string {
  const { place } = module.plan.storageOf(variable)
  if (place === 'state') return `${variable.owner === null ? 'G' : into.state}.${variableName(variable)}`
  if (place === 'module') module.moduleVariables.set(variable.id, module.naOf(variable.type))
  return variableName(variable)
}

function declaration(module: Module, variable: Variable, init: Expr, into: Body, offset: number): void {
  const { out } = into
  const storage = module.plan.storageOf(variable)
  const name = variableName(variable)
  switch (storage.place) {
    case 'dropped':
    case 'column':
      return
    case 'fixed':
      module.fixed.line(
        js`const ${name}=${expression(module, init, { ...into, out: module.fixed })};`,
        offset,
      )
      return
    case 'state': {
      const frame = variable.owner === null ? module.main : into.frame
      const state = variable.owner === null ? 'G' : into.state
      frame.field(name, module.naOf(variable.type))
      const flag = frame.field(`b${variable.id}`, 'false')
      if (variable.mode === 'varip') frame.varip.push(name, flag)
      out.line(js`if(!${state}.${flag}){${state}.${flag}=true;`, offset)
      value(module, init, into, (code, at) => out.line(js`${state}.${name}=${code};`, at ?? offset))
      out.line('}')
      remember(module, variable, into, offset)
      return
    }
    case 'module':
      module.moduleVariables.set(variable.id, module.naOf(variable.type))
      value(module, init, into, (code, at) => out.line(js`${name}=${code};`, at ?? offset))
      remember(module, variable, into, offset)
      return
    case 'local':
      firstValue(module, name, init, variable.type, into, offset)
      remember(module, variable, into, offset)
      return
  }
}

/** Declares a local. na comes first only where a block gives the value: for a tuple that is a list of its own on each bar. */
function firstValue(module: Module, name: string, init: Expr, type: Type, into: Body, offset: number): void {
  const { out } = into
  if (isBlockLike(init) || (init.kind === 'Convert' && isBlockLike(init.operand))) {
    out.line(js`let ${name}=${module.naOf(type)};`, offset)
    value(module, init, into, (code, at) => out.line(js`${name}=${code};`, at ?? offset))
  } else out.line(js`let ${name}=${expression(module, init, into)};`, offset)
}

function tupleDeclaration(
  module: Module,
  variables: readonly (Variable | null)[],
  init: Expr,
  into: Body,
  offset: number,
): void {
  const { out } = into
  const wanted = variables.filter((variable) => variable !== null)
  if (wanted.every((variable) => ['column', 'dropped'].includes(module.plan.storageOf(variable).place))) {
    if (wanted.length > 0 || !module.plan.hasEffects(init)) return
  }
  const list = module.temporary()
  firstValue(module, list, init, init.type, into, offset)
  for (const [i, variable] of variables.entries()) {
    if (!variable) continue
    const { place } = module.plan.storageOf(variable)
    if (place === 'column' || place === 'dropped') continue
    if (place === 'module') out.line(js`${target(module, variable, into)}=${list}[${i}];`, offset)
    else out.line(js`let ${variableName(variable)}=${list}[${i}];`, offset)
    remember(module, variable, into, offset)
  }
}

/** Writes a function once; its frame's fields are known only then. */
export function functionOf(module: Module, fn: FunctionInstance): EmittedFunction {
  const known = module.emitted.get(fn)
  if (known) return known
  const number = module.functionCount++
  const emitted = { name: `f${number}`, frame: new Frame(`Frame${number}`) }
  // No function of Pine calls itself, so none is asked for before it is written.
  assert(!module.emitted.has(fn), 'no recursion')
  const out = new Writer()
  const into: Body = { frame: emitted.frame, state: 'F', fn, out, hoisted: false }
  for (const parameter of fn.parameters) remember(module, parameter, into, -1)
  for (const noted of module.plan.notedBy(fn)) note(module, noted, into)
  block(module, fn.body, into, (code, at) =>
    // Not `return f(x)`: JavaScriptCore makes a tail call of that, and the stack would not name this line.
    out.line(js`{const r=${code};return r;}`, at ?? fn.body.result?.start ?? -1),
  )
  if (!fn.body.result) out.line(js`return ${module.naOf(fn.returns)};`)
  module.emitted.set(fn, emitted)
  const parameters = fn.parameters.map(variableName)
  if (emitted.frame.fields.length > 0) {
    module.frames.push(emitted.frame)
    parameters.unshift('F')
  }
  const counted = module.countsCalls ? countLoop(module, into) : ''
  module.functions.line(js`function ${emitted.name}(${['i', ...parameters]}){${counted}`)
  module.functions.append(out)
  module.functions.line('}')
  return emitted
}
