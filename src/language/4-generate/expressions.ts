// Expressions to JavaScript. Every piece is a full operand: it can stand in any place without parentheses around it.

import { assert, unreachable } from '../../lib/assert.ts'
import type {
  BinaryExpr,
  BuiltinVariableExpr,
  ConvertExpr,
  Expr,
  HistoryExpr,
  InputExpr,
  Variable,
} from '../2-check/program.ts'
import type { Type, Udt } from '../2-check/types.ts'
import { notableIn, type Noted } from '../3-plan/call-history.ts'
import { History } from '../runtime/history.ts'
import { OBJECT, SLOT } from '../runtime/sizes.ts'
import {
  concatenate,
  nothingJoined,
  differs,
  differsBool,
  differsColor,
  differsInt,
  differsText,
  historyOffset,
  objectOf,
  same,
  sameText,
  sameBool,
  sameColor,
  shallowCopy,
  strictAnd,
  strictOr,
} from '../runtime/operators.ts'
import type { Runtime } from '../runtime/runtime.ts'
import { ColumnValue, js, sequence, simple, type Back, type Code, type CodePart } from './code.ts'
import { literal, variableName, Writer, type Module, type Body } from './module.ts'
import { boolOf, builtinCall, userCall } from './calls.ts'
import { barColumn, decode, entry } from './columns.ts'

export function expression(module: Module, expr: Expr, into: Body): Code {
  switch (expr.kind) {
    case 'Const':
      return constant(module, expr.value, expr.type)
    case 'Variable':
      return variable(module, expr.variable, into)
    case 'BuiltinVariable':
      return builtinVariable(module, expr)
    case 'Input':
      return input(module, expr, into)
    case 'History':
      return history(module, expr, into)
    case 'Unary': {
      const operand = expression(module, expr.operand, into)
      if (expr.operator === 'not') return js`!${operand}`
      return expr.operator === '-' ? js`(-${operand})` : operand
    }
    case 'Binary':
      return binary(module, expr, into)
    case 'Ternary':
      return js`(${expression(module, expr.test, into)}?${expression(module, expr.consequent, into)}:${expression(module, expr.alternate, into)})`
    case 'Convert':
      return convert(module, expr, expression(module, expr.operand, into))
    case 'BuiltinCall':
      return builtinCall(module, expr, into)
    case 'UserCall':
      return userCall(module, expr, into)
    case 'Tuple':
      return js`[${expr.items.map((item) => expression(module, item, into))}]`
    case 'NewObject':
      return js`(M.used+=${objectBytes(expr.udt)},new ${module.udt(expr.udt)}(${expr.args.map((arg) => expression(module, arg, into))}))`
    case 'CopyObject':
      return js`(M.used+=${expr.type.kind === 'udt' ? objectBytes(expr.type.udt) : 0},${module.constant(shallowCopy)}(${expression(module, expr.object, into)}))`
    case 'Field':
      if (expr.orNa)
        return js`(${expression(module, expr.object, into)}?.${fieldName(expr.object.type, expr.field)}??${module.naOf(expr.type)})`
      return js`${module.constant(objectOf)}(${expression(module, expr.object, into)}).${fieldName(expr.object.type, expr.field)}`
    case 'If':
    case 'Switch':
    case 'For':
    case 'ForIn':
    case 'While':
      return inPlace(module, expr, into)
    default:
      return unreachable(expr)
  }
}

/** What an object of a type takes. */
function objectBytes({ fields }: Udt): number {
  return OBJECT + SLOT * fields.length
}

/** The value of statements where only an expression may stand: they become a function called at once. */
function inPlace(module: Module, expr: Expr, into: Body): Code {
  const out = new Writer()
  const inner = { ...into, out }
  module.writers.block(module, { statements: [], result: expr }, inner, (code) =>
    out.line(js`return ${code};`, expr.start),
  )
  return js`(()=>{${sequence(out.lines.map((line) => line.code))}return ${module.naOf(expr.type)}})()`
}

