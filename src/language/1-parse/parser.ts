// Tokens to a tree: recursive descent, one function per rule of the grammar with the rule above it, and
// precedence climbing (Pratt) for operators. A file has the rules of one subject: `reader.ts`, which knows no rule,
// `types.ts`, `expressions.ts`, `lines.ts`, `structures.ts`, and here statements. Each goes on where the one before ends.
//
// Lines. A token that is first on its line ends the statement before it, unless brackets are open or its
// indentation is not a multiple of four: then the line continues the one before. `atLineEnd` is the only place
// that knows, and everything else asks it through `at`, which sees nothing beyond the end of a line.
//
// Errors. There is always a tree. The first error of a statement is reported and sets `failed`; from then on
// `atLineEnd` answers yes, so that every rule finds nothing more to read and returns what it has, and
// `recover` goes on with the next line. One mistake makes one message, and what the statement declares
// is declared.
//
// Depth. A tree deeper than MAX_DEPTH is refused, as later phases walk it recursively.

import type { Diagnostic } from '../diagnostic.ts'
import * as messages from '../messages/parsing.ts'
import { tokenize } from './lexer.ts'
import { StructureReader } from './structures.ts'
import type { EnumMember, Expression, Name, Parameter, Script, Statement, TypeField } from './tree.ts'
import { BLOCK_KEYWORDS, isAssignment } from './words.ts'

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

class Parser extends StructureReader {
  // script = { line }
  script(version: number | null): Script {
    const statements: Statement[] = []
    while (this.token.kind !== 'end') this.lines(0, statements)
    return { kind: 'Script', start: 0, end: this.source.length, version, statements }
  }

  // statement = declaration | tuple | function | type | enum | import | jump | assignment | expression
  protected override statement(): Statement {
    const { start } = this.token
    if (this.token.kind === 'name') {
      const declared = this.keywordStatement(start)
      if (declared) return declared
      if (this.isTyped()) return this.variableDeclaration(start, 'plain', false)
      if (this.peek(1).text === '=' && !BLOCK_KEYWORDS.has(this.token.text)) {
        return this.variableDeclaration(start, 'plain', false)
      }
      if (this.isFunction()) return this.functionDeclaration(start, false, false)
    } else if (this.token.text === '[' && this.peekAfter(this.token.close).text === '=') {
      return this.tupleDeclaration(start)
    }
    return this.expressionStatement(start)
  }

  /** Statements that start with a word, where what follows shows that it is not a name. */
  protected keywordStatement(start: number): Statement | null {
    const next = this.peek(1)
    const sameLine = next.indent < 0
    const name = next.kind === 'name' && sameLine
    switch (this.token.text) {
      case 'var':
      case 'varip': {
        if (!name) return null
        const mode = this.token.text
        this.advance()
        return this.variableDeclaration(start, mode, false)
      }
      case 'export':
        return name ? this.export(start) : null
      case 'import':
        return name || next.kind === 'number' || next.kind === 'string' ? this.import(start) : null
      case 'type':
        return name && this.endsLine(2) ? this.typeDeclaration(start, false) : null
      case 'enum':
        return name && this.endsLine(2) ? this.enumDeclaration(start, false) : null
      case 'method':
        return name && this.peek(2).text === '(' ? this.methodDeclaration(start, false) : null
      case 'break':
      case 'continue': {
        if (!this.endsLine(1) && next.text !== ',') return null
        const kind = this.token.text === 'break' ? 'Break' : 'Continue'
        this.advance()
        return { kind, start, end: this.previousEnd() }
      }
      case 'else':
        this.fail(messages.misplacedElse())
        return this.error(start)
      case 'return':
        if (!this.endsLine(1) && next.kind !== 'operator') {
          this.report(messages.noReturn())
          this.advance()
          return this.expressionStatement(start)
        }
        return null
      default:
        return null
    }
  }

  // declaration = ["export"] ["var" | "varip"] [type] NAME "=" value
  protected variableDeclaration(
    start: number,
    mode: 'plain' | 'var' | 'varip',
    exported: boolean,
  ): Statement {
    const type = this.isTyped() ? this.type() : null
    const name = this.name('a variable')
    const value = this.initializer(name)
    return { kind: 'VariableDeclaration', start, end: value.end, mode, type, name, value, exported }
  }

  protected initializer(name: Name): Expression {
    if (isAssignment(this.token.text) && !this.atLineEnd()) {
      this.report(messages.expectedToken('=', `\`${name.name}\``, this.found()))
      this.advance()
    } else if (this.atLineEnd() || this.at(',')) {
      const end = this.previousEnd()
      this.reportAt(messages.expectedToken('=', `\`${name.name}\``, this.found()), end, end)
      return this.error(end).expression
    } else if (!this.expect('=', `\`${name.name}\``)) return this.error(this.previousEnd()).expression
    return this.value()
  }

