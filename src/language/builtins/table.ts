// All built-ins by name. A name may be a function and a variable at once: `ta.tr`, `na`, `time`, `dayofweek`.

import { ARRAY } from './array.ts'
import { BARS } from './bars.ts'
import { BARSTATE } from './barstate.ts'
import { COLOR } from './color.ts'
import { CONSTANTS } from './constants.ts'
import { DRAWINGS } from './drawings.ts'
import { EVENTS } from './events.ts'
import { FOOTPRINT } from './footprint.ts'
import { LANGUAGE } from './language.ts'
import { LOG } from './log.ts'
import { MAP } from './map.ts'
import { MATH } from './math.ts'
import { MATRIX } from './matrix.ts'
import type { BuiltinConstant, BuiltinEntry, BuiltinFunction, BuiltinVariable } from './registry.ts'
import { SESSION } from './session.ts'
import { STR } from './str.ts'
import { STRATEGY } from './strategy.ts'
import { SYMINFO } from './syminfo.ts'
import { BANDS } from './ta/bands.ts'
import { CHANGES } from './ta/changes.ts'
import { CROSSES } from './ta/crosses.ts'
import { EXTREMES } from './ta/extremes.ts'
import { MOVING_AVERAGES } from './ta/moving-averages.ts'
import { OSCILLATORS } from './ta/oscillators.ts'
import { PIVOT_LEVELS } from './ta/pivot-levels.ts'
import { PIVOTS } from './ta/pivots.ts'
import { RANKS } from './ta/ranks.ts'
import { REGRESSION } from './ta/regression.ts'
import { SPREAD } from './ta/spread.ts'
import { TREND } from './ta/trend.ts'
import { VOLUME } from './ta/volume.ts'
import { VWAP } from './ta/vwap.ts'
import { TICKER } from './ticker.ts'
import { TIME } from './time.ts'
import { TIMEFRAME } from './timeframe.ts'

/** The lists of all library files; add a new file here. */
const ENTRIES: readonly (readonly BuiltinEntry[])[] = [
  LANGUAGE,
  BARS,
  MATH,
  MOVING_AVERAGES,
  EXTREMES,
  CHANGES,
  CROSSES,
  OSCILLATORS,
  BANDS,
  TREND,
  SPREAD,
  REGRESSION,
  RANKS,
  PIVOTS,
  PIVOT_LEVELS,
  VOLUME,
  STR,
  ARRAY,
  MATRIX,
  MAP,
  VWAP,
  BARSTATE,
  TIME,
  TIMEFRAME,
  SESSION,
  SYMINFO,
  TICKER,
  COLOR,
  CONSTANTS,
  STRATEGY,
  LOG,
  EVENTS,
  FOOTPRINT,
  DRAWINGS,
]

export const BUILTIN_FUNCTIONS: ReadonlyMap<string, BuiltinFunction> = byName('function')
export const BUILTIN_VARIABLES: ReadonlyMap<string, BuiltinVariable> = byName('variable')
export const BUILTIN_CONSTANTS: ReadonlyMap<string, BuiltinConstant> = byName('constant')

function byName<Kind extends BuiltinEntry['kind']>(
  kind: Kind,
): Map<string, Extract<BuiltinEntry, { kind: Kind }>> {
  const map = new Map<string, Extract<BuiltinEntry, { kind: Kind }>>()
  for (const entries of ENTRIES)
    for (const entry of entries) if (isKind(entry, kind)) map.set(entry.name, entry)
  return map
}

function isKind<Kind extends BuiltinEntry['kind']>(
  entry: BuiltinEntry,
  kind: Kind,
): entry is Extract<BuiltinEntry, { kind: Kind }> {
  return entry.kind === kind
}
