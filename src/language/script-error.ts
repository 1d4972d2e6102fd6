// What ends a run: a mistake of the script that only shows when it runs, or a limit that it goes beyond. What it says is in the
// catalogue, `messages/failing.ts`. Where in the script it happened is found from the stack of the generated code, so a place
// costs nothing until something fails.

export class ScriptError extends Error {
  readonly code: 'script_runtime_error' | 'script_limit_exceeded'
  /** The offset in the source, like a diagnostic's `start`; -1 until the run has found it. */
  offset = -1
  constructor(message: string, code: ScriptError['code'] = 'script_runtime_error') {
    super(message)
    this.name = 'ScriptError'
    this.code = code
  }
}
