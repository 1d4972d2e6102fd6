// Expressions, with precedence climbing (Pratt) for operators.

import * as messages from '../messages/parsing.ts'
import { stringValue } from './lexer.ts'
import type { Argument, BinaryOperator, Expression, Name, UnaryOperator } from './tree.ts'
import { NO_TYPES, TypeReader } from './types.ts'
import { BINDING_POWER, BLOCK_KEYWORDS, isInfix, MISTAKEN_OPERATORS, RESERVED } from './words.ts'

export class ExpressionReader extends TypeReader {
  // expression = binary [ "?" expression ":" expression ]
  protected expression(): Expression {
    if (!this.enter()) return this.tooDeep()
    const test = this.binary(0)
    if (!this.at('?')) {
      this.leave()
      return test
    }
    const height = this.height
    this.advance()
    const consequent = this.expression()
    const heightOfConsequent = this.height
    if (!this.take(':')) this.fail(messages.missingColon(this.found()))
    const alternate = this.failed ? this.error(this.previousEnd()).expression : this.expression()
    this.grow(Math.max(height, heightOfConsequent))
    this.leave()
    return { kind: 'Ternary', start: test.start, end: alternate.end, test, consequent, alternate }
  }

  // binary = unary { OPERATOR unary }, OPERATOR by its binding power, all from left to right
  protected binary(power: number): Expression {
    let left = this.unary()
    for (;;) {
      const { text } = this.token
      const mistaken = MISTAKEN_OPERATORS.get(text)
      const operator = mistaken ?? text
      const operatorPower = BINDING_POWER.get(operator)
      if (operatorPower === undefined || operatorPower <= power || this.atLineEnd()) return left
      if (mistaken !== undefined) this.report(messages.wrongOperator(text))
      const height = this.height
      this.advance()
      const right = this.binary(operatorPower)
      this.grow(height)
      left = {
        kind: 'Binary',
        start: left.start,
        end: right.end,
        operator: operator as BinaryOperator,
        left,
        right,
      }
    }
  }

  // unary = ( "+" | "-" | "not" ) unary | postfix
  protected unary(): Expression {
    const { text, start } = this.token
    const sign = text === '-' || text === '+' || text === 'not'
    if (!(sign || text === '!' || text === '--' || text === '++')) return this.postfix()
    if (this.atLineEnd() && !this.wrapsWrongly()) return this.postfix()
    if (!this.enter()) return this.tooDeep()
    if (!sign) this.report(messages.wrongOperator(text))
    this.advance()
    const operand = this.unary()
    this.grow(0)
    this.leave()
    const operator = (sign ? text : text === '!' ? 'not' : text.charAt(0)) as UnaryOperator
    return { kind: 'Unary', start, end: operand.end, operator, operand }
  }

  // postfix = primary { "." NAME | [ "<" type { "," type } ">" ] "(" arguments ")" | "[" expression "]" }
  protected postfix(): Expression {
    let object = this.primary()
    for (;;) {
      const { text, indent } = this.token
      if (this.atLineEnd()) return object
      const height = this.height
      if (text === '.') {
        this.advance()
        const property = this.name('a field or a method')
        object = { kind: 'Member', start: object.start, end: property.end, object, property }
      } else if (text === '(') {
        const args = this.arguments()
        const end = this.previousEnd()
        object = {
          kind: 'Call',
          start: object.start,
          end,
          callee: object,
          typeArguments: NO_TYPES,
          arguments: args,
        }
      } else if (text === '<' && this.isGenericCall(object)) {
        const typeArguments = this.typeArguments()
        const args = this.arguments()
        const end = this.previousEnd()
        object = { kind: 'Call', start: object.start, end, callee: object, typeArguments, arguments: args }
      } else if (text === '[' && (indent < 0 || this.open.length > 0)) {
        this.enterBracket()
        const index = this.expression()
        this.leaveBracket()
        object = { kind: 'Index', start: object.start, end: this.previousEnd(), object, index }
      } else return object
      this.grow(height)
    }
  }

