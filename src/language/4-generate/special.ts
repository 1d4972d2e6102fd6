// Built-ins the generator knows by name: what is drawn, alerts, request.*.

import { placeOf } from '../2-check/argument.ts'
import type { BuiltinCallExpr, Expr } from '../2-check/program.ts'
import type { PlannedColumn } from '../3-plan/plan.ts'
import { js, simple, type Code, type CodePart } from './code.ts'
import { assignment } from './columns.ts'
import { type Module, type Body } from './module.ts'
import type { TrackSpec } from '../runtime/executable.ts'
import { request } from './request.ts'
import { words } from '../../lib/words.ts'

export function special(module: Module, expr: BuiltinCallExpr, into: Body): Code {
  const { name } = expr.builtin
  const kind = TRACKS[name]
  if (kind) return track(module, expr, into, kind)
  if (name.startsWith('request.')) return request(module, expr, into)
  if (name === 'alertcondition') {
    const arg = (parameter: string) => argument(module, expr, into, parameter)
    return js`(${arg('condition')}?R.alertCondition(${arg('title')},${arg('message')}):null)`
  }
  throw new Error(`assertion failed: the generator does not know ${name}`)
}

function argument(module: Module, expr: BuiltinCallExpr, into: Body, parameter: string): CodePart {
  const index = placeOf(expr, parameter)
  const given = expr.args[index]
  if (given) return module.writers.expression(module, given, into)
  return module.missing(expr, index)
}

/** Built-in → the kind of track it records. */
const TRACKS: Readonly<Record<string, string>> = {
  plot: 'plot',
  plotshape: 'shape',
  plotchar: 'char',
  plotarrow: 'arrow',
  plotcandle: 'candle',
  plotbar: 'bar',
  hline: 'hline',
  fill: 'fill',
  bgcolor: 'bgcolor',
  barcolor: 'barcolor',
}
export function isTrack(name: string): boolean {
  return name in TRACKS
}

const VALUES: ReadonlySet<string> = new Set(words('series open high low close top_value bottom_value'))
const HANDLES: ReadonlySet<string> = new Set(['hline1', 'hline2', 'plot1', 'plot2'])

/** Records a bar's values; as an expression it is the track's number, which is what a plot handle is. */
function track(module: Module, expr: BuiltinCallExpr, into: Body, kind: string): Code {
  const index = module.tracks.length
  const spec: TrackSpec = { kind, columns: {}, colors: {}, texts: {}, between: null }
  module.tracks.push(spec)
  module.trackOfSite.set(expr.site, index)
  const writes: Code[] = []
  const options: Code[] = []
  const between: (number | null)[] = []
  for (const [i, parameter] of expr.overload.parameters.entries()) {
    const given = expr.args[i]
    if (!given || parameter.name === 'show_last_default') continue
    if (HANDLES.has(parameter.name)) {
      between.push(trackOf(module, given))
      continue
    }
    const fixed = module.plan.rankOf(given) === 'fixed'
    const type = given.type.kind === 'na' ? parameter.types[0] : given.type
    if (VALUES.has(parameter.name)) spec.columns[parameter.name] = record(module, given, into, writes)
    else if (fixed) options.push(js`"${parameter.name}":${optionOf(module, given, into)}`)
    else if (type?.kind === 'color') spec.colors[parameter.name] = record(module, given, into, writes)
    else if (type?.kind === 'string') spec.texts[parameter.name] = record(module, given, into, writes)
    else writes.push(js`p${index}["${parameter.name}"]=${optionOf(module, given, into)}`)
  }
  const [first, second] = between
  if (typeof first === 'number' && typeof second === 'number') spec.between = [first, second]
  module.fixed.line(js`const p${index}={${options}};`, expr.start)
  return writes.length === 0 ? simple(index) : js`(${writes},${index})`
}

function optionOf(module: Module, expr: Expr, into: Body): CodePart {
  const value = module.writers.expression(module, expr, { ...into, out: module.fixed })
  return ['int', 'float', 'bool', 'string', 'color', 'na'].includes(expr.type.kind) ? value : 'null'
}

/** The column a value is kept in: one it has already, or a new one that is written on each bar. */
function record(module: Module, expr: Expr, into: Body, writes: Code[]): number {
  const known = module.plan.valueColumnOf(expr)
  if (known) {
    module.keep(known)
    return known.index
  }
  const column: PlannedColumn = module.newColumn(expr.type.kind === 'int' ? { kind: 'float' } : expr.type)
  module.keep(column)
  writes.push(assignment(module, column, module.writers.expression(module, expr, into)))
  return column.index
}

function trackOf(module: Module, expr: Expr): number | null {
  if (expr.kind === 'BuiltinCall') return module.trackOfSite.get(expr.site) ?? null
  if (expr.kind !== 'Variable') return null
  const origin = module.plan.originOf(expr.variable)
  return origin ? trackOf(module, origin) : null
}
