// How everything that the compiler and a run say is made. The catalogue is this folder, a file a stage.
//
// A message is a plain sentence that names the thing: what was expected and what was found. Its hint is a sentence too, and
// says what to write instead. A code is for programs and never changes. `tests/pine/messages.test.ts` holds all of this.

import type { Severity } from '../diagnostic.ts'

export interface Message {
  readonly severity: Severity
  /** Stable name, kebab-case. */
  readonly code: string
  readonly message: string
  readonly hint?: string
}

/** What keeps a script from running. */
export function error(code: string, message: string, hint?: string | null): Message {
  return { severity: 'error', code, message, ...(hint ? { hint } : {}) }
}

/** What runs, but hardly as it was meant. */
export function warning(code: string, message: string, hint?: string | null): Message {
  return { severity: 'warning', code, message, ...(hint ? { hint } : {}) }
}

/** What runs here but not there, so that a script can go back. `why` is a sentence. */
export function notOnTradingView(why: string, hint?: string | null): Message {
  return warning('not-on-tradingview', `TradingView refuses this. ${why}`, hint)
}

/** What a run says besides its results. The report shows it once, however often it was said. */
export interface RunWarning {
  readonly code: string
  readonly message: string
}
