// Answers an editor's questions while a script is being written: the names that fit here, and the arguments of the
// surrounding call.
//
// Both work on text that does not parse: completions look at the word before the cursor, signatures at the brackets
// open before it. A script of v4 is offered v4's names.

import { tokenize } from './1-parse/lexer.ts'
import type { Token } from './1-parse/lexer.ts'
import { parse } from './1-parse/parser.ts'
import type * as tree from './1-parse/tree.ts'
import { typeText } from './2-check/types.ts'
import { V4 } from './2-check/version.ts'
import { BUILTIN_CONSTANTS, BUILTIN_FUNCTIONS, BUILTIN_VARIABLES } from './builtins/table.ts'
import { blocksOfExpression } from './tree-walk.ts'
import { words } from '../lib/words.ts'

export const COMPLETION_KINDS = ['function', 'variable', 'constant', 'type', 'namespace', 'keyword'] as const
export type CompletionKind = (typeof COMPLETION_KINDS)[number]

export interface Completion {
  /** The full name, with its name space: `ta.sma`. */
  readonly name: string
  readonly kind: CompletionKind
  /** A signature or a type; '' for keywords. */
  readonly detail: string
  readonly doc: string
  /** Declared in the script itself. */
  readonly own: boolean
}

export interface SignatureHelp {
  readonly name: string
  readonly doc: string
  readonly signatures: readonly string[]
  /** Which argument the cursor is in, from 0. */
  readonly argument: number
  /** Its name where it is written with one: `length =`. */
  readonly argumentName: string | null
}

const KEYWORDS = words(
  'and break by continue else enum export false for if import in method not once or switch to true',
  'type var varip while',
)
const TYPES = words('int float bool string color array matrix map const simple series')

/** Names that may be inserted at `offset`, given the letters before it; own names come first, then alphabetical order. */
export function completions(source: string, offset: number): readonly Completion[] {
  const word = wordBefore(source, offset)
  const { script } = parse(source)
  const own = ownNames(script, offset)
  const found = [...own, ...membersOf(script, own, word), ...builtinNames(script.version === 4)]
  const lower = word.toLowerCase()
  // People who type `ema` mean `ta.ema`: a name fits by its last part too, once two letters of it are there.
  const byLastPart = script.version !== 4 && lower.length > 1 && !lower.includes('.')
  const fits = (name: string) => name.startsWith(lower) || (byLastPart && name.includes(`.${lower}`))
  const fitting = found.filter((one) => fits(one.name.toLowerCase()))
  return withNamespaces(fitting, word).toSorted(
    (a, b) => Number(b.own) - Number(a.own) || a.name.localeCompare(b.name),
  )
}

/** The letters, digits and dots that end at `offset`, from the first letter on: `ta.sm`. */
export function wordBefore(text: string, offset: number): string {
  let start = offset
  while (start > 0 && /[\w.]/.test(text.charAt(start - 1))) start--
  while (start < offset && !/[A-Za-z_]/.test(text.charAt(start))) start++
  return text.slice(start, offset)
}

/** Fields and methods of the script's own variable before the dot: `levels.push`, `level.price`. */
function membersOf(script: tree.Script, names: readonly Completion[], word: string): Completion[] {
  const dot = word.lastIndexOf('.')
  const owner = word.slice(0, Math.max(dot, 0))
  const type = names.find((one) => one.kind === 'variable' && one.name === owner)?.detail ?? ''
  if (type === '') return []
  const found = new Map<string, Completion>()
  const add = (name: string, kind: CompletionKind, detail: string, doc: string, own: boolean): void => {
    found.set(name, { name: `${owner}.${name}`, kind, detail, doc, own })
  }
  for (const { name, overloads, signatures, doc } of BUILTIN_FUNCTIONS.values()) {
    const isMethod = overloads.some(({ parameters }) => parameters[0]?.types.some((one) => one.kind === type))
    if (isMethod && name.startsWith(`${type}.`))
      add(name.slice(type.length + 1), 'function', signatures[0] ?? '', doc, false)
  }
  for (const one of script.statements) {
    if (one.kind === 'TypeDeclaration' && one.name.name === type) {
      for (const field of one.fields) add(field.name.name, 'variable', field.type.name, '', true)
      add('copy', 'function', `() ${type}`, '', true)
    }
    if (one.kind === 'FunctionDeclaration' && one.method && one.parameters[0]?.type?.name === type)
      add(one.name.name, 'function', functionText(one), '', true)
  }
  return [...found.values()]
}

