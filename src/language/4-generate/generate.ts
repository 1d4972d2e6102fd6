// The plan to one JavaScript text, and the text to a function.
//
//     (K) => (R, N, S) => { bind, hoist, body, run, … }
//
// K: constants by number (implementations of built-ins, enum members). R: the run's context. N: input values by number.
// S: columns chosen for source inputs. Built once a script; a run calls it and gets variables of its own. The text names
// nothing else: no global but Math, NaN and Infinity. `tests/language/escape.test.ts` tries to break that.

import { assert } from '../../lib/assert.ts'
import type { BuiltinVariableExpr, Expr } from '../2-check/program.ts'
import type { Hoist, Plan, PlannedColumn } from '../3-plan/plan.ts'
import { inputsBehind } from '../3-plan/shared.ts'
import type { ColumnShare, Executable, Instantiate } from '../runtime/executable.ts'
import { pastOf, settle } from '../runtime/past-collections.ts'
import type { StateClass } from '../runtime/state-class.ts'
import { GENERATED_NAME } from '../runtime/locate.ts'
import { ColumnValue, js, sequence, type Code, type CodePart } from './code.ts'
import { argumentsOf, implicits, newState } from './calls.ts'
import { assignment, entry } from './columns.ts'
import { expression } from './expressions.ts'
import { Module, Writer, type Frame, type RequestSpec, type Body } from './module.ts'
import { bodyLines, runLoop } from './run-loop.ts'
import { block, functionOf } from './statements.ts'

/** What a run is handed, as far as it depends on the program alone. */
export interface Generated extends Omit<Executable, 'program' | 'slice' | 'requestKey'> {
  readonly text: string
  readonly requests: readonly RequestSpec[]
}

/**
 * `trades: false`: of a slice, which runs on bars that are not the broker's. `apart`: each column is computed by itself, as some
 * are handed to the run.
 */
export function generate(plan: Plan, { trades = true, apart = false } = {}): Generated {
  const module = new Module(plan, { expression, block, functionOf })
  const shares = apart ? sharesOf(plan) : []
  for (const { columns } of shares) for (const column of columns) module.wholeAnyway.add(column)
  const out = new Writer()
  const main: Body = { frame: module.main, state: 'G', fn: null, out, hoisted: false }
  const doing = bodyLines(module, plan.program.body, main)
  const recorded = [...plan.recorded.values()].map(
    ({ expr, column }) => js`${assignment(module, column, expression(module, expr, main))};`,
  )
  const hoists = apart ? hoistsApart(module, shares) : hoistLoops(module)
  const loop = runLoop(module, doing, main, trades && plan.program.declaration.kind === 'strategy')

  for (const line of pastLines(module)) out.line(line)

  const text = moduleText(module, { hoists, recorded, body: out, loop })
  const source = text.toText()
  // The text is ours from end to end (see the top of the file): this is the one place where text becomes code.
  // oxlint-disable-next-line typescript/no-implied-eval
  const factory = new Function('K', source) as (constants: readonly unknown[]) => Instantiate
  return {
    text: source,
    constants: module.constants,
    offsets: Int32Array.from(text.lines, (line) => line.offset),
    columns: module.columns.map((column) => ({
      ...column,
      kept: module.isKept(column.index),
      back: module.backOf(column.index),
    })),
    tracks: module.tracks,
    requests: module.requests,
    results: module.results,
    shares,
    frameCount: module.main.size,
    instantiate: factory(module.constants),
  }
}

/** What ends a bar: copies of the arrays and matrices whose past is read. Those that nobody can read any more are let go. */
function pastLines(module: Module): Code[] {
  if (!module.copiesPast) return []
  const lines = [...module.pastColumns].map((column) => {
    // A bar may be run once more, when an order of it has filled.
    const gone = module.backOf(column.index) + 1
    const forget = Number.isFinite(gone) ? js`if(i>=${gone})${entry(module, column, gone)}=null;` : ''
    return js`${assignment(module, column, js`${module.constant(pastOf)}(${entry(module, column)})`)};${forget}`
  })
  return [...lines, js`${module.constant(settle)}(${module.touched});`]
}

