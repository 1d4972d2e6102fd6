// `input.*()` and `input()`: read when the script is compiled, so that a form can be shown before it ever runs.

import type * as tree from '../1-parse/tree.ts'
import type { BuiltinFunction, ParameterSpec } from '../builtins/registry.ts'
import { INPUT_KINDS, type InputKind } from '../runtime/inputs.ts'
import * as messages from '../messages/checking.ts'
import { fold, refusal } from './constant.ts'
import { describe, fits, isNumber } from './convert.ts'
import { errorExpr, type ConstValue, type Place } from './place.ts'
import type { Expr, Input, InputExpr } from './program.ts'
import { BOOL, COLOR, FLOAT, INT, STRING, isLater, typeText, type Type } from './types.ts'
import { value } from './values.ts'
import { words } from '../../lib/words.ts'

/** `input()` of v4: its parameters in order, with a kind given by `type=`. */
const V4_ORDER = words('defval title type minval maxval confirm step options tooltip inline group')

/** Kinds that v4 calls by another name. */
const V4_KINDS: Readonly<Record<string, InputKind>> = { integer: 'int', resolution: 'timeframe' }

const TYPES: Readonly<Record<Exclude<InputKind, 'enum'>, Type>> = {
  int: INT,
  float: FLOAT,
  bool: BOOL,
  string: STRING,
  color: COLOR,
  source: FLOAT,
  timeframe: STRING,
  session: STRING,
  symbol: STRING,
  time: INT,
  price: FLOAT,
  text_area: STRING,
}

export function inputCall(here: Place, node: tree.Call, builtin: BuiltinFunction): Expr {
  const known = here.check.inputExprs.get(node)
  if (known !== undefined) return known
  const places = place(here, node, builtin)
  const defvalNode = places.get('defval')
  if (defvalNode === undefined) {
    here.check.report(here, node, messages.missingArgument(builtin.name, 'defval'))
    return errorExpr(node)
  }
  const typeNode = places.get('type')
  const inside: Place = { ...here, target: '' }
  const defval = value(inside, defvalNode)
  if (defval.type.kind === 'error') return errorExpr(node)
  const kind =
    (typeNode === undefined ? null : kindByType(typeNode)) ?? kindByName(builtin.name) ?? kindByValue(defval)
  if (kind === null) {
    here.check.report(
      here,
      defvalNode,
      messages.argumentType(builtin.name, 'defval', 'a value an input can have', describe(defval)),
    )
    return errorExpr(node)
  }
  const type =
    kind === 'enum' || (kind === 'source' && defval.type.kind === 'int') ? defval.type : TYPES[kind]
  const isLoose = here.unit.version < 5 && kind === 'int' && isNumber(defval.type)
  const isNoMember = builtin.name === 'input.enum' && defval.type.kind !== 'enum'
  if (isNoMember || (!fits(here, defval.type, type) && !isLoose)) {
    here.check.report(
      here,
      defvalNode,
      messages.argumentType(builtin.name, 'defval', `const ${typeText(type)}`, describe(defval)),
    )
    return errorExpr(node)
  }
  const input = readInput(inside, builtin, kind, defval, places, here.target)
  const expr: InputExpr = {
    kind: 'Input',
    input,
    type: kind === 'source' ? FLOAT : type,
    qualifier: kind === 'source' ? 'series' : 'input',
    start: node.start,
    end: node.end,
  }
  here.check.inputs.push(input)
  here.check.inputExprs.set(node, expr)
  return expr
}

