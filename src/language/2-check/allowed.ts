// What TradingView does not take for an argument although its type fits, where that is known before the run (L20).

import type * as tree from '../1-parse/tree.ts'
import type { BuiltinFunction } from '../builtins/registry.ts'
import * as messages from '../messages/checking.ts'
import { argumentOf } from './argument.ts'
import { fold } from './constant.ts'
import type { Place } from './place.ts'
import type { BuiltinCallExpr } from './program.ts'

type Bounds = Readonly<Record<string, readonly [least: number, most: number]>>

const DRAWINGS = [1, 500] as const
const DECLARED: Bounds = {
  precision: [0, 16],
  max_bars_back: [0, 5000],
  max_lines_count: DRAWINGS,
  max_labels_count: DRAWINGS,
  max_boxes_count: DRAWINGS,
  max_polylines_count: [1, 100],
}
const WIDTH: Bounds = { linewidth: [1, Infinity] }
const BOUNDS: Readonly<Record<string, Bounds>> = {
  indicator: DECLARED,
  strategy: DECLARED,
  plot: WIDTH,
  hline: WIDTH,
  'str.replace': { occurrence: [0, Infinity] },
}

/** Reports numbers out of their bounds, in version 6. */
export function reportBeyond(
  here: Place,
  name: string,
  call: Pick<BuiltinCallExpr, 'overload' | 'args'>,
): void {
  if (here.unit.version < 6) return
  for (const [parameter, [least, most]] of Object.entries(BOUNDS[name] ?? {})) {
    const given = argumentOf(call, parameter)
    const value = given && fold(here.check, given)
    if (given && typeof value === 'number' && (value < least || value > most))
      here.check.report(here, given, messages.outOfBounds(parameter, least, most))
  }
}

/** Parameters whose constants have a type of their own, which no text and no bool is, and one of these. */
const OF_THEIR_OWN: Readonly<Record<string, string>> = {
  'plot style': 'plot.style_columns',
  'plot linestyle': 'plot.linestyle_dashed',
  'hline linestyle': 'hline.style_dashed',
  'strategy.entry direction': 'strategy.long',
  'strategy.order direction': 'strategy.long',
  'request.security gaps': 'barmerge.gaps_on',
  'request.security lookahead': 'barmerge.lookahead_off',
}

/** Reports texts, bools and na in place of such constants. Up to version 4 they were texts and bools. */
export function reportUnnamed(here: Place, node: tree.Call, { name, overloads }: BuiltinFunction): void {
  const { version } = here.unit
  if (version < 5) return
  for (const [i, one] of node.arguments.entries()) {
    const { value } = one
    const parameter = one.name?.name ?? overloads[0]?.parameters[i]?.name ?? ''
    const isNa = version === 6 && value.kind === 'Identifier' && value.name === 'na'
    const kind = parameter === 'gaps' || parameter === 'lookahead' ? 'Bool' : 'String'
    const example = OF_THEIR_OWN[`${name} ${parameter}`]
    if (example !== undefined && (isNa || value.kind === kind))
      here.check.report(here, value, messages.constantWanted(name, parameter, example))
  }
}
