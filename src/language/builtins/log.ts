// log.* and runtime.error(): messages of the script.

import { formatMessage } from '../runtime/message-format.ts'
import { ScriptError } from '../script-error.ts'
import type { Runtime } from '../runtime/runtime.ts'
import { valueText } from '../runtime/value-text.ts'
import { fn } from './define.ts'
import type { BuiltinEntry } from './registry.ts'
import { limited } from './str.ts'

export const LOG: readonly BuiltinEntry[] = [
  ...(['error', 'info', 'warning'] as const).map((level) =>
    fn(
      `log.${level}`,
      'Writes to the log: a message, or a format string and its arguments as in str.format().',
      ['(string message) void', '(string formatString, any ...args) void'],
      {
        fn: (runtime: Runtime, text: string | null, ...args: unknown[]) =>
          runtime.log(
            level,
            limited(
              runtime,
              text === null || args.length === 0 ? valueText(text) : formatMessage(text, args),
            ),
          ),
        runtime: true,
      },
    ),
  ),
  fn('runtime.error', 'Ends the run with a message.', '(string message) void', {
    fn: (message: string | null) => {
      throw new ScriptError(valueText(message))
    },
  }),
]
