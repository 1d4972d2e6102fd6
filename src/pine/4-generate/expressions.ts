// Expressions to JavaScript text. Every text is a full operand: it can stand in any place without parentheses around it.

import { assert, unreachable } from '../../lib/assert.ts'
import type {
  BinaryExpr,
  BuiltinCallExpr,
  BuiltinVariableExpr,
  ConvertExpr,
  Expr,
  HistoryExpr,
  InputExpr,
  UserCallExpr,
  Variable,
} from '../2-check/program.ts'
import type { Type, Udt } from '../2-check/types.ts'
import type { Implicit } from '../builtins/registry.ts'
import { type Column } from '../3-plan/plan.ts'
import { History } from '../runtime/history.ts'
import { OBJECT } from '../runtime/reach.ts'
import { PerExecution } from '../runtime/per-execution.ts'
import {
  concatenate,
  decodeBool,
  differs,
  differsBool,
  differsColor,
  encodeBool,
  historyOffset,
  objectOf,
  same,
  sameBool,
  sameColor,
  shallowCopy,
  strictAnd,
  strictOr,
  truthy,
  truthyOrNa,
} from '../runtime/operators.ts'
import { BLOCK, literal, variableName, Writer, type Module, type Scope } from './module.ts'
import { special } from './special.ts'
import { block, functionOf } from './statements.ts'

export function expression(module: Module, expr: Expr, scope: Scope): string {
  switch (expr.kind) {
    case 'Const':
      return constant(module, expr.value, expr.type)
    case 'Variable':
      return variable(module, expr.variable, scope)
    case 'BuiltinVariable':
      return builtinVariable(module, expr)
    case 'Input':
      return input(module, expr, scope)
    case 'History':
      return history(module, expr, scope)
    case 'Unary': {
      const operand = expression(module, expr.operand, scope)
      if (expr.operator === 'not') return `!${operand}`
      return expr.operator === '-' ? `(-${operand})` : operand
    }
    case 'Binary':
      return binary(module, expr, scope)
    case 'Ternary':
      return `(${expression(module, expr.test, scope)}?${expression(module, expr.consequent, scope)}:${expression(module, expr.alternate, scope)})`
    case 'Convert':
      return convert(module, expr, expression(module, expr.operand, scope))
    case 'BuiltinCall':
      return builtinCall(module, expr, scope)
    case 'UserCall':
      return userCall(module, expr, scope)
    case 'Tuple':
      return `[${expr.items.map((item) => expression(module, item, scope)).join(',')}]`
    case 'NewObject':
      return `(M.used+=${objectBytes(expr.udt)},new ${module.udt(expr.udt)}(${expr.args.map((arg) => expression(module, arg, scope)).join(',')}))`
    case 'CopyObject':
      return `(M.used+=${expr.type.kind === 'udt' ? objectBytes(expr.type.udt) : 0},${module.constant(shallowCopy)}(${expression(module, expr.object, scope)}))`
    case 'Field':
      return `${module.constant(objectOf)}(${expression(module, expr.object, scope)}).${fieldName(expr.object.type, expr.field)}`
    case 'If':
    case 'Switch':
    case 'For':
    case 'ForIn':
    case 'While':
      return inPlace(module, expr, scope)
    default:
      return unreachable(expr)
  }
}

/** What an object of a type takes. */
function objectBytes({ fields }: Udt): number {
  return OBJECT + 8 * fields.length
}

/** The value of statements where only an expression may stand: they become a function called at once. */
function inPlace(module: Module, expr: Expr, scope: Scope): string {
  const out = new Writer()
  const inner = { ...scope, out }
  block(module, { statements: [], result: expr }, inner, (text) => out.line(`return ${text};`, expr.start))
  return `(()=>{${out.lines.map((line) => line.text).join('')}return ${module.naOf(expr.type)}})()`
}

function constant(module: Module, value: number | string | boolean | null | object, type: Type): string {
  if (value === null) return module.naOf(type)
  if (typeof value === 'object') return module.constant(value)
  return literal(value)
}

export function fieldName(type: Type, field: string): string {
  if (type.kind === 'udt') {
    const index = type.udt.fields.findIndex(({ name }) => name === field)
    assert(index >= 0, `a field of ${type.udt.name} is known`)
    return `p${index}`
  }
  assert(type.kind === 'chart.point' && ['index', 'time', 'price'].includes(field), 'a field of chart.point')
  return field
}