/** The text of the module, around what was generated of its parts. */
function moduleText(
  module: Module,
  {
    hoists,
    recorded,
    body,
    loop,
  }: {
    readonly hoists: ReturnType<typeof hoistLoops>
    readonly recorded: readonly Code[]
    readonly body: Writer
    readonly loop: Writer
  },
): Writer {
  const text = new Writer()
  text.line('"use strict";')
  for (const i of module.constants.keys()) text.line(`const k${i}=K[${i}];`)
  // Classes stand outside of what a run calls: if every run made its own, the optimizer would take them for other classes,
  // and would begin again with every run. Functions that need nothing of a run do, too: those that end with their runs are
  // not inlined (5 ns a call).
  text.append(module.literals)
  typeClasses(text, module)
  for (const frame of [...module.frames, module.main, module.hoistFrame]) frameClass(text, frame)
  text.line('return (R,N,S)=>{')
  text.line('const B=R.broker,A=B.account,M=R.budget;let loops=0,o=0;')
  for (const i of module.inputs) text.line(`const n${i}=N[${i}];`)
  const lets = [
    ...[...module.barColumns].map((name) => `$${name}`),
    ...module.columns.map(({ index }) => `c${index}`),
    ...[...module.sources].map((i) => `s${i}`),
  ]
  if (lets.length > 0) text.line(`let ${lets.join(',')};`)
  for (const [id, na] of module.moduleVariables) text.line(`let v${id}=${na};`)
  text.append(module.fixed)
  text.append(module.functions)
  text.line(`const G=new ${module.main.name}('',R);const H=new ${module.hoistFrame.name}('',R);`)
  text.append(hoists.functions)
  text.line('function hoist(from,to){')
  text.append(hoists.calls)
  text.line('}')
  text.line('function bind(){')
  for (const name of module.barColumns)
    text.line(`$${name}=${name === 'timeClose' ? 'R.timeClose' : `R.bars.${name}`};`)
  for (const { index } of module.columns) text.line(`c${index}=R.columns[${index}];`)
  for (const i of module.sources) text.line(`s${i}=S[${i}];`)
  text.line('}')
  // A variable of the body's own is kept in a register, one that functions share is not.
  const count = module.loopsInFunctions
    ? 'loops=R.loopsFrom;'
    : module.usesLoops
      ? 'let loops=R.loopsFrom;'
      : ''
  text.line(js`function body(i){${count}${sequence(recorded)}`)
  text.append(body)
  text.line('}')
  text.append(loop)
  const options = module.tracks.map((_, i) => `p${i}`).join(',')
  text.line(
    `return {state:G,hoisted:H,types:[${[...module.udts.values()].join(',')}],options:[${options}],bind,hoist,body,run};`,
  )
  text.line('}')
  text.line(`//# sourceURL=${GENERATED_NAME}`)
  return text
}

function typeClasses(text: Writer, module: Module): void {
  for (const [udt, name] of module.udts) {
    const names = udt.fields.map((_, i) => `p${i}`)
    const varip = udt.fields.flatMap((field, i) => (field.varip ? [`p${i}`] : []))
    text.line(
      // The names are for array.sort(sort_field=), which is told one.
      `class ${name}{static fields=${JSON.stringify(udt.fields.map((field) => field.name))};${varip.length > 0 ? `static varip=${JSON.stringify(varip)};` : ''}constructor(${names.join(',')}){${names.map((p) => `this.${p}=${p};`).join('')}}}`,
    )
  }
}

function frameClass(out: Writer, frame: Frame): void {
  out.line(`class ${frame.name}{constructor(P,R){`)
  for (const { name, init } of frame.fields) out.line(js`this.${name}=${init};`)
  out.line('}}')
  if (frame.varip.length > 0) out.line(`${frame.name}.varip=${JSON.stringify(frame.varip)};`)
}

