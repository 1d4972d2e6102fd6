// Types, and how it is told that one stands where a name could stand too.

import * as messages from '../messages/parsing.ts'
import { Reader } from './reader.ts'
import type { Expression, TypeNode } from './tree.ts'
import { BASIC_TYPES, isQualifier, RESERVED } from './words.ts'

export const NO_TYPES: readonly TypeNode[] = []

export class TypeReader extends Reader {
  // type = [ QUALIFIER ] NAME { "." NAME } [ "<" type { "," type } ">" ] [ "[" "]" ]
  protected type(): TypeNode {
    const { start } = this.token
    let qualifier: TypeNode['qualifier'] = null
    if (isQualifier(this.token.text) && this.peek(1).kind === 'name') {
      qualifier = this.token.text
      this.advance()
      // `simple x`: the qualifier stands alone before the name.
      if (this.scanType(this.index) < 0 || this.tokenAt(this.scanType(this.index)).kind !== 'name') {
        return { kind: 'Type', start, end: this.previousEnd(), qualifier, name: '', arguments: NO_TYPES }
      }
    }
    if (this.token.kind !== 'name' || this.atLineEnd()) {
      this.fail(messages.expectedType(this.found()))
      const end = this.previousEnd()
      return { kind: 'Type', start: Math.min(start, end), end, qualifier, name: '', arguments: NO_TYPES }
    }
    let name = this.token.text
    this.advance()
    while (this.at('.') && this.peek(1).kind === 'name') {
      this.advance()
      name += `.${this.token.text}`
      this.advance()
    }
    const args = this.at('<') ? this.typeArguments() : NO_TYPES
    const type: TypeNode = { kind: 'Type', start, end: this.previousEnd(), qualifier, name, arguments: args }
    if (!this.at('[') || this.peek(1).text !== ']') return type
    this.advance()
    this.advance()
    const element: TypeNode = { ...type, qualifier: null }
    return { kind: 'Type', start, end: this.previousEnd(), qualifier, name: 'array', arguments: [element] }
  }

  protected typeArguments(): TypeNode[] {
    const { start } = this.token
    const types: TypeNode[] = []
    this.advance()
    if (!this.enter()) return types
    do types.push(this.type())
    while (this.take(','))
    this.leave()
    if (!this.take('>')) this.fail(messages.unclosedBracket('<', '>'), start, start + 1)
    return types
  }

  /**
   * The index after a type that starts at `index`, or -1. Bounded in depth and width, since it is tried at every
   * `a < b`, and `a < b < c < …` would make it quadratic.
   */
  protected scanType(index: number, depth = 0): number {
    let at = index
    if (isQualifier(this.tokenAt(at).text) && this.tokenAt(at + 1).kind === 'name') {
      const beyond = this.tokenAt(at + 2)
      if (beyond.text === '=' || beyond.text === ',' || beyond.text === ')') return at + 1
      at++
    }
    if (!this.isTypeName(at)) return -1
    at++
    while (this.tokenAt(at).text === '.' && this.tokenAt(at + 1).kind === 'name') at += 2
    if (this.tokenAt(at).text === '<') {
      at = this.scanTypeArguments(at, depth)
      if (at < 0) return -1
    }
    return this.tokenAt(at).text === '[' && this.tokenAt(at + 1).text === ']' ? at + 2 : at
  }

  protected scanTypeArguments(index: number, depth: number): number {
    if (depth > 4) return -1
    let at = index
    for (let width = 0; width < 4; width++) {
      at = this.scanType(at + 1, depth + 1)
      if (at < 0) return -1
      const { text } = this.tokenAt(at)
      if (text === '>') return at + 1
      if (text !== ',') return -1
    }
    return -1
  }

  protected isTypeName(index: number): boolean {
    const token = this.tokenAt(index)
    return token.kind === 'name' && !RESERVED.has(token.text)
  }

  /** Whether a type and a name follow, and then `=` or by mistake nothing: `float x = …`. */
  protected isTyped(): boolean {
    const after = this.scanType(this.index)
    if (after < 0) return false
    const name = this.tokenAt(after)
    if (name.kind !== 'name' || RESERVED.has(name.text) || this.breaksLine(after)) return false
    const next = this.tokenAt(after + 1)
    if (next.text === '=') return !this.breaksLine(after + 1)
    const ends = next.text === ',' || next.kind === 'end' || this.breaksLine(after + 1)
    return ends && (isQualifier(this.token.text) || BASIC_TYPES.has(this.token.text))
  }

  protected isTypedParameter(): boolean {
    const after = this.scanType(this.index)
    return after >= 0 && this.tokenAt(after).kind === 'name'
  }

  protected isGenericCall(callee: Expression): boolean {
    // Only `new` takes types: `f(a < b, c > (d))` is two comparisons.
    if (callee.kind !== 'Member' || callee.property.name !== 'new') return false
    const after = this.scanTypeArguments(this.index, 0)
    return after >= 0 && this.tokenAt(after).text === '('
  }

  protected isFunction(): boolean {
    const next = this.peek(1)
    return next.text === '(' && this.peekAfter(next.close).text === '=>' && !this.breaksLine(next.close + 1)
  }
}
