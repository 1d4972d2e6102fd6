// Colours Pine line by line.
//
// The compiler's lexer reads a whole text; an editor wants to start at any line. So this is the same grammar as a
// stream parser: the only things that cross a line are block comments and triple-quoted strings.

import { indentService, StreamLanguage, type StringStream } from '@codemirror/language'
import { Tag, tags } from '@lezer/highlight'

interface State {
  /** What is still open at the end of a line: a block comment, a triple-quoted string, or nothing. */
  inside: '' | '*/' | '"""' | "'''"
}

const KEYWORDS: ReadonlySet<string> = new Set(
  'if else for while once switch to by in import as export method type enum var varip and or not break continue return const simple series'.split(
    ' ',
  ),
)
const ATOMS: ReadonlySet<string> = new Set(['true', 'false', 'na'])
const TYPES: ReadonlySet<string> = new Set(
  'int float bool string color line label box table linefill polyline array matrix map chart.point footprint volume_row'.split(
    ' ',
  ),
)
/** Variables that every script has, which get a colour of their own because readers look for them. */
const SERIES: ReadonlySet<string> = new Set(
  'open high low close volume time time_close hl2 hlc3 ohlc4 hlcc4 bar_index last_bar_index last_bar_time timenow n'.split(
    ' ',
  ),
)

/** The styles are names that `StreamLanguage` knows; null = plain. */
export function token(stream: StringStream, state: State): string | null {
  if (state.inside !== '') {
    const style = state.inside === '*/' ? 'comment' : 'string'
    if (skipPast(stream, state.inside)) state.inside = ''
    return style
  }
  if (stream.eatSpace()) return null
  if (stream.match(/^\/\/\s*@\w+.*/)) return 'meta'
  if (stream.match(/^\/\/.*/)) return 'comment'
  if (stream.match('/*')) {
    if (!skipPast(stream, '*/')) state.inside = '*/'
    return 'comment'
  }
  for (const quotes of ['"""', "'''"] as const)
    if (stream.match(quotes)) {
      if (!skipPast(stream, quotes)) state.inside = quotes
      return 'string'
    }
  if (stream.match(/^"(?:[^"\\]|\\.)*"?/) || stream.match(/^'(?:[^'\\]|\\.)*'?/)) return 'string'
  if (stream.match(/^#[0-9a-fA-F]{6}(?:[0-9a-fA-F]{2})?\b/)) return 'color'
  if (stream.match(/^(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?/)) return 'number'
  const name = stream.match(/^[A-Za-z_]\w*/) as RegExpMatchArray | null
  if (name) return ofName(name[0], stream)
  if (stream.match(/^(?::=|=>|==|!=|<=|>=|[-+*/%]=|[-+*/%<>=?:])/)) return 'operator'
  stream.next()
  return null
}

function ofName(word: string, stream: StringStream): string {
  const before = stream.string.slice(0, stream.start)
  const member = /\.\s*$/.test(before) && !/\d\.\s*$/.test(before)
  if (stream.match(/^\s*\(/, false) || (stream.match(/^<[\w.<>, ]*>\s*\(/, false) && word !== 'if'))
    return !member && KEYWORDS.has(word) ? 'keyword' : 'function'
  if (member) return 'property'
  if (KEYWORDS.has(word)) return 'keyword'
  if (ATOMS.has(word)) return 'atom'
  if (stream.match(/^\./, false)) return 'namespace'
  if (TYPES.has(word) && stream.match(/^(?:\[\]|<|\s+[A-Za-z_])/, false)) return 'typeName'
  if (SERIES.has(word)) return 'series'
  return 'variableName'
}

function skipPast(stream: StringStream, end: string): boolean {
  if (stream.skipTo(end)) {
    stream.match(end)
    return true
  }
  stream.skipToEnd()
  return false
}

export const seriesTag = Tag.define(tags.variableName)

export const pine = StreamLanguage.define<State>({
  name: 'pine',
  startState: () => ({ inside: '' }),
  copyState: ({ inside }) => ({ inside }),
  token,
  languageData: {
    commentTokens: { line: '//' },
    closeBrackets: { brackets: ['(', '[', '{', '"', "'"] },
  },
  tokenTable: {
    function: tags.function(tags.variableName),
    property: tags.propertyName,
    namespace: tags.namespace,
    typeName: tags.typeName,
    series: seriesTag,
    color: tags.color,
    meta: tags.meta,
  },
})

/** A line that opens a block (if …, for …, =>) is followed by one four spaces deeper. */
export const pineIndent = indentService.of((context, pos) => {
  const { text } = context.lineAt(pos, -1)
  const opens = /^\s*(?:if|else|for|while|once|switch|type|enum)\b/.test(text) || /=>\s*$/.test(text)
  return context.lineIndent(pos, -1) + (opens ? 4 : 0)
})
