// Calls of built-ins: where they are permitted, what they count towards, and what TradingView would refuse about them.

import type * as tree from '../1-parse/tree.ts'
import type { BuiltinFunction } from '../builtins/registry.ts'
import { BUILTIN_FUNCTIONS } from '../builtins/table.ts'
import * as messages from '../messages/checking.ts'
import { argumentOf } from './argument.ts'
import { chosenCall } from './chosen-call.ts'
import { fold, refusal } from './constant.ts'
import { declarationCall } from './declaration.ts'
import { inputCall } from './inputs.ts'
import { adapt } from './legacy.ts'
import { countPlots, countRequests, countTupleElements } from './limits.ts'
import { isLoopDependent, type Place } from './place.ts'
import type { BuiltinCallExpr, Expr } from './program.ts'
import { reportHeld, typeOf } from './type-names.ts'
import { ERROR, QUOTIENT, type Type } from './types.ts'
import { condition, givenArguments, temporary } from './values.ts'
import { reportBeyond, reportUnnamed } from './allowed.ts'
import { walkExpr } from './walk.ts'
import { words } from '../../lib/words.ts'

export function builtinCall(
  here: Place,
  node: tree.Call,
  builtin: BuiltinFunction,
  receiver: Expr | null,
): Expr {
  const { name } = builtin
  if (TOP_ONLY.has(name) && (here.owner !== null || !here.topLevel))
    here.check.report(here, node.callee, messages.notInLocalScope(name))
  if (name === 'strategy' || name === 'indicator' || name === 'library')
    return declarationCall(here, node, builtin)
  if (name === 'input' || name.startsWith('input.')) {
    if (here.exported) here.check.report(here, node, messages.inputInExport())
    return inputCall(here, node, builtin)
  }
  if ((ORDERS.has(name) || name.startsWith('strategy.risk.')) && here.check.declaration?.kind === 'indicator')
    here.check.report(here, node.callee, messages.strategyOnly(name))
  if (builtin.status === 'source') here.check.report(here, node, messages.noDataSource(name))
  const written = givenArguments(here, node)
  reportUnnamed(here, node, builtin)
  if (receiver !== null) written.unshift({ name: null, expr: receiver })
  const [first] = written
  if (here.unit.version === 6 && NEVER_NA.has(name) && first?.expr.type.kind === 'bool')
    here.check.report(here, first.expr, messages.boolIsNeverNa(name))
  // v4's `rsi(x, y)` of two series is the index of a rise `x` and a fall `y`.
  const ratio = here.unit.version < 5 && name === 'ta.rsi' ? BUILTIN_FUNCTIONS.get('·rsi') : undefined
  if (ratio !== undefined && written[1] !== undefined && isFraction(written[1].expr.type))
    return chosenCall(here, ratio, written, [], node)
  // Bools of earlier versions can be na, and so can their change.
  const isOldBool = here.unit.version < 6 && name === 'ta.change' && first?.expr.type.kind === 'bool'
  const meant = (isOldBool && BUILTIN_FUNCTIONS.get('·change')) || builtin
  const adapted = adapt(here, meant, written, node)
  const typeArguments = node.typeArguments.map((one) => typeOf(here, one) ?? ERROR)
  const given =
    adapted.when === null
      ? adapted.given
      : adapted.given.map((one) => ({ ...one, expr: steady(here, one.expr) }))
  const call = chosenCall(here, meant, given, typeArguments, node)
  if (OUTPUT.test(name)) here.check.hasOutput = true
  if (call.kind === 'BuiltinCall') {
    const unreadable = name === 'timestamp' && call.args.length === 1 ? refusal(here.check, call) : null
    if (unreadable !== null) here.check.report(here, node, messages.constantRefused(unreadable))
    reportRefusedThere(here, call, node)
    reportBeyond(here, name, call)
    countPlots(here, call)
    notePlot(here, call)
    countTupleElements(here, call)
    countRequests(here, call)
    reportWanted(here, call)
  }
  if (adapted.when === null) return call
  const test = condition(here, adapted.when, adapted.when)
  const consequent = {
    statements: [{ kind: 'Expression' as const, value: call, start: node.start }],
    result: null,
  }
  return {
    kind: 'If',
    test,
    consequent,
    alternate: null,
    type: { kind: 'void' },
    qualifier: 'series',
    start: node.start,
    end: node.end,
  }
}

