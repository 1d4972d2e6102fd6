// Prints diagnostics as compilers do: the place, the message, the line with the spot marked, and the hint.

import type { Sweep } from '../work/sweeps/sweeps.ts'
import type { Diagnostic } from '../wire/script.ts'
import { Problem } from '../lib/problem.ts'
import type { CommandContext } from './command.ts'
import { PLAIN, type Ink } from './ink.ts'

export function diagnosticLines(
  file: string,
  source: string,
  diagnostics: readonly Diagnostic[],
  ink: Ink = PLAIN,
): string[] {
  const lines = source.split(/\r\n|\r|\n/)
  return diagnostics.flatMap((diagnostic) => {
    const { line, column, endLine, endColumn, severity, message, code, hint } = diagnostic
    const text = lines[line - 1]
    const end = endLine === line ? endColumn : (text?.length ?? 0) + 1
    const number = String(line)
    const loud = severity === 'error' ? ink.bad : ink.warning
    // Tabs stay tabs, so that the mark is below its place.
    const before = (text ?? '').slice(0, column - 1).replace(/[^\t]/g, ' ')
    const shown =
      text === undefined
        ? []
        : [
            `${ink.faint(` ${number} |`)} ${text}`,
            `${ink.faint(` ${' '.repeat(number.length)} |`)} ${before}${loud('^'.repeat(Math.max(1, end - column)))}`,
          ]
    return [
      `${ink.strong(`${file}:${line}:${column}:`)} ${loud(`${severity}:`)} ${message} ${ink.faint(`[${code}]`)}`,
      ...shown,
      ...(hint ? [` ${' '.repeat(number.length)} = ${hint}`] : []),
    ]
  })
}

/** The diagnostics of a Problem; none for other errors. */
export function diagnosticsOf(error: unknown): readonly Diagnostic[] {
  return error instanceof Problem ? ((error.details.diagnostics ?? []) as readonly Diagnostic[]) : []
}

/** The Problem behind a script's failure, after printing its diagnostics with their lines of the script. */
export function scriptProblem(
  { name, source }: { readonly name: string; readonly source: string },
  { code, message, diagnostics = [] }: NonNullable<Sweep['error']>,
  { warn, warningInk }: Pick<CommandContext, 'warn' | 'warningInk'>,
): Problem {
  const kind = code === 'script_invalid' ? 'script_invalid' : 'script_runtime_error'
  const problem = new Problem(422, kind, message, { diagnostics })
  for (const line of diagnosticLines(name, source, diagnosticsOf(problem), warningInk)) warn(line)
  return problem
}