function readInput(
  here: Place,
  builtin: BuiltinFunction,
  kind: InputKind,
  defval: Expr,
  places: ReadonlyMap<string, tree.Expression>,
  name: string,
): Input {
  const { folded, text, number } = constantsOf(here, builtin, places)
  const initial = initialOf(here, builtin, kind, defval)
  // Up to version 4 there is one function for inputs of all kinds.
  const options = optionValues(here, builtin, places, builtin.name === 'input' ? null : defval.type)
  if (options !== null && initial !== undefined && initial !== null && !options.includes(initial as never))
    here.check.report(here, defval, messages.defaultNotAnOption(JSON.stringify(initial)))
  const active = places.get('active')
  if (active !== undefined) {
    const given = value(here, active)
    if (isLater(given.qualifier, 'input'))
      here.check.report(
        here,
        active,
        messages.argumentQualifier(builtin.name, 'active', 'input bool', describe(given)),
      )
  }
  const title = text('title')
  const minval = number('minval')
  const maxval = number('maxval')
  // v4 took a default outside of the bounds.
  if (typeof initial === 'number' && here.unit.version > 4) {
    if (minval !== null && initial < minval)
      here.check.report(here, defval, messages.defaultOutside(initial, 'minval', minval))
    if (maxval !== null && initial > maxval)
      here.check.report(here, defval, messages.defaultOutside(initial, 'maxval', maxval))
  }
  return {
    index: here.check.inputs.length,
    kind,
    name,
    title: title === '' ? name : title,
    // Known when all inputs are.
    label: '',
    defval: initial ?? null,
    sourceExpr: kind === 'source' ? (initial === '' ? defval : null) : initial === undefined ? defval : null,
    minval,
    maxval,
    step: number('step'),
    options,
    tooltip: text('tooltip'),
    group: text('group'),
    inline: text('inline'),
    confirm: folded('confirm') === true,
    display: displayText(folded('display')),
    active: folded('active') !== false,
    enum: defval.type.kind === 'enum' ? defval.type.enum : null,
  }
}

/** What the arguments of an input are known to be; a parameter that is not given is undefined, '' or null. */
function constantsOf(here: Place, builtin: BuiltinFunction, places: ReadonlyMap<string, tree.Expression>) {
  const folded = (parameter: string): ConstValue | undefined => {
    const node = places.get(parameter)
    if (node === undefined) return undefined
    const expr = value(here, node)
    const known = fold(here.check, expr)
    if (known === undefined && expr.type.kind !== 'error' && parameter !== 'active')
      here.check.report(here, node, messages.notConstant(builtin.name, parameter))
    return known
  }
  const text = (parameter: string): string => {
    const known = folded(parameter)
    return typeof known === 'string' ? known : ''
  }
  const number = (parameter: string): number | null => {
    const known = folded(parameter)
    const node = places.get(parameter)
    if (node !== undefined && known !== undefined && known !== null && typeof known !== 'number')
      here.check.report(
        here,
        node,
        messages.argumentType(builtin.name, parameter, 'a number', JSON.stringify(known)),
      )
    return typeof known === 'number' ? known : null
  }
  return { folded, text, number }
}

/** The default; undefined where only a run can tell. */
function initialOf(
  here: Place,
  builtin: BuiltinFunction,
  kind: InputKind,
  defval: Expr,
): ConstValue | undefined {
  const initial = fold(here.check, defval)
  if (kind === 'source') {
    // A plain input() takes constants and the chart's prices. [measured, TealScript's round 10]
    const isNamed = defval.kind === 'BuiltinVariable' || defval.kind === 'Variable'
    if (builtin.name === 'input' && here.unit.version > 4 && !isNamed)
      here.check.report(here, defval, messages.notConstant(builtin.name, 'defval'))
    return defval.kind === 'BuiltinVariable' ? defval.builtin.name : ''
  }
  if (initial === undefined) {
    const why = refusal(here.check, defval)
    const message =
      why === null ? messages.notConstant(builtin.name, 'defval') : messages.constantRefused(why)
    here.check.report(here, defval, message)
  }
  if (kind === 'bool' && typeof initial === 'number') return initial !== 0
  return kind === 'int' && typeof initial === 'number' ? Math.trunc(initial) : initial
}

/** The bits of display.* as the text that an input's record keeps. */
function displayText(known: ConstValue | undefined): string {
  return typeof known === 'number' ? String(known) : ''
}