function sharesOf(plan: Plan): ColumnShare[] {
  return plan.hoists.flatMap((hoist, at) => {
    const inputs = inputsBehind(plan, hoist)
    const columns = hoist.kind === 'call' ? hoist.columns : [hoist.column]
    return inputs === null
      ? []
      : [
          {
            hoist: at,
            inputs: inputs.map((index) => plan.program.inputs[index]!),
            columns: columns.map(({ index }) => index),
          },
        ]
  })
}

/** Each hoist with a line of its own, which the run skips where it was handed what the line would compute. */
function hoistsApart(module: Module, shares: readonly ColumnShare[]): { functions: Writer; calls: Writer } {
  const functions = new Writer()
  const calls = new Writer()
  const shared = new Map(shares.map(({ hoist }, i) => [hoist, i]))
  for (const [at, hoist] of module.plan.hoists.entries()) {
    const call = new Writer()
    const fill = fillOf(module, hoist)
    if (fill) call.line(fillCode(fill), hoist.kind === 'call' ? hoist.call.start : -1)
    else hoistLoop(module, [hoist], at, functions, call)
    const share = shared.get(at)
    for (const { code, offset } of call.lines)
      calls.line(share === undefined ? code : js`if(R.computes[${share}]===1)${code}`, offset)
  }
  return { functions, calls }
}

/** Loops a function takes: chains of additions that do not wait for each other run side by side in the processor. */
const LOOPS_FUSED = 6

/** The hoisted columns as functions over a block of bars, and the lines that call them in order. */
function hoistLoops(module: Module): { functions: Writer; calls: Writer } {
  const functions = new Writer()
  const calls = new Writer()
  let group: Hoist[] = []
  let number = 0
  const flush = () => {
    if (group.length > 0) hoistLoop(module, group, number++, functions, calls)
    group = []
  }
  const fills = module.plan.hoists.map((hoist) => fillOf(module, hoist))
  for (let at = 0; at < fills.length; at++) {
    const hoist = module.plan.hoists[at]!
    const fill = fills[at]
    const next = fills[at + 1]
    if (fill) {
      flush()
      const both = next && fillsTwo(module, fill, next)
      calls.line(both ?? fillCode(fill), hoist.kind === 'call' ? hoist.call.start : -1)
      if (both) at++
      continue
    }
    group.push(hoist)
    if (group.length === LOOPS_FUSED) flush()
  }
  flush()
  return { functions, calls }
}

/** A hoist whose class does a block at once. */
interface Fill {
  readonly of: StateClass
  /** The text of its instance. */
  readonly state: string
  readonly target: ColumnValue
  /** null: it reads the bars by itself. */
  readonly source: ColumnValue | null
  /** What `fillBlock` takes: columns, each with its mask, a length and what comes behind it. */
  readonly columns: readonly CodePart[]
}

function fillCode({ state, source, columns }: Fill): Code {
  return source === null
    ? js`${state}.fillBlock(from,to,${columns});`
    : js`${state}.fillBlock(from,to,[${columns}]);`
}

/** A call of one column and fixed arguments, the length first, or of two columns; or a variable that is made of the bars. */
function fillOf(module: Module, hoist: Hoist): Fill | null {
  if (hoist.kind !== 'call') return null
  const { call, columns } = hoist
  if (call.kind !== 'BuiltinCall') return barsFillOf(module, call, columns)
  const { implementation } = call.overload
  const [first, second, ...more] = call.args
  const [filled] = columns
  if (!('state' in implementation) || !implementation.state.fills) return null
  // Of what is implicit, it knows the number of the bar by itself.
  if (implementation.implicit?.some((name) => name !== 'bar_index')) return null
  if (!first || !filled) return null
  const of = implementation.state
  const ofLength = of.fills === 'length'
  if (!ofLength && more.length > 0) return null
  if (filled.kind !== (ofLength ? 'f64' : 'u8')) return null
  const into = hoistedBody(module, new Writer())
  const column = (arg: Expr) => columnOf(expression(module, arg, into))
  const fixed = (arg: Expr) => (module.plan.rankOf(arg) === 'fixed' ? expression(module, arg, into) : null)
  const source = column(first)
  const other = !second
    ? module.missing(call, 1)
    : ofLength
      ? fixed(second)
      : (column(second)?.withMask ?? null)
  const rest: (CodePart | null)[] = more.map((arg, i) => (arg ? fixed(arg) : module.missing(call, i + 2)))
  if (source === null || other === null || !rest.every((part) => part !== null)) return null
  const state = `H.${module.hoistFrame.field(`a${filled.index}`, newState(module, of))}`
  const target = entry(module, filled)
  return { of, state, target, source, columns: [target.withMask, source.withMask, other, ...rest] }
}

