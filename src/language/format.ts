// The formatter of the editor: spacing made uniform, lines left where they are.
//
// It works on tokens, not on the tree, so that a script that does not parse can be formatted as well. Only white
// space between tokens changes; what a line break means depends on indentation, so indentation is kept, with tabs
// written as the four spaces they stand for. Formatting twice changes nothing more.

import { tokenize, type Comment, type Token } from './1-parse/lexer.ts'

/** `format('x=f( a,b )  ')` is `'x = f(a, b)\n'`. */
export function format(source: string): string {
  const { tokens, comments } = tokenize(source)
  const tight = new Set([...genericBrackets(tokens), ...importPaths(tokens)])
  let out = ''
  let end = 0
  let previous: Token | null = null
  let beforePrevious: Token | null = null
  let wasUnary = false
  for (const piece of inOrder(tokens, comments)) {
    const gap = source.slice(end, piece.start)
    const token = 'kind' in piece ? piece : null
    if (token?.kind === 'end') {
      // The remainder may be characters that are not tokens.
      out += gap.trim() === '' ? '' : gap.trimEnd()
      break
    }
    if (/[^\s\u200b-\u200f\u2060\ufeff\u00ad]/.test(gap)) out += gap
    else if (end === 0 || /[\r\n]/.test(gap)) out += newLines(gap, end === 0)
    else if (!token) out += ' '.repeat(Math.max(1, gap.length))
    else out += previous && spaced(previous, token, { tight, wasUnary, beforePrevious, gap }) ? ' ' : ''
    out += source.slice(piece.start, piece.end).trimEnd()
    end = piece.end
    if (!token) continue
    wasUnary = isUnary(previous, token)
    beforePrevious = previous
    previous = token
  }
  return out === '' ? '' : `${out}\n`
}

interface Surroundings {
  /** Tokens that look like operators but are not. */
  readonly tight: ReadonlySet<Token>
  readonly wasUnary: boolean
  readonly beforePrevious: Token | null
  readonly gap: string
}

/** Words after which a bracket or a sign starts something new, as after an operator. */
const WORDS: ReadonlySet<string> = new Set(
  'if else for while once switch to by in and or not return var varip as'.split(' '),
)
const OPENING: ReadonlySet<string> = new Set(['(', '['])
const CLOSING: ReadonlySet<string> = new Set([')', ']', ','])

/** Whether two tokens of a line are separated by a space. They are if joining them could make another token. */
function spaced(left: Token, right: Token, around: Surroundings): boolean {
  const { tight, wasUnary, beforePrevious, gap } = around
  if (CLOSING.has(right.text) || OPENING.has(left.text)) return false
  if (left.text === '.' || right.text === '.') {
    const byNumber = [beforePrevious, left, right].some((token) => token?.kind === 'number')
    return byNumber && gap !== ''
  }
  if (tight.has(right)) return false
  if (tight.has(left)) return left.text === '>' && !OPENING.has(right.text)
  if (wasUnary) return right.kind === 'operator' && !OPENING.has(right.text)
  if (OPENING.has(right.text)) return !endsOperand(left)
  return true
}

/** Whether what follows the token continues its operand: `f(`, `x[`, `)[`, but not `if (`. */
function endsOperand({ kind, text }: Token): boolean {
  if (kind === 'operator') return text === ')' || text === ']'
  return kind !== 'name' || !WORDS.has(text)
}

function isUnary(previous: Token | null, { text }: Token): boolean {
  if (text === '!') return true
  return (text === '-' || text === '+') && (previous === null || !endsOperand(previous))
}

/** `<` and `>` that enclose types rather than compare: `array<float>`, `map.new<string, lib.Trade>`. */
function genericBrackets(tokens: readonly Token[]): ReadonlySet<Token> {
  const found = new Set<Token>()
  tokens.forEach((token, index) => {
    if (token.text !== '<' || !TAKES_TYPES.has(tokens[index - 1]?.text ?? '')) return
    for (const bracket of typeBrackets(tokens.slice(index, index + TYPE_TOKENS_MAX))) found.add(bracket)
  })
  return found
}

const TAKES_TYPES: ReadonlySet<string> = new Set(['array', 'matrix', 'map', 'new'])
/** Types are short: the bound keeps a script of nothing but `array<` linear. */
const TYPE_TOKENS_MAX = 40

/** The brackets from the first token, `<`, to the one that closes it; none if these are not types. */
function typeBrackets(tokens: readonly Token[]): readonly Token[] {
  const brackets: Token[] = []
  let depth = 0
  let previous = ''
  for (const token of tokens) {
    const { kind, text } = token
    if (text === '<' || text === '>') {
      // Joined, they would be the operator `<>`.
      if (previous === '<') return []
      brackets.push(token)
      depth += text === '<' ? 1 : -1
      if (depth === 0) return brackets
    } else if (kind !== 'name' && !/^[.,[\]]$/.test(text)) return []
    previous = text
  }
  return []
}

/** The slashes of `import user/library/1`. */
function* importPaths(tokens: readonly Token[]): Generator<Token> {
  let inImport = false
  for (const [index, token] of tokens.entries()) {
    if (token.indent >= 0) inImport = token.text === 'import' && tokens[index + 1]?.kind === 'name'
    // Two slashes in a row would become a comment.
    const beside = [tokens[index - 1], tokens[index + 1]].every((other) => other?.kind !== 'operator')
    if (inImport && beside && (token.text === '/' || token.text === '-')) yield token
  }
}

/** The breaks of a gap, and the indentation of the line it leads to, a tab being four spaces. */
function newLines(gap: string, first: boolean): string {
  const lines = gap.split(/\r\n|\r|\n/)
  const indent = (lines.at(-1) ?? '').replace(/\t/g, '    ').replace(/[\u200b-\u200f\u2060\ufeff\u00ad]/g, '')
  return '\n'.repeat(first && lines.length === 1 ? 0 : lines.length - 1) + ' '.repeat(indent.length)
}

function* inOrder(tokens: readonly Token[], comments: readonly Comment[]): Generator<Token | Comment> {
  let next = 0
  for (const token of tokens) {
    for (let comment = comments[next]; comment && comment.start < token.start; comment = comments[++next]) {
      yield comment
    }
    yield token
  }
}