function variable(module: Module, variable: Variable, scope: Scope): string {
  const storage = module.plan.storageOf(variable)
  switch (storage.place) {
    case 'fixed':
    case 'local':
      return variableName(variable)
    case 'module':
      module.moduleVariables.set(variable.id, module.naOf(variable.type))
      return variableName(variable)
    case 'column':
      assert(storage.column, 'a hoisted variable has a column')
      return decode(module, storage.column, columnText(module, storage.column), variable.type)
    case 'state':
      return `${variable.owner === null ? 'G' : scope.state}.${variableName(variable)}`
    default:
      throw new Error(`assertion failed: ${variable.name} was dropped but is read`)
  }
}

/**
 * An entry of a column. What is only ever read on its own bar needs no more than a block of entries; whether it is, is
 * known when all has been written, so the current bar's index is a mark until then (`settleIndexes`). No literal can
 * contain the mark: JSON escapes control characters.
 */
export function columnText(module: Module, column: Column, index = 'i'): string {
  if (index === 'i') return `c${column.index}[i${MARK}]`
  const back = /^i-(\d+)$/.exec(index)?.[1]
  module.keep(column, back === undefined ? Infinity : Number(back))
  return `c${column.index}[${index}]`
}

const MARK = '\u0001'

/** What an index into the column is masked with, also known only in the end: -1 = nothing. */
export function columnMask(column: Column): string {
  return `m${MARK}${column.index}`
}

/** The column an expression's text reads on the current bar, and its mask; null when the text is anything else. */
export function wholeColumn(module: Module, text: string): string | null {
  if (/^(?:\$[a-zA-Z]+|s\d+)\[i\]$/.test(text)) return `${text.slice(0, -3)},-1`
  const number = new RegExp(`^c(\\d+)\\[i${MARK}\\]$`).exec(text)?.[1]
  const column = number === undefined ? undefined : module.columns[Number(number)]
  return column?.kind === 'f64' ? `c${column.index},${columnMask(column)}` : null
}

/** Writes the marked indexes and masks out. */
export function settleIndexes(module: Module, text: string): string {
  const masks = text.replaceAll(new RegExp(`m${MARK}(\\d+)`, 'g'), (_, number: string) =>
    module.isKept(Number(number)) ? '-1' : String(BLOCK - 1),
  )
  return masks.replaceAll(new RegExp(`c(\\d+)\\[i${MARK}\\]`, 'g'), (_, number: string) =>
    module.isKept(Number(number)) ? `c${number}[i]` : `c${number}[i&${BLOCK - 1}]`,
  )
}

/** An entry of a column as a value. */
function decode(module: Module, column: Column, text: string, type: Type): string {
  if (column.kind === 'u8')
    return module.threeState ? `${module.constant(decodeBool)}(${text})` : `(${text}===1)`
  if (column.kind === 'any') return type.kind === 'bool' ? text : `(${text}??null)`
  return text
}

/** A value as an entry of a column. */
export function encode(module: Module, column: Column, text: string): string {
  if (column.kind !== 'u8') return text
  return module.threeState ? `${module.constant(encodeBool)}(${text})` : `(${text}?1:0)`
}

const DERIVED: Readonly<Record<string, readonly [string, readonly string[]]>> = {
  hl2: ['((A+B)/2)', ['high', 'low']],
  hlc3: ['((A+B+C)/3)', ['high', 'low', 'close']],
  ohlc4: ['((A+B+C+D)/4)', ['open', 'high', 'low', 'close']],
  hlcc4: ['((A+B+2*C)/4)', ['high', 'low', 'close']],
}
const BAR_COLUMNS = new Set(['open', 'high', 'low', 'close', 'volume', 'time'])

/** The text of a bar column's entry at an index known to be in range. */
export function barColumn(module: Module, name: string, index: string): string {
  if (BAR_COLUMNS.has(name)) return `${module.bar(name)}[${index}]`
  if (name === 'time_close') return `${module.bar('timeClose')}[${index}]`
  if (name === 'bar_index' || name === 'n') return index
  const derived = DERIVED[name]
  assert(derived, `bar column ${name} is known`)
  const [formula, parts] = derived
  return formula.replace(
    /[ABCD]/g,
    (letter) => `${module.bar(parts['ABCD'.indexOf(letter)] ?? '')}[${index}]`,
  )
}