/** The type of a variable declared without one, as far as the call shows it: `array.from(…)`, `Level.new(…)`. */
function typeOfValue(value: tree.Expression): string {
  if (value.kind !== 'Call') return ''
  const { callee } = value
  if (callee.kind !== 'Member' || callee.object.kind !== 'Identifier') return ''
  const owner = callee.object.name
  const returns = BUILTIN_FUNCTIONS.get(`${owner}.${callee.property.name}`)?.overloads[0]?.returns.type.kind
  if (returns !== undefined) return returns === 'variable' || returns === 'void' ? '' : returns
  return callee.property.name === 'new' ? owner : ''
}

/** The innermost call whose bracket is open before `offset`. */
export function signatureHelp(source: string, offset: number): SignatureHelp | null {
  const { tokens, version } = tokenize(source)
  const before = tokens.filter((token) => token.kind !== 'end' && token.start < offset)
  let depth = 0
  let argument = 0
  let from = before.length
  for (let i = before.length - 1; i >= 0; i--) {
    const text = before[i]?.text ?? ''
    if (text === ')' || text === ']') depth++
    else if (text === '[') depth = Math.max(0, depth - 1)
    else if (text === ',' && depth === 0) {
      if (argument === 0) from = i + 1
      argument++
    } else if (text === '(') {
      if (depth > 0) depth--
      else {
        const name = nameBefore(before, i)
        if (name === null) return null
        if (argument === 0) from = i + 1
        const named = before[from + 1]?.text === '=' ? (before[from]?.text ?? null) : null
        return (
          described(source, name, version, argument, named) ??
          describedMethod(source, offset, name, argument, named)
        )
      }
    }
  }
  return null
}

function described(
  source: string,
  name: string,
  version: number | null,
  argument: number,
  argumentName: string | null,
): SignatureHelp | null {
  for (const one of parse(source).script.statements) {
    if (one.kind === 'FunctionDeclaration' && one.name.name === name)
      return { name, doc: '', signatures: [functionText(one)], argument, argumentName }
    if (one.kind === 'TypeDeclaration' && `${one.name.name}.new` === name)
      return { name, doc: '', signatures: [typeDeclarationText(one)], argument, argumentName }
  }
  const now = version === 4 && Object.hasOwn(V4.functions, name) ? (V4.functions[name] ?? name) : name
  const builtin = BUILTIN_FUNCTIONS.get(now)
  if (builtin === undefined) return null
  return { name, doc: builtin.doc, signatures: builtin.signatures, argument, argumentName }
}

/** `levels.push(…)`: the object before the dot is the first argument. */
function describedMethod(
  source: string,
  offset: number,
  name: string,
  argument: number,
  argumentName: string | null,
): SignatureHelp | null {
  const { script } = parse(source)
  const member = membersOf(script, ownNames(script, offset), name).find(
    (one) => one.name === name && one.kind === 'function',
  )
  if (member === undefined) return null
  return { name, doc: member.doc, signatures: [member.detail], argument: argument + 1, argumentName }
}

/** The dotted name that ends before the bracket. */
function nameBefore(tokens: readonly Token[], bracket: number): string | null {
  let i = bracket - 1
  // `array.new<float>(`
  if (tokens[i]?.text === '>') {
    while (i >= 0 && tokens[i]?.text !== '<') i--
    i--
  }
  const parts: string[] = []
  while (tokens[i]?.kind === 'name') {
    parts.unshift(tokens[i]?.text ?? '')
    if (tokens[i - 1]?.text !== '.') break
    i -= 2
  }
  return parts.length === 0 ? null : parts.join('.')
}

