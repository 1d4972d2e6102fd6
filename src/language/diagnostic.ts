// What is wrong with a script, as data: each pass collects as many as it finds, and throws none.
//
// Offsets count UTF-16 units from the start of the source; `source.ts` turns them into lines and columns when
// somebody asks. What a diagnostic says is in the catalogue, `messages/`.

export type Severity = 'error' | 'warning'

export interface Diagnostic {
  readonly severity: Severity
  /** Stable name, kebab-case: `undeclared-name`. */
  readonly code: string
  readonly start: number
  readonly end: number
  readonly message: string
  readonly hint?: string
}