/** Built-ins that show a value for each bar. */
export const SHOWN_EVERY_BAR: ReadonlySet<string> = new Set(
  words('plot plotshape plotchar plotarrow plotcandle plotbar hline fill bgcolor barcolor alertcondition'),
)
/** They draw on every bar, or belong to the script as a whole, so that no block may hold them. */
const TOP_ONLY: ReadonlySet<string> = new Set([...SHOWN_EVERY_BAR, 'indicator', 'strategy', 'library'])

/** A bool is never na since v6. */
const NEVER_NA: ReadonlySet<string> = new Set(['na', 'nz', 'fixnan'])

/** Built-ins by which a script shows or reports something. */
const OUTPUT =
  /^(?:plot|hline|fill|bgcolor|barcolor|alert|log\.|runtime\.error|(?:label|line|box|table|linefill|polyline)\.new)/

/** Built-ins that need a broker, which an indicator does not have. */
const ORDERS: ReadonlySet<string> = new Set(
  words(
    'strategy.entry strategy.order strategy.exit strategy.close strategy.close_all strategy.cancel',
    'strategy.cancel_all',
  ),
)

/** Reports calls that TradingView refuses, some of which run here. */
function reportRefusedThere(here: Place, call: BuiltinCallExpr, node: tree.Call): void {
  const { name } = call.builtin
  if (name === 'strategy.exit' && !EXIT_LEVELS.some((level) => isGiven(call, level)))
    if (!isGiven(call, 'trail_offset') || !(isGiven(call, 'trail_price') || isGiven(call, 'trail_points')))
      here.check.report(here, node, messages.exitOfNothing())
  if (name === 'map.new' && node.typeArguments.length !== 2)
    here.check.report(here, node, messages.mapWithoutTypes())
  if (MAKES_COLLECTION.test(name)) reportHeld(here, node, call.type)
}

const EXIT_LEVELS = ['profit', 'limit', 'loss', 'stop'] as const

/** The checker puts a default at the end of the call, with no text of its own. */
function isGiven(call: BuiltinCallExpr, name: string): boolean {
  const arg = argumentOf(call, name)
  return arg !== null && arg.start !== arg.end
}

const MAKES_COLLECTION = /^(?:array\.from|(?:array|matrix|map)\.new)$/

/**
 * What a request evaluates is the same in every round of a loop (other timeframes and data, "In local scopes"), and for
 * all who import the function it stands in.
 */
function reportWanted(here: Place, call: BuiltinCallExpr): void {
  if (!call.builtin.name.startsWith('request.')) return
  const wanted = argumentOf(call, 'expression')
  if (wanted === null) return
  walkExpr(wanted, (expr) => {
    if (expr.kind !== 'Variable') return
    const { variable } = expr
    if (here.exported && variable.mode === 'parameter' && variable.owner === here.owner)
      here.check.report(here, wanted, messages.parameterInExportedRequest())
    if (isLoopDependent(here, variable))
      here.check.report(here, wanted, messages.loopInRequest(variable.name))
  })
}

/** Notes the plot's title, so that a form can offer the plots of a script without running it. */
function notePlot(here: Place, call: BuiltinCallExpr): void {
  if (call.builtin.name !== 'plot') return
  const given = argumentOf(call, 'title')
  const title = given ? fold(here.check, given) : ''
  here.check.plotTitles.push(typeof title === 'string' ? title : '')
}

function isFraction(type: Type): boolean {
  return type.kind === 'float' && type !== QUOTIENT
}

/** An argument that is evaluated whether or not the order is sent, so that its state advances on every bar. */
export function steady(here: Place, expr: Expr): Expr {
  return hasState(expr) ? temporary(here, expr) : expr
}

function hasState(expr: Expr): boolean {
  switch (expr.kind) {
    case 'Const':
    case 'Variable':
    case 'BuiltinVariable':
    case 'Input':
      return false
    case 'Unary':
    case 'Convert':
      return hasState(expr.operand)
    case 'Binary':
      return hasState(expr.left) || hasState(expr.right)
    case 'Ternary':
      return hasState(expr.test) || hasState(expr.consequent) || hasState(expr.alternate)
    case 'BuiltinCall':
      return (
        !('fn' in expr.overload.implementation && expr.overload.implementation.pure === true) ||
        expr.args.some((arg) => arg !== null && hasState(arg))
      )
    default:
      return true
  }
}
