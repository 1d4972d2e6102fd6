// `strategy(…)`, `indicator(…)`, `library(…)`: what the script is, with the version's defaults filled in.

import type * as tree from '../1-parse/tree.ts'
import type { BuiltinFunction } from '../builtins/registry.ts'
import * as messages from '../messages/checking.ts'
import { argsAsOf, NEWEST_DAY } from '../behaviour.ts'
import { argumentOf } from './argument.ts'
import { reportBeyond } from './allowed.ts'
import { fold } from './constant.ts'
import { adapt } from './legacy.ts'
import { choose } from './overloads.ts'
import type { Place } from './place.ts'
import type { Expr, ScriptKind } from './program.ts'
import { nothing, value } from './values.ts'

export function declarationCall(here: Place, node: tree.Call, builtin: BuiltinFunction): Expr {
  const { check } = here
  // A library's own declaration says nothing of the script that imports it.
  if (here.unit.isLibrary) return nothing(node)
  if (check.declaration !== null) check.report(here, node, messages.declarationTwice())
  const written = node.arguments.map((one) => ({
    name: one.name?.name ?? null,
    expr: value(here, one.value),
  }))
  const chosen = choose(here, builtin, adapt(here, builtin, written, node).given, [], node)
  if (chosen) reportBeyond(here, builtin.name, chosen)
  const kind = builtin.name as ScriptKind
  const args: Record<string, number | string | boolean | null> = {}
  for (const [i, parameter] of (chosen?.overload.parameters ?? []).entries()) {
    const expr = chosen?.args[i] ?? null
    const known = expr === null ? null : fold(check, expr)
    if (known === undefined && expr !== null)
      check.report(here, expr, messages.notConstant(builtin.name, parameter.name))
    // An na number may only be given where leaving it out says na, too. A mistake, which was reported, is known as null as well.
    const isMistake = written.some((one) => one.expr.type.kind === 'error' && one.expr.start === expr?.start)
    if (known === null && expr !== null && !isMistake && typeof parameter.default === 'number')
      check.report(here, expr, messages.naForConstant(builtin.name, parameter.name))
    args[parameter.name] = typeof known === 'object' || known === undefined ? null : known
  }
  const given = Object.keys(args).filter((name) => {
    const expr = chosen && argumentOf(chosen, name)
    // The checker puts a default at the end of the call, with no text of its own.
    return expr !== null && expr.start !== expr.end
  })
  const { version } = here.unit
  if (kind === 'strategy' && version < 6) {
    // Positions without margin were the default until v6.
    for (const name of ['margin_long', 'margin_short']) if (!given.includes(name)) args[name] = 0
  }
  args['shorttitle'] ??= args['title'] ?? null
  check.declaration = { kind, args: argsAsOf({ kind, args, given }, version, NEWEST_DAY), given }
  return nothing(node)
}
