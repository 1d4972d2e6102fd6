// Text to tokens, in one pass.
//
// The lexer knows nothing of blocks. What a line break means in Pine depends on where the parser stands (within
// brackets it is nothing; an indentation that is not a multiple of four continues the line; else it ends the
// statement), so each token that is first on its line carries its indentation, and the parser decides.
//
// Brackets are paired here, because the parser must see beyond `f(…)` whether `=>` follows, and looking for the
// closing bracket again and again would make it quadratic.

import type { Diagnostic } from '../diagnostic.ts'
import type { Message } from '../messages/message.ts'
import * as messages from '../messages/parsing.ts'

export type TokenKind = 'name' | 'number' | 'string' | 'color' | 'operator' | 'end'

export interface Token {
  readonly kind: TokenKind
  /** The text as it is written: a string has its quotes, so that it equals no operator. */
  readonly text: string
  readonly start: number
  readonly end: number
  /** Width of the white space before the first token of a line, a tab being four; -1 on all others. */
  readonly indent: number
  /** The index of the token that closes a bracket; -1 = nothing closes it, or this is no bracket. */
  close: number
}

export interface Comment {
  readonly start: number
  readonly end: number
}

export interface Tokens {
  /** The last one is of kind `end`. */
  readonly tokens: readonly Token[]
  readonly comments: readonly Comment[]
  /** N of `//@version=N`. */
  readonly version: number | null
  readonly diagnostics: readonly Diagnostic[]
}

export function tokenize(source: string): Tokens {
  return new Lexer(source).run()
}

/** The value of a string token: escapes resolved, a broken line joined by one space as TradingView does. */
export function stringValue(text: string): string {
  const triple = text.slice(0, 3)
  if (triple === '"""' || triple === "'''") {
    const lines = text.slice(3, text.length >= 6 && text.endsWith(triple) ? -3 : undefined)
    return unescaped(lines.replace(/\r\n?/g, '\n'))
  }
  const closed = text.length >= 2 && (text.endsWith(text.charAt(0)) || /[\u2018-\u201d]$/.test(text))
  const inner = text.slice(1, closed ? -1 : undefined)
  if (!/[\\\r\n]/.test(inner)) return inner
  return unescaped(inner.replace(/[ \t]*(?:\r\n?|\n)[ \t]*/g, ' '))
}

function unescaped(text: string): string {
  return text.replace(/\\(.)/g, (_, c: string) => (c === 'n' ? '\n' : c === 't' ? '\t' : c))
}

const codesOf = (characters: string): ReadonlySet<number> =>
  new Set(Array.from(characters, (character) => character.charCodeAt(0)))

/** What pasted code has between words: no-break, thin and zero-width spaces, byte order marks. */
const SPACES = codesOf(
  ' \t\f\v\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000',
)
const INVISIBLES = codesOf('\u200b\u200c\u200d\u200e\u200f\u2060\ufeff\u00ad')
/** Longest first. Those that Pine does not have are read whole, so that one message names them. */
const OPERATORS =
  '=== !== := += -= *= /= %= == != <= >= => =< || && <> ** ++ -- + - * / % < > = ? : , . ( ) [ ] ! ; { } & | ^'.split(
    ' ',
  )
// Node 20, which the package is for as well, has no Object.groupBy.
const OPERATORS_BY_FIRST: readonly (readonly string[] | undefined)[] = Array.from(
  { length: 128 },
  (_, code) => {
    const starting = OPERATORS.filter((operator) => operator.charCodeAt(0) === code)
    return starting.length > 0 ? starting : undefined
  },
)
const QUOTES = codesOf('"\'\u201c\u201d\u2018\u2019')
/** How many letters of an unknown word a message shows. */
const SHOWN_MAX = 40
/**
 * An unclosed string is searched for over at most this many lines, or a text of unclosed strings would be read once for
 * each.
 */
const STRING_LINES_MAX = 64
const VERSION = /^\/\/\s*@version\s*=\s*(\d+)/

