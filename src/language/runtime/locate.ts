// Where in the script an error happened: the line of the generated text in the error's stack, looked up in the table
// that came with the text. Nothing is kept while the script runs, so this costs nothing until something goes wrong.

import { calledTooDeeply, outOfMemory } from '../messages/failing.ts'
import { ScriptError } from '../script-error.ts'

/** Stack traces of generated code carry this name. */
export const GENERATED_NAME = 'pine-script'

/** `new Function` puts `function anonymous(K` and `) {` on lines of their own before the body (ECMAScript, 20.2.1.1.1). */
const LINES_BEFORE = 2

export function located(error: unknown, offsets: Int32Array): unknown {
  const known = asScriptError(error)
  if (known instanceof ScriptError && known.offset < 0) known.offset = offsetOf(error, offsets)
  return known
}

function asScriptError(error: unknown): unknown {
  if (!(error instanceof RangeError)) return error
  const limit = /call stack/i.test(error.message) ? calledTooDeeply() : outOfMemory(error.message)
  limit.cause = error
  return limit
}

function offsetOf(error: unknown, offsets: Int32Array): number {
  const stack = error instanceof Error ? (error.stack ?? '') : ''
  // Deno writes `pine-script, <anonymous>:4:8`.
  const pattern = new RegExp(`${GENERATED_NAME}(?:, <anonymous>)?:(\\d+)`, 'g')
  for (const match of stack.matchAll(pattern)) {
    const offset = offsets[Number(match[1]) - 1 - LINES_BEFORE] ?? -1
    if (offset >= 0) return offset
  }
  return -1
}
