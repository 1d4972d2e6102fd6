// What is surely wrong in a script whose text is broken too.
//
// A line the parser could not read may have declared anything, so what it names is in doubt wherever it stands: an
// unknown name there, a function that takes too many arguments, a value of the wrong type. Everything else is told, so
// that one bracket too many does not hide the other mistakes, nor one missing comma make ten of them.

import type * as tree from '../1-parse/tree.ts'
import { BUILTIN_CONSTANTS, BUILTIN_FUNCTIONS, BUILTIN_VARIABLES } from '../builtins/table.ts'
import type { Diagnostic } from '../diagnostic.ts'
import { check } from './check.ts'
import type { CheckOptions } from './context.ts'

/** After these the parser cannot know where the statement was meant to end. */
const OPEN_ENDED: ReadonlySet<string> = new Set(['unclosed-bracket', 'unterminated-string'])

/** `mistakes`: what the parser found. */
export function checkBroken(
  script: tree.Script,
  text: string,
  mistakes: readonly Diagnostic[],
  options: CheckOptions = {},
): readonly Diagnostic[] {
  const errors = mistakes.filter((one) => one.severity === 'error')
  const doubtful = new Set<string>()
  const brokenLines = new Set<number>()
  for (const { code, start, end } of errors) {
    const from = lineStart(text, start)
    brokenLines.add(from)
    const until = OPEN_ENDED.has(code) ? text.length : lineEnd(text, Math.max(start, end))
    for (const name of ownNames(text.slice(from, until))) doubtful.add(name)
  }
  return check(script, options).diagnostics.filter(({ code, start, end }) => {
    if (code === 'no-declaration') return false
    const from = lineStart(text, start)
    if (brokenLines.has(from)) return false
    return !ownNames(text.slice(from, Math.max(end, start))).some((name) => doubtful.has(name))
  })
}

function lineStart(text: string, offset: number): number {
  return Math.max(text.lastIndexOf('\n', offset - 1), text.lastIndexOf('\r', offset - 1)) + 1
}

function lineEnd(text: string, offset: number): number {
  const end = text.slice(offset).search(/[\r\n]/)
  return end < 0 ? text.length : offset + end
}

/**
 * Names that are the script's own: no built-in, no name space, no argument's name, nothing after a dot, in a string or a
 * comment.
 */
function ownNames(text: string): readonly string[] {
  const code = text.replaceAll(/"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|\/\/.*/g, ' ')
  const names = code.match(/(?<![.\w])(?!(?<=[(,]\s*)\w+\s*=(?!=))[A-Za-z_]\w*/g) ?? []
  return names.filter((name) => !BUILTIN_NAMES.has(name) && !WORDS.has(name))
}

const WORDS: ReadonlySet<string> = new Set(
  'if else for to by in while once switch and or not true false var varip const simple series break continue'.split(
    ' ',
  ),
)

const BUILTIN_NAMES: ReadonlySet<string> = new Set(
  [...BUILTIN_FUNCTIONS.keys(), ...BUILTIN_VARIABLES.keys(), ...BUILTIN_CONSTANTS.keys()].map(
    (name) => name.split('.')[0] ?? name,
  ),
)
