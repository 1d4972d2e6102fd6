// How all messages of the compiler and the runtime are made. The catalogue is this folder, with a file for each stage.
//
// A message is a plain sentence that names the thing: what was expected and what was found. Its hint is also a sentence,
// and says what to write instead. A code is for programs and never changes. `tests/language/messages.test.ts` checks all of
// this.

import type { Severity } from '../diagnostic.ts'

export interface Message {
  readonly severity: Severity
  /** Stable name, kebab-case. */
  readonly code: string
  readonly message: string
  readonly hint?: string
}

/** A mistake that keeps a script from running. */
export function error(code: string, message: string, hint?: string | null): Message {
  return { severity: 'error', code, message, ...(hint ? { hint } : {}) }
}

/** Something that runs, but hardly as it was meant. */
export function warning(code: string, message: string, hint?: string | null): Message {
  return { severity: 'warning', code, message, ...(hint ? { hint } : {}) }
}

/** Something that runs here but not on TradingView, so that a script can go back. `why` is a sentence. */
export function notOnTradingView(why: string, hint?: string | null): Message {
  return warning('not-on-tradingview', `TradingView refuses this. ${why}`, hint)
}

/** A warning of a run besides its results. The report shows it once, however many times it occurred. */
export interface RunWarning {
  readonly code: string
  readonly message: string
}
