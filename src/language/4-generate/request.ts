// request.*: a site object a call, which finds the bars, runs the slice over them and answers with its values.

import { argumentOf } from '../2-check/argument.ts'
import type { BuiltinCallExpr, Expr } from '../2-check/program.ts'
import type { Type } from '../2-check/types.ts'
import { noSource } from '../messages/running.ts'
import { handedOut, Request } from '../runtime/request.ts'
import { js, simple, type Code, type CodePart } from './code.ts'
import { assignment } from './columns.ts'
import type { Module, Body } from './module.ts'

export function request(module: Module, expr: BuiltinCallExpr, into: Body): Code {
  const { name } = expr.builtin
  const arg = (parameter: string): CodePart => {
    const given = argumentOf(expr, parameter)
    return given ? module.writers.expression(module, given, into) : 'null'
  }
  switch (name) {
    case 'request.result':
      return resultColumns(module, expr.args, into)
    case 'request.security':
    case 'request.security_lower_tf': {
      const lower = name === 'request.security_lower_tf'
      const wanted = wantedOf(expr)
      module.requests.push({ site: expr.site, wanted })
      const na = naItems(module, wanted.type)
      const frame = into.frame.field(
        `q${expr.site}`,
        `new ${module.constant(Request)}(R,${expr.site},P,[${na}],${String(lower)})`,
      )
      const merge = lower ? ['false', 'false'] : [arg('gaps'), arg('lookahead')]
      const call = js`${into.state}.${frame}.at(i,${arg('symbol')},${arg('timeframe')},${merge},${arg('ignore_invalid_symbol')},${arg('currency')},${lower ? arg('ignore_invalid_timeframe') : 'false'})`
      return wanted.type.kind === 'tuple' ? call : js`${call}[0]`
    }
    case 'request.currency_rate':
      return js`R.currencyRate(${arg('from')},${arg('to')},${arg('ignore_invalid_currency')})`
    default:
      return js`(R.warn(${JSON.stringify(noSource(name))}),${module.naOf(expr.type)})`
  }
}

/** A chart's bar sees the last bar that has closed: from where a run is kept, the one before. */
const RESULT_BACK = 2

function wantedOf(expr: BuiltinCallExpr): Expr {
  const wanted = argumentOf(expr, 'expression')
  if (!wanted) throw new Error('assertion failed: request.security() has an expression')
  return wanted
}

function naItems(module: Module, type: Type): string {
  return (type.kind === 'tuple' ? type.items : [type]).map((item) => module.naOf(item)).join(',')
}

/** The end of a slice: each value into a column, from where the script that asked reads it. */
function resultColumns(module: Module, items: readonly (Expr | null)[], into: Body): Code {
  const writes: Code[] = []
  for (const item of items) {
    if (!item) continue
    if (item.type.kind === 'tuple') {
      const list = module.temporary()
      into.out.line(js`const ${list}=${module.writers.expression(module, item, into)};`, item.start)
      for (const [i, type] of item.type.items.entries()) {
        const column = module.newColumn(type)
        writes.push(assignment(module, column, ownCopy(module, type, `${list}[${i}]`)))
        module.keep(column, RESULT_BACK)
        module.results.push(column)
      }
      continue
    }
    const known = module.plan.valueColumnOf(item)
    if (known) {
      module.keep(known, RESULT_BACK)
      module.results.push(known)
      continue
    }
    const column = module.newColumn(item.type)
    writes.push(
      assignment(module, column, ownCopy(module, item.type, module.writers.expression(module, item, into))),
    )
    module.keep(column, RESULT_BACK)
    module.results.push(column)
  }
  return writes.length === 0 ? simple(0) : js`(${writes},0)`
}

function ownCopy(module: Module, type: Type, value: CodePart): CodePart {
  const changes = ['array', 'matrix', 'map', 'udt'].includes(type.kind)
  return changes ? js`${module.constant(handedOut)}(R,${value})` : value
}
