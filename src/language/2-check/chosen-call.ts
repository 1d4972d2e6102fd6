// A call of a built-in whose arguments are known: the overload that takes them.

import { assert } from '../../lib/assert.ts'
import type { BuiltinFunction } from '../builtins/registry.ts'
import { BUILTIN_FUNCTIONS } from '../builtins/table.ts'
import type { Range } from '../source.ts'
import * as messages from '../messages/checking.ts'
import { DEFAULT_PATTERN } from '../runtime/number-format.ts'
import { fold, known } from './constant.ts'
import { describe } from './convert.ts'
import { choose } from './overloads.ts'
import { errorExpr, type Place } from './place.ts'
import type { Expr } from './program.ts'
import { HANDLES, STRING, latest, type Type } from './types.ts'
import { constant, type Given } from './values.ts'
import { words } from '../../lib/words.ts'

export function chosenCall(
  here: Place,
  builtin: BuiltinFunction,
  given: readonly Given[],
  typeArguments: readonly Type[],
  node: Range,
): Expr {
  const chosen = choose(here, builtin, given, typeArguments, node)
  if (chosen === null) return errorExpr(node)
  const { implementation } = chosen.overload
  if ('state' in implementation && !implementation.timeless) {
    if (here.conditional) here.check.report(here, node, messages.conditionalCall(builtin.name))
    if (here.owner !== null) here.check.lookingBack.add(here.owner)
  }
  if (here.unit.version === 6) reportUnwritable(here, builtin.name, chosen.args)
  const [first] = chosen.args
  const member = builtin.name === 'str.tostring' && first?.type.kind === 'enum' && fold(here.check, first)
  // The text of an enum's member is as constant as the member.
  if (typeof member === 'object' && member !== null) return constant(node, STRING, member.title)
  return known(here.check, {
    kind: 'BuiltinCall',
    builtin,
    overload: chosen.overload,
    args: FORMATTING.test(builtin.name) ? chosen.args.map((arg, i) => formatted(here, arg, i)) : chosen.args,
    typeArguments,
    site: here.check.site(),
    type: arrayOfTuple(chosen.type),
    qualifier: NEVER_CONST.has(builtin.name) ? latest(chosen.qualifier, 'simple') : chosen.qualifier,
    start: node.start,
    end: node.end,
  })
}

/** What they give is simple at best, even of constants and inputs. [measured, TealScript's rounds 50 and 52] */
const NEVER_CONST: ReadonlySet<string> = new Set(
  words('str.contains str.endswith str.format str.length str.match str.pos str.startswith str.tostring'),
)

const FORMATTING = /^(?:str\.format|log\.\w+)$/

/**
 * An argument for a pattern of str.format(). Java writes an array's floats as `1.0` and its ints as `1`, and only the types
 * tell them apart.
 */
function formatted(here: Place, arg: Expr | null, i: number): Expr | null {
  if (i === 0 || arg?.type.kind !== 'array' || arg.type.of.kind !== 'float') return arg
  const floats = BUILTIN_FUNCTIONS.get('·floats')
  assert(floats, '·floats is built in')
  return chosenCall(here, floats, [{ name: null, expr: arg }], [], arg)
}

/** Reports what TradingView does not write as text: with a pattern nothing but numbers, in a pattern no objects. */
function reportUnwritable(here: Place, name: string, args: readonly (Expr | null)[]): void {
  if (name === 'str.tostring') {
    const [value, pattern] = args
    if (!value || value.type.kind === 'error') return
    const isPlain = !pattern || (pattern.kind === 'Const' && pattern.value === DEFAULT_PATTERN)
    const { kind } = isPlain ? value.type : elementOf(value.type)
    const isWritten = isPlain ? WRITTEN.has(kind) : kind === 'int' || kind === 'float' || kind === 'na'
    const expected = isPlain
      ? 'a number, a text, a bool, an array or a matrix'
      : 'a number where there is a pattern'
    if (!isWritten)
      here.check.report(here, value, messages.argumentType(name, 'value', expected, describe(value)))
  } else if (FORMATTING.test(name))
    for (const arg of args.slice(1)) {
      if (arg === null) continue
      const { kind } = arg.type
      if (kind === 'enum' || UNWRITABLE.has(kind))
        here.check.report(
          here,
          arg,
          messages.notWritable(name, describe(arg), kind === 'enum' ? 'CE10124' : 'CE10122'),
        )
    }
}

/** What `str.format` writes nowhere, besides members of enums. */
const UNWRITABLE: ReadonlySet<Type['kind']> = new Set<Type['kind']>([
  ...HANDLES,
  'matrix',
  'map',
  'color',
  'udt',
])

/** L18: what `str.tostring` writes without a pattern. */
const WRITTEN: ReadonlySet<Type['kind']> = new Set<Type['kind']>(
  words('int float bool string enum array matrix na'),
)

function elementOf(type: Type): Type {
  return type.kind === 'array' || type.kind === 'matrix' ? type.of : type
}

/** request.security_lower_tf() of a tuple gives a tuple of arrays, not an array of tuples. */
function arrayOfTuple(type: Type): Type {
  if (type.kind !== 'array' || type.of.kind !== 'tuple') return type
  return { kind: 'tuple', items: type.of.items.map((of) => ({ kind: 'array', of })) }
}
