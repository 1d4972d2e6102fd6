// Tokens to a tree: recursive descent, one function per rule of the grammar with the rule above it, and
// precedence climbing (Pratt) for operators.
//
// Lines. A token that is first on its line ends the statement before it, unless brackets are open or its
// indentation is not a multiple of four: then the line continues the one before. `#atLineEnd` is the only place
// that knows, and everything else asks it through `#at`, which sees nothing beyond the end of a line.
//
// Errors. There is always a tree. The first error of a statement is reported and sets `#failed`; from then on
// `#atLineEnd` answers yes, so that every rule finds nothing more to read and returns what it has, and
// `#recover` goes on with the next line. One mistake makes one message, and what the statement declares
// is declared.
//
// Depth. A tree deeper than MAX_DEPTH is refused, as later phases walk it recursively.

import type { Diagnostic } from '../diagnostic.ts'
import type { Message } from '../messages/message.ts'
import * as messages from '../messages/parsing.ts'
import { tokenize, stringValue, type Token } from './lexer.ts'
import {
  ASSIGNMENT_OPERATORS,
  type Argument,
  type AssignmentOperator,
  type BinaryOperator,
  type Block,
  type EnumMember,
  type Expression,
  type Name,
  type Parameter,
  type Script,
  type Statement,
  type SwitchCase,
  type TypeField,
  type TypeNode,
  type UnaryOperator,
} from './tree.ts'

/** Never throws: every text has a tree. */
export function parse(source: string): { script: Script; diagnostics: Diagnostic[] } {
  const { tokens, version, diagnostics } = tokenize(source)
  const parser = new Parser(source, tokens, version)
  const script = parser.script(version)
  const all = [...diagnostics, ...parser.diagnostics].sort((a, b) => a.start - b.start)
  return { script, diagnostics: all.slice(0, DIAGNOSTICS_MAX) }
}

/** Nobody would read more, and a text that is no script at all has a mistake in every line. */
const DIAGNOSTICS_MAX = 1000

const MAX_DEPTH = 500
/** Left operands nest without recursion here (`a + b + c …`), but not in the phases that walk the tree. */
const MAX_HEIGHT = 1500

/** A map, as scripts may well have names like `constructor`. */
const BINDING_POWER: ReadonlyMap<string, number> = new Map([
  ['or', 1],
  ['and', 2],
  ['==', 3],
  ['!=', 3],
  ['<', 4],
  ['<=', 4],
  ['>', 4],
  ['>=', 4],
  ['+', 5],
  ['-', 5],
  ['*', 6],
  ['/', 6],
  ['%', 6],
])
/** What other languages write, taken for what was meant. */
const MISTAKEN_OPERATORS: ReadonlyMap<string, BinaryOperator> = new Map([
  ['||', 'or'],
  ['&&', 'and'],
  ['|', 'or'],
  ['&', 'and'],
  ['=<', '<='],
  ['===', '=='],
  ['!==', '!='],
  ['<>', '!='],
  ['**', '*'],
])
const BLOCK_KEYWORDS: ReadonlySet<string> = new Set(['if', 'for', 'while', 'switch'])
const QUALIFIERS = ['const', 'input', 'simple', 'series'] as const
const isQualifier = (text: string): text is (typeof QUALIFIERS)[number] =>
  (QUALIFIERS as readonly string[]).includes(text)
const isAssignment = (text: string): text is AssignmentOperator =>
  (ASSIGNMENT_OPERATORS as readonly string[]).includes(text)
/** Tokens that leave a line open when it ends with one, and continue one when it starts with one. */
const isInfix = ({ kind, text }: Token): boolean =>
  kind === 'operator' ? !/^[([\])]$/.test(text) : text === 'and' || text === 'or'
/** Names that no variable, type or parameter can have. */
const RESERVED: ReadonlySet<string> = new Set([
  'and',
  'or',
  'not',
  'if',
  'else',
  'for',
  'true',
  'false',
  'var',
])
/** Types that are known without looking at names: `int x` is a declaration that lacks its value. */
const BASIC_TYPES: ReadonlySet<string> = new Set('int float bool string color array matrix map'.split(' '))
const NO_TYPES: readonly TypeNode[] = []

class Parser {
  readonly #source: string
  readonly #tokens: readonly Token[]
  readonly #version: number
  readonly diagnostics: Diagnostic[] = []
  #index = 0
  #token: Token
  /** Index of the statement's first token: being first on a line does not end the statement it starts. */
  #first = 0
  /** Indentation of the block the statement stands in. */
  #indent = 0
  /** Indentation of a block that is not a multiple of four (an error, but read as it was meant), -1 outside. */
  #looseIndent = -1
  /** The brackets open here, outermost first. */
  readonly #open: Token[] = []
  #failed = false
  #failedAt = 0
  /** Index of the token that reading went on with after an error. */
  #recoveredAt = -1
  /** Index of the token that closes what was open when the statement failed: its lines are skipped. */
  #failedUntil = -1
  #depth = 0
  /** Height of the expression read last. */
  #height = 0

  constructor(source: string, tokens: readonly Token[], version: number | null) {
    this.#source = source
    this.#version = version ?? 1
    this.#tokens = tokens
    this.#token = this.#tokenAt(0)
  }