/** Every name of the language, with what it takes or is; v4's own names too if `isV4`. */
export function builtinNames(isV4: boolean): Completion[] {
  const found: Completion[] = []
  const add = (name: string, kind: CompletionKind, detail: string, doc: string): void => {
    if (!name.startsWith('·')) found.push({ name, kind, detail, doc, own: false })
  }
  for (const one of BUILTIN_FUNCTIONS.values()) add(one.name, 'function', one.signatures[0] ?? '', one.doc)
  for (const one of BUILTIN_VARIABLES.values())
    add(one.name, 'variable', `${one.qualifier} ${typeText(one.type)}`, one.doc)
  for (const one of BUILTIN_CONSTANTS.values())
    add(one.name, 'constant', `const ${typeText(one.type)}`, one.doc)
  for (const one of KEYWORDS) add(one, 'keyword', '', '')
  for (const one of TYPES) add(one, 'type', '', '')
  if (!isV4) return found
  for (const [name, now] of Object.entries(V4.functions)) {
    const builtin = BUILTIN_FUNCTIONS.get(now)
    if (builtin !== undefined) add(name, 'function', builtin.signatures[0] ?? '', builtin.doc)
  }
  for (const [name, now] of Object.entries(V4.values)) {
    const builtin = BUILTIN_VARIABLES.get(now) ?? BUILTIN_CONSTANTS.get(now)
    if (builtin !== undefined) add(name, builtin.kind, typeText(builtin.type), builtin.doc)
  }
  return found
}

/** `ta` instead of its sixty functions, until the dot is typed. */
function withNamespaces(found: readonly Completion[], word: string): Completion[] {
  const kept: Completion[] = []
  const spaces = new Set<string>()
  for (const one of found) {
    const dot = one.name.indexOf('.', word.length)
    if (dot < 0) kept.push(one)
    else spaces.add(one.name.slice(0, dot))
  }
  const own = new Set(kept.filter((one) => one.own).map((one) => one.name))
  for (const name of spaces)
    if (!own.has(name)) kept.push({ name, kind: 'namespace', detail: '', doc: '', own: false })
  return kept
}

/** What the script declares at its top, and inside the function or block the cursor is in. */
function ownNames(script: tree.Script, offset: number): Completion[] {
  const found = new Map<string, Completion>()
  const add = (name: string, kind: CompletionKind, detail: string): void => {
    if (name !== '_') found.set(name, { name, kind, detail, doc: '', own: true })
  }
  const block = (node: tree.Block): void => {
    if (node.start <= offset && offset <= node.end) for (const one of node.statements) statement(one)
  }
  const statement = (node: tree.Statement): void => {
    if (node.start >= offset) return
    switch (node.kind) {
      case 'VariableDeclaration':
        if (node.end < offset) add(node.name.name, 'variable', node.type?.name || typeOfValue(node.value))
        blocksOfExpression(node.value).forEach(block)
        break
      case 'TupleDeclaration':
        if (node.end < offset) for (const name of node.names) add(name.name, 'variable', '')
        break
      case 'FunctionDeclaration':
        add(node.name.name, 'function', functionText(node))
        if (node.body.start <= offset && offset <= node.body.end)
          for (const one of node.parameters) add(one.name.name, 'variable', one.type?.name ?? '')
        block(node.body)
        break
      case 'TypeDeclaration':
        add(node.name.name, 'type', '')
        add(`${node.name.name}.new`, 'function', typeDeclarationText(node))
        break
      case 'EnumDeclaration':
        add(node.name.name, 'type', '')
        for (const one of node.members) add(`${node.name.name}.${one.name.name}`, 'constant', node.name.name)
        break
      case 'Import':
        add(node.alias?.name ?? node.library, 'namespace', `${node.user}/${node.library}/${node.version}`)
        break
      case 'ExpressionStatement':
        if (node.expression.kind === 'For' || node.expression.kind === 'ForIn') loopNames(node.expression)
        blocksOfExpression(node.expression).forEach(block)
        break
      default:
    }
  }
  const loopNames = (node: tree.For | tree.ForIn): void => {
    if (node.body.start > offset || offset > node.body.end) return
    if (node.kind === 'For') add(node.counter.name, 'variable', 'int')
    else for (const name of [node.index, node.value]) if (name !== null) add(name.name, 'variable', '')
  }
  for (const one of script.statements) statement(one)
  return [...found.values()]
}

function functionText(node: tree.FunctionDeclaration): string {
  const parameters = node.parameters.map(
    (one) =>
      `${one.type === null ? '' : `${one.type.name} `}${one.name.name}${one.default === null ? '' : '?'}`,
  )
  return `(${parameters.join(', ')})`
}

function typeDeclarationText(node: tree.TypeDeclaration): string {
  return `(${node.fields.map((one) => `${one.type.name} ${one.name.name}?`).join(', ')}) ${node.name.name}`
}