  // tuple = "[" NAME { "," NAME } "]" "=" value
  protected tupleDeclaration(start: number): Statement {
    const names: Name[] = []
    this.enterBracket()
    do names.push(this.name('a variable'))
    while (this.take(','))
    this.leaveBracket()
    this.expect('=', '`]`')
    const value = this.value()
    return { kind: 'TupleDeclaration', start, end: value.end, names, value }
  }

  // function = ["export"] ["method"] NAME "(" parameters ")" "=>" body
  protected functionDeclaration(start: number, exported: boolean, method: boolean): Statement {
    const name = this.name('a function')
    const parameters = this.parameters()
    if (!this.take('=>')) this.fail(messages.missingArrow(name.name, this.found()))
    const body = this.body('=>', true)
    return { kind: 'FunctionDeclaration', start, end: body.end, name, parameters, body, exported, method }
  }

  protected methodDeclaration(start: number, exported: boolean): Statement {
    this.advance()
    return this.functionDeclaration(start, exported, true)
  }

  // parameters = [ parameter { "," parameter } ]
  // parameter = [type] NAME [ "=" expression ]
  protected parameters(): Parameter[] {
    const parameters: Parameter[] = []
    if (!this.at('(')) {
      this.fail(messages.expectedToken('(', 'the name of the function', this.found()))
      return parameters
    }
    this.enterBracket()
    while (!this.at(')') && !this.failed) {
      const type = this.isTypedParameter() ? this.type() : null
      const name = this.name('a parameter')
      const value = this.take('=') ? this.expression() : null
      parameters.push({
        start: type?.start ?? name.start,
        end: this.previousEnd(),
        name,
        type,
        default: value,
      })
      if (!this.take(',')) break
    }
    this.leaveBracket()
    return parameters
  }

  // export = "export" ( function | method | type | enum | declaration )
  protected export(start: number): Statement {
    this.advance()
    const next = this.peek(1)
    switch (this.token.text) {
      case 'method':
        if (next.kind === 'name') return this.methodDeclaration(start, true)
        break
      case 'type':
        if (next.kind === 'name') return this.typeDeclaration(start, true)
        break
      case 'enum':
        if (next.kind === 'name') return this.enumDeclaration(start, true)
        break
      default:
    }
    if (next.text === '=' || this.isTyped()) return this.variableDeclaration(start, 'plain', true)
    if (next.text === '(') return this.functionDeclaration(start, true, false)
    this.fail(messages.notExportable())
    return this.error(start)
  }

  // import = "import" USER "/" LIBRARY "/" VERSION [ "as" NAME ]
  protected import(start: number): Statement {
    this.advance()
    const from = this.token.start
    while (!this.atLineEnd() && !this.at('as') && !this.at(',')) this.advance()
    const path = this.source.slice(from, this.previousEnd()).replace(/[\s\u200b\ufeff]+/g, '')
    const match = /^([^/]+)\/([^/]+)\/(\d+)$/.exec(path)
    if (!match)
      this.reportAt(messages.malformedImport(), Math.min(from, this.previousEnd()), this.previousEnd())
    const alias = this.take('as') ? this.name('the alias') : null
    const [, user = '', library = '', version = '0'] = match ?? []
    return {
      kind: 'Import',
      start,
      end: this.previousEnd(),
      user,
      library,
      version: Number(version),
      alias,
    }
  }

  // type = ["export"] "type" NAME NEWLINE { field }
  // field = ["varip"] type NAME [ "=" expression ]
  protected typeDeclaration(start: number, exported: boolean): Statement {
    this.advance()
    const name = this.name('a type')
    const fields: TypeField[] = []
    this.members('type', () => {
      const { start: from } = this.token
      const varip = this.at('varip') && this.peek(1).kind === 'name'
      if (varip) this.advance()
      const type = this.type()
      const field = this.name('a field')
      const value = this.take('=') ? this.expression() : null
      fields.push({ start: from, end: this.previousEnd(), name: field, type, varip, default: value })
    })
    return { kind: 'TypeDeclaration', start, end: this.previousEnd(), name, fields, exported }
  }

  // enum = ["export"] "enum" NAME NEWLINE { NAME [ "=" expression ] }
  protected enumDeclaration(start: number, exported: boolean): Statement {
    this.advance()
    const name = this.name('an enum')
    const members: EnumMember[] = []
    this.members('enum', () => {
      const { start: from } = this.token
      const member = this.name('a member')
      const title = this.take('=') ? this.expression() : null
      members.push({ start: from, end: this.previousEnd(), name: member, title })
    })
    return { kind: 'EnumDeclaration', start, end: this.previousEnd(), name, members, exported }
  }

  // assignment = expression ( ":=" | "+=" | "-=" | "*=" | "/=" | "%=" ) value
  protected expressionStatement(start: number): Statement {
    const target = this.value()
    const operator = this.token.text
    if (isAssignment(operator) && !this.atLineEnd()) {
      this.advance()
      const value = this.value()
      return { kind: 'Assignment', start, end: value.end, operator, target, value }
    }
    if (this.at('=')) {
      const name = this.version < 6 ? dottedName(target) : null
      if (name === null) this.report(messages.notADeclaration())
      this.advance()
      const value = this.value()
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
