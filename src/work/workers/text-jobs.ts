// Checks and formats a script's text, as an editor needs it while the user types.

import { assertCommission } from '../../broker/asked-commission.ts'
import { wireDiagnostic } from '../../broker/run.ts'
import { compile, inputViews, unknownInputOf } from '../../language/compile.ts'
import { format } from '../../language/format.ts'
import { Source } from '../../language/source.ts'
import type { AskedCheck, AskedJob, CheckOutput, TextJob } from './job.ts'
import { librariesOf } from './libraries.ts'
import type { Desk } from './desk.ts'

export async function checkJob({ source }: TextJob, { host }: Desk): Promise<CheckOutput> {
  const { script, diagnostics } = await compiled(source, host)
  const text = new Source(source)
  const declared = script?.program.declaration
  const plots = [...new Set(script?.program.plotTitles)].filter((title) => title !== '')
  return {
    kind: script?.program.declaration.kind ?? 'draft',
    pineVersion: script?.program.version ?? null,
    inputs: JSON.stringify(script ? inputViews(script.program) : []),
    plots: JSON.stringify(plots),
    declaration: JSON.stringify(declared?.kind === 'strategy' ? declared.args : null),
    given: JSON.stringify(declared?.kind === 'strategy' ? declared.given : []),
    diagnostics: JSON.stringify(diagnostics.map((diagnostic) => wireDiagnostic(diagnostic, text))),
  }
}

/** Throws Problem 422 for a commission that no new run takes. Answers null of a script that does not compile. */
export async function checkAskedJob(
  { source, names, overrides, varied }: AskedJob,
  { host }: Desk,
): Promise<AskedCheck | null> {
  const { script } = await compiled(source, host)
  if (!script) return null
  assertCommission(overrides, script.program.declaration.args, varied)
  const unknown = unknownInputOf(script.program, names)
  return { unknown: unknown && { input: unknown.input, message: unknown.message } }
}

async function compiled(source: string, host: Desk['host']) {
  const libraries = await librariesOf(source, host)
  return compile(source, {
    library: (user, library, version) => libraries.get(`${user}/${library}/${version}`) ?? null,
  })
}

export function formatJob({ source }: TextJob): string {
  return format(source)
}
