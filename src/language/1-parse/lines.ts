// Lines and blocks of lines, by their indentation.

import * as messages from '../messages/parsing.ts'
import { ExpressionReader } from './expressions.ts'
import type { Block, Statement } from './tree.ts'
import { BINDING_POWER, RESERVED } from './words.ts'

export abstract class LineReader extends ExpressionReader {
  protected abstract statement(): Statement

  // block = line { line }, all of one indentation
  protected lines(indent: number, statements: Statement[]): void {
    const outer = this.indent
    this.indent = indent
    while (this.token.kind !== 'end' && this.token.indent >= indent) {
      this.first = this.index
      if (this.token.indent === indent) this.line(statements)
      else if (!this.skipMisindented()) this.nested(statements)
    }
    this.indent = outer
  }

  /** Reads lines deeper than their block as part of it, with one message for all of them. */
  protected nested(statements: Statement[]): void {
    const entered = this.enter()
    if (entered) this.lines(this.token.indent, statements)
    else this.line(statements)
    this.leave()
  }

  /** A line that is indented deeper than its block: read on as one of the block, unless it can be no statement. */
  protected skipMisindented(): boolean {
    const infix = BINDING_POWER.has(this.token.text) || /^[?:.,)\]]$/.test(this.token.text)
    if (infix) this.report(messages.wrapIndent())
    // After a line that failed it is the block of a header that was not understood.
    else if (this.index !== this.recoveredAt) this.report(messages.unexpectedIndent())
    if (!infix) return false
    this.failed = true
    this.recover()
    return true
  }

  // line = statement { "," statement }
  protected line(statements: Statement[]): void {
    let reported = false
    while (this.token.kind !== 'end') {
      statements.push(this.statement())
      if (this.at(';')) this.report(messages.wrongOperator(';'))
      if (this.take(',') || this.take(';')) {
        if (this.atLineEnd()) return
      } else if (this.isMisreadLine()) {
        if (!reported) this.report(messages.indentWidth(this.token.indent))
        reported = true
      } else break
      this.first = this.index
    }
    this.finishLine()
  }

  /** A new statement on a line whose indentation makes it continue the one before. */
  protected isMisreadLine(): boolean {
    const { indent, kind, text } = this.token
    return !this.atLineEnd() && indent > 0 && kind === 'name' && !RESERVED.has(text)
  }

  /** Reports whatever is left of the line. */
  protected finishLine(): void {
    if (!this.atLineEnd()) {
      const { text } = this.token
      if (text === ')' || text === ']') this.fail(messages.unopenedBracket(text))
      else if (text === 'else') this.fail(messages.misplacedElse())
      else this.fail(messages.expectedLineEnd(this.found(), text, this.tokenAt(this.first).text))
    }
    this.recover()
  }

  // body = NEWLINE block | inline, where inline = line, also one that continues the header's
  protected body(header: string, sameLine: boolean): Block {
    if (!sameLine && !this.atLineEnd() && this.token.indent < 0 && this.token.kind !== 'name') {
      this.fail(messages.expectedLineEnd(this.found(), this.token.text, ''))
    }
    const failed = this.failed
    this.recover()
    const { indent, kind } = this.token
    const statements: Statement[] = []
    if (!this.enter()) {
      this.fail(messages.tooDeep())
      this.recover()
    } else if (kind === 'end' || (indent >= 0 && this.breaksLine(this.index))) {
      if (kind !== 'end' && indent > this.indent) this.lines(indent, statements)
      else if (!failed) this.reportAt(messages.missingBody(header), this.previousEnd(), this.previousEnd())
    } else if (indent >= 0) {
      this.looseLines(statements)
    } else {
      if (!sameLine) this.report(messages.bodyOnNewLine(header))
      this.first = this.index
      this.line(statements)
    }
    this.leave()
    const end = statements.at(-1)?.end ?? this.previousEnd()
    return { kind: 'Block', start: statements[0]?.start ?? end, end, statements }
  }

  /**
   * A body indented by something else than a multiple of four continues the header's line, so it can be one line
   * only. More lines of the same indentation are a block by somebody used to two spaces.
   */
  protected looseLines(statements: Statement[]): void {
    const outer = this.looseIndent
    const outerIndent = this.indent
    const { indent } = this.token
    this.looseIndent = indent
    this.first = this.index
    this.line(statements)
    if (this.token.kind !== 'end' && this.token.indent === indent) {
      if (outer < 0) this.report(messages.indentWidth(indent))
      this.lines(indent, statements)
    }
    this.looseIndent = outer
    this.indent = outerIndent
  }

  /** The lines of a type, an enum or a switch: one call of `member` each. */
  protected members(header: string, member: () => void): void {
    const failed = this.failed
    if (!this.atLineEnd()) this.fail(messages.expectedLineEnd(this.found(), this.token.text, ''))
    this.recover()
    const { indent, kind } = this.token
    if (kind === 'end' || indent <= this.indent) {
      if (!failed) this.reportAt(messages.missingBody(header), this.previousEnd(), this.previousEnd())
      return
    }
    const outer = this.indent
    this.indent = indent
    while (this.token.kind !== 'end' && this.token.indent >= indent) {
      this.first = this.index
      if (this.token.indent > indent && this.skipMisindented()) continue
      member()
      this.finishLine()
    }
    this.indent = outer
  }
}