  // arguments = [ argument { "," argument } ]
  // argument = [ NAME "=" ] expression
  protected arguments(): Argument[] {
    const args: Argument[] = []
    let height = 0
    this.enterBracket()
    if (!this.at(')')) {
      do {
        let name: Name | null = null
        if (this.token.kind === 'name' && this.peek(1).text === '=') {
          name = this.name('an argument')
          this.advance()
        }
        const value = this.expression()
        height = Math.max(height, this.height)
        args.push({ kind: 'Argument', start: name?.start ?? value.start, end: value.end, name, value })
      } while (this.take(','))
    }
    this.leaveBracket()
    this.height = height
    return args
  }

  // primary = NUMBER | STRING | COLOR | "true" | "false" | NAME | "(" expression ")" | "[" expression { "," expression } "]"
  protected primary(): Expression {
    const { kind, text, start, end } = this.token
    this.height = 1
    if (this.atLineEnd() && !this.wrapsWrongly()) return this.missing()
    switch (kind) {
      case 'number':
        this.advance()
        return { kind: 'Number', start, end, value: Number.parseFloat(text), isInt: !/[.eE]/.test(text) }
      case 'string':
        this.advance()
        return { kind: 'String', start, end, value: stringValue(text) }
      case 'color':
        this.advance()
        return { kind: 'Color', start, end, value: colorValue(text) }
      case 'name':
        return this.identifier()
      case 'operator':
        if (text === '(') return this.parenthesized()
        if (text === '[') return this.tuple()
        return this.missing()
      default:
        return this.missing()
    }
  }

  protected identifier(): Expression {
    const { text, start, end } = this.token
    if (text === 'true' || text === 'false') {
      this.advance()
      return { kind: 'Bool', start, end, value: text === 'true' }
    }
    if (text === 'and' || text === 'or' || text === 'else' || text === 'var') return this.missing()
    if (BLOCK_KEYWORDS.has(text) && this.blockWithin()) {
      this.fail(messages.blockInExpression(text), start, end)
      return this.error(this.previousEnd()).expression
    }
    this.advance()
    return { kind: 'Identifier', start, end, name: text }
  }

  /** Whether the keyword starts a block where only an expression may stand. */
  protected blockWithin(): boolean {
    if (this.token.text === 'if' || this.token.text === 'for') return true
    const next = this.peek(1)
    return next.kind !== 'operator' && next.kind !== 'end' && next.indent < 0 && !RESERVED.has(next.text)
  }

  protected parenthesized(): Expression {
    this.enterBracket()
    const inner = this.expression()
    this.leaveBracket()
    return inner
  }

  protected tuple(): Expression {
    const { start } = this.token
    const items: Expression[] = []
    let height = 0
    this.enterBracket()
    if (!this.at(']')) {
      do {
        items.push(this.expression())
        height = Math.max(height, this.height)
      } while (this.take(','))
    }
    this.leaveBracket()
    this.height = height
    this.grow(0)
    return { kind: 'Tuple', start, end: this.previousEnd(), items }
  }

  /**
   * A line that ends with an operator, and its operand on the next one, indented by a multiple of four. TradingView
   * refuses it outside of brackets; as nothing else can be meant, it is read so, with a warning. The operand then
   * counts as the first token of the statement, which keeps it from ending it.
   */
  protected wrapsWrongly(): boolean {
    if (this.failed || this.index === 0 || this.token.kind === 'end') return false
    if (this.token.indent <= this.indent || !isInfix(this.tokenAt(this.index - 1))) return false
    const { start, end } = this.token
    this.diagnostics.push({ ...messages.wrapIndent(), start, end })
    this.first = this.index
    return true
  }
}

/** #RRGGBB or #RRGGBBAA as 0xRRGGBBAA; a malformed one, reported by the lexer, is black. */
function colorValue(text: string): number {
  const digits = text.slice(1)
  const value = Number.parseInt(digits.length === 6 ? `${digits}ff` : digits, 16)
  return Number.isNaN(value) ? 0x000000ff : value >>> 0
}