function builtinVariable(module: Module, expr: BuiltinVariableExpr): string {
  const { implementation } = expr.builtin
  if ('column' in implementation) return barColumn(module, implementation.column, 'i')
  if ('state' in implementation) {
    const column = module.plan.columnsOf(expr)?.[0]
    assert(column, 'a built-in variable with state is hoisted')
    return decode(module, column, columnText(module, column), expr.type)
  }
  if (implementation.fixed)
    return fixedOnce(module, `b:${expr.builtin.name}`, `${module.constant(implementation.get)}(R)`)
  return ACCOUNT_GETTERS[expr.builtin.name] ?? `${module.constant(implementation.get)}(R)`
}

/** Read straight from the account: half of all strategies ask for one of these on every bar. */
const ACCOUNT_GETTERS: Readonly<Record<string, string>> = {
  'strategy.position_size': 'A.positionSize',
  'strategy.position_avg_price': 'A.positionAvgPrice',
  'strategy.equity': 'A.equity',
  'strategy.openprofit': 'A.openProfit',
  'strategy.netprofit': 'A.netProfit',
  'strategy.opentrades': 'A.openTradeCount',
  'strategy.closedtrades': 'A.closedTradeCount',
}

/** A value computed once a run. */
function fixedOnce(module: Module, key: string, text: string): string {
  let name = module.once.get(key)
  if (name === undefined) {
    name = `x${module.once.size}`
    module.once.set(key, name)
    module.fixed.line(`const ${name}=${text};`)
  }
  return name
}

function input(module: Module, expr: InputExpr, scope: Scope): string {
  const { input } = expr
  if (input.kind !== 'source') {
    module.inputs.add(input.index)
    return `n${input.index}`
  }
  module.sources.add(input.index)
  const chosen = `s${input.index}[i]`
  if (!input.sourceExpr) return chosen
  return `(s${input.index}===null?${expression(module, input.sourceExpr, scope)}:${chosen})`
}

function history(module: Module, expr: HistoryExpr, scope: Scope): string {
  const { base } = expr
  const na = module.naOf(expr.type)
  const offset = historyOffsetText(module, expr.offset, scope)
  if (base.kind === 'Variable') {
    const storage = module.plan.storageOf(base.variable)
    if (storage.place === 'fixed') return back(offset, () => variableName(base.variable), na)
    if (storage.column) {
      const { column } = storage
      return back(offset, (index) => decode(module, column, columnText(module, column, index), base.type), na)
    }
    if (storage.history === 'buffer')
      return `${base.variable.owner === null ? 'G' : scope.state}.h${base.variable.id}.at(i,${offset})`
  }
  if (base.kind === 'BuiltinVariable') {
    const { implementation } = base.builtin
    if ('column' in implementation)
      return back(offset, (index) => barColumn(module, implementation.column, index), na)
    const column = module.plan.columnsOf(base)?.[0] ?? module.plan.recorded.get(base.builtin.name)?.column
    if (column)
      return back(offset, (index) => decode(module, column, columnText(module, column, index), base.type), na)
  }
  if (base.kind === 'Input' && base.input.kind === 'source' && !base.input.sourceExpr) {
    module.sources.add(base.input.index)
    return back(offset, (index) => `s${base.input.index}[${index}]`, na)
  }
  const column = module.plan.valueColumnOf(base)
  if (column)
    return back(offset, (index) => decode(module, column, columnText(module, column, index), base.type), na)
  if (module.plan.rankOf(base) === 'fixed') return back(offset, () => expression(module, base, scope), na)
  assert(!scope.hoisted, 'a hoisted history reference has a column')
  // The past of an expression: kept for this site, one entry a bar it is executed on.
  const field = scope.frame.field(`e${expr.site}`, `new ${module.constant(History)}(${na})`)
  const store = `${scope.state}.${field}`
  return `(${store}.put(i,${expression(module, base, scope)}),${store}.at(i,${offset}))`
}

function historyOffsetText(module: Module, offset: Expr, scope: Scope): string {
  if (offset.kind === 'Const' && typeof offset.value === 'number' && offset.value >= 0)
    return String(Math.floor(offset.value))
  return `${module.constant(historyOffset)}(${expression(module, offset, scope)})`
}

