// Converts calls as v4 and v5 wrote them into v6's: parameters with other names and order, `when=`, `transp=`, directions
// as true and false.

import type { BuiltinFunction } from '../builtins/registry.ts'
import { BUILTIN_FUNCTIONS } from '../builtins/table.ts'
import type { Range } from '../source.ts'
import { chosenCall } from './chosen-call.ts'
import { coerce, isNumber } from './convert.ts'
import { builtinByName } from './names.ts'
import type { Place } from './place.ts'
import type { Expr } from './program.ts'
import { BOOL, INT, STRING } from './types.ts'
import type { Given } from './values.ts'
import type { LegacyCall } from './version.ts'
import { words } from '../../lib/words.ts'

export interface Adapted {
  readonly given: readonly Given[]
  readonly when: Expr | null
}

export function adapt(
  here: Place,
  builtin: BuiltinFunction,
  written: readonly Given[],
  node: Range,
): Adapted {
  if (here.unit.version === 6) return { given: written, when: null }
  const legacy = here.unit.names.calls[builtin.name]
  const named = legacy === undefined ? written : inOrder(builtin, legacy, written)
  let when: Expr | null = null
  let transparency: Expr | null = null
  const given: Given[] = []
  for (const [i, one] of named.entries()) {
    if (one.name === 'when' && builtin.name.startsWith('strategy.')) when = one.expr
    else if (one.name === 'transp' && COLORED.has(builtin.name)) transparency = one.expr
    else if (one.name !== null && legacy?.drop?.includes(one.name) === true) continue
    else given.push(style(builtin, direction(here, builtin, renamed(here, builtin, legacy, one), i), i))
  }
  if (here.unit.written < 3 && builtin.name === 'request.security' && !looks(given))
    given.push(...ahead(here, node))
  const isVeiled = transparency === null && here.unit.version === 4 && VEILED.has(builtin.name)
  const amount = isVeiled ? veil(node) : transparency
  if (amount === null) return { given, when }
  const make = isVeiled ? '·veiled' : 'color.new'
  return {
    given: given.map((one, i) =>
      isColor(builtin, one, i) ? transparent(here, make, one, amount, node) : one,
    ),
    when,
  }
}

/** Whether a call says if it looks ahead. */
function looks(given: readonly Given[]): boolean {
  return given.some(({ name }, i) => name === 'lookahead' || (name === null && i === LOOKAHEAD_PLACE))
}

const LOOKAHEAD_PLACE = 4

/** Up to version 2 a request looks ahead unless the script says otherwise ("To Pine Script version 3"). */
function ahead(here: Place, { end }: Range): Given[] {
  const expr = builtinByName(here, 'barmerge.lookahead_on', { start: end, end })
  return expr === null ? [] : [{ name: 'lookahead', expr }]
}

/** What v4 fills is nearly transparent unless the script says otherwise, since its default for `transp` was 90. */
const VEILED: ReadonlySet<string> = new Set(['fill', 'bgcolor'])

function veil({ end }: Range): Expr {
  return { kind: 'Const', value: 90, type: INT, qualifier: 'const', start: end, end }
}

/** Arguments without a name get the one their place had then, as soon as the places differ from today's. */
function inOrder(builtin: BuiltinFunction, legacy: LegacyCall, written: readonly Given[]): readonly Given[] {
  const { order } = legacy
  if (order === undefined) return written
  const at = order.indexOf('when')
  const inPlace = written[at]
  // Late v5 took `when` out of the order: a text in its place means the new order.
  if (inPlace !== undefined && inPlace.name === null && inPlace.expr.type.kind === 'string') return written
  const today = builtin.overloads[0]?.parameters ?? []
  let same = true
  return written.map((one, i) => {
    const old = order[i]
    if (one.name !== null || old === undefined) return one
    same &&= today[i]?.name === (legacy.rename?.[old] ?? old)
    return same ? one : { ...one, name: old }
  })
}

function renamed(here: Place, builtin: BuiltinFunction, legacy: LegacyCall | undefined, one: Given): Given {
  if (one.name === null) return one
  const now = legacy?.rename?.[one.name]
  if (now !== undefined) return { ...one, name: now }
  if (here.unit.version > 4) return one
  // v4 called the first two parameters of many functions x and y.
  const has = builtin.overloads.some((overload) =>
    overload.parameters.some((parameter) => parameter.name === one.name),
  )
  const place = one.name === 'x' ? 0 : one.name === 'y' ? 1 : -1
  const name = builtin.overloads.find((overload) => overload.parameters.length > place)?.parameters[place]
    ?.name
  return has || name === undefined ? one : { ...one, name }
}

/** v4 says true and 1 for long, false and 0 for short. */
function direction(here: Place, builtin: BuiltinFunction, one: Given, i: number): Given {
  if (builtin.name !== 'strategy.entry' && builtin.name !== 'strategy.order') return one
  const { expr } = one
  if (expr.type.kind !== 'bool' && !isNumber(expr.type)) return one
  if (one.name !== 'direction' && (one.name !== null || i !== 1)) return one
  const long = builtinByName(here, 'strategy.long', expr)
  const short = builtinByName(here, 'strategy.short', expr)
  if (long === null || short === null) return one
  const test = coerce(expr, BOOL)
  if (test.kind === 'Const' && test.value !== null)
    return { name: one.name, expr: test.value === true ? long : short }
  return {
    name: one.name,
    expr: {
      kind: 'Ternary',
      test,
      consequent: long,
      alternate: short,
      type: long.type,
      qualifier: expr.qualifier,
      start: expr.start,
      end: expr.end,
    },
  }
}

/** Calls that took a transparency, `transp=`, up to v4. */
const COLORED: ReadonlySet<string> = new Set(words('plot plotshape plotchar plotarrow fill bgcolor barcolor'))

const COLOR_PARAMETERS: ReadonlySet<string> = new Set(['color', 'colorup', 'colordown'])

/** The styles that v4 let a script choose by number, in the order of their numbers. */
const STYLES: Readonly<Record<string, { readonly parameter: string; readonly names: readonly string[] }>> = {
  plot: {
    parameter: 'style',
    names: ['line', 'stepline', 'histogram', 'cross', 'area', 'columns', 'circles'],
  },
  hline: { parameter: 'linestyle', names: ['solid', 'dotted', 'dashed'] },
}

function style(builtin: BuiltinFunction, one: Given, i: number): Given {
  const known = STYLES[builtin.name]
  const { expr } = one
  if (known === undefined || expr.kind !== 'Const' || expr.type.kind !== 'int') return one
  if ((one.name ?? builtin.overloads[0]?.parameters[i]?.name) !== known.parameter) return one
  const value = known.names[Number(expr.value)]
  return value === undefined ? one : { ...one, expr: { ...expr, type: STRING, value } }
}

function isColor(builtin: BuiltinFunction, one: Given, i: number): boolean {
  return COLOR_PARAMETERS.has(one.name ?? builtin.overloads[0]?.parameters[i]?.name ?? '')
}

function transparent(here: Place, name: string, one: Given, amount: Expr, node: Range): Given {
  const make = BUILTIN_FUNCTIONS.get(name)
  if (make === undefined) return one
  const given: Given[] = [
    { name: null, expr: one.expr },
    { name: null, expr: amount },
  ]
  return { name: one.name, expr: chosenCall(here, make, given, [], { start: one.expr.start, end: node.end }) }
}
