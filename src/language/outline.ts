// What a script tells about itself without being compiled: version, kind, title, imports, whether it needs the bar
// magnifier, and which other series it will request.
//
//     const { imports, magnifier, series } = outline(source, { symbol, interval, inputs })
//
// One parse and one walk over the tree tell what a run will need, so that it can be loaded before the run starts. Nothing else
// looks for these in the text: a regular expression would find them in comments and strings, and took a minute over a
// megabyte of empty lines.

import { parse } from './1-parse/parser.ts'
import type * as tree from './1-parse/tree.ts'
import type { ScriptKind } from './2-check/program.ts'
import type { PineVersion } from './runtime/executable.ts'
import { type Chart, type NamedSeries, seriesAsked } from './series-asked.ts'
import { argumentValue, dotted, statementsBelow } from './tree-walk.ts'

interface ImportPath {
  readonly user: string
  readonly library: string
  readonly version: number
}

export interface Outline {
  /** As it is read: v1 to v3 as v4, and as v1 without a version line; null where there is no such version. */
  readonly version: PineVersion | null
  /** null without a declaration. */
  readonly kind: ScriptKind | null
  /** '' where the declaration names none in plain text. */
  readonly title: string
  /** Each once, in the order of the text. */
  readonly imports: readonly ImportPath[]
  /** The declaration may switch the bar magnifier on; an override of `use_bar_magnifier` has the last word. */
  readonly magnifier: boolean
  /** Series that request.* and the currency are likely to read, without those made of the chart's own bars; [] without a chart. */
  readonly series: readonly NamedSeries[]
}

const KINDS: ReadonlyMap<string, ScriptKind> = new Map([
  ['strategy', 'strategy'],
  ['indicator', 'indicator'],
  ['study', 'indicator'],
  ['library', 'library'],
])

/**
 * Never throws; for a text that is not a script, it answers as much as can be found. `chart` is what the script will run
 * on. A series in the answer may not be cached, and a series whose name is computed from bar to bar is missing: the run
 * requests that one itself.
 */
export function outline(source: string, chart: Chart | null = null): Outline {
  const { script } = parse(source)
  const { statements } = script
  const declaration = declarationOf(statements)
  const titleValue = declaration === null ? null : argumentValue(declaration.call, 0, 'title')
  return {
    version: versionOf(script),
    kind: declaration?.kind ?? null,
    title: titleValue?.kind === 'String' ? titleValue.value : '',
    imports: importsOf(statements),
    magnifier: declaration !== null && wantsMagnifier(declaration.call),
    series: chart === null ? [] : seriesAsked(script, declaration?.call ?? null, chart),
  }
}

function versionOf({ version }: tree.Script): PineVersion | null {
  if (version === 5 || version === 6) return version
  return version === null || (version > 0 && version < 5) ? 4 : null
}

function declarationOf(
  statements: readonly tree.Statement[],
): { readonly kind: ScriptKind; readonly call: tree.Call } | null {
  for (const one of statementsBelow(statements)) {
    if (one.kind !== 'ExpressionStatement' || one.expression.kind !== 'Call') continue
    const call = one.expression
    const kind = KINDS.get(dotted(call.callee) ?? '')
    if (kind !== undefined) return { kind, call }
  }
  return null
}

function importsOf(statements: readonly tree.Statement[]): ImportPath[] {
  const found = new Map<string, ImportPath>()
  for (const one of statements) {
    if (one.kind !== 'Import') continue
    const { user, library, version } = one
    found.set(`${user}/${library}/${version}`, { user, library, version })
  }
  return [...found.values()]
}

function wantsMagnifier(call: tree.Call): boolean {
  const given = call.arguments.find((one) => one.name?.name === 'use_bar_magnifier')?.value
  return given !== undefined && !(given.kind === 'Bool' && !given.value)
}