  // script = { line }
  script(version: number | null): Script {
    const statements: Statement[] = []
    while (this.#token.kind !== 'end') this.#lines(0, statements)
    return { kind: 'Script', start: 0, end: this.#source.length, version, statements }
  }

  // Blocks

  // block = line { line }, all of one indentation
  #lines(indent: number, statements: Statement[]): void {
    const outer = this.#indent
    this.#indent = indent
    while (this.#token.kind !== 'end' && this.#token.indent >= indent) {
      this.#first = this.#index
      if (this.#token.indent === indent) this.#line(statements)
      else if (!this.#skipMisindented()) this.#nested(statements)
    }
    this.#indent = outer
  }

  /** Reads lines deeper than their block as part of it, with one message for all of them. */
  #nested(statements: Statement[]): void {
    const entered = this.#enter()
    if (entered) this.#lines(this.#token.indent, statements)
    else this.#line(statements)
    this.#leave()
  }

  /** A line that is indented deeper than its block: read on as one of the block, unless it can be no statement. */
  #skipMisindented(): boolean {
    const infix = BINDING_POWER.has(this.#token.text) || /^[?:.,)\]]$/.test(this.#token.text)
    if (infix) this.#report(messages.wrapIndent())
    // After a line that failed it is the block of a header that was not understood.
    else if (this.#index !== this.#recoveredAt) this.#report(messages.unexpectedIndent())
    if (!infix) return false
    this.#failed = true
    this.#recover()
    return true
  }

  // line = statement { "," statement }
  #line(statements: Statement[]): void {
    let reported = false
    while (this.#token.kind !== 'end') {
      statements.push(this.#statement())
      if (this.#at(';')) this.#report(messages.wrongOperator(';'))
      if (this.#take(',') || this.#take(';')) {
        if (this.#atLineEnd()) return
      } else if (this.#isMisreadLine()) {
        if (!reported) this.#report(messages.indentWidth(this.#token.indent))
        reported = true
      } else break
      this.#first = this.#index
    }
    this.#finishLine()
  }

  /** A new statement on a line whose indentation makes it continue the one before. */
  #isMisreadLine(): boolean {
    const { indent, kind, text } = this.#token
    return !this.#atLineEnd() && indent > 0 && kind === 'name' && !RESERVED.has(text)
  }

  /** Reports whatever is left of the line. */
  #finishLine(): void {
    if (!this.#atLineEnd()) {
      const { text } = this.#token
      if (text === ')' || text === ']') this.#fail(messages.unopenedBracket(text))
      else if (text === 'else') this.#fail(messages.misplacedElse())
      else this.#fail(messages.expectedLineEnd(this.#found(), text, this.#tokenAt(this.#first).text))
    }
    this.#recover()
  }

  // body = NEWLINE block | inline, where inline = line, also one that continues the header's
  #body(header: string, sameLine: boolean): Block {
    if (!sameLine && !this.#atLineEnd() && this.#token.indent < 0 && this.#token.kind !== 'name') {
      this.#fail(messages.expectedLineEnd(this.#found(), this.#token.text, ''))
    }
    const failed = this.#failed
    this.#recover()
    const { indent, kind } = this.#token
    const statements: Statement[] = []
    if (!this.#enter()) {
      this.#fail(messages.tooDeep())
      this.#recover()
    } else if (kind === 'end' || (indent >= 0 && this.#breaksLine(this.#index))) {
      if (kind !== 'end' && indent > this.#indent) this.#lines(indent, statements)
      else if (!failed) this.#reportAt(messages.missingBody(header), this.#previousEnd(), this.#previousEnd())
    } else if (indent >= 0) {
      this.#looseLines(statements)
    } else {
      if (!sameLine) this.#report(messages.bodyOnNewLine(header))
      this.#first = this.#index
      this.#line(statements)
    }
    this.#leave()
    const end = statements.at(-1)?.end ?? this.#previousEnd()
    return { kind: 'Block', start: statements[0]?.start ?? end, end, statements }
  }

  /**
   * A body indented by something else than a multiple of four continues the header's line, so it can be one line
   * only. More lines of the same indentation are a block by somebody used to two spaces.
   */
  #looseLines(statements: Statement[]): void {
    const outer = this.#looseIndent
    const outerIndent = this.#indent
    const { indent } = this.#token
    this.#looseIndent = indent
    this.#first = this.#index
    this.#line(statements)
    if (this.#token.kind !== 'end' && this.#token.indent === indent) {
      if (outer < 0) this.#report(messages.indentWidth(indent))
      this.#lines(indent, statements)
    }
    this.#looseIndent = outer
    this.#indent = outerIndent
  }

  // Statements

  // statement = declaration | tuple | function | type | enum | import | jump | assignment | expression
  #statement(): Statement {
    const { start } = this.#token
    if (this.#token.kind === 'name') {
      const declared = this.#keywordStatement(start)
      if (declared) return declared
      if (this.#isTyped()) return this.#variableDeclaration(start, 'plain', false)
      if (this.#peek(1).text === '=' && !BLOCK_KEYWORDS.has(this.#token.text)) {
        return this.#variableDeclaration(start, 'plain', false)
      }
      if (this.#isFunction()) return this.#functionDeclaration(start, false, false)
    } else if (this.#token.text === '[' && this.#peekAfter(this.#token.close).text === '=') {
      return this.#tupleDeclaration(start)
    }
    return this.#expressionStatement(start)
  }

  /** Statements that start with a word, where what follows shows that it is not a name. */
  #keywordStatement(start: number): Statement | null {
    const next = this.#peek(1)
    const sameLine = next.indent < 0
    const name = next.kind === 'name' && sameLine
    switch (this.#token.text) {
      case 'var':
      case 'varip': {
        if (!name) return null
        const mode = this.#token.text
        this.#advance()
        return this.#variableDeclaration(start, mode, false)
      }
      case 'export':
        return name ? this.#export(start) : null
      case 'import':
        return name || next.kind === 'number' || next.kind === 'string' ? this.#import(start) : null
      case 'type':
        return name && this.#endsLine(2) ? this.#typeDeclaration(start, false) : null
      case 'enum':
        return name && this.#endsLine(2) ? this.#enumDeclaration(start, false) : null
      case 'method':
        return name && this.#peek(2).text === '(' ? this.#methodDeclaration(start, false) : null
      case 'break':
      case 'continue': {
        if (!this.#endsLine(1) && next.text !== ',') return null
        const kind = this.#token.text === 'break' ? 'Break' : 'Continue'
        this.#advance()
        return { kind, start, end: this.#previousEnd() }
      }
      case 'else':
        this.#fail(messages.misplacedElse())
        return this.#error(start)
      case 'return':
        if (!this.#endsLine(1) && next.kind !== 'operator') {
          this.#report(messages.noReturn())
          this.#advance()
          return this.#expressionStatement(start)
        }
        return null
      default:
        return null
    }
  }

  // declaration = ["export"] ["var" | "varip"] [type] NAME "=" value
  #variableDeclaration(start: number, mode: 'plain' | 'var' | 'varip', exported: boolean): Statement {
    const type = this.#isTyped() ? this.#type() : null
    const name = this.#name('a variable')
    const value = this.#initializer(name)
    return { kind: 'VariableDeclaration', start, end: value.end, mode, type, name, value, exported }
  }

  #initializer(name: Name): Expression {
    if (isAssignment(this.#token.text) && !this.#atLineEnd()) {
      this.#report(messages.expectedToken('=', `\`${name.name}\``, this.#found()))
      this.#advance()
    } else if (this.#atLineEnd() || this.#at(',')) {
      const end = this.#previousEnd()
      this.#reportAt(messages.expectedToken('=', `\`${name.name}\``, this.#found()), end, end)
      return this.#error(end).expression
    } else if (!this.#expect('=', `\`${name.name}\``)) return this.#error(this.#previousEnd()).expression
    return this.#value()
  }

  // tuple = "[" NAME { "," NAME } "]" "=" value
  #tupleDeclaration(start: number): Statement {
    const names: Name[] = []
    this.#enterBracket()
    do names.push(this.#name('a variable'))
    while (this.#take(','))
    this.#leaveBracket()
    this.#expect('=', '`]`')
    const value = this.#value()
    return { kind: 'TupleDeclaration', start, end: value.end, names, value }
  }

  // function = ["export"] ["method"] NAME "(" parameters ")" "=>" body
  #functionDeclaration(start: number, exported: boolean, method: boolean): Statement {
    const name = this.#name('a function')
    const parameters = this.#parameters()
    if (!this.#take('=>')) this.#fail(messages.missingArrow(name.name, this.#found()))
    const body = this.#body('=>', true)
    return { kind: 'FunctionDeclaration', start, end: body.end, name, parameters, body, exported, method }
  }

  #methodDeclaration(start: number, exported: boolean): Statement {
    this.#advance()
    return this.#functionDeclaration(start, exported, true)
  }

  // parameters = [ parameter { "," parameter } ]
  // parameter = [type] NAME [ "=" expression ]
  #parameters(): Parameter[] {
    const parameters: Parameter[] = []
    if (!this.#at('(')) {
      this.#fail(messages.expectedToken('(', 'the name of the function', this.#found()))
      return parameters
    }
    this.#enterBracket()
    while (!this.#at(')') && !this.#failed) {
      const type = this.#isTypedParameter() ? this.#type() : null
      const name = this.#name('a parameter')
      const value = this.#take('=') ? this.#expression() : null
      parameters.push({
        start: type?.start ?? name.start,
        end: this.#previousEnd(),
        name,
        type,
        default: value,
      })
      if (!this.#take(',')) break
    }
    this.#leaveBracket()
    return parameters
  }

  // export = "export" ( function | method | type | enum | declaration )
  #export(start: number): Statement {
    this.#advance()
    const next = this.#peek(1)
    switch (this.#token.text) {
      case 'method':
        if (next.kind === 'name') return this.#methodDeclaration(start, true)
        break
      case 'type':
        if (next.kind === 'name') return this.#typeDeclaration(start, true)
        break
      case 'enum':
        if (next.kind === 'name') return this.#enumDeclaration(start, true)
        break
      default:
    }
    if (next.text === '=' || this.#isTyped()) return this.#variableDeclaration(start, 'plain', true)
    if (next.text === '(') return this.#functionDeclaration(start, true, false)
    this.#fail(messages.notExportable())
    return this.#error(start)
  }

  // import = "import" USER "/" LIBRARY "/" VERSION [ "as" NAME ]
  #import(start: number): Statement {
    this.#advance()
    const from = this.#token.start
    while (!this.#atLineEnd() && !this.#at('as') && !this.#at(',')) this.#advance()
    const path = this.#source.slice(from, this.#previousEnd()).replace(/[\s\u200b\ufeff]+/g, '')
    const match = /^([^/]+)\/([^/]+)\/(\d+)$/.exec(path)
    if (!match)
      this.#reportAt(messages.malformedImport(), Math.min(from, this.#previousEnd()), this.#previousEnd())
    const alias = this.#take('as') ? this.#name('the alias') : null
    const [, user = '', library = '', version = '0'] = match ?? []
    return {
      kind: 'Import',
      start,
      end: this.#previousEnd(),
      user,
      library,
      version: Number(version),
      alias,
    }
  }

  // type = ["export"] "type" NAME NEWLINE { field }
  // field = ["varip"] type NAME [ "=" expression ]
  #typeDeclaration(start: number, exported: boolean): Statement {
    this.#advance()
    const name = this.#name('a type')
    const fields: TypeField[] = []
    this.#members('type', () => {
      const { start: from } = this.#token
      const varip = this.#at('varip') && this.#peek(1).kind === 'name'
      if (varip) this.#advance()
      const type = this.#type()
      const field = this.#name('a field')
      const value = this.#take('=') ? this.#expression() : null
      fields.push({ start: from, end: this.#previousEnd(), name: field, type, varip, default: value })
    })
    return { kind: 'TypeDeclaration', start, end: this.#previousEnd(), name, fields, exported }
  }

  // enum = ["export"] "enum" NAME NEWLINE { NAME [ "=" expression ] }
  #enumDeclaration(start: number, exported: boolean): Statement {
    this.#advance()
    const name = this.#name('an enum')
    const members: EnumMember[] = []
    this.#members('enum', () => {
      const { start: from } = this.#token
      const member = this.#name('a member')
      const title = this.#take('=') ? this.#expression() : null
      members.push({ start: from, end: this.#previousEnd(), name: member, title })
    })
    return { kind: 'EnumDeclaration', start, end: this.#previousEnd(), name, members, exported }
  }

  /** The lines of a type, an enum or a switch: one call of `member` each. */
  #members(header: string, member: () => void): void {
    const failed = this.#failed
    if (!this.#atLineEnd()) this.#fail(messages.expectedLineEnd(this.#found(), this.#token.text, ''))
    this.#recover()
    const { indent, kind } = this.#token
    if (kind === 'end' || indent <= this.#indent) {
      if (!failed) this.#reportAt(messages.missingBody(header), this.#previousEnd(), this.#previousEnd())
      return
    }
    const outer = this.#indent
    this.#indent = indent
    while (this.#token.kind !== 'end' && this.#token.indent >= indent) {
      this.#first = this.#index
      if (this.#token.indent > indent && this.#skipMisindented()) continue
      member()
      this.#finishLine()
    }
    this.#indent = outer
  }

  // assignment = expression ( ":=" | "+=" | "-=" | "*=" | "/=" | "%=" ) value
  #expressionStatement(start: number): Statement {
    const target = this.#value()
    const operator = this.#token.text
    if (isAssignment(operator) && !this.#atLineEnd()) {
      this.#advance()
      const value = this.#value()
      return { kind: 'Assignment', start, end: value.end, operator, target, value }
    }
    if (this.#at('=')) {
      const name = this.#version < 6 ? dottedName(target) : null
      if (name === null) this.#report(messages.notADeclaration())
      this.#advance()
      const value = this.#value()
      if (name !== null) {
        return {
          kind: 'VariableDeclaration',
          start,
          end: value.end,
          mode: 'plain',
          type: null,
          name,
          value,
          exported: false,
        }
      }
      return { kind: 'Assignment', start, end: value.end, operator: ':=', target, value }
    }
    return { kind: 'ExpressionStatement', start, end: target.end, expression: target }
  }

  // Expressions

  // value = if | switch | for | while | once | expression
  #value(): Expression {
    return this.#block() ?? this.#expression()
  }

  #block(): Expression | null {
    if (this.#token.kind !== 'name' || this.#atLineEnd()) return null
    if (this.#token.text === 'once') return this.#isOnce() ? this.#once() : null
    if (!BLOCK_KEYWORDS.has(this.#token.text)) return null
    const next = this.#peek(1)
    const byOperator = next.kind === 'operator' && next.indent < 0
    // In version 4 `while` and `switch` were names like any other.
    if (this.#token.text === 'while' && byOperator && /^(?:[=:+\-*/%]?=|[,)?])$/.test(next.text)) return null
    if (this.#token.text === 'switch' && byOperator && !/^[-+([]$/.test(next.text)) return null
    switch (this.#token.text) {
      case 'if':
        return this.#if()
      case 'for':
        return this.#for()
      case 'while':
        return this.#while()
      default:
        return this.#switch()
    }
  }

  // if = "if" expression body [ "else" ( if | body ) ]
  #if(): Expression {
    const { start } = this.#token
    this.#advance()
    const test = this.#expression()
    const consequent = this.#body('if', false)
    let alternate: Block | null = null
    const { text, indent } = this.#token
    if (text === 'else' && indent >= 0 && (indent === this.#indent || indent === this.#looseIndent)) {
      if (indent !== this.#indent) this.#report(messages.indentWidth(indent))
      this.#first = this.#index
      this.#advance()
      alternate = this.#at('if') && this.#sameLine() ? this.#elseIf() : this.#body('else', false)
    }
    return { kind: 'If', start, end: (alternate ?? consequent).end, test, consequent, alternate }
  }

  #elseIf(): Block {
    const { start } = this.#token
    const entered = this.#enter()
    const expression = entered ? this.#if() : this.#tooDeep()
    if (entered) this.#leave()
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
  #for(): Expression {
    const { start } = this.#token
    this.#advance()
    if (this.#at('[') || this.#peek(1).text === 'in') return this.#forIn(start)
    if (this.#at('var') && this.#peek(1).kind === 'name') this.#advance()
    const counterType = this.#isTyped() ? this.#type() : null
    const counter = this.#name('a counter')
    this.#expect('=', 'the counter')
    const from = this.#expression()
    this.#expect('to', 'the first value')
    const to = this.#expression()
    const by = this.#take('by') ? this.#expression() : null
    const body = this.#body('for', false)
    return { kind: 'For', start, end: body.end, counter, counterType, from, to, by, body }
  }

  #forIn(start: number): Expression {
    let index: Name | null = null
    let value: Name
    if (this.#at('[')) {
      this.#enterBracket()
      index = this.#name('the index')
      this.#expect(',', 'the index')
      value = this.#name('the element')
      this.#leaveBracket()
    } else value = this.#name('the element')
    this.#expect('in', 'the element')
    const collection = this.#expression()
    const body = this.#body('for', false)
    return { kind: 'ForIn', start, end: body.end, index, value, collection, body }
  }

  // while = "while" expression body
  #while(): Expression {
    const { start } = this.#token
    this.#advance()
    const test = this.#expression()
    const body = this.#body('while', false)
    return { kind: 'While', start, end: body.end, test, body }
  }

  // once = "once" [ expression ] body
  #once(): Expression {
    const { start } = this.#token
    this.#advance()
    const test = this.#atLineEnd() ? null : this.#expression()
    const body = this.#body('once', false)
    return { kind: 'Once', start, end: body.end, test, body }
  }

  /** A name like any other unless a block follows its line; before version 6 always. */
  #isOnce(): boolean {
    const next = this.#peek(1)
    if (this.#version < 6 || (next.indent < 0 && next.kind === 'operator' && next.text !== '(')) return false
    let index = this.#index + 1
    while (this.#tokenAt(index).kind !== 'end' && !this.#breaksLine(index))
      index = Math.max(index, this.#tokenAt(index).close) + 1
    return this.#tokenAt(index).kind !== 'end' && this.#tokenAt(index).indent > this.#indent
  }

  // switch = "switch" [ expression ] NEWLINE { [ expression ] "=>" body }
  #switch(): Expression {
    const { start } = this.#token
    this.#advance()
    const subject = this.#atLineEnd() ? null : this.#expression()
    const cases: SwitchCase[] = []
    this.#members('switch', () => {
      const { start: from } = this.#token
      const test = this.#at('=>') ? null : this.#expression()
      if (!this.#expect('=>', 'the case')) return
      const body = this.#body('=>', true)
      cases.push({ start: from, end: body.end, test, body })
    })
    return { kind: 'Switch', start, end: this.#previousEnd(), subject, cases }
  }

  // expression = binary [ "?" expression ":" expression ]
  #expression(): Expression {
    if (!this.#enter()) return this.#tooDeep()
    const test = this.#binary(0)
    if (!this.#at('?')) {
      this.#leave()
      return test
    }
    const height = this.#height
    this.#advance()
    const consequent = this.#expression()
    const heightOfConsequent = this.#height
    if (!this.#take(':')) this.#fail(messages.missingColon(this.#found()))
    const alternate = this.#failed ? this.#error(this.#previousEnd()).expression : this.#expression()
    this.#grow(Math.max(height, heightOfConsequent))
    this.#leave()
    return { kind: 'Ternary', start: test.start, end: alternate.end, test, consequent, alternate }
  }

  // binary = unary { OPERATOR unary }, OPERATOR by its binding power, all from left to right
  #binary(power: number): Expression {
    let left = this.#unary()
    for (;;) {
      const { text } = this.#token
      const mistaken = MISTAKEN_OPERATORS.get(text)
      const operator = mistaken ?? text
      const operatorPower = BINDING_POWER.get(operator)
      if (operatorPower === undefined || operatorPower <= power || this.#atLineEnd()) return left
      if (mistaken !== undefined) this.#report(messages.wrongOperator(text))
      const height = this.#height
      this.#advance()
      const right = this.#binary(operatorPower)
      this.#grow(height)
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
  #unary(): Expression {
    const { text, start } = this.#token
    const sign = text === '-' || text === '+' || text === 'not'
    if (!(sign || text === '!' || text === '--' || text === '++')) return this.#postfix()
    if (this.#atLineEnd() && !this.#wrapsWrongly()) return this.#postfix()
    if (!this.#enter()) return this.#tooDeep()
    if (!sign) this.#report(messages.wrongOperator(text))
    this.#advance()
    const operand = this.#unary()
    this.#grow(0)
    this.#leave()
    const operator = (sign ? text : text === '!' ? 'not' : text.charAt(0)) as UnaryOperator
    return { kind: 'Unary', start, end: operand.end, operator, operand }
  }

  // postfix = primary { "." NAME | [ "<" type { "," type } ">" ] "(" arguments ")" | "[" expression "]" }
  #postfix(): Expression {
    let object = this.#primary()
    for (;;) {
      const { text, indent } = this.#token
      if (this.#atLineEnd()) return object
      const height = this.#height
      if (text === '.') {
        this.#advance()
        const property = this.#name('a field or a method')
        object = { kind: 'Member', start: object.start, end: property.end, object, property }
      } else if (text === '(') {
        const args = this.#arguments()
        const end = this.#previousEnd()
        object = {
          kind: 'Call',
          start: object.start,
          end,
          callee: object,
          typeArguments: NO_TYPES,
          arguments: args,
        }
      } else if (text === '<' && this.#isGenericCall(object)) {
        const typeArguments = this.#typeArguments()
        const args = this.#arguments()
        const end = this.#previousEnd()
        object = { kind: 'Call', start: object.start, end, callee: object, typeArguments, arguments: args }
      } else if (text === '[' && (indent < 0 || this.#open.length > 0)) {
        this.#enterBracket()
        const index = this.#expression()
        this.#leaveBracket()
        object = { kind: 'Index', start: object.start, end: this.#previousEnd(), object, index }
      } else return object
      this.#grow(height)
    }
  }

  // arguments = [ argument { "," argument } ]
  // argument = [ NAME "=" ] expression
  #arguments(): Argument[] {
    const args: Argument[] = []
    let height = 0
    this.#enterBracket()
    if (!this.#at(')')) {
      do {
        let name: Name | null = null
        if (this.#token.kind === 'name' && this.#peek(1).text === '=') {
          name = this.#name('an argument')
          this.#advance()
        }
        const value = this.#expression()
        height = Math.max(height, this.#height)
        args.push({ kind: 'Argument', start: name?.start ?? value.start, end: value.end, name, value })
      } while (this.#take(','))
    }
    this.#leaveBracket()
    this.#height = height
    return args
  }

  // primary = NUMBER | STRING | COLOR | "true" | "false" | NAME | "(" expression ")" | "[" expression { "," expression } "]"
  #primary(): Expression {
    const { kind, text, start, end } = this.#token
    this.#height = 1
    if (this.#atLineEnd() && !this.#wrapsWrongly()) return this.#missing()
    switch (kind) {
      case 'number':
        this.#advance()
        return { kind: 'Number', start, end, value: Number.parseFloat(text), isInt: !/[.eE]/.test(text) }
      case 'string':
        this.#advance()
        return { kind: 'String', start, end, value: stringValue(text) }
      case 'color':
        this.#advance()
        return { kind: 'Color', start, end, value: colorValue(text) }
      case 'name':
        return this.#identifier()
      case 'operator':
        if (text === '(') return this.#parenthesized()
        if (text === '[') return this.#tuple()
        return this.#missing()
      default:
        return this.#missing()
    }
  }

  #identifier(): Expression {
    const { text, start, end } = this.#token
    if (text === 'true' || text === 'false') {
      this.#advance()
      return { kind: 'Bool', start, end, value: text === 'true' }
    }
    if (text === 'and' || text === 'or' || text === 'else' || text === 'var') return this.#missing()
    if (BLOCK_KEYWORDS.has(text) && this.#blockWithin()) {
      this.#fail(messages.blockInExpression(text), start, end)
      return this.#error(this.#previousEnd()).expression
    }
    this.#advance()
    return { kind: 'Identifier', start, end, name: text }
  }

  /** Whether the keyword starts a block where only an expression may stand. */
  #blockWithin(): boolean {
    if (this.#token.text === 'if' || this.#token.text === 'for') return true
    const next = this.#peek(1)
    return next.kind !== 'operator' && next.kind !== 'end' && next.indent < 0 && !RESERVED.has(next.text)
  }

  #parenthesized(): Expression {
    this.#enterBracket()
    const inner = this.#expression()
    this.#leaveBracket()
    return inner
  }

  #tuple(): Expression {
    const { start } = this.#token
    const items: Expression[] = []
    let height = 0
    this.#enterBracket()
    if (!this.#at(']')) {
      do {
        items.push(this.#expression())
        height = Math.max(height, this.#height)
      } while (this.#take(','))
    }
    this.#leaveBracket()
    this.#height = height
    this.#grow(0)
    return { kind: 'Tuple', start, end: this.#previousEnd(), items }
  }

  /**
   * A line that ends with an operator, and its operand on the next one, indented by a multiple of four. TradingView
   * refuses it outside of brackets; as nothing else can be meant, it is read so, with a warning. The operand then
   * counts as the first token of the statement, which keeps it from ending it.
   */
  #wrapsWrongly(): boolean {
    if (this.#failed || this.#index === 0 || this.#token.kind === 'end') return false
    if (this.#token.indent <= this.#indent || !isInfix(this.#tokenAt(this.#index - 1))) return false
    const { start, end } = this.#token
    this.diagnostics.push({ ...messages.wrapIndent(), start, end })
    this.#first = this.#index
    return true
  }

  // Types

  // type = [ QUALIFIER ] NAME { "." NAME } [ "<" type { "," type } ">" ] [ "[" "]" ]
  #type(): TypeNode {
    const { start } = this.#token
    let qualifier: TypeNode['qualifier'] = null
    if (isQualifier(this.#token.text) && this.#peek(1).kind === 'name') {
      qualifier = this.#token.text
      this.#advance()
      // `simple x`: the qualifier stands alone before the name.
      if (this.#scanType(this.#index) < 0 || this.#tokenAt(this.#scanType(this.#index)).kind !== 'name') {
        return { kind: 'Type', start, end: this.#previousEnd(), qualifier, name: '', arguments: NO_TYPES }
      }
    }
    if (this.#token.kind !== 'name' || this.#atLineEnd()) {
      this.#fail(messages.expectedType(this.#found()))
      const end = this.#previousEnd()
      return { kind: 'Type', start: Math.min(start, end), end, qualifier, name: '', arguments: NO_TYPES }
    }
    let name = this.#token.text
    this.#advance()
    while (this.#at('.') && this.#peek(1).kind === 'name') {
      this.#advance()
      name += `.${this.#token.text}`
      this.#advance()
    }
    const args = this.#at('<') ? this.#typeArguments() : NO_TYPES
    const type: TypeNode = { kind: 'Type', start, end: this.#previousEnd(), qualifier, name, arguments: args }
    if (!this.#at('[') || this.#peek(1).text !== ']') return type
    this.#advance()
    this.#advance()
    const element: TypeNode = { ...type, qualifier: null }
    return { kind: 'Type', start, end: this.#previousEnd(), qualifier, name: 'array', arguments: [element] }
  }

  #typeArguments(): TypeNode[] {
    const { start } = this.#token
    const types: TypeNode[] = []
    this.#advance()
    if (!this.#enter()) return types
    do types.push(this.#type())
    while (this.#take(','))
    this.#leave()
    if (!this.#take('>')) this.#fail(messages.unclosedBracket('<', '>'), start, start + 1)
    return types
  }

  /**
   * The index after a type that starts at `index`, or -1. Bounded in depth and width, since it is tried at every
   * `a < b`, and `a < b < c < …` would make it quadratic.
   */
  #scanType(index: number, depth = 0): number {
    let at = index
    if (isQualifier(this.#tokenAt(at).text) && this.#tokenAt(at + 1).kind === 'name') {
      const beyond = this.#tokenAt(at + 2)
      if (beyond.text === '=' || beyond.text === ',' || beyond.text === ')') return at + 1
      at++
    }
    if (!this.#isTypeName(at)) return -1
    at++
    while (this.#tokenAt(at).text === '.' && this.#tokenAt(at + 1).kind === 'name') at += 2
    if (this.#tokenAt(at).text === '<') {
      at = this.#scanTypeArguments(at, depth)
      if (at < 0) return -1
    }
    return this.#tokenAt(at).text === '[' && this.#tokenAt(at + 1).text === ']' ? at + 2 : at
  }

  #scanTypeArguments(index: number, depth: number): number {
    if (depth > 4) return -1
    let at = index
    for (let width = 0; width < 4; width++) {
      at = this.#scanType(at + 1, depth + 1)
      if (at < 0) return -1
      const { text } = this.#tokenAt(at)
      if (text === '>') return at + 1
      if (text !== ',') return -1
    }
    return -1
  }

  #isTypeName(index: number): boolean {
    const token = this.#tokenAt(index)
    return token.kind === 'name' && !RESERVED.has(token.text)
  }

  /** Whether a type and a name follow, and then `=` or by mistake nothing: `float x = …`. */
  #isTyped(): boolean {
    const after = this.#scanType(this.#index)
    if (after < 0) return false
    const name = this.#tokenAt(after)
    if (name.kind !== 'name' || RESERVED.has(name.text) || this.#breaksLine(after)) return false
    const next = this.#tokenAt(after + 1)
    if (next.text === '=') return !this.#breaksLine(after + 1)
    const ends = next.text === ',' || next.kind === 'end' || this.#breaksLine(after + 1)
    return ends && (isQualifier(this.#token.text) || BASIC_TYPES.has(this.#token.text))
  }

  #isTypedParameter(): boolean {
    const after = this.#scanType(this.#index)
    return after >= 0 && this.#tokenAt(after).kind === 'name'
  }

  #isGenericCall(callee: Expression): boolean {
    // Only `new` takes types: `f(a < b, c > (d))` is two comparisons.
    if (callee.kind !== 'Member' || callee.property.name !== 'new') return false
    const after = this.#scanTypeArguments(this.#index, 0)
    return after >= 0 && this.#tokenAt(after).text === '('
  }

  #isFunction(): boolean {
    const next = this.#peek(1)
    return next.text === '(' && this.#peekAfter(next.close).text === '=>' && !this.#breaksLine(next.close + 1)
  }

  // Names, brackets, depth

  #name(what: string): Name {
    const { kind, text, start, end } = this.#token
    if (kind === 'name' && !RESERVED.has(text) && !this.#atLineEnd()) {
      this.#advance()
      return { kind: 'Name', start, end, name: text }
    }
    this.#fail(messages.expectedName(what, this.#found()))
    const at = this.#previousEnd()
    return { kind: 'Name', start: at, end: at, name: '' }
  }

  /** Enters `(` or `[`: until it is shut, line ends mean nothing. */
  #enterBracket(): void {
    this.#open.push(this.#token)
    this.#advance()
  }

  #leaveBracket(): void {
    const bracket = this.#open.at(-1)
    const closing = bracket?.text === '[' ? ']' : ')'
    if (bracket && !this.#at(closing)) {
      if (bracket.close >= 0) this.#fail(messages.missingComma(closing, this.#found()))
      else this.#fail(messages.unclosedBracket(bracket.text, closing), bracket.start, bracket.end)
    }
    this.#open.pop()
    if (!this.#failed) this.#advance()
  }

  #enter(): boolean {
    return ++this.#depth <= MAX_DEPTH
  }

  #leave(): void {
    this.#depth--
  }

  #tooDeep(): Expression {
    this.#leave()
    this.#fail(messages.tooDeep())
    return this.#error(this.#previousEnd()).expression
  }

  /** Notes that the expression read last has become a child, beside others of `height`. */
  #grow(height: number): void {
    this.#height = Math.max(this.#height, height) + 1
    if (this.#height > MAX_HEIGHT) this.#fail(messages.tooDeep())
  }

  // Tokens and lines

  #tokenAt(index: number): Token {
    // There is always a last token, `end`.
    return (this.#tokens[index] ?? this.#tokens[this.#tokens.length - 1]) as Token
  }

  #peek(ahead: number): Token {
    return this.#tokenAt(this.#index + ahead)
  }

  /** The token after a closing bracket; `end` when there is none. */
  #peekAfter(close: number): Token {
    return this.#tokenAt(close < 0 ? this.#tokens.length : close + 1)
  }

  #advance(): void {
    if (this.#token.kind !== 'end') this.#token = this.#tokenAt(++this.#index)
  }

  /** The end of what was read so far. */
  #previousEnd(): number {
    return this.#failed ? this.#failedAt : (this.#tokens[this.#index - 1]?.end ?? 0)
  }

  #at(text: string): boolean {
    return this.#token.text === text && !this.#atLineEnd()
  }

  #sameLine(): boolean {
    return this.#token.indent < 0
  }

  #take(text: string): boolean {
    if (!this.#at(text)) return false
    this.#advance()
    return true
  }

  #expect(text: string, after: string): boolean {
    if (this.#take(text)) return true
    this.#fail(messages.expectedToken(text, after, this.#found()))
    return false
  }

  #atLineEnd(): boolean {
    const { indent, kind } = this.#token
    if (this.#failed || kind === 'end') return true
    if (indent < 0 || this.#open.length > 0 || this.#index === this.#first) return false
    return this.#breaksLine(this.#index)
  }

  /** Whether a token starts a new line rather than continue the one before. */
  #breaksLine(index: number): boolean {
    const { indent } = this.#tokenAt(index)
    if (indent < 0) return false
    if (indent % 4 === 0) return true
    // In a block of two spaces only an operator tells that a line goes on.
    return indent <= this.#looseIndent && !isInfix(this.#tokenAt(index)) && !isInfix(this.#tokenAt(index - 1))
  }

  #endsLine(ahead: number): boolean {
    return this.#peek(ahead).kind === 'end' || this.#breaksLine(this.#index + ahead)
  }

  // Errors

  /** Goes to the next line that can be a statement's first. */
  #recover(): void {
    if (!this.#failed) return
    while (this.#token.kind !== 'end') {
      const { indent, close } = this.#token
      const next = this.#index > this.#first && this.#breaksLine(this.#index)
      if (next && (indent <= this.#indent || this.#index > this.#failedUntil)) break
      this.#failedUntil = Math.max(this.#failedUntil, close)
      this.#advance()
    }
    this.#failed = false
    this.#failedUntil = -1
    this.#recoveredAt = this.#index
  }

  /** Reports an error, unless the statement has failed already, and ends the statement. */
  #fail(message: Message, start?: number, end?: number): void {
    if (this.#failed) return
    const ends = this.#token.kind === 'end' || (this.#index > this.#first && this.#breaksLine(this.#index))
    this.#failedAt = ends ? this.#previousEnd() : this.#token.start
    this.#reportAt(message, start ?? this.#failedAt, end ?? (ends ? this.#failedAt : this.#token.end))
    this.#failed = true
    for (const { close } of this.#open) this.#failedUntil = Math.max(this.#failedUntil, close)
  }

  #report(message: Message): void {
    this.#reportAt(message, this.#token.start, this.#token.end)
  }

  #reportAt(message: Message, start: number, end: number): void {
    if (!this.#failed) this.diagnostics.push({ ...message, start, end })
  }

  /** Reports that an expression is missing here. */
  #missing(): Expression {
    this.#fail(messages.expectedExpression(this.#found()))
    return this.#error(this.#previousEnd()).expression
  }

  #error(start: number): { kind: 'ExpressionStatement'; start: number; end: number; expression: Expression } {
    const end = Math.max(start, this.#previousEnd())
    return { kind: 'ExpressionStatement', start, end, expression: { kind: 'Error', start, end } }
  }

  #found(): string {
    const { kind, text } = this.#token
    if (kind === 'end') return 'the end of the script'
    if (this.#atLineEnd()) return 'the end of the line'
    return kind === 'string' ? 'a string' : `\`${text}\``
  }
}

/** `strategy.initial_capital = 50000`: before version 6 a dot was a letter of a name like any other. */
function dottedName(target: Expression): Name | null {
  if (target.kind === 'Identifier') return { ...target, kind: 'Name' }
  if (target.kind !== 'Member') return null
  const object = dottedName(target.object)
  if (object === null) return null
  return {
    kind: 'Name',
    start: target.start,
    end: target.end,
    name: `${object.name}.${target.property.name}`,
  }
}

/** #RRGGBB or #RRGGBBAA as 0xRRGGBBAA; a malformed one, reported by the lexer, is black. */
function colorValue(text: string): number {
  const digits = text.slice(1)
  const value = Number.parseInt(digits.length === 6 ? `${digits}ff` : digits, 16)
  return Number.isNaN(value) ? 0x000000ff : value >>> 0
}