/** `read(index)` that many bars back, na before the first bar. */
function back(offset: string, read: (index: string) => string, na: string): string {
  if (offset === '0') return read('i')
  if (/^\d+$/.test(offset)) return `(i>=${offset}?${read(`i-${offset}`)}:${na})`
  if (/^\w+$/.test(offset)) return `(i>=${offset}?${read(`i-${offset}`)}:${na})`
  // A dynamic offset is evaluated once; reading a column evaluates no other. `>=` is false for na.
  return `(o=${offset},i>=o?${read('i-o')}:${na})`
}

function binary(module: Module, expr: BinaryExpr, scope: Scope): string {
  const left = expression(module, expr.left, scope)
  const right = expression(module, expr.right, scope)
  const { operator } = expr
  switch (operator) {
    case 'and':
    case 'or': {
      const lazy = module.program.semantics.lazyLogic || !module.plan.hasEffects(expr.right)
      if (lazy) return `(${left}${operator === 'and' ? '&&' : '||'}${right})`
      return `${module.constant(operator === 'and' ? strictAnd : strictOr)}(${left},${right})`
    }
    case '+':
      if (expr.type.kind === 'string') return `${module.constant(concatenate)}(${left},${right},R)`
      return `(${left}+${right})`
    case '-':
    case '*':
    case '/':
    case '%':
      return `(${left}${operator}${right})`
    case '<':
    case '<=':
    case '>':
    case '>=':
      return comparison(operator, left, right, isInt(expr.left) && isInt(expr.right))
    case '==':
    case '!=':
      return equality(module, expr, left, right)
    default:
      return unreachable(operator)
  }
}

function isInt(expr: Expr): boolean {
  return expr.type.kind === 'int' && !(expr.kind === 'Binary' && expr.operator === '/')
}

/**
 * Floats within 1e-10 of each other are equal (K1). The difference is compared once, and any comparison with na is
 * false, as it has to be. Order of evaluation stays left to right.
 */
function comparison(operator: '<' | '<=' | '>' | '>=', left: string, right: string, exact: boolean): string {
  if (exact) return `(${left}${operator}${right})`
  switch (operator) {
    case '>':
      return `(${left}-${right}>1e-10)`
    case '>=':
      return `(${left}-${right}>=-1e-10)`
    case '<':
      return `(${left}-${right}<-1e-10)`
    default:
      return `(${left}-${right}<=1e-10)`
  }
}

function equality(module: Module, expr: BinaryExpr, left: string, right: string): string {
  const equal = expr.operator === '=='
  const kind = expr.left.type.kind === 'na' ? expr.right.type.kind : expr.left.type.kind
  switch (kind) {
    case 'int':
    case 'float':
      if (isInt(expr.left) && isInt(expr.right))
        return equal ? `(${left}===${right})` : `${module.constant(differsColor)}(${left},${right})`
      return equal ? `(Math.abs(${left}-${right})<=1e-10)` : `(Math.abs(${left}-${right})>1e-10)`
    case 'color':
      return `${module.constant(equal ? sameColor : differsColor)}(${left},${right})`
    case 'bool':
      if (!module.threeState) return `(${left}${equal ? '===' : '!=='}${right})`
      return `${module.constant(equal ? sameBool : differsBool)}(${left},${right})`
    default:
      return `${module.constant(equal ? same : differs)}(${left},${right})`
  }
}

export function convert(module: Module, expr: ConvertExpr, operand: string): string {
  const from = expr.operand.type.kind
  switch (expr.type.kind) {
    case 'bool':
      if (from === 'int' || from === 'float') return boolOf(module, operand)
      return from === 'na' ? module.naOf(expr.type) : operand
    case 'int':
      return from === 'float' ? `Math.trunc(${operand})` : from === 'na' ? 'NaN' : operand
    default:
      return from === 'na' ? module.naOf(expr.type) : operand
  }
}

/** A number as a bool, by the version's rule. */
function boolOf(module: Module, number: string): string {
  return `${module.constant(module.threeState ? truthyOrNa : truthy)}(${number})`
}

