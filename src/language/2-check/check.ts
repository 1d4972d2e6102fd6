// Phase 2 resolves names and types: it turns a tree into a program and a list of its mistakes.
//
//     const { program, diagnostics } = check(script, source)
//
// One walk over the text: each expression is resolved and typed as it is met (a Pine name is declared before it is used),
// each function again for every list of argument types. A mistake does not stop the check: an expression that makes no
// sense gets the type `error`, which fits everywhere, so that each mistake is reported once.

import type * as tree from '../1-parse/tree.ts'
import type { Diagnostic } from '../diagnostic.ts'
import { labelsOf } from '../runtime/inputs.ts'
import { BUILTIN_VARIABLES } from '../builtins/table.ts'
import type { PineVersion } from '../runtime/executable.ts'
import * as messages from '../messages/checking.ts'
import type { Message } from '../messages/message.ts'
import { expression } from './expressions.ts'
import { checkUncalled } from './functions.ts'
import { Check, atTop, newUnit, type CheckOptions } from './place.ts'
import type { Program } from './program.ts'
import { statement } from './statements.ts'
import type { Type } from './types.ts'
import { versionTable } from './version.ts'
import { collect, reportBrokenLibraries } from './top-level.ts'
import { isVersion1, withPasts, type WithPasts } from './first-versions.ts'

export interface CheckResult {
  /** null when there is an error among the diagnostics. */
  readonly program: Program | null
  readonly diagnostics: readonly Diagnostic[]
  /** Whether something is plotted, drawn or reported, which TradingView requires of every indicator. */
  readonly hasOutput: boolean
}

/** A script that does not name its version is one of v1. v1 to v3 are read as v4, but for what `Unit.written` decides. */
export function check(script: tree.Script, options: CheckOptions = {}): CheckResult {
  const { version } = script
  if (version === 4 || version === 5 || version === 6) return checkAs(script, version, options)
  const said = (message: Message): CheckResult => {
    const { start } = script
    return { program: null, diagnostics: [{ ...message, start, end: start }], hasOutput: true }
  }
  if (version !== null && (version < 1 || version > 6)) return said(messages.noSuchVersion(version))
  if (version === null && !isVersion1(script.statements)) return said(messages.noVersion())
  const retyped = new Map<string, Type>()
  for (let round = 1; ; round++) {
    const before = retyped.size
    const found = checkAs(script, 4, options, retyped)
    if (found.program !== null || retyped.size === before || round === ROUNDS_MAX) return found
  }
}

/** One type may depend on another that is found in the round before; in published scripts the second round was the last. */
const ROUNDS_MAX = 5

function checkAs(
  written: tree.Script,
  version: PineVersion,
  options: CheckOptions,
  retyped?: Map<string, Type>,
): CheckResult {
  const run = new Check({ expression, statement }, options, retyped)
  const { script, early }: WithPasts =
    (written.version ?? 1) < 3 ? withPasts(written, isBuiltIn) : { script: written, early: [] }
  const unit = newUnit(run, script, version, '', '')
  const here = atTop(run, unit)
  for (const { at, declared } of early)
    run.report(here, at, messages.declaredBelow(at.name, at.start > declared.start))
  if (early.length > 0) return { program: null, diagnostics: unit.diagnostics, hasOutput: true }
  collect(here, script.statements)
  for (const one of script.statements) statement(here, one)
  checkUncalled(here)
  const top = { start: script.start, end: script.start }
  const exported = script.statements.filter((one) => 'exported' in one && one.exported)
  if (run.declaration?.kind === 'library') {
    if (exported.length === 0) run.report(here, top, messages.nothingExported())
  } else if (run.declaration !== null) {
    for (const one of exported) run.report(here, one, messages.exportOutsideLibrary())
  }
  reportBrokenLibraries(run)
  if (run.declaration === null) run.report(here, top, messages.noDeclaration(version))
  const diagnostics = unit.diagnostics.toSorted((a, b) => a.start - b.start)
  const { declaration } = run
  if (declaration === null || diagnostics.some((one) => one.severity === 'error'))
    return { program: null, diagnostics, hasOutput: run.hasOutput }
  const labels = labelsOf(run.inputs)
  const program: Program = {
    version,
    declaration,
    inputs: run.inputs.map((input, i) => ({ ...input, label: labels[i]! })),
    udts: run.udts,
    enums: run.enums,
    functions: run.functions,
    body: { statements: [...run.prologue, ...here.out], result: null },
    plotTitles: run.plotTitles,
    siteCount: run.siteCount,
    variableCount: run.variableCount,
  }
  return { program, diagnostics, hasOutput: run.hasOutput }
}

function isBuiltIn(name: string): boolean {
  return BUILTIN_VARIABLES.has(name) || Object.hasOwn(versionTable(4).values, name)
}
