// What a script is however it is laid out: its tokens, line by line, each line with the depth of its block.
//
// Comments, blanks, blank lines, wrapped lines, the width of indentation, the quotes of texts, and the defaults of inputs do
// not belong to it. It works on tokens rather than on the tree, because names made of it are stored: tokens are the
// language's, while the tree is ours and changes.

import { stringValue, tokenize, type Token } from './1-parse/lexer.ts'

/** The same for two layouts of a script: `f( 1,2 ) // sum` is `f ( 1 , 2 )`. */
export function scriptTokens(source: string): string {
  const { tokens } = tokenize(source)
  const defaults = defaultsOf(tokens)
  const blocks: number[] = [0]
  let text = ''
  let closing = -1
  for (const [i, token] of tokens.entries()) {
    if (token.kind === 'end') break
    if (i > 0 && i > closing && beginsLine(tokens[i - 1]!, token))
      text += `\n${'>'.repeat(depthOf(token, blocks))}`
    closing = Math.max(closing, token.close)
    if (!defaults.has(i)) text += ` ${shown(token)}`
    else if (!defaults.has(i - 1)) text += ' _'
  }
  return text
}

const shown = ({ kind, text }: Token) => (kind === 'string' ? JSON.stringify(stringValue(text)) : text)

/** Behind and before these a line that is not indented by a multiple of four goes on, as the parser reads it. */
const GOES_ON = /^(?:or|and|not|==|!=|<=?|>=?|[-+*/%?:.,]|[-+*/%:]?=|[)\]])$/
const GOES_ON_BEHIND = /^(?:or|and|not|==|!=|<=?|>=?|[-+*/%?:.,]|[-+*/%:]?=|[([])$/

function beginsLine(before: Token, { indent, text }: Token): boolean {
  if (indent < 0) return false
  return indent % 4 === 0 || !(GOES_ON.test(text) || GOES_ON_BEHIND.test(before.text))
}

/** The depth of the block that the line is in; `blocks` are the indentations of those that are open. */
function depthOf({ indent }: Token, blocks: number[]): number {
  while (blocks.length > 1 && indent < blocks.at(-1)!) blocks.pop()
  if (indent > blocks.at(-1)!) blocks.push(indent)
  return blocks.length - 1
}

/** The places of tokens that are the default of an input, which may be two: `-` and a number. */
function defaultsOf(tokens: readonly Token[]): ReadonlySet<number> {
  const places = new Set<number>()
  const text = (at: number) => tokens[at]?.text
  for (let at = 0; at < tokens.length; at++) {
    if (text(at) !== 'input' || text(at - 1) === '.') continue
    const opening = text(at + 1) === '.' ? at + 3 : at + 1
    const close = tokens[opening]?.close ?? -1
    if (text(opening) !== '(' || close < 0) continue
    const argument = argumentAt(tokens, opening, close)
    const length = text(argument) === '-' || text(argument) === '+' ? 2 : 1
    const isLiteral =
      LITERAL.has(tokens[argument + length - 1]!.kind) || /^(?:true|false)$/.test(text(argument)!)
    if (!isLiteral || !/^[,)]$/.test(text(argument + length)!)) continue
    for (let i = 0; i < length; i++) places.add(argument + i)
  }
  return places
}

const LITERAL: ReadonlySet<Token['kind']> = new Set(['number', 'string', 'color'])

/** Where `defval` is given by name, wherever it stands; else the first argument. */
function argumentAt(tokens: readonly Token[], opening: number, close: number): number {
  for (let at = opening + 1; at < close; at = Math.max(at + 1, tokens[at]!.close))
    if (tokens[at]!.text === 'defval' && tokens[at + 1]!.text === '=') return at + 2
  return opening + 1
}
