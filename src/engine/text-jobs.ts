// Checks and formats a script's text, as an editor needs it while the user types.

import { wireDiagnostic } from '../backtest/run.ts'
import { compile, inputViews } from '../pine/compile.ts'
import { format } from '../pine/format.ts'
import { Source } from '../pine/source.ts'
import type { CheckOutput, TextJob } from './job.ts'
import { librariesOf } from './libraries.ts'
import type { Desk } from './worker-loop.ts'

export async function checkJob({ source }: TextJob, { host }: Desk): Promise<CheckOutput> {
  const libraries = await librariesOf(source, host)
  const { script, diagnostics } = compile(source, {
    library: (user, library, version) => libraries.get(`${user}/${library}/${version}`) ?? null,
  })
  const text = new Source(source)
  const declared = script?.program.declaration
  const plots = [...new Set(script?.program.plotTitles)].filter((title) => title !== '')
  return {
    kind: script?.program.declaration.kind ?? 'draft',
    pineVersion: script?.program.version ?? null,
    inputs: JSON.stringify(script ? inputViews(script.program) : []),
    plots: JSON.stringify(plots),
    declaration: JSON.stringify(declared?.kind === 'strategy' ? declared.args : null),
    diagnostics: JSON.stringify(diagnostics.map((diagnostic) => wireDiagnostic(diagnostic, text))),
  }
}

export function formatJob({ source }: TextJob): string {
  return format(source)
}
