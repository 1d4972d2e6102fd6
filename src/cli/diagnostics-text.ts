// Diagnostics as compilers show them: place, message, the line with the spot marked, and the hint.

import type { Diagnostic } from '../wire/script.ts'
import { Problem } from '../lib/problem.ts'

export function diagnosticLines(file: string, source: string, diagnostics: readonly Diagnostic[]): string[] {
  const lines = source.split(/\r\n|\r|\n/)
  return diagnostics.flatMap((diagnostic) => {
    const { line, column, endLine, endColumn, severity, message, code, hint } = diagnostic
    const text = lines[line - 1]
    const end = endLine === line ? endColumn : (text?.length ?? 0) + 1
    const number = String(line)
    // Tabs stay tabs, so that the mark stands below what it means.
    const before = (text ?? '').slice(0, column - 1).replace(/[^\t]/g, ' ')
    const shown =
      text === undefined
        ? []
        : [
            ` ${number} | ${text}`,
            ` ${' '.repeat(number.length)} | ${before}${'^'.repeat(Math.max(1, end - column))}`,
          ]
    return [
      `${file}:${line}:${column}: ${severity}: ${message} [${code}]`,
      ...shown,
      ...(hint ? [` ${' '.repeat(number.length)} = ${hint}`] : []),
    ]
  })
}

/** The diagnostics a Problem carries; none where it is another kind. */
export function diagnosticsOf(error: unknown): readonly Diagnostic[] {
  return error instanceof Problem ? ((error.details.diagnostics ?? []) as readonly Diagnostic[]) : []
}