function optionValues(
  here: Place,
  builtin: BuiltinFunction,
  places: ReadonlyMap<string, tree.Expression>,
  type: Type | null,
): Input['options'] {
  const node = places.get('options')
  if (node === undefined) return null
  const items = node.kind === 'Tuple' ? node.items : [node]
  const values: (number | string | object)[] = []
  for (const item of items) {
    const option = value(here, item)
    const known = fold(here.check, option)
    if (type !== null && !fits(here, option.type, type) && !(isNumber(option.type) && type.kind === 'int'))
      here.check.report(
        here,
        item,
        messages.argumentType(builtin.name, 'options', `const ${typeText(type)}`, describe(option)),
      )
    else if (known === undefined) here.check.report(here, item, messages.notConstant(builtin.name, 'options'))
    else if (known !== null && typeof known !== 'boolean') values.push(known)
  }
  return values
}

/** What the call writes for each parameter, by the parameter's name. */
function place(here: Place, node: tree.Call, builtin: BuiltinFunction): Map<string, tree.Expression> {
  const order = parameterOrder(here, node, builtin)
  const places = new Map<string, tree.Expression>()
  for (const [i, one] of node.arguments.entries()) {
    const name = one.name?.name ?? order[i]
    if (name === undefined) {
      here.check.report(
        here,
        one,
        messages.tooManyArguments(builtin.name, order.length, node.arguments.length),
      )
    } else if (!order.includes(name) && !known(here, builtin, name)) {
      here.check.report(
        here,
        one,
        messages.unknownArgument(builtin.name, name, here.check.suggest(name, order)),
      )
    } else if (!places.has(name)) places.set(name, one.value)
    else if (here.unit.version === 6)
      here.check.report(here, one, messages.duplicateArgument(builtin.name, name))
  }
  return places
}

function parameterOrder(here: Place, node: tree.Call, builtin: BuiltinFunction): readonly string[] {
  if (builtin.name === 'input' && here.unit.version === 4) return V4_ORDER
  const withOptions = node.arguments.some(
    (one, i) => one.name?.name === 'options' || (i === 2 && one.name === null && one.value.kind === 'Tuple'),
  )
  const takesOptions = (parameters: readonly ParameterSpec[]): boolean =>
    parameters.some((parameter) => parameter.name === 'options')
  const overload =
    builtin.overloads.find((one) => takesOptions(one.parameters) === withOptions) ?? builtin.overloads[0]
  const names = overload?.parameters.map((parameter) => parameter.name) ?? []
  return here.unit.version === 6 ? names : names.filter((name) => name !== 'active')
}

/** Whether the call may name this parameter, too. Up to v5 every input took all that v4's `input()` did. */
function known(here: Place, { overloads }: BuiltinFunction, name: string): boolean {
  return (
    here.unit.version < 6 &&
    (V4_ORDER.some((one) => one === name) ||
      overloads.some((one) => one.parameters.some((parameter) => parameter.name === name)))
  )
}

function kindByName(name: string): InputKind | null {
  const last = name.slice('input.'.length)
  return INPUT_KINDS.find((kind) => kind === last) ?? null
}

/** The kind that v4 names by `type=input.integer` or `type=float`. */
function kindByType(node: tree.Expression): InputKind | null {
  const name = node.kind === 'Member' ? node.property.name : node.kind === 'Identifier' ? node.name : ''
  return V4_KINDS[name] ?? INPUT_KINDS.find((kind) => kind === name) ?? null
}

function kindByValue(expr: Expr): InputKind | null {
  if (expr.type.kind === 'enum') return 'enum'
  if (expr.qualifier === 'series' && isNumber(expr.type)) return 'source'
  const { kind } = expr.type
  return kind === 'int' || kind === 'float' || kind === 'bool' || kind === 'string' || kind === 'color'
    ? kind
    : null
}
