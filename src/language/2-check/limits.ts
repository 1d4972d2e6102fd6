// TradingView's limits on what a script may use (limitations, "Plot limits", "Number of calls" and "Tuple element limit").
//
// 64 plot counts: one for each series a call draws, its colours included where they change from bar to bar. Lines, labels,
// boxes and tables are not among them. The others are 64 different calls of request.*(), and 127 elements of tuples over
// all of them.

import { REQUESTS_MAX } from '../runtime/limits.ts'
import * as messages from '../messages/checking.ts'
import { fold } from './constant.ts'
import type { Place } from './place.ts'
import type { BuiltinCallExpr } from './program.ts'

const PLOT_COUNT_MAX = 64

const TUPLE_ELEMENTS_MAX = 127

/** Counts of a call without its colours. */
const COUNTS: Readonly<Record<string, number>> = {
  plot: 1,
  plotshape: 1,
  plotchar: 1,
  plotarrow: 1,
  plotbar: 4,
  plotcandle: 4,
  fill: 0,
  alertcondition: 1,
  bgcolor: 1,
  barcolor: 1,
}

const COLORS: ReadonlySet<string> = new Set([
  'color',
  'colorup',
  'colordown',
  'textcolor',
  'wickcolor',
  'bordercolor',
])

/** Reports the call that exceeds the limit of plots. */
export function countPlots(here: Place, call: BuiltinCallExpr): void {
  const { name } = call.builtin
  const own = Object.hasOwn(COUNTS, name) ? COUNTS[name] : undefined
  if (own === undefined) return
  const before = here.check.plotCount
  here.check.plotCount += own
  if (name !== 'bgcolor' && name !== 'barcolor')
    for (const [i, parameter] of call.overload.parameters.entries())
      if (COLORS.has(parameter.name) && call.args[i]?.qualifier === 'series') here.check.plotCount++
  if (before <= PLOT_COUNT_MAX && here.check.plotCount > PLOT_COUNT_MAX)
    here.check.report(here, call, messages.tooManyPlots(PLOT_COUNT_MAX))
}

/**
 * Counts only requests that are certainly different: at the script's top level, always executed, and with constant
 * arguments.
 */
export function countRequests(here: Place, call: BuiltinCallExpr): void {
  const { name } = call.builtin
  if (!name.startsWith('request.') || here.owner !== null || here.conditional || here.unit.isLibrary) return
  const asked = call.overload.parameters.map((parameter, i) => {
    const given = call.args[i] ?? null
    if (given === null || parameter.name === 'expression') return ''
    const known = given.kind === 'BuiltinVariable' ? given.builtin.name : fold(here.check, given)
    return typeof known === 'object' ? '' : String(known)
  })
  const { requests } = here.check
  const before = requests.size
  requests.add(`${name} ${asked.join(' ')}`)
  if (before === REQUESTS_MAX && requests.size > before)
    here.check.report(here, call, messages.tooManyRequests(REQUESTS_MAX))
}

export function countTupleElements(here: Place, call: BuiltinCallExpr): void {
  if (!call.builtin.name.startsWith('request.') || call.type.kind !== 'tuple') return
  const before = here.check.tupleElements
  here.check.tupleElements += call.type.items.length
  if (before <= TUPLE_ELEMENTS_MAX && here.check.tupleElements > TUPLE_ELEMENTS_MAX)
    here.check.report(here, call, messages.tooManyTupleElements(TUPLE_ELEMENTS_MAX))
}
