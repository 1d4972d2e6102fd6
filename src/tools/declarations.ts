// Types of a public module as one `.d.ts`, with their comments, and with those of all that they name from other files.
//
// TypeScript's own compiler would write one a file, of half the project. What is public here is written so that no checker is
// needed: interfaces and aliases are taken as they stand, of functions and classes what stands before their bodies, and the
// types of what is on the wire are read off the schemas, whose descriptions become comments.

import { dirname, resolve } from 'node:path'
import { readFileSync } from 'node:fs'
import { parseSync, visitorKeys, type Node } from 'oxc-parser'
import { assert } from '../lib/assert.ts'
import { schemaTypes } from './schema-types.ts'

type AnyNode = Node & { readonly start: number; readonly end: number }
type Tree = Readonly<Record<string, unknown>> & AnyNode

interface Module {
  readonly path: string
  readonly text: string
  readonly body: readonly Tree[]
  readonly comments: readonly { readonly value: string; readonly start: number; readonly end: number }[]
}

/** Names that every program has. */
const GLOBAL =
  /^(?:Readonly|Partial|Pick|Omit|Record|Promise|Error|Float64Array|Uint8Array|ArrayBuffer|AsyncIterable|Iterable|Array|NonNullable|ReadonlyArray)$/

/** Throws where something public is written in a way that would need a type checker. */
export async function declarationsOf(entry: string): Promise<string> {
  const out = new Map<string, string>()
  const wanted: { readonly module: Module; readonly name: string }[] = []
  const take = (module: Module, statement: Tree) => {
    const { text, names } = declared(module, statement)
    out.set(nameOf(statement), text)
    for (const name of names) wanted.push({ module, name })
  }
  const first = moduleAt(entry)
  for (const statement of first.body) {
    if (statement.type !== 'ExportNamedDeclaration') continue
    if (isNode(statement['declaration'])) take(first, statement)
    else
      for (const { local } of statement['specifiers'] as { local: { name: string } }[])
        wanted.push({ module: first, name: local.name })
  }
  for (let one = wanted.shift(); one; one = wanted.shift()) {
    if (out.has(one.name) || GLOBAL.test(one.name)) continue
    const { module, statement } = found(one.module, one.name)
    const value = await valueTypes(module, statement)
    if (value === null) take(module, statement)
    else for (const [name, text] of value) out.set(name, text)
  }
  return `${[...out.values()].join('\n\n')}\n`
}

function moduleAt(path: string): Module {
  const text = readFileSync(path, 'utf8')
  const { program, comments, errors } = parseSync(path, text)
  assert(errors.length === 0, `${path} parses`)
  return { path, text, body: program.body as unknown as readonly Tree[], comments }
}

const isNode = (value: unknown): value is Tree =>
  typeof value === 'object' && value !== null && 'type' in value && 'start' in value

const declarationOf = (statement: Tree): Tree =>
  isNode(statement['declaration']) ? statement['declaration'] : statement

const nameOf = (statement: Tree): string =>
  (declarationOf(statement)['id'] as { name?: string } | undefined)?.name ?? ''

/** Where a name that a module uses is declared. */
function found(module: Module, name: string): { readonly module: Module; readonly statement: Tree } {
  const own = module.body.find((one) => nameOf(one) === name)
  if (own) return { module, statement: own }
  for (const statement of module.body) {
    if (statement.type !== 'ImportDeclaration') continue
    const specifiers = statement['specifiers'] as { local: { name: string }; imported?: { name: string } }[]
    const one = specifiers.find(({ local }) => local.name === name)
    const { value } = statement['source'] as unknown as { value: string }
    if (one?.imported) return found(moduleAt(resolve(dirname(module.path), value)), one.imported.name)
  }
  throw new Error(`${module.path}: ${name} is declared nowhere`)
}

/** What stands of it in the `.d.ts`, and the types that it names. */
function declared(module: Module, statement: Tree): { readonly text: string; readonly names: Set<string> } {
  const node = declarationOf(statement)
  const comment = module.comments.findLast(
    ({ end }) => end <= statement.start && module.text.slice(end, statement.start).trim() === '',
  )
  const doc = comment?.value.startsWith('*') ? `${module.text.slice(comment.start, comment.end)}\n` : ''
  const names = new Set<string>()
  const of = (part: unknown) => {
    if (!isNode(part)) return ''
    collect(part, names)
    return module.text.slice(part.start, part.end)
  }
  return { text: `${doc}export ${headOf(node, of)}`, names }
}

function headOf(node: Tree, of: (part: unknown) => string): string {
  if (node.type === 'TSInterfaceDeclaration' || node.type === 'TSTypeAliasDeclaration') return of(node)
  const params = (list: unknown) =>
    (list as Tree[])
      .map((one) => {
        const parameter = one.type === 'AssignmentPattern' ? (one['left'] as Tree) : one
        assert(parameter.type === 'Identifier', 'parameters of public functions have names')
        const optional = one.type === 'AssignmentPattern' || Boolean(parameter['optional'])
        return `${parameter.name}${optional ? '?' : ''}${of(parameter['typeAnnotation'])}`
      })
      .join(', ')
  if (node.type === 'FunctionDeclaration') {
    assert(isNode(node['returnType']), 'public functions say what they return')
    const { name } = node['id'] as unknown as { name: string }
    return `declare function ${name}(${params(node['params'])})${of(node['returnType'])}`
  }
  assert(node.type === 'ClassDeclaration', `${node.type} is not public`)
  const { name } = node['id'] as unknown as { name: string }
  const members = (node['body'] as unknown as { body: Tree[] }).body.map((member) => {
    if (member.type === 'PropertyDefinition') return `  ${of(member)}`
    const value = member['value'] as Tree
    assert(member['kind'] === 'constructor', 'public classes are data')
    return `  constructor(${params(value['params'])})`
  })
  const above = isNode(node['superClass']) ? ` extends ${of(node['superClass'])}` : ''
  return `declare class ${name}${above} {\n${members.join('\n')}\n}`
}

/** The names of types below a node. */
function collect(node: Tree, into: Set<string>): void {
  const { type } = node
  assert(type !== 'TSTypeQuery' && type !== 'TSImportType', 'public types are written without typeof')
  const named =
    type === 'TSTypeReference' ? node['typeName'] : type === 'TSInterfaceHeritage' ? node['expression'] : null
  if (isNode(named) && named.type === 'Identifier') into.add(named.name)
  for (const key of visitorKeys[type] ?? []) {
    const child = node[key]
    for (const one of Array.isArray(child) ? child : [child]) if (isNode(one)) collect(one, into)
  }
}

/** The text of types that are read off a value: a schema, a list of words, the names of a table; null for others. */
async function valueTypes(module: Module, statement: Tree): Promise<ReadonlyMap<string, string> | null> {
  const node = declarationOf(statement)
  if (node.type !== 'TSTypeAliasDeclaration') return null
  const text = module.text.slice(node.start, node.end)
  const name = nameOf(statement)
  const [, keys, value = '', items] =
    /= (keyof )?(?:Wire<|\()?typeof (\w+)[>)]?(\[number\])?$/.exec(text) ?? []
  if (value === '') return null
  const exports = (await import(module.path)) as Readonly<Record<string, unknown>>
  const made = exports[value]
  assert(made !== undefined, `${module.path} exports ${value}, which is the type ${name}`)
  if (keys === undefined && items === undefined) return schemaTypes(name, made as object)
  const words = keys === undefined ? (made as readonly string[]) : Object.keys(made as object)
  const union = words.map((word) => `\n  | '${word}'`).join('')
  return new Map([[name, `export type ${name} =${union}`]])
}