export function builtinCall(module: Module, expr: BuiltinCallExpr, scope: Scope): string {
  const [only] = expr.args
  // A constant is not rounded [measured by PyneCore], which is what the built-in itself does.
  if (expr.builtin.name === 'bool' && only && only.kind !== 'Const' && only.type.kind !== 'bool')
    return boolOf(module, expression(module, only, scope))
  const { implementation } = expr.overload
  if ('special' in implementation) return special(module, expr, scope)
  const columns = 'state' in implementation ? module.plan.columnsOf(expr) : null
  if (columns) {
    const items = expr.type.kind === 'tuple' ? expr.type.items : [expr.type]
    const texts = columns.map((column, i) =>
      decode(module, column, columnText(module, column), items[i] ?? expr.type),
    )
    return expr.type.kind === 'tuple' ? `[${texts.join(',')}]` : (texts[0] ?? 'NaN')
  }
  const args = argumentTexts(module, expr, scope)
  args.push(...implicits(module, implementation.implicit ?? []))
  if ('state' in implementation) {
    const { state } = implementation
    if (module.repeated.has(expr) && isRederived(expr.builtin.name)) {
      const field = scope.frame.field(
        `s${expr.site}`,
        `new ${module.constant(PerExecution)}(${module.constant(state)},R)`,
      )
      return `${scope.state}.${field}.on(i).next(${args.join(',')})`
    }
    const field = scope.frame.field(`s${expr.site}`, newState(module, state))
    return `${scope.state}.${field}.next(${args.join(',')})`
  }
  if (implementation.inline && args.every(isSmall)) return `(${implementation.inline(...args)})`
  const given = implementation.named ? [namedArguments(expr, args)] : args
  if (implementation.runtime) given.unshift('R')
  if (implementation.site) given.push(String(expr.site))
  const made = `${module.constant(implementation.fn)}(${given.join(',')})`
  // What knows the run counts by itself.
  return expr.type.kind === 'string' && implementation.runtime !== true ? `M.text(${made})` : made
}

function namedArguments(expr: BuiltinCallExpr, args: readonly string[]): string {
  const fields = expr.overload.parameters.map(({ name }, i) => `${camelCase(name)}:${args[i]}`)
  return `{${fields.join(',')},site:${expr.site}}`
}

function camelCase(name: string): string {
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
}

/** Whether each round of a loop goes on from the bar before (see `runtime/per-execution.ts`). */
function isRederived(name: string): boolean {
  return (name.startsWith('ta.') && !name.startsWith('ta.percentile_')) || name === 'math.sum'
}

/** Worth writing more than once, should the inlined text use an argument twice. */
function isSmall(text: string): boolean {
  return /^(?:[\w$.]+|[\w$]+\[i\]|\(-?[\d.]+\))$/.test(text)
}

export function newState(module: Module, state: { runtime?: unknown } | (new () => unknown)): string {
  const wantsRuntime = (state as { runtime?: unknown }).runtime === true
  return `new ${module.constant(state)}(${wantsRuntime ? 'R' : ''})`
}

/** In parameter order; what was not given is na of its type. */
export function argumentTexts(module: Module, expr: BuiltinCallExpr, scope: Scope): string[] {
  return expr.args.map((arg, i) => (arg ? expression(module, arg, scope) : missing(module, expr, i)))
}

export function missing(module: Module, expr: BuiltinCallExpr, index: number): string {
  const type = expr.overload.parameters[index]?.types[0]
  if (!type) return 'null'
  if (type.kind === 'variable') {
    const given = expr.typeArguments[type.name === 'V' ? 1 : 0]
    return given ? module.naOf(given) : 'null'
  }
  if (type.kind === 'bool') return 'null'
  return type.kind === 'any' ? 'null' : module.naOf(type as Type)
}

export function implicits(module: Module, names: readonly Implicit[]): string[] {
  return names.map((name) => {
    const past = name.endsWith('[1]')
    const column = past ? name.slice(0, -3) : name
    return past ? `(i>=1?${barColumn(module, column, 'i-1')}:NaN)` : barColumn(module, column, 'i')
  })
}

function userCall(module: Module, expr: UserCallExpr, scope: Scope): string {
  const { name, frame } = functionOf(module, expr.fn)
  const args = expr.args.map((arg) => expression(module, arg, scope))
  if (frame.fields.length === 0) return `${name}(${['i', ...args].join(',')})`
  const field = scope.frame.child(`f${expr.site}`, frame)
  return `${name}(${['i', `${scope.state}.${field}`, ...args].join(',')})`
}
