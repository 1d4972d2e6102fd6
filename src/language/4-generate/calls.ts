// Calls of built-ins, each by its own implementation, and of the script's own functions.

import { memo } from '../../lib/memo.ts'
import type { BuiltinCallExpr, Expr, UserCallExpr } from '../2-check/program.ts'
import type { Implicit } from '../builtins/registry.ts'
import { UNCHANGED } from '../runtime/drawings.ts'
import { PerExecution } from '../runtime/per-execution.ts'
import { truthy, truthyOrNa } from '../runtime/operators.ts'
import { DRAWING } from '../runtime/sizes.ts'
import { js, simple, type Code, type CodePart } from './code.ts'
import { barColumn, decode, entry } from './columns.ts'
import type { Body, Module } from './module.ts'
import { special } from './special.ts'

export function builtinCall(module: Module, expr: BuiltinCallExpr, into: Body): Code {
  const [only] = expr.args
  // A constant is not rounded [measured by PyneCore], which is what the built-in itself does.
  if (expr.builtin.name === 'bool' && only && only.kind !== 'Const' && only.type.kind !== 'bool')
    return boolOf(module, module.writers.expression(module, only, into))
  const { implementation } = expr.overload
  if ('special' in implementation) return special(module, expr, into)
  const columns = 'state' in implementation ? module.plan.columnsOf(expr) : null
  if (columns) {
    const items = expr.type.kind === 'tuple' ? expr.type.items : [expr.type]
    const values = columns.map((column, i) => decode(module, entry(module, column), items[i] ?? expr.type))
    return expr.type.kind === 'tuple' ? js`[${values}]` : (values[0] ?? simple('NaN'))
  }
  const args = argumentsOf(module, expr, into)
  args.push(...implicits(module, implementation.implicit ?? []))
  if ('state' in implementation) {
    const { state } = implementation
    if (isRederived(expr.builtin.name) && module.repeated.has(expr)) {
      const field = into.frame.field(
        `s${expr.site}`,
        `new ${module.constant(PerExecution)}(${module.constant(state)},R)`,
      )
      return js`${into.state}.${field}.on(i).next(${args})`
    }
    const field = into.frame.field(`s${expr.site}`, newState(module, state))
    return js`${into.state}.${field}.next(${args})`
  }
  if (implementation.inline === '') return args[0] ?? simple('NaN')
  if (implementation.inline !== undefined) return js`${implementation.inline}(${args})`
  const given = implementation.named ? [request(module, expr, args)] : args
  if (implementation.runtime) given.unshift(simple('R'))
  if (implementation.servesAgain && module.shortLived.has(expr)) {
    const last = `spare${expr.site}`
    if (!module.spares.has(last)) module.fixed.line(`let ${last}=null;`)
    module.spares.add(last)
    return js`(${last}=${module.constant(implementation.fn)}(${[...given, last]}))`
  }
  const made = js`${module.constant(implementation.fn)}(${given})`
  if (implementation.draws !== undefined)
    return js`(M.take(${DRAWING}),R.drawings.add(${module.literalOf(implementation.draws)}(${made},R.bar,${module.constant(UNCHANGED)}),R.held))`
  // What knows the run counts by itself.
  return expr.type.kind === 'string' && implementation.runtime !== true ? js`M.text(${made})` : made
}

/** A number as a bool, by the version's rule. */
export function boolOf(module: Module, number: CodePart): Code {
  return js`${module.constant(module.threeState ? truthyOrNa : truthy)}(${number})`
}

/**
 * The arguments of a broker's command, as fields of an object that a run makes once for each call and in which the constants
 * already stand. With a new object each time, the twenty fields of strategy.exit took a third of the time of a stop that is
 * placed again on every bar. The broker therefore copies what it keeps.
 */
function request(module: Module, expr: BuiltinCallExpr, args: readonly Code[]): Code {
  const { parameters } = expr.overload
  const known = module.requestObjects.get(expr)
  const name = known ?? `w${module.requestObjects.size}`
  const fields: Code[] = []
  const writes: Code[] = []
  let given = 0
  for (const [i, arg] of expr.args.entries()) {
    const field = camelCase(parameters[i]!.name)
    const isConstant = arg === null || arg.kind === 'Const'
    fields.push(js`${field}:${isConstant ? args[i]! : module.missing(expr, i)}`)
    if (!isConstant) writes.push(js`${name}.${field}=${args[i]!}`)
    if (arg && !isNa(arg)) given |= 1 << i
  }
  if (known === undefined) {
    module.requestObjects.set(expr, name)
    module.fixed.line(js`const ${name}={${fields},given:${given},site:${expr.site}};`)
  }
  return js`(${[...writes, name]})`
}

function isNa(expr: Expr): boolean {
  return expr.kind === 'Const' ? expr.value === null : expr.kind === 'Convert' && isNa(expr.operand)
}

/** Remembered, since built-ins have no more than a few hundred parameters. */
const camelCase = memo(1000, (name): string =>
  name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase()),
)

/** These note a value a bar themselves (K9). */
const BY_BAR: ReadonlySet<string> = new Set(['ta.change', '·change', 'ta.mom', 'ta.roc'])

/** Whether each round of a loop goes on from the bar before (see `runtime/per-execution.ts`). */
function isRederived(name: string): boolean {
  if (BY_BAR.has(name)) return false
  return (name.startsWith('ta.') && !name.startsWith('ta.percentile_')) || name === 'math.sum'
}

export function newState(module: Module, state: { runtime?: unknown } | (new () => unknown)): string {
  const wantsRuntime = (state as { runtime?: unknown }).runtime === true
  return `new ${module.constant(state)}(${wantsRuntime ? 'R' : ''})`
}

/** In parameter order; what was not given is na of its type. */
export function argumentsOf(module: Module, expr: BuiltinCallExpr, into: Body): Code[] {
  return expr.args.map((arg, i) =>
    arg ? module.writers.expression(module, arg, into) : simple(module.missing(expr, i)),
  )
}

export function implicits(module: Module, names: readonly Implicit[]): Code[] {
  return names.map((name) => {
    const past = name.endsWith('[1]')
    const column = past ? name.slice(0, -3) : name
    return past ? js`(i>=1?${barColumn(module, column, 1)}:NaN)` : barColumn(module, column)
  })
}

export function userCall(module: Module, expr: UserCallExpr, into: Body): Code {
  const { name, frame } = module.writers.functionOf(module, expr.fn)
  const args = expr.args.map((arg) => module.writers.expression(module, arg, into))
  if (frame.fields.length === 0) return js`${name}(${['i', ...args]})`
  const field = into.frame.child(expr.site, frame)
  return js`${name}(${['i', `${into.state}.${field}`, ...args]})`
}
