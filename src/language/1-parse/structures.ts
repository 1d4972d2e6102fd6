// What has a body of lines and is a value: if, for, while, once and switch.

import * as messages from '../messages/parsing.ts'
import { LineReader } from './lines.ts'
import type { Block, Expression, Name, SwitchCase } from './tree.ts'
import { BLOCK_KEYWORDS } from './words.ts'

export abstract class StructureReader extends LineReader {
  // value = if | switch | for | while | once | expression
  protected value(): Expression {
    return this.block() ?? this.expression()
  }

  protected block(): Expression | null {
    if (this.token.kind !== 'name' || this.atLineEnd()) return null
    if (this.token.text === 'once') return this.isOnce() ? this.once() : null
    if (!BLOCK_KEYWORDS.has(this.token.text)) return null
    const next = this.peek(1)
    const byOperator = next.kind === 'operator' && next.indent < 0
    // In version 4 `while` and `switch` were names like any other.
    if (this.token.text === 'while' && byOperator && /^(?:[=:+\-*/%]?=|[,)?])$/.test(next.text)) return null
    if (this.token.text === 'switch' && byOperator && !/^[-+([]$/.test(next.text)) return null
    switch (this.token.text) {
      case 'if':
        return this.if()
      case 'for':
        return this.for()
      case 'while':
        return this.while()
      default:
        return this.switch()
    }
  }

  // if = "if" expression body [ "else" ( if | body ) ]
  protected if(): Expression {
    const { start } = this.token
    this.advance()
    const test = this.expression()
    const consequent = this.body('if', false)
    let alternate: Block | null = null
    const { text, indent } = this.token
    if (text === 'else' && indent >= 0 && (indent === this.indent || indent === this.looseIndent)) {
      if (indent !== this.indent) this.report(messages.indentWidth(indent))
      this.first = this.index
      this.advance()
      alternate = this.at('if') && this.sameLine() ? this.elseIf() : this.body('else', false)
    }
    return { kind: 'If', start, end: (alternate ?? consequent).end, test, consequent, alternate }
  }

  protected elseIf(): Block {
    const { start } = this.token
    const entered = this.enter()
    const expression = entered ? this.if() : this.tooDeep()
    if (entered) this.leave()
    const { end } = expression
    return {
      kind: 'Block',
      start,
      end,
      statements: [{ kind: 'ExpressionStatement', start, end, expression }],
    }
  }

  // for = "for" [type] NAME "=" expression "to" expression [ "by" expression ] body
  //     | "for" ( NAME | "[" NAME "," NAME "]" ) "in" expression body
  protected for(): Expression {
    const { start } = this.token
    this.advance()
    if (this.at('[') || this.peek(1).text === 'in') return this.forIn(start)
    if (this.at('var') && this.peek(1).kind === 'name') this.advance()
    const counterType = this.isTyped() ? this.type() : null
    const counter = this.name('a counter')
    this.expect('=', 'the counter')
    const from = this.expression()
    this.expect('to', 'the first value')
    const to = this.expression()
    const by = this.take('by') ? this.expression() : null
    const body = this.body('for', false)
    return { kind: 'For', start, end: body.end, counter, counterType, from, to, by, body }
  }

  protected forIn(start: number): Expression {
    let index: Name | null = null
    let value: Name
    if (this.at('[')) {
      this.enterBracket()
      index = this.name('the index')
      this.expect(',', 'the index')
      value = this.name('the element')
      this.leaveBracket()
    } else value = this.name('the element')
    this.expect('in', 'the element')
    const collection = this.expression()
    const body = this.body('for', false)
    return { kind: 'ForIn', start, end: body.end, index, value, collection, body }
  }

  // while = "while" expression body
  protected while(): Expression {
    const { start } = this.token
    this.advance()
    const test = this.expression()
    const body = this.body('while', false)
    return { kind: 'While', start, end: body.end, test, body }
  }

  // once = "once" [ expression ] body
  protected once(): Expression {
    const { start } = this.token
    this.advance()
    const test = this.atLineEnd() ? null : this.expression()
    const body = this.body('once', false)
    return { kind: 'Once', start, end: body.end, test, body }
  }

  /** A name like any other unless a block follows its line; before version 6 always. */
  protected isOnce(): boolean {
    const next = this.peek(1)
    if (this.version < 6 || (next.indent < 0 && next.kind === 'operator' && next.text !== '(')) return false
    let index = this.index + 1
    while (this.tokenAt(index).kind !== 'end' && !this.breaksLine(index))
      index = Math.max(index, this.tokenAt(index).close) + 1
    return this.tokenAt(index).kind !== 'end' && this.tokenAt(index).indent > this.indent
  }

  // switch = "switch" [ expression ] NEWLINE { [ expression ] "=>" body }
  protected switch(): Expression {
    const { start } = this.token
    this.advance()
    const subject = this.atLineEnd() ? null : this.expression()
    const cases: SwitchCase[] = []
    this.members('switch', () => {
      const { start: from } = this.token
      const test = this.at('=>') ? null : this.expression()
      if (!this.expect('=>', 'the case')) return
      const body = this.body('=>', true)
      cases.push({ start: from, end: body.end, test, body })
    })
    return { kind: 'Switch', start, end: this.previousEnd(), subject, cases }
  }
}