function constant(module: Module, value: number | string | boolean | null | object, type: Type): Code {
  if (value === null) return simple(module.naOf(type))
  return simple(typeof value === 'object' ? module.constant(value) : literal(value))
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

export function variable(module: Module, variable: Variable, into: Body): Code {
  const storage = module.plan.storageOf(variable)
  switch (storage.place) {
    case 'fixed':
    case 'local':
      return simple(variableName(variable))
    case 'module':
      module.moduleVariables.set(variable.id, module.naOf(variable.type))
      return simple(variableName(variable))
    case 'column':
      assert(storage.column, 'a hoisted variable has a column')
      return decode(module, entry(module, storage.column), variable.type)
    case 'state':
      return js`${variable.owner === null ? 'G' : into.state}.${variableName(variable)}`
    default:
      throw new Error(`assertion failed: ${variable.name} was dropped but is read`)
  }
}

function builtinVariable(module: Module, expr: BuiltinVariableExpr): Code {
  const { implementation } = expr.builtin
  if ('column' in implementation) return barColumn(module, implementation.column)
  if ('state' in implementation) {
    const column = module.plan.columnsOf(expr)?.[0]
    assert(column, 'a built-in variable with state is hoisted')
    return decode(module, entry(module, column), expr.type)
  }
  if (implementation.fixed) return fixedOnce(module, expr.builtin.name, implementation.get)
  const getter = ACCOUNT_GETTERS[expr.builtin.name]
  return getter === undefined ? js`${module.constant(implementation.get)}(R)` : js`A.${getter}`
}

/** Read straight from the account: half of all strategies ask for one of these on every bar. */
const ACCOUNT_GETTERS: Readonly<Record<string, string>> = {
  'strategy.position_size': 'positionSize',
  'strategy.position_avg_price': 'positionAvgPrice',
  'strategy.equity': 'equity',
  'strategy.openprofit': 'openProfit',
  'strategy.netprofit': 'netProfit',
  'strategy.opentrades': 'openTradeCount',
  'strategy.closedtrades': 'closedTradeCount',
}

/** A value computed once a run. */
function fixedOnce(module: Module, variable: string, get: (runtime: Runtime) => unknown): Code {
  let name = module.once.get(variable)
  if (name === undefined) {
    name = `x${module.once.size}`
    module.once.set(variable, name)
    module.fixed.line(`const ${name}=${module.constant(get)}(R);`)
  }
  return simple(name)
}

function input(module: Module, expr: InputExpr, into: Body): Code {
  const { input } = expr
  if (input.kind !== 'source') {
    module.inputs.add(input.index)
    return simple(`n${input.index}`)
  }
  const chosen = source(module, input.index)
  if (!input.sourceExpr) return chosen
  return js`(s${input.index}===null?${expression(module, input.sourceExpr, into)}:${chosen})`
}

function source(module: Module, input: number, back: Back = 0): ColumnValue {
  module.sources.add(input)
  return new ColumnValue(`s${input}`, 'f64', back)
}

function history(module: Module, expr: HistoryExpr, into: Body): Code {
  const { base } = expr
  const na = module.naOf(expr.type)
  const offset = historyOffsetOf(module, expr.offset, into)
  const noted = into.fn && notableIn(module.plan.notedBy(into.fn), base)
  if (noted) return js`${into.state}.${noteField(noted)}.at(i,${offset})`
  if (base.kind === 'Variable') {
    const storage = module.plan.storageOf(base.variable)
    if (storage.place === 'fixed') return pastOf(offset, () => variableName(base.variable), na)
    if (storage.column) {
      const { column } = storage
      return pastOf(offset, (back) => decode(module, entry(module, column, back), base.type), na)
    }
    if (storage.history === 'buffer')
      return js`${base.variable.owner === null ? 'G' : into.state}.h${base.variable.id}.at(i,${offset})`
  }
  if (base.kind === 'BuiltinVariable') {
    const { implementation } = base.builtin
    if ('column' in implementation)
      return pastOf(offset, (back) => barColumn(module, implementation.column, back), na)
    const column = module.plan.columnsOf(base)?.[0] ?? module.plan.recorded.get(base.builtin.name)?.column
    if (column) return pastOf(offset, (back) => decode(module, entry(module, column, back), base.type), na)
  }
  if (base.kind === 'Input' && base.input.kind === 'source' && !base.input.sourceExpr) {
    const { index } = base.input
    return pastOf(offset, (back) => source(module, index, back), na)
  }
  const column = module.plan.valueColumnOf(base)
  if (column) return pastOf(offset, (back) => decode(module, entry(module, column, back), base.type), na)
  if (module.plan.rankOf(base) === 'fixed') return pastOf(offset, () => expression(module, base, into), na)
  assert(!into.hoisted, 'a hoisted history reference has a column')
  // The past of an expression: kept for this site, one entry a bar it is executed on.
  const field = into.frame.field(`e${expr.site}`, `new ${module.constant(History)}(${na})`)
  const store = `${into.state}.${field}`
  if (isCopied(base.type))
    return js`(${module.touched}.add(${store}),${store}.put(i,${expression(module, base, into)}),${store}.at(i,${offset}))`
  return js`(${store}.put(i,${expression(module, base, into)}),${store}.at(i,${offset}))`
}

/** Whether the past of a value is a copy of what it was (`runtime/past-collections.ts`). */
export function isCopied({ kind }: Type): boolean {
  return kind === 'array' || kind === 'matrix'
}

/** The field of a function's frame that holds what it notes of a variable at each call. */
export function noteField(noted: Noted): string {
  return noted === 'bar_index' ? 'gi' : `g${noted.id}`
}

/** A number where it is the same on every bar. */
function historyOffsetOf(module: Module, offset: Expr, into: Body): number | Code {
  if (offset.kind === 'Const' && typeof offset.value === 'number' && offset.value >= 0)
    return Math.floor(offset.value)
  return js`${module.constant(historyOffset)}(${expression(module, offset, into)})`
}

/** What `read` gives that many bars back, na before the first bar. */
function pastOf(offset: number | Code, read: (back: Back) => CodePart, na: string): Code {
  if (offset === 0) return js`${read(0)}`
  if (typeof offset === 'number') return js`(i>=${offset}?${read(offset)}:${na})`
  // A dynamic offset is evaluated once; reading a column evaluates no other.
  return js`(o=${offset},i>=o?${read('o')}:${na})`
}

function binary(module: Module, expr: BinaryExpr, into: Body): Code {
  const left = expression(module, expr.left, into)
  const right = expression(module, expr.right, into)
  const { operator } = expr
  switch (operator) {
    case 'and':
    case 'or': {
      const lazy = expr.lazy || !module.plan.hasEffects(expr.right)
      if (lazy) return js`(${left}${operator === 'and' ? '&&' : '||'}${right})`
      return js`${module.constant(operator === 'and' ? strictAnd : strictOr)}(${left},${right})`
    }
    case '+':
      if (expr.type.kind === 'string') {
        const last = module.temporary()
        module.fixed.line(`const ${last}=${module.constant(nothingJoined)}();`)
        return js`${module.constant(concatenate)}(${left},${right},R,${last})`
      }
      return js`(${left}+${right})`
    case '-':
    case '*':
    case '/':
    case '%':
      return js`(${left}${operator}${right})`
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

export function isInt(expr: Expr): boolean {
  return expr.type.kind === 'int' && !(expr.kind === 'Binary' && expr.operator === '/')
}

/**
 * Floats within 1e-10 of each other are equal (K1). The difference is compared once, and any comparison with na is
 * false, as it has to be. Order of evaluation stays left to right.
 */
function comparison(operator: '<' | '<=' | '>' | '>=', left: Code, right: Code, exact: boolean): Code {
  if (exact) return js`(${left}${operator}${right})`
  switch (operator) {
    case '>':
      return js`(${left}-${right}>1e-10)`
    case '>=':
      return js`(${left}-${right}>=-1e-10)`
    case '<':
      return js`(${left}-${right}<-1e-10)`
    default:
      return js`(${left}-${right}<=1e-10)`
  }
}

function equality(module: Module, expr: BinaryExpr, left: Code, right: Code): Code {
  const equal = expr.operator === '=='
  const kind = expr.left.type.kind === 'na' ? expr.right.type.kind : expr.left.type.kind
  switch (kind) {
    case 'int':
    case 'float':
      if (isInt(expr.left) && isInt(expr.right))
        return equal ? js`(${left}===${right})` : js`${module.constant(differsInt)}(${left},${right})`
      return equal ? js`(Math.abs(${left}-${right})<=1e-10)` : js`(Math.abs(${left}-${right})>1e-10)`
    case 'color':
      return js`${module.constant(equal ? sameColor : differsColor)}(${left},${right})`
    case 'bool':
      if (!module.threeState) return js`(${left}${equal ? '===' : '!=='}${right})`
      return js`${module.constant(equal ? sameBool : differsBool)}(${left},${right})`
    case 'string': {
      const isNa = expr.left.type.kind === 'na' || expr.right.type.kind === 'na'
      if (isNa) return js`${module.constant(equal ? same : differs)}(${left},${right})`
      return js`${module.constant(equal ? sameText : differsText)}(${left},${right})`
    }
    case 'line':
    case 'label':
      return js`(${left}${equal ? '===' : '!=='}${right})`
    default:
      return js`${module.constant(equal ? same : differs)}(${left},${right})`
  }
}

export function convert<Operand extends CodePart>(
  module: Module,
  expr: ConvertExpr,
  operand: Operand,
): Operand | Code {
  const from = expr.operand.type.kind
  if (from === 'na') return simple(module.naOf(expr.type))
  const isNumber = from === 'int' || from === 'float'
  if (expr.type.kind === 'bool' && isNumber) return boolOf(module, operand)
  return expr.type.kind === 'int' && from === 'float' ? js`Math.trunc(${operand})` : operand
}
