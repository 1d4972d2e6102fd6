// `indicator(timeframe = "60")`: the whole script on bars of another interval.
//
// It is what a request of that timeframe would be (reference, `indicator`): everything the script plots is asked for with
// one request.security() of a tuple, and what is left of the script plots the items. The script itself stands where
// only that request finds it, and runs on the bars of its timeframe; `timeframe_gaps` is the request's `gaps`.

import { BUILTIN_FUNCTIONS } from '../builtins/table.ts'
import { assert } from '../../lib/assert.ts'
import { SHOWN_EVERY_BAR } from '../2-check/builtin-call.ts'
import type { BuiltinCallExpr, Expr, Program, Stmt, Variable } from '../2-check/program.ts'
import { BOOL, STRING } from '../2-check/types.ts'
import type { Type } from '../2-check/types.ts'
import { walkBlock } from '../2-check/walk.ts'
import { neededFor } from './slice.ts'

/** The script with all it plots asked for on another timeframe. */
export function atTimeframe(program: Program, timeframe: string, gaps: boolean): Program {
  const all = program.body.statements
  const outputs = all.filter((statement) => outputOf(statement) !== null)
  const asked: Expr[] = []
  const variables: Variable[] = []
  const replaced = outputs.map((statement) =>
    withArguments(statement, (arg) => ask(program, arg, asked, variables)),
  )
  const left = replaced.flatMap((statement) => outputOf(statement)?.args ?? []).filter((arg) => arg !== null)
  const before = neededFor(
    left.filter((arg) => !variables.some((one) => arg.kind === 'Variable' && arg.variable === one)),
    all.filter((statement) => outputOf(statement) === null),
  )
  const wanted: Stmt[] =
    asked.length === 0
      ? []
      : [{ kind: 'DeclareTuple', variables, value: requestOf(program, timeframe, gaps, asked), start: 0 }]
  return {
    ...program,
    elsewhere: program.body,
    siteCount: program.siteCount + 1,
    variableCount: program.variableCount + variables.length,
    body: { statements: [...before.statements, ...wanted, ...replaced], result: null },
  }
}

/** Effects of a script besides plotting, which a request cannot deliver. */
const LEFT_OUT = {
  drawings: /^(?:label|line|box|table|linefill|polyline)\.new$/,
  messages: /^(?:alert|log\.(?:info|warning|error))$/,
}
export type LeftOut = keyof typeof LEFT_OUT

export function leftOutOf(program: Program): LeftOut[] {
  const called = new Set<string>()
  const look = (expr: Expr): void => {
    if (expr.kind === 'BuiltinCall') called.add(expr.builtin.name)
  }
  walkBlock(program.body, look)
  for (const fn of program.functions) walkBlock(fn.body, look)
  const kinds = Object.keys(LEFT_OUT) as LeftOut[]
  return kinds.filter((kind) => [...called].some((name) => LEFT_OUT[kind].test(name)))
}

function outputOf(statement: Stmt): BuiltinCallExpr | null {
  if (statement.kind !== 'Expression' && statement.kind !== 'Declare') return null
  const { value } = statement
  return value.kind === 'BuiltinCall' && SHOWN_EVERY_BAR.has(value.builtin.name) ? value : null
}

function withArguments(statement: Stmt, change: (arg: Expr) => Expr): Stmt {
  const call = outputOf(statement)
  if (call === null || (statement.kind !== 'Expression' && statement.kind !== 'Declare')) return statement
  return {
    ...statement,
    value: { ...call, args: call.args.map((arg, i) => arg && (isSeries(call, i) ? change(arg) : arg)) },
  }
}

function isSeries({ overload }: BuiltinCallExpr, i: number): boolean {
  return overload.parameters[i]?.qualifier === 'series'
}

/** Series become items of the tuple; a plot's handle, a title and a width stay as they are. */
function ask(program: Program, arg: Expr, asked: Expr[], variables: Variable[]): Expr {
  if (arg.kind === 'Const' || arg.type.kind === 'plot' || arg.type.kind === 'hline') return arg
  const variable: Variable = {
    id: program.variableCount + variables.length,
    name: `·${variables.length}`,
    type: arg.type,
    qualifier: 'series',
    mode: 'plain',
    reassigned: false,
    historyRead: false,
    owner: null,
    topLevel: true,
    start: arg.start,
  }
  asked.push(arg)
  variables.push(variable)
  return { kind: 'Variable', variable, type: arg.type, qualifier: 'series', start: arg.start, end: arg.end }
}

function requestOf(program: Program, timeframe: string, gaps: boolean, items: readonly Expr[]): Expr {
  const builtin = BUILTIN_FUNCTIONS.get('request.security')
  const overload = builtin?.overloads[0]
  assert(builtin && overload, 'request.security() is a built-in')
  const at = { qualifier: 'const', start: 0, end: 0 } as const
  const constant = (type: Type, value: string | boolean): Expr => ({ kind: 'Const', type, value, ...at })
  const type: Type = { kind: 'tuple', items: items.map((item) => item.type) }
  const given: Readonly<Record<string, Expr>> = {
    symbol: constant(STRING, ''),
    timeframe: constant(STRING, timeframe),
    expression: { kind: 'Tuple', items, type, qualifier: 'series', start: 0, end: 0 },
    gaps: constant(BOOL, gaps),
    lookahead: constant(BOOL, false),
  }
  return {
    kind: 'BuiltinCall',
    builtin,
    overload,
    args: overload.parameters.map(({ name }) => given[name] ?? null),
    typeArguments: [],
    site: program.siteCount,
    type,
    qualifier: 'series',
    start: 0,
    end: 0,
  }
}
