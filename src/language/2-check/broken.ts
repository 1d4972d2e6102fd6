// Finds mistakes in a script whose text is broken as well, if they are certain.
//
// A line that the parser could not read may have declared anything, so every use of its names is in doubt: an unknown name,
// a function with too many arguments, a value of the wrong type. All other mistakes are reported, so that an extra bracket
// does not hide them, and a missing comma does not cause ten of them.

import { tokenize, type Token } from '../1-parse/lexer.ts'
import type * as tree from '../1-parse/tree.ts'
import { BUILTIN_CONSTANTS, BUILTIN_FUNCTIONS, BUILTIN_VARIABLES } from '../builtins/table.ts'
import type { Diagnostic } from '../diagnostic.ts'
import type { Range } from '../source.ts'
import { check } from './check.ts'
import type { CheckOptions } from './place.ts'

/** After these the parser cannot know where the statement was meant to end. */
const OPEN_ENDED: ReadonlySet<string> = new Set(['unclosed-bracket', 'unterminated-string'])

/** `mistakes` are those of the parser. */
export function checkBroken(
  script: tree.Script,
  text: string,
  mistakes: readonly Diagnostic[],
  options: CheckOptions = {},
): readonly Diagnostic[] {
  const names = ownNames(text)
  const lineAt = lineFinder(text)
  const brokenLines = new Set<number>()
  const doubtful = new Set<string>()
  // In the order of the text, so that no name is looked at twice.
  let next = 0
  for (const { severity, code, start, end } of mistakes) {
    if (severity !== 'error') continue
    const from = lineAt(start).start
    brokenLines.add(from)
    const until = OPEN_ENDED.has(code) ? text.length : lineAt(Math.max(start, end)).end
    for (next = Math.max(next, firstFrom(names, from)); next < names.length; next++) {
      const one = names[next]
      if (one === undefined || one.start >= until) break
      doubtful.add(one.text)
    }
  }
  const doubts = names.filter((one) => doubtful.has(one.text))
  return check(script, options).diagnostics.filter(({ code, start, end }) => {
    if (code === 'no-declaration') return false
    const from = lineAt(start).start
    if (brokenLines.has(from)) return false
    const doubt = doubts[firstFrom(doubts, from)]
    return doubt === undefined || doubt.start >= Math.max(end, start)
  })
}

/** Where the line that an offset is in starts and ends. */
function lineFinder(text: string): (offset: number) => Range {
  const starts = [0]
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === 10 || code === 13) starts.push(i + 1)
  }
  return (offset) => {
    let low = 0
    let high = starts.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if ((starts[middle] ?? 0) <= offset) low = middle
      else high = middle - 1
    }
    return { start: starts[low] ?? 0, end: (starts[low + 1] ?? text.length + 1) - 1 }
  }
}

/** The index of the first token that starts at or after `offset`. */
function firstFrom(tokens: readonly Token[], offset: number): number {
  let low = 0
  let high = tokens.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((tokens[middle]?.start ?? 0) < offset) low = middle + 1
    else high = middle
  }
  return low
}

/** The script's own names: not those of built-ins, name spaces or arguments, and nothing after a dot. */
function ownNames(text: string): readonly Token[] {
  const { tokens } = tokenize(text)
  return tokens.filter(({ kind, text: name }, i) => {
    if (kind !== 'name' || BUILTIN_NAMES.has(name) || WORDS.has(name)) return false
    const before = tokens[i - 1]?.text
    if (before === '.') return false
    return !((before === '(' || before === ',') && tokens[i + 1]?.text === '=')
  })
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