const isDigit = (code: number): boolean => code >= 48 && code <= 57
const isNameStart = (code: number): boolean =>
  (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || code === 95
const isNamePart = (code: number): boolean => isNameStart(code) || isDigit(code)
const isLineEnd = (code: number): boolean => code === 10 || code === 13

/** Whether no token can begin with this character. */
const isUnknown = (code: number): boolean =>
  !isNamePart(code) &&
  !isLineEnd(code) &&
  !SPACES.has(code) &&
  !INVISIBLES.has(code) &&
  !QUOTES.has(code) &&
  code !== 35 &&
  OPERATORS_BY_FIRST[code] === undefined

/** A long word is shown by its beginning, cut between characters. */
function textShown(text: string): string {
  return text.length <= SHOWN_MAX ? text : `${Array.from(text.slice(0, SHOWN_MAX)).slice(0, -1).join('')}…`
}

class Lexer {
  readonly #source: string
  #at = 0
  /** Indentation of the line, until its first token has taken it. */
  #indent = 0
  #version: number | null = null
  readonly #tokens: Token[] = []
  readonly #comments: Comment[] = []
  readonly #diagnostics: Diagnostic[] = []
  /** Indices of the brackets open here. */
  readonly #open: number[] = []

  constructor(source: string) {
    this.#source = source
  }

  run(): Tokens {
    this.#indentation()
    while (this.#at < this.#source.length) this.#next()
    this.#indent = 0
    this.#push('end', this.#at)
    return {
      tokens: this.#tokens,
      comments: this.#comments,
      version: this.#version,
      diagnostics: this.#diagnostics,
    }
  }

  #next(): void {
    const code = this.#code()
    if (code === 32) this.#at++
    else if (isLineEnd(code)) {
      this.#at++
      this.#indentation()
    } else if (SPACES.has(code) || INVISIBLES.has(code)) this.#at++
    else if (isNameStart(code)) this.#name()
    else if (isDigit(code) || (code === 46 && isDigit(this.#code(1)))) this.#number()
    else if (code === 34 || code === 39) this.#string(code)
    else if (code === 35) this.#color()
    else if (code === 47 && this.#code(1) === 47) this.#comment()
    else if (code === 47 && this.#code(1) === 42) this.#blockComment()
    else this.#operator(code)
  }

  /** Reads the white space a line starts with. */
  #indentation(): void {
    let width = 0
    let spaces = false
    let mixed = false
    const start = this.#at
    for (; this.#at < this.#source.length; this.#at++) {
      const code = this.#code()
      if (code === 9) {
        mixed ||= spaces
        width += 4
      } else if (SPACES.has(code)) {
        spaces = true
        width++
      } else if (!INVISIBLES.has(code)) break
    }
    this.#indent = width
    const blank =
      this.#at >= this.#source.length || isLineEnd(this.#code()) || this.#source.startsWith('//', this.#at)
    if (mixed && !blank && width % 4 !== 0) {
      this.#report(messages.mixedIndent(), start)
    }
  }

  #name(): void {
    const start = this.#at
    while (isNamePart(this.#code())) this.#at++
    this.#push('name', start)
  }

  /** digits [. digits] [e [+-] digits], where one side of the point may be empty. */
  #number(): void {
    const start = this.#at
    this.#digits()
    if (this.#code() === 46) {
      this.#at++
      this.#digits()
    }
    if (this.#code() === 69 || this.#code() === 101) {
      const sign = this.#code(1) === 43 || this.#code(1) === 45 ? 1 : 0
      if (isDigit(this.#code(1 + sign))) {
        this.#at += 1 + sign
        this.#digits()
      }
    }
    if (isNameStart(this.#code())) {
      while (isNamePart(this.#code())) this.#at++
      this.#report(messages.malformedNumber(this.#source.slice(start, this.#at)), start)
    }
    this.#push('number', start)
  }

  #digits(): void {
    while (isDigit(this.#code())) this.#at++
  }

  /**
   * A string may be broken over lines in versions 4 and 5, provided that the lines continue as any wrapped line
   * does. Looking for the quote ends with the first line that does not, so that one missing quote costs
   * one line and not the rest of the script.
   */
  #string(quote: number): void {
    const start = this.#at
    if (this.#code(1) === quote && this.#code(2) === quote)
      return this.#multilineString(this.#source.slice(start, start + 3))
    let lineEnd = -1
    let breaks = 0
    for (let i = start + 1; ; i++) {
      const code = i < this.#source.length ? this.#source.charCodeAt(i) : -1
      if (code === quote) {
        this.#at = i + 1
        return this.#push('string', start)
      }
      if (code === 92) i++
      const isBreak = isLineEnd(code)
      if (isBreak && lineEnd < 0) lineEnd = i
      if (isBreak) breaks++
      if (code === -1 || breaks > STRING_LINES_MAX || (isBreak && !this.#continuesAfter(i))) {
        this.#at = Math.min(lineEnd < 0 ? i : lineEnd, this.#source.length)
        this.#push('string', start)
        return this.#report(messages.unterminatedString(String.fromCharCode(quote)), start)
      }
    }
  }

  /** Whether the line after the break at `offset` is indented as a continuation. */
  #continuesAfter(offset: number): boolean {
    let width = 0
    for (let i = offset + 1; i < this.#source.length; i++) {
      const code = this.#source.charCodeAt(i)
      if (code === 9) width += 4
      else if (SPACES.has(code)) width++
      else if (isLineEnd(code)) width = 0
      else if (!INVISIBLES.has(code)) break
    }
    return width % 4 !== 0 || (this.#open.length > 0 && width > 0)
  }

  /** """…""" or '''…''', since version 6: line breaks and indentation as written, escapes as in any string. */
  #multilineString(quotes: string): void {
    const start = this.#at
    let end = start + 3
    while (end < this.#source.length && !this.#source.startsWith(quotes, end))
      end += this.#source.charCodeAt(end) === 92 ? 2 : 1
    const isClosed = end < this.#source.length
    this.#at = isClosed ? end + 3 : this.#source.length
    this.#push('string', start)
    if (!isClosed) this.#report(messages.unterminatedString(quotes), start, start + 3)
  }

  /** #RRGGBB or #RRGGBBAA. */
  #color(): void {
    const start = this.#at++
    while (isNamePart(this.#code())) this.#at++
    const text = this.#source.slice(start, this.#at)
    if (!/^#(?:[0-9a-fA-F]{6}|[0-9a-fA-F]{8})$/.test(text)) this.#report(messages.malformedColor(text), start)
    this.#push('color', start)
  }

  #comment(): void {
    const start = this.#at
    while (this.#at < this.#source.length && !isLineEnd(this.#code())) this.#at++
    this.#comments.push({ start, end: this.#at })
    if (this.#version !== null) return
    const version = VERSION.exec(this.#source.slice(start, Math.min(this.#at, start + 100)))
    if (version) this.#version = Number(version[1])
  }

  /** Pine has no block comments, so this one is read as it was meant. */
  #blockComment(): void {
    const start = this.#at
    const end = this.#source.indexOf('*/', start + 2)
    this.#at = end < 0 ? this.#source.length : end + 2
    this.#comments.push({ start, end: this.#at })
    this.#report(messages.blockComment(), start, start + 2)
  }

  #operator(code: number): void {
    const start = this.#at
    const operator = this.#operatorOf(code)
    if (operator === undefined) return this.#unknown(code)
    this.#at += operator.length
    const index = this.#tokens.length
    this.#push('operator', start, operator)
    if (operator === '(' || operator === '[') this.#open.push(index)
    else if (operator === ')' || operator === ']') this.#pair(operator === ')' ? '(' : '[', index)
  }

  #operatorOf(code: number): string | undefined {
    const candidates = OPERATORS_BY_FIRST[code]
    if (candidates === undefined) return undefined
    for (const text of candidates)
      if (text.length === 1 || this.#source.startsWith(text, this.#at)) return text
    return undefined
  }

  /** A bracket closes the innermost one of its kind; others opened since then stay unclosed. */
  #pair(opening: string, index: number): void {
    const open = this.#tokens[this.#open.at(-1) ?? -1]
    if (open?.text === opening) {
      open.close = index
      this.#open.pop()
    }
  }

  #unknown(code: number): void {
    const start = this.#at
    if (QUOTES.has(code)) {
      const closing = /[\u201c\u201d\u2018\u2019"'\r\n]/g
      closing.lastIndex = start + 1
      const found = closing.exec(this.#source)
      this.#at = found ? found.index + (/[\r\n]/.test(found[0]) ? 0 : 1) : this.#source.length
      this.#push('string', start)
      return this.#report(messages.curlyQuote(), start)
    }
    // A word in foreign letters is one mistake.
    while (this.#at < this.#source.length && isUnknown(this.#code())) this.#at++
    this.#report(messages.unknownCharacter(textShown(this.#source.slice(start, this.#at))), start)
  }

  #code(ahead = 0): number {
    return this.#source.charCodeAt(this.#at + ahead)
  }

  #push(kind: TokenKind, start: number, text = this.#source.slice(start, this.#at)): void {
    this.#tokens.push({
      kind,
      text,
      start,
      end: this.#at,
      indent: this.#indent,
      close: -1,
    })
    this.#indent = -1
  }

  #report(message: Message, start: number, end = this.#at): void {
    this.#diagnostics.push({ ...message, start, end })
  }
}
