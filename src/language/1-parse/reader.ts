// Reads tokens: where lines end, which brackets are open, how deep a tree is, and what is done about mistakes.

import type { Diagnostic } from '../diagnostic.ts'
import type { Message } from '../messages/message.ts'
import * as messages from '../messages/parsing.ts'
import type { Token } from './lexer.ts'
import type { Expression, Name } from './tree.ts'
import { isInfix, RESERVED } from './words.ts'

const MAX_DEPTH = 500
/** Left operands nest without recursion here (`a + b + c …`), but not in the phases that walk the tree. */
const MAX_HEIGHT = 1500

export class Reader {
  protected readonly source: string
  protected readonly tokens: readonly Token[]
  protected readonly version: number
  readonly diagnostics: Diagnostic[] = []
  protected index = 0
  protected token: Token
  /** Index of the statement's first token: being first on a line does not end the statement it starts. */
  protected first = 0
  /** Indentation of the block the statement stands in. */
  protected indent = 0
  /** Indentation of a block that is not a multiple of four (an error, but read as it was meant), -1 outside. */
  protected looseIndent = -1
  /** The brackets open here, outermost first. */
  protected readonly open: Token[] = []
  protected failed = false
  protected failedAt = 0
  /** Index of the token that reading went on with after an error. */
  protected recoveredAt = -1
  /** Index of the token that closes what was open when the statement failed: its lines are skipped. */
  protected failedUntil = -1
  protected depth = 0
  /** Height of the expression read last. */
  protected height = 0

  constructor(source: string, tokens: readonly Token[], version: number | null) {
    this.source = source
    this.version = version ?? 1
    this.tokens = tokens
    this.token = this.tokenAt(0)
  }

  protected name(what: string): Name {
    const { kind, text, start, end } = this.token
    if (kind === 'name' && !RESERVED.has(text) && !this.atLineEnd()) {
      this.advance()
      return { kind: 'Name', start, end, name: text }
    }
    this.fail(messages.expectedName(what, this.found()))
    const at = this.previousEnd()
    return { kind: 'Name', start: at, end: at, name: '' }
  }

  /** Enters `(` or `[`: until it is shut, line ends mean nothing. */
  protected enterBracket(): void {
    this.open.push(this.token)
    this.advance()
  }

  protected leaveBracket(): void {
    const bracket = this.open.at(-1)
    const closing = bracket?.text === '[' ? ']' : ')'
    if (bracket && !this.at(closing)) {
      if (bracket.close >= 0) this.fail(messages.missingComma(closing, this.found()))
      else this.fail(messages.unclosedBracket(bracket.text, closing), bracket.start, bracket.end)
    }
    this.open.pop()
    if (!this.failed) this.advance()
  }

  protected enter(): boolean {
    return ++this.depth <= MAX_DEPTH
  }

  protected leave(): void {
    this.depth--
  }

  protected tooDeep(): Expression {
    this.leave()
    this.fail(messages.tooDeep())
    return this.error(this.previousEnd()).expression
  }

  /** Notes that the expression read last has become a child, beside others of `height`. */
  protected grow(height: number): void {
    this.height = Math.max(this.height, height) + 1
    if (this.height > MAX_HEIGHT) this.fail(messages.tooDeep())
  }

  protected tokenAt(index: number): Token {
    // There is always a last token, `end`.
    return (this.tokens[index] ?? this.tokens[this.tokens.length - 1]) as Token
  }

  protected peek(ahead: number): Token {
    return this.tokenAt(this.index + ahead)
  }

  /** The token after a closing bracket; `end` when there is none. */
  protected peekAfter(close: number): Token {
    return this.tokenAt(close < 0 ? this.tokens.length : close + 1)
  }

  protected advance(): void {
    if (this.token.kind !== 'end') this.token = this.tokenAt(++this.index)
  }

  /** The end of what was read so far. */
  protected previousEnd(): number {
    return this.failed ? this.failedAt : (this.tokens[this.index - 1]?.end ?? 0)
  }

  protected at(text: string): boolean {
    return this.token.text === text && !this.atLineEnd()
  }

  protected sameLine(): boolean {
    return this.token.indent < 0
  }

  protected take(text: string): boolean {
    if (!this.at(text)) return false
    this.advance()
    return true
  }

  protected expect(text: string, after: string): boolean {
    if (this.take(text)) return true
    this.fail(messages.expectedToken(text, after, this.found()))
    return false
  }

  protected atLineEnd(): boolean {
    const { indent, kind } = this.token
    if (this.failed || kind === 'end') return true
    if (indent < 0 || this.open.length > 0 || this.index === this.first) return false
    return this.breaksLine(this.index)
  }

  /** Whether a token starts a new line rather than continue the one before. */
  protected breaksLine(index: number): boolean {
    const { indent } = this.tokenAt(index)
    if (indent < 0) return false
    if (indent % 4 === 0) return true
    // In a block of two spaces only an operator tells that a line goes on.
    return indent <= this.looseIndent && !isInfix(this.tokenAt(index)) && !isInfix(this.tokenAt(index - 1))
  }

  protected endsLine(ahead: number): boolean {
    return this.peek(ahead).kind === 'end' || this.breaksLine(this.index + ahead)
  }

  /** Goes to the next line that can be a statement's first. */
  protected recover(): void {
    if (!this.failed) return
    while (this.token.kind !== 'end') {
      const { indent, close } = this.token
      const next = this.index > this.first && this.breaksLine(this.index)
      if (next && (indent <= this.indent || this.index > this.failedUntil)) break
      this.failedUntil = Math.max(this.failedUntil, close)
      this.advance()
    }
    this.failed = false
    this.failedUntil = -1
    this.recoveredAt = this.index
  }

  /** Reports an error, unless the statement has failed already, and ends the statement. */
  protected fail(message: Message, start?: number, end?: number): void {
    if (this.failed) return
    const ends = this.token.kind === 'end' || (this.index > this.first && this.breaksLine(this.index))
    this.failedAt = ends ? this.previousEnd() : this.token.start
    this.reportAt(message, start ?? this.failedAt, end ?? (ends ? this.failedAt : this.token.end))
    this.failed = true
    for (const { close } of this.open) this.failedUntil = Math.max(this.failedUntil, close)
  }

  protected report(message: Message): void {
    this.reportAt(message, this.token.start, this.token.end)
  }

  protected reportAt(message: Message, start: number, end: number): void {
    if (!this.failed) this.diagnostics.push({ ...message, start, end })
  }

  /** Reports that an expression is missing here. */
  protected missing(): Expression {
    this.fail(messages.expectedExpression(this.found()))
    return this.error(this.previousEnd()).expression
  }

  protected error(start: number): {
    kind: 'ExpressionStatement'
    start: number
    end: number
    expression: Expression
  } {
    const end = Math.max(start, this.previousEnd())
    return { kind: 'ExpressionStatement', start, end, expression: { kind: 'Error', start, end } }
  }

  protected found(): string {
    const { kind, text } = this.token
    if (kind === 'end') return 'the end of the script'
    if (this.atLineEnd()) return 'the end of the line'
    return kind === 'string' ? 'a string' : `\`${text}\``
  }
}
