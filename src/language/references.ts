// Where a name is declared and used, for an editor that goes to its declaration or renames it.
//
// Works on the tree alone, as parsed: a text that is being written rarely compiles. Names are found by Pine's scopes: a
// block sees what is declared before it in the blocks around it, and may declare the same name for itself.

import { parse } from './1-parse/parser.ts'
import type * as tree from './1-parse/tree.ts'
import { blocksOfExpression, partsOf } from './tree-walk.ts'

export interface SourceSpan {
  readonly start: number
  readonly end: number
}

/** A name that the script declares. */
export interface Declared {
  readonly name: string
  /** The first place that declares it; overloads of a function have further ones, which are among `ranges`. */
  readonly declaration: SourceSpan
  /** Every place it is written at, in the order of the text. */
  readonly ranges: readonly SourceSpan[]
  /** Methods may be called on any value, and fields belong to types that are not known here: their uses are not all found. */
  readonly whole: boolean
}

/** What the script declares under the name at `offset`; null if it declares nothing, as for built-ins. */
export function referencesAt(source: string, offset: number): Declared | null {
  const { script } = parse(source)
  const found = new Finder(source)
  found.block(script.statements, new Scope(null))
  for (const { name, ranges, whole } of found.declared) {
    if (!ranges.some(({ start, end }) => start <= offset && offset <= end)) continue
    const declaration = ranges[0] ?? { start: 0, end: 0 }
    return { name, declaration, ranges: ranges.toSorted((a, b) => a.start - b.start), whole }
  }
  return null
}

interface Entry {
  readonly name: string
  readonly ranges: SourceSpan[]
  whole: boolean
  /** A function's parameters by name, which calls may name too. */
  readonly parameters: Map<string, Entry>
}

class Scope {
  readonly names = new Map<string, Entry>()
  readonly around: Scope | null
  constructor(around: Scope | null) {
    this.around = around
  }

  find(name: string): Entry | null {
    return this.names.get(name) ?? this.around?.find(name) ?? null
  }
}

class Finder {
  readonly declared: Entry[] = []
  readonly #source: string
  constructor(source: string) {
    this.#source = source
  }

  block(statements: readonly tree.Statement[], scope: Scope): void {
    for (const one of statements) this.#statement(one, scope)
  }

  #declare({ name, start, end }: tree.Name, scope: Scope): Entry {
    const entry: Entry = { name, ranges: [{ start, end }], whole: true, parameters: new Map() }
    // `_` is nobody's name, and is declared as often as one likes.
    if (name !== '_') {
      scope.names.set(name, entry)
      this.declared.push(entry)
    }
    return entry
  }

  #use(name: string, { start, end }: SourceSpan, scope: Scope): void {
    scope.find(name)?.ranges.push({ start, end })
  }

  #statement(node: tree.Statement, scope: Scope): void {
    switch (node.kind) {
      case 'VariableDeclaration':
        this.#type(node.type, scope)
        // The name is not declared yet: `x = x + 1` in a block reads the x around it.
        this.#expression(node.value, scope)
        this.#declare(node.name, scope)
        break
      case 'TupleDeclaration':
        this.#expression(node.value, scope)
        for (const name of node.names) this.#declare(name, scope)
        break
      case 'Assignment':
        this.#expression(node.target, scope)
        this.#expression(node.value, scope)
        break
      case 'ExpressionStatement':
        this.#expression(node.expression, scope)
        break
      case 'FunctionDeclaration':
        this.#function(node, scope)
        break
      case 'TypeDeclaration':
        this.#declare(node.name, scope)
        for (const field of node.fields) {
          this.#type(field.type, scope)
          if (field.default) this.#expression(field.default, scope)
        }
        break
      case 'EnumDeclaration':
        this.#declare(node.name, scope)
        for (const { title } of node.members) if (title) this.#expression(title, scope)
        break
      case 'Import':
        if (node.alias) this.#declare(node.alias, scope)
        break
      default:
    }
  }

  #function(node: tree.FunctionDeclaration, scope: Scope): void {
    const overloaded = scope.names.get(node.name.name)
    const entry = overloaded ?? this.#declare(node.name, scope)
    if (overloaded) overloaded.ranges.push({ start: node.name.start, end: node.name.end })
    if (node.method) entry.whole = false
    const inside = new Scope(scope)
    for (const { name, type, default: value } of node.parameters) {
      this.#type(type, scope)
      if (value) this.#expression(value, scope)
      entry.parameters.set(name.name, this.#declare(name, inside))
    }
    this.block(node.body.statements, inside)
  }

  #expression(node: tree.Expression, scope: Scope): void {
    if (node.kind === 'Identifier') this.#use(node.name, node, scope)
    if (node.kind === 'Call') this.#call(node, scope)
    for (const part of partsOf(node)) this.#expression(part, scope)
    for (const block of blocksOfExpression(node)) {
      const inside = new Scope(scope)
      if (node.kind === 'For') this.#declare(node.counter, inside)
      if (node.kind === 'ForIn')
        for (const name of [node.index, node.value]) if (name) this.#declare(name, inside)
      this.block(block.statements, inside)
    }
  }

  /** Its types, and the parameters that it names. */
  #call({ callee, typeArguments, arguments: given }: tree.Call, scope: Scope): void {
    for (const type of typeArguments) this.#type(type, scope)
    if (callee.kind !== 'Identifier') return
    const parameters = scope.find(callee.name)?.parameters
    for (const { name } of given)
      if (name) parameters?.get(name.name)?.ranges.push({ start: name.start, end: name.end })
  }

  #type(node: tree.TypeNode | null, scope: Scope): void {
    if (!node) return
    const [name = ''] = node.name.split('.')
    // A type begins with its qualifier: `series Level level`.
    const start = this.#source.indexOf(name, node.start)
    if (name !== '' && start >= 0 && start < node.end)
      this.#use(name, { start, end: start + name.length }, scope)
    for (const argument of node.arguments) this.#type(argument, scope)
  }
}