function barsFillOf(
  module: Module,
  { builtin: { implementation } }: BuiltinVariableExpr,
  [filled]: readonly PlannedColumn[],
): Fill | null {
  if (!('state' in implementation) || implementation.state.fills !== 'bars' || !filled) return null
  const state = `H.${module.hoistFrame.field(`a${filled.index}`, newState(module, implementation.state))}`
  const target = entry(module, filled)
  return { of: implementation.state, state, target, source: null, columns: [target.withMask] }
}

/** The entry of the bar being executed, of a column of numbers; null where the value is anything else. */
function columnOf(value: Code): ColumnValue | null {
  return value instanceof ColumnValue && value.back === 0 && value.kind === 'f64' ? value : null
}

/** Two neighbours side by side, where their class can do that and the second does not read the first. */
function fillsTwo(module: Module, one: Fill, two: Fill): Code | null {
  if (one.of !== two.of || !one.of.fillTwo || two.source?.column === one.target.column) return null
  return js`${module.constant(one.of)}.fillTwo(${one.state},${two.state},from,to,[${one.columns}],[${two.columns}]);`
}

/**
 * One loop over a block of bars for several hoists. The columns it touches are its parameters: locals are cheaper than
 * variables of the surrounding function, and each loop is compiled by itself.
 */
function hoistLoop(
  module: Module,
  hoists: readonly Hoist[],
  index: number,
  functions: Writer,
  calls: Writer,
): void {
  const into = hoistedBody(module, functions)
  const bodies = hoists.map((hoist, i) => hoistBody(module, hoist, `${index}_${i}`, into))
  const parameters = ['from', 'to', ...new Set(bodies.flatMap(({ code }) => code.columns))]
  const states = bodies.map(({ state }) => state).join('')
  functions.line(js`function h${index}(${parameters}){${states}for(let i=from;i<to;i++){`)
  for (const { code, start } of bodies) functions.line(code, start)
  functions.line('}}')
  calls.line(js`h${index}(${parameters});`)
}

function hoistedBody(module: Module, out: Writer): Body {
  return { frame: module.hoistFrame, state: 'G', fn: null, out, hoisted: true }
}

function hoistBody(
  module: Module,
  hoist: Hoist,
  name: string,
  into: Body,
): { state: string; code: Code; start: number } {
  if (hoist.kind === 'value') {
    const { value, column } = hoist
    const code = js`${assignment(module, column, expression(module, value, into))};`
    return { state: '', code, start: value.start }
  }
  const { call, columns } = hoist
  const implementation =
    call.kind === 'BuiltinCall' ? call.overload.implementation : call.builtin.implementation
  assert('state' in implementation, 'a hoisted call has state')
  const args = call.kind === 'BuiltinCall' ? argumentsOf(module, call, into) : []
  args.push(...implicits(module, implementation.implicit ?? []))
  const field = module.hoistFrame.field(`s${name}`, newState(module, implementation.state))
  const next = js`a${name}.next(${args})`
  const tick = implementation.state.runtime === true ? 'R.bar=i;' : ''
  const [only] = columns
  assert(only, 'a hoisted call fills a column')
  const code =
    call.type.kind === 'tuple'
      ? js`${tick}const t${name}=${next};${sequence(columns.map((column, i) => js`${assignment(module, column, `t${name}[${i}]`)};`))}`
      : js`${tick}${assignment(module, only, next)};`
  return { state: `const a${name}=H.${field};`, code, start: call.start }
}
